//! A real cluster: looked at first, asked for, and left as it was found.
//!
//! Nothing outside of the namespace of the demo is written, except for the
//! definitions of our kinds where there are none.

use anyhow::{Context as _, bail};
use k8s_openapi::api::core::v1::Namespace;
use kollect_collect::{Catalogue, Lookup};
use kollect_operator::LEASE;
use kube::{
    Api,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams},
    core::GroupVersionKind,
};
use serde_json::{Value, json};

use super::{
    change::{Change, Part, Proof, Reference, Step},
    cluster::{Cluster, called, plain},
    row::RowKey,
    samples::{self, HOME, INVENTORY, MARK, PULSES, Sample},
};

/// The objects whose changes are watched, since those of others are not touched.
const PULSE_NAMES: [&str; 3] = ["pulse-a", "pulse-b", "pulse-c"];

/// What will be there, and what has to be created for it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) samples: Vec<Sample>,
    /// Definitions of our kinds that the cluster lacks.
    pub(super) definitions: Vec<Value>,
}

impl Plan {
    /// Looks at a cluster; refuses one that somebody else is at work on.
    pub(super) async fn of(cluster: &Cluster) -> anyhow::Result<Self> {
        let catalogue = Catalogue::fetch(&cluster.0).await?;
        check_namespace(cluster).await?;
        check_operators(cluster).await?;
        let mut definitions = Vec::new();
        for definition in super::stage::definitions()? {
            let (api, name) = cluster.of(&definition)?;
            let found = api.get_opt(&name).await.map_err(plain);
            if found.with_context(|| format!("cannot look for the definition {name}"))?.is_none() {
                definitions.push(definition);
            }
        }
        let is_served = |sample: &Sample| {
            let Sample { group, version, kind, .. } = sample;
            let wanted = kollect_api::GroupVersionKind {
                group: group.to_string(),
                version: version.to_string(),
                kind: kind.to_string(),
            };
            matches!(catalogue.find(&wanted), Lookup::Served(_))
        };
        let mut samples = samples::samples();
        samples.retain(is_served);
        samples.push(PULSES);
        Ok(Self { samples, definitions })
    }

    /// What will be created, exactly.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let names: Vec<_> = self.definitions.iter().filter_map(name).collect();
        match names.len() {
            0 => lines.push("no definition: all of Kollect's are there".to_owned()),
            many => lines.push(format!("{many} CustomResourceDefinitions: {}", names.join(", "))),
        }
        lines.push(format!("Namespace {HOME}, and in it:"));
        let objects = samples::objects(&self.samples, "", "");
        for kind in [
            "KollectProfile",
            "KollectTarget",
            "KollectSnapshotSink",
            "KollectDatabaseSink",
            "KollectInventory",
        ] {
            let of_kind = objects.iter().filter(|one| one.get("kind").is_some_and(|it| it == kind));
            let names: Vec<_> = of_kind.filter_map(name).collect();
            lines.push(format!("  {kind}: {}", names.join(", ")));
        }
        let pulses = PULSE_NAMES.join(", ");
        lines.push(format!("  ConfigMap: {pulses}, whose changes you will see"));
        lines
    }
}

fn name(object: &Value) -> Option<&str> {
    object.pointer("/metadata/name").and_then(Value::as_str)
}

/// Refuses a namespace of that name that is somebody else's.
async fn check_namespace(cluster: &Cluster) -> anyhow::Result<()> {
    let namespaces = Api::<Namespace>::all(cluster.0.clone());
    let found = namespaces.get_opt(HOME).await.map_err(plain);
    let Some(found) = found.with_context(|| format!("cannot look for the namespace {HOME}"))?
    else {
        return Ok(());
    };
    if found.metadata.deletion_timestamp.is_some() {
        bail!("the namespace {HOME} is being removed; try again when it has gone");
    }
    let labels = found.metadata.labels.unwrap_or_default();
    if labels.get(MARK.0).map(String::as_str) != Some(MARK.1) {
        bail!(
            "there is a namespace {HOME} already, and it lacks the label {}={}, so it is not the \
             demo's; nothing was changed",
            MARK.0,
            MARK.1
        );
    }
    Ok(())
}

/// Refuses a cluster with another operator, which would reconcile our objects.
async fn check_operators(cluster: &Cluster) -> anyhow::Result<()> {
    let kind = GroupVersionKind::gvk("coordination.k8s.io", "v1", "Lease");
    let leases = Api::<DynamicObject>::all_with(cluster.0.clone(), &ApiResource::from_gvk(&kind));
    let wanted = ListParams::default().fields(&format!("metadata.name={LEASE}"));
    // Who may not look for one cannot be told about it.
    let Ok(found) = leases.list(&wanted).await else { return Ok(()) };
    let holder = |lease: &DynamicObject| {
        let holder = lease.data.pointer("/spec/holderIdentity").and_then(Value::as_str)?;
        let namespace = lease.metadata.namespace.clone().unwrap_or_default();
        (!holder.is_empty()).then(|| format!("{holder} (Lease {namespace}/{LEASE})"))
    };
    match found.items.iter().find_map(holder) {
        Some(holder) => bail!(
            "an operator of Kollect is at work on this cluster: {holder}; it would reconcile the \
             objects of the demo, too"
        ),
        None => Ok(()),
    }
}

/// The objects that are changed.
pub(super) fn pulses() -> Vec<Value> {
    let pulse = |name| {
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": HOME, "labels": {MARK.0: MARK.1}},
            "data": {"beat": "0"},
        })
    };
    PULSE_NAMES.into_iter().map(pulse).collect()
}

/// What happens next where nothing of others may.
pub(super) fn beat(number: u64) -> Change {
    let many = u64::try_from(PULSE_NAMES.len()).unwrap_or(1);
    let at = usize::try_from(number % many).unwrap_or_default();
    let name = PULSE_NAMES.get(at).copied().unwrap_or_default();
    let (old, new) = (number / many, number / many + 1);
    let object = Reference {
        api_version: "v1",
        kind: "ConfigMap",
        namespace: HOME.to_owned(),
        name: name.to_owned(),
    };
    Change {
        row: RowKey::new("ConfigMap", HOME, name),
        what: format!("beat {old} → {new}"),
        aside: None,
        steps: vec![Step::Merge {
            object,
            part: Part::Whole,
            patch: json!({"data": {"beat": new.to_string()}}),
        }],
        proof: Proof::Holds("beat", new.to_string()),
    }
}

/// Takes away what was created; says what could not be.
///
/// The operator has stopped: nobody tidies up copies that somebody may keep.
pub(super) async fn clear(cluster: &Cluster, plan: &Plan) -> Vec<String> {
    let mut left = Vec::new();
    let mut note = |what: &str, done: Result<(), kube::Error>| match done {
        Err(kube::Error::Api(status)) if status.code == 404 => {}
        Err(error) => left.push(format!("{what}: {:#}", plain(error))),
        Ok(()) => {}
    };
    let inventory = json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectInventory",
        "metadata": {"name": INVENTORY, "namespace": HOME},
    });
    let mut objects = samples::objects(&plan.samples, "", "");
    objects.extend(pulses());
    objects.push(samples::namespace());
    if let Ok((api, name)) = cluster.of(&inventory) {
        let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        let freed = api.patch(&name, &PatchParams::default(), &free).await;
        note("the finalizer of the inventory", freed.map(drop));
    }
    for object in &objects {
        let Ok((api, name)) = cluster.of(object) else { continue };
        let deleted = api.delete(&name, &DeleteParams::background()).await;
        note(&called(object), deleted.map(drop));
    }
    if let Some(others) = used_by_others(cluster, plan).await {
        left.push(format!(
            "the definitions of Kollect's kinds, because {others} is not the demo's"
        ));
        return left;
    }
    for definition in &plan.definitions {
        let Ok((api, name)) = cluster.of(definition) else { continue };
        let deleted = api.delete(&name, &DeleteParams::default()).await;
        note(&called(definition), deleted.map(drop));
    }
    for definition in &plan.definitions {
        if let Err(error) = cluster.gone(definition).await {
            left.push(error.to_string());
        }
    }
    left
}

/// An object of a kind that we have defined, which somebody else has created.
async fn used_by_others(cluster: &Cluster, plan: &Plan) -> Option<String> {
    for definition in &plan.definitions {
        let text = |path: &str| definition.pointer(path).and_then(Value::as_str);
        let (group, kind) = (text("/spec/group")?, text("/spec/names/kind")?);
        let version = text("/spec/versions/0/name")?;
        let kind = GroupVersionKind::gvk(group, version, kind);
        let api = Api::<DynamicObject>::all_with(cluster.0.clone(), &ApiResource::from_gvk(&kind));
        let found = api.list(&ListParams::default()).await.ok()?;
        let is_other = |one: &&DynamicObject| one.metadata.namespace.as_deref() != Some(HOME);
        if let Some(other) = found.items.iter().find(is_other) {
            let name = other.metadata.name.clone().unwrap_or_default();
            return Some(format!("{} {name}", kind.kind));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_will_be_created_is_listed_by_name() {
        let definition = json!({"metadata": {"name": "kollecttargets.kollect.dev"}});
        let plan = Plan { samples: vec![PULSES], definitions: vec![definition] };
        assert_eq!(
            plan.lines(),
            [
                "1 CustomResourceDefinitions: kollecttargets.kollect.dev",
                "Namespace kollect-demo, and in it:",
                "  KollectProfile: pulses",
                "  KollectTarget: pulses",
                "  KollectSnapshotSink: history",
                "  KollectDatabaseSink: rows",
                "  KollectInventory: everything",
                "  ConfigMap: pulse-a, pulse-b, pulse-c, whose changes you will see",
            ]
        );
    }

    #[test]
    fn everything_that_is_changed_is_at_home_and_no_beat_comes_twice() {
        let beats: Vec<_> = (0..9).map(beat).collect();
        for (at, change) in beats.iter().enumerate() {
            assert_eq!(change.row.namespace, HOME);
            assert!(beats[..at].iter().all(|other| other != change));
        }
        assert_eq!(beats[3].what, "beat 1 → 2");
        assert_eq!(beats[3].row, beats[0].row);
    }
}
