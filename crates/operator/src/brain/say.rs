//! Writes to our own objects: status, finalizers, and what `tend` does.

pub(super) mod tend;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use kollect_validate::{Kind, Object};
use kube::Client;
use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Duration, Instant},
};

use super::{
    events::{self, Event},
    farewell::Released,
    write::{Taken, patch, path, tell},
};
use crate::{
    eyes::resource,
    objects::{Name, Objects},
    plan::Plan,
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
    pub(super) object: Arc<Object>,
    /// As the server has it.
    pub(super) now: Value,
    pub(super) wanted: Value,
}

impl Saying {
    pub(super) fn key(&self) -> Key {
        (self.object.kind(), Name::of(&self.object))
    }

    fn version(&self) -> Option<String> {
        self.object.meta().resource_version.clone()
    }

    /// It again with its names, if it is a target's.
    pub(super) fn of_target(&self) -> Option<(Kind, Name, &Self)> {
        let (kind, name) = self.key();
        [Kind::Target, Kind::ClusterTarget].contains(&kind).then_some((kind, name, self))
    }

    /// What is wrong, if it says so: a reason, and words.
    pub(super) fn degraded(&self) -> Option<(&str, &str)> {
        let bad = self.condition("Degraded")?;
        Some((bad["reason"].as_str()?, bad["message"].as_str()?))
    }

    /// Whether a condition holds.
    pub(super) fn is(&self, condition: &str) -> bool {
        self.condition(condition).is_some()
    }

    /// Whether nothing is wrong that somebody has not asked for.
    pub(super) fn is_well(&self) -> bool {
        self.degraded().is_none_or(|(reason, _)| reason == "Suspended")
    }

    /// A condition that holds.
    fn condition(&self, name: &str) -> Option<&Value> {
        let mut conditions = self.wanted["conditions"].as_array()?.iter();
        conditions.find(|one| one["type"] == name && one["status"] == "True")
    }
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
    /// Those that could not be written to the last time.
    refused: BTreeSet<Key>,
    /// The versions of objects that were last tended, and when.
    tended: BTreeMap<Key, (Option<String>, Instant)>,
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
    pub(super) fn new(client: Client) -> Self {
        let (done, written) = mpsc::unbounded_channel();
        Self {
            client,
            tasks: JoinSet::new(),
            done,
            written,
            busy: BTreeSet::new(),
            last: BTreeMap::new(),
            refused: BTreeSet::new(),
            tended: BTreeMap::new(),
        }
    }

    /// Waits until a write has ended.
    pub(super) async fn heard(&mut self) {
        if let Some((key, answer)) = self.written.recv().await {
            self.busy.remove(&key);
            self.note(&key, &answer);
            if let Some(last) = self.last.get_mut(&key) {
                last.is_good = answer.is_ok();
            }
        }
    }

    /// Says once that an object cannot be written to, and once that it can again.
    fn note(&mut self, key: &Key, answer: &Result<(), String>) {
        let Name { namespace, name } = &key.1;
        let controller = key.0.name().to_lowercase();
        match answer {
            Err(error) if self.refused.insert(key.clone()) => {
                tracing::warn!(controller, namespace, name, error, "cannot write to the object");
            }
            Ok(()) if self.refused.remove(key) => {
                tracing::info!(controller, namespace, name, "the object can be written to again");
            }
            Ok(()) | Err(_) => {}
        }
    }

    /// Writes what is new: all of it when things are at rest.
    pub(super) fn say(&mut self, sayings: Vec<Saying>, is_at_rest: bool) {
        while self.tasks.try_join_next().is_some() {}
        let now = Instant::now();
        let known: BTreeSet<_> = sayings.iter().map(Saying::key).collect();
        self.last.retain(|key, _| known.contains(key));
        self.refused.retain(|key| known.contains(key));
        for saying in sayings {
            let key = saying.key();
            if saying.now == saying.wanted
                || self.busy.contains(&key)
                || !self.is_due(&key, &saying, (now, is_at_rest))
            {
                continue;
            }
            let what = (saying.version(), saying.wanted.clone());
            self.last.insert(key.clone(), Last { at: now, what, is_good: true });
            // R23: the status as a whole, and only over the one that we have
            // seen: nothing of another manager stays, and whoever slept while
            // others wrote does not undo it.
            let body = json!([
                {"op": "replace", "path": "/metadata/resourceVersion", "value": saying.version()},
                {"op": "add", "path": "/status", "value": saying.wanted},
            ]);
            let path = path(&resource(key.0), &key.1);
            let uri = format!("{path}/status?fieldManager=kollect");
            let events = events::of(key.0, &saying.now, &saying.wanted);
            let request = (uri, "application/json-patch+json", body);
            self.send(&saying.object, request, events);
        }
    }

    /// Whether it may be written now. Conditions are always; counts wait.
    fn is_due(&self, key: &Key, saying: &Saying, (now, is_at_rest): (Instant, bool)) -> bool {
        let Some(last) = self.last.get(key) else { return true };
        let is_same = last.what == (saying.version(), saying.wanted.clone());
        if is_same {
            // The server has not told what came of it.
            return !last.is_good && now >= last.at + AGAIN;
        }
        is_at_rest || words(&saying.now) != words(&saying.wanted) || now >= last.at + SELDOM
    }

    /// Gives inventories the finalizer that their copies need, and takes it
    /// from those that have taken leave.
    pub(super) fn finalizers(&mut self, plan: &Plan, released: &[Released]) {
        for object in plan.nameless.iter().filter(|one| one.is_leaving()).map(|one| &one.object) {
            if object.meta().finalizers.iter().flatten().any(|one| one == INVENTORY_CLEANUP) {
                self.finalize(object, (&[INVENTORY_CLEANUP], None), None);
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
                self.finalize(&inventory.object, (&[], Some(finalizer)), None);
            }
            if let Some(Released { left, .. }) = farewell.filter(|_| has_it) {
                let text = format!("these copies were left behind: {}", left.join("; "));
                let events = (!left.is_empty()).then(|| Event::warning("CleanupTerminal", &text));
                self.finalize(&inventory.object, (&[finalizer], None), events);
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
                    self.finalize(object, (&TARGET_CLEANUPS, None), None);
                }
            }
        }
    }

    /// Takes finalizers from an object, or gives it one, unless another write
    /// is on its way, or the same was just tried in vain.
    fn finalize(
        &mut self,
        object: &Arc<Object>,
        (take, give): (&[&str], Option<&str>),
        event: Option<Event>,
    ) {
        let Some(key) = self.may_tend(object) else { return };
        let meta = object.meta();
        let kept = meta.finalizers.iter().flatten().map(String::as_str);
        let kept = kept.filter(|one| !take.contains(one)).chain(give);
        let body = json!({"metadata": {
            "finalizers": kept.collect::<Vec<_>>(), "resourceVersion": meta.resource_version,
        }});
        let uri = path(&resource(key.0), &key.1);
        let events = event.into_iter().collect();
        self.send(object, (uri, "application/merge-patch+json", body), events);
    }

    /// Writes, and tells of it what there is to tell once it was taken.
    fn send(
        &mut self,
        object: &Arc<Object>,
        (uri, content, body): (String, &'static str, Value),
        events: Vec<Event>,
    ) {
        let (client, about) = (self.client.clone(), Arc::clone(object));
        self.write(object, async move {
            let taken = patch(&client, &uri, content, body.to_string()).await?;
            if taken == Taken::Yes {
                for event in &events {
                    tell(&client, &about, event).await;
                }
            }
            Ok(())
        });
    }

    fn write(
        &mut self,
        object: &Object,
        work: impl Future<Output = Result<(), String>> + Send + 'static,
    ) {
        let key = (object.kind(), Name::of(object));
        self.busy.insert(key.clone());
        let done = self.done.clone();
        self.tasks.spawn(async move {
            drop(done.send((key, work.await)));
        });
    }
}

/// The conditions of a status, those of its copies included, without messages,
/// which may change as often as rows do; and which preview it shows.
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
    words.push(status["preview"]["renderedAt"].to_string());
    words
}
