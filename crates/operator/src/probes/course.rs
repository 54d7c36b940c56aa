//! When a sink is probed. Pure: time and chance come in as arguments.

use std::time::Duration;

use kollect_inventory::schedule::Moment;

use super::{Outcome, Ticket};

/// What has failed is tried again after this, then after twice this, …
const FIRST: Duration = Duration::from_secs(10);
/// … and at the latest after this.
const LONGEST: Duration = Duration::from_mins(5);

/// What has to be probed now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish<'a> {
    /// Changes whenever an older outcome means nothing any more: with the spec,
    /// and with the Secrets that it names.
    pub(super) about: &'a str,
    /// Whether somebody asks for it, beside that.
    pub(super) is_asked: bool,
}

/// How the probes of one sink go.
#[derive(Debug, Default)]
pub(super) struct Course {
    about: String,
    is_asked: bool,
    /// The probe that runs.
    running: Option<Ticket>,
    /// What came of the last one about the same thing.
    outcome: Option<Outcome>,
    /// How often it has failed in a row, and when it is tried again.
    failures: u32,
    again: Moment,
}

impl Course {
    /// Whether a probe has to begin now.
    pub(super) fn is_due(&self, wish: &Wish<'_>, now: Moment) -> bool {
        let is_new = self.about != wish.about;
        let is_asked = wish.is_asked && !self.is_asked;
        let is_unknown = self.outcome.is_none() && self.running.is_none();
        let has_failed = matches!(&self.outcome, Some(Err(_))) && self.running.is_none();
        is_new || is_asked || is_unknown || (has_failed && now >= self.again)
    }

    /// Takes note of what is wished and not due: who no longer asks may ask
    /// again.
    pub(super) fn note(&mut self, wish: &Wish<'_>) {
        self.is_asked &= wish.is_asked;
    }

    /// A probe has begun. One about something else that still runs is of no
    /// interest any more.
    pub(super) fn begin(&mut self, wish: &Wish<'_>, ticket: Ticket) {
        if self.about != wish.about {
            *self = Self { about: wish.about.to_owned(), ..Self::default() };
        }
        self.is_asked = wish.is_asked;
        self.running = Some(ticket);
    }

    /// A probe has ended; `chance` is from zero to one, and spreads those who
    /// failed together.
    pub(super) fn end(&mut self, ticket: Ticket, outcome: Outcome, (now, chance): (Moment, f64)) {
        if self.running != Some(ticket) {
            return;
        }
        self.running = None;
        self.failures = if outcome.is_ok() { 0 } else { self.failures.saturating_add(1) };
        let doublings = self.failures.saturating_sub(1).min(16);
        let wait = FIRST.saturating_mul(1 << doublings).min(LONGEST);
        self.again = now + wait.mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0);
        self.outcome = Some(outcome);
    }

    /// What is known about this, if anything is.
    pub(super) fn outcome(&self, about: &str) -> Option<&Outcome> {
        self.outcome.as_ref().filter(|_| self.about == about)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Trouble;

    const fn wish(about: &str) -> Wish<'_> {
        Wish { about, is_asked: false }
    }

    fn seconds(seconds: u64) -> Moment {
        Duration::from_secs(seconds)
    }

    const GOOD: Result<&str, &str> = Ok("it is there");
    const BAD: Result<&str, &str> = Err("it is not");

    fn outcome(of: Result<&str, &str>) -> Outcome {
        let failed = |message| Trouble::new("ConnectionTestFailed", message);
        of.map(str::to_owned).map_err(failed)
    }

    /// A probe that begins and ends at once.
    fn probe(course: &mut Course, wish: &Wish<'_>, of: Result<&str, &str>, at: Moment) {
        assert!(course.is_due(wish, at), "nobody wants it");
        course.begin(wish, 1);
        course.end(1, outcome(of), (at, 1.0));
    }

    #[test]
    fn what_is_good_is_not_asked_again() {
        let mut course = Course::default();
        probe(&mut course, &wish("a"), GOOD, seconds(0));
        assert!(!course.is_due(&wish("a"), seconds(100_000)));
        assert_eq!(course.outcome("a"), Some(&outcome(GOOD)));
    }

    #[test]
    fn one_probe_runs_at_a_time() {
        let mut course = Course::default();
        assert!(course.is_due(&wish("a"), seconds(0)));
        course.begin(&wish("a"), 1);
        assert!(!course.is_due(&wish("a"), seconds(14)));
        assert_eq!(course.outcome("a"), None);
    }

    #[test]
    fn what_fails_is_tried_again_less_and_less_often() {
        let mut course = Course::default();
        let mut at = seconds(0);
        for wait in [10, 20, 40, 80, 160, 300, 300] {
            probe(&mut course, &wish("a"), BAD, at);
            assert!(!course.is_due(&wish("a"), at + seconds(wait - 1)), "after {wait} s");
            at += seconds(wait);
        }
        probe(&mut course, &wish("a"), GOOD, at);
        assert!(!course.is_due(&wish("a"), at + seconds(1_000)));
    }

    #[test]
    fn those_who_fail_together_do_not_return_together() {
        let mut course = Course::default();
        course.begin(&wish("a"), 1);
        course.end(1, outcome(BAD), (seconds(0), 0.0));
        assert!(!course.is_due(&wish("a"), seconds(4)));
        assert!(course.is_due(&wish("a"), seconds(5)));
    }

    #[test]
    fn a_change_is_probed_at_once_and_the_waits_begin_anew() {
        let mut course = Course::default();
        for at in [0, 10, 30] {
            probe(&mut course, &wish("a"), BAD, seconds(at));
        }
        probe(&mut course, &wish("b"), BAD, seconds(31));
        assert_eq!(course.outcome("a"), None, "that was about something else");
        assert!(course.is_due(&wish("b"), seconds(41)));
    }

    #[test]
    fn a_probe_that_a_change_has_overtaken_says_nothing() {
        let mut course = Course::default();
        course.begin(&wish("a"), 1);
        assert!(course.is_due(&wish("b"), seconds(1)));
        course.begin(&wish("b"), 2);
        course.end(1, outcome(GOOD), (seconds(2), 0.0));
        assert_eq!(course.outcome("b"), None);
        course.end(2, outcome(BAD), (seconds(3), 0.0));
        assert_eq!(course.outcome("b"), Some(&outcome(BAD)));
    }

    #[test]
    fn whoever_asks_gets_one_probe_and_may_ask_again() {
        let asking = Wish { about: "a", is_asked: true };
        let mut course = Course::default();
        probe(&mut course, &wish("a"), GOOD, seconds(0));
        probe(&mut course, &asking, GOOD, seconds(1));
        assert!(!course.is_due(&asking, seconds(100)), "once");
        course.note(&wish("a"));
        assert!(!course.is_due(&wish("a"), seconds(100)), "to stop asking is no question");
        assert!(course.is_due(&asking, seconds(101)));
    }

    #[test]
    fn a_failure_stands_while_it_is_tried_again() {
        let mut course = Course::default();
        probe(&mut course, &wish("a"), BAD, seconds(0));
        course.begin(&wish("a"), 2);
        assert_eq!(course.outcome("a"), Some(&outcome(BAD)));
    }
}
