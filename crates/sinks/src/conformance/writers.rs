//! Several writers at one destination.

use super::{Arena, Cluster, Verdict, ensure, inventory, process::Process};
use crate::{deliver::state::Phase, sink::InventoryKey};

pub(super) async fn two_clusters_stand_side_by_side(arena: &Arena) -> Verdict {
    let unit = arena.destination.unit();
    let mut clusters = [Cluster::of(5), Cluster::of(8)];
    let names = ["eu-1", "us-1"];
    let mut processes = Vec::new();
    for (name, cluster) in names.iter().zip(&clusters) {
        let sink = arena.sink(name).await?;
        processes.push(Process::start(sink, unit, cluster, inventory())?);
    }
    for round in 0..3 {
        for ((name, cluster), process) in names.iter().zip(&mut clusters).zip(&mut processes) {
            let object = format!("object-{round}");
            cluster.put("shop", &object, &format!("{name} {round}"));
            process.watch(cluster, "shop", &object);
            process.copy().await?;
            // Trace 9: others who write beside us cost no comparison.
            let few = round == 0 || process.changed() == 1;
            ensure(few, || format!("{} were changed by one", process.changed()))?;
        }
    }
    for (name, cluster) in names.iter().zip(&clusters) {
        arena.expect_at(name, &inventory(), cluster).await?;
    }
    Ok(())
}

pub(super) async fn two_inventories_stand_side_by_side(arena: &Arena) -> Verdict {
    let unit = arena.destination.unit();
    let other = InventoryKey { namespace: "shop".to_owned(), name: "other".to_owned() };
    let web = Cluster::of(5);
    let mut rest = Cluster::default();
    for number in 0..4 {
        rest.put("pay", &format!("bill-{number}"), "1");
    }
    arena.process(&web).await?.copy().await?;
    let sink = arena.sink("eu-1").await?;
    let mut process = Process::start(sink, unit, &rest, other.clone())?;
    process.copy().await?;
    arena.expect(&web).await?;
    arena.expect_at("eu-1", &other, &rest).await?;
    rest.clear("pay");
    process.list(&rest, "pay");
    process.copy().await?;
    arena.expect(&web).await?;
    arena.expect_at("eu-1", &other, &rest).await
}

/// R14, trace 10: the old leader wakes and is refused by the token. Here it
/// holds the lease, so that it repeats with everything it has.
pub(super) async fn who_was_overtaken_writes_nothing(arena: &Arena) -> Verdict {
    let mut cluster = Cluster::of(5);
    let mut old = arena.process(&cluster).await?;
    old.copy().await?;
    cluster.put("shop", "object-1", "2");
    let mut new = arena.process(&cluster).await?;
    new.copy().await?;
    let phase = old.verify().await;
    arena.expect(&cluster).await.or_else(|failure| match phase {
        // It was the newer of the two by its own repeat, and says what it has.
        Phase::Exported => Ok(()),
        _ => Err(failure),
    })?;
    new.list(&cluster, "shop");
    new.compare().await;
    arena.expect(&cluster).await
}

/// R14: whoever comes last, one state is there, whole.
pub(super) async fn racing_writers_end_in_one_state(arena: &Arena) -> Verdict {
    let mut cluster = Cluster::of(20);
    let mut one = arena.process(&cluster).await?;
    let mut two = arena.process(&cluster).await?;
    for round in 0..4 {
        cluster.put("shop", "object-1", &format!("round {round}"));
        cluster.put("shop", &format!("new-{round}"), "1");
        cluster.remove("shop", &format!("object-{}", 10 + round));
        for process in [&mut one, &mut two] {
            process.list(&cluster, "shop");
        }
        let (first, second) = tokio::join!(one.copy_what_can_be(), two.copy_what_can_be());
        first?;
        second?;
        arena.expect(&cluster).await?;
    }
    Ok(())
}
