//! The cluster, as whoever has a kubeconfig sees it.

use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use kollect_api::{Inventory, Target};
use kube::{
    Api, Client,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    core::{GroupVersionKind, TypeMeta},
};
use serde_json::{Value, json};

use super::{
    change::{Part, Reference, Step},
    samples::{HOME, INVENTORY},
    status::{SinkState, Status, TargetState},
};

/// Who makes the changes.
const MANAGER: &str = "kollect-demo";
/// So often a definition is looked at until it is served, and how long apart.
const LOOKS: u32 = 100;
const BETWEEN: Duration = Duration::from_millis(100);

/// Somebody who talks to a cluster.
#[derive(Clone)]
pub(super) struct Cluster(pub(super) Client);

impl Cluster {
    /// Creates an object with its status, as a cluster that works would have it.
    pub(super) async fn create(&self, object: &Value) -> anyhow::Result<()> {
        let (api, name) = self.of(object)?;
        let parameters =
            PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
        let made = serde_json::from_value::<DynamicObject>(object.clone())?;
        let context = || format!("cannot create {}", called(object));
        let made = api.create(&parameters, &made).await.map_err(plain).with_context(context)?;
        let wanted = object.get("status");
        if wanted.is_some() && made.data.get("status") != wanted {
            let patch = Patch::Merge(json!({"status": wanted}));
            api.patch_status(&name, &PatchParams::default(), &patch)
                .await
                .map_err(plain)
                .with_context(context)?;
        }
        Ok(())
    }

    /// Applies an object, as `kubectl apply --server-side` does.
    pub(super) async fn apply(&self, object: &Value) -> anyhow::Result<()> {
        let (api, name) = self.of(object)?;
        let applied = api.patch(&name, &PatchParams::apply(MANAGER), &Patch::Apply(object)).await;
        applied.map_err(plain).with_context(|| format!("cannot apply {}", called(object)))?;
        Ok(())
    }

    /// Waits until a definition is served.
    pub(super) async fn established(&self, definition: &Value) -> anyhow::Result<()> {
        let (api, name) = self.of(definition)?;
        for _ in 0..LOOKS {
            let found = api
                .get(&name)
                .await
                .map_err(plain)
                .with_context(|| format!("cannot look at {name}"))?;
            let conditions = found.data.pointer("/status/conditions").and_then(Value::as_array);
            let is_served = |one: &Value| {
                one.get("type").is_some_and(|kind| kind == "Established")
                    && one.get("status").is_some_and(|status| status == "True")
            };
            if conditions.is_some_and(|all| all.iter().any(is_served)) {
                return Ok(());
            }
            tokio::time::sleep(BETWEEN).await;
        }
        bail!("the cluster does not serve {name}")
    }

    /// Waits until an object that was deleted has gone.
    pub(super) async fn gone(&self, object: &Value) -> anyhow::Result<()> {
        let (api, name) = self.of(object)?;
        for _ in 0..LOOKS {
            if api.get_opt(&name).await.map_err(plain)?.is_none() {
                return Ok(());
            }
            tokio::time::sleep(BETWEEN).await;
        }
        bail!("{} is still being removed", called(object))
    }

    /// Makes one request of a change.
    pub(super) async fn step(&self, step: &Step) -> anyhow::Result<()> {
        match step {
            Step::Create(object) => self.create(object).await,
            Step::Merge { object, part, patch } => {
                let (api, parameters) = (self.api(object), PatchParams::default());
                let patch = Patch::Merge(patch);
                let patched = match part {
                    Part::Whole => api.patch(&object.name, &parameters, &patch).await,
                    Part::Status => api.patch_status(&object.name, &parameters, &patch).await,
                };
                patched.map(drop).map_err(plain).with_context(|| format!("cannot change {object}"))
            }
            Step::Delete(object) => {
                let deleted = self.api(object).delete(&object.name, &DeleteParams::default()).await;
                deleted.map(drop).map_err(plain).with_context(|| format!("cannot delete {object}"))
            }
        }
    }

    /// What the operator says of its work.
    pub(super) async fn status(&self) -> anyhow::Result<Status> {
        let inventories = Api::<Inventory>::namespaced(self.0.clone(), HOME);
        let targets = Api::<Target>::namespaced(self.0.clone(), HOME);
        let inventory =
            inventories.get(INVENTORY).await.map_err(plain).context("cannot read the inventory")?;
        let targets = targets
            .list(&ListParams::default())
            .await
            .map_err(plain)
            .context("cannot list targets")?;
        let said = inventory.status.unwrap_or_default();
        let condition =
            |conditions: &[k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition], of: &str| {
                let found = conditions.iter().find(|one| one.type_ == of);
                found.map(|one| (one.status == "True", one.reason.clone(), one.message.clone()))
            };
        let synced = condition(&said.conditions, "Synced").unwrap_or_default();
        let sinks = said.sink_exports.iter().map(|sink| SinkState {
            name: sink.name.clone(),
            is_synced: condition(&sink.conditions, "Synced").is_some_and(|(is, ..)| is),
            reason: condition(&sink.conditions, "Synced")
                .map(|(_, reason, _)| reason)
                .unwrap_or_default(),
        });
        let targets = targets.items.into_iter().map(|target| {
            let status = target.status.unwrap_or_default();
            let degraded = condition(&status.conditions, "Degraded").filter(|(is, ..)| *is);
            let state = TargetState {
                rows: status.collected_count,
                trouble: degraded.map(|(_, reason, message)| format!("{reason}: {message}")),
            };
            (target.metadata.name.unwrap_or_default(), state)
        });
        Ok(Status {
            rows: said.item_count.and_then(|rows| usize::try_from(rows).ok()),
            is_synced: synced.0,
            reason: synced.1,
            sinks: sinks.collect(),
            targets: targets.collect(),
        })
    }

    /// How an object is asked for, and its name.
    pub(super) fn of(&self, object: &Value) -> anyhow::Result<(Api<DynamicObject>, String)> {
        let types: TypeMeta = serde_json::from_value(json!({
            "apiVersion": object.get("apiVersion"), "kind": object.get("kind"),
        }))?;
        let kind = GroupVersionKind::try_from(&types)?;
        let text = |path: &str| object.pointer(path).and_then(Value::as_str);
        let resource = ApiResource::from_gvk(&kind);
        let api = match text("/metadata/namespace") {
            Some(namespace) => Api::namespaced_with(self.0.clone(), namespace, &resource),
            None => Api::all_with(self.0.clone(), &resource),
        };
        Ok((api, text("/metadata/name").unwrap_or_default().to_owned()))
    }

    fn api(&self, object: &Reference) -> Api<DynamicObject> {
        let (group, version) =
            object.api_version.split_once('/').unwrap_or(("", object.api_version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, object.kind));
        Api::namespaced_with(self.0.clone(), &object.namespace, &resource)
    }
}

/// What the server itself says of an error, without what surrounds it.
pub(super) fn plain(error: kube::Error) -> anyhow::Error {
    match error {
        kube::Error::Api(status) => anyhow!("{}", status.message),
        other => other.into(),
    }
}

/// What an object is called in a message.
pub(super) fn called(object: &Value) -> String {
    let text = |path: &str| object.pointer(path).and_then(Value::as_str);
    let (kind, name) =
        (text("/kind").unwrap_or_default(), text("/metadata/name").unwrap_or_default());
    match text("/metadata/namespace") {
        Some(namespace) => format!("{kind} {namespace}/{name}"),
        None => format!("{kind} {name}"),
    }
}
