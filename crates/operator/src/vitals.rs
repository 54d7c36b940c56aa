//! How the operator is, for whoever asks from outside.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use kollect_collect::{Reason, Report};
use kollect_inventory::{TargetKey, schedule::Moment};
use tokio::sync::watch;

use crate::{objects::Name, plan::Plan};

/// How the operator is. One task tells, and servers ask.
#[derive(Debug, Default)]
pub struct Vitals {
    /// When the work last came round, in milliseconds and one more; zero while
    /// nobody works.
    beat: AtomicU64,
    progress: watch::Sender<Progress>,
}

/// How far the first look at everything has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Nobody looks.
    #[default]
    NotBegun,
    /// Kinds of ours have not been listed; which, and why.
    Listing(Vec<String>),
    /// Targets have not been through one cycle.
    Reading(Vec<String>),
    /// Everything that there was has been looked at once. What comes later does
    /// not take this back.
    Done,
}

impl Progress {
    /// How far it has come once our own kinds are known. A target that cannot
    /// be read says why in its status, and that is all that it can do.
    pub(crate) fn of(plan: &Plan, report: &Report) -> Self {
        let is_unread = |target: &TargetKey| {
            let known = report.targets.get(target);
            known.is_none_or(|known| known.gaps.values().any(|gap| gap.reason == Reason::Pending))
        };
        let read = plan.targets.iter().filter(|(_, target)| target.stance.is_read());
        let unread: Vec<_> = read
            .filter(|(key, _)| is_unread(key))
            .map(|(_, target)| Name::of(&target.object).to_string())
            .collect();
        if unread.is_empty() { Self::Done } else { Self::Reading(unread) }
    }
}

impl Vitals {
    /// The work has come round.
    pub(crate) fn beat(&self, now: Moment) {
        let millis = u64::try_from(now.as_millis()).unwrap_or(u64::MAX - 1);
        self.beat.store(millis.saturating_add(1), Ordering::Relaxed);
    }

    /// Nobody works any longer, by intention.
    pub(crate) fn rest(&self) {
        self.beat.store(0, Ordering::Relaxed);
    }

    /// How long ago the work last came round, if anybody works.
    pub(crate) fn silence(&self, now: Moment) -> Option<Duration> {
        let beat = self.beat.load(Ordering::Relaxed).checked_sub(1)?;
        Some(now.saturating_sub(Duration::from_millis(beat)))
    }

    /// So far it has come now.
    pub(crate) fn tell(&self, progress: Progress) {
        self.progress.send_if_modified(|known| {
            let is_new = *known != Progress::Done && *known != progress;
            if is_new {
                *known = progress;
            }
            is_new
        });
    }

    /// So far it has come.
    pub(crate) fn progress(&self) -> Progress {
        self.progress.borrow().clone()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::{BTreeMap, BTreeSet},
        sync::Arc,
    };

    use kollect_collect::{Gap, Presence, TargetReport};
    use kollect_validate::{Kind, Object};
    use serde_json::{Value, json};
    use tokio::time::Instant;

    use super::*;
    use crate::{
        objects::{News, Objects},
        plan::{Knowledge, Planner},
        settings::Settings,
    };

    /// The plan of a profile and a target of it.
    fn plan(target: Value) -> Plan {
        let mut objects = Objects::default();
        let profile = json!({
            "targetGVK": {"version": "v1", "kind": "Pod"},
            "attributes": [{"name": "node", "path": "$.spec.nodeName"}],
        });
        for (kind, name, spec) in [(Kind::Profile, "pods", profile), (Kind::Target, "web", target)]
        {
            let object = json!({"metadata": {"name": name, "namespace": "shop"}, "spec": spec});
            objects.take(News::Set(Arc::new(Object::decode(kind, object).unwrap())));
        }
        Planner::default().plan(&objects, &Settings::default(), &Knowledge::default())
    }

    /// What the collector says of that target.
    fn report(reason: Option<Reason>) -> Report {
        let gap = |reason| Gap { reason, message: String::new(), since: Instant::now() };
        let gaps = reason.map(|reason| ("shop".to_owned(), gap(reason))).into_iter().collect();
        let target = TargetReport {
            kind: Presence::Unasked,
            matched: BTreeSet::new(),
            effective: BTreeSet::new(),
            gaps,
            is_settled: true,
        };
        let key = TargetKey { namespace: Some("shop".to_owned()), name: "web".to_owned() };
        Report { targets: BTreeMap::from([(key, target)]), ..Report::default() }
    }

    #[test]
    fn a_target_has_been_read_or_says_why_not() {
        let wanted = plan(json!({"profileRef": "pods"}));
        let unread = Progress::Reading(vec!["shop/web".to_owned()]);
        assert_eq!(Progress::of(&wanted, &Report::default()), unread);
        assert_eq!(Progress::of(&wanted, &report(Some(Reason::Pending))), unread);
        assert_eq!(Progress::of(&wanted, &report(Some(Reason::Forbidden))), Progress::Done);
        assert_eq!(Progress::of(&wanted, &report(None)), Progress::Done);
        let suspended = plan(json!({"profileRef": "pods", "suspend": true}));
        assert_eq!(Progress::of(&suspended, &Report::default()), Progress::Done);
    }

    #[test]
    fn silence_is_counted_only_while_somebody_works() {
        let vitals = Vitals::default();
        let at = Duration::from_secs;
        assert_eq!(vitals.silence(at(100)), None);
        vitals.beat(at(100));
        assert_eq!(vitals.silence(at(100)), Some(at(0)));
        assert_eq!(vitals.silence(at(107)), Some(at(7)));
        vitals.rest();
        assert_eq!(vitals.silence(at(107)), None);
    }

    #[test]
    fn whoever_was_done_stays_so() {
        let vitals = Vitals::default();
        vitals.tell(Progress::Reading(vec!["shop/web".to_owned()]));
        vitals.tell(Progress::Done);
        vitals.tell(Progress::Reading(vec!["shop/new".to_owned()]));
        assert_eq!(vitals.progress(), Progress::Done);
    }
}
