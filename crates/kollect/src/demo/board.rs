//! What is known at a moment, for whoever shows it.

use std::time::Duration;

use super::{
    hints::Hint,
    samples::Sample,
    status::Status,
    summary::millis,
    tally::{Copy, Made, Tally},
};

/// Everything that is shown.
pub(super) struct Board<'a> {
    pub(super) scene: &'a Scene,
    pub(super) tally: &'a Tally,
    pub(super) status: &'a Status,
    pub(super) commits: usize,
    pub(super) tip: Option<&'a str>,
    pub(super) now: Duration,
    /// What is going on.
    pub(super) phase: Phase,
    /// What could not be done just now.
    pub(super) trouble: Option<&'a str>,
}

/// What stays the same for a whole run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scene {
    /// What the cluster is, in a few words that leave no doubt.
    pub(super) title: String,
    pub(super) samples: Vec<Sample>,
    /// What should be known before it begins.
    pub(super) notes: Vec<String>,
    /// Commands to try, and what for.
    pub(super) hints: Vec<Hint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// What is needed is brought there.
    Starting,
    Changing,
    /// No more changes are made; the copies catch up.
    Settling,
}

/// A change that has arrived, in one line.
pub(super) fn line(made: &Made, now: Duration) -> String {
    let at = |copy: Copy| {
        let arrival = made.arrival(copy);
        let mark: String = arrival.iter().flat_map(|one| one.mark.chars().take(9)).collect();
        let took =
            arrival.and_then(|arrival| arrival.took).map(|took| format!(" after {}", millis(took)));
        let mark = if mark.is_empty() { mark } else { format!(" {mark}") };
        format!("{}{mark}{}", copy.name(), took.unwrap_or_default())
    };
    format!(
        "{:>6.1}s  {}; in {}; in {}",
        now.as_secs_f64(),
        named(made),
        at(Copy::Sqlite),
        at(Copy::Git),
    )
}

/// A change by its name.
pub(super) fn named(made: &Made) -> String {
    format!("{} {}: {}", made.row.kind, made.row.shown(), made.what)
}
