//! A process that collects a cluster and copies it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use kollect_inventory::{
    Dedupe, Freshness, ListNumber, PartitionId, Store, Sweep, ViewId,
    schedule::{Moment, Pace},
};
use tokio::sync::watch;

use super::{
    cluster::{Cluster, partition},
    schema,
};
use crate::{
    deliver::{
        context::{Clock, Context},
        ledger::Ledger,
        pair::{Pair, PairSettings, Unit},
        scrub::Scrub,
        state::{Family, PairKey, PairState, Phase, SinkKey, Work},
        stop::Stop,
    },
    schema::Schema,
    sink::{Farewell, InventoryKey, Receipt, Sink, Wrote},
};

/// Every process of a run has its own name, and begins where no other has been.
static STARTED: AtomicU64 = AtomicU64::new(1);

/// When the first process of a run begins, in seconds.
const EPOCH: i64 = 1_900_000_000;

/// One process with one pair.
#[derive(Debug)]
pub struct Process {
    ledger: Ledger,
    view: ViewId,
    pair: Pair,
    state: watch::Receiver<PairState>,
    version: u64,
    /// The last list of each namespace.
    lists: BTreeMap<String, ListNumber>,
}

/// A clock that stands still; cases say when something is due.
#[derive(Debug)]
struct StandingClock(Timestamp);

impl Clock for StandingClock {
    fn moment(&self) -> Moment {
        Duration::from_hours(1)
    }

    fn timestamp(&self) -> Timestamp {
        self.0
    }

    fn chance(&self) -> f64 {
        0.5
    }
}

impl Process {
    /// Starts, lists everything, and has copied nothing yet.
    pub fn start(
        sink: Arc<dyn Sink>,
        unit: Unit,
        cluster: &Cluster,
        inventory: InventoryKey,
    ) -> Result<Self, String> {
        let mut process = Self::cold(sink, unit, inventory)?;
        for namespace in cluster.namespaces() {
            process.list(cluster, &namespace);
        }
        process.settle();
        Ok(process)
    }

    /// Starts, and knows nothing yet.
    pub(super) fn cold(
        sink: Arc<dyn Sink>,
        unit: Unit,
        inventory: InventoryKey,
    ) -> Result<Self, String> {
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let since = Duration::from_secs(number);
        let at = Timestamp::from_second(EPOCH).and_then(|epoch| epoch.checked_add(since));
        let at = at.map_err(|error| error.to_string())?;
        let ledger = Ledger::new(Store::new(at.as_microsecond()));
        let view = ledger.with(|store| store.add_view(Dedupe::KeepAll));
        let clock = Arc::new(StandingClock(at));
        let context = Context::new(ledger.clone(), clock, &format!("process-{number}"));
        let settings = PairSettings {
            view,
            schema: schema(&["value"]),
            generation: 7,
            sink,
            scrub: Scrub::default(),
            source: "source".to_owned(),
            destination: "destination".to_owned(),
            pace: Pace::default(),
            unit,
            limit: None,
            batch: usize::MAX,
            deadline: Duration::from_mins(1),
            warmup: Duration::ZERO,
        };
        let key = PairKey {
            inventory,
            sink: SinkKey {
                family: Family::Database,
                namespace: "shop".to_owned(),
                name: "sink".to_owned(),
            },
        };
        let (publish, state) = watch::channel(PairState::default());
        let pair = Pair::new(key, settings, Arc::new(context), publish);
        Ok(Self { ledger, view, pair, state, version: 0, lists: BTreeMap::new() })
    }

    /// Says that nothing else belongs to the view.
    pub(super) fn settle(&mut self) {
        self.ledger.with(|store| store.settle(self.view));
    }

    /// Lists a namespace; what is not there any more goes.
    pub fn list(&mut self, cluster: &Cluster, namespace: &str) {
        self.version += 1;
        let partition = self.join(namespace);
        let version = self.version;
        let list = self.ledger.with(|store| {
            let list = store.begin_list(partition);
            for row in cluster.in_namespace(namespace) {
                store.upsert(partition, Freshness { list, version }, &row);
            }
            store.end_list(partition, list, Sweep::Yes);
            list
        });
        self.lists.insert(namespace.to_owned(), list);
    }

    /// The namespace belongs to the view, and cannot be read.
    pub(super) fn fail_to_list(&mut self, namespace: &str) {
        let partition = self.join(namespace);
        self.ledger.with(|store| store.uncover(partition));
    }

    /// The namespace no longer belongs to the view.
    pub(super) fn withdraw(&mut self, namespace: &str) {
        let partition = self.join(namespace);
        self.ledger.with(|store| store.withdraw(partition));
    }

    /// Sees what became of one object.
    pub fn watch(&mut self, cluster: &Cluster, namespace: &str, name: &str) {
        self.version += 1;
        let version = self.version;
        let partition = self.join(namespace);
        let list = self.lists.get(namespace).copied().unwrap_or_default();
        self.ledger.with(|store| {
            let freshness = Freshness { list, version };
            match cluster.row(namespace, name) {
                Some(row) => drop(store.upsert(partition, freshness, &row)),
                None => drop(store.delete(partition, freshness, name)),
            }
        });
    }

    /// Makes exports so small.
    pub(super) fn batches_of(&mut self, rows: usize) {
        self.pair.settings_mut().batch = rows;
    }

    /// Another schema, as after an edit of the profile.
    pub(super) fn reshape(&mut self, schema: Arc<Schema>) {
        self.pair.settings_mut().schema = schema;
    }

    /// Another sink, as after new credentials.
    pub(super) fn reconnect(&mut self, sink: Arc<dyn Sink>) {
        let mut settings = self.pair.settings_mut().clone();
        settings.sink = sink;
        settings.destination.push('+');
        self.pair.configure(settings);
    }

    /// One export, whether it succeeds or not.
    pub(super) async fn once(&mut self) -> Phase {
        self.pair.turn(Work::Export, &Stop::default()).await;
        self.phase()
    }

    /// Copies until there is nothing left to do; then the copy must be current.
    pub async fn copy(&mut self) -> Result<(), String> {
        match self.copy_what_can_be().await? {
            Phase::Exported => Ok(()),
            other => Err(format!("the copy is not current: {other:?}")),
        }
    }

    /// The same, whatever becomes of it.
    pub async fn copy_what_can_be(&mut self) -> Result<Phase, String> {
        for _ in 0..10_000 {
            let phase = self.once().await;
            if matches!(phase, Phase::Failed { .. }) || !self.pair.is_waiting() {
                return Ok(phase);
            }
        }
        Err("it never came to rest".to_owned())
    }

    /// Looks whether the copy is still the one that was written.
    pub async fn verify(&mut self) -> Phase {
        self.pair.turn(Work::Verify, &Stop::default()).await;
        self.phase()
    }

    pub(super) async fn compare(&mut self) -> Phase {
        self.pair.turn(Work::Compare, &Stop::default()).await;
        self.phase()
    }

    pub(super) async fn retire(&mut self, farewell: Farewell) -> Result<Receipt, String> {
        self.pair.retire(farewell, Duration::ZERO, &Stop::default()).await
    }

    pub(super) fn phase(&self) -> Phase {
        self.state.borrow().phase.clone()
    }

    /// What the last export that wrote something left behind.
    pub fn receipt(&self) -> Option<Receipt> {
        self.state.borrow().receipt.clone()
    }

    /// How many rows or files the last export that wrote something changed.
    pub(super) fn changed(&self) -> u64 {
        match self.receipt().map(|receipt| receipt.wrote) {
            None | Some(Wrote::Nothing) => 0,
            Some(Wrote::Rows { upserted, deleted }) => upserted + deleted,
            Some(Wrote::Files { written, removed } | Wrote::Commit { written, removed, .. }) => {
                written + removed
            }
        }
    }

    fn join(&mut self, namespace: &str) -> PartitionId {
        let key = partition(namespace);
        let view = self.view;
        self.ledger.with(|store| {
            let partition = store.join(&key);
            store.attach(view, partition);
            partition
        })
    }
}
