//! Where a target has rows, as far as that can be known. Pure.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use kollect_extract::select::{Defaults, NamespaceSets};

use super::{
    census::{Census, Roll, Universe},
    kinds::Presence,
    report::{Reason, TargetReport, Words},
};
use crate::{assignment::Assignment, discovery::Scope};

/// What is known of the namespaces of a server.
#[derive(Clone, Debug)]
pub(super) struct Namespaces {
    pub(super) universe: Arc<Universe>,
    standing: Standing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Standing {
    /// Nothing, for this reason.
    Unknown(Words),
    /// These are all.
    All,
    /// There may be others, which cannot be known for this reason; of those
    /// that are named, some could not be read.
    Named {
        reason: String,
        unread: BTreeMap<String, String>,
        asked: BTreeSet<String>,
        /// Whether the others do not matter.
        is_confined: bool,
    },
}

impl Namespaces {
    /// What a census and a roll call come to.
    pub(super) fn of(census: &Census, roll: &Roll, confined_to: &BTreeSet<String>) -> Self {
        let is_asked = |name: &String| {
            roll.known.contains_key(name)
                || roll.absent.contains(name)
                || roll.unread.contains_key(name)
        };
        let reason = match (&census.refused, &census.known) {
            _ if !confined_to.is_empty() => {
                if !confined_to.iter().all(is_asked) {
                    let standing = Standing::Unknown(pending());
                    return Self { universe: Arc::default(), standing };
                }
                "others than those named are not looked at".to_owned()
            }
            (Some(refused), _) => refused.clone(),
            (None, Some(known)) => {
                return Self { universe: Arc::clone(known), standing: Standing::All };
            }
            (None, None) => {
                let trouble = census.trouble.clone().map(|text| (Reason::Namespaces, text));
                let standing = Standing::Unknown(trouble.unwrap_or_else(pending));
                return Self { universe: Arc::default(), standing };
            }
        };
        let mut universe = census.known.as_deref().cloned().unwrap_or_default();
        universe.extend(roll.known.clone());
        universe.retain(|name, _| !roll.absent.contains(name));
        for name in roll.unread.keys() {
            // Nothing is known of it, so it counts as one without labels.
            universe.entry(name.clone()).or_default();
        }
        let asked = roll.known.keys().chain(&roll.absent).chain(roll.unread.keys()).cloned();
        let (asked, unread) = (asked.collect(), roll.unread.clone());
        let is_confined = !confined_to.is_empty();
        let standing = Standing::Named { reason, unread, asked, is_confined };
        Self { universe: Arc::new(universe), standing }
    }

    /// All that there are, or may be looked at, if that is known.
    pub(super) fn all(&self) -> Option<Arc<Universe>> {
        let is_known = match &self.standing {
            Standing::All => true,
            Standing::Unknown(_) => false,
            Standing::Named { unread, is_confined, .. } => *is_confined && unread.is_empty(),
        };
        is_known.then(|| Arc::clone(&self.universe))
    }

    /// The namespaces of an assignment; and what is not known of them, by name
    /// or for all of them. Nothing if it cannot be said.
    fn of_target(
        &self,
        assignment: &Assignment,
        defaults: &Defaults,
        confined_to: &BTreeSet<String>,
    ) -> Result<(NamespaceSets, BTreeMap<String, Words>), Words> {
        match &self.standing {
            Standing::Unknown(words) => Err(words.clone()),
            Standing::All => Ok((assignment.chosen(defaults, &self.universe), BTreeMap::new())),
            Standing::Named { reason, unread, asked, .. } => {
                let names = match assignment.names(defaults) {
                    names if names.is_empty() => confined_to.clone(),
                    names if confined_to.is_empty() => names,
                    names => names.intersection(confined_to).cloned().collect(),
                };
                if names.is_empty() && confined_to.is_empty() {
                    let text = format!("which namespaces there are is not known: {reason}");
                    return Err((Reason::Namespaces, text));
                }
                if !names.is_subset(asked) {
                    return Err(pending());
                }
                let is_meant = |(name, _): &(&String, _)| names.contains(*name);
                let universe = self.universe.iter().filter(is_meant);
                let universe = universe.map(|(name, about)| (name.clone(), about.clone()));
                let sets = assignment.chosen(defaults, &universe.collect());
                let unread = unread.iter().filter(|(name, _)| names.contains(*name));
                let gap = |(name, text): (&String, &String)| {
                    (name.clone(), (Reason::Namespaces, text.clone()))
                };
                Ok((sets, unread.map(gap).collect()))
            }
        }
    }
}

fn pending() -> Words {
    (Reason::Pending, "the namespaces have not been read yet".to_owned())
}

/// Where a target has rows, and what is not known about that.
#[derive(Clone, Debug)]
pub(super) struct Placement {
    pub(super) report: TargetReport,
    pub(super) gaps: BTreeMap<String, Words>,
    /// Whether rows elsewhere have to go.
    pub(super) is_decided: bool,
}

impl Placement {
    /// Where a target has rows.
    pub(super) fn of(
        assignment: &Assignment,
        kind: Presence,
        namespaces: &Namespaces,
        defaults: &Defaults,
        confined_to: &BTreeSet<String>,
    ) -> Self {
        let (words, is_definite) = match &kind {
            Presence::Unasked => (Some((Reason::Pending, String::new())), false),
            Presence::Served(resource) if resource.scope == Scope::Cluster => {
                if let Some(text) = assignment.is_kept_in() {
                    let mut placement = Self::nowhere(kind, true);
                    placement.gaps.insert(String::new(), (Reason::Denied, text));
                    return placement;
                }
                return Self::nowhere(kind, true).everywhere();
            }
            Presence::Served(_) => (None, false),
            Presence::Absent { reason, is_definite } => {
                (Some((Reason::NotServed, reason.clone())), *is_definite)
            }
            Presence::Unknown(reason) => (Some((Reason::NotServed, reason.clone())), false),
        };
        let mut placement = match namespaces.of_target(assignment, defaults, confined_to) {
            _ if is_definite => Self::nowhere(kind, true),
            Err(words) => {
                let mut placement = Self::nowhere(kind, false);
                placement.gaps.insert(String::new(), words);
                placement
            }
            Ok((NamespaceSets { matched, effective }, gaps)) => {
                let is_settled = gaps.is_empty();
                let Self { report, .. } = Self::nowhere(kind, true);
                let report = TargetReport { matched, effective, is_settled, ..report };
                Self { report, gaps, is_decided: true }
            }
        };
        if let Some(words) = words {
            placement.gaps.insert(String::new(), words);
            // Its objects may or may not be in namespaces; what others have
            // elsewhere must not wait for that to be known.
            if placement.is_decided && !is_definite {
                placement.report.effective.insert(String::new());
            }
        }
        placement
    }

    /// The same of a kind without namespaces.
    fn everywhere(mut self) -> Self {
        self.report.matched.insert(String::new());
        self.report.effective.insert(String::new());
        self
    }

    fn nowhere(kind: Presence, is_decided: bool) -> Self {
        let report = TargetReport {
            kind,
            matched: BTreeSet::new(),
            effective: BTreeSet::new(),
            gaps: BTreeMap::new(),
            is_settled: is_decided,
        };
        Self { report, gaps: BTreeMap::new(), is_decided }
    }
}
