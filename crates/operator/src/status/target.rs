//! What targets say about themselves.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kollect_api::TargetStatus;
use kollect_collect::{FailedObject, Gap, Reason, TargetReport};

use super::{Conditions, list, seconds};
use crate::plan::{
    Trouble,
    target::{AnyTarget, TargetPlan},
};

/// So many namespaces are listed; how many there are is said in words too.
const MOST_NAMESPACES: usize = 500;

/// What is known of a target beside its plan.
#[derive(Debug, Default)]
pub(crate) struct Facts<'a> {
    pub(crate) report: Option<&'a TargetReport>,
    /// Rows that are held, if that could be counted.
    pub(crate) rows: Option<usize>,
    /// Objects that give no row, and the first of them.
    pub(crate) failed: (u64, Vec<FailedObject>),
    /// The sinks of its namespace, if it is in one.
    pub(crate) sinks: Option<Sinks>,
    /// Whether the process has just begun.
    pub(crate) is_young: bool,
}

/// Whether the sinks of a namespace are there and answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sinks {
    None,
    Reachable,
    /// What is wrong with the first that is not.
    Not(Trouble),
}

impl Facts<'_> {
    /// What keeps a target from collecting as it should.
    pub(crate) fn trouble(&self, plan: &TargetPlan) -> Option<Trouble> {
        plan.trouble.clone().or_else(|| in_the_way(self))
    }

    /// Whether it has not been read what there is.
    pub(crate) fn is_pending(&self) -> bool {
        is_pending(self.report)
    }
}

/// The status that a target should have.
pub(crate) fn status(plan: &TargetPlan, facts: &Facts<'_>, now: Timestamp) -> TargetStatus {
    let Some(target) = AnyTarget::of(&plan.object) else { return TargetStatus::default() };
    let nothing = TargetStatus::default();
    let before = match target {
        AnyTarget::Namespaced(target) => target.status.as_ref().unwrap_or(&nothing),
        AnyTarget::Cluster(target) => target.status.as_ref().unwrap_or(&nothing),
    };
    let generation = plan.object.meta().generation;
    let trouble = facts.trouble(plan);
    // R22: after a restart the old word stands for a while.
    let stands = facts.is_young && before.observed_generation == generation;
    if trouble.is_none() && facts.is_pending() && stands && !before.conditions.is_empty() {
        return before.clone();
    }
    let mut conditions = Conditions::new(&before.conditions, generation, now);
    match &trouble {
        Some(Trouble { reason, message }) => {
            conditions.blocked(reason, message);
            conditions.set("Synced", false, reason, message);
        }
        None if facts.is_pending() => {
            let message = "what there is has not been read yet";
            conditions.set("Ready", false, "Progressing", message);
            conditions.set("Synced", false, "Progressing", message);
        }
        None => collecting(facts, &mut conditions),
    }
    reachable(facts.sinks.as_ref(), &mut conditions);
    let names = |of: fn(&TargetReport) -> Vec<String>| facts.report.map(of).unwrap_or_default();
    let count = facts.rows.and_then(|rows| i64::try_from(rows).ok()).or(before.collected_count);
    let counted = if count == before.collected_count {
        before.collected_count_updated_at.clone()
    } else {
        Some(Time(seconds(now)))
    };
    let (failures, first) = &facts.failed;
    TargetStatus {
        conditions: conditions.done(),
        observed_generation: generation,
        extraction_failures: i64::try_from(*failures).ok().filter(|count| *count > 0),
        last_extraction_error: first.first().map(said),
        collected_count: count,
        collected_count_updated_at: counted,
        matched_namespaces: names(|report| named(&report.matched)),
        effective_namespaces: names(|report| named(&report.effective)),
        active_resource_rules: i64::try_from(target.rules()).ok().filter(|rules| *rules > 0),
    }
}

fn reachable(sinks: Option<&Sinks>, conditions: &mut Conditions<'_>) {
    match sinks {
        None => {}
        Some(Sinks::None) => {
            let message = "no inventory of the namespace names a sink";
            conditions.set("SinkReachable", true, "NoSinksInNamespace", message);
        }
        Some(Sinks::Reachable) => {
            let message = "every sink of the namespace's inventories is there";
            conditions.set("SinkReachable", true, "SinksReachable", message);
        }
        Some(Sinks::Not(Trouble { reason, message })) => {
            conditions.set("SinkReachable", false, reason, message);
        }
    }
}

fn collecting(facts: &Facts<'_>, conditions: &mut Conditions<'_>) {
    let rows = facts.rows.unwrap_or_default();
    let places = facts.report.map_or(0, |report| report.effective.len());
    let message = format!("{rows} rows from {places} namespaces");
    conditions.set("Ready", true, "Collecting", &message);
    match facts.report.and_then(forbidden) {
        Some(message) => conditions.set("Synced", true, "ScopeForbidden", &message),
        None => conditions.set("Synced", true, "Collecting", &message),
    }
}

fn said(FailedObject { namespace, name, reason }: &FailedObject) -> String {
    format!("{namespace}/{name}: {reason}")
}

/// Namespaces for people; kinds without any have none.
fn named(namespaces: &std::collections::BTreeSet<String>) -> Vec<String> {
    let named = namespaces.iter().filter(|name| !name.is_empty());
    named.take(MOST_NAMESPACES).cloned().collect()
}

fn is_pending(report: Option<&TargetReport>) -> bool {
    report.is_none_or(|report| report.gaps.values().any(|gap| gap.reason == Reason::Pending))
}

/// What stops a target as a whole.
fn in_the_way(facts: &Facts<'_>) -> Option<Trouble> {
    let gaps = facts.report.map(|report| &report.gaps);
    if let Some(gap) = gaps.and_then(|gaps| gaps.get("")) {
        let reason = match gap.reason {
            Reason::Pending | Reason::Doubted => None,
            Reason::AccessCheckFailed => Some("AccessCheckFailed"),
            Reason::Denied => Some("ScopeGVKDenied"),
            _ => Some("InformerRegistrationFailed"),
        };
        if let Some(reason) = reason {
            return Some(Trouble::new(reason, gap.message.clone()));
        }
    }
    if let Some((_, gap)) = gaps.and_then(|gaps| of_reason(gaps, Reason::AccessCheckFailed)) {
        return Some(Trouble::new("AccessCheckFailed", gap.message.clone()));
    }
    let lost = [Reason::Unreachable, Reason::Unauthorized, Reason::NotServed, Reason::Namespaces];
    let lost = lost.into_iter().find_map(|reason| of_reason(gaps?, reason));
    if let Some((namespace, gap)) = lost {
        let message = format!("{namespace}: {}", gap.message);
        return Some(Trouble::new("InformerRegistrationFailed", message));
    }
    let (count, objects) = &facts.failed;
    let first = objects.first()?;
    let message = format!("{count} objects give no row; the first: {}", said(first));
    Some(Trouble::new("ExtractionFailed", message))
}

fn of_reason(gaps: &BTreeMap<String, Gap>, reason: Reason) -> Option<(&String, &Gap)> {
    gaps.iter().find(|(_, gap)| gap.reason == reason)
}

/// The namespaces that may not be read, if there are any.
fn forbidden(report: &TargetReport) -> Option<String> {
    let gaps = report.gaps.iter().filter(|(_, gap)| gap.reason == Reason::Forbidden);
    let names: Vec<_> = gaps.map(|(name, _)| name.as_str()).collect();
    (!names.is_empty()).then(|| format!("skipped:forbidden in {}", list(&names)))
}
