//! What a look at everything comes to, in numbers.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use kollect_collect::{Reason, Report, TargetReport};
use kollect_sinks::{Family, InventoryKey, PairKey};

use super::{Brain, say::Saying};
use crate::{
    metrics::{
        counts::{Class, Judged},
        gauges::{Coverage, Gauges, TargetGauge},
    },
    objects::Name,
    plan::{
        Plan, Trouble,
        inventory::InventoryPlan,
        target::{AnyTarget, Stance},
    },
};

impl Brain {
    /// Tells the metrics how things are, by what the objects are to say.
    pub(super) fn count(&self, plan: &Plan, report: &Report, said: &[Saying], took: Duration) {
        let verdicts: BTreeMap<_, _> = said.iter().map(|one| (one.key(), one)).collect();
        let (mut gauges, mut judged) = (self.sizes(plan), BTreeMap::new());
        for (key, target) in &plan.targets {
            let name = (target.object.kind(), Name::of(&target.object));
            let (known, verdict) = (report.targets.get(key), verdicts.get(&name));
            let profile = AnyTarget::of(&target.object).map(AnyTarget::profile);
            let gauge = TargetGauge {
                profile: profile.map(|profile| profile.name).unwrap_or_default(),
                is_ready: verdict.is_some_and(|verdict| verdict.is("Ready")),
                coverage: known.map(Coverage::of).unwrap_or_default(),
            };
            gauges.targets.insert(key.clone(), gauge);
            let references = match (&target.trouble, &target.stance) {
                (Some(trouble), _) if trouble.reason == "ProfileNotFound" => {
                    vec![("profile", "not_found")]
                }
                (_, Stance::Withdraw) => Vec::new(),
                _ => vec![("profile", "ok")],
            };
            let judgement = Judged {
                is_well: verdict.is_none_or(|verdict| verdict.is_well()),
                is_pending: is_pending(known),
                troubles: troubles(target.trouble.as_ref(), known),
                references,
            };
            judged.insert(name, judgement);
        }
        for (key, inventory) in &plan.inventories {
            let name = (inventory.object.kind(), Name::of(&inventory.object));
            let is_well = verdicts.get(&name).is_none_or(|verdict| verdict.is_well());
            judged.insert(name, Judged { is_well, ..self.copies_of(key, inventory) });
        }
        self.around.metrics.looked(gauges, judged, took);
    }

    fn sizes(&self, plan: &Plan) -> Gauges {
        let views = plan.inventories.keys();
        let views: Vec<_> = views.filter_map(|key| Some((key, self.views.get(key)?))).collect();
        let (rows, inventories) = self.ledger.with(|store| {
            let of =
                |(key, view): &(&InventoryKey, _)| ((*key).clone(), store.view_content(*view).rows);
            (store.rows(), views.iter().map(of).collect())
        });
        let pairs: BTreeMap<_, _> = self.copies.last_successes().collect();
        let sinks = pairs.keys().map(|pair| &pair.sink);
        let sinks = sinks.map(|sink| (sink.clone(), self.copies.is_left_alone(sink))).collect();
        Gauges { rows, targets: BTreeMap::new(), inventories, pairs, sinks }
    }

    /// What is wrong with an inventory and its copies, and which of its sinks
    /// were found. Exports that fail are counted one by one elsewhere.
    fn copies_of(&self, key: &InventoryKey, inventory: &InventoryPlan) -> Judged {
        let mut judged =
            Judged { troubles: troubles(inventory.trouble.as_ref(), None), ..Judged::default() };
        for pair in &inventory.pairs {
            let reference = match pair.sink.family {
                Family::Snapshot => "snapshot",
                Family::Database => "database",
                Family::Event => "event",
            };
            let denied = inventory.trouble.as_ref().filter(|one| is_denied(one.reason));
            let result = match (&pair.spec, denied) {
                (Err(_), _) => "not_found",
                (Ok(_), Some(_)) => "forbidden",
                (Ok(_), None) => "ok",
            };
            judged.references.push((reference, result));
            let pair_key = PairKey { inventory: key.clone(), sink: pair.sink.clone() };
            if let Some(trouble) = self.copies.trouble(&pair_key) {
                let of_pair = troubles(Some(trouble), None).into_iter();
                let of_pair = of_pair.map(|(class, word)| (class, format!("{word} {pair_key}")));
                judged.troubles.extend(of_pair);
            }
        }
        judged
    }
}

/// What is wrong now: what the plan says, and what is in the way of reading.
fn troubles(trouble: Option<&Trouble>, report: Option<&TargetReport>) -> BTreeSet<(Class, String)> {
    // Nobody has to do anything about what somebody has asked for, or what
    // will be known in a moment.
    let is_one = |trouble: &&Trouble| !["Suspended", "Progressing"].contains(&trouble.reason);
    let planned = trouble.filter(is_one).map(|trouble| {
        let class = if is_denied(trouble.reason) { Class::Forbidden } else { Class::Terminal };
        (class, trouble.reason.to_owned())
    });
    // However many namespaces it is about, it is one trouble.
    let gaps = report.into_iter().flat_map(|report| report.gaps.values());
    let gaps = gaps.filter_map(|gap| {
        let class = match gap.reason {
            Reason::Pending | Reason::Doubted => return None,
            Reason::Forbidden | Reason::Unauthorized | Reason::Denied => Class::Forbidden,
            Reason::NotServed => Class::Terminal,
            Reason::AccessCheckFailed | Reason::Namespaces | Reason::Unreachable => {
                Class::Transient
            }
        };
        Some((class, gap.reason.as_str().to_owned()))
    });
    planned.into_iter().chain(gaps).collect()
}

fn is_pending(report: Option<&TargetReport>) -> bool {
    report.is_none_or(|known| known.gaps.values().any(|gap| gap.reason == Reason::Pending))
}

fn is_denied(reason: &str) -> bool {
    reason.ends_with("Denied") || reason.ends_with("Forbidden")
}

#[cfg(test)]
mod tests {
    use kollect_collect::{Gap, Presence};
    use tokio::time::Instant;

    use super::*;

    fn report(gaps: &[(&str, Reason)]) -> TargetReport {
        let gap = |(namespace, reason): &(&str, Reason)| {
            let gap = Gap { reason: *reason, message: String::new(), since: Instant::now() };
            ((*namespace).to_owned(), gap)
        };
        TargetReport {
            kind: Presence::Unasked,
            matched: BTreeSet::new(),
            effective: BTreeSet::new(),
            gaps: gaps.iter().map(gap).collect(),
            is_settled: true,
        }
    }

    #[track_caller]
    fn check(trouble: Option<&'static str>, gaps: &[(&str, Reason)], expected: &[(Class, &str)]) {
        let trouble = trouble.map(|reason| Trouble::new(reason, ""));
        let found = troubles(trouble.as_ref(), Some(&report(gaps)));
        let expected = expected.iter().map(|(class, word)| (*class, (*word).to_owned()));
        assert_eq!(found, expected.collect());
    }

    #[test]
    fn what_was_asked_for_and_what_is_about_to_be_known_is_no_trouble() {
        check(None, &[], &[]);
        check(Some("Suspended"), &[("", Reason::Pending)], &[]);
        check(Some("Progressing"), &[("shop", Reason::Doubted)], &[]);
    }

    #[test]
    fn a_trouble_has_the_class_of_what_can_be_done_about_it() {
        check(Some("InvalidSpec"), &[], &[(Class::Terminal, "InvalidSpec")]);
        check(Some("ScopeGVKDenied"), &[], &[(Class::Forbidden, "ScopeGVKDenied")]);
        let gaps = [("a", Reason::Unreachable), ("b", Reason::NotServed)];
        let expected = [(Class::Transient, "unreachable"), (Class::Terminal, "gvk-not-found")];
        check(None, &gaps, &expected);
    }

    #[test]
    fn many_namespaces_with_one_trouble_are_one() {
        let gaps = ["a", "b", "c"].map(|namespace| (namespace, Reason::Forbidden));
        check(None, &gaps, &[(Class::Forbidden, "forbidden")]);
    }
}
