//! What has happened so far, counted.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use kollect_inventory::schedule::ErrorClass;
use kollect_sinks::{PairKey, SinkKey, Turn, Work};
use kollect_validate::Kind;

use super::text::{Page, labels};
use crate::objects::Name;

/// Upper bounds of how long a look at everything takes, in seconds.
const LOOKS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
/// The same of exports, which take longer.
const EXPORTS: [f64; 14] =
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0];

/// The kinds whose troubles are counted.
const KINDS: [Kind; 4] =
    [Kind::Target, Kind::ClusterTarget, Kind::Inventory, Kind::ClusterInventory];

/// What can be done about an error, in the words of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Transient,
    Terminal,
    Forbidden,
}

impl Class {
    const ALL: [Self; 3] = [Self::Transient, Self::Terminal, Self::Forbidden];

    fn as_str(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Terminal => "terminal",
            Self::Forbidden => "forbidden",
        }
    }
}

/// Counts by labels as they are shown.
type Tally = BTreeMap<String, u64>;

/// How a look at one object ended, and what it resolved on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) is_well: bool,
    /// Whether it is being found out how it is. What was wrong before has not
    /// ended then.
    pub(crate) is_pending: bool,
    /// What is wrong now, each with a word that tells it from others.
    pub(crate) troubles: BTreeSet<(Class, String)>,
    /// References of each type, and what came of them.
    pub(crate) references: Vec<(&'static str, &'static str)>,
}

/// Everything that is counted here.
#[derive(Debug)]
pub(super) struct Counts {
    reconciles: Tally,
    references: Tally,
    probes: Tally,
    errors: BTreeMap<(&'static str, Class), u64>,
    sink_errors: BTreeMap<Class, u64>,
    bytes: BTreeMap<&'static str, u64>,
    exports: BTreeMap<&'static str, Spread<14>>,
    looks: Spread<11>,
    /// What was wrong with each object when it was last looked at.
    troubles: BTreeMap<(Kind, Name), BTreeSet<(Class, String)>>,
    /// What each sink is.
    backends: BTreeMap<SinkKey, &'static str>,
}

impl Default for Counts {
    /// What can go wrong has gone wrong zero times: the first time is seen as a
    /// change only beside a zero.
    fn default() -> Self {
        let kinds = KINDS.iter().map(|kind| kind.name());
        let errors = kinds.flat_map(|kind| Class::ALL.map(|class| ((kind, class), 0)));
        Self {
            reconciles: Tally::new(),
            references: Tally::new(),
            probes: Tally::new(),
            errors: errors.collect(),
            sink_errors: Class::ALL.map(|class| (class, 0)).into(),
            bytes: BTreeMap::new(),
            exports: BTreeMap::new(),
            looks: Spread::default(),
            troubles: BTreeMap::new(),
            backends: BTreeMap::new(),
        }
    }
}

impl Counts {
    /// The sinks that there are now.
    pub(super) fn know(&mut self, backends: BTreeMap<SinkKey, &'static str>) {
        self.backends = backends;
    }

    /// A pair has tried to do something.
    pub(super) fn turned(&mut self, pair: &PairKey, turn: &Turn<'_>) {
        let backend = self.backends.get(&pair.sink).copied().unwrap_or("unknown");
        if turn.work != Work::Verify {
            self.exports.entry(backend).or_default().add(&EXPORTS, turn.took);
        }
        match &turn.outcome {
            Ok(receipt) => *self.bytes.entry(backend).or_default() += receipt.bytes,
            Err(failed) => {
                let class = match failed.class {
                    _ if failed.is_refused => Class::Forbidden,
                    ErrorClass::Transient => Class::Transient,
                    ErrorClass::Terminal => Class::Terminal,
                };
                let kind = match pair.inventory.namespace.as_str() {
                    "cluster" => Kind::ClusterInventory,
                    _ => Kind::Inventory,
                };
                *self.sink_errors.entry(class).or_default() += 1;
                *self.errors.entry((kind.name(), class)).or_default() += 1;
            }
        }
    }

    /// Everything was looked at, which took so long. A trouble counts when it
    /// begins; those of objects that are gone are forgotten.
    pub(super) fn looked(&mut self, judged: BTreeMap<(Kind, Name), Judged>, took: Duration) {
        self.looks.add(&LOOKS, took);
        let mut before = std::mem::take(&mut self.troubles);
        for (key, Judged { is_well, is_pending, mut troubles, references }) in judged {
            let kind = key.0.name();
            let (controller, result) =
                (kind.to_lowercase(), if is_well { "success" } else { "failure" });
            let reconcile = labels(&[("controller", &controller), ("result", result)]);
            *self.reconciles.entry(reconcile).or_default() += 1;
            for (reference, result) in references {
                let reference =
                    labels(&[("kind", kind), ("ref_type", reference), ("result", result)]);
                *self.references.entry(reference).or_default() += 1;
            }
            let known = before.remove(&key).unwrap_or_default();
            for (class, _) in troubles.difference(&known) {
                *self.errors.entry((kind, *class)).or_default() += 1;
            }
            if is_pending {
                troubles.extend(known);
            }
            self.troubles.insert(key, troubles);
        }
    }

    /// A sink was probed.
    pub(super) fn probed(&mut self, backend: &str, is_well: bool) {
        let result = if is_well { "success" } else { "failure" };
        *self.probes.entry(labels(&[("type", backend), ("result", result)])).or_default() += 1;
    }

    /// Writes all of it. Objects that gave no row are counted elsewhere, for
    /// targets and cluster targets.
    pub(super) fn write(&self, page: &mut Page, (failed, of_cluster): (u64, u64)) {
        let help = "Looks at an object, by whether it was found well.";
        tally(page, "kollect_reconcile_total", help, &self.reconciles);
        let help = "Troubles that began, failed exports, and objects that gave no row.";
        let mut family = page.counter("kollect_reconcile_errors_total", help);
        for ((kind, class), count) in &self.errors {
            let more = match (*kind, class) {
                ("KollectTarget", Class::Terminal) => failed,
                ("KollectClusterTarget", Class::Terminal) => of_cluster,
                _ => 0,
            };
            let labels = labels(&[("kind", kind), ("error_class", class.as_str())]);
            family.sample(&labels, count + more);
        }
        let help = "How long a look at everything takes.";
        let mut family = page.histogram("kollect_reconcile_duration_seconds", help);
        let all = labels(&[("controller", "operator")]);
        self.looks.write(&mut family, &all, &LOOKS);
        let help = "References to other objects, by what came of looking them up.";
        tally(page, "kollect_static_ref_resolution_total", help, &self.references);
        let help = "How long exports take, those that fail included.";
        let mut family = page.histogram("kollect_export_duration_seconds", help);
        for (backend, spread) in &self.exports {
            spread.write(&mut family, &labels(&[("sink_type", backend)]), &EXPORTS);
        }
        let help = "Bytes of rows and records that sinks have acknowledged.";
        let mut family = page.counter("kollect_export_bytes_total", help);
        for (backend, bytes) in &self.bytes {
            family.sample(&labels(&[("sink_type", backend)]), bytes);
        }
        let help = "Exports that failed.";
        let mut family = page.counter("kollect_sink_errors_total", help);
        for (class, count) in &self.sink_errors {
            family.sample(&labels(&[("reason", class.as_str())]), count);
        }
        tally(page, "kollect_sink_connection_test_total", "Probes of sinks.", &self.probes);
    }
}

fn tally(page: &mut Page, name: &'static str, help: &'static str, tally: &Tally) {
    let mut family = page.counter(name, help);
    for (labels, count) in tally {
        family.sample(labels, count);
    }
}

/// How long something took, how often. The last count is of what took longer
/// than the last bound.
#[derive(Clone, Copy, Debug)]
struct Spread<const BOUNDS: usize> {
    counts: [u64; BOUNDS],
    longer: u64,
    total: Duration,
}

impl<const BOUNDS: usize> Default for Spread<BOUNDS> {
    fn default() -> Self {
        Self { counts: [0; BOUNDS], longer: 0, total: Duration::ZERO }
    }
}

impl<const BOUNDS: usize> Spread<BOUNDS> {
    fn add(&mut self, bounds: &[f64; BOUNDS], took: Duration) {
        let at = bounds.iter().position(|bound| took.as_secs_f64() <= *bound);
        *at.and_then(|at| self.counts.get_mut(at)).unwrap_or(&mut self.longer) += 1;
        self.total += took;
    }

    fn write(&self, family: &mut super::text::Family<'_>, labels: &str, bounds: &[f64; BOUNDS]) {
        let counts = [self.counts.as_slice(), &[self.longer]].concat();
        family.spread(labels, (bounds, &counts), self.total.as_secs_f64());
    }
}

#[cfg(test)]
mod tests;
