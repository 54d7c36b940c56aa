//! The pairs of inventories and sinks that run.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;
use kollect_inventory::{
    ViewId,
    schedule::{ErrorClass, Pace},
};
use kollect_sinks::{
    Delivery, Farewell, InventoryKey, Opener, PairKey, PairSettings, PairState, Phase, Receipt,
    Scrub, SinkKey,
    guard::{Guard, SystemResolver},
};
use kollect_validate::Object;
use tokio::sync::{oneshot, watch};

use super::{
    requests::{Asked, last_export},
    views::Views,
};
use crate::{
    plan::{
        Plan, Trouble,
        inventory::{InventoryPlan, PairPlan},
        sink::with_cluster,
    },
    secrets::Secrets,
    settings::Settings,
};

/// About so many rows go into one export.
const BATCH: usize = 5_000;
/// A copy is compared as a whole so often (R15).
const COMPARE: Duration = Duration::from_hours(6);
/// How long a farewell is tried (R31).
const PARTING: Duration = Duration::from_mins(10);

/// The pairs that run, and why others do not.
#[derive(Debug)]
pub(super) struct Copies {
    opener: Arc<Opener>,
    delivery: Delivery,
    running: BTreeMap<PairKey, Running>,
    troubles: BTreeMap<PairKey, Trouble>,
    /// Inventories that have taken leave; their pairs do not come back.
    left: BTreeSet<InventoryKey>,
    /// Sinks that have refused something since this was asked last.
    refusing: BTreeSet<SinkKey>,
}

#[derive(Debug)]
struct Running {
    fingerprint: String,
    asked: Asked,
    state: watch::Receiver<PairState>,
}

impl Copies {
    pub(super) fn new(settings: &Settings, delivery: Delivery) -> Self {
        let guard = Guard::new(settings.policy.addresses.clone(), SystemResolver);
        let opener = Opener::new(settings.local_paths.clone()).with_guard(guard);
        Self {
            opener: Arc::new(opener),
            delivery,
            running: BTreeMap::new(),
            troubles: BTreeMap::new(),
            left: BTreeSet::new(),
            refusing: BTreeSet::new(),
        }
    }

    /// Opens sinks so that they share what pairs have open.
    pub(super) fn opener(&self) -> Arc<Opener> {
        Arc::clone(&self.opener)
    }

    /// Starts, changes and ends pairs.
    pub(super) fn change_to(&mut self, plan: &Plan, views: &Views, around: (&Settings, &Secrets)) {
        self.troubles.clear();
        self.left.retain(|key| plan.inventories.get(key).is_some_and(InventoryPlan::is_leaving));
        let mut wanted = Vec::new();
        for (key, inventory) in &plan.inventories {
            let is_stopped = inventory.trouble.is_some() && !inventory.is_leaving();
            if is_stopped || self.left.contains(key) {
                continue;
            }
            let Some(view) = views.get(key) else { continue };
            for pair in &inventory.pairs {
                let name = PairKey { inventory: key.clone(), sink: pair.sink.clone() };
                match self.set(&name, view, (inventory, pair), around) {
                    Ok(()) => wanted.push(name),
                    Err(trouble) => drop(self.troubles.insert(name, trouble)),
                }
            }
        }
        let gone: Vec<_> =
            self.running.keys().filter(|key| !wanted.contains(key)).cloned().collect();
        for key in gone {
            self.running.remove(&key);
            let names_it = plan
                .inventories
                .get(&key.inventory)
                .is_none_or(|one| one.pairs.iter().any(|pair| pair.sink == key.sink));
            if names_it {
                // It may come back: suspended, refused, or its sink is missing.
                self.delivery.forget(&key);
            } else {
                drop(self.delivery.retire(&key, Farewell::Released, PARTING));
            }
        }
    }

    fn set(
        &mut self,
        key: &PairKey,
        view: ViewId,
        (inventory, pair): (&InventoryPlan, &PairPlan),
        (settings, secrets): (&Settings, &Secrets),
    ) -> Result<(), Trouble> {
        let (object, spec) = pair.spec.as_ref().map_err(Clone::clone)?;
        let spec = with_cluster(spec.clone(), settings);
        let (meta, of) = (object.meta(), inventory.object.meta());
        let source = format!("{:?} {:?}", of.uid, of.generation);
        let credentials = secrets.credentials(&key.sink.namespace, &spec)?;
        let destination = format!("{:?} {:?} {}", meta.uid, meta.generation, credentials.version());
        let fingerprint = format!(
            "{view:?} {source} {destination} {:?} {:?} {:?}",
            pair.interval, pair.limit, inventory.schema
        );
        let asked = Asked::by(&inventory.object, object);
        let is_asked = self.is_asked(key, &inventory.object, &asked);
        if let Some(running) = self.running.get_mut(key)
            && running.fingerprint == fingerprint
        {
            running.asked = asked;
            if is_asked {
                self.delivery.compare(key);
            }
            return Ok(());
        }
        let scrub = Scrub::new(&credentials);
        let invalid =
            |error: &dyn std::error::Error| Trouble::new("ExportTerminal", scrub.error(error));
        let manner = spec.manner(&inventory.schema).map_err(|error| invalid(&error))?;
        let sink = self.opener.open(&key.sink, &spec, &credentials);
        let settings = PairSettings {
            view,
            schema: Arc::clone(&inventory.schema),
            generation: of.generation.unwrap_or_default(),
            sink: sink.map_err(|error| invalid(&error))?,
            scrub,
            source,
            destination,
            pace: Pace { min_gap: manner.min_gap, interval: pair.interval, compare: COMPARE },
            unit: manner.unit,
            limit: pair.limit,
            batch: BATCH,
            deadline: manner.deadline,
            warmup: settings.warmup,
        };
        let state = self.delivery.set(key.clone(), settings);
        if is_asked {
            self.delivery.compare(key);
        }
        self.running.insert(key.clone(), Running { fingerprint, asked, state });
        Ok(())
    }

    /// Whether a comparison is asked for that has not been begun.
    fn is_asked(&self, key: &PairKey, inventory: &Object, asked: &Asked) -> bool {
        match self.running.get(key) {
            Some(running) => asked.is_news_after(&running.asked),
            None => last_export(inventory, &key.sink).is_some_and(|at| asked.is_later_than(at)),
        }
    }

    /// How a pair is, or why there is none.
    pub(super) fn state(&self, key: &PairKey) -> Option<Result<PairState, Trouble>> {
        let state = self.running.get(key).map(|running| Ok(running.state.borrow().clone()));
        state.or_else(|| self.troubles.get(key).cloned().map(Err))
    }

    /// Whether some pair has said something since this was asked last.
    pub(super) fn have_changed(&mut self) -> bool {
        let mut have_changed = false;
        for (key, Running { state, .. }) in &mut self.running {
            if !state.has_changed().unwrap_or(false) {
                continue;
            }
            have_changed = true;
            let phase = &state.borrow_and_update().phase;
            if matches!(phase, Phase::Failed { class: ErrorClass::Terminal, .. }) {
                self.refusing.insert(key.sink.clone());
            }
        }
        have_changed
    }

    /// Sinks that have refused something since this was asked last.
    pub(super) fn refusing(&mut self) -> BTreeSet<SinkKey> {
        std::mem::take(&mut self.refusing)
    }

    /// Whether a destination is there and cannot be opened.
    pub(super) fn are_broken(&self) -> bool {
        let may_heal = |trouble: &Trouble| trouble.reason == "ExportTerminal";
        self.troubles.values().any(may_heal)
    }

    /// Why there is no pair, if it was to be one.
    pub(super) fn trouble(&self, key: &PairKey) -> Option<&Trouble> {
        self.troubles.get(key)
    }

    /// When each pair that runs was last known to be good.
    pub(super) fn last_successes(&self) -> impl Iterator<Item = (PairKey, Option<Timestamp>)> {
        self.running.iter().map(|(key, one)| (key.clone(), one.state.borrow().last_success))
    }

    /// Whether a sink has failed so often that it is left alone.
    pub(super) fn is_left_alone(&self, sink: &SinkKey) -> bool {
        self.delivery.is_left_alone(sink)
    }

    /// Whether it is not known yet how an inventory could be copied.
    pub(super) fn is_pending(&self, inventory: &InventoryKey) -> bool {
        self.troubles_of(inventory).any(|(_, trouble)| trouble.reason == "Progressing")
    }

    /// Destinations of an inventory that are there and cannot be opened; those
    /// whose sink or Secret is gone have nothing to clean up (R31).
    pub(super) fn broken(&self, inventory: &InventoryKey) -> Vec<(SinkKey, String)> {
        let is_gone =
            |trouble: &Trouble| ["SinkNotFound", "SecretResolveFailed"].contains(&trouble.reason);
        let broken = self.troubles_of(inventory).filter(|(_, trouble)| !is_gone(trouble));
        broken.map(|(sink, trouble)| (sink.clone(), trouble.message.clone())).collect()
    }

    fn troubles_of(&self, inventory: &InventoryKey) -> impl Iterator<Item = (&SinkKey, &Trouble)> {
        let troubles = self.troubles.iter().filter(move |(key, _)| key.inventory == *inventory);
        troubles.map(|(key, trouble)| (&key.sink, trouble))
    }

    /// Takes leave of every destination of an inventory that runs.
    pub(super) fn retire(
        &mut self,
        inventory: &InventoryKey,
    ) -> Vec<(SinkKey, oneshot::Receiver<Result<Receipt, String>>)> {
        let keys: Vec<_> =
            self.running.keys().filter(|key| key.inventory == *inventory).cloned().collect();
        let mut answers = Vec::new();
        self.left.insert(inventory.clone());
        for key in keys {
            self.running.remove(&key);
            let answer = self.delivery.retire(&key, Farewell::Deleted, PARTING);
            answers.push((key.sink, answer));
        }
        answers
    }

    pub(super) async fn shut_down(self, grace: Duration) {
        self.delivery.shut_down(grace).await;
    }
}
