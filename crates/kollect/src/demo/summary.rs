//! What a run came to, counted in the copies themselves.

use std::time::Duration;

use super::tally::Copy;

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Summary {
    pub(super) took: Duration,
    /// Rows that the operator says the inventory has.
    pub(super) inventory: Option<usize>,
    pub(super) git: Counted,
    pub(super) sqlite: Counted,
    /// How many changes were made.
    pub(super) changes: usize,
    pub(super) commits: usize,
    pub(super) tip: Option<String>,
    /// Whether the operator says that every copy is current.
    pub(super) is_synced: bool,
}

/// What was counted in a copy.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Counted {
    pub(super) rows: usize,
    /// Changes that it does not show.
    pub(super) missing: Vec<String>,
    /// The time that half of the changes took at most, and 99 in a hundred.
    pub(super) half: Option<Duration>,
    pub(super) most: Option<Duration>,
}

impl Summary {
    /// What is not as it should be; nothing if all is well.
    pub(super) fn differences(&self) -> Vec<String> {
        let mut found = Vec::new();
        match self.inventory {
            None => found.push("the operator has not said how many rows there are".to_owned()),
            Some(0) => found.push("the inventory is empty".to_owned()),
            Some(_) => {}
        }
        for copy in Copy::ALL {
            let (name, counted) = (copy.name(), self.of(copy));
            if let Some(rows) = self.inventory.filter(|rows| *rows != counted.rows) {
                found.push(format!("{name} has {} rows, and the inventory {rows}", counted.rows));
            }
            if let Some(first) = counted.missing.first() {
                let many = counted.missing.len();
                found.push(format!("{name} lacks {many} of the changes, the first: {first}"));
            }
        }
        if !self.is_synced {
            found.push("the operator does not say that every copy is current".to_owned());
        }
        found
    }

    /// The lines that a person reads.
    pub(super) fn lines(&self) -> Vec<String> {
        let number = |rows: Option<usize>| rows.map_or("?".to_owned(), |rows| rows.to_string());
        let arrived = |copy| self.changes.saturating_sub(self.of(copy).missing.len());
        let tip: String = self.tip.iter().flat_map(|tip| tip.chars().take(9)).collect();
        let newest = if tip.is_empty() { String::new() } else { format!(", the newest {tip}") };
        let mut lines = vec![
            format!("after {}:", seconds(self.took)),
            format!(
                "  rows     {} in the inventory, {} in Git, {} in SQLite",
                number(self.inventory),
                self.git.rows,
                self.sqlite.rows
            ),
            format!(
                "  changes  {} made, {} in Git, {} in SQLite",
                self.changes,
                arrived(Copy::Git),
                arrived(Copy::Sqlite)
            ),
            format!("  commits  {}{newest}", self.commits),
        ];
        let latency = |copy: Copy| {
            let Counted { half: Some(half), most: Some(most), .. } = self.of(copy) else {
                return None;
            };
            Some(format!("{} p50 {}, p99 {}", copy.name(), millis(*half), millis(*most)))
        };
        let latencies: Vec<_> = Copy::ALL.into_iter().filter_map(latency).collect();
        if !latencies.is_empty() {
            lines.push(format!("  latency  {}", latencies.join("; ")));
        }
        lines
    }

    fn of(&self, copy: Copy) -> &Counted {
        match copy {
            Copy::Git => &self.git,
            Copy::Sqlite => &self.sqlite,
        }
    }
}

/// A time of a few seconds.
pub(super) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// A short time, by three digits.
pub(super) fn millis(time: Duration) -> String {
    let millis = time.as_millis();
    if millis < 1000 { format!("{millis} ms") } else { format!("{:.2} s", time.as_secs_f64()) }
}

#[cfg(test)]
mod tests;
