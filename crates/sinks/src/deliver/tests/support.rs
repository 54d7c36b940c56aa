//! A store, a destination in memory, and a sink that fails when it is told to.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use jiff::Timestamp;
use kollect_inventory::{
    Dedupe, Effect, Freshness, Identity, PartitionId, PartitionKey, Row, Store, Sweep, TargetKey,
    ViewId,
    schedule::{Moment, Pace},
    watermark::Recorded,
};
use tokio::{sync::watch, time::Instant};

use crate::{
    deliver::{
        Delivery,
        context::{Clock, Context, Lease},
        ledger::Ledger,
        pair::{PairSettings, Unit},
        scrub::Scrub,
        state::{Family, PairKey, PairState, Phase, SinkKey},
    },
    memory::{MemoryDestination, MemorySink},
    schema::Schema,
    sink::{Export, Farewell, InventoryKey, Receipt, Sink, SinkError},
};

/// Starts at the same second in every test, and passes as tokio's time does.
#[derive(Debug)]
pub(super) struct TestClock(Instant);

impl TestClock {
    pub(super) fn start() -> Arc<Self> {
        Arc::new(Self(Instant::now()))
    }
}

impl Clock for TestClock {
    fn moment(&self) -> Moment {
        self.0.elapsed()
    }

    fn timestamp(&self) -> Timestamp {
        Timestamp::from_second(1_800_000_000).unwrap() + self.0.elapsed()
    }

    fn chance(&self) -> f64 {
        0.0
    }
}

/// What a sink does instead of exporting.
#[derive(Debug)]
pub(super) enum Fault {
    Fail(SinkError),
    /// Writes, and says that it did not.
    LoseTheAnswer,
    Hang,
    Panic,
    /// Says this without writing anything.
    Answer(Receipt),
    /// Takes so long, saying so often that it is alive.
    Slow(Duration, u32),
}

/// A sink in memory with faults on demand and a log of its calls.
#[derive(Debug)]
pub(super) struct FaultySink {
    inner: MemorySink,
    clock: Arc<TestClock>,
    pub(super) faults: Mutex<VecDeque<Fault>>,
    pub(super) calls: Mutex<Vec<Moment>>,
}

impl FaultySink {
    pub(super) fn new(destination: &MemoryDestination, clock: &Arc<TestClock>) -> Arc<Self> {
        Arc::new(Self {
            inner: MemorySink::new(destination.clone(), ""),
            clock: Arc::clone(clock),
            faults: Mutex::default(),
            calls: Mutex::default(),
        })
    }

    pub(super) fn then(&self, fault: Fault) {
        self.faults.lock().unwrap().push_back(fault);
    }

    /// When the sink was called, in whole seconds.
    pub(super) fn seconds(&self) -> Vec<u64> {
        self.calls.lock().unwrap().iter().map(Duration::as_secs).collect()
    }

    pub(super) fn count(&self) -> usize {
        self.calls.lock().unwrap().len()
    }
}

#[async_trait]
impl Sink for FaultySink {
    async fn probe(&self) -> Result<String, SinkError> {
        self.inner.probe().await
    }

    async fn export(&self, export: &Export) -> Result<Receipt, SinkError> {
        self.calls.lock().unwrap().push(self.clock.moment());
        let fault = self.faults.lock().unwrap().pop_front();
        match fault {
            None => self.inner.export(export).await,
            Some(Fault::Fail(error)) => Err(error),
            Some(Fault::LoseTheAnswer) => {
                self.inner.export(export).await?;
                Err(unreachable(Effect::Unknown))
            }
            Some(Fault::Answer(receipt)) => Ok(receipt),
            Some(Fault::Hang) => std::future::pending().await,
            Some(Fault::Panic) => panic!("a bug with password hunter22"),
            Some(Fault::Slow(time, signs)) => {
                for _ in 0..signs {
                    tokio::time::sleep(time / signs).await;
                    export.progress.accepted(1);
                }
                self.inner.export(export).await
            }
        }
    }

    async fn retire(&self, key: &InventoryKey, farewell: Farewell) -> Result<Receipt, SinkError> {
        self.calls.lock().unwrap().push(self.clock.moment());
        let fault = self.faults.lock().unwrap().pop_front();
        match fault {
            Some(Fault::Fail(error)) => Err(error),
            _ => self.inner.retire(key, farewell).await,
        }
    }
}

pub(super) fn unreachable(effect: Effect) -> SinkError {
    let source = Arc::new(std::io::Error::other("connection reset by 10.0.0.1"));
    SinkError::Unreachable { action: "write", effect, source }
}

pub(super) fn refused() -> SinkError {
    SinkError::Refused { action: "log in", source: Arc::new(std::io::Error::other("bad password")) }
}

/// The right to write, as a test decides.
#[derive(Debug)]
pub(super) struct TestLease {
    pub(super) held: watch::Sender<bool>,
    pub(super) confirmed: bool,
}

#[async_trait]
impl Lease for TestLease {
    fn held(&self) -> watch::Receiver<bool> {
        self.held.subscribe()
    }

    async fn confirm(&self) -> bool {
        self.confirmed
    }
}

/// One inventory with one covered partition, and a destination for it.
pub(super) struct Bench {
    pub(super) clock: Arc<TestClock>,
    pub(super) ledger: Ledger,
    pub(super) view: ViewId,
    pub(super) partition: PartitionId,
    pub(super) destination: MemoryDestination,
    pub(super) sink: Arc<FaultySink>,
    pub(super) delivery: Delivery,
    version: u64,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self::leased(None)
    }

    pub(super) fn leased(lease: Option<Arc<TestLease>>) -> Self {
        let clock = TestClock::start();
        let ledger = Ledger::new(Store::new(1_000));
        let (view, partition) = ledger.with(|store| {
            let view = store.add_view(Dedupe::KeepAll);
            let partition = store.join(&partition_key("shop"));
            store.attach(view, partition);
            store.settle(view);
            (view, partition)
        });
        let mut context = Context::new(ledger.clone(), Arc::clone(&clock) as _, "w1");
        if let Some(lease) = lease {
            context.lease = lease;
        }
        let destination = MemoryDestination::default();
        let sink = FaultySink::new(&destination, &clock);
        let delivery = Delivery::new(context);
        Self { clock, ledger, view, partition, destination, sink, delivery, version: 0 }
    }

    /// The same with its partition read.
    pub(super) fn covered() -> Self {
        let bench = Self::new();
        bench.cover();
        bench
    }

    pub(super) fn cover(&self) {
        self.ledger.with(|store| {
            let list = store.begin_list(self.partition);
            store.end_list(self.partition, list, Sweep::Yes);
        });
    }

    /// Reads everything again and finds it as it was.
    pub(super) fn relist(&self) {
        self.ledger.with(|store| {
            let list = store.begin_list(self.partition);
            let freshness = Freshness { list, version: self.version };
            for row in store.view_rows(self.view) {
                store.upsert(self.partition, freshness, &row);
            }
            store.end_list(self.partition, list, Sweep::Yes);
        });
    }

    pub(super) fn settings(&self) -> PairSettings {
        PairSettings {
            view: self.view,
            schema: Arc::new(Schema::default()),
            generation: 1,
            sink: Arc::clone(&self.sink) as _,
            scrub: Scrub::new(&crate::credentials::Credentials::new(
                [("password".to_owned(), "hunter22".to_owned())].into(),
                "1",
            )),
            source: "inventory".into(),
            destination: "sink".into(),
            pace: Pace::default(),
            unit: Unit::Rows,
            limit: None,
            batch: 1_000,
            deadline: Duration::from_mins(2),
            warmup: Duration::from_mins(10),
        }
    }

    pub(super) fn start(&mut self) -> watch::Receiver<PairState> {
        let settings = self.settings();
        self.delivery.set(pair("db"), settings)
    }

    pub(super) fn put(&mut self, name: &str, value: u64) {
        self.version += 1;
        let list = self.ledger.with(|store| store.begin_list(self.partition));
        let freshness = Freshness { list, version: self.version };
        let row = row(name, value);
        self.ledger.with(|store| store.upsert(self.partition, freshness, &row));
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.version += 1;
        let list = self.ledger.with(|store| store.begin_list(self.partition));
        let freshness = Freshness { list, version: self.version };
        self.ledger.with(|store| store.delete(self.partition, freshness, name));
    }

    pub(super) fn copied(&self) -> Vec<Row> {
        self.destination.rows("", &inventory())
    }

    pub(super) fn recorded(&self) -> Option<Recorded> {
        self.destination.recorded("", &inventory())
    }

    /// Whether the copy is what the store holds.
    #[track_caller]
    pub(super) fn assert_current(&self) {
        let mut expected = self.ledger.with(|store| store.view_rows(self.view));
        let mut found = self.copied();
        kollect_inventory::sort(&mut expected);
        kollect_inventory::sort(&mut found);
        assert_eq!(found, expected);
    }
}

/// Lets time pass, and everything happen that is due in it.
pub(super) async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

pub(super) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(super) fn inventory() -> InventoryKey {
    InventoryKey { namespace: "shop".into(), name: "web".into() }
}

pub(super) fn pair(sink: &str) -> PairKey {
    let sink =
        SinkKey { family: Family::Database, namespace: "shop".into(), name: sink.to_owned() };
    PairKey { inventory: inventory(), sink }
}

pub(super) fn partition_key(namespace: &str) -> PartitionKey {
    let target = TargetKey { namespace: Some("shop".into()), name: "all".into() };
    PartitionKey { target, namespace: namespace.to_owned() }
}

pub(super) fn row(name: &str, value: u64) -> Row {
    let identity = Identity {
        target_namespace: "shop".into(),
        target_name: "all".into(),
        namespace: "shop".into(),
        name: name.into(),
        uid: format!("uid-{name}").into(),
        group: "".into(),
        version: "v1".into(),
        kind: "Pod".into(),
    };
    Row::new(&identity, format!("{{\"value\":{value}}}").as_bytes())
}

#[track_caller]
pub(super) fn assert_failed(state: &watch::Receiver<PairState>, expected: &str) {
    match &state.borrow().phase {
        Phase::Failed { message, .. } => assert_eq!(message, expected),
        other => panic!("it did not fail: {other:?}"),
    }
}
