//! Writes to our own objects: status and finalizers, and nothing else.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use jiff::Timestamp;
use kollect_api::{GROUP, VERSION};
use kollect_collect::Report;
use kollect_inventory::{PartitionKey, TargetKey};
use kollect_sinks::{InventoryKey, PairKey};
use kollect_validate::{Kind, Object};
use kube::Client;
use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Duration, Instant},
};

use super::{
    Brain, Log,
    farewell::Released,
    write::{event, patch, path},
};
use crate::{
    eyes::resource,
    objects::{Name, Objects},
    plan::{Plan, Trouble},
    status,
};

/// Under churn, what is not a condition is written so often (R23).
const SELDOM: Duration = Duration::from_secs(10);
/// What could not be written is tried again after this.
const AGAIN: Duration = Duration::from_secs(5);
const INVENTORY_CLEANUP: &str = "kollect.dev/inventory-cleanup";
const CLUSTER_INVENTORY_CLEANUP: &str = "kollect.dev/cluster-inventory-cleanup";
/// Upstream puts these on targets.
const TARGET_CLEANUPS: [&str; 2] =
    ["kollect.dev/target-cleanup", "kollect.dev/cluster-target-cleanup"];

/// What an object should say about itself.
#[derive(Clone, Debug)]
pub(super) struct Saying {
    kind: Kind,
    name: Name,
    version: Option<String>,
    /// As the server has it.
    now: Value,
    wanted: Value,
}

type Key = (Kind, Name);

/// An object that was written to, and why that was not taken, if so.
type Written = (Key, Result<(), String>);

/// Writes to objects, one write at a time for each.
pub(super) struct Speaker {
    client: Client,
    tasks: JoinSet<()>,
    done: mpsc::UnboundedSender<Written>,
    written: mpsc::UnboundedReceiver<Written>,
    busy: BTreeSet<Key>,
    last: BTreeMap<Key, Last>,
    log: Log,
}

/// The last write to an object.
#[derive(Debug)]
struct Last {
    at: Instant,
    /// The version that the object had, and what was written.
    what: (Option<String>, Value),
    is_good: bool,
}

impl Speaker {
    pub(super) fn new(client: Client, log: Log) -> Self {
        let (done, written) = mpsc::unbounded_channel();
        Self {
            client,
            tasks: JoinSet::new(),
            done,
            written,
            busy: BTreeSet::new(),
            last: BTreeMap::new(),
            log,
        }
    }

    /// Waits until a write has ended.
    pub(super) async fn heard(&mut self) {
        if let Some((key, answer)) = self.written.recv().await {
            self.busy.remove(&key);
            if let Err(why) = &answer {
                let (kind, name) = (key.0.name(), &key.1);
                (self.log)(&format!("cannot write to {kind} {name}: {why}"));
            }
            if let Some(last) = self.last.get_mut(&key) {
                last.is_good = answer.is_ok();
            }
        }
    }

    /// Writes what is new.
    pub(super) fn say(&mut self, sayings: Vec<Saying>) {
        while self.tasks.try_join_next().is_some() {}
        let now = Instant::now();
        let known: BTreeSet<_> = sayings.iter().map(|one| (one.kind, one.name.clone())).collect();
        self.last.retain(|key, _| known.contains(key));
        for saying in sayings {
            let key = (saying.kind, saying.name.clone());
            if saying.now == saying.wanted
                || self.busy.contains(&key)
                || !self.is_due(&key, &saying, now)
            {
                continue;
            }
            let what = (saying.version.clone(), saying.wanted.clone());
            self.last.insert(key.clone(), Last { at: now, what, is_good: true });
            let body = json!({
                "apiVersion": format!("{GROUP}/{VERSION}"),
                "kind": saying.kind.name(),
                "metadata": {"name": saying.name.name, "namespace": saying.name.in_namespace()},
                "status": saying.wanted,
            });
            let uri = format!(
                "{}/status?fieldManager=kollect&force=true",
                path(&resource(saying.kind), &saying.name)
            );
            self.send(key, uri, "application/apply-patch+yaml", &body);
        }
    }

    /// Whether it may be written now. Conditions are always; counts wait.
    fn is_due(&self, key: &Key, saying: &Saying, now: Instant) -> bool {
        let Some(last) = self.last.get(key) else { return true };
        let is_same = last.what == (saying.version.clone(), saying.wanted.clone());
        if is_same {
            // The server has not told what came of it.
            return !last.is_good && now >= last.at + AGAIN;
        }
        words(&saying.now) != words(&saying.wanted) || now >= last.at + SELDOM
    }

    /// Gives inventories the finalizer that their copies need, and takes it
    /// from those that have taken leave.
    pub(super) fn finalizers(&mut self, plan: &Plan, released: &[Released]) {
        for object in plan.nameless.iter().filter(|one| one.is_leaving()).map(|one| &one.object) {
            if object.meta().finalizers.iter().flatten().any(|one| one == INVENTORY_CLEANUP) {
                self.finalize(object, &[INVENTORY_CLEANUP], None);
            }
        }
        for (key, inventory) in &plan.inventories {
            let meta = inventory.object.meta();
            let finalizer = match inventory.object.kind() {
                Kind::Inventory => INVENTORY_CLEANUP,
                _ => CLUSTER_INVENTORY_CLEANUP,
            };
            let has_it = meta.finalizers.iter().flatten().any(|one| one == finalizer);
            let farewell = released.iter().find(|one| one.inventory == *key);
            if !has_it && !inventory.is_leaving() {
                self.finalize(&inventory.object, &[], Some(finalizer));
            }
            let Some(Released { left, .. }) = farewell.filter(|_| has_it) else { continue };
            let is_sent = self.finalize(&inventory.object, &[finalizer], None);
            if is_sent && !left.is_empty() {
                let text = format!("these copies were left behind: {}", left.join("; "));
                let (client, object) = (self.client.clone(), Arc::clone(&inventory.object));
                self.tasks.spawn(async move {
                    event(&client, &object, "CleanupTerminal", &text).await;
                });
            }
        }
    }

    /// Takes the finalizers from targets that are being deleted which upstream
    /// put there. Ours need none.
    pub(super) fn release_targets(&mut self, objects: &Objects) {
        for kind in [Kind::Target, Kind::ClusterTarget] {
            for (_, object) in objects.of_kind(kind) {
                let meta = object.meta();
                let held = meta.finalizers.iter().flatten();
                let is_held = held.into_iter().any(|one| TARGET_CLEANUPS.contains(&one.as_str()));
                if meta.deletion_timestamp.is_some() && is_held {
                    self.finalize(object, &TARGET_CLEANUPS, None);
                }
            }
        }
    }

    /// Takes finalizers from an object, or gives it one. Whether that was sent;
    /// it is not while another write is on its way.
    fn finalize(&mut self, object: &Object, take: &[&str], give: Option<&str>) -> bool {
        let key = (object.kind(), Name::of(object));
        if self.busy.contains(&key) {
            return false;
        }
        let meta = object.meta();
        let kept = meta.finalizers.iter().flatten().map(String::as_str);
        let kept = kept.filter(|one| !take.contains(one)).chain(give);
        let body = json!({"metadata": {
            "finalizers": kept.collect::<Vec<_>>(), "resourceVersion": meta.resource_version,
        }});
        let uri = path(&resource(key.0), &key.1);
        self.send(key, uri, "application/merge-patch+json", &body);
        true
    }

    fn send(&mut self, key: Key, uri: String, content: &'static str, body: &Value) {
        self.busy.insert(key.clone());
        let (client, done, body) = (self.client.clone(), self.done.clone(), body.to_string());
        self.tasks.spawn(async move {
            let answer = patch(&client, &uri, content, body).await;
            drop(done.send((key, answer)));
        });
    }
}

/// The conditions of a status, those of its copies included, without messages,
/// which may change as often as rows do.
fn words(status: &Value) -> Vec<String> {
    let mut words = Vec::new();
    let of = |conditions: &Value, prefix: &str, words: &mut Vec<String>| {
        for condition in conditions.as_array().into_iter().flatten() {
            let (name, is, why) = (&condition["type"], &condition["status"], &condition["reason"]);
            words.push(format!("{prefix} {name} {is} {why} {}", condition["observedGeneration"]));
        }
    };
    of(&status["conditions"], "", &mut words);
    for export in status["sinkExports"].as_array().into_iter().flatten() {
        of(&export["conditions"], &export["name"].to_string(), &mut words);
    }
    words
}

/// What every target and inventory should say.
pub(super) fn statuses(plan: &Plan, brain: &Brain, report: &Report, now: Timestamp) -> Vec<Saying> {
    let mut sayings = Vec::new();
    for (key, target) in &plan.targets {
        let known = report.targets.get(key);
        let facts = status::target::Facts {
            report: known,
            rows: known.map(|known| rows(brain, key, known.effective.iter())),
            failed: brain.collector.failed(key),
        };
        let wanted = status::target::status(target, &facts, now);
        sayings.extend(saying(&target.object, &wanted));
    }
    for (key, inventory) in &plan.inventories {
        let facts = facts(plan, brain, report, (key, inventory));
        sayings.extend(match &*inventory.object {
            Object::ClusterInventory(_) => {
                let wanted = status::inventory::of_cluster(inventory, &facts, now);
                saying(&inventory.object, &wanted)
            }
            _ => saying(&inventory.object, &status::inventory::status(inventory, &facts, now)),
        });
    }
    for inventory in &plan.nameless {
        let wanted =
            status::inventory::status(inventory, &status::inventory::Facts::default(), now);
        sayings.extend(saying(&inventory.object, &wanted));
    }
    sayings
}

fn facts(
    plan: &Plan,
    brain: &Brain,
    report: &Report,
    (key, inventory): (&InventoryKey, &crate::plan::inventory::InventoryPlan),
) -> status::inventory::Facts {
    let rows_there = brain
        .views
        .get(key)
        .map_or(0, |view| brain.ledger.with(|store| store.view_content(view).rows));
    let targets = inventory.targets.iter().map(|target| {
        let known = report.targets.get(target);
        let is_well = plan.targets.get(target).is_some_and(|one| one.trouble.is_none())
            && known.is_some_and(kollect_collect::TargetReport::is_covered);
        let count = known.map_or(0, |known| rows(brain, target, known.effective.iter()));
        (target.name.clone(), count, is_well)
    });
    let pairs = inventory.pairs.iter().filter_map(|pair| {
        let pair_key = PairKey { inventory: key.clone(), sink: pair.sink.clone() };
        Some((pair.sink.clone(), brain.copies.state(&pair_key)?))
    });
    status::inventory::Facts {
        rows: rows_there,
        targets: targets.collect(),
        pairs: pairs.collect::<BTreeMap<_, Result<_, Trouble>>>(),
    }
}

fn rows<'n>(brain: &Brain, target: &TargetKey, places: impl Iterator<Item = &'n String>) -> usize {
    let keys = places
        .map(|namespace| PartitionKey { target: target.clone(), namespace: namespace.clone() });
    let keys: Vec<_> = keys.collect();
    brain.ledger.with(|store| {
        let partitions = keys.iter().filter_map(|key| store.partition(key));
        partitions.map(|partition| store.content(partition).rows).sum()
    })
}

/// What an object says, and what it should.
fn saying(object: &Object, wanted: &impl serde::Serialize) -> Option<Saying> {
    let now = match object {
        Object::Target(one) => serde_json::to_value(&one.status),
        Object::ClusterTarget(one) => serde_json::to_value(&one.status),
        Object::Inventory(one) => serde_json::to_value(&one.status),
        Object::ClusterInventory(one) => serde_json::to_value(&one.status),
        _ => return None,
    };
    Some(Saying {
        kind: object.kind(),
        name: Name::of(object),
        version: object.meta().resource_version.clone(),
        now: now.ok()?,
        wanted: serde_json::to_value(wanted).ok()?,
    })
}
