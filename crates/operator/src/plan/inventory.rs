//! What each inventory comes to: whose rows, and copied where.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kollect_api::{
    ClusterInventory, ClusterScope, Dedupe, ExportInterval, Inventory, Scope, SinkRef, SinkRefEntry,
};
use kollect_extract::select::{self, Namespace};
use kollect_inventory::TargetKey;
use kollect_sinks::{Family, InventoryKey, ProfileSchema, Schema, SinkKey, SinkSpec};
use kollect_validate::{Kind, Object, Report, Rule, Surroundings};

use super::{
    Trouble,
    sink::{SinkPlan, spec_of},
    target::TargetPlan,
};
use crate::{
    objects::{Name, Objects},
    settings::Settings,
};

/// Where cluster inventories are in copies.
const CLUSTER: &str = "cluster";

/// What an inventory comes to.
#[derive(Clone, Debug)]
pub(crate) struct InventoryPlan {
    pub(crate) object: Arc<Object>,
    /// The targets whose rows it holds.
    pub(crate) targets: Vec<TargetKey>,
    pub(crate) dedupe: Dedupe,
    pub(crate) schema: Arc<Schema>,
    pub(crate) pairs: Vec<PairPlan>,
    /// What is wrong with it as a whole; then nothing is exported.
    pub(crate) trouble: Option<Trouble>,
    within: Within,
}

/// Which namespaces count.
#[derive(Clone, Debug)]
enum Within {
    All,
    Chosen { names: Vec<String>, selector: Option<LabelSelector> },
}

/// One copy of an inventory.
#[derive(Clone, Debug)]
pub(crate) struct PairPlan {
    pub(crate) sink: SinkKey,
    /// The sink's object, or why there is none to write to.
    pub(crate) spec: Result<(Arc<Object>, SinkSpec), Trouble>,
    /// After this long without an export the copy is verified; zero never.
    pub(crate) interval: Duration,
    pub(crate) limit: Option<usize>,
}

impl PairPlan {
    /// Nothing is written to a sink that the rules of admission refuse.
    pub(super) fn admit(&mut self, sink: Option<&SinkPlan>) {
        if let Some(trouble) = sink.and_then(|sink| sink.trouble.as_ref()) {
            let SinkKey { family, namespace, name } = &self.sink;
            let message =
                format!("{family} sink {namespace}/{name} is invalid: {}", trouble.message);
            self.spec = Err(Trouble::new("ExportTerminal", message));
        }
    }

    /// What is known to keep exports from the sink, by its object and what that
    /// says of itself.
    pub(crate) fn unreachable(&self) -> Option<Trouble> {
        let (object, _) = match &self.spec {
            Ok(found) => found,
            Err(trouble) => return Some(trouble.clone()),
        };
        let status = match &**object {
            Object::SnapshotSink(sink) => sink.status.as_ref(),
            Object::DatabaseSink(sink) => sink.status.as_ref(),
            Object::EventSink(sink) => sink.status.as_ref(),
            _ => None,
        };
        let mut conditions = status?.conditions.iter();
        let verified = conditions.find(|one| one.type_ == "ConnectionVerified")?;
        let message = || format!("{}: {}", self.sink.name, verified.message);
        (verified.status == "False").then(|| Trouble::new("SinkUnreachable", message()))
    }
}

impl InventoryPlan {
    /// One without targets.
    #[cfg(test)]
    pub(crate) fn bare(object: Arc<Object>, pairs: Vec<PairPlan>) -> Self {
        Self {
            object,
            pairs,
            targets: Vec::new(),
            dedupe: Dedupe::KeepAll,
            schema: Arc::default(),
            trouble: None,
            within: Within::All,
        }
    }

    /// Whether it is being deleted.
    pub(crate) fn is_leaving(&self) -> bool {
        self.object.meta().deletion_timestamp.is_some()
    }

    /// A text that changes whenever other rows may belong to it.
    pub(crate) fn belonging(&self) -> String {
        format!("{:?} {:?}", self.targets, self.within)
    }

    /// Whether rows of a target in a namespace belong to it; those without one
    /// always do.
    pub(crate) fn holds(
        &self,
        target: &TargetKey,
        namespace: &str,
        about: Option<&Namespace>,
    ) -> bool {
        self.targets.contains(target)
            && match &self.within {
                Within::All => true,
                Within::Chosen { .. } if namespace.is_empty() => true,
                Within::Chosen { names, selector } => {
                    let unlabelled = Namespace::default();
                    let labels = &about.unwrap_or(&unlabelled).labels;
                    (names.is_empty() || names.iter().any(|name| name == namespace))
                        && selector.as_ref().is_none_or(|one| select::matches(one, labels))
                }
            }
    }
}

/// What every inventory comes to; and those that have no name of their own,
/// because they are in the namespace that cluster inventories have in copies.
/// Nothing may be done for these, not even a farewell.
pub(super) fn all(
    objects: &Objects,
    targets: &BTreeMap<TargetKey, TargetPlan>,
    settings: &Settings,
    around: &Surroundings,
) -> (BTreeMap<InventoryKey, InventoryPlan>, Vec<InventoryPlan>) {
    let both = [Kind::Inventory, Kind::ClusterInventory].into_iter();
    let both = both.flat_map(|kind| objects.of_kind(kind));
    let (mut plans, mut nameless) = (BTreeMap::new(), Vec::new());
    for (_, object) in both {
        let Some((key, mut plan)) = plan(object, objects, targets, settings) else { continue };
        if plan.trouble.is_none() {
            plan.trouble = refusal(object, around);
        }
        if object.kind() == Kind::Inventory && key.namespace == CLUSTER {
            plan.pairs.clear();
            nameless.push(plan);
            continue;
        }
        plans.insert(key, plan);
    }
    (plans, nameless)
}

fn plan(
    object: &Arc<Object>,
    objects: &Objects,
    targets: &BTreeMap<TargetKey, TargetPlan>,
    settings: &Settings,
) -> Option<(InventoryKey, InventoryPlan)> {
    let (key, is_mine, refs, of) = match &**object {
        Object::Inventory(one) => namespaced(one, targets),
        Object::ClusterInventory(one) => of_cluster(one, targets),
        _ => return None,
    };
    let schema = schema(targets, &is_mine);
    let pairs = refs.iter().map(|(family, reference)| {
        // Who is in a namespace has its sinks there, whatever the reference says.
        let elsewhere = reference.namespace.clone().filter(|_| of.is_cluster);
        let namespace = elsewhere.unwrap_or_else(|| of.sink_namespace.clone());
        let sink = SinkKey { family: *family, namespace, name: reference.name.clone() };
        let spec = sink_of(objects, &sink);
        let own =
            spec.as_ref().ok().and_then(|(_, spec)| spec.common().export_min_interval.clone());
        let interval = reference.export_min_interval.clone().or(own);
        let interval = interval.as_ref().unwrap_or(&of.interval).duration().unwrap_or_default();
        let floor = floor(objects, &sink.namespace, of.is_cluster);
        let bytes = reference.max_export_bytes.or(of.max_export_bytes);
        PairPlan {
            interval: interval.max(floor),
            // Files are cut only where the reference says so (R25); what else
            // is cut knows its own limit.
            limit: limit(&sink, reference, bytes, settings),
            sink,
            spec,
        }
    });
    let plan = InventoryPlan {
        object: Arc::clone(object),
        pairs: pairs.collect(),
        targets: is_mine,
        dedupe: of.dedupe,
        schema,
        trouble: of.is_suspended.then(|| {
            Trouble::new("Suspended", "spec.suspend is set: rows are collected and not exported")
        }),
        within: of.within,
    };
    Some((key, plan))
}

/// What differs between the two kinds of inventory.
struct Of {
    is_cluster: bool,
    is_suspended: bool,
    sink_namespace: String,
    interval: ExportInterval,
    max_export_bytes: Option<i64>,
    dedupe: Dedupe,
    within: Within,
}

type Parts = (InventoryKey, Vec<TargetKey>, Vec<(Family, SinkRef)>, Of);

fn namespaced(inventory: &Inventory, targets: &BTreeMap<TargetKey, TargetPlan>) -> Parts {
    let namespace = inventory.metadata.namespace.clone().unwrap_or_default();
    let name = inventory.metadata.name.clone().unwrap_or_default();
    let spec = &inventory.spec;
    let is_mine = |key: &&TargetKey| key.namespace.as_ref() == Some(&namespace);
    let refs = references([
        (Family::Snapshot, &spec.snapshot_sink_refs),
        (Family::Database, &spec.database_sink_refs),
        (Family::Event, &spec.event_sink_refs),
    ]);
    let of = Of {
        is_cluster: false,
        is_suspended: spec.suspend,
        sink_namespace: namespace.clone(),
        interval: spec.export_min_interval.clone(),
        max_export_bytes: spec.max_export_bytes,
        dedupe: Dedupe::KeepAll,
        within: Within::All,
    };
    let mine = targets.keys().filter(is_mine).cloned().collect();
    (InventoryKey { namespace, name }, mine, refs, of)
}

fn of_cluster(inventory: &ClusterInventory, targets: &BTreeMap<TargetKey, TargetPlan>) -> Parts {
    let name = inventory.metadata.name.clone().unwrap_or_default();
    let spec = &inventory.spec;
    let is_mine = |(key, plan): &(&TargetKey, &TargetPlan)| {
        let labels = plan.object.meta().labels.clone().unwrap_or_default();
        key.namespace.is_none()
            && if spec.target_refs.is_empty() {
                spec.target_selector.as_ref().is_none_or(|one| select::matches(one, &labels))
            } else {
                spec.target_refs.contains(&key.name)
            }
    };
    let refs = references([
        (Family::Snapshot, &spec.snapshot_sink_refs),
        (Family::Database, &spec.database_sink_refs),
        (Family::Event, &spec.event_sink_refs),
    ]);
    let of = Of {
        is_cluster: true,
        is_suspended: spec.suspend,
        sink_namespace: spec.sink_namespace.clone(),
        interval: spec.export_min_interval.clone(),
        max_export_bytes: None,
        dedupe: spec.dedupe,
        within: Within::Chosen {
            names: spec.namespaces.clone(),
            selector: spec.namespace_selector.clone(),
        },
    };
    let mine = targets.iter().filter(is_mine).map(|(key, _)| key.clone()).collect();
    (InventoryKey { namespace: CLUSTER.to_owned(), name }, mine, refs, of)
}

fn references(families: [(Family, &Vec<SinkRefEntry>); 3]) -> Vec<(Family, SinkRef)> {
    let mut found = Vec::new();
    for (family, entries) in families {
        for entry in entries {
            if let SinkRefEntry::Ref(reference) = entry {
                found.push((family, reference.clone()));
            }
        }
    }
    found
}

/// The object of a sink, and what it says.
fn sink_of(objects: &Objects, sink: &SinkKey) -> Result<(Arc<Object>, SinkSpec), Trouble> {
    let kind = match sink.family {
        Family::Snapshot => Kind::SnapshotSink,
        Family::Database => Kind::DatabaseSink,
        Family::Event => Kind::EventSink,
    };
    let name = Name::new(&sink.namespace, &sink.name);
    let missing = || Trouble::new("SinkNotFound", format!("there is no {} {name}", kind.name()));
    let object = objects.get(kind, &name).ok_or_else(missing)?;
    let spec = spec_of(object).ok_or_else(missing)?;
    Ok((Arc::clone(object), spec))
}

/// No interval is shorter than what the scope of the sink's namespace says, and
/// for cluster inventories that of the cluster scope.
fn floor(objects: &Objects, namespace: &str, is_cluster: bool) -> Duration {
    let scope = objects.all::<Scope>().find(|(name, _)| name.namespace == namespace);
    let own = scope.and_then(|(_, scope)| scope.spec.ceiling.min_export_interval.as_ref());
    let of_cluster = objects.all::<ClusterScope>().next().filter(|_| is_cluster);
    let of_cluster =
        of_cluster.and_then(|(_, scope)| scope.spec.ceiling.min_export_interval.as_ref());
    let floors = own.into_iter().chain(of_cluster);
    floors.filter_map(|floor| floor.duration().ok()).max().unwrap_or_default()
}

fn limit(
    sink: &SinkKey,
    reference: &SinkRef,
    bytes: Option<i64>,
    settings: &Settings,
) -> Option<usize> {
    let bytes = match sink.family {
        Family::Snapshot => reference.max_export_bytes,
        Family::Database | Family::Event => Some(bytes.unwrap_or(settings.policy.max_export_bytes)),
    };
    bytes.and_then(|bytes| usize::try_from(bytes).ok())
}

/// The profiles of some targets, each once with all its targets.
fn schema(targets: &BTreeMap<TargetKey, TargetPlan>, mine: &[TargetKey]) -> Arc<Schema> {
    let mut profiles: Vec<ProfileSchema> = Vec::new();
    for one in mine.iter().filter_map(|key| targets.get(key)?.schema.as_ref()) {
        let same = |known: &&mut ProfileSchema| {
            (&known.namespace, &known.name) == (&one.namespace, &one.name)
        };
        match profiles.iter_mut().find(same) {
            Some(known) => known.targets.extend(one.targets.iter().cloned()),
            None => profiles.push(one.clone()),
        }
    }
    Arc::new(Schema { profiles })
}

/// What the rules of admission say against an inventory. Intervals below a
/// floor are lifted to it, not refused.
fn refusal(object: &Object, around: &Surroundings) -> Option<Trouble> {
    let mut report = Report::default();
    kollect_validate::check(object, around, &mut report);
    let is_refused = |rule: Rule| ![Rule::Inv07, Rule::Civ09].contains(&rule);
    let violation = report.violations.into_iter().find(|one| is_refused(one.rule))?;
    let reason = match violation.rule {
        Rule::Inv08 | Rule::Civ11 => "ScopeSinkDenied",
        Rule::Civ10 => "SinkNamespaceDenied",
        _ => "InvalidSpec",
    };
    Some(Trouble::new(reason, violation.to_string()))
}

#[cfg(test)]
mod tests;
