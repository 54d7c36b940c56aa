//! One export of everything, to wherever it goes.

use std::{path::Path, sync::Arc, time::Duration};

use anyhow::Context as _;
use kollect_inventory::schedule::{ErrorClass, Pace};
use kollect_sinks::{
    Context, Delivery, Family, LocalPaths, Opener, PairKey, PairSettings, PairState, Phase, Scrub,
    SinkKey, SinkSpec, Wrote,
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

/// Copies every inventory to its sinks, all at once, and says how it went.
pub(super) async fn copy(config: &Config, world: &World, cluster: &str) -> Vec<Copied> {
    let guard = Guard::new(config.addresses.clone(), SystemResolver);
    let opener = Opener::new(LocalPaths::Anywhere).with_guard(guard);
    let clock = Arc::new(ProcessClock::start());
    let mut delivery = Delivery::new(Context::new(world.ledger().clone(), clock, &writer()));
    let mut outcomes = Vec::new();
    let mut running = Vec::new();
    for (at, inventory) in config.inventories.iter().enumerate() {
        for (sink, limit) in &inventory.sinks {
            let one = Copied {
                inventory: inventory.key.to_string(),
                key: sink.clone(),
                sink: named(sink),
                rows: world.count(at),
                outcome: Err("it did not end".to_owned()),
            };
            let settings = settings(config, world, (at, sink), cluster, &opener);
            match settings {
                Ok(settings) => {
                    let settings = PairSettings { limit: *limit, ..settings };
                    let key = PairKey { inventory: inventory.key.clone(), sink: sink.clone() };
                    running.push((outcomes.len(), delivery.set(key, settings)));
                    outcomes.push(one);
                }
                Err(error) => outcomes.push(Copied { outcome: Err(error), ..one }),
            }
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

/// How a pair is set up that exports once.
fn settings(
    config: &Config,
    world: &World,
    (at, sink): (usize, &SinkKey),
    cluster: &str,
    opener: &Opener,
) -> Result<PairSettings, String> {
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
    Ok(PairSettings {
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
    })
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

fn written(state: &PairState) -> String {
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

fn named(sink: &SinkKey) -> String {
    match sink.namespace.as_str() {
        "" => sink.name.clone(),
        namespace => format!("{namespace}/{}", sink.name),
    }
}
