//! What a process does with the copy that another has left.

use std::sync::Arc;

use super::{
    Arena, Cluster, Tampering, Verdict, ensure, inventory, mutants::Deaf, process::Process, schema,
};
use crate::deliver::state::Phase;

pub(super) async fn an_equal_copy_is_left_alone(arena: &Arena) -> Verdict {
    let cluster = Cluster::of(30);
    arena.process(&cluster).await?.copy().await?;
    let before = arena.destination.fingerprint().await?;
    arena.process(&cluster).await?.copy().await?;
    let after = arena.destination.fingerprint().await?;
    ensure(before == after, || "an equal copy was written again".to_owned())
}

pub(super) async fn only_the_drift_is_written(arena: &Arena) -> Verdict {
    let mut cluster = Cluster::of(30);
    arena.process(&cluster).await?.copy().await?;
    cluster.put("shop", "object-3", "2");
    cluster.remove("shop", "object-4");
    cluster.put("shop", "new", "1");
    let mut process = arena.process(&cluster).await?;
    process.copy().await?;
    ensure(process.changed() <= 3, || format!("{} were changed by three", process.changed()))?;
    arena.expect(&cluster).await
}

/// R15.
pub(super) async fn a_foreign_edit_is_found_by_the_full_comparison(arena: &Arena) -> Verdict {
    let cluster = Cluster::of(10);
    let mut process = arena.process(&cluster).await?;
    process.copy().await?;
    for tampering in [Tampering::Edit, Tampering::Delete] {
        arena.destination.tamper("eu-1", &inventory(), tampering).await?;
        let phase = process.compare().await;
        ensure(phase == Phase::Exported, || format!("a comparison became {phase:?}"))?;
        arena.expect(&cluster).await?;
    }
    Ok(())
}

/// R1, R2, trace 6: what cannot be read stays; when it can be read again, what
/// was deleted meanwhile goes.
pub(super) async fn an_uncovered_partition_is_untouched_and_healed(arena: &Arena) -> Verdict {
    let mut cluster = Cluster::of(5);
    for number in 0..5 {
        cluster.put("pay", &format!("bill-{number}"), "1");
    }
    arena.process(&cluster).await?.copy().await?;
    let before = cluster.clone();
    cluster.remove("pay", "bill-1");
    cluster.put("shop", "object-0", "2");
    let mut process =
        Process::cold(arena.sink("eu-1").await?, arena.destination.unit(), inventory())?;
    process.fail_to_list("pay");
    process.list(&cluster, "shop");
    process.settle();
    process.copy().await?;
    let mut expected = before;
    expected.put("shop", "object-0", "2");
    arena.expect(&expected).await?;
    process.list(&cluster, "pay");
    process.copy().await?;
    arena.expect(&cluster).await
}

/// R2, trace 7.
pub(super) async fn a_namespace_that_left_goes_only_when_that_is_known(arena: &Arena) -> Verdict {
    let mut cluster = Cluster::of(5);
    cluster.put("pay", "bill", "1");
    arena.process(&cluster).await?.copy().await?;
    let with_both = cluster.clone();
    cluster.clear("pay");
    let mut process =
        Process::cold(arena.sink("eu-1").await?, arena.destination.unit(), inventory())?;
    process.list(&cluster, "shop");
    process.copy().await?;
    arena.expect(&with_both).await?;
    process.settle();
    process.copy().await?;
    arena.expect(&cluster).await
}

/// Trace 1.
pub(super) async fn a_capped_batch_is_completed_after_a_restart(arena: &Arena) -> Verdict {
    let mut cluster = Cluster::of(10);
    let mut process = arena.process(&cluster).await?;
    process.copy().await?;
    process.batches_of(3);
    for number in 0..10 {
        let name = format!("object-{number}");
        cluster.put("shop", &name, "2");
        process.watch(&cluster, "shop", &name);
    }
    process.once().await;
    drop(process);
    arena.process(&cluster).await?.copy().await?;
    arena.expect(&cluster).await
}

/// Trace 4: the same rows under another projection are written anew, and the
/// record follows.
pub(super) async fn another_schema_is_written_anew(arena: &Arena) -> Verdict {
    let cluster = Cluster::of(5);
    arena.process(&cluster).await?.copy().await?;
    let mut process = arena.process(&cluster).await?;
    process.reshape(schema(&["value", "another"]));
    process.copy().await?;
    arena.expect(&cluster).await?;
    let before = arena.destination.fingerprint().await?;
    let mut again = arena.process(&cluster).await?;
    again.reshape(schema(&["value", "another"]));
    again.copy().await?;
    let after = arena.destination.fingerprint().await?;
    ensure(before == after, || "the record does not know the new schema".to_owned())
}

/// R13: the destination has taken it, and we were not told.
pub(super) async fn a_lost_answer_is_repaired(arena: &Arena) -> Verdict {
    let mut cluster = Cluster::of(10);
    let mut process = arena.process(&cluster).await?;
    process.copy().await?;
    cluster.put("shop", "object-1", "2");
    cluster.put("shop", "new", "1");
    process.watch(&cluster, "shop", "object-1");
    process.watch(&cluster, "shop", "new");
    process.reconnect(Arc::new(Deaf(arena.sink("eu-1").await?)));
    match process.once().await {
        Phase::Failed { .. } => {}
        other => return Err(format!("a lost answer became {other:?}")),
    }
    cluster.remove("shop", "new");
    process.watch(&cluster, "shop", "new");
    process.reconnect(arena.sink("eu-1").await?);
    process.copy().await?;
    arena.expect(&cluster).await
}
