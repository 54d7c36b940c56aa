//! Gathers what objects should say about themselves.

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;
use kollect_collect::{Report, TargetReport};
use kollect_inventory::{PartitionKey, TargetKey};
use kollect_sinks::{InventoryKey, PairKey};
use kollect_validate::Object;
use tokio::time::{Duration, Instant};

use super::{
    Brain,
    say::{Saying, tend},
};
use crate::{
    plan::{Plan, inventory::InventoryPlan},
    status::{
        self,
        coverage::{self, Moment},
        inventory::TargetFacts,
        target::Sinks,
    },
};

/// So long after the start what was said before stands (R22).
const YOUNG: Duration = Duration::from_secs(30);

/// What everything of ours should say.
pub(super) fn statuses(plan: &Plan, brain: &Brain, report: &Report, now: Timestamp) -> Vec<Saying> {
    let now = Moment { time: now, instant: Instant::now() };
    let is_young = now.instant < brain.started + YOUNG;
    let sinks = sinks(plan);
    let mut sayings = Vec::new();
    let mut known = BTreeMap::new();
    for (key, target) in &plan.targets {
        let said = report.targets.get(key);
        let of_namespace = |namespace| sinks.get(namespace).cloned().unwrap_or(Sinks::None);
        let facts = status::target::Facts {
            report: said,
            rows: said.map(|said| rows(brain, key, said)),
            failed: brain.collector.failed(key),
            sinks: key.namespace.as_deref().map(of_namespace),
            is_young,
        };
        let wanted = status::target::status(target, &facts, now.time);
        sayings.extend(saying(&target.object, &wanted));
        let is_pending = facts.is_pending();
        let is_well = match facts.trouble(target) {
            Some(_) => Some(false),
            None => (!is_pending).then_some(true),
        };
        let rows = facts.rows.filter(|_| !is_pending);
        known.insert(key, TargetFacts { name: key.name.clone(), rows, is_well });
    }
    for (key, inventory) in &plan.inventories {
        let facts = status::inventory::Facts {
            is_young,
            ..facts(brain, report, (key, inventory), (&known, now))
        };
        sayings.extend(match &*inventory.object {
            Object::ClusterInventory(_) => {
                let wanted = status::inventory::of_cluster(inventory, &facts, now.time);
                saying(&inventory.object, &wanted)
            }
            _ => saying(&inventory.object, &status::inventory::status(inventory, &facts, now.time)),
        });
    }
    for inventory in &plan.nameless {
        let facts = status::inventory::Facts::default();
        let wanted = status::inventory::status(inventory, &facts, now.time);
        sayings.extend(saying(&inventory.object, &wanted));
    }
    sayings.extend(tend::statuses(plan, &brain.probes, now.time));
    sayings
}

/// How the sinks of each namespace's inventories are.
fn sinks(plan: &Plan) -> BTreeMap<&str, Sinks> {
    let mut sinks = BTreeMap::new();
    for (key, inventory) in &plan.inventories {
        if matches!(*inventory.object, Object::ClusterInventory(_)) {
            continue;
        }
        for pair in &inventory.pairs {
            let of_namespace = sinks.entry(key.namespace.as_str()).or_insert(Sinks::Reachable);
            if let (Sinks::Reachable, Some(trouble)) = (&of_namespace, pair.unreachable()) {
                *of_namespace = Sinks::Not(trouble);
            }
        }
    }
    sinks
}

fn facts(
    brain: &Brain,
    report: &Report,
    (key, inventory): (&InventoryKey, &InventoryPlan),
    (targets, now): (&BTreeMap<&TargetKey, TargetFacts>, Moment),
) -> status::inventory::Facts {
    let view = brain.views.get(key);
    let (rows, shards) = brain.ledger.with(|store| {
        let warm = view.filter(|view| store.is_warm(*view));
        let is_cluster = matches!(*inventory.object, Object::ClusterInventory(_));
        let shards = warm.filter(|_| is_cluster).map(|view| store.shards(view));
        (warm.map(|view| store.view_content(view).rows), shards.unwrap_or_default())
    });
    let selected = inventory.targets.iter().filter(|target| shares(inventory, target, report));
    let pairs = inventory.pairs.iter().filter_map(|pair| {
        let pair_key = PairKey { inventory: key.clone(), sink: pair.sink.clone() };
        Some((pair.sink.clone(), brain.copies.state(&pair_key)?))
    });
    let gaps = inventory.targets.iter();
    let gaps = gaps.filter_map(|target| Some((target, &report.targets.get(target)?.gaps)));
    status::inventory::Facts {
        rows,
        targets: selected.filter_map(|target| targets.get(target).cloned()).collect(),
        pairs: pairs.collect(),
        coverage: coverage::coverage(gaps, said_before(&inventory.object), now),
        shards,
        is_young: false,
    }
}

/// Whether a target has a namespace in common with an inventory, as far as that
/// is known.
fn shares(inventory: &InventoryPlan, target: &TargetKey, report: &Report) -> bool {
    let Some(known) = report.targets.get(target) else { return true };
    let about = |name: &str| report.namespaces.as_ref().and_then(|all| all.get(name));
    known.effective.is_empty()
        || known.effective.iter().any(|name| inventory.holds(target, name, about(name)))
}

fn said_before(object: &Object) -> &[kollect_api::Coverage] {
    match object {
        Object::Inventory(one) => one.status.as_ref().map_or(&[], |status| &status.coverage),
        Object::ClusterInventory(one) => {
            one.status.as_ref().map_or(&[], |status| &status.inventory.coverage)
        }
        _ => &[],
    }
}

fn rows(brain: &Brain, target: &TargetKey, known: &TargetReport) -> usize {
    let key =
        |namespace: &String| PartitionKey { target: target.clone(), namespace: namespace.clone() };
    brain.ledger.with(|store| {
        let keys = known.effective.iter().map(key);
        let partitions = keys.filter_map(|key| store.partition(&key));
        partitions.map(|partition| store.content(partition).rows).sum()
    })
}

/// What an object says, and what it should.
pub(super) fn saying(object: &Arc<Object>, wanted: &impl serde::Serialize) -> Option<Saying> {
    let now = match &**object {
        Object::Target(one) => serde_json::to_value(&one.status),
        Object::ClusterTarget(one) => serde_json::to_value(&one.status),
        Object::Inventory(one) => serde_json::to_value(&one.status),
        Object::ClusterInventory(one) => serde_json::to_value(&one.status),
        // These may have nothing to say.
        Object::SnapshotSink(one) => serde_json::to_value(one.status.clone().unwrap_or_default()),
        Object::DatabaseSink(one) => serde_json::to_value(one.status.clone().unwrap_or_default()),
        Object::EventSink(one) => serde_json::to_value(one.status.clone().unwrap_or_default()),
        Object::ConnectionTest(one) => serde_json::to_value(one.status.clone().unwrap_or_default()),
        Object::Profile(_) | Object::Scope(_) | Object::ClusterScope(_) => return None,
    };
    let (now, wanted) = (now.ok()?, serde_json::to_value(wanted).ok()?);
    Some(Saying { object: Arc::clone(object), now, wanted })
}
