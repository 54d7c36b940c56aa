//! Sequences of events that have broken plausible designs.

use std::sync::Arc;

use super::{Arena, Cluster, Verdict, churn::Dice, mutants::Deaf};
use crate::deliver::state::Phase;

/// Trace 2.
pub(super) async fn a_row_deleted_in_flight_and_recreated_leaves_no_ghost(
    arena: &Arena,
) -> Verdict {
    let mut cluster = Cluster::of(3);
    let mut process = arena.process(&cluster).await?;
    process.copy().await?;
    cluster.put("shop", "brief", "1");
    process.watch(&cluster, "shop", "brief");
    process.reconnect(Arc::new(Deaf(arena.sink("eu-1").await?)));
    process.once().await;
    cluster.remove("shop", "brief");
    process.watch(&cluster, "shop", "brief");
    cluster.put("shop", "brief", "2");
    process.watch(&cluster, "shop", "brief");
    process.reconnect(arena.sink("eu-1").await?);
    process.copy().await?;
    arena.expect(&cluster).await?;
    cluster.remove("shop", "brief");
    cluster.put("shop", "brief", "3");
    process.watch(&cluster, "shop", "brief");
    process.copy().await?;
    arena.expect(&cluster).await
}

/// Trace 3: so much was deleted meanwhile that tombstones were dropped.
pub(super) async fn an_acknowledgement_that_comes_late_moves_nothing(arena: &Arena) -> Verdict {
    let mut cluster = Cluster::of(10_500);
    let mut process = arena.process(&cluster).await?;
    process.copy().await?;
    process.reconnect(Arc::new(Deaf(arena.sink("eu-1").await?)));
    cluster.put("shop", "new", "1");
    process.watch(&cluster, "shop", "new");
    process.once().await;
    for number in 0..10_400 {
        let name = format!("object-{number}");
        cluster.remove("shop", &name);
        process.watch(&cluster, "shop", &name);
    }
    process.reconnect(arena.sink("eu-1").await?);
    process.copy().await?;
    arena.expect(&cluster).await
}

/// R1: Replace and Drop.
pub(super) async fn a_partition_that_comes_and_goes_takes_its_rows_along(arena: &Arena) -> Verdict {
    let mut cluster = Cluster::of(4);
    let mut process = arena.process(&cluster).await?;
    process.copy().await?;
    for round in 0..3 {
        cluster.put("pay", "bill", &round.to_string());
        cluster.put("pay", &format!("bill-{round}"), "1");
        process.list(&cluster, "pay");
        process.copy().await?;
        arena.expect(&cluster).await?;
        cluster.clear("pay");
        process.withdraw("pay");
        process.copy().await?;
        arena.expect(&cluster).await?;
    }
    Ok(())
}

/// Everything at once, in an order that nobody chose.
pub(super) async fn random_histories_end_in_the_cluster(arena: &Arena) -> Verdict {
    let mut dice = Dice::new(1);
    let mut cluster = Cluster::of(10);
    let mut process = arena.process(&cluster).await?;
    for step in 0..120 {
        let namespace = if dice.roll(2) == 0 { "shop" } else { "pay" };
        let name = format!("object-{}", dice.roll(25));
        match dice.roll(8) {
            0 | 1 => cluster.remove(namespace, &name),
            _ => cluster.put(namespace, &name, &step.to_string()),
        }
        match dice.roll(12) {
            0 => process = arena.process(&cluster).await?,
            1 => process.batches_of(1 + dice.roll(4)),
            2 => {
                process.reconnect(Arc::new(Deaf(arena.sink("eu-1").await?)));
                process.once().await;
                process.reconnect(arena.sink("eu-1").await?);
            }
            3 | 4 => {
                for namespace in ["shop", "pay"] {
                    process.list(&cluster, namespace);
                }
            }
            5..=7 => drop(process.copy_what_can_be().await?),
            _ => {
                for name in cluster.names(namespace) {
                    process.watch(&cluster, namespace, &name);
                }
            }
        }
    }
    for namespace in ["shop", "pay"] {
        process.list(&cluster, namespace);
    }
    match process.copy_what_can_be().await? {
        Phase::Exported => arena.expect(&cluster).await,
        other => Err(format!("it ended as {other:?}")),
    }
}
