//! How a connection test is run: once, whatever comes of it. Pure: the time
//! comes in as an argument.

use std::time::Duration;

use jiff::Timestamp;
use kollect_inventory::schedule::Moment;

use super::{Outcome, Ticket};
use crate::plan::Trouble;

/// What is not there may have been created together with the test, and be
/// heard of later; it is waited for so long.
const GRACE: Duration = Duration::from_secs(2);

/// What is in the way of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// Something is not known yet.
    Pending,
    /// Something is not there.
    Missing(Trouble),
    /// The test, or its sink, cannot be used.
    Lasting(Trouble),
}

/// What a test does next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Wait,
    Probe,
    /// It ends without a probe.
    Fail(Trouble),
}

/// What came of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) outcome: Outcome,
    /// How long the probe took; none if there was no probe.
    pub(crate) latency: Option<Duration>,
    pub(crate) at: Timestamp,
}

/// One run of a test.
#[derive(Debug)]
pub(super) struct Trial {
    /// Changes when the test has to be run again.
    about: String,
    since: Moment,
    running: Option<Ticket>,
    verdict: Option<Verdict>,
}

impl Trial {
    pub(super) fn new(about: String, since: Moment) -> Self {
        Self { about, since, running: None, verdict: None }
    }

    pub(super) fn is_about(&self, about: &str) -> bool {
        self.about == about
    }

    /// What to do now.
    pub(super) fn step(&self, obstacle: Option<Obstacle>, now: Moment) -> Step {
        if self.running.is_some() || self.verdict.is_some() {
            return Step::Wait;
        }
        match obstacle {
            None => Step::Probe,
            Some(Obstacle::Pending) => Step::Wait,
            Some(Obstacle::Missing(_)) if now < self.since + GRACE => Step::Wait,
            Some(Obstacle::Missing(trouble) | Obstacle::Lasting(trouble)) => Step::Fail(trouble),
        }
    }

    pub(super) fn begin(&mut self, ticket: Ticket) {
        self.running = Some(ticket);
    }

    /// A probe has ended.
    pub(super) fn end(&mut self, ticket: Ticket, verdict: Verdict) {
        if self.running == Some(ticket) {
            self.running = None;
            self.verdict = Some(verdict);
        }
    }

    /// It ends without a probe.
    pub(super) fn fail(&mut self, trouble: Trouble, at: Timestamp) {
        self.verdict = Some(Verdict { outcome: Err(trouble), latency: None, at });
    }

    pub(super) fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Moment {
        Duration::from_secs(seconds)
    }

    fn missing() -> Trouble {
        Trouble::new("SinkNotFound", "there is none")
    }

    fn trial() -> Trial {
        Trial::new("a".to_owned(), seconds(10))
    }

    #[test]
    fn a_test_is_run_once_whatever_comes_of_it() {
        let mut trial = trial();
        assert_eq!(trial.step(None, seconds(10)), Step::Probe);
        trial.begin(7);
        assert_eq!(trial.step(None, seconds(11)), Step::Wait);
        let outcome = Err(Trouble::new("ConnectionTestFailed", "no"));
        let verdict = Verdict { outcome, latency: Some(seconds(1)), at: Timestamp::UNIX_EPOCH };
        trial.end(6, verdict.clone());
        assert_eq!(trial.verdict(), None, "that was another probe");
        trial.end(7, verdict.clone());
        assert_eq!(trial.verdict(), Some(&verdict));
        assert_eq!(trial.step(None, seconds(1_000)), Step::Wait);
    }

    #[test]
    fn what_is_missing_is_waited_for_a_moment() {
        let trial = trial();
        let obstacle = || Some(Obstacle::Missing(missing()));
        assert_eq!(trial.step(obstacle(), seconds(11)), Step::Wait);
        assert_eq!(trial.step(obstacle(), seconds(12)), Step::Fail(missing()));
    }

    #[test]
    fn what_is_not_known_yet_is_waited_for_and_what_cannot_be_is_not() {
        let trial = trial();
        assert_eq!(trial.step(Some(Obstacle::Pending), seconds(100)), Step::Wait);
        let lasting = Obstacle::Lasting(missing());
        assert_eq!(trial.step(Some(lasting), seconds(10)), Step::Fail(missing()));
    }

    #[test]
    fn a_test_that_never_began_has_no_latency() {
        let mut trial = trial();
        trial.fail(missing(), Timestamp::UNIX_EPOCH);
        let verdict = trial.verdict().unwrap();
        assert_eq!((verdict.latency, verdict.outcome.clone()), (None, Err(missing())));
    }
}
