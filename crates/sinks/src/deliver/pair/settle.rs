//! What follows from how an export went.

use std::time::Duration;

use kollect_inventory::{
    Effect, PartitionKey,
    schedule::{ErrorClass, Failure, Moment},
    watermark::{Conflict, Expected, Token},
};

use tokio::time::timeout;

use super::{Attempt, CONFLICTS_WITHIN, Hold, MOST_CONFLICTS, Pair, attempt::Ended, sleep};
use crate::{
    deliver::{
        breaker::Call,
        state::{Failed, Work},
        stop::Stop,
    },
    sink::{Farewell, Receipt, SinkError, Wrote},
};

/// Who has lost the lease without noticing looks again after this time.
const ASK_AGAIN: Duration = Duration::from_secs(10);

/// What a pair does after an attempt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Then {
    Rest,
    Again(Work),
}

/// What an error asks for.
#[derive(Debug, PartialEq, Eq)]
enum Reaction<'a> {
    /// Gather again, above this number.
    Lift(i64),
    /// Compare everything.
    StartOver,
    /// Compare everything; the record is ours, or somebody else's.
    Reread(Conflict, Option<&'a Token>),
    /// Wait for rows that a document held.
    Wait(&'a [PartitionKey]),
    /// Count it, and try again later.
    Fail(ErrorClass),
}

fn reaction(error: &SinkError) -> Reaction<'_> {
    match error {
        SinkError::Behind(number) => Reaction::Lift(*number),
        SinkError::OutOfStep => Reaction::StartOver,
        SinkError::Conflict { cause, found } => Reaction::Reread(*cause, found.as_ref()),
        SinkError::Waiting(partitions) => Reaction::Wait(partitions),
        other => Reaction::Fail(other.class()),
    }
}

impl Attempt {
    /// Once more with everything; a comparison remains one.
    fn again(&self) -> Then {
        Then::Again(if self.work == Work::Compare { Work::Compare } else { Work::Export })
    }
}

impl Pair {
    /// Acknowledges, or takes note of what went wrong.
    pub(super) async fn settle(&mut self, attempt: Attempt, ended: Ended) -> Then {
        let took = self.now().saturating_sub(attempt.gathered);
        match ended {
            Ended::Done(Ok(receipt)) => {
                let receipt = self.settings.scrub.receipt(receipt);
                self.succeeded(&attempt, receipt, took)
            }
            Ended::Done(Err(error)) => self.went_wrong(&attempt, &error, took).await,
            // Nobody knows what became of it; the next process will compare.
            Ended::Abandoned => {
                self.context.breakers().leave(&self.key.sink, Call::Given, self.now());
                Then::Rest
            }
        }
    }

    fn succeeded(&mut self, attempt: &Attempt, receipt: Receipt, took: Duration) -> Then {
        let now = self.now();
        let Attempt { work, ticket, gathered, is_last, export } = attempt;
        self.context.breakers().leave(&self.key.sink, Call::Answered, now);
        self.report(*work, took, Ok(&receipt));
        let expected = receipt.token.clone().map_or(Expected::Nothing, Expected::Token);
        self.expected = expected;
        self.history.verified = Some(now);
        self.last_success = Some(self.context.clock.timestamp());
        if ticket.is_some() {
            self.history.exported = Some((now, took));
            self.last_export = self.last_success;
        }
        (self.history.failure, self.trouble) = (None, None);
        let Some(ticket) = ticket else {
            return self.verified(receipt);
        };
        let (counts, due) = self.context.ledger.quietly(self.cursor, |store| {
            (store.acknowledge(self.cursor, *ticket), store.is_due(self.cursor))
        });
        if !counts {
            return attempt.again();
        }
        if self.settings.sink.lists_refusals() {
            self.refused.clear();
        } else {
            self.forget_refused(&export.change);
        }
        self.refused
            .extend(receipt.refused.iter().map(|row| (row.identity.clone(), row.reason.clone())));
        let mut watermark = export.watermark;
        watermark.content = watermark.content.filter(|_| self.refused.is_empty());
        self.acknowledged = Some((watermark, export.generation));
        if *is_last {
            self.fresh = Some(*gathered);
        }
        if export.change.is_everything()
            && (*work == Work::Compare || self.history.compared.is_none())
        {
            self.history.compared = Some(now);
        }
        self.is_asked &= *work != Work::Compare;
        if receipt.wrote != Wrote::Nothing {
            self.receipt = Some(receipt);
        }
        // What came meanwhile has waited while the export ran; what did not
        // fit into it has waited since it came.
        let since = match self.history.waiting {
            Some((first, _)) if !*is_last => first,
            _ => Moment::ZERO,
        };
        self.history.waiting = due.then_some((since, Moment::ZERO));
        Then::Rest
    }

    /// A look at the record found it as it was. If the sink could write
    /// something that had been in the way, everything is compared, because
    /// rows that were refused may be there now.
    fn verified(&mut self, receipt: Receipt) -> Then {
        if receipt.wrote == Wrote::Nothing {
            return Then::Rest;
        }
        self.start_over();
        Then::Again(Work::Compare)
    }

    async fn went_wrong(&mut self, attempt: &Attempt, error: &SinkError, took: Duration) -> Then {
        let now = self.now();
        if let Some(ticket) = attempt.ticket {
            let effect = error.effect();
            self.context
                .ledger
                .quietly(self.cursor, |store| store.fail(self.cursor, ticket, effect));
        } else if error.effect() == Effect::Unknown {
            self.start_over();
        }
        let reaction = reaction(error);
        let transient = reaction == Reaction::Fail(ErrorClass::Transient);
        let call = if transient {
            Call::Failed { jitter: self.context.clock.chance() }
        } else {
            Call::Answered
        };
        self.context.breakers().leave(&self.key.sink, call, now);
        match reaction {
            Reaction::Lift(number) => {
                self.context.ledger.with(|store| store.lift(number));
                Then::Again(attempt.work)
            }
            Reaction::StartOver => {
                self.start_over();
                attempt.again()
            }
            Reaction::Reread(cause, found) => self.reread(cause, found, attempt, took).await,
            Reaction::Wait(_) => {
                let until = self.started + self.settings.warmup;
                let why = self.settings.scrub.error(error);
                self.hold = Some(Hold { until, why, for_rows: true });
                self.due_at_once();
                Then::Rest
            }
            Reaction::Fail(class) => {
                let message = self.settings.scrub.error(error);
                let is_refused = matches!(error, SinkError::Refused { .. });
                let failed = Failed { class, is_refused, message: &message };
                self.report(attempt.work, took, Err(failed));
                self.failed(class, message);
                Then::Rest
            }
        }
    }

    /// R14: the record is not the one that we know.
    async fn reread(
        &mut self,
        cause: Conflict,
        found: Option<&Token>,
        attempt: &Attempt,
        took: Duration,
    ) -> Then {
        self.start_over();
        let now = self.now();
        if cause == Conflict::Foreign {
            // What we expected stays, so that nothing is written without asking.
            let confirmed = timeout(ASK_AGAIN, self.context.lease.confirm()).await;
            if !confirmed.unwrap_or(false) {
                self.wait_for("another process writes this copy now", now + ASK_AGAIN);
                return Then::Rest;
            }
            self.conflicts.retain(|at| now.saturating_sub(*at) < CONFLICTS_WITHIN);
            self.conflicts.push(now);
        }
        self.expected = found.cloned().map_or(Expected::Nothing, Expected::Token);
        if cause == Conflict::OurOwn || self.conflicts.len() < MOST_CONFLICTS {
            return attempt.again();
        }
        let writer = found.map_or("nobody we know", |token| token.writer.as_str());
        let message = format!(
            "somebody else keeps writing this copy: {} times in ten minutes, last by {writer}; \
             give each cluster and each installation its own name or place",
            self.conflicts.len()
        );
        // Whoever wrote there has chosen its name.
        let message = self.settings.scrub.text(&message);
        let class = ErrorClass::Terminal;
        self.report(
            attempt.work,
            took,
            Err(Failed { class, is_refused: false, message: &message }),
        );
        self.failed(class, message);
        Then::Rest
    }

    /// R31: takes leave of the destination, trying until the time is over.
    pub(crate) async fn retire(
        &mut self,
        farewell: Farewell,
        budget: Duration,
        stop: &Stop,
    ) -> Result<Receipt, String> {
        let ends = self.now() + budget;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let error = match self.run_retire(farewell, stop).await {
                Ended::Done(Ok(receipt)) => return Ok(self.settings.scrub.receipt(receipt)),
                Ended::Done(Err(error)) => error,
                Ended::Abandoned => return Err("the program stops".to_owned()),
            };
            let (at, jitter) = (self.now(), self.context.clock.chance());
            // A terminal error is tried again too: there is no later.
            let class = ErrorClass::Transient;
            let retry = Failure { at, class, attempts, jitter }.retry_at();
            if retry >= ends {
                return Err(self.settings.scrub.error(&error));
            }
            tokio::select! {
                () = sleep(Some(retry), self.now()) => {}
                () = stop.asked() => return Err(self.settings.scrub.error(&error)),
            }
        }
    }
}
