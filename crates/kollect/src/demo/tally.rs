//! Which changes stand in which copy, and how long that took.
//!
//! It is told what was changed and what the copies show, and joins the two: a
//! change has arrived when the copy itself shows it.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use super::{
    change::{Change, Proof},
    row::{Row, RowKey},
};

/// So many changes are remembered to be shown.
const SHOWN: usize = 64;
/// After so long a copy that holds what a change led to is taken to have had
/// it, although nobody saw it arrive: two changes may cancel each other.
const QUIET: Duration = Duration::from_secs(10);

/// The copies, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Copy {
    Git,
    Sqlite,
}

impl Copy {
    pub(super) const ALL: [Self; 2] = [Self::Git, Self::Sqlite];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Git => "Git",
            Self::Sqlite => "SQLite",
        }
    }
}

/// What a copy shows that it did not show before.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Look {
    /// Rows as they are now; nothing for those that have gone.
    pub(super) rows: Vec<(RowKey, Option<Row>)>,
    /// Where it is found: the commit.
    pub(super) mark: String,
}

/// A change, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Made {
    pub(super) row: RowKey,
    pub(super) what: String,
    /// When it was made; nobody knows when others made theirs.
    pub(super) at: Option<Duration>,
    /// When it was first heard of.
    pub(super) heard: Duration,
    proof: Proof,
    pub(super) in_git: Option<Arrival>,
    pub(super) in_sqlite: Option<Arrival>,
}

/// Since when a copy has a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// How long it took; nobody knows if nobody saw it.
    pub(super) took: Option<Duration>,
    pub(super) mark: String,
}

/// What has become of all changes.
#[derive(Debug, Default)]
pub(super) struct Tally {
    recent: VecDeque<Made>,
    made: usize,
    git: Copied,
    sqlite: Copied,
    /// Rows that go because of a change to another one.
    aside: BTreeSet<RowKey>,
}

/// What is known of one copy.
#[derive(Debug, Default)]
struct Copied {
    rows: BTreeMap<RowKey, Row>,
    /// Whether it has shown something yet.
    is_begun: bool,
    /// How often rows of a kind have changed in it.
    changed: BTreeMap<String, usize>,
    took: Vec<Duration>,
}

impl Made {
    pub(super) fn arrival(&self, copy: Copy) -> Option<&Arrival> {
        match copy {
            Copy::Git => self.in_git.as_ref(),
            Copy::Sqlite => self.in_sqlite.as_ref(),
        }
    }

    fn arrive(&mut self, copy: Copy, arrival: Arrival) {
        match copy {
            Copy::Git => self.in_git = Some(arrival),
            Copy::Sqlite => self.in_sqlite = Some(arrival),
        }
    }

    /// Whether both copies have it.
    pub(super) fn is_everywhere(&self) -> bool {
        self.in_git.is_some() && self.in_sqlite.is_some()
    }
}

impl Tally {
    /// Takes note of a change of ours.
    pub(super) fn made(&mut self, change: Change, at: Duration) {
        let Change { row, what, aside, steps: _, proof } = change;
        self.made += 1;
        self.aside.extend(aside);
        self.remember(Made {
            row,
            what,
            at: Some(at),
            heard: at,
            proof,
            in_git: None,
            in_sqlite: None,
        });
    }

    fn remember(&mut self, made: Made) {
        self.recent.push_back(made);
        while self.recent.len() > SHOWN && self.recent.front().is_some_and(Made::is_everywhere) {
            self.recent.pop_front();
        }
    }

    /// Takes note of what a copy shows; says which changes have arrived in it.
    pub(super) fn observe(&mut self, copy: Copy, look: Look, now: Duration) -> Vec<Made> {
        let mut arrived = Vec::new();
        let was_begun = std::mem::replace(&mut self.copied(copy).is_begun, true);
        for (key, row) in look.rows {
            let copied = self.copied(copy);
            let before = match &row {
                Some(row) => copied.rows.insert(key.clone(), row.clone()),
                None => copied.rows.remove(&key),
            };
            if was_begun {
                *copied.changed.entry(key.kind.clone()).or_default() += 1;
            }
            let found = self.arrive(copy, &key, row.as_ref(), (&look.mark, now));
            let is_explained = !found.is_empty()
                || self
                    .recent
                    .iter()
                    .any(|made| made.row == key && made.at.is_some() && !made.is_everywhere());
            arrived.extend(found);
            if was_begun && !is_explained && !self.aside.contains(&key) {
                arrived.push(self.witness(copy, key, (before, row), (&look.mark, now)));
            }
        }
        arrived
    }

    /// Marks the changes of a row that a copy shows, and those before them.
    fn arrive(
        &mut self,
        copy: Copy,
        key: &RowKey,
        row: Option<&Row>,
        (mark, now): (&str, Duration),
    ) -> Vec<Made> {
        let is_waiting = |made: &Made| made.row == *key && made.arrival(copy).is_none();
        let shown = |made: &Made| is_waiting(made) && made.proof.is_shown_by(row);
        let Some(last) = self.recent.iter().rposition(shown) else { return Vec::new() };
        let mut arrived = Vec::new();
        for made in self.recent.iter_mut().take(last + 1).filter(|made| is_waiting(made)) {
            let took = made.at.map(|at| now.saturating_sub(at));
            made.arrive(copy, Arrival { took, mark: mark.to_owned() });
            arrived.push(made.clone());
        }
        let took: Vec<_> = arrived.iter().filter_map(|made| made.arrival(copy)?.took).collect();
        self.copied(copy).took.extend(took);
        arrived
    }

    /// A change that others have made.
    fn witness(
        &mut self,
        copy: Copy,
        row: RowKey,
        (before, after): (Option<Row>, Option<Row>),
        (mark, now): (&str, Duration),
    ) -> Made {
        let what = described(before.as_ref(), after.as_ref());
        let proof = after.map_or(Proof::Gone, Proof::Is);
        let mut made =
            Made { row, what, at: None, heard: now, proof, in_git: None, in_sqlite: None };
        made.arrive(copy, Arrival { took: None, mark: mark.to_owned() });
        self.remember(made.clone());
        made
    }

    /// Takes for arrived what copies hold, although nobody saw it come; `now`
    /// is nothing when no more can come.
    pub(super) fn settle(&mut self, now: Option<Duration>) {
        for copy in Copy::ALL {
            let rows = match copy {
                Copy::Git => &self.git.rows,
                Copy::Sqlite => &self.sqlite.rows,
            };
            for at in 0..self.recent.len() {
                let newer = self.recent.iter().skip(at + 1).map(|made| &made.row);
                let newer: BTreeSet<_> = newer.collect();
                let Some(made) = self.recent.get(at) else { continue };
                let is_old = now.is_none_or(|now| now.saturating_sub(made.heard) > QUIET);
                let is_there = newer.contains(&made.row)
                    || made.at.is_none()
                    || made.proof.is_shown_by(rows.get(&made.row));
                if made.arrival(copy).is_none() && is_old && is_there {
                    let arrival = Arrival { took: None, mark: String::new() };
                    if let Some(made) = self.recent.get_mut(at) {
                        made.arrive(copy, arrival);
                    }
                }
            }
        }
    }

    /// The last changes, the oldest first.
    pub(super) fn recent(&self) -> impl DoubleEndedIterator<Item = &Made> {
        self.recent.iter()
    }

    /// How many changes were made.
    pub(super) fn count(&self) -> usize {
        self.made
    }

    /// Changes of ours that a copy does not show yet.
    pub(super) fn missing(&self, copy: Copy) -> Vec<&Made> {
        let is_missing = |made: &&Made| made.at.is_some() && made.arrival(copy).is_none();
        self.recent.iter().filter(is_missing).collect()
    }

    /// How many rows a copy has shown.
    pub(super) fn rows(&self, copy: Copy, is_counted: impl Fn(&RowKey) -> bool) -> usize {
        self.of(copy).rows.keys().filter(|key| is_counted(key)).count()
    }

    /// How often rows of a kind have changed in a copy.
    pub(super) fn changed(&self, copy: Copy, kind: &str) -> usize {
        self.of(copy).changed.get(&kind.to_lowercase()).copied().unwrap_or_default()
    }

    /// The time that so many in a hundred changes took at most.
    pub(super) fn percentile(&self, copy: Copy, percent: usize) -> Option<Duration> {
        let mut took = self.of(copy).took.clone();
        took.sort_unstable();
        let rank = (took.len() * percent).div_ceil(100).saturating_sub(1);
        took.get(rank).copied()
    }

    fn of(&self, copy: Copy) -> &Copied {
        match copy {
            Copy::Git => &self.git,
            Copy::Sqlite => &self.sqlite,
        }
    }

    fn copied(&mut self, copy: Copy) -> &mut Copied {
        match copy {
            Copy::Git => &mut self.git,
            Copy::Sqlite => &mut self.sqlite,
        }
    }
}

/// The first difference between two states of a row, in words.
fn described(before: Option<&Row>, after: Option<&Row>) -> String {
    let (before, after) = match (before, after) {
        (None, _) => return "created".to_owned(),
        (_, None) => return "deleted".to_owned(),
        (Some(before), Some(after)) => (before, after),
    };
    let names = before.keys().chain(after.keys());
    let Some(name) = names.into_iter().find(|name| before.get(*name) != after.get(*name)) else {
        return "changed".to_owned();
    };
    let value = |row: &Row| row.get(name).cloned().unwrap_or_else(|| "nothing".to_owned());
    format!("{name} {} → {}", value(before), value(after))
}

#[cfg(test)]
mod tests;
