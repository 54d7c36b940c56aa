//! What a copy has to do in any case.

use std::sync::Arc;

use super::{Arena, Cluster, Verdict, ensure, inventory, mutants::Twice};
use crate::{deliver::state::Phase, sink::Farewell};

pub(super) async fn first_contact_writes_every_row(arena: &Arena) -> Verdict {
    let cluster = Cluster::of(3);
    let mut process = arena.process(&cluster).await?;
    process.copy().await?;
    arena.expect(&cluster).await
}

pub(super) async fn a_change_writes_what_changed(arena: &Arena) -> Verdict {
    let mut cluster = Cluster::of(50);
    let mut process = arena.process(&cluster).await?;
    process.copy().await?;
    cluster.put("shop", "object-7", "2");
    process.watch(&cluster, "shop", "object-7");
    process.copy().await?;
    ensure(process.changed() == 1, || format!("{} were changed by one", process.changed()))?;
    cluster.put("shop", "new", "1");
    process.watch(&cluster, "shop", "new");
    process.copy().await?;
    arena.expect(&cluster).await
}

pub(super) async fn a_deleted_object_is_deleted(arena: &Arena) -> Verdict {
    let mut cluster = Cluster::of(5);
    let mut process = arena.process(&cluster).await?;
    process.copy().await?;
    cluster.remove("shop", "object-2");
    process.watch(&cluster, "shop", "object-2");
    process.copy().await?;
    arena.expect(&cluster).await
}

pub(super) async fn the_last_row_leaves_an_empty_copy(arena: &Arena) -> Verdict {
    let mut cluster = Cluster::of(1);
    let mut process = arena.process(&cluster).await?;
    process.copy().await?;
    cluster.clear("shop");
    process.watch(&cluster, "shop", "object-0");
    process.copy().await?;
    arena.expect(&cluster).await?;
    let before = arena.destination.fingerprint().await?;
    let mut next = arena.process(&cluster).await?;
    next.copy().await?;
    let after = arena.destination.fingerprint().await?;
    ensure(before == after, || "an empty copy was written again".to_owned())
}

pub(super) async fn an_idle_copy_is_not_written(arena: &Arena) -> Verdict {
    let cluster = Cluster::of(20);
    let mut process = arena.process(&cluster).await?;
    process.copy().await?;
    let before = arena.destination.fingerprint().await?;
    for _ in 0..3 {
        let phase = process.verify().await;
        ensure(phase == Phase::Exported, || format!("a look became {phase:?}"))?;
        process.list(&cluster, "shop");
        process.copy().await?;
    }
    let after = arena.destination.fingerprint().await?;
    ensure(before == after, || "something was written although nothing changed".to_owned())
}

pub(super) async fn the_same_export_twice_changes_nothing(arena: &Arena) -> Verdict {
    let mut cluster = Cluster::of(10);
    let mut process = arena.process(&cluster).await?;
    process.reconnect(Arc::new(Twice(arena.sink("eu-1").await?)));
    process.copy().await?;
    cluster.put("shop", "object-1", "2");
    cluster.remove("shop", "object-2");
    process.watch(&cluster, "shop", "object-1");
    process.watch(&cluster, "shop", "object-2");
    process.copy().await?;
    arena.expect(&cluster).await
}

pub(super) async fn ten_thousand_rows_arrive(arena: &Arena) -> Verdict {
    let mut cluster = Cluster::of(10_000);
    let mut process = arena.process(&cluster).await?;
    process.batches_of(1_000);
    process.copy().await?;
    arena.expect(&cluster).await?;
    for number in 0..2_500 {
        let name = format!("object-{number}");
        match number % 2 {
            0 => cluster.remove("shop", &name),
            _ => cluster.put("shop", &name, "2"),
        }
        process.watch(&cluster, "shop", &name);
    }
    process.copy().await?;
    arena.expect(&cluster).await
}

pub(super) async fn six_megabytes_arrive(arena: &Arena) -> Verdict {
    let mut cluster = Cluster::default();
    for number in 0..60 {
        cluster.put("shop", &format!("large-{number}"), &format!("{number:x}").repeat(50_000));
    }
    let mut process = arena.process(&cluster).await?;
    process.copy().await?;
    arena.expect(&cluster).await
}

pub(super) async fn hostile_names_arrive_and_stay_apart(arena: &Arena) -> Verdict {
    let mut cluster = Cluster::default();
    let long = "n".repeat(252);
    let names = [
        "..",
        ".",
        "...",
        "a/b",
        "a\\b",
        "a:b",
        "a-b",
        "/etc/passwd",
        "../../escape",
        ".git",
        ".kollect",
        "CON",
        "con.yaml",
        "nul",
        "LPT1",
        "naïve",
        "名前",
        "a b",
        " a",
        "a ",
        "it's",
        "\"quoted\"",
        "tab\there",
        "line\nbreak",
        "%2e%2e",
        "$(id)",
        "`id`",
        "-rf",
        "~",
        "*",
        "?",
        "web.yaml",
        "web",
        "Web",
        "WEB",
        "index",
        "a\u{202e}b",
    ];
    for name in names {
        cluster.put("shop", name, name);
    }
    cluster.put("shop", &format!("{long}a"), "one");
    cluster.put("shop", &format!("{long}b"), "two");
    let mut process = arena.process(&cluster).await?;
    process.copy().await?;
    arena.expect(&cluster).await?;
    for name in names.iter().step_by(2) {
        cluster.remove("shop", name);
        process.watch(&cluster, "shop", name);
    }
    process.copy().await?;
    arena.expect(&cluster).await
}

/// R20, trace 15.
pub(super) async fn a_row_that_is_refused_stops_no_other(arena: &Arena) -> Verdict {
    let Some(bad) = arena.destination.refuses_name() else { return Ok(()) };
    let good = Cluster::of(1_000);
    let mut cluster = good.clone();
    cluster.put("shop", bad, "1");
    let mut process = arena.process(&cluster).await?;
    match process.copy_what_can_be().await? {
        Phase::Partial { refused, total: 1 }
            if refused.iter().all(|row| row.identity.name == bad) => {}
        other => return Err(format!("the row should have been named: {other:?}")),
    }
    arena.expect(&good).await?;
    process.watch(&good, "shop", bad);
    process.copy().await?;
    arena.expect(&good).await
}

/// R31.
pub(super) async fn a_deleted_inventory_is_retired(arena: &Arena) -> Verdict {
    let cluster = Cluster::of(3);
    let mut process = arena.process(&cluster).await?;
    process.copy().await?;
    process.retire(Farewell::Released).await?;
    arena.expect(&cluster).await?;
    // What was released is adopted by whoever comes next under the name.
    let mut next = arena.process(&cluster).await?;
    next.copy().await?;
    arena.expect(&cluster).await?;
    next.retire(Farewell::Deleted).await?;
    next.retire(Farewell::Deleted).await?;
    let left = arena.destination.read("eu-1", &inventory()).await?.unwrap_or_default();
    let kept = arena.destination.keeps_copies();
    ensure(kept || left.is_empty(), || format!("{} rows were left behind", left.len()))
}

pub(super) async fn wrong_credentials_fail_and_right_ones_heal(arena: &Arena) -> Verdict {
    let Some(stranger) = arena.destination.open_as_stranger("eu-1").await? else { return Ok(()) };
    let cluster = Cluster::of(3);
    let mut process = arena.process(&cluster).await?;
    process.reconnect(stranger);
    match process.copy_what_can_be().await? {
        Phase::Failed { .. } => {}
        other => return Err(format!("a stranger was let in: {other:?}")),
    }
    process.reconnect(arena.sink("eu-1").await?);
    process.copy().await?;
    arena.expect(&cluster).await
}
