//! What a pair leaves behind: for who comes after it, and for who reads of it.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use kollect_inventory::{
    Effect,
    schedule::Pace,
    watermark::{Conflict, Token},
};
use tokio::sync::watch;

use super::{
    super::{PairSettings, context::Lease, state::Phase},
    support::{Bench, Fault, pair, pass, seconds, unreachable},
};
use crate::{
    deliver::{Delivery, context::Context},
    file::{FileSink, destination::FileDestination},
    sink::{Farewell, Receipt, SinkError, Wrote},
};

/// R31: a ref that is removed and named again.
#[tokio::test(start_paused = true)]
async fn who_comes_back_waits_for_the_farewell_to_end() {
    let mut bench = Bench::covered();
    bench.put("a", 1);
    bench.start();
    pass(seconds(1)).await;
    bench.sink.then(Fault::Fail(unreachable(Effect::None)));
    let answer = bench.delivery.retire(&pair("db"), Farewell::Deleted, Duration::from_mins(10));
    let state = bench.start();
    answer.await.unwrap().unwrap();
    pass(seconds(10)).await;
    assert_eq!(state.borrow().phase, Phase::Exported);
    bench.assert_current();
}

/// A pair that was told to end finishes what it is doing.
#[tokio::test(start_paused = true)]
async fn who_comes_back_waits_for_the_export_that_runs() {
    let mut bench = Bench::covered();
    bench.put("a", 1);
    bench.sink.then(Fault::Slow(seconds(10), 10));
    bench.start();
    pass(seconds(1)).await;
    bench.delivery.forget(&pair("db"));
    let state = bench.start();
    pass(seconds(5)).await;
    assert_eq!(bench.sink.count(), 1);
    pass(seconds(10)).await;
    assert_eq!((bench.sink.count(), state.borrow().phase.is_synced()), (2, true));
    bench.assert_current();
}

/// R20 and R21: a row that comes with a change of another is no longer missed.
#[tokio::test(start_paused = true)]
async fn a_row_whose_path_became_free_is_not_missed_once_it_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let destination = Arc::new(FileDestination::new(directory.path().to_owned()));
    let spec = serde_json::json!({
        "type": "file", "file": {"path": "x"}, "layout": {"mode": "perResource"},
    });
    let sink = FileSink::new(destination, serde_json::from_value(spec).unwrap());
    let mut bench = Bench::covered();
    bench.put("a", 1);
    let settings = PairSettings { sink: Arc::new(sink), ..bench.settings() };
    let (first, mut second) = (pair("files"), pair("files"));
    second.inventory.name = "second".into();
    drop(bench.delivery.set(first.clone(), settings.clone()));
    pass(seconds(1)).await;
    let state = bench.delivery.set(second, settings);
    pass(seconds(1)).await;
    assert!(matches!(state.borrow().phase, Phase::Partial { total: 1, .. }));
    let answer = bench.delivery.retire(&first, Farewell::Released, seconds(10));
    answer.await.unwrap().unwrap();
    bench.put("b", 1);
    pass(seconds(1)).await;
    assert_eq!(state.borrow().phase, Phase::Exported);
}

#[tokio::test(start_paused = true)]
async fn what_a_sink_warns_of_tells_no_secret() {
    let mut bench = Bench::covered();
    let identity = super::support::row("a", 1).identity().into_owned();
    let reason = "the trigger said hunter22".to_owned();
    bench.sink.then(Fault::Answer(Receipt {
        wrote: Wrote::Rows { upserted: 1, deleted: 0 },
        refused: vec![crate::sink::RefusedRow { identity, reason }],
        warnings: vec!["the view says hunter22".to_owned()],
        ..Receipt::unchanged(None)
    }));
    let state = bench.start();
    pass(seconds(1)).await;
    let shown = format!("{:?}", *state.borrow());
    assert!(shown.contains("the trigger said ***") && shown.contains("the view says ***"));
    assert!(!shown.contains("hunter22"), "{shown}");
}

/// R36: the name of another writer is a text that somebody else chose.
#[tokio::test(start_paused = true)]
async fn the_name_of_another_writer_is_cut_and_tells_no_secret() {
    let mut bench = Bench::covered();
    let writer = format!("hunter22\n{}", "x".repeat(5_000));
    for _ in 0..3 {
        bench.sink.then(Fault::Fail(SinkError::Conflict {
            cause: Conflict::Foreign,
            found: Some(Token { writer: writer.clone(), sequence: 1 }),
        }));
    }
    let state = bench.start();
    pass(seconds(1)).await;
    let Phase::Failed { message, .. } = state.borrow().phase.clone() else { panic!() };
    assert!(message.len() < 1_100 && message.contains("***"), "{message}");
}

/// Somebody who grants leases and does not answer.
#[derive(Debug)]
struct Silent(watch::Sender<bool>);

#[async_trait]
impl Lease for Silent {
    fn held(&self) -> watch::Receiver<bool> {
        self.0.subscribe()
    }

    async fn confirm(&self) -> bool {
        std::future::pending().await
    }
}

/// R14: who does not answer has not confirmed anything.
#[tokio::test(start_paused = true)]
async fn nobody_waits_for_ever_to_hear_about_the_lease() {
    let mut bench = Bench::covered();
    let mut context = Context::new(bench.ledger.clone(), Arc::clone(&bench.clock) as _, "w1");
    context.lease = Arc::new(Silent(watch::Sender::new(true)));
    bench.delivery = Delivery::new(context);
    bench.sink.then(Fault::Fail(SinkError::Conflict { cause: Conflict::Foreign, found: None }));
    let pace = Pace { interval: seconds(30), ..Pace::default() };
    let settings = PairSettings { pace, ..bench.settings() };
    drop(bench.delivery.set(pair("db"), settings));
    pass(seconds(1)).await;
    let ended = tokio::time::timeout(seconds(60), bench.delivery.shut_down(seconds(5))).await;
    ended.unwrap();
}
