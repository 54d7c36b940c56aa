//! Whoever writes to the server while it is watched.

use std::{fmt, future::Future, path::Path, sync::Arc, time::Duration};

use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::sleep};

use super::support::client;

/// So many writers at once keep a server busy.
const HANDS: usize = 8;

/// A kind, and how its objects are made.
#[derive(Clone)]
pub(super) struct Sort {
    resource: ApiResource,
    /// What an object has beside its metadata, and without which it is refused.
    body: Value,
}

impl Sort {
    /// As in `apps v1 Deployment deployments`; the core group is `-`.
    pub(super) fn new(text: &str, body: Value) -> Self {
        let [group, version, kind, plural] =
            text.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let kind = GroupVersionKind::gvk(group.trim_matches('-'), version, kind);
        Self { resource: ApiResource::from_gvk_with_plural(&kind, plural), body }
    }

    pub(super) fn config_maps() -> Self {
        Self::new("- v1 ConfigMap configmaps", json!({}))
    }

    /// Objects that carry a value as their label, in `data` and in `spec`, as far as they may.
    fn object(&self, namespace: &str, name: &str, value: &str) -> Value {
        let ApiResource { api_version, kind, .. } = &self.resource;
        let mut metadata = json!({"name": name, "labels": {"value": value, "by": "test"}});
        if !namespace.is_empty() {
            metadata["namespace"] = json!(namespace);
        }
        let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata});
        let own = object.as_object_mut().unwrap();
        own.extend(self.body.as_object().cloned().unwrap_or_default());
        if kind == "ConfigMap" {
            object["data"] = json!({"value": value, "size": "large"});
        } else if self.resource.group.ends_with("kollect.test") {
            object["spec"] = json!({"value": value, "size": "large"});
        }
        object
    }
}

/// Writes as administrator.
#[derive(Clone)]
pub(super) struct Hand {
    pub(super) client: Client,
}

impl Hand {
    pub(super) async fn of(kubeconfig: &Path) -> Self {
        Self { client: client(kubeconfig).await }
    }

    fn api(&self, sort: &Sort, namespace: &str) -> Api<DynamicObject> {
        match namespace {
            "" => Api::all_with(self.client.clone(), &sort.resource),
            name => Api::namespaced_with(self.client.clone(), name, &sort.resource),
        }
    }

    /// Makes an object, or changes it.
    pub(super) async fn put(&self, sort: &Sort, namespace: &str, name: &str, value: &str) {
        let object = sort.object(namespace, name, value);
        self.apply(sort, namespace, &object).await;
    }

    /// Writes some objects again and again, whether anybody answers or not.
    pub(super) async fn insist(self, sort: Sort, namespace: &str) {
        for number in 0.. {
            let (name, value) = (format!("busy-{}", number % 10), format!("v{number}"));
            let object = sort.object(namespace, &name, &value);
            self.try_apply(&sort, namespace, &object).await.ok();
            sleep(Duration::from_millis(5)).await;
        }
    }

    async fn apply(&self, sort: &Sort, namespace: &str, object: &Value) {
        self.try_apply(sort, namespace, object).await.unwrap();
    }

    async fn try_apply(
        &self,
        sort: &Sort,
        namespace: &str,
        object: &Value,
    ) -> Result<DynamicObject, kube::Error> {
        let name = object["metadata"]["name"].as_str().unwrap();
        let how = PatchParams::apply("test").force();
        self.api(sort, namespace).patch(name, &how, &Patch::Apply(object)).await
    }

    /// Makes an object that is not there.
    pub(super) async fn create(&self, sort: &Sort, namespace: &str, name: &str, value: &str) {
        let object = serde_json::from_value(sort.object(namespace, name, value)).unwrap();
        self.api(sort, namespace).create(&PostParams::default(), &object).await.unwrap();
    }

    /// Removes an object if it is there.
    pub(super) async fn delete(&self, sort: &Sort, namespace: &str, name: &str) {
        match self.api(sort, namespace).delete(name, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            outcome => drop(outcome.unwrap()),
        }
    }

    /// Makes a namespace, or gives it these labels and no others.
    pub(super) async fn namespace(&self, name: &str, labels: Value) {
        let sort = Sort::new("- v1 Namespace namespaces", json!({}));
        let metadata = json!({"name": name, "labels": labels});
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
        self.apply(&sort, "", &namespace).await;
    }

    /// Lets a user do something to a resource of any group, in a namespace or,
    /// without one, everywhere.
    pub(super) async fn allow(&self, user: &str, namespace: &str, resource: &str, verbs: &[&str]) {
        let (role, binding) = grants(namespace);
        let name = format!("{user}-{resource}");
        let group = "rbac.authorization.k8s.io";
        let metadata = match namespace {
            "" => json!({"name": name}),
            namespace => json!({"name": name, "namespace": namespace}),
        };
        let rules = json!([{"apiGroups": ["*"], "resources": [resource], "verbs": verbs}]);
        let version = &role.resource.api_version;
        let kind = &role.resource.kind;
        let object =
            json!({"apiVersion": version, "kind": kind, "metadata": metadata, "rules": rules});
        self.apply(&role, namespace, &object).await;
        let object = json!({
            "apiVersion": version, "kind": binding.resource.kind, "metadata": metadata,
            "roleRef": {"apiGroup": group, "kind": kind, "name": name},
            "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
        });
        self.apply(&binding, namespace, &object).await;
    }

    /// Takes back what was allowed.
    pub(super) async fn forbid(&self, user: &str, namespace: &str, resource: &str) {
        let (_, binding) = grants(namespace);
        self.delete(&binding, namespace, &format!("{user}-{resource}")).await;
    }

    /// Does something for each number, several at once.
    pub(super) async fn each<F>(&self, count: usize, what: impl Fn(Hand, usize) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut hands = JoinSet::new();
        for number in 0..count {
            if hands.len() == 2 * HANDS {
                hands.join_next().await.unwrap().unwrap();
            }
            hands.spawn(what(self.clone(), number));
        }
        hands.join_all().await;
    }

    /// Creates, changes and deletes at random in some places, so many times.
    ///
    /// Each writer has names of its own, which it uses again and again.
    pub(super) async fn storm(&self, sorts: &[Sort], namespaces: &[String], times: usize) {
        let (sorts, namespaces) = (Arc::new(sorts.to_vec()), Arc::new(namespaces.to_vec()));
        let mut hands = JoinSet::new();
        for writer in 0..HANDS {
            let (hand, sorts, namespaces) =
                (self.clone(), Arc::clone(&sorts), Arc::clone(&namespaces));
            hands.spawn(async move {
                let mut dice = Dice(u64::try_from(writer).unwrap());
                for turn in 0..times / HANDS {
                    let sort = dice.choose(&sorts);
                    let namespace = dice.choose(&namespaces);
                    let name = format!("storm-{writer}-{}", dice.roll(6));
                    match dice.roll(3) {
                        0 => hand.delete(sort, namespace, &name).await,
                        _ => hand.put(sort, namespace, &name, &format!("v{turn}")).await,
                    }
                }
            });
        }
        hands.join_all().await;
    }
}

/// The kinds that give rights in a namespace, or everywhere.
fn grants(namespace: &str) -> (Sort, Sort) {
    let sort = |kind: &str, plural: &str| {
        Sort::new(&format!("rbac.authorization.k8s.io v1 {kind} {plural}"), json!({}))
    };
    match namespace {
        "" => {
            (sort("ClusterRole", "clusterroles"), sort("ClusterRoleBinding", "clusterrolebindings"))
        }
        _ => (sort("Role", "roles"), sort("RoleBinding", "rolebindings")),
    }
}

/// The same numbers every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn choose<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.roll(among.len())]
    }
}

/// Names with numbers.
pub(super) fn numbered(prefix: impl fmt::Display, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{prefix}-{number:02}")).collect()
}
