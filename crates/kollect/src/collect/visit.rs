//! One cluster, or one set of files, from its objects to its copies.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use jiff::Timestamp;
use kollect_collect::{Dump, Place, Progress, Survey, connect};
use kollect_sinks::Scrub;
use tokio::task::JoinSet;

use super::{
    bars::Bars,
    config::Config,
    copy::{self, Copied},
    world::{Outcome, World},
};

/// How often somebody who waits is told how far it is.
const OFTEN: Duration = Duration::from_millis(200);

/// Where objects come from.
#[derive(Debug)]
pub(super) enum Source {
    Files { cluster: String, dump: Dump },
    Cluster { cluster: String, place: Place, context: Option<String> },
}

impl Source {
    fn cluster(&self) -> &str {
        match self {
            Self::Files { cluster, .. } | Self::Cluster { cluster, .. } => cluster,
        }
    }
}

/// What is done with rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Keep,
    Copy,
}

/// How a cluster was, and what came of it.
#[derive(Debug)]
pub(super) struct Visit {
    pub(super) cluster: String,
    /// Why nothing came of it, if so.
    pub(super) found: Result<Findings, String>,
}

#[derive(Debug)]
pub(super) struct Findings {
    pub(super) world: Arc<World>,
    /// How many objects there were, if all were counted.
    pub(super) objects: Option<usize>,
    pub(super) outcomes: Vec<Outcome>,
    pub(super) copies: Vec<Copied>,
}

impl Visit {
    /// 0: all is well. 1: something was left out or failed. 2: nothing came of
    /// it.
    pub(super) fn code(&self) -> u8 {
        let Ok(Findings { outcomes, copies, .. }) = &self.found else { return 2 };
        let is_whole = outcomes.iter().all(|one| one.skipped.is_empty() && one.tally.failed == 0)
            && copies.iter().all(|copy| copy.outcome.is_ok());
        let is_something = outcomes.iter().any(|one| one.tally.rows > 0)
            && (copies.is_empty() || copies.iter().any(|copy| copy.outcome.is_ok()));
        match (is_whole, is_something) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        }
    }
}

/// Visits all at once, so that one that does not answer delays no other; in
/// the order of the sources. On a terminal there is a line for each that says
/// how far it is.
pub(super) async fn all(config: &Arc<Config>, sources: Vec<Source>, then: Then) -> Vec<Visit> {
    let mut visits = JoinSet::new();
    let mut bars = Bars::default();
    let mut names = Vec::new();
    for (at, source) in sources.into_iter().enumerate() {
        names.push(source.cluster().to_owned());
        let world = Arc::new(World::new(config, Timestamp::now().as_microsecond()));
        let progress = Arc::new(Progress::default());
        bars.add(source.cluster(), Arc::clone(&world), Arc::clone(&progress));
        let config = Arc::clone(config);
        visits.spawn(async move { (at, one(&config, world, source, (then, progress)).await) });
    }
    let mut done = BTreeMap::new();
    loop {
        tokio::select! {
            ended = visits.join_next() => match ended {
                Some(ended) => {
                    let ended = ended.ok();
                    bars.end(ended.as_ref().map(|(at, _)| *at));
                    done.extend(ended);
                }
                None => break,
            },
            () = tokio::time::sleep(OFTEN) => bars.draw(),
        }
    }
    // One that ended by a bug of ours is said to have failed, not left out.
    let broken = |cluster| Visit { cluster, found: Err("it ended by a bug in Kollect".to_owned()) };
    let all = names.into_iter().enumerate();
    all.map(|(at, cluster)| done.remove(&at).unwrap_or_else(|| broken(cluster))).collect()
}

async fn one(
    config: &Config,
    world: Arc<World>,
    source: Source,
    (then, progress): (Then, Arc<Progress>),
) -> Visit {
    let (cluster, read) = match source {
        Source::Files { cluster, dump } => {
            let outcomes = world.read_dump(config, &dump);
            (cluster, Ok((Some(dump.len()), outcomes)))
        }
        Source::Cluster { cluster, place, context } => {
            let read = live(config, &world, (&place, context.as_deref()), progress).await;
            (cluster, read.map(|outcomes| (None, outcomes)))
        }
    };
    let (objects, outcomes) = match read {
        Ok(read) => read,
        Err(error) => return Visit { cluster, found: Err(error) },
    };
    let copies = match then {
        Then::Keep => Vec::new(),
        Then::Copy => copy::copy(config, &world, &cluster).await,
    };
    Visit { cluster, found: Ok(Findings { world, objects, outcomes, copies }) }
}

async fn live(
    config: &Config,
    world: &World,
    (place, context): (&Place, Option<&str>),
    progress: Arc<Progress>,
) -> Result<Vec<Outcome>, String> {
    let client = connect(place, context).await.map_err(|error| Scrub::default().error(&error))?;
    let survey = Survey::begin(client).await.map_err(|error| Scrub::default().error(&error))?;
    Ok(world.read_cluster(config, &survey.counting(progress)).await)
}
