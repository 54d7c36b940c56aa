//! Which state a watch is in, and what everything that may happen makes of it.
//!
//! Nothing here waits, asks or rolls dice: the time and the chance come in, and
//! what is to be done comes out.

use std::time::Duration;

use kollect_inventory::Sweep;
use tokio::time::Instant;

use super::{
    pace::Pace,
    trouble::{Failure, Sort, Trouble},
};
use crate::{ask::Refusal, list::error::ListError};

/// What a watch does, or does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Everything is read, in pages or as the beginning of a stream.
    Listing { start: Start },
    /// A stream tells what changes after a version.
    Watching { version: String },
    /// The stream has ended. Before another is opened after the version, the
    /// server is asked for its own: one that is ahead of the server would be
    /// answered with silence.
    Resuming { version: String },
    /// Somebody must do something before an answer can be had. Everything is
    /// read when there is one, but it is asked for rarely.
    Refused { start: Start },
}

/// How new a list must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// As the question says.
    AsAsked,
    /// Not older than what was heard.
    NotOlderThan(String),
    /// As the server's store has it now: versions heard before mean nothing.
    Now,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// A list has ended.
    Listed { version: String, sweep: Sweep },
    /// The server does not begin watches with lists.
    NotOffered,
    /// A list at the beginning of a stream has not come to its end.
    Interrupted(Failure),
    /// The server named its version.
    Newest(String),
    /// Everything is to be read again, whatever the server's version is.
    Again,
    /// Another watch found that the server's history is another.
    Replaced,
    /// A stream has been opened.
    Opened,
    /// A stream has ended in good order.
    Ended,
    /// A stream said nothing for too long.
    Silent,
    /// A list, a question or a stream has failed.
    Failed(Failure),
}

/// What follows from it, beside the new state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Turn {
    /// How long to wait before the state is acted on.
    pub(super) wait: Duration,
    pub(super) tell: Option<Tell>,
}

/// What the listener must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tell {
    Uncovered(Trouble),
    Recovered,
}

/// The state of a watch, and what it remembers of earlier ones.
#[derive(Debug)]
pub(super) struct Course {
    state: State,
    pace: Pace,
    /// Whether the next list is to be read in pages, because one that cannot be
    /// gone on with was cut.
    pages: bool,
    failures: u32,
    refusals: u32,
    /// Since when a stream is open.
    opened: Option<Instant>,
    /// When everything is listed once more.
    resync: Option<Instant>,
    /// What the listener knows of.
    trouble: Option<Trouble>,
    /// The version after which something could not be read.
    garbled: Option<String>,
}

impl Course {
    pub(super) fn new(pace: Pace) -> Self {
        Self {
            state: State::Listing { start: Start::AsAsked },
            pace,
            pages: false,
            failures: 0,
            refusals: 0,
            opened: None,
            resync: None,
            trouble: None,
            garbled: None,
        }
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    pub(super) fn pace(&self) -> &Pace {
        &self.pace
    }

    pub(super) fn is_listing(&self) -> bool {
        matches!(self.state, State::Listing { .. } | State::Refused { .. })
    }

    /// Whether a list may be asked for as the beginning of a stream.
    pub(super) fn may_stream(&self) -> bool {
        !self.pages
    }

    /// Notes up to which version a stream has told everything. Servers of long
    /// ago told of deletes with older versions, which never count.
    pub(super) fn moves_to(&mut self, heard: &str) {
        if let State::Watching { version } = &mut self.state
            && !heard.is_empty()
            && !is_lower(heard, version)
        {
            heard.clone_into(version);
        }
    }

    /// Whether the server is not as far as we are.
    pub(super) fn is_ahead_of(&self, heard: &str) -> bool {
        matches!(&self.state, State::Watching { version } if is_lower(heard, version))
    }

    /// Whether a version that the server named shows that its history was
    /// replaced.
    pub(super) fn is_behind(&self, newest: &str) -> bool {
        matches!(&self.state, State::Resuming { version } if is_lower(newest, version))
    }

    /// Something happened: goes into the next state.
    pub(super) fn takes(&mut self, input: Input, now: Instant, chance: f64) -> Turn {
        if matches!(input, Input::Ended | Input::Silent | Input::Failed(_) | Input::Interrupted(_))
        {
            self.closes(now);
        }
        match input {
            Input::Opened => {
                self.opened = Some(now);
                Turn::default()
            }
            Input::Listed { version, sweep } => self.listed(version, sweep, now, chance),
            Input::NotOffered => {
                self.pages = true;
                Turn::default()
            }
            Input::Interrupted(failure) => {
                self.pages = true;
                self.wait(failure.retry_after, chance)
            }
            Input::Newest(newest) => self.compared(&newest, now),
            Input::Again => {
                self.state = State::Listing { start: Start::Now };
                Turn::default()
            }
            Input::Replaced => self.replaced(),
            Input::Ended if self.failures == 0 && self.garbled.is_none() => {
                self.resume();
                // The server may do that at any time, but not all the time.
                self.failures += 1;
                Turn::default()
            }
            Input::Ended => {
                self.resume();
                self.wait(None, chance)
            }
            // There was time enough.
            Input::Silent => {
                self.resume();
                Turn::default()
            }
            Input::Failed(failure) => self.failed(failure, chance),
        }
    }

    /// A stream is no longer open; one that was open for long forgives
    /// what was before.
    fn closes(&mut self, now: Instant) {
        let opened = self.opened.take();
        if opened.is_some_and(|opened| now.duration_since(opened) >= self.pace.healthy_after) {
            (self.failures, self.refusals, self.garbled) = (0, 0, None);
        }
    }

    fn listed(&mut self, version: String, sweep: Sweep, now: Instant, chance: f64) -> Turn {
        self.pages = false;
        if sweep == Sweep::No {
            self.state = State::Listing { start: Start::Now };
            return self.wait(None, chance);
        }
        if version.is_empty() {
            let message = "the server names no version to watch from".to_owned();
            return self.refused(Start::Now, Trouble::Unusable(message), None, chance);
        }
        // Not all at once, if all began at once.
        self.resync = Some(now + self.pace.resync.mul_f64(0.9 + chance / 5.0));
        self.state = State::Watching { version };
        let tell = self.trouble.take().map(|_| Tell::Recovered);
        Turn { tell, ..Turn::default() }
    }

    fn compared(&mut self, newest: &str, now: Instant) -> Turn {
        if self.is_behind(newest) {
            return self.replaced();
        }
        let State::Resuming { version } = &self.state else { return Turn::default() };
        let version = version.clone();
        self.state = if self.resync.is_some_and(|due| now >= due) {
            State::Listing { start: Start::NotOlderThan(version) }
        } else {
            State::Watching { version }
        };
        Turn::default()
    }

    /// Versions that were heard mean nothing: everything is read anew.
    fn replaced(&mut self) -> Turn {
        self.state = State::Listing { start: Start::Now };
        Turn { tell: self.uncovered(Trouble::Replaced), ..Turn::default() }
    }

    fn failed(&mut self, failure: Failure, chance: f64) -> Turn {
        let Failure { sort, retry_after, trouble } = failure;
        match (sort, &self.state) {
            (Sort::Standing, _) => self.refused(self.start_over(), trouble, retry_after, chance),
            (_, State::Listing { .. } | State::Refused { .. }) => {
                self.state = State::Listing { start: self.start_over() };
                let tell = self.uncovered(trouble);
                Turn { tell, ..self.wait(retry_after, chance) }
            }
            (Sort::Gone, _) => {
                self.state = State::Listing { start: self.start_over() };
                // What was missed is missed more with every second.
                let first = self.failures == 0;
                let turn = self.wait(retry_after, chance);
                if first { Turn::default() } else { turn }
            }
            (Sort::Garbled, State::Watching { version } | State::Resuming { version }) => {
                let again = self.garbled.replace(version.clone()) == Some(version.clone());
                if again {
                    // It would come every time.
                    self.state = State::Listing { start: self.start_over() };
                } else {
                    self.resume();
                }
                self.wait(retry_after, chance)
            }
            (Sort::Passing, _) => {
                self.resume();
                self.wait(retry_after, chance)
            }
        }
    }

    fn refused(
        &mut self,
        start: Start,
        trouble: Trouble,
        retry_after: Option<Duration>,
        chance: f64,
    ) -> Turn {
        self.state = State::Refused { start };
        let own = self.pace.refused.wait(self.refusals, chance);
        self.refusals = self.refusals.saturating_add(1);
        let wait = retry_after.map_or(own, |asked| asked.max(own));
        Turn { wait, tell: self.uncovered(trouble) }
    }

    fn resume(&mut self) {
        if let State::Watching { version } = &mut self.state {
            self.state = State::Resuming { version: std::mem::take(version) };
        }
    }

    /// How new a list must be that takes the place of this state.
    fn start_over(&self) -> Start {
        match &self.state {
            State::Listing { start } | State::Refused { start } => start.clone(),
            State::Watching { version } | State::Resuming { version } => {
                Start::NotOlderThan(version.clone())
            }
        }
    }

    /// Counts a failure, and waits for what the server asks for and for as long
    /// as we do by ourselves.
    fn wait(&mut self, retry_after: Option<Duration>, chance: f64) -> Turn {
        let own = self.pace.retry.wait(self.failures, chance);
        self.failures = self.failures.saturating_add(1);
        // Nobody can make us wait for ever.
        let asked = retry_after.unwrap_or_default().min(self.pace.refused.longest);
        Turn { wait: asked + own, tell: None }
    }

    /// Tells of a trouble that the listener does not know of.
    fn uncovered(&mut self, trouble: Trouble) -> Option<Tell> {
        let known = self.trouble.replace(trouble.clone());
        let is_new = known.is_none_or(|known| !known.is_like(&trouble));
        is_new.then_some(Tell::Uncovered(trouble))
    }
}

/// Where a refusal stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// In place of a stream.
    AtTheDoor,
    /// In a stream, before anything else.
    First,
    /// In a stream that had told something.
    Later,
}

impl Input {
    /// What a refusal means to a stream that was to begin with a list.
    ///
    /// Who does not know such streams says so with many codes: as a bad request
    /// if the option is unknown, as an error of its own in the stream if the
    /// storage behind cannot tell when the list is complete.
    pub(super) fn of_initial(refusal: &Refusal, said: Said) -> Self {
        let failure = Failure::from(refusal);
        match (&refusal.error, said) {
            (
                ListError::Forbidden { .. }
                | ListError::Unauthorized { .. }
                | ListError::NoCredentials { .. }
                | ListError::NotServed { .. },
                _,
            ) => Self::Failed(failure),
            // In pages, a list ahead of the server finds its way.
            (_, _) if refusal.ahead => Self::Interrupted(Failure { retry_after: None, ..failure }),
            (ListError::Server { code, .. }, Said::AtTheDoor) if *code < 500 => Self::NotOffered,
            (ListError::Server { .. }, Said::First) => Self::NotOffered,
            _ => Self::Interrupted(failure),
        }
    }
}

/// Whether a version is surely lower. Versions that are no numbers say nothing
/// about each other.
fn is_lower(version: &str, than: &str) -> bool {
    match (version.parse::<u64>(), than.parse::<u64>()) {
        (Ok(version), Ok(than)) => version < than,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
