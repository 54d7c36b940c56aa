//! What inventories say about themselves.

mod copy;

use std::{collections::BTreeMap, time::Duration};

use jiff::{SignedDuration, Timestamp};
use kollect_api::{
    ClusterInventoryStatus, Coverage, InventoryStatus, NamespaceShard, SinkExport, TargetSummary,
    Watermark,
};
use kollect_inventory::{Shard, schedule::ErrorClass};
use kollect_sinks::{PairState, SinkKey};
use kollect_validate::Object;

use self::copy::Verdict;
use super::{Conditions, list};
use crate::plan::{
    Trouble,
    inventory::{InventoryPlan, PairPlan},
};

/// So many targets are summed up by name.
const MOST_TARGETS: usize = 100;
/// So many namespaces of a rollup are.
const MOST_SHARDS: usize = 100;
/// So much of what a copy lacks is repeated with it.
const MOST_LACKING: usize = 3;
/// A cluster inventory may be without targets for so long after it was made.
const TARGETS_COME: Duration = Duration::from_mins(5);

/// What is known of an inventory beside its plan.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Its rows, once it is known which those are.
    pub(crate) rows: Option<usize>,
    pub(crate) targets: Vec<TargetFacts>,
    /// How its copies are, or why there is none.
    pub(crate) pairs: BTreeMap<SinkKey, Result<PairState, Trouble>>,
    pub(crate) coverage: (Vec<Coverage>, Option<i64>),
    pub(crate) shards: Vec<Shard>,
    /// Whether the process has just begun.
    pub(crate) is_young: bool,
}

/// What is known of one of its targets.
#[derive(Clone, Debug, Default)]
pub(crate) struct TargetFacts {
    pub(crate) name: String,
    /// Its rows, once they are known.
    pub(crate) rows: Option<usize>,
    /// Whether it collects, once that is known.
    pub(crate) is_well: Option<bool>,
}

/// One copy with what is said about it.
type Judged<'a> = (&'a PairPlan, Verdict);

/// The status that an inventory of either kind should have.
pub(crate) fn status(plan: &InventoryPlan, facts: &Facts, now: Timestamp) -> InventoryStatus {
    let before = before(&plan.object);
    let generation = plan.object.meta().generation;
    let is_cluster = matches!(*plan.object, Object::ClusterInventory(_));
    let mut conditions = Conditions::new(&before.conditions, generation, now);
    // R22: after a restart the old conditions stand for a while.
    let stands = facts.is_young && before.observed_generation == generation;
    let mut verdicts = Vec::new();
    let mut exports = Vec::new();
    for pair in &plan.pairs {
        let name = copy::name(&pair.sink);
        let known = before.sink_exports.iter().find(|known| known.name == name);
        let state = facts.pairs.get(&pair.sink);
        let verdict = copy::verdict(state, known.filter(|_| stands));
        let (coverage, coverage_total) = &facts.coverage;
        // All copies lack the same; the inventory says it in full.
        let coverage = coverage.iter().take(MOST_LACKING).cloned().collect();
        let entry = copy::entry(pair, &verdict, (state, known), (is_cluster, now));
        exports.push(SinkExport { coverage, coverage_total: *coverage_total, ..entry });
        verdicts.push((pair, verdict));
    }
    if let Some(Trouble { reason, message }) = &plan.trouble {
        conditions.blocked(reason, message);
        conditions.set("Synced", false, reason, message);
    } else {
        overall(&verdicts, &mut conditions, is_cluster);
        if is_cluster {
            targets(plan, facts, &mut conditions);
        }
    }
    let (coverage, coverage_total) = facts.coverage.clone();
    InventoryStatus {
        conditions: conditions.done(),
        observed_generation: generation,
        item_count: facts.rows.and_then(|rows| i64::try_from(rows).ok()).or(before.item_count),
        last_export_time: exports
            .iter()
            .filter_map(|one| one.last_export_time.clone())
            .max_by_key(|time| time.0),
        watermark: lowest(&exports),
        sink_exports: exports,
        targets: facts.targets.iter().take(MOST_TARGETS).map(|one| summary(one, &before)).collect(),
        coverage,
        coverage_total,
    }
}

/// The status that a cluster inventory should have.
pub(crate) fn of_cluster(
    plan: &InventoryPlan,
    facts: &Facts,
    now: Timestamp,
) -> ClusterInventoryStatus {
    let count = |number: usize| i64::try_from(number).ok();
    let known = match &*plan.object {
        Object::ClusterInventory(one) => one.status.clone().unwrap_or_default(),
        _ => ClusterInventoryStatus::default(),
    };
    let inventory = status(plan, facts, now);
    if facts.rows.is_none() {
        return ClusterInventoryStatus { inventory, ..known };
    }
    let shard = |shard: &Shard| NamespaceShard {
        namespace: shard.namespace.clone(),
        item_count: count(shard.content.rows),
        target_count: count(shard.targets),
        checksum: Some(format!("sum128:{}", shard.content.digest)),
    };
    ClusterInventoryStatus {
        inventory,
        target_count: count(facts.targets.len()),
        namespace_shard_count: count(facts.shards.len()),
        namespace_shards: facts.shards.iter().take(MOST_SHARDS).map(shard).collect(),
    }
}

fn before(object: &Object) -> InventoryStatus {
    match object {
        Object::Inventory(one) => one.status.clone().unwrap_or_default(),
        Object::ClusterInventory(one) => {
            one.status.clone().map(|status| status.inventory).unwrap_or_default()
        }
        _ => InventoryStatus::default(),
    }
}

fn summary(target: &TargetFacts, before: &InventoryStatus) -> TargetSummary {
    let known = before.targets.iter().find(|known| known.name == target.name);
    let rows = target.rows.and_then(|rows| i64::try_from(rows).ok());
    TargetSummary {
        name: target.name.clone(),
        item_count: rows.or_else(|| known?.item_count),
        ready: target.is_well.or_else(|| known?.ready),
    }
}

/// What every sink has acknowledged.
fn lowest(exports: &[SinkExport]) -> Option<Watermark> {
    let marks: Option<Vec<_>> = exports.iter().map(|export| export.watermark.as_ref()).collect();
    marks?.into_iter().min_by_key(|mark| mark.sequence).cloned()
}

/// What all copies together come to.
fn overall(verdicts: &[Judged<'_>], conditions: &mut Conditions<'_>, is_cluster: bool) {
    if verdicts.is_empty() {
        let reason = if is_cluster { "RolledUp" } else { "NoExport" };
        let message = "no sink is named";
        conditions.set("Ready", true, reason, message);
        conditions.set("Synced", true, reason, message);
        conditions.set("SinkReachable", true, "NoSinksConfigured", message);
        return;
    }
    let synced = verdicts.iter().filter(|(_, verdict)| verdict.is_synced).count();
    if synced == verdicts.len() {
        let message = format!("{synced} of {synced} sinks have acknowledged every row");
        for name in ["Ready", "Synced"] {
            conditions.set(name, true, "Exported", &message);
        }
        conditions.set("SinkReachable", true, "ExportSucceeded", &message);
        if is_cluster {
            conditions.set("ExportSucceeded", true, "Exported", &message);
        }
        return;
    }
    let message = words(verdicts.iter().filter(|(_, verdict)| !verdict.is_synced));
    let is_partial = verdicts.iter().any(|(_, verdict)| verdict.reason == "PartiallySynced");
    let reason = if synced > 0 || is_partial { "PartiallySynced" } else { "Progressing" };
    conditions.set("Synced", false, reason, &message);
    let failed: Vec<_> = verdicts.iter().filter(|(_, verdict)| verdict.failed()).collect();
    if failed.len() < verdicts.len() {
        conditions.set("Ready", failed.is_empty() || synced > 0, reason, &message);
    } else {
        conditions.blocked(worst(&failed), &message);
    }
    reachable(verdicts, &failed, conditions);
    if is_cluster && (synced > 0 || !failed.is_empty()) {
        let reason = if synced > 0 { "PartiallySynced" } else { worst(&failed) };
        conditions.set("ExportSucceeded", synced > 0, reason, &message);
    }
}

/// Whether the sinks answer. What an export has found out is newer than any
/// probe.
fn reachable(verdicts: &[Judged<'_>], failed: &[&Judged<'_>], conditions: &mut Conditions<'_>) {
    if let Some((_, verdict)) = failed.first() {
        let message = words(failed.iter().copied());
        return conditions.set("SinkReachable", false, &verdict.reason, &message);
    }
    let mut waiting = verdicts.iter().filter(|(_, verdict)| !verdict.is_synced);
    let unverified = waiting.find_map(|(pair, _)| pair.unreachable());
    match unverified {
        Some(Trouble { reason, message }) => {
            conditions.set("SinkReachable", false, reason, &message);
        }
        None => conditions.set("SinkReachable", true, "SinksReachable", "no sink has refused"),
    }
}

/// The reason that speaks for copies all of which have failed.
fn worst<'v>(failed: &[&'v Judged<'_>]) -> &'v str {
    let is_terminal = failed.iter().all(|(_, verdict)| verdict.class == Some(ErrorClass::Terminal));
    let own = failed.iter().find(|(_, verdict)| verdict.reason != "ExportFailed");
    let reason = if is_terminal { "ExportTerminal" } else { "Progressing" };
    own.map_or(reason, |(_, verdict)| &verdict.reason)
}

fn words<'a, 'p: 'a>(verdicts: impl Iterator<Item = &'a Judged<'p>>) -> String {
    let one =
        |(pair, verdict): &Judged<'_>| format!("{}: {}", copy::name(&pair.sink), verdict.message);
    verdicts.map(one).collect::<Vec<_>>().join("; ")
}

/// R4: targets that are not well are told of, and hold nobody back.
fn targets(plan: &InventoryPlan, facts: &Facts, conditions: &mut Conditions<'_>) {
    if conditions.is("Degraded") {
        return;
    }
    let made = plan.object.meta().creation_timestamp.as_ref();
    let age = made.map(|made| conditions.now().duration_since(made.0));
    if facts.targets.is_empty() {
        let limit = SignedDuration::try_from(TARGETS_COME).unwrap_or(SignedDuration::MAX);
        if facts.rows.is_some() && age.is_some_and(|age| age >= limit) {
            conditions.blocked("NoTargets", "no cluster target has rows for this inventory");
        }
        return;
    }
    let unwell = facts.targets.iter().filter(|target| target.is_well == Some(false));
    let names: Vec<_> = unwell.map(|target| target.name.as_str()).collect();
    if !names.is_empty() {
        let message = format!("not collecting as they should: {}", list(&names));
        conditions.blocked("TargetDegraded", &message);
    }
}

#[cfg(test)]
mod tests;
