//! What could not be read, and whose rows are therefore old or missing.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kollect_api::Coverage;
use kollect_collect::{Gap, Reason};
use kollect_inventory::TargetKey;
use tokio::time::Instant;

use super::seconds;

/// So many entries are listed.
const MOST_ENTRIES: usize = 50;
/// So many namespaces of one are.
const MOST_NAMESPACES: usize = 20;
/// What has not been read for so long is no beginning any more.
const BEGINNING: Duration = Duration::from_secs(30);

/// What is not known of some targets, and since when by both clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) time: Timestamp,
    pub(crate) instant: Instant,
}

/// One entry for each target and reason. One that was there before is as old as
/// it was said to be, so that nothing is written because two clocks differ.
pub(crate) fn coverage<'a>(
    gaps: impl Iterator<Item = (&'a TargetKey, &'a BTreeMap<String, Gap>)>,
    before: &[Coverage],
    now: Moment,
) -> (Vec<Coverage>, Option<i64>) {
    let mut entries = Vec::new();
    for (target, gaps) in gaps {
        let mut reasons = BTreeMap::<&str, Vec<(&String, &Gap)>>::new();
        for (namespace, gap) in gaps {
            let age = now.instant.saturating_duration_since(gap.since);
            if gap.reason != Reason::Pending || age >= BEGINNING {
                reasons.entry(word(gap.reason)).or_default().push((namespace, gap));
            }
        }
        for (reason, gaps) in reasons {
            entries.push(entry(&target.name, reason, &gaps, (before, now)));
        }
    }
    let total = i64::try_from(entries.len()).ok().filter(|total| *total > 0);
    entries.truncate(MOST_ENTRIES);
    (entries, total)
}

fn entry(
    target: &str,
    reason: &str,
    gaps: &[(&String, &Gap)],
    (before, now): (&[Coverage], Moment),
) -> Coverage {
    let known = before.iter().find(|known| known.target == target && known.reason == reason);
    let since = known.and_then(|known| known.since.clone()).or_else(|| {
        let first = gaps.iter().map(|(_, gap)| gap.since).min()?;
        let age = now.instant.saturating_duration_since(first);
        Some(Time(seconds(now.time.saturating_sub(age).ok()?)))
    });
    let names = || gaps.iter().map(|(name, _)| *name).filter(|name| !name.is_empty());
    Coverage {
        target: target.to_owned(),
        namespaces: names().take(MOST_NAMESPACES).cloned().collect(),
        namespace_total: i64::try_from(names().count()).ok().filter(|total| *total > 0),
        reason: reason.to_owned(),
        message: gaps.first().map(|(_, gap)| gap.message.clone()).filter(|text| !text.is_empty()),
        since,
    }
}

fn word(reason: Reason) -> &'static str {
    match reason {
        Reason::Pending => "NotReadYet",
        Reason::NotServed => "KindNotServed",
        Reason::Forbidden => "Forbidden",
        Reason::Unauthorized => "Unauthorized",
        Reason::AccessCheckFailed => "AccessCheckFailed",
        Reason::Namespaces => "NamespacesUnknown",
        Reason::Unreachable => "Unreachable",
        Reason::Doubted => "NotUnderstood",
        Reason::Denied => "ScopeDenied",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Moment {
        Moment { time: Timestamp::from_second(1_000).unwrap(), instant: Instant::now() }
    }

    fn gaps(now: Moment, reason: Reason, names: &[&str]) -> BTreeMap<String, Gap> {
        let since = now.instant.checked_sub(Duration::from_secs(5)).unwrap();
        let gap = Gap { reason, message: "no".to_owned(), since };
        names.iter().map(|name| ((*name).to_owned(), gap.clone())).collect()
    }

    fn target() -> TargetKey {
        TargetKey { namespace: Some("a".to_owned()), name: "t".to_owned() }
    }

    #[tokio::test(start_paused = true)]
    async fn namespaces_with_one_reason_are_one_entry_and_only_the_first_are_named() {
        tokio::time::advance(Duration::from_mins(1)).await;
        let (now, target) = (now(), target());
        let names: Vec<_> = (0..25).map(|n| format!("n{n:02}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let gaps = gaps(now, Reason::Forbidden, &names);
        let (entries, total) = coverage([(&target, &gaps)].into_iter(), &[], now);
        assert_eq!((entries.len(), total), (1, Some(1)));
        assert_eq!(entries[0].namespaces.len(), 20);
        assert_eq!(entries[0].namespace_total, Some(25));
        assert_eq!(entries[0].reason, "Forbidden");
        assert_eq!(entries[0].since, Some(Time(Timestamp::from_second(995).unwrap())));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_known_is_as_old_as_it_was_said_to_be() {
        tokio::time::advance(Duration::from_mins(1)).await;
        let (now, target) = (now(), target());
        let gaps = gaps(now, Reason::Forbidden, &["n"]);
        let since = Some(Time(Timestamp::from_second(7).unwrap()));
        let known = Coverage {
            target: "t".to_owned(),
            reason: "Forbidden".to_owned(),
            since: since.clone(),
            ..Coverage::default()
        };
        let (entries, _) = coverage([(&target, &gaps)].into_iter(), &[known], now);
        assert_eq!(entries[0].since, since);
    }

    #[tokio::test(start_paused = true)]
    async fn what_has_only_begun_is_no_gap() {
        tokio::time::advance(Duration::from_mins(1)).await;
        let (now, target) = (now(), target());
        let gaps = gaps(now, Reason::Pending, &["n"]);
        let (entries, total) = coverage([(&target, &gaps)].into_iter(), &[], now);
        assert!(entries.is_empty() && total.is_none());
    }
}
