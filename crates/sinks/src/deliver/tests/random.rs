//! Random faults at random times: in the end every copy is the view.

use std::{sync::Arc, time::Duration};

use kollect_inventory::{Effect, schedule::Pace, watermark::Conflict};
use proptest::prelude::*;
use tokio::sync::watch;

use super::{
    super::{
        PairSettings,
        state::{PairState, Phase},
    },
    support::{
        Bench, Fault, FaultySink, TestLease, inventory, pair, partition_key, pass, refused,
        seconds, unreachable,
    },
};
use crate::{
    Unit,
    memory::MemoryDestination,
    sink::{Farewell, SinkError},
};

#[derive(Clone, Debug)]
enum Step {
    Put(u8, u64),
    Remove(u8),
    Fault(usize, u8),
    Configure(usize),
    /// Takes leave of a destination, and comes back at once.
    Retire(usize, bool),
    /// Spoils a copy, and asks for a comparison.
    Spoil(usize),
    Lease(bool),
    /// A partition comes that has not been read, or goes.
    Neighbour(bool),
    Uncover,
    Cover,
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0_u8..20, 0_u64..5).prop_map(|(name, value)| Step::Put(name, value)),
        3 => (0_u8..20).prop_map(Step::Remove),
        4 => (0_usize..3, 0_u8..10).prop_map(|(sink, fault)| Step::Fault(sink, fault)),
        1 => (0_usize..3).prop_map(Step::Configure),
        1 => (0_usize..3, any::<bool>()).prop_map(|(sink, all)| Step::Retire(sink, all)),
        1 => (0_usize..3).prop_map(Step::Spoil),
        1 => any::<bool>().prop_map(Step::Lease),
        1 => any::<bool>().prop_map(Step::Neighbour),
        1 => Just(Step::Uncover),
        1 => Just(Step::Cover),
        4 => prop_oneof![0_u64..300, 1_000_u64..200_000].prop_map(Step::Pass),
    ]
}

fn fault(kind: u8) -> Fault {
    match kind {
        0 => Fault::Fail(unreachable(Effect::None)),
        1 => Fault::LoseTheAnswer,
        2 => Fault::Hang,
        3 => Fault::Panic,
        4 => Fault::Fail(refused()),
        5 => Fault::Fail(SinkError::Waiting(vec![partition_key("mail")])),
        6 => Fault::Fail(SinkError::OutOfStep),
        7 => Fault::Fail(SinkError::Behind(1_500)),
        8 => Fault::Fail(SinkError::Conflict { cause: Conflict::Foreign, found: None }),
        _ => Fault::Slow(seconds(200), 20),
    }
}

/// Three sinks copy one view: one row-wise, one whole documents with a gap,
/// one in tiny batches. Each has its own troubles.
struct Game {
    bench: Bench,
    lease: Arc<TestLease>,
    destinations: [MemoryDestination; 3],
    sinks: [Arc<FaultySink>; 3],
    states: Vec<watch::Receiver<PairState>>,
}

impl Game {
    fn new() -> Self {
        let lease = Arc::new(TestLease { held: watch::Sender::new(true), confirmed: true });
        let bench = Bench::leased(Some(Arc::clone(&lease)));
        bench.cover();
        let destinations: [MemoryDestination; 3] = Default::default();
        let sinks = destinations.each_ref().map(|one| FaultySink::new(one, &bench.clock));
        let mut game = Self { bench, lease, destinations, sinks, states: Vec::new() };
        for at in 0..3 {
            let state = game.set(at, 0);
            game.states.push(state);
        }
        game
    }

    fn set(&mut self, at: usize, edition: usize) -> watch::Receiver<PairState> {
        let gap = Pace { min_gap: seconds(2), interval: seconds(30), ..Pace::default() };
        let settings = PairSettings {
            sink: Arc::clone(&self.sinks[at]) as _,
            pace: [Pace::default(), gap, Pace::default()][at],
            batch: [1_000, 1_000, 2][at],
            unit: [Unit::Rows, Unit::Document, Unit::Rows][at],
            destination: format!("edition {edition}"),
            ..self.bench.settings()
        };
        self.bench.delivery.set(pair(&at.to_string()), settings)
    }

    async fn take(&mut self, step: Step, edition: usize) {
        let bench = &mut self.bench;
        match step {
            Step::Put(name, value) => bench.put(&format!("row-{name}"), value),
            Step::Remove(name) => bench.remove(&format!("row-{name}")),
            Step::Fault(at, kind) => self.sinks[at].then(fault(kind)),
            Step::Configure(at) => drop(self.set(at, edition)),
            Step::Retire(at, all) => {
                let farewell = if all { Farewell::Deleted } else { Farewell::Released };
                drop(bench.delivery.retire(&pair(&at.to_string()), farewell, seconds(60)));
                self.states[at] = self.set(at, edition);
            }
            Step::Spoil(at) => {
                self.destinations[at].tamper("", &inventory(), Vec::clear);
                bench.delivery.compare(&pair(&at.to_string()));
            }
            Step::Lease(held) => drop(self.lease.held.send_replace(held)),
            Step::Neighbour(comes) => bench.ledger.with(|store| {
                let neighbour = store.join(&partition_key("mail"));
                if comes {
                    store.attach(bench.view, neighbour);
                } else {
                    store.withdraw(neighbour);
                }
            }),
            Step::Uncover => bench.ledger.with(|store| store.uncover(bench.partition)),
            Step::Cover => bench.relist(),
            Step::Pass(milliseconds) => pass(Duration::from_millis(milliseconds)).await,
        }
    }

    /// Everything is well again, and time passes.
    async fn end(&mut self) {
        self.bench.relist();
        self.lease.held.send_replace(true);
        for sink in &self.sinks {
            sink.faults.lock().unwrap().clear();
            sink.calls.lock().unwrap().clear();
        }
        pass(Duration::from_hours(2)).await;
    }
}

async fn play(steps: Vec<Step>) {
    let uncovered = steps.iter().any(|step| matches!(step, Step::Uncover | Step::Neighbour(_)));
    let mut game = Game::new();
    for (edition, step) in steps.into_iter().enumerate() {
        game.take(step, edition + 1).await;
    }
    game.end().await;
    let Game { mut bench, destinations, sinks, states, .. } = game;
    for (at, destination) in destinations.into_iter().enumerate() {
        assert_eq!(states[at].borrow().phase, Phase::Exported, "sink {at}");
        // The one in the middle looks at its record twice a minute.
        let calls = sinks[at].count();
        assert!(calls < if at == 1 { 300 } else { 60 }, "sink {at} was called {calls} times");
        bench.destination = destination;
        bench.assert_current();
        // What was written while something was uncovered says nothing about
        // the rows, and nothing has to be written when it is covered again.
        assert!(uncovered || bench.recorded().unwrap().content.is_some());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_copy_is_the_view_in_the_end(steps in proptest::collection::vec(step(), 0..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        // Panics that are part of the game are not shown.
        runtime.block_on(play(steps));
    }
}
