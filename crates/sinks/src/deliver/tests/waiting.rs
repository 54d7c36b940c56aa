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
