//! What a pair says about itself.

use std::time::Duration;

use jiff::Timestamp;
use kollect_inventory::{
    Content, Identity,
    schedule::{self, ErrorClass, Moment},
};

use super::{MOST_NAMED, Pair, Unit};
use crate::{
    deliver::state::{Failed, PairState, Phase, Turn, Work},
    sink::{Receipt, RefusedRow},
};

impl Pair {
    /// When the copy will have lagged too long to be called in sync.
    pub(super) fn lag_ends(&self) -> Option<Moment> {
        let is_synced =
            matches!(self.state.borrow().phase, Phase::Exported | Phase::Partial { .. });
        self.late_at().filter(|_| is_synced)
    }

    /// The same, whatever the copy is called now.
    fn late_at(&self) -> Option<Moment> {
        let (since, _) = self.history.waiting?;
        let last = self.history.exported.map_or(Duration::ZERO, |(_, took)| took);
        let limit = schedule::lag_limit(&self.settings.pace, last);
        // What has never been copied in full has no lag; it is not there.
        Some(self.fresh?.max(since) + limit)
    }

    fn is_late(&self) -> bool {
        self.late_at().is_some_and(|ends| ends <= self.now())
    }

    /// R22: says how the pair is doing, if that is news.
    pub(super) fn publish(&self) {
        let content: Option<Content> =
            self.acknowledged.as_ref().and_then(|(watermark, _)| watermark.content);
        let checksum = match self.settings.unit {
            Unit::Rows => content.map(|content| format!("sum128:{}", content.digest)),
            Unit::Document => self.receipt.as_ref().and_then(|receipt| receipt.checksum.clone()),
        };
        let state = PairState {
            phase: self.phase(),
            checksum,
            generation: self.settings.generation,
            last_export: self.last_export,
            last_success: self.last_success,
            content,
            receipt: self.receipt.clone(),
        };
        self.state.send_if_modified(|current| {
            let news = *current != state;
            *current = state;
            news
        });
    }

    fn phase(&self) -> Phase {
        if let (Some(failure), Some(message)) = (&self.history.failure, &self.trouble) {
            let wait = failure.retry_at().saturating_sub(self.now());
            let retry_at = self.context.clock.timestamp().saturating_add(wait);
            return Phase::Failed {
                class: failure.class,
                message: message.clone(),
                attempts: failure.attempts,
                retry_at: retry_at.unwrap_or(Timestamp::MAX),
            };
        }
        let acknowledged = self.acknowledged.as_ref();
        let current =
            acknowledged.is_some_and(|(_, generation)| *generation == self.settings.generation);
        if !current || self.fresh.is_none() {
            let why = self.hold.as_ref().map(|hold| hold.why.as_str());
            return Phase::Progressing(why.unwrap_or("the first export has not ended").to_owned());
        }
        if self.is_late() {
            return Phase::Progressing("the copy is behind, and changes are waiting".to_owned());
        }
        if self.refused.is_empty() {
            return Phase::Exported;
        }
        let named = self.refused.iter().take(MOST_NAMED);
        let row = |(identity, reason): (&Identity<'static>, &String)| RefusedRow {
            identity: identity.clone(),
            reason: reason.clone(),
        };
        Phase::Partial { refused: named.map(row).collect(), total: self.refused.len() }
    }

    /// Says that nobody works on the pair any more.
    pub(super) fn broke_down(&self) {
        let message = "the delivery of this copy ended by a bug in Kollect".to_owned();
        let retry_at = self.context.clock.timestamp();
        self.state.send_modify(|state| {
            state.phase =
                Phase::Failed { class: ErrorClass::Transient, message, attempts: 1, retry_at };
        });
    }

    pub(super) fn report(&self, work: Work, took: Duration, outcome: Result<&Receipt, Failed<'_>>) {
        self.context.observer.turned(&self.key, &Turn { work, took, outcome });
    }

    /// Says since when the copy is behind, if that is news. One that was never
    /// complete is behind since the pair began.
    pub(super) fn tell_lag(&mut self) {
        let since = |(since, _): (Moment, Moment)| {
            self.fresh.map_or(self.started, |fresh| fresh.max(since))
        };
        let behind = self.history.waiting.map(since);
        if self.behind != behind {
            self.behind = behind;
            self.context.observer.lags(&self.key, behind);
        }
    }
}
