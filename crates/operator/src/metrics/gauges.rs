//! How things are, as of the last look at everything.
//!
//! All of it is replaced with each look, so what is gone is not shown.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use kollect_collect::TargetReport;
use kollect_inventory::{TargetKey, schedule::Moment};
use kollect_sinks::{InventoryKey, PairKey, SinkKey};

use super::text::{Float, Page, labels};

/// How things are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Gauges {
    /// Rows in the store.
    pub(crate) rows: usize,
    pub(crate) targets: BTreeMap<TargetKey, TargetGauge>,
    /// Rows of each inventory.
    pub(crate) inventories: BTreeMap<InventoryKey, usize>,
    /// When each copy was last known to be good.
    pub(crate) pairs: BTreeMap<PairKey, Option<Timestamp>>,
    /// Whether each sink is left alone.
    pub(crate) sinks: BTreeMap<SinkKey, bool>,
}

/// How a target is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TargetGauge {
    pub(crate) profile: String,
    pub(crate) is_ready: bool,
    pub(crate) coverage: Coverage,
}

/// How many partitions of a target are known, and how many are not, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Coverage {
    pub(crate) covered: usize,
    pub(crate) uncovered: BTreeMap<&'static str, usize>,
}

impl Coverage {
    /// What a report says. A gap that is about the whole target is one of each
    /// of its partitions, unless that has a gap of its own; where not even the
    /// partitions are known, it counts as one.
    pub(crate) fn of(report: &TargetReport) -> Self {
        let mut coverage = Self::default();
        let whole = report.gaps.get("");
        for namespace in &report.effective {
            match report.gaps.get(namespace).or(whole) {
                None => coverage.covered += 1,
                Some(gap) => *coverage.uncovered.entry(gap.reason.as_str()).or_default() += 1,
            }
        }
        let elsewhere = report.gaps.iter().filter(|(name, _)| !report.effective.contains(*name));
        for (name, gap) in elsewhere {
            if !name.is_empty() || report.effective.is_empty() {
                *coverage.uncovered.entry(gap.reason.as_str()).or_default() += 1;
            }
        }
        coverage
    }
}

impl Gauges {
    /// Writes all of it; `lags` says since when pairs are behind that are.
    pub(super) fn write(
        &self,
        page: &mut Page,
        lags: &BTreeMap<PairKey, Option<Moment>>,
        now: Moment,
    ) {
        page.gauge("kollect_collect_items_total", "Rows in the store.").sample("", self.rows);
        self.write_targets(page);
        let help = "Rows of all inventories together.";
        let all: usize = self.inventories.values().sum();
        page.gauge("kollect_inventory_items_total", help).sample("", all);
        let mut family = page.gauge("kollect_inventory_snapshot_items", "Rows of an inventory.");
        for (InventoryKey { namespace, name }, rows) in &self.inventories {
            let labels = labels(&[("inventory_namespace", namespace), ("inventory_name", name)]);
            family.sample(&labels, rows);
        }
        self.write_pairs(page, lags, now);
        let help = "Whether a sink has failed so often that it is left alone for a while.";
        let mut family = page.gauge("kollect_sink_circuit_open", help);
        for (sink, is_open) in &self.sinks {
            let kind = sink.family.to_string();
            let labels =
                labels(&[("family", &kind), ("namespace", &sink.namespace), ("name", &sink.name)]);
            family.sample(&labels, u8::from(*is_open));
        }
    }

    fn write_targets(&self, page: &mut Page) {
        let named = |target: &TargetKey, more: (&str, &str)| {
            let namespace = target.namespace.as_deref().unwrap_or_default();
            labels(&[("target_namespace", namespace), ("target_name", &target.name), more])
        };
        let mut family = page.gauge("kollect_target_ready", "Whether a target is ready.");
        for (target, gauge) in &self.targets {
            let labels = named(target, ("profile", &gauge.profile));
            family.sample(&labels, u8::from(gauge.is_ready));
        }
        let help = "Namespaces that a target reads, by whether every row of them is known.";
        let mut family = page.gauge("kollect_target_partitions", help);
        for (target, TargetGauge { coverage, .. }) in &self.targets {
            let uncovered: usize = coverage.uncovered.values().sum();
            family.sample(&named(target, ("state", "covered")), coverage.covered);
            family.sample(&named(target, ("state", "uncovered")), uncovered);
        }
        let help = "Namespaces that a target reads and that are not known in full, by the reason.";
        let mut family = page.gauge("kollect_target_uncovered_partitions", help);
        for (target, TargetGauge { coverage, .. }) in &self.targets {
            for (reason, count) in &coverage.uncovered {
                family.sample(&named(target, ("reason", reason)), count);
            }
        }
    }

    fn write_pairs(&self, page: &mut Page, lags: &BTreeMap<PairKey, Option<Moment>>, now: Moment) {
        let named = |PairKey { inventory, sink }: &PairKey| {
            labels(&[
                ("inventory_namespace", &inventory.namespace),
                ("inventory_name", &inventory.name),
                ("sink_family", &sink.family.to_string()),
                ("sink_namespace", &sink.namespace),
                ("sink", &sink.name),
            ])
        };
        let help = "When a copy was last written, or found to be as it should, in Unix time.";
        let mut family = page.gauge("kollect_inventory_last_success_timestamp_seconds", help);
        for (pair, last) in &self.pairs {
            if let Some(last) = last {
                family.sample(&named(pair), Float(last.as_duration().as_secs_f64()));
            }
        }
        let help = "How long the oldest change has waited that a copy does not have; 0 if none.";
        let mut family = page.gauge("kollect_watermark_lag_seconds", help);
        for pair in self.pairs.keys() {
            // A pair that has not begun to speak has just begun.
            let since = lags.get(pair).copied().flatten();
            let lag = since.map_or(Duration::ZERO, |since| now.saturating_sub(since));
            family.sample(&named(pair), Float(lag.as_secs_f64()));
        }
    }
}
