//! What `/metrics` says: every metric, its name and its labels.
//!
//! Three sources. What happens is counted where it happens: deliveries by an
//! [`Observer`], collection by its own meters, looks at everything by the
//! brain. How things are is set anew by each of those looks, so what is gone
//! disappears. And what profiles ask for is summed row by row as the store
//! changes ([`series`]). Nothing here ever reads all rows to say something, but
//! once when a profile is edited.
//!
//! No label holds the name of an object that is collected, unless a profile
//! asks for it, and then at most two hundred of them are shown.

pub(crate) mod counts;
pub(crate) mod gauges;
mod process;
mod series;
mod text;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kollect_api::Profile;
use kollect_collect::{DISPATCH_BOUNDS, Meters, WatchCounts};
use kollect_inventory::{Witness, schedule::Moment};
use kollect_sinks::{Clock, Ledger, Observer, PairKey, SinkKey, Turn};
use kollect_validate::Kind;
use tokio::sync::watch;

use self::{
    counts::{Counts, Judged},
    gauges::Gauges,
    series::{Recipe, Series, Wanted},
    text::{Page, labels},
};
use crate::{
    lease,
    objects::{Name, Objects},
    plan::{
        Plan,
        target::{AnyTarget, Stance},
    },
};

/// Which program this is.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    pub version: &'static str,
    pub commit: &'static str,
}

/// Everything that is measured; all clones are one.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    build: Build,
    clock: Arc<dyn Clock>,
    /// When the process began, in seconds of the Unix epoch.
    started: f64,
    /// Whether we lead, where somebody else could.
    held: Option<watch::Receiver<bool>>,
    counts: Mutex<Counts>,
    gauges: Mutex<Option<Gauges>>,
    /// Since when pairs are behind.
    lags: Mutex<BTreeMap<PairKey, Option<Moment>>>,
    meters: Meters,
    series: Series,
}

impl Metrics {
    /// Nothing has happened yet. `held` says whether we lead, if that is
    /// competed for.
    pub fn new(build: Build, clock: Arc<dyn Clock>, held: Option<watch::Receiver<bool>>) -> Self {
        let now = clock.timestamp().as_duration().as_secs_f64();
        Self(Arc::new(Inner {
            build,
            started: now - clock.moment().as_secs_f64(),
            clock,
            held,
            counts: Mutex::default(),
            gauges: Mutex::default(),
            lags: Mutex::default(),
            meters: Meters::default(),
            series: Series::default(),
        }))
    }

    /// All of it, in the text format of Prometheus.
    pub fn text(&self) -> String {
        let mut page = Page::default();
        let inner = &self.0;
        let Build { version, commit } = inner.build;
        let build = labels(&[("version", version), ("commit", commit)]);
        page.gauge("kollect_build_info", "Which program this is.").sample(&build, 1);
        if let Some(held) = &inner.held {
            let help = "Whether this process holds the lease.";
            let name = labels(&[("name", lease::NAME)]);
            page.gauge("leader_election_master_status", help)
                .sample(&name, u8::from(*held.borrow()));
        }
        process::write(&mut page, inner.started);
        let now = inner.clock.moment();
        if let Some(gauges) = &*unpoisoned(&inner.gauges) {
            gauges.write(&mut page, &unpoisoned(&inner.lags), now);
        }
        unpoisoned(&inner.counts).write(&mut page, inner.meters.failed());
        collected(&mut page, &inner.meters);
        inner.series.write(&mut page);
        page.text()
    }

    /// A sink of a type was probed.
    pub(crate) fn probed(&self, backend: &str, is_well: bool) {
        unpoisoned(&self.0.counts).probed(backend, is_well);
    }

    /// Where collection counts.
    pub(crate) fn meters(&self) -> Meters {
        self.0.meters.clone()
    }

    /// Who is to be told of every change of a row.
    pub(crate) fn witness(&self) -> Box<dyn Witness> {
        Box::new(self.0.series.clone())
    }

    /// Sums from now on what the profiles of a plan ask for. To be told before
    /// anything is collected for the plan.
    pub(crate) fn follow(&self, plan: &Plan, objects: &Objects, ledger: &Ledger) {
        let mut wanted = Wanted::new();
        for (key, target) in &plan.targets {
            // Its rows go, and with them what they came to.
            if matches!(target.stance, Stance::Withdraw) {
                continue;
            }
            let Some(name) = AnyTarget::of(&target.object).map(AnyTarget::profile) else {
                continue;
            };
            let recipe = || {
                let profile = objects.find::<Profile>(&name.namespace, &name.name);
                profile.map(|profile| Recipe::of(&profile.spec))
            };
            let (_, targets) =
                wanted.entry(name.clone()).or_insert_with(|| (recipe(), BTreeSet::new()));
            targets.insert(key.clone());
        }
        if self.0.series.differs(&wanted) {
            ledger.with(|store| self.0.series.follow(wanted, store));
        }
        let pairs = plan.inventories.values().flat_map(|inventory| &inventory.pairs);
        let backends = pairs.filter_map(|pair| {
            let (_, spec) = pair.spec.as_ref().ok()?;
            Some((pair.sink.clone(), spec.backend()))
        });
        unpoisoned(&self.0.counts).know(backends.collect::<BTreeMap<SinkKey, _>>());
    }

    /// Takes in what a look at everything has found, and how long it took.
    pub(crate) fn looked(
        &self,
        gauges: Gauges,
        judged: BTreeMap<(Kind, Name), Judged>,
        took: Duration,
    ) {
        unpoisoned(&self.0.lags).retain(|pair, _| gauges.pairs.contains_key(pair));
        unpoisoned(&self.0.counts).looked(judged, took);
        *unpoisoned(&self.0.gauges) = Some(gauges);
    }
}

impl Observer for Metrics {
    fn turned(&self, pair: &PairKey, turn: &Turn<'_>) {
        unpoisoned(&self.0.counts).turned(pair, turn);
    }

    fn lags(&self, pair: &PairKey, since: Option<Moment>) {
        unpoisoned(&self.0.lags).insert(pair.clone(), since);
    }
}

/// What collecting has counted.
fn collected(page: &mut Page, meters: &Meters) {
    let watches = meters.watches();
    let mut by_resource =
        |name: &'static str, help: &'static str, is_counter: bool, of: fn(&WatchCounts) -> u64| {
            let mut family =
                if is_counter { page.counter(name, help) } else { page.gauge(name, help) };
            for (key, counts) in &watches {
                let labels = labels(&[
                    ("group", &key.group),
                    ("version", &key.version),
                    ("resource", &key.resource),
                ]);
                family.sample(&labels, of(counts));
            }
        };
    let help = "Whether a resource is watched in the whole cluster by one watch.";
    let name = "kollect_informer_cluster_wide_scope";
    by_resource(name, help, false, |counts| u64::from(counts.is_everywhere));
    let help = "Objects that made a row that was known already.";
    by_resource("kollect_informer_resync_dispatches_total", help, true, |counts| counts.unchanged);
    let help = "Objects of namespaces that a target does not want.";
    by_resource("kollect_collect_namespace_mismatch_total", help, true, |counts| counts.elsewhere);
    let help = "Objects that the API server has sent.";
    by_resource("kollect_watch_objects_total", help, true, |counts| counts.objects);
    let help = "Lists that have ended, those at the beginning of watches included.";
    by_resource("kollect_watch_lists_total", help, true, |counts| counts.lists);
    let dispatches = meters.dispatches();
    let help = "How long an object takes from its bytes to the store.";
    page.histogram("kollect_collect_dispatch_duration_seconds", help).spread(
        "",
        (&DISPATCH_BOUNDS, &dispatches.counts),
        dispatches.total.as_secs_f64(),
    );
    let (known, asked) = meters.rights();
    let help = "Rights that matter, by whether they were known or had to be asked for.";
    let mut family = page.counter("kollect_access_cache_total", help);
    family.sample(&labels(&[("result", "hit")]), known);
    family.sample(&labels(&[("result", "miss")]), asked);
}

/// What a panic left half done is a wrong number at worst.
fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
