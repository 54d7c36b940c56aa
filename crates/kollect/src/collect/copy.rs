//! One export of everything, to wherever it goes.

use std::{path::Path, sync::Arc, time::Duration};

use anyhow::Context as _;
use kollect_inventory::schedule::{ErrorClass, Pace};
use kollect_sinks::{
    Context, Delivery, Family, InventoryKey, LocalPaths, Opener, PairKey, PairSettings, PairState,
    Phase, Scrub, SinkKey, SinkSpec, Wrote,
    guard::{Guard, SystemResolver},
};
use serde_json::json;
use tokio::sync::watch;

use super::{config::Config, world::World};
use crate::clock::{ProcessClock, writer};

/// A sink that does not answer is asked so often.
const TRIES: u32 = 3;
/// About so many rows go into one export after the first.
const BATCH: usize = 10_000;
/// A copy that is kept current is compared as a whole so often.
const COMPARE: Duration = Duration::from_hours(6);
const GRACE: Duration = Duration::from_secs(10);

/// How one copy went.
#[derive(Debug)]
pub(super) struct Copied {
    pub(super) inventory: String,
    pub(super) key: SinkKey,
    pub(super) sink: String,
    pub(super) rows: usize,
    /// What was written, or what was in the way.
    pub(super) outcome: Result<String, String>,
}

/// Replaces the sinks of a configuration by a directory.
pub(super) fn into_directory(
    config: &mut Config,
    directory: &Path,
    format: &str,
    many_clusters: bool,
) -> anyhow::Result<()> {
    let path = directory.to_str().context("--output: the path is not text in UTF-8")?;
    // Clusters that are written to one directory must not overwrite each other.
    let cluster = if many_clusters { "{cluster}/" } else { "" };
    let spec = serde_json::from_value(json!({
        "type": "file",
        "file": {"path": path},
        "serialization": {"format": format},
        "pathTemplate": format!("{cluster}inventory/{{namespace}}/{{name}}{{extension}}"),
    }))?;
    let key = SinkKey {
        family: Family::Snapshot,
        namespace: String::new(),
        name: directory.display().to_string(),
    };
    for inventory in &mut config.inventories {
        inventory.sinks = vec![(key.clone(), None)];
    }
    config.sinks = [(key, SinkSpec::Snapshot(Box::new(spec)))].into();
    Ok(())
}

/// What exports the inventories of a cluster.
pub(super) fn delivery(world: &World) -> Delivery {
    let clock = Arc::new(ProcessClock::start());
    Delivery::new(Context::new(world.ledger().clone(), clock, &writer()))
}

/// How long a pair is to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outlet {
    /// Until everything has been exported.
    Once,
    /// For as long as anything changes; the first export waits at most so long
    /// for what is not known.
    Lasting { warmup: Duration },
}

/// An inventory, one of its sinks, and how the pair is set up or why not.
pub(super) type Setup = (InventoryKey, SinkKey, Result<PairSettings, String>);

/// Every inventory with each of its sinks.
pub(super) fn pairs(config: &Config, world: &World, cluster: &str, outlet: Outlet) -> Vec<Setup> {
    let guard = Guard::new(config.addresses.clone(), SystemResolver);
    let opener = Opener::new(LocalPaths::Anywhere).with_guard(guard);
    let mut pairs = Vec::new();
    for (at, inventory) in config.inventories.iter().enumerate() {
        for (sink, limit) in &inventory.sinks {
            let settings = settings(config, world, (at, sink), cluster, &opener);
            let settings = settings.map(|(settings, min_gap)| match outlet {
                Outlet::Once => PairSettings { limit: *limit, ..settings },
                Outlet::Lasting { warmup } => {
                    let pace = Pace { min_gap, compare: COMPARE, ..Pace::default() };
                    PairSettings { limit: *limit, pace, warmup, ..settings }
                }
            });
            pairs.push((inventory.key.clone(), sink.clone(), settings));
        }
    }
    pairs
}

/// Copies every inventory to its sinks, all at once, and says how it went.
pub(super) async fn copy(config: &Config, world: &World, cluster: &str) -> Vec<Copied> {
    let mut delivery = delivery(world);
    let mut outcomes = Vec::new();
    let mut running = Vec::new();
    for (inventory, key, settings) in pairs(config, world, cluster, Outlet::Once) {
        let at = config.inventories.iter().position(|one| one.key == inventory);
        let one = Copied {
            inventory: inventory.to_string(),
            sink: named(&key),
            rows: at.map_or(0, |at| world.count(at)),
            outcome: Err("it did not end".to_owned()),
            key: key.clone(),
        };
        match settings {
            Ok(settings) => {
                let state = delivery.set(PairKey { inventory, sink: key }, settings);
                running.push((outcomes.len(), state));
                outcomes.push(one);
            }
            Err(error) => outcomes.push(Copied { outcome: Err(error), ..one }),
        }
    }
    for (at, state) in running {
        let outcome = ended(state).await;
        if let Some(one) = outcomes.get_mut(at) {
            one.outcome = outcome;
        }
    }
    delivery.shut_down(GRACE).await;
    outcomes
}

/// How a pair is set up that exports once, and the least time between exports
/// of one that goes on.
fn settings(
    config: &Config,
    world: &World,
    (at, sink): (usize, &SinkKey),
    cluster: &str,
    opener: &Opener,
) -> Result<(PairSettings, Duration), String> {
    let inventory = config.inventories.get(at).ok_or("there is no such inventory")?;
    let view = world.view(at).ok_or("there is no such inventory")?;
    let mut spec = config.sinks.get(sink).cloned().ok_or("the sink is not in the configuration")?;
    if spec.common().cluster.as_deref().is_none_or(str::is_empty) && !cluster.is_empty() {
        spec.common_mut().cluster = Some(cluster.to_owned());
    }
    let credentials = config.secrets.credentials(&sink.namespace, &spec);
    let credentials = credentials.map_err(|error| format!("{error:#}"))?;
    let scrub = Scrub::new(&credentials);
    let manner = spec.manner(&inventory.schema).map_err(|error| scrub.error(&error))?;
    let open = opener.open(sink, &spec, &credentials);
    let settings = PairSettings {
        view,
        schema: Arc::clone(&inventory.schema),
        generation: inventory.generation,
        sink: open.map_err(|error| scrub.error(&error))?,
        scrub,
        source: String::new(),
        destination: String::new(),
        pace: Pace::default(),
        unit: manner.unit,
        limit: None,
        batch: BATCH,
        deadline: manner.deadline,
        warmup: Duration::ZERO,
    };
    Ok((settings, manner.min_gap))
}

/// Waits until a pair has exported, or has failed for good.
async fn ended(mut state: watch::Receiver<PairState>) -> Result<String, String> {
    let is_over = |state: &PairState| match &state.phase {
        Phase::Exported | Phase::Partial { .. } => true,
        Phase::Failed { class, attempts, .. } => {
            *class == ErrorClass::Terminal || *attempts >= TRIES
        }
        Phase::Starting | Phase::Progressing(_) => false,
    };
    let state = match state.wait_for(is_over).await {
        Ok(state) => state.clone(),
        Err(_) => return Err("it was given up".to_owned()),
    };
    match &state.phase {
        Phase::Failed { message, .. } => Err(message.clone()),
        Phase::Partial { refused, total } => {
            let first = refused.first().map(|row| {
                format!("{}/{}: {}", row.identity.namespace, row.identity.name, row.reason)
            });
            Err(format!("{total} rows were refused, first {}", first.unwrap_or_default()))
        }
        _ => Ok(written(&state)),
    }
}

pub(super) fn written(state: &PairState) -> String {
    match state.receipt.as_ref().map(|receipt| &receipt.wrote) {
        None | Some(Wrote::Nothing) => "nothing to write, the copy is current".to_owned(),
        Some(Wrote::Rows { upserted, deleted }) => {
            format!("{upserted} rows written, {deleted} deleted")
        }
        Some(Wrote::Files { written, removed }) => {
            format!("{written} files written, {removed} removed")
        }
        Some(Wrote::Commit { id, written, removed }) => {
            let id = id.get(..12).unwrap_or(id);
            format!("commit {id}: {written} files written, {removed} removed")
        }
    }
}

pub(super) fn named(sink: &SinkKey) -> String {
    match sink.namespace.as_str() {
        "" => sink.name.clone(),
        namespace => format!("{namespace}/{}", sink.name),
    }
}
