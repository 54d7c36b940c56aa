//! A cluster, a collector, and what was collected.

use std::{
    collections::BTreeSet,
    fs,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use kollect_collect::{
    Assignment, Backoff, Collector, Habits, Keeper, Order, Pace, Place, Report, TargetReport,
    connect, use_ring,
};
use kollect_inventory::{Coverage, Dedupe, PartitionKey, Store, TargetKey, ViewId};
use kollect_sandbox::{Request, ResourceDefinition, Sandbox, Verb};
use kube::Client;
use serde_json::{Value, json};
use tokio::time::timeout;

/// Nothing takes so long.
const LIMIT: Duration = Duration::from_mins(1);

pub(super) struct Kept(Mutex<Store>);

impl Keeper for Kept {
    fn with(&self, operation: &mut dyn FnMut(&mut Store)) {
        operation(&mut self.0.lock().unwrap());
    }
}

/// A collector at work in a cluster.
pub(super) struct Scene {
    pub(super) sandbox: Sandbox,
    pub(super) collector: Collector<Arc<Kept>>,
    store: Arc<Kept>,
    view: ViewId,
    ordered: AtomicU64,
}

pub(super) fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Somebody who asks again soon.
pub(super) fn eager() -> Habits {
    Habits {
        pace: Pace {
            retry: Backoff { first: millis(4), longest: millis(32) },
            refused: Backoff { first: millis(10), longest: millis(40) },
            silence: Duration::from_secs(20),
            ..Pace::default()
        },
        review: millis(50),
        definite: millis(300),
        roll_call: millis(50),
        look_up: (millis(100), Duration::from_mins(1)),
        ..Habits::default()
    }
}

impl Scene {
    /// A cluster with the namespaces mall and shop, and widgets.
    pub(super) async fn new() -> Self {
        Self::with(eager(), |_| {}).await
    }

    pub(super) async fn with(habits: Habits, prepare: impl FnOnce(&Sandbox)) -> Self {
        let sandbox = Sandbox::start().unwrap();
        sandbox.set_bookmark_interval(millis(50));
        for name in ["mall", "shop"] {
            namespace(&sandbox, name, json!({}));
        }
        sandbox.define(widgets("Widget", "widgets"));
        prepare(&sandbox);
        let mut store = Store::new(0);
        let view = store.add_view(Dedupe::KeepAll);
        let store = Arc::new(Kept(Mutex::new(store)));
        let client = client(&sandbox.url()).await;
        let collector = Collector::start(client, Arc::clone(&store), habits);
        Self { sandbox, collector, store, view, ordered: AtomicU64::new(0) }
    }

    /// Orders this, and nothing else.
    pub(super) fn order(&self, assignments: &[Assignment]) {
        self.order_with(assignments, BTreeSet::new());
    }

    /// The same, but none of it is what somebody wants now.
    pub(super) fn doubt(&self, assignments: &[Assignment]) {
        let targets = assignments.iter().map(|one| one.target().clone()).collect();
        self.order_with(assignments, targets);
    }

    fn order_with(&self, assignments: &[Assignment], doubted: BTreeSet<TargetKey>) {
        let assignments = assignments.iter().cloned().map(Arc::new).collect();
        let view = self.view;
        let feeds = Arc::new(move |_: &_, _: &_, _: Option<&_>| vec![view]);
        let number =
            self.collector.order(Order { assignments, doubted, unknown: BTreeSet::new(), feeds });
        self.ordered.store(number, Ordering::Relaxed);
    }

    /// Waits until the report on a target is such.
    pub(super) async fn reports(&self, target: &str, holds: impl Fn(&TargetReport) -> bool) {
        let key = key(target);
        let ordered = self.ordered.load(Ordering::Relaxed);
        let is_so = |report: &Arc<Report>| {
            report.order == ordered && report.targets.get(&key).is_some_and(&holds)
        };
        let mut reports = self.collector.report();
        let waited = timeout(LIMIT, reports.wait_for(is_so)).await.is_ok();
        assert!(waited, "the report stayed {:#?}", self.collector.report().borrow());
    }

    /// Waits until everything that a target wants is known.
    pub(super) async fn covers(&self, target: &str) {
        self.reports(target, TargetReport::is_covered).await;
    }

    /// Waits until the rows are these, as `t shop/web: red`.
    pub(super) async fn has(&self, rows: &[&str]) {
        let waited = timeout(LIMIT, async {
            while self.rows() != rows {
                tokio::time::sleep(millis(2)).await;
            }
        });
        assert!(waited.await.is_ok(), "wanted {rows:?}, there is {:?}", self.rows());
    }

    pub(super) fn rows(&self) -> Vec<String> {
        let rows = self.store.0.lock().unwrap().view_rows(self.view);
        let mut rows: Vec<_> = rows
            .iter()
            .map(|row| {
                let row: Value = serde_json::from_slice(row.as_json()).unwrap();
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let (target, namespace, name) =
                    (text(&row["targetName"]), text(&row["namespace"]), text(&row["name"]));
                format!("{target} {namespace}/{name}: {}", text(&row["attributes"]["colour"]))
            })
            .collect();
        rows.sort();
        rows
    }

    /// Whether a partition is covered; nothing if there is none.
    pub(super) fn coverage(&self, target: &str, namespace: &str) -> Option<Coverage> {
        let store = self.store.0.lock().unwrap();
        let key = PartitionKey { target: key(target), namespace: namespace.to_owned() };
        store.partition(&key).map(|partition| store.coverage(partition))
    }

    /// Whether a first export may begin, as far as the reports say what there is.
    pub(super) fn is_warm(&self) -> bool {
        let is_settled =
            self.collector.report().borrow().targets.values().all(|report| report.is_settled);
        let mut store = self.store.0.lock().unwrap();
        if is_settled {
            store.settle(self.view);
        }
        store.is_warm(self.view)
    }

    /// How often widgets were asked for in a way.
    pub(super) fn asked(&self, is_such: impl Fn(&Request) -> bool) -> usize {
        let of_widgets = |request: &&Request| request.resource() == "widgets";
        self.sandbox.requests().iter().filter(of_widgets).filter(|one| is_such(one)).count()
    }
}

pub(super) fn is_watch(request: &Request) -> bool {
    request.verb == Verb::Watch
}

pub(super) fn is_list(request: &Request) -> bool {
    request.verb == Verb::List
}

fn key(target: &str) -> TargetKey {
    TargetKey { namespace: Some("default".to_owned()), name: target.to_owned() }
}

/// A client by way of a kubeconfig that leads to an address.
async fn client(url: &str) -> Client {
    use_ring();
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("config");
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "c", "user": {"token": "t"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
    });
    fs::write(&file, config.to_string()).unwrap();
    connect(&Place::Files(vec![file]), None).await.unwrap()
}

pub(super) fn namespace(sandbox: &Sandbox, name: &str, labels: Value) {
    let metadata = json!({"name": name, "labels": labels});
    sandbox.put(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})).unwrap();
}

pub(super) fn widgets(kind: &str, plural: &str) -> ResourceDefinition {
    ResourceDefinition {
        group: "shop.example".to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
        namespaced: true,
    }
}

/// Puts a widget of some colour, which is a label, too.
pub(super) fn put(sandbox: &Sandbox, namespace: &str, name: &str, colour: &str) {
    of_kind(sandbox, "Widget", namespace, name, colour);
}

pub(super) fn of_kind(sandbox: &Sandbox, kind: &str, namespace: &str, name: &str, colour: &str) {
    let widget = json!({
        "apiVersion": "shop.example/v1", "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "labels": {"colour": colour}},
        "spec": {"colour": colour, "size": "large"},
    });
    sandbox.put(widget).unwrap();
}

pub(super) fn delete(sandbox: &Sandbox, namespace: &str, name: &str) -> bool {
    sandbox.delete("shop.example", "widgets", Some(namespace), name)
}

/// A target that reads the colour of widgets; `spec` adds to what it asks for.
pub(super) fn target(name: &str, spec: Value) -> Assignment {
    assignment(name, "Widget", "$.spec.colour", spec)
}

/// A target that reads one attribute of a kind.
pub(super) fn assignment(name: &str, kind: &str, path: &str, spec: Value) -> Assignment {
    let kind = json!({"group": "shop.example", "version": "v1", "kind": kind});
    let profile = json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectProfile", "metadata": {"name": "p"},
        "spec": {"targetGVK": kind, "attributes": [{"name": "colour", "path": path}]},
    });
    let mut target = json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectTarget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"profileRef": "p"},
    });
    let fields = target["spec"].as_object_mut().unwrap();
    fields.extend(spec.as_object().cloned().unwrap_or_default());
    let (profile, target) = (serde_json::from_value(profile), serde_json::from_value(target));
    Assignment::of_target(&target.unwrap(), &profile.unwrap(), None, &[]).unwrap()
}
