//! What pairs tell whoever counts.

use std::sync::{Arc, Mutex};

use kollect_inventory::{
    Effect,
    schedule::{ErrorClass, Moment},
};

use super::{
    super::{
        Delivery,
        context::{Context, Observer},
        state::{PairKey, Turn},
    },
    support::{Bench, Fault, pair, pass, refused, seconds, unreachable},
};

#[derive(Debug, Default)]
struct Notes {
    lags: Mutex<Vec<Option<Moment>>>,
    turns: Mutex<Vec<String>>,
}

impl Observer for Notes {
    fn turned(&self, _: &PairKey, turn: &Turn<'_>) {
        let note = match &turn.outcome {
            Ok(receipt) => format!("{:?} wrote {}", turn.work, receipt.bytes > 0),
            Err(failed) => format!("{:?} refused {}", failed.class, failed.is_refused),
        };
        self.turns.lock().unwrap().push(note);
    }

    fn lags(&self, _: &PairKey, since: Option<Moment>) {
        self.lags.lock().unwrap().push(since);
    }
}

impl Notes {
    fn lag(&self) -> Option<Moment> {
        self.lags.lock().unwrap().last().copied().flatten()
    }
}

fn observed() -> (Bench, Arc<Notes>) {
    let mut bench = Bench::covered();
    let notes = Arc::<Notes>::default();
    let mut context = Context::new(bench.ledger.clone(), Arc::clone(&bench.clock) as _, "w1");
    context.observer = Arc::clone(&notes) as _;
    bench.delivery = Delivery::new(context);
    (bench, notes)
}

/// R22: none pending is no lag, and what is pending lags since it came.
#[tokio::test(start_paused = true)]
async fn a_copy_lags_from_its_first_waiting_change_until_it_has_everything() {
    let (mut bench, notes) = observed();
    bench.start();
    pass(seconds(10)).await;
    assert_eq!(notes.lags.lock().unwrap().first(), Some(&Some(seconds(0))), "it begins behind");
    assert_eq!(notes.lag(), None);
    bench.sink.then(Fault::Fail(unreachable(Effect::None)));
    bench.sink.then(Fault::Fail(unreachable(Effect::None)));
    bench.put("a", 1);
    pass(seconds(1)).await;
    assert_eq!(notes.lag(), Some(seconds(10)));
    bench.put("a", 2);
    pass(seconds(1)).await;
    assert_eq!(notes.lag(), Some(seconds(10)), "a later change takes nothing off");
    pass(seconds(60)).await;
    assert_eq!(notes.lag(), None);
    bench.assert_current();
}

#[tokio::test(start_paused = true)]
async fn every_attempt_is_told_and_a_refusal_is_told_from_other_failures() {
    let (mut bench, notes) = observed();
    bench.put("a", 1);
    bench.sink.then(Fault::Fail(unreachable(Effect::None)));
    bench.sink.then(Fault::Fail(refused()));
    bench.start();
    pass(seconds(3600)).await;
    let terminal = format!("{:?} refused true", ErrorClass::Terminal);
    let transient = format!("{:?} refused false", ErrorClass::Transient);
    assert_eq!(*notes.turns.lock().unwrap(), [transient, terminal, "Export wrote true".to_owned()]);
}

#[tokio::test(start_paused = true)]
async fn a_sink_that_is_left_alone_is_said_to_be_so_until_it_answers() {
    let (mut bench, _) = observed();
    for _ in 0..5 {
        bench.sink.then(Fault::Fail(unreachable(Effect::None)));
    }
    let sink = pair("db").sink;
    bench.start();
    pass(seconds(1)).await;
    assert!(!bench.delivery.is_left_alone(&sink));
    pass(seconds(20)).await;
    assert!(bench.delivery.is_left_alone(&sink), "{:?}", bench.sink.seconds());
    pass(seconds(60)).await;
    assert!(!bench.delivery.is_left_alone(&sink));
}
