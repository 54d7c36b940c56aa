//! What a pair does while it waits: nothing in vain, and nothing too late.

use std::{sync::Arc, time::Duration};

use kollect_inventory::{Effect, schedule::Pace};

use super::{
    super::{PairSettings, state::Phase},
    support::{
        Bench, Fault, FaultySink, TestLease, inventory, pair, partition_key, pass, seconds,
        unreachable,
    },
};
use crate::{memory::MemoryDestination, sink::SinkError};

/// R5: what the pair itself does to its cursor is no news.
#[tokio::test(start_paused = true)]
async fn a_document_that_waits_for_rows_asks_again_when_there_are_news_and_not_before() {
    let mut bench = Bench::covered();
    for _ in 0..50 {
        bench.sink.then(Fault::Fail(SinkError::Waiting(vec![partition_key("mail")])));
    }
    let state = bench.start();
    pass(seconds(60)).await;
    assert_eq!(bench.sink.seconds(), [0]);
    assert!(matches!(state.borrow().phase, Phase::Progressing(_)));
    bench.ledger.with(|store| store.uncover(bench.partition));
    pass(seconds(60)).await;
    assert_eq!(bench.sink.seconds(), [0, 60]);
    bench.sink.faults.lock().unwrap().clear();
    pass(Duration::from_mins(9)).await;
    assert_eq!(bench.sink.seconds(), [0, 60, 600]);
}

/// R5: what is withdrawn is not waited for.
#[tokio::test(start_paused = true)]
async fn the_first_export_does_not_wait_for_what_is_withdrawn() {
    let mut bench = Bench::covered();
    let slow = bench.ledger.with(|store| {
        let slow = store.join(&partition_key("mail"));
        store.attach(bench.view, slow);
        slow
    });
    bench.start();
    pass(seconds(5)).await;
    assert_eq!(bench.sink.count(), 0);
    bench.ledger.with(|store| store.withdraw(slow));
    pass(seconds(1)).await;
    assert_eq!(bench.sink.seconds(), [5]);
}

/// R14 and R15: a comparison that was asked for waits for the lease.
#[tokio::test(start_paused = true)]
async fn a_comparison_that_was_asked_for_waits_for_the_lease_and_is_then_done() {
    let held = tokio::sync::watch::Sender::new(true);
    let lease = Arc::new(TestLease { held, confirmed: true });
    let mut bench = Bench::leased(Some(Arc::clone(&lease)));
    bench.cover();
    bench.put("a", 1);
    bench.start();
    pass(seconds(1)).await;
    lease.held.send_replace(false);
    bench.destination.tamper("", &inventory(), Vec::clear);
    bench.delivery.compare(&pair("db"));
    pass(seconds(60)).await;
    assert_eq!(bench.sink.count(), 1);
    lease.held.send_replace(true);
    pass(seconds(1)).await;
    bench.assert_current();
}

/// R15: a failure does not turn a comparison into a look at the record.
#[tokio::test(start_paused = true)]
async fn a_comparison_that_was_asked_for_is_done_however_often_it_fails() {
    let mut bench = Bench::covered();
    bench.put("a", 1);
    bench.start();
    pass(seconds(1)).await;
    bench.destination.tamper("", &inventory(), Vec::clear);
    for _ in 0..7 {
        bench.sink.then(Fault::Fail(unreachable(Effect::None)));
    }
    bench.delivery.compare(&pair("db"));
    pass(Duration::from_mins(30)).await;
    bench.assert_current();
    let calls = bench.sink.count();
    bench.put("b", 1);
    pass(seconds(1)).await;
    assert_eq!(bench.sink.count(), calls + 1);
    bench.assert_current();
}
