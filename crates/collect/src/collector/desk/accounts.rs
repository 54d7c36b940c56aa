//! What is said about how it goes.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use kollect_inventory::TargetKey;
use tokio::time::Instant;

use super::Desk;
use crate::{
    collector::{
        census::Universe,
        kinds::Presence,
        placement::Placement,
        report::{Reason, Report, Words, refusal},
        stand::Stand,
    },
    intake::Keeper,
    rights::Answer,
    watch_set::{Post, WatchSet},
};

impl<K: Keeper + Clone + Send + 'static> Desk<K> {
    /// Says how it goes, and uncovers what nobody reads.
    pub(super) fn reports(
        &mut self,
        placements: BTreeMap<TargetKey, Placement>,
        set: &WatchSet,
        namespaces: Option<Arc<Universe>>,
        now: Instant,
    ) {
        let mut report = Report { order: self.ordered, namespaces, ..Report::default() };
        for (target, Placement { report: placed, gaps, .. }) in placements {
            let before = self.report.targets.get(&target);
            let mut all = match &placed.kind {
                Presence::Served(_) => self.gaps(&target, &placed.effective, set),
                _ => BTreeMap::new(),
            };
            all.extend(gaps);
            let placed = placed.with_gaps(all, before, now);
            let is_new = |name: &String| {
                let known = before.and_then(|before| before.gaps.get(name));
                known.map(|gap| gap.reason) != placed.gaps.get(name).map(|gap| gap.reason)
            };
            let has_joined = |namespace: &String| {
                before.is_none_or(|before| !before.effective.contains(namespace))
            };
            let is_lost = |namespace: &String| {
                let gap = placed.gaps.get_key_value(namespace);
                let gap = gap.or_else(|| placed.gaps.get_key_value(""));
                gap.is_some_and(|(name, gap)| match gap.reason {
                    Reason::Pending => false,
                    // A list that ends says what there is, not what is wanted.
                    Reason::Doubted => true,
                    // A place that has joined since has never been told of.
                    _ => is_new(name) || has_joined(namespace),
                })
            };
            self.holdings.uncover(|key| key.target == target && is_lost(&key.namespace));
            report.targets.insert(target, placed);
        }
        if report != *self.report {
            self.report = Arc::new(report);
        }
    }

    /// What of a target's namespaces is not known, by its watches.
    fn gaps(
        &self,
        target: &TargetKey,
        effective: &BTreeSet<String>,
        set: &WatchSet,
    ) -> BTreeMap<String, Words> {
        let mut gaps = BTreeMap::new();
        for namespace in effective {
            let refused = set.refused.get(&(target.clone(), namespace.clone()));
            let words = refused.filter(|answer| **answer != Answer::Allowed).map(refusal);
            let words = words.or_else(|| self.words(target, namespace));
            gaps.extend(words.map(|words| (namespace.clone(), words)));
        }
        gaps
    }

    fn words(&self, target: &TargetKey, namespace: &String) -> Option<Words> {
        let serves = |(_, stand): &(&Post, &Stand<K>)| {
            let users = stand.duty.users.get(target);
            users.is_some_and(|namespaces| namespaces.contains(namespace))
        };
        let pending = || Some((Reason::Pending, "it has not been read yet".to_owned()));
        let Some((_, stand)) = self.stands.iter().find(serves) else { return pending() };
        match &stand.trouble {
            Some(trouble) => Some((Reason::from(trouble), trouble.to_string())),
            None if !stand.is_listed || !self.holdings.is_covered(target, namespace) => pending(),
            None => None,
        }
    }
}
