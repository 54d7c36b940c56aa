//! What is to be collected, and where it goes.

use std::{collections::BTreeMap, fmt, sync::Arc};

use anyhow::bail;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kollect_api::{AddressPolicy, Dedupe, Profile, SinkRefEntry};
use kollect_collect::Assignment;
use kollect_extract::select::{self, Namespace};
use kollect_sinks::{Family, InventoryKey, ProfileSchema, Schema, SinkKey, SinkSpec};
use kollect_validate::Object;

use crate::secrets::Secrets;

/// Everything that a run has to do.
#[derive(Debug, Default)]
pub(super) struct Config {
    pub(super) targets: Vec<TargetPlan>,
    pub(super) inventories: Vec<InventoryPlan>,
    pub(super) sinks: BTreeMap<SinkKey, SinkSpec>,
    pub(super) secrets: Secrets,
    /// Where sinks may be.
    pub(super) addresses: AddressPolicy,
    /// What was left out, and why.
    pub(super) remarks: Vec<String>,
}

/// A target and the profile that it reads by.
#[derive(Debug)]
pub(super) struct TargetPlan {
    pub(super) assignment: Assignment,
    pub(super) schema: ProfileSchema,
    labels: BTreeMap<String, String>,
}

impl fmt::Display for TargetPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.assignment.target();
        match &key.namespace {
            Some(namespace) => write!(f, "{namespace}/{}", key.name),
            None => f.write_str(&key.name),
        }
    }
}

/// Which rows go together, and to which sinks.
#[derive(Debug)]
pub(super) struct InventoryPlan {
    pub(super) key: InventoryKey,
    pub(super) generation: i64,
    /// Places in the list of targets.
    pub(super) targets: Vec<usize>,
    pub(super) dedupe: Dedupe,
    pub(super) schema: Arc<Schema>,
    pub(super) sinks: Vec<(SinkKey, Option<usize>)>,
    within: Within,
}

/// Which namespaces count.
#[derive(Debug)]
enum Within {
    All,
    Chosen { names: Vec<String>, selector: Option<LabelSelector> },
}

impl InventoryPlan {
    /// Whether rows of a namespace belong to it; those without one always do.
    pub(super) fn holds(&self, namespace: &str, about: Option<&Namespace>) -> bool {
        match &self.within {
            Within::All => true,
            Within::Chosen { .. } if namespace.is_empty() => true,
            Within::Chosen { names, selector } => {
                let unlabelled = Namespace::default();
                let labels = &about.unwrap_or(&unlabelled).labels;
                (names.is_empty() || names.iter().any(|name| name == namespace))
                    && selector.as_ref().is_none_or(|selector| select::matches(selector, labels))
            }
        }
    }
}

/// Makes a plan of the objects of a configuration.
pub(super) fn plan(objects: &[Object], scrub_keys: &[String]) -> anyhow::Result<Config> {
    let mut config = Config { sinks: sinks(objects), ..Config::default() };
    for object in objects {
        let (name, suspended) = match object {
            Object::Target(target) => (target.metadata.name.as_deref(), target.spec.suspend),
            Object::ClusterTarget(target) => (target.metadata.name.as_deref(), target.spec.suspend),
            _ => continue,
        };
        if suspended {
            let name = name.unwrap_or_default();
            config.remarks.push(format!("target {name} is suspended and was left out"));
            continue;
        }
        config.targets.push(target(object, objects, scrub_keys)?);
    }
    config.inventories = inventories(objects, &config.targets);
    let mut named = objects
        .iter()
        .filter(|object| matches!(object, Object::Inventory(_) | Object::ClusterInventory(_)));
    // One that is suspended is still what somebody wants, and not now.
    if named.next().is_none() {
        config.inventories = one_for_each(&config);
    }
    for (at, target) in config.targets.iter().enumerate() {
        if !config.inventories.iter().any(|inventory| inventory.targets.contains(&at)) {
            let name = &target.assignment.target().name;
            config.remarks.push(format!("target {name} is in no inventory and was left out"));
        }
    }
    Ok(config)
}

/// Makes every target read these namespaces only.
pub(super) fn confine(objects: &mut [Object], namespaces: &[String]) {
    for object in objects {
        let filter = match object {
            Object::Target(target) => &mut target.spec.filter,
            Object::ClusterTarget(target) => &mut target.spec.filter,
            _ => continue,
        };
        filter.included_namespaces = namespaces.to_vec();
    }
}

fn sinks(objects: &[Object]) -> BTreeMap<SinkKey, SinkSpec> {
    let sinks = objects.iter().filter_map(|object| {
        let spec = crate::sink::spec(object)?;
        let (namespace, name) = (object.namespace().to_owned(), object.name().to_owned());
        Some((SinkKey { family: spec.family(), namespace, name }, spec))
    });
    sinks.collect()
}

fn target(object: &Object, objects: &[Object], scrub: &[String]) -> anyhow::Result<TargetPlan> {
    let (namespace, profile, labels) = match object {
        Object::Target(target) => {
            (object.namespace(), target.spec.profile_ref.as_str(), &target.metadata.labels)
        }
        Object::ClusterTarget(target) => {
            let reference = &target.spec.profile_ref;
            (reference.namespace.as_str(), reference.name.as_str(), &target.metadata.labels)
        }
        _ => bail!("{} is no target", object.name()),
    };
    let of_name = || {
        objects.iter().filter_map(|object| match object {
            Object::Profile(one) if one.metadata.name.as_deref() == Some(profile) => Some(&**one),
            _ => None,
        })
    };
    let is_here =
        |one: &&Profile| one.metadata.namespace.as_deref().unwrap_or("default") == namespace;
    // Files often leave namespaces out; then the profile of that name is meant.
    let found = of_name().find(is_here).or_else(|| of_name().next());
    let Some(found) = found else {
        bail!("target {}: there is no KollectProfile {namespace}/{profile}", object.name());
    };
    let assignment = match object {
        Object::ClusterTarget(target) => Assignment::of_cluster_target(target, found, None, scrub),
        Object::Target(target) => Assignment::of_target(target, found, None, scrub),
        _ => bail!("{} is no target", object.name()),
    };
    let assignment = assignment.map_err(|errors| {
        let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
        anyhow::anyhow!("profile {profile}: {}", texts.join("; "))
    })?;
    let mut schema = ProfileSchema::of(profile, &found.spec, vec![assignment.target().clone()]);
    schema.namespace = found.metadata.namespace.clone().unwrap_or_default();
    Ok(TargetPlan { assignment, schema, labels: labels.clone().unwrap_or_default() })
}

/// The inventories of the configuration, each with the targets that feed it.
fn inventories(objects: &[Object], targets: &[TargetPlan]) -> Vec<InventoryPlan> {
    let mut plans = Vec::new();
    for object in objects {
        let of_namespace = |target: &TargetPlan| {
            target.assignment.target().namespace.as_deref() == Some(object.namespace())
        };
        match object {
            Object::Inventory(inventory) if !inventory.spec.suspend => {
                let spec = &inventory.spec;
                let refs = [
                    (Family::Snapshot, &spec.snapshot_sink_refs),
                    (Family::Database, &spec.database_sink_refs),
                    (Family::Event, &spec.event_sink_refs),
                ];
                plans.push(InventoryPlan {
                    key: key(object.namespace(), object.name()),
                    generation: inventory.metadata.generation.unwrap_or_default(),
                    targets: places(targets, of_namespace),
                    dedupe: Dedupe::KeepAll,
                    schema: Arc::default(),
                    sinks: references(&refs, object.namespace()),
                    within: Within::All,
                });
            }
            Object::ClusterInventory(inventory) if !inventory.spec.suspend => {
                let spec = &inventory.spec;
                let is_chosen = |target: &TargetPlan| {
                    let key = target.assignment.target();
                    key.namespace.is_none()
                        && if spec.target_refs.is_empty() {
                            let selector = spec.target_selector.as_ref();
                            selector.is_none_or(|one| select::matches(one, &target.labels))
                        } else {
                            spec.target_refs.contains(&key.name)
                        }
                };
                let refs = [
                    (Family::Snapshot, &spec.snapshot_sink_refs),
                    (Family::Database, &spec.database_sink_refs),
                    (Family::Event, &spec.event_sink_refs),
                ];
                plans.push(InventoryPlan {
                    key: key("cluster", object.name()),
                    generation: inventory.metadata.generation.unwrap_or_default(),
                    targets: places(targets, is_chosen),
                    dedupe: spec.dedupe,
                    schema: Arc::default(),
                    sinks: references(&refs, &spec.sink_namespace),
                    within: Within::Chosen {
                        names: spec.namespaces.clone(),
                        selector: spec.namespace_selector.clone(),
                    },
                });
            }
            _ => {}
        }
    }
    for plan in &mut plans {
        plan.schema = schema(targets, &plan.targets);
    }
    plans
}

/// Without an inventory every target is one, and goes to every sink.
fn one_for_each(config: &Config) -> Vec<InventoryPlan> {
    let of_target = |(at, target): (usize, &TargetPlan)| {
        let name = target.assignment.target();
        InventoryPlan {
            key: key(name.namespace.as_deref().unwrap_or("cluster"), &name.name),
            generation: 0,
            targets: vec![at],
            dedupe: Dedupe::KeepAll,
            schema: schema(&config.targets, &[at]),
            sinks: config.sinks.keys().map(|sink| (sink.clone(), None)).collect(),
            within: Within::All,
        }
    };
    config.targets.iter().enumerate().map(of_target).collect()
}

fn places(targets: &[TargetPlan], is_wanted: impl Fn(&TargetPlan) -> bool) -> Vec<usize> {
    let wanted = targets.iter().enumerate().filter(|(_, target)| is_wanted(target));
    wanted.map(|(at, _)| at).collect()
}

fn references(
    families: &[(Family, &Vec<SinkRefEntry>)],
    namespace: &str,
) -> Vec<(SinkKey, Option<usize>)> {
    let mut found = Vec::new();
    for (family, entries) in families {
        for entry in *entries {
            let SinkRefEntry::Ref(reference) = entry else { continue };
            let namespace = reference.namespace.as_deref().unwrap_or(namespace).to_owned();
            let key = SinkKey { family: *family, namespace, name: reference.name.clone() };
            let limit = reference.max_export_bytes.and_then(|bytes| usize::try_from(bytes).ok());
            found.push((key, limit));
        }
    }
    found
}

/// The profiles of some targets, each once with all its targets.
fn schema(targets: &[TargetPlan], places: &[usize]) -> Arc<Schema> {
    let mut profiles: Vec<ProfileSchema> = Vec::new();
    for target in places.iter().filter_map(|at| targets.get(*at)) {
        let one = &target.schema;
        let same =
            |known: &&mut ProfileSchema| known.name == one.name && known.namespace == one.namespace;
        match profiles.iter_mut().find(same) {
            Some(known) => known.targets.extend(one.targets.iter().cloned()),
            None => profiles.push(one.clone()),
        }
    }
    Arc::new(Schema { profiles })
}

fn key(namespace: &str, name: &str) -> InventoryKey {
    InventoryKey { namespace: namespace.to_owned(), name: name.to_owned() }
}
