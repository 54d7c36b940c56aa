//! How long a watch waits, for what.

use std::time::Duration;

/// How long a watch waits, for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pace {
    /// After what may pass: cuts, broken servers, lost histories.
    pub retry: Backoff,
    /// After what somebody must change: a right, a credential, a kind.
    pub refused: Backoff,
    /// Whoever was followed for so long is well, and failures before are forgotten.
    pub healthy_after: Duration,
    /// How long a watch may send nothing. Servers send bookmarks about once a
    /// minute where anything happens, so one that says less may have been
    /// forgotten. Where nothing happens there may be no bookmarks either, and
    /// to ask again costs two small requests.
    pub silence: Duration,
    /// How long the server is asked to keep a watch open: something in between,
    /// lest all watches that began together end together.
    pub session: (Duration, Duration),
    /// After so long, everything is listed once more, whatever was heard.
    pub resync: Duration,
}

/// A wait that doubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    pub first: Duration,
    pub longest: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        let (millis, seconds) = (Duration::from_millis, Duration::from_secs);
        Self {
            retry: Backoff { first: millis(800), longest: seconds(30) },
            refused: Backoff { first: seconds(30), longest: seconds(300) },
            healthy_after: seconds(120),
            silence: seconds(90),
            session: (seconds(240), seconds(480)),
            resync: Duration::from_hours(12),
        }
    }
}

impl Backoff {
    /// The wait after some failures before this one; `chance` is from 0 to 1,
    /// and spreads those who failed together.
    pub(crate) fn wait(&self, before: u32, chance: f64) -> Duration {
        let doubled = self.first.saturating_mul(2_u32.saturating_pow(before));
        doubled.min(self.longest).mul_f64(0.5 + chance / 2.0)
    }
}

/// Something in between two durations.
pub(super) fn between((least, most): (Duration, Duration), chance: f64) -> Duration {
    least + most.saturating_sub(least).mul_f64(chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_are_spread() {
        let Pace { retry, refused, session, .. } = Pace::default();
        let millis = |before| retry.wait(before, 1.0).as_millis();
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(millis), [800, 1600, 3200, 6400, 12800, 25600, 30000]);
        assert_eq!(retry.wait(0, 0.0).as_millis(), 400);
        assert_eq!(retry.wait(u32::MAX, 1.0).as_secs(), 30);
        assert_eq!([0, 1, 9].map(|before| refused.wait(before, 1.0).as_secs()), [30, 60, 300]);
        assert_eq!(
            [0.0, 0.5, 1.0].map(|chance| between(session, chance).as_secs()),
            [240, 360, 480]
        );
    }
}
