//! One inventory and one sink: wake, gather, export, acknowledge.

mod attempt;
mod prepare;
mod settle;
mod report;
mod configure;

use std::{collections::BTreeMap, sync::Arc, thread, time::Duration};

use jiff::Timestamp;
use kollect_inventory::{
    CursorId, Identity, ViewId, Watermark,
    schedule::{self, ErrorClass, History, Moment, Next, Pace},
    watermark::Expected,
};
use tokio::sync::{mpsc, oneshot, watch};

use self::{attempt::Attempt, settle::Then};
use super::{
    breaker::{Call, Gate},
    context::Context,
    ledger::Bell,
    scrub::Scrub,
    state::{Failed, PairKey, PairState, Work},
    stop::Stop,
};
use crate::{
    schema::Schema,
    sink::{Farewell, Receipt, Sink, SinkError},
};

/// So often a pair repeats at once what a moving destination made void.
const AT_ONCE: usize = 6;
/// Conflicts with another writer are counted over this time.
const CONFLICTS_WITHIN: Duration = Duration::from_mins(10);
/// And so many of them need somebody to look.
const MOST_CONFLICTS: usize = 3;
/// So many refused rows are named.
const MOST_NAMED: usize = 20;

/// Everything about a pair that is decided outside of it.
#[derive(Clone, Debug)]
pub struct PairSettings {
    /// What is copied.
    pub view: ViewId,
    pub schema: Arc<Schema>,
    /// Generation of the inventory.
    pub generation: i64,
    /// Where it is copied to.
    pub sink: Arc<dyn Sink>,
    pub scrub: Scrub,
    /// Changes when the copy may have to be another: uid and spec of the
    /// inventory.
    pub source: String,
    /// Changes when the destination may be another: generation of the sink,
    /// versions of its Secrets.
    pub destination: String,
    pub pace: Pace,
    pub unit: Unit,
    /// Most bytes of one document, if it is cut.
    pub limit: Option<usize>,
    /// About so many rows go into one export.
    pub batch: usize,
    /// An export that shows no progress for so long is given up.
    pub deadline: Duration,
    /// So long the first export waits for rows that have not been read.
    pub warmup: Duration,
}

/// What a sink writes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Rows, or a file for each: the change is enough.
    Rows,
    /// A document, for which all rows are needed.
    Document,
}

/// What a pair is told.
#[derive(Debug)]
pub(crate) enum Command {
    Configure(Box<PairSettings>),
    Compare,
    Retire {
        farewell: Farewell,
        budget: Duration,
        answer: oneshot::Sender<Result<Receipt, String>>,
    },
    Stop,
}

/// One pair and what it has been through.
#[derive(Debug)]
pub(crate) struct Pair {
    key: PairKey,
    settings: PairSettings,
    context: Arc<Context>,
    cursor: CursorId,
    bell: Bell,
    started: Moment,
    history: History,
    /// What the last failure said, without secrets.
    trouble: Option<String>,
    expected: Expected,
    /// What the destination has acknowledged, and for which generation.
    acknowledged: Option<(Watermark, i64)>,
    /// When the last export was gathered that brought everything.
    fresh: Option<Moment>,
    /// Since when the copy was last said to be behind.
    behind: Option<Moment>,
    /// Rows that the destination does not have because it refuses them.
    refused: BTreeMap<Identity<'static>, String>,
    /// When somebody else was found to have written.
    conflicts: Vec<Moment>,
    /// Nothing is done before this time, and why; new rows may end it.
    hold: Option<Hold>,
    /// Whether somebody has asked for a comparison that has not been done.
    is_asked: bool,
    last_export: Option<Timestamp>,
    last_success: Option<Timestamp>,
    receipt: Option<Receipt>,
    state: watch::Sender<PairState>,
}

/// Why a pair waits although there is work.
#[derive(Clone, Debug)]
struct Hold {
    until: Moment,
    why: String,
    /// Whether news from the store end it.
    for_rows: bool,
}

/// What ended a wait.
enum Event {
    Time,
    Rows,
    Recovered,
    Lease,
    Told(Command),
    Stopped,
}

impl Pair {
    pub(crate) fn new(
        key: PairKey,
        settings: PairSettings,
        context: Arc<Context>,
        state: watch::Sender<PairState>,
    ) -> Self {
        let (cursor, bell) = context.ledger.follow(settings.view);
        let started = context.clock.moment();
        let mut pair = Self {
            key,
            settings,
            cursor,
            bell,
            started,
            history: History::default(),
            trouble: None,
            expected: Expected::Unread,
            acknowledged: None,
            fresh: None,
            behind: None,
            refused: BTreeMap::new(),
            conflicts: Vec::new(),
            hold: None,
            is_asked: false,
            last_export: None,
            last_success: None,
            receipt: None,
            state,
            context,
        };
        pair.due_at_once();
        pair
    }

    /// Works until told to stop. What the destination has not acknowledged by
    /// then is left to whoever comes next.
    pub(super) async fn run(
        mut self,
        mut commands: mpsc::UnboundedReceiver<Command>,
        stop: Stop,
    ) -> PairKey {
        let mut recovery = self.context.breakers().recovery(&self.key.sink);
        let mut lease = self.context.lease.held();
        while !stop.is_asked() {
            self.tell_lag();
            if let Ok(command) = commands.try_recv() {
                if self.obey(command, &stop).await {
                    break;
                }
                continue;
            }
            let may_write = *lease.borrow_and_update();
            let until = match self.due() {
                _ if !may_write => None,
                Ok(work) => {
                    self.turn(work, &stop).await;
                    continue;
                }
                Err(until) => until,
            };
            // News that make no difference do not wake anybody.
            let listens = match &self.hold {
                Some(hold) => hold.for_rows,
                None => self.history.waiting.is_none(),
            };
            let now = self.now();
            let until = [until, self.lag_ends()].into_iter().flatten().min();
            let event = tokio::select! {
                biased;
                () = stop.asked() => Event::Stopped,
                command = commands.recv() => command.map_or(Event::Stopped, Event::Told),
                Ok(()) = lease.changed() => Event::Lease,
                Ok(()) = recovery.changed() => Event::Recovered,
                Ok(()) = self.bell.changed(), if listens => Event::Rows,
                () = sleep(until, now) => Event::Time,
            };
            match event {
                Event::Stopped => break,
                Event::Told(command) => {
                    if self.obey(command, &stop).await {
                        break;
                    }
                }
                Event::Rows => self.rows_came(),
                Event::Recovered => self.sink_recovered(),
                Event::Lease => {}
                Event::Time => self.time_passed(),
            }
        }
        self.key.clone()
    }

    fn now(&self) -> Moment {
        self.context.clock.moment()
    }

    /// What is due now, or else when to look again.
    fn due(&mut self) -> Result<Work, Option<Moment>> {
        let now = self.now();
        // One that is over must not keep anybody from listening.
        self.hold = self.hold.take().filter(|hold| now < hold.until);
        if let Some(hold) = &self.hold {
            return Err(Some(hold.until));
        }
        match schedule::next(&self.history, &self.settings.pace, now) {
            Next::Export if self.is_asked => Ok(Work::Compare),
            Next::Export => Ok(Work::Export),
            Next::Compare => Ok(Work::Compare),
            Next::Verify => Ok(Work::Verify),
            Next::At(moment) => Err(Some(moment)),
            Next::Idle => Err(None),
        }
    }

    /// Does one piece of work at the destination, again where the destination
    /// turned out to be another than we thought.
    pub(crate) async fn turn(&mut self, mut work: Work, stop: &Stop) {
        self.hold = None;
        let began = self.now();
        for _ in 0..AT_ONCE {
            let now = self.now();
            let sink = self.key.sink.clone();
            if let Gate::Wait(until) = self.context.breakers().of(&sink, |one| one.enter(now)) {
                return self.wait_for("the sink fails again and again, and is left alone", until);
            }
            let Some(attempt) = self.prepare(work) else {
                self.context.breakers().leave(&sink, Call::Given, now);
                // What waited may have come to nothing.
                return self.publish();
            };
            let outcome = self.run_attempt(&attempt, stop).await;
            match self.settle(attempt, outcome).await {
                Then::Rest => return self.publish(),
                Then::Again(next) => work = next,
            }
        }
        let (class, message) =
            (ErrorClass::Transient, self.settings.scrub.error(&SinkError::Unsteady));
        let failed = Failed { class, is_refused: false, message: &message };
        self.report(work, self.now().saturating_sub(began), Err(failed));
        self.failed(class, message);
    }

    /// Does what it is told; whether that was the last.
    async fn obey(&mut self, command: Command, stop: &Stop) -> bool {
        match command {
            Command::Configure(settings) => self.configure(*settings),
            Command::Compare => {
                self.is_asked = true;
                self.due_at_once();
                // R14: without the lease it waits for it.
                if *self.context.lease.held().borrow() {
                    self.turn(Work::Compare, stop).await;
                }
            }
            Command::Retire { farewell, budget, answer } => {
                let outcome = self.retire(farewell, budget, stop).await;
                // Whoever asked may have gone meanwhile; then nobody needs it.
                drop(answer.send(outcome));
                return true;
            }
            Command::Stop => return true,
        }
        false
    }

    /// Whether there is something to export.
    #[cfg(feature = "conformance")]
    pub(crate) fn is_waiting(&self) -> bool {
        self.history.waiting.is_some()
    }

    #[cfg(feature = "conformance")]
    pub(crate) fn settings_mut(&mut self) -> &mut PairSettings {
        &mut self.settings
    }

    fn rows_came(&mut self) {
        let now = self.now();
        self.bell.mark_unchanged();
        if self.hold.as_ref().is_some_and(|hold| hold.for_rows) {
            self.hold = None;
        }
        let (first, _) = self.history.waiting.unwrap_or((now, now));
        self.history.waiting = Some((first, now));
        self.tell_lag();
    }

    fn time_passed(&mut self) {
        if self.bell.has_changed().unwrap_or(false) {
            self.rows_came();
        }
        self.publish();
    }

    /// R20: the first success after a breaker opened wakes all pairs.
    fn sink_recovered(&mut self) {
        let transient = |failure: &schedule::Failure| failure.class == ErrorClass::Transient;
        if self.history.failure.as_ref().is_some_and(transient) || self.hold.is_some() {
            self.history.failure = None;
            self.hold = None;
            self.due_at_once();
        }
    }

    /// The next export is everything, and is due.
    fn start_over(&mut self) {
        self.context.ledger.quietly(self.cursor, |store| store.start_over(self.cursor));
        self.due_at_once();
    }

    /// What waits has waited long enough.
    fn due_at_once(&mut self) {
        self.history.waiting = Some((Moment::ZERO, Moment::ZERO));
    }

    fn wait_for(&mut self, why: &str, until: Moment) {
        self.hold = Some(Hold { until, why: why.to_owned(), for_rows: false });
        self.publish();
    }

    fn failed(&mut self, class: ErrorClass, message: String) {
        let attempts = self.history.failure.map_or(0, |failure| failure.attempts) + 1;
        let (at, jitter) = (self.now(), self.context.clock.chance());
        self.history.failure = Some(schedule::Failure { at, class, attempts, jitter });
        self.trouble = Some(message);
        self.publish();
    }
}

impl Drop for Pair {
    /// Gives the cursor up, however the pair ended. One that ended by a bug of
    /// ours must not go on saying that all is well.
    fn drop(&mut self) {
        self.context.ledger.unfollow(self.cursor);
        if thread::panicking() {
            let now = self.context.clock.moment();
            self.context.breakers().leave(&self.key.sink, Call::Given, now);
            self.broke_down();
        }
    }
}

/// Sleeps until a moment; for ever if there is none.
async fn sleep(until: Option<Moment>, now: Moment) {
    match until {
        Some(until) => tokio::time::sleep(until.saturating_sub(now)).await,
        None => std::future::pending().await,
    }
}
