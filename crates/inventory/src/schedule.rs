//! When a pair of inventory and sink does what: decisions over time passed in.

use std::time::Duration;

/// A point in time, counted from the start of the process.
pub type Moment = Duration;

/// Changes that come closer together than this travel together, and no change
/// waits longer than the second time for others.
const COALESCE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(250));
/// The same where there is no gap between exports, because one costs little.
const COALESCE_ROWS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(20));
/// Timers do not fire more often than this.
const TIMER_AT_LEAST: Duration = Duration::from_secs(1);

/// How a pair is paced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// Least time between two exports; zero for row-wise sinks.
    pub min_gap: Duration,
    /// After this long without an export the copy is verified; zero never.
    pub interval: Duration,
    /// After this long since the last comparison the whole copy is compared
    /// with the rows, whatever is recorded; zero never.
    pub compare: Duration,
}

/// What a pair has been through.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct History {
    /// Changes that have not been exported: when the first came, and the last.
    pub waiting: Option<(Moment, Moment)>,
    /// When the last export or verification that succeeded ended.
    pub verified: Option<Moment>,
    /// The last export that succeeded: when it ended, and how long it took.
    pub exported: Option<(Moment, Duration)>,
    /// When the whole copy was last compared with the rows.
    pub compared: Option<Moment>,
    /// Failures since then.
    pub failure: Option<Failure>,
}

/// Failures in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failure {
    /// When the last of them happened.
    pub at: Moment,
    /// What kind it was.
    pub class: ErrorClass,
    /// How many there have been.
    pub attempts: u32,
    /// Random, from zero to one, drawn when it happened: it takes away up to
    /// half of the wait, so that many pairs do not return together.
    pub jitter: f64,
}

/// What can be done about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// It may pass by itself.
    Transient,
    /// Somebody has to change something.
    Terminal,
}

/// What a pair does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Export what has changed.
    Export,
    /// Compare the whole copy with the rows.
    Compare,
    /// Read what the destination has recorded.
    Verify,
    /// Look again at this time.
    At(Moment),
    /// Wait for a change.
    Idle,
}

impl Failure {
    /// When to try again.
    pub fn retry_at(&self) -> Moment {
        let (first, most) = match self.class {
            ErrorClass::Transient => (Duration::from_secs(1), Duration::from_mins(5)),
            ErrorClass::Terminal => (Duration::from_mins(5), Duration::from_mins(30)),
        };
        let doublings = self.attempts.saturating_sub(1).min(16);
        let wait = first.saturating_mul(1 << doublings).min(most);
        self.at + wait.mul_f64(1.0 - self.jitter.clamp(0.0, 1.0) / 2.0)
    }
}

/// What a pair that is not exporting does at `now`.
///
/// A change goes out at once after a quiet gap, together with what comes in
/// the same moment. After a failure nothing but time counts: new rows neither
/// trigger nor shorten a retry.
pub fn next(history: &History, pace: &Pace, now: Moment) -> Next {
    let History { waiting, verified, exported, compared, failure } = history;
    if let Some(failure) = failure {
        let retry = failure.retry_at();
        return if retry <= now { Next::Export } else { Next::At(retry) };
    }
    let export = waiting.map(|(first, last)| {
        let (apart, most) = if pace.min_gap.is_zero() { COALESCE_ROWS } else { COALESCE };
        let together = (last + apart).min(first + most);
        (together.max(gap_ends(exported.as_ref(), pace)), Next::Export)
    });
    let after = |since: Option<Moment>, wait: Duration, what| match since {
        Some(since) if !wait.is_zero() => Some((since + wait.max(TIMER_AT_LEAST), what)),
        _ => None,
    };
    let compare = after(*compared, pace.compare, Next::Compare);
    let verify = match waiting {
        Some(_) => None,
        None => after(*verified, pace.interval, Next::Verify),
    };
    // A comparison brings whatever an export or a verification would.
    let due = [compare, export, verify].into_iter().flatten();
    match due.clone().find(|(at, _)| *at <= now) {
        Some((_, what)) => what,
        None => due.map(|(at, _)| at).min().map_or(Next::Idle, Next::At),
    }
}

/// When the next export may begin: a gap is never shorter than twice the last
/// export, so that a slow destination is not busy all the time.
fn gap_ends(exported: Option<&(Moment, Duration)>, pace: &Pace) -> Moment {
    match exported {
        Some((ended, took)) if !pace.min_gap.is_zero() => *ended + pace.min_gap.max(*took * 2),
        _ => Moment::ZERO,
    }
}

/// How far a copy may lag before it is no longer called in sync.
pub fn lag_limit(pace: &Pace, last_export: Duration) -> Duration {
    let gap =
        if pace.min_gap.is_zero() { Duration::ZERO } else { pace.min_gap.max(last_export * 2) };
    (gap * 3 + last_export).max(Duration::from_secs(30))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: Pace = Pace {
        min_gap: Duration::ZERO,
        interval: Duration::from_secs(30),
        compare: Duration::ZERO,
    };
    const GIT: Pace = Pace {
        min_gap: Duration::from_secs(2),
        interval: Duration::from_hours(1),
        compare: Duration::ZERO,
    };

    fn ms(milliseconds: u64) -> Moment {
        Duration::from_millis(milliseconds)
    }

    #[track_caller]
    fn check(history: History, pace: Pace, now: Moment, expected: Next) {
        assert_eq!(next(&history, &pace, now), expected);
    }

    fn waiting(first: u64, last: u64) -> History {
        History { waiting: Some((ms(first), ms(last))), ..History::default() }
    }

    /// R17.
    #[test]
    fn changes_wait_a_moment_for_each_other_and_never_long() {
        check(waiting(0, 0), GIT, ms(49), Next::At(ms(50)));
        check(waiting(0, 0), GIT, ms(50), Next::Export);
        check(waiting(0, 240), GIT, ms(249), Next::At(ms(250)));
        check(waiting(0, 249), GIT, ms(250), Next::Export);
    }

    /// R17, for sinks that take single rows as gladly as many.
    #[test]
    fn rows_wait_for_each_other_hardly_at_all() {
        check(waiting(0, 0), ROWS, ms(4), Next::At(ms(5)));
        check(waiting(0, 0), ROWS, ms(5), Next::Export);
        check(waiting(0, 18), ROWS, ms(19), Next::At(ms(20)));
        check(waiting(0, 19), ROWS, ms(20), Next::Export);
    }

    /// R18.
    #[test]
    fn a_gap_holds_the_second_change_and_not_the_first() {
        let quiet = History { exported: Some((ms(1_000), ms(100))), ..waiting(60_000, 60_000) };
        check(quiet, GIT, ms(60_050), Next::Export);
        let busy = History { exported: Some((ms(60_000), ms(100))), ..waiting(60_010, 60_010) };
        check(busy, GIT, ms(60_100), Next::At(ms(62_000)));
        let slow = History { exported: Some((ms(60_000), ms(5_000))), ..waiting(60_010, 60_010) };
        check(slow, GIT, ms(62_000), Next::At(ms(70_000)));
        check(slow, ROWS, ms(60_100), Next::Export);
    }

    /// R19: a look at the record is no export.
    #[test]
    fn a_verification_holds_no_change_back() {
        let verified = History {
            verified: Some(ms(60_000)),
            exported: Some((ms(1_000), ms(100))),
            ..waiting(60_010, 60_010)
        };
        check(verified, GIT, ms(60_060), Next::Export);
    }

    /// R19: the trace of three refs with intervals of an hour, 30 s and none.
    #[test]
    fn an_interval_verifies_and_never_delays_a_change() {
        let exported = History {
            verified: Some(ms(0)),
            exported: Some((ms(0), ms(10))),
            ..History::default()
        };
        let never = Pace { interval: Duration::ZERO, ..ROWS };
        check(exported, ROWS, ms(29_999), Next::At(ms(30_000)));
        check(exported, ROWS, ms(30_000), Next::Verify);
        check(exported, GIT, ms(30_000), Next::At(ms(3_600_000)));
        check(exported, never, ms(30_000), Next::Idle);
        let changed = History { waiting: Some((ms(70_000), ms(70_000))), ..exported };
        for pace in [ROWS, GIT, never] {
            check(changed, pace, ms(70_050), Next::Export);
        }
        let hasty = Pace { interval: ms(10), ..ROWS };
        check(exported, hasty, ms(500), Next::At(ms(1_000)));
    }

    /// R15.
    #[test]
    fn the_whole_copy_is_compared_now_and_then() {
        let pace = Pace { compare: Duration::from_hours(6), ..ROWS };
        let six_hours = Duration::from_hours(6);
        let compared = History {
            verified: Some(six_hours),
            compared: Some(Moment::ZERO),
            ..History::default()
        };
        check(compared, pace, Duration::from_hours(5), Next::At(six_hours));
        check(compared, pace, six_hours, Next::Compare);
        let changed = History { waiting: Some((ms(0), ms(0))), ..compared };
        check(changed, pace, six_hours, Next::Compare);
        check(changed, pace, ms(50), Next::Export);
    }

    #[test]
    fn a_pair_that_has_done_nothing_waits_for_a_change() {
        check(History::default(), ROWS, ms(100_000), Next::Idle);
    }

    /// R20.
    #[test]
    fn retries_double_and_new_rows_do_not_shorten_them() {
        let failed = |class, attempts| Failure { at: ms(0), class, attempts, jitter: 0.0 };
        let waits =
            |class| [1, 2, 3, 9, 40].map(|attempts| failed(class, attempts).retry_at().as_secs());
        assert_eq!(waits(ErrorClass::Transient), [1, 2, 4, 256, 300]);
        assert_eq!(waits(ErrorClass::Terminal), [300, 600, 1200, 1800, 1800]);
        let hasty = Failure { jitter: 1.0, ..failed(ErrorClass::Transient, 3) };
        assert_eq!(hasty.retry_at(), ms(2_000));
        let history =
            History { failure: Some(failed(ErrorClass::Transient, 3)), ..waiting(10, 10) };
        check(history, ROWS, ms(3_999), Next::At(ms(4_000)));
        check(history, ROWS, ms(4_000), Next::Export);
    }

    /// R22.
    #[test]
    fn the_limit_of_lag_follows_the_pace() {
        assert_eq!(lag_limit(&ROWS, ms(100)), Duration::from_secs(30));
        assert_eq!(lag_limit(&GIT, ms(100)), Duration::from_secs(30));
        assert_eq!(lag_limit(&GIT, ms(20_000)), Duration::from_secs(140));
    }
}
