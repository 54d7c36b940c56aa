//! What a pair does when its sink fails.

use std::{sync::Arc, time::Duration};

use kollect_inventory::{
    Effect,
    schedule::{Moment, Pace},
    watermark::Token,
};

use super::{
    super::{
        PairSettings,
        context::{Context, Observer},
        state::{PairKey, Phase, Turn},
    },
    support::{
        Bench, Fault, FaultySink, TestLease, assert_failed, inventory, pair, pass, refused,
        seconds, unreachable,
    },
};
use crate::{deliver::Delivery, sink::SinkError};

/// R20.
#[tokio::test(start_paused = true)]
async fn a_transient_failure_is_retried_later_and_later_whatever_comes() {
    let mut bench = Bench::covered();
    for _ in 0..4 {
        bench.sink.then(Fault::Fail(unreachable(Effect::None)));
    }
    let state = bench.start();
    pass(Duration::from_millis(100)).await;
    assert_failed(&state, "could not reach the destination to write: connection reset by 10.0.0.1");
    for number in 0..40 {
        bench.put("hot", number);
        pass(Duration::from_millis(500)).await;
    }
    assert_eq!(bench.sink.seconds().get(..5), Some(&[0, 1, 3, 7, 15][..]));
    bench.assert_current();
    assert_eq!(state.borrow().phase, Phase::Exported);
}

/// R20.
#[tokio::test(start_paused = true)]
async fn a_terminal_failure_waits_for_minutes_and_for_nobody_once_something_changed() {
    let mut bench = Bench::covered();
    for _ in 0..3 {
        bench.sink.then(Fault::Fail(refused()));
    }
    let state = bench.start();
    pass(Duration::from_mins(16)).await;
    assert_eq!(bench.sink.seconds(), [0, 300, 900]);
    let settings = PairSettings { destination: "right credentials".into(), ..bench.settings() };
    bench.delivery.set(pair("db"), settings);
    pass(seconds(1)).await;
    assert_eq!(state.borrow().phase, Phase::Exported);
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_an_error_of_its_own_sink_and_tells_no_secret() {
    let mut bench = Bench::covered();
    bench.put("a", 1);
    bench.sink.then(Fault::Panic);
    let state = bench.start();
    let other = Bench::covered().destination;
    let beside = FaultySink::new(&other, &bench.clock);
    let settings = PairSettings { sink: beside, ..bench.settings() };
    let healthy = bench.delivery.set(pair("beside"), settings);
    pass(Duration::from_millis(500)).await;
    assert_failed(&state, "the sink panicked: a bug with password ***");
    assert_eq!(healthy.borrow().phase, Phase::Exported);
    pass(seconds(2)).await;
    bench.assert_current();
}

/// R17.
#[tokio::test(start_paused = true)]
async fn an_export_may_take_long_but_not_without_a_sign_of_life() {
    let mut bench = Bench::covered();
    bench.put("a", 1);
    bench.sink.then(Fault::Hang);
    bench.sink.then(Fault::Slow(seconds(3_600), 60));
    let state = bench.start();
    pass(seconds(119)).await;
    assert!(matches!(state.borrow().phase, Phase::Progressing(_)));
    pass(Duration::from_millis(1_500)).await;
    assert_failed(&state, "nothing was accepted for 120 s");
    pass(seconds(4_000)).await;
    assert_eq!(state.borrow().phase, Phase::Exported);
    bench.assert_current();
    assert_eq!(bench.sink.count(), 2);
}

/// R13: nobody knows what became of it, so everything is compared.
#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_no_conflict_and_loses_nothing() {
    let mut bench = Bench::covered();
    bench.put("a", 1);
    let state = bench.start();
    pass(seconds(1)).await;
    bench.put("a", 2);
    bench.put("b", 1);
    bench.sink.then(Fault::LoseTheAnswer);
    pass(Duration::from_millis(100)).await;
    assert_failed(&state, "could not reach the destination to write: connection reset by 10.0.0.1");
    bench.remove("b");
    pass(seconds(2)).await;
    bench.assert_current();
    assert_eq!(state.borrow().phase, Phase::Exported);
}

/// R14, trace 10: the one that paused is refused by the token.
#[tokio::test(start_paused = true)]
async fn who_was_overtaken_asks_for_the_lease_before_it_writes_again() {
    let lost =
        Arc::new(TestLease { held: tokio::sync::watch::Sender::new(true), confirmed: false });
    let mut old = Bench::leased(Some(lost));
    old.cover();
    old.put("a", 1);
    old.start();
    pass(seconds(1)).await;
    let mut new = Bench::covered();
    new.destination = old.destination.clone();
    new.sink = FaultySink::new(&old.destination, &new.clock);
    new.put("a", 7);
    let mut context = Context::new(new.ledger.clone(), Arc::clone(&new.clock) as _, "w2");
    context.writer = "w2".into();
    new.delivery = Delivery::new(context);
    new.start();
    pass(seconds(1)).await;
    new.assert_current();
    old.put("a", 2);
    pass(seconds(60)).await;
    new.assert_current();
    assert_eq!(old.recorded().unwrap().token.writer, "w2");
    assert!(old.sink.count() > 1);
}

/// R14.
#[tokio::test(start_paused = true)]
async fn somebody_who_keeps_writing_beside_us_is_named() {
    let mut bench = Bench::covered();
    let pace = Pace { interval: seconds(30), ..Pace::default() };
    let settings = PairSettings { pace, ..bench.settings() };
    let state = bench.delivery.set(pair("db"), settings);
    pass(seconds(1)).await;
    for number in 0..3 {
        let token = Token { writer: "intruder".into(), sequence: 2_000 + number };
        bench.sink.then(Fault::Fail(SinkError::Conflict {
            cause: kollect_inventory::watermark::Conflict::Foreign,
            found: Some(token),
        }));
        bench.destination.tamper("", &inventory(), |_| {});
        bench.put("a", u64::try_from(number).unwrap());
        pass(seconds(1)).await;
    }
    let shown = state.borrow().phase.clone();
    let Phase::Failed { message, .. } = shown else { panic!("{shown:?}") };
    assert!(message.contains("3 times in ten minutes, last by intruder"), "{message}");
}

/// R11.
#[tokio::test(start_paused = true)]
async fn a_destination_that_is_ahead_lifts_our_numbers() {
    let mut first = Bench::covered();
    first.ledger.with(|store| store.lift(5_000_000));
    first.put("a", 1);
    first.start();
    pass(seconds(1)).await;
    let mut second = Bench::covered();
    second.destination = first.destination.clone();
    second.sink = FaultySink::new(&first.destination, &second.clock);
    let context = Context::new(second.ledger.clone(), Arc::clone(&second.clock) as _, "w2");
    second.delivery = Delivery::new(context);
    second.put("b", 1);
    let state = second.start();
    pass(seconds(1)).await;
    assert_eq!(state.borrow().phase, Phase::Exported);
    second.assert_current();
    assert!(second.recorded().unwrap().token.sequence > 5_000_000);
}

/// R20: the first success wakes all pairs of the sink.
#[tokio::test(start_paused = true)]
async fn a_sink_that_has_recovered_is_known_to_all_its_pairs() {
    let mut bench = Bench::covered();
    for _ in 0..12 {
        bench.sink.then(Fault::Fail(unreachable(Effect::None)));
    }
    let mut states = Vec::new();
    for name in ["one", "two", "three"] {
        let mut key = pair("db");
        key.inventory.name = name.into();
        let settings = bench.settings();
        states.push(bench.delivery.set(key, settings));
    }
    pass(seconds(20)).await;
    let asked = bench.sink.count();
    assert!(asked <= 8, "an open breaker lets nobody through: {:?}", bench.sink.seconds());
    pass(Duration::from_hours(1)).await;
    for state in &states {
        assert_eq!(state.borrow().phase, Phase::Exported, "{:?}", bench.sink.seconds());
    }
    let calls = bench.sink.seconds();
    let recovered = calls.get(12).copied().unwrap_or_default();
    assert!(calls.iter().skip(12).all(|call| call - recovered <= 1), "{calls:?}");
}

#[derive(Debug)]
struct Clumsy;

impl Observer for Clumsy {
    fn turned(&self, _: &PairKey, _: &Turn<'_>) {
        panic!("somebody miscounted");
    }

    fn lags(&self, _: &PairKey, _: Option<Moment>) {}
}

#[tokio::test(start_paused = true)]
async fn a_bug_of_ours_ends_one_pair_which_says_so_and_can_begin_anew() {
    let mut bench = Bench::covered();
    bench.put("a", 1);
    let mut context = Context::new(bench.ledger.clone(), Arc::clone(&bench.clock) as _, "w1");
    context.observer = Arc::new(Clumsy);
    bench.delivery = Delivery::new(context);
    let state = bench.start();
    pass(seconds(1)).await;
    assert_failed(&state, "the delivery of this copy ended by a bug in Kollect");
    let again = bench.start();
    pass(seconds(1)).await;
    assert_failed(&again, "the delivery of this copy ended by a bug in Kollect");
    assert!(!again.same_channel(&state), "it did not begin anew");
}
