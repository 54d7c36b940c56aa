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

/// R22: that nothing changes while a pair is late does not make it current.
#[tokio::test(start_paused = true)]
async fn who_is_late_stays_late_while_its_sink_is_left_alone() {
    let mut bench = Bench::covered();
    let state = bench.start();
    pass(seconds(1)).await;
    let mut other = pair("db");
    other.inventory.name = "other".into();
    for _ in 0..5 {
        bench.sink.then(Fault::Fail(unreachable(Effect::None)));
    }
    // Whoever tries first is in no hurry.
    bench.sink.then(Fault::Hang);
    let settings = bench.settings();
    drop(bench.delivery.set(other, settings));
    pass(seconds(50)).await;
    bench.put("a", 1);
    pass(seconds(35)).await;
    let mut watched = state.clone();
    assert!(!watched.borrow_and_update().phase.is_synced());
    let news = tokio::time::timeout(seconds(60), watched.changed()).await;
    assert!(news.is_err(), "somebody could have seen it in sync");
}

/// R22: a change is late however long the comparison takes that it missed.
#[tokio::test(start_paused = true)]
async fn a_change_that_comes_during_a_comparison_is_not_forgotten() {
    let mut bench = Bench::covered();
    bench.put("a", 1);
    let pace = Pace { compare: Duration::from_hours(6), ..Pace::default() };
    let settings = PairSettings { pace, ..bench.settings() };
    let state = bench.delivery.set(pair("db"), settings);
    pass(seconds(6 * 3_600 - 10)).await;
    bench.sink.then(Fault::Slow(seconds(600), 600));
    pass(seconds(20)).await;
    assert_eq!((bench.sink.count(), state.borrow().phase.is_synced()), (2, true));
    pass(seconds(40)).await;
    assert!(state.borrow().phase.is_synced());
    bench.put("a", 2);
    pass(seconds(40)).await;
    assert!(matches!(state.borrow().phase, Phase::Progressing(_)));
    pass(seconds(600)).await;
    bench.assert_current();
    assert_eq!(state.borrow().phase, Phase::Exported);
}

/// R22: a burst that needs several exports is not late because nothing
/// changed for an hour before it.
#[tokio::test(start_paused = true)]
async fn a_burst_after_a_quiet_hour_is_not_late_at_once() {
    let mut bench = Bench::covered();
    let settings = PairSettings { batch: 2, ..bench.settings() };
    let state = bench.delivery.set(pair("db"), settings);
    pass(Duration::from_hours(1)).await;
    for number in 0..10 {
        bench.put(&format!("row-{number}"), 1);
    }
    for _ in 0..10 {
        bench.sink.then(Fault::Slow(seconds(2), 2));
    }
    for _ in 0..100 {
        pass(Duration::from_millis(100)).await;
        assert_eq!(state.borrow().phase, Phase::Exported);
    }
    pass(seconds(60)).await;
    bench.assert_current();
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

/// A pair whose view is gone has nothing to try again.
#[tokio::test(start_paused = true)]
async fn a_pair_whose_view_is_gone_comes_to_rest() {
    let mut bench = Bench::covered();
    bench.sink.then(Fault::Fail(unreachable(Effect::None)));
    bench.start();
    pass(Duration::from_millis(500)).await;
    bench.ledger.with(|store| store.remove_view(bench.view));
    pass(Duration::from_mins(20)).await;
    assert_eq!(bench.sink.count(), 1);
}

/// R30: what another destination held says nothing about this one.
#[tokio::test(start_paused = true)]
async fn another_destination_is_not_current_before_it_was_written() {
    let mut bench = Bench::covered();
    bench.put("a", 1);
    bench.put("b\0ad", 1);
    let state = bench.start();
    pass(seconds(1)).await;
    let elsewhere = MemoryDestination::default();
    let sink = FaultySink::new(&elsewhere, &bench.clock);
    sink.then(Fault::Slow(seconds(10), 10));
    let settings = PairSettings {
        sink: Arc::clone(&sink) as _,
        destination: "another table".into(),
        ..bench.settings()
    };
    bench.delivery.set(pair("db"), settings);
    pass(seconds(5)).await;
    assert!(matches!(state.borrow().phase, Phase::Progressing(_)));
    assert_eq!(state.borrow().content, None);
    pass(seconds(10)).await;
    assert!(matches!(state.borrow().phase, Phase::Partial { .. }));
    bench.destination = elsewhere;
    assert_eq!(bench.copied().len(), 1);
}

/// R20: whoever mends a sink does not wait for its breaker.
#[tokio::test(start_paused = true)]
async fn a_sink_that_was_mended_is_tried_at_once() {
    let mut bench = Bench::covered();
    for _ in 0..100 {
        bench.sink.then(Fault::Fail(unreachable(Effect::None)));
    }
    let state = bench.start();
    pass(Duration::from_mins(30)).await;
    bench.sink.faults.lock().unwrap().clear();
    let settings = PairSettings { destination: "right address".into(), ..bench.settings() };
    bench.delivery.set(pair("db"), settings);
    pass(seconds(1)).await;
    assert_eq!(state.borrow().phase, Phase::Exported);
}
