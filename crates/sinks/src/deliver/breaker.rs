//! Leaves a sink alone that fails again and again, whoever asks.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use kollect_inventory::schedule::Moment;
use tokio::sync::watch;

use super::state::SinkKey;

/// So many failures in a row open the breaker.
const FAILURES: u32 = 5;
const OPEN_AT_FIRST: Duration = Duration::from_secs(30);
const OPEN_AT_MOST: Duration = Duration::from_mins(10);

/// What is known about one sink.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Breaker {
    /// Transient failures since the last success.
    failures: u32,
    /// How often it has opened since then, and until when it is open.
    open: Option<(u32, Moment)>,
    /// Whether somebody has been let through to try.
    on_trial: bool,
}

/// Whether somebody may go to the sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    Pass,
    /// Not before this time; another may have shown then that all is well.
    Wait(Moment),
}

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Call {
    /// The sink did what was asked, or said clearly why it will not.
    Answered,
    /// It failed in a way that may pass. Random, from zero to one, takes away
    /// up to half of the wait.
    Failed { jitter: f64 },
    /// It was not called after all.
    Given,
}

impl Breaker {
    /// Asks for a way through.
    pub(super) fn enter(&mut self, now: Moment) -> Gate {
        match self.open {
            None => Gate::Pass,
            Some((_, until)) if now < until => Gate::Wait(until),
            // One tries; the others wait for what it finds.
            Some(_) if self.on_trial => Gate::Wait(now + Duration::from_secs(1)),
            Some(_) => {
                self.on_trial = true;
                Gate::Pass
            }
        }
    }

    /// Takes note of a call; whether the sink has just recovered.
    pub(super) fn leave(&mut self, call: Call, now: Moment) -> bool {
        match call {
            Call::Answered => {
                let recovered = self.open.is_some();
                *self = Self::default();
                recovered
            }
            Call::Failed { jitter } => {
                self.failures = self.failures.saturating_add(1);
                self.on_trial = false;
                // Who was let through before it opened says nothing new.
                let is_known = self.open.is_some_and(|(_, until)| now < until);
                if self.failures >= FAILURES && !is_known {
                    let times = self.open.map_or(0, |(times, _)| times + 1);
                    let wait = OPEN_AT_FIRST.saturating_mul(1 << times.min(16)).min(OPEN_AT_MOST);
                    let wait = wait.mul_f64(1.0 - jitter.clamp(0.0, 1.0) / 2.0);
                    self.open = Some((times, now + wait));
                }
                false
            }
            Call::Given => {
                self.on_trial = false;
                false
            }
        }
    }
}

/// The breakers of all sinks.
#[derive(Debug, Default)]
pub(super) struct Breakers(Mutex<BTreeMap<SinkKey, (Breaker, watch::Sender<()>)>>);

impl Breakers {
    /// Changes or reads the breaker of a sink.
    pub(super) fn of<T>(&self, sink: &SinkKey, operation: impl FnOnce(&mut Breaker) -> T) -> T {
        let mut breakers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        operation(&mut breakers.entry(sink.clone()).or_default().0)
    }

    /// Takes note of a call, and tells everybody if the sink has recovered.
    pub(super) fn leave(&self, sink: &SinkKey, call: Call, now: Moment) {
        let mut breakers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (breaker, recovered) = breakers.entry(sink.clone()).or_default();
        if breaker.leave(call, now) {
            recovered.send_replace(());
        }
    }

    /// Whether a sink is left alone, or on trial after that.
    pub(super) fn is_open(&self, sink: &SinkKey) -> bool {
        let breakers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        breakers.get(sink).is_some_and(|(breaker, _)| breaker.open.is_some())
    }

    /// Forgets what is known about a sink, because it is another now.
    pub(super) fn forget(&self, sink: &SinkKey) {
        self.of(sink, |breaker| *breaker = Breaker::default());
    }

    /// Tells when the sink has recovered.
    pub(super) fn recovery(&self, sink: &SinkKey) -> watch::Receiver<()> {
        let mut breakers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        breakers.entry(sink.clone()).or_default().1.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: Call = Call::Failed { jitter: 0.0 };

    fn at(seconds: u64) -> Moment {
        Duration::from_secs(seconds)
    }

    fn broken(failures: u32) -> Breaker {
        let mut breaker = Breaker::default();
        for _ in 0..failures {
            breaker.leave(FAILED, at(100));
        }
        breaker
    }

    #[test]
    fn five_failures_in_a_row_open_it_however_far_apart() {
        assert_eq!(broken(4).enter(at(100)), Gate::Pass);
        assert_eq!(broken(5).enter(at(100)), Gate::Wait(at(130)));
        let mut mended = broken(4);
        assert!(!mended.leave(Call::Answered, at(100)));
        assert!(!mended.leave(FAILED, at(5_000)));
        assert_eq!(mended.enter(at(5_000)), Gate::Pass);
    }

    #[test]
    fn one_tries_while_the_others_wait() {
        let mut breaker = broken(5);
        assert_eq!(breaker.enter(at(130)), Gate::Pass);
        assert_eq!(breaker.enter(at(130)), Gate::Wait(at(131)));
        assert!(breaker.leave(Call::Answered, at(132)));
        assert_eq!(breaker.enter(at(132)), Gate::Pass);
    }

    /// Fifty exports that fail in the same second are one failure.
    #[test]
    fn many_that_fail_together_do_not_keep_it_open_longer() {
        assert_eq!(broken(50).enter(at(100)), Gate::Wait(at(130)));
        assert_eq!(broken(50).enter(at(130)), Gate::Pass);
    }

    #[test]
    fn it_stays_open_longer_each_time_and_never_for_ever() {
        let mut breaker = broken(5);
        let mut now = at(130);
        for expected in [60, 120, 240, 480, 600, 600] {
            assert_eq!(breaker.enter(now), Gate::Pass);
            breaker.leave(FAILED, now);
            let Gate::Wait(until) = breaker.enter(now) else { panic!("it is closed") };
            assert_eq!(until, now + at(expected));
            now = until;
        }
        breaker.enter(now);
        breaker.leave(Call::Failed { jitter: 1.0 }, now);
        assert_eq!(breaker.enter(now), Gate::Wait(now + at(300)));
    }

    #[test]
    fn a_trial_that_was_not_made_leaves_the_way_to_the_next() {
        let mut breaker = broken(5);
        assert_eq!(breaker.enter(at(130)), Gate::Pass);
        breaker.leave(Call::Given, at(130));
        assert_eq!(breaker.enter(at(130)), Gate::Pass);
    }
}
