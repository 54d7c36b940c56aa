//! What we may read: asked before a watch begins, and asked again while it is
//! denied.

pub(crate) mod review;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use tokio::time::Instant;

use crate::discovery::Resource;

/// To list and watch a resource, in one namespace or in all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Right {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) plural: String,
    pub(crate) namespace: Option<String>,
}

impl Right {
    pub(crate) fn of(resource: &Resource, namespace: Option<&str>) -> Self {
        Self {
            group: resource.group.clone(),
            version: resource.version.clone(),
            plural: resource.plural.clone(),
            namespace: namespace.map(str::to_owned),
        }
    }
}

/// What the server said to a right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Allowed,
    /// And why.
    Denied(String),
    /// It could not be asked.
    Failed(String),
}

/// What is known about rights.
#[derive(Debug)]
pub(crate) struct Rights {
    known: BTreeMap<Right, Known>,
    /// Those that are being asked.
    asked: BTreeSet<Right>,
    /// After so long, what was denied or could not be asked is asked again.
    again_after: Duration,
}

#[derive(Debug)]
struct Known {
    answer: Answer,
    since: Instant,
}

impl Rights {
    pub(crate) fn new(again_after: Duration) -> Self {
        Self { known: BTreeMap::new(), asked: BTreeSet::new(), again_after }
    }

    /// What is known of a right; nothing before it was asked.
    pub(crate) fn of(&self, right: &Right) -> Option<&Answer> {
        self.known.get(right).map(|known| &known.answer)
    }

    /// The server has answered. Whether that is another answer than before.
    pub(crate) fn learn(&mut self, right: Right, answer: Answer, now: Instant) -> bool {
        self.asked.remove(&right);
        let before = self.known.insert(right, Known { answer: answer.clone(), since: now });
        before.is_none_or(|before| before.answer != answer)
    }

    /// A watch was refused: what was known of its right no longer counts.
    pub(crate) fn doubt(&mut self, right: &Right) {
        if matches!(self.of(right), Some(Answer::Allowed)) {
            self.known.remove(right);
        }
    }

    /// Which of those that matter are to be asked now. They count as asked.
    pub(crate) fn due(&mut self, matter: &BTreeSet<Right>, now: Instant) -> Vec<Right> {
        self.known.retain(|right, _| matter.contains(right));
        let is_due = |right: &&Right| match self.known.get(*right) {
            None => true,
            Some(Known { answer: Answer::Allowed, .. }) => false,
            Some(Known { since, .. }) => now >= *since + self.again_after,
        };
        let due = matter.iter().filter(|right| !self.asked.contains(*right)).filter(is_due);
        let due: Vec<_> = due.cloned().collect();
        self.asked.extend(due.iter().cloned());
        due
    }

    /// When the next is to be asked again.
    pub(crate) fn next(&self) -> Option<Instant> {
        let waiting = self.known.iter().filter(|(right, known)| {
            known.answer != Answer::Allowed && !self.asked.contains(*right)
        });
        waiting.map(|(_, known)| known.since + self.again_after).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right(namespace: &str) -> Right {
        Right {
            group: "apps".to_owned(),
            version: "v1".to_owned(),
            plural: "deployments".to_owned(),
            namespace: Some(namespace.to_owned()),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_allowed_is_asked_once_and_what_is_not_again_and_again() {
        let mut rights = Rights::new(Duration::from_secs(30));
        let matter = BTreeSet::from([right("a"), right("b"), right("c")]);
        let start = Instant::now();
        assert_eq!(rights.due(&matter, start).len(), 3);
        assert!(rights.due(&matter, start).is_empty(), "they are being asked");
        assert!(rights.learn(right("a"), Answer::Allowed, start));
        assert!(rights.learn(right("b"), Answer::Denied("no".to_owned()), start));
        assert!(rights.learn(right("c"), Answer::Failed("what".to_owned()), start));
        assert!(rights.due(&matter, start).is_empty());
        let later = start + Duration::from_secs(30);
        assert_eq!(rights.next(), Some(later));
        assert_eq!(rights.due(&matter, later), [right("b"), right("c")]);
        assert!(!rights.learn(right("b"), Answer::Denied("no".to_owned()), later));
        assert!(rights.learn(right("c"), Answer::Allowed, later));
        assert_eq!(rights.next(), Some(later + Duration::from_secs(30)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_right_in_doubt_is_asked_at_once_and_one_that_does_not_matter_is_forgotten() {
        let mut rights = Rights::new(Duration::from_secs(30));
        let (matter, now) = (BTreeSet::from([right("a")]), Instant::now());
        rights.due(&matter, now);
        rights.learn(right("a"), Answer::Allowed, now);
        rights.doubt(&right("a"));
        assert_eq!(rights.due(&matter, now), [right("a")]);
        rights.learn(right("a"), Answer::Denied("no".to_owned()), now);
        rights.doubt(&right("a"));
        assert!(rights.due(&matter, now).is_empty(), "it is known to be denied");
        assert!(rights.due(&BTreeSet::new(), now).is_empty());
        assert_eq!(rights.of(&right("a")), None);
    }
}
