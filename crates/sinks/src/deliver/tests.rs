//! Pairs on paused time: when they do what, and what becomes of the copy.

mod support;
mod faults;
mod waiting;
mod endings;
mod observed;
mod random;

use std::{sync::Arc, time::Duration};

use kollect_inventory::{Effect, schedule::Pace};

use self::support::{
    Bench, Fault, TestLease, assert_failed, inventory, pair, pass, refused, seconds, unreachable,
};
use super::state::Phase;
use crate::sink::{Farewell, Wrote};

#[tokio::test(start_paused = true)]
async fn a_change_is_copied_at_once_and_then_the_pair_is_exported() {
    let mut bench = Bench::covered();
    bench.put("a", 1);
    let state = bench.start();
    pass(seconds(1)).await;
    assert_eq!(state.borrow().phase, Phase::Exported);
    bench.assert_current();
    bench.put("a", 2);
    bench.put("b", 1);
    pass(Duration::from_millis(4)).await;
    assert_eq!(bench.copied().len(), 1);
    pass(Duration::from_millis(10)).await;
    bench.assert_current();
    bench.remove("a");
    pass(seconds(1)).await;
    bench.assert_current();
    assert_eq!(bench.sink.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_idle_pair_does_nothing() {
    let mut bench = Bench::covered();
    bench.put("a", 1);
    let state = bench.start();
    pass(seconds(1)).await;
    let before = state.borrow().clone();
    pass(Duration::from_hours(5)).await;
    assert_eq!(bench.sink.count(), 1);
    assert_eq!(*state.borrow(), before);
}

#[tokio::test(start_paused = true)]
async fn an_empty_view_is_written_and_so_is_the_last_delete() {
    let mut bench = Bench::covered();
    let state = bench.start();
    pass(seconds(1)).await;
    assert_eq!(state.borrow().phase, Phase::Exported);
    assert_eq!(bench.recorded().unwrap().content.unwrap().rows, 0);
    bench.put("a", 1);
    pass(seconds(1)).await;
    bench.remove("a");
    pass(seconds(1)).await;
    assert_eq!(bench.copied(), []);
    assert_eq!(bench.recorded().unwrap().content.unwrap().rows, 0);
}

/// R17.
#[tokio::test(start_paused = true)]
async fn what_comes_while_an_export_runs_goes_into_the_next() {
    let mut bench = Bench::covered();
    bench.sink.then(Fault::Slow(seconds(10), 10));
    bench.start();
    pass(seconds(1)).await;
    for number in 0..50 {
        bench.put(&format!("row-{number}"), 1);
        pass(Duration::from_millis(100)).await;
    }
    assert_eq!(bench.sink.count(), 1);
    pass(seconds(10)).await;
    assert_eq!(bench.sink.count(), 2);
    bench.assert_current();
}

/// R18.
#[tokio::test(start_paused = true)]
async fn a_gap_is_kept_between_two_exports_and_the_first_change_goes_at_once() {
    let mut bench = Bench::covered();
    let pace = Pace { min_gap: seconds(10), ..Pace::default() };
    let settings = super::PairSettings { pace, ..bench.settings() };
    bench.delivery.set(pair("db"), settings);
    pass(seconds(60)).await;
    for number in 0..30 {
        bench.put("hot", number);
        pass(seconds(1)).await;
    }
    pass(seconds(20)).await;
    assert_eq!(bench.sink.seconds(), [0, 60, 70, 80, 90]);
    bench.assert_current();
}

/// R19.
#[tokio::test(start_paused = true)]
async fn an_interval_looks_at_the_record_and_writes_nothing() {
    let mut bench = Bench::covered();
    bench.put("a", 1);
    let pace = Pace { interval: seconds(30), ..Pace::default() };
    let settings = super::PairSettings { pace, ..bench.settings() };
    bench.delivery.set(pair("db"), settings);
    pass(seconds(95)).await;
    assert_eq!(bench.sink.seconds(), [0, 30, 60, 90]);
    let before = bench.recorded();
    pass(seconds(300)).await;
    assert_eq!(bench.recorded(), before);
}

/// R15.
#[tokio::test(start_paused = true)]
async fn a_foreign_edit_is_repaired_by_the_full_comparison() {
    let mut bench = Bench::covered();
    bench.put("a", 1);
    bench.put("b", 1);
    let pace = Pace { interval: seconds(30), compare: Duration::from_hours(6), ..Pace::default() };
    let settings = super::PairSettings { pace, ..bench.settings() };
    bench.delivery.set(pair("db"), settings);
    pass(seconds(60)).await;
    bench.destination.tamper("", &inventory(), Vec::clear);
    pass(Duration::from_hours(5)).await;
    assert_eq!(bench.copied(), []);
    pass(Duration::from_hours(1)).await;
    bench.assert_current();
    bench.destination.tamper("", &inventory(), Vec::clear);
    bench.delivery.compare(&pair("db"));
    pass(seconds(1)).await;
    bench.assert_current();
}

/// R5.
#[tokio::test(start_paused = true)]
async fn the_first_export_waits_until_everything_has_been_read() {
    let mut bench = Bench::new();
    let state = bench.start();
    bench.put("a", 1);
    pass(seconds(300)).await;
    assert_eq!(bench.sink.count(), 0);
    assert!(matches!(state.borrow().phase, Phase::Progressing(_)));
    bench.cover();
    pass(seconds(1)).await;
    assert_eq!(bench.sink.count(), 1);
    assert_eq!(state.borrow().phase, Phase::Exported);
}

/// R5: what cannot be read is named, and nobody waits for it.
#[tokio::test(start_paused = true)]
async fn the_first_export_does_not_wait_for_what_failed_or_takes_too_long() {
    let mut bench = Bench::new();
    bench.start();
    pass(seconds(5)).await;
    bench.ledger.with(|store| store.uncover(bench.partition));
    pass(seconds(1)).await;
    assert_eq!(bench.sink.seconds(), [5]);
    assert_eq!(bench.recorded().unwrap().content, None);

    let mut slow = Bench::new();
    slow.start();
    pass(Duration::from_mins(11)).await;
    assert_eq!(slow.sink.seconds(), [600]);
}

/// R13: another spec, another destination.
#[tokio::test(start_paused = true)]
async fn a_changed_inventory_or_sink_is_compared_anew() {
    let mut bench = Bench::covered();
    bench.put("a", 1);
    let state = bench.start();
    pass(seconds(1)).await;
    bench.destination.tamper("", &inventory(), Vec::clear);
    let mut settings = bench.settings();
    settings.source = "the same rows in another order".into();
    settings.generation = 2;
    bench.delivery.set(pair("db"), settings.clone());
    pass(seconds(1)).await;
    // The record says that nothing is to be done, and it is believed.
    assert_eq!(bench.copied(), []);
    assert_eq!(state.borrow().generation, 2);
    assert_eq!(state.borrow().phase, Phase::Exported);
    bench.sink.then(Fault::Fail(refused()));
    settings.destination = "other credentials".into();
    bench.delivery.set(pair("db"), settings);
    pass(seconds(1)).await;
    assert_failed(&state, "the destination did not let us log in: bad password");
}

/// R22, trace 13.
#[tokio::test(start_paused = true)]
async fn a_pair_that_lags_is_not_called_in_sync() {
    let mut bench = Bench::covered();
    let state = bench.start();
    pass(seconds(60)).await;
    bench.sink.then(Fault::Slow(seconds(600), 600));
    for number in 0..29 {
        bench.put("hot", number);
        pass(seconds(1)).await;
    }
    assert_eq!(state.borrow().phase, Phase::Exported);
    for number in 0..5 {
        bench.put("hot", 100 + number);
        pass(seconds(1)).await;
    }
    assert!(matches!(state.borrow().phase, Phase::Progressing(_)));
    pass(seconds(900)).await;
    assert_eq!(state.borrow().phase, Phase::Exported);
    bench.assert_current();
}

/// R20.
#[tokio::test(start_paused = true)]
async fn a_refused_row_is_named_until_it_is_taken() {
    let mut bench = Bench::covered();
    bench.put("a", 1);
    bench.put("b\0ad", 1);
    let state = bench.start();
    pass(seconds(1)).await;
    let names = |state: &tokio::sync::watch::Receiver<super::PairState>| match &state.borrow().phase
    {
        Phase::Partial { refused, total } => {
            assert_eq!(refused.len(), *total);
            refused.iter().map(|row| row.identity.name.to_string()).collect()
        }
        _ => Vec::new(),
    };
    assert_eq!(names(&state), ["b\0ad"]);
    assert_eq!(bench.copied().len(), 1);
    bench.put("a", 2);
    pass(seconds(1)).await;
    assert_eq!(names(&state), ["b\0ad"]);
    assert_eq!(bench.recorded().unwrap().content, None);
    bench.remove("b\0ad");
    pass(seconds(1)).await;
    assert_eq!(state.borrow().phase, Phase::Exported);
    assert!(bench.recorded().unwrap().content.is_some());
}

#[tokio::test(start_paused = true)]
async fn an_export_that_ends_within_the_grace_time_counts_and_a_longer_one_does_not() {
    let mut bench = Bench::covered();
    bench.put("a", 1);
    bench.sink.then(Fault::Slow(seconds(5), 5));
    bench.start();
    pass(seconds(1)).await;
    let delivery = std::mem::replace(&mut bench.delivery, Bench::new().delivery);
    delivery.shut_down(seconds(10)).await;
    bench.assert_current();

    let mut slow = Bench::covered();
    slow.put("a", 1);
    slow.sink.then(Fault::Slow(seconds(50), 50));
    let state = slow.start();
    pass(seconds(1)).await;
    let delivery = std::mem::replace(&mut slow.delivery, Bench::new().delivery);
    delivery.shut_down(seconds(10)).await;
    assert_eq!(slow.copied(), []);
    assert!(!state.borrow().phase.is_synced());
}

/// R31.
#[tokio::test(start_paused = true)]
async fn an_inventory_that_is_deleted_takes_its_rows_along() {
    let mut bench = Bench::covered();
    bench.put("a", 1);
    bench.start();
    pass(seconds(1)).await;
    bench.sink.then(Fault::Fail(unreachable(Effect::None)));
    let answer = bench.delivery.retire(&pair("db"), Farewell::Deleted, Duration::from_mins(10));
    let receipt = answer.await.unwrap().unwrap();
    assert_eq!(receipt.wrote, Wrote::Rows { upserted: 0, deleted: 1 });
    assert_eq!(bench.recorded(), None);
}

/// R31: after ten minutes somebody is told what was left.
#[tokio::test(start_paused = true)]
async fn a_destination_that_stays_away_does_not_hold_a_deletion_for_ever() {
    let mut bench = Bench::covered();
    bench.start();
    pass(seconds(1)).await;
    for _ in 0..50 {
        bench.sink.then(Fault::Fail(unreachable(Effect::None)));
    }
    let began = tokio::time::Instant::now();
    let answer = bench.delivery.retire(&pair("db"), Farewell::Deleted, Duration::from_mins(10));
    let error = answer.await.unwrap().unwrap_err();
    assert!(began.elapsed() <= Duration::from_mins(10));
    assert_eq!(error, "could not reach the destination to write: connection reset by 10.0.0.1");
}

/// R14: who has lost the lease starts no export.
#[tokio::test(start_paused = true)]
async fn nobody_writes_without_the_lease() {
    let held = tokio::sync::watch::Sender::new(false);
    let lease = Arc::new(TestLease { held, confirmed: true });
    let mut bench = Bench::leased(Some(Arc::clone(&lease)));
    bench.cover();
    bench.put("a", 1);
    bench.start();
    pass(seconds(60)).await;
    assert_eq!(bench.sink.count(), 0);
    lease.held.send_replace(true);
    pass(seconds(1)).await;
    bench.assert_current();
    lease.held.send_replace(false);
    bench.put("a", 2);
    pass(seconds(60)).await;
    assert_eq!(bench.sink.count(), 1);
}
