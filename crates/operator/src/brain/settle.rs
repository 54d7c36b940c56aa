//! What is known about what inventories hold.

use std::collections::BTreeSet;

use kollect_collect::{Reason, Report};
use kollect_inventory::TargetKey;

use super::Brain;
use crate::plan::{Plan, target::Stance};

impl Brain {
    /// Says of inventories all of whose targets are known that they hold
    /// nothing else, and of those that cannot be known that nobody has to wait.
    pub(super) fn settle(&self, plan: &Plan, report: &Report) {
        for (key, inventory) in &plan.inventories {
            let Some(view) = self.views.get(key) else { continue };
            let is_settled =
                |target: &TargetKey| match plan.targets.get(target).map(|one| &one.stance) {
                    None | Some(Stance::Withdraw) => true,
                    Some(Stance::Doubt(None)) => false,
                    Some(Stance::Collect(_) | Stance::Doubt(Some(_))) => {
                        report.targets.get(target).is_some_and(|known| known.is_settled)
                    }
                };
            let is_pending = |target: &TargetKey| {
                let is_unknown = plan
                    .targets
                    .get(target)
                    .is_some_and(|one| matches!(one.stance, Stance::Doubt(None)));
                let known = report.targets.get(target);
                !is_settled(target)
                    && !is_unknown
                    && known.is_none_or(|known| {
                        known.gaps.values().any(|gap| gap.reason == Reason::Pending)
                    })
            };
            let unknown = inventory.targets.iter().filter(|target| !is_settled(target));
            let unknown: BTreeSet<_> = unknown.cloned().collect();
            if unknown.is_empty() {
                self.ledger.with(|store| store.settle(view));
            } else if !inventory.targets.iter().any(is_pending) {
                self.ledger.with(|store| store.settle_but(view, &unknown));
            }
        }
    }
}
