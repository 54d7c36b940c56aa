//! What the next export carries.

use std::sync::Arc;

use kollect_inventory::{
    Change, Confines, Content, Identity, PartitionChange, Row, Ticket, Watermark,
    schedule::History, sort, watermark::Trust,
};

use super::{Attempt, Hold, Pair, Unit};
use crate::{
    deliver::state::Work,
    progress::Progress,
    sink::{Document, Export, Patience},
};

/// What is taken from the store under one lock.
struct Gathered {
    ticket: Option<Ticket>,
    change: Change,
    watermark: Watermark,
    is_last: bool,
    document: Option<(Vec<Row>, Confines)>,
}

impl Pair {
    /// Takes what the destination has not got; nothing if it has everything,
    /// or if it is too early.
    pub(super) fn prepare(&mut self, work: Work) -> Option<Attempt> {
        if work != Work::Verify && self.is_cold() {
            return None;
        }
        let gathered_at = self.now();
        let (work, gathered) = self.gather(work)?;
        let Gathered { ticket, change, mut watermark, is_last, document } = gathered;
        watermark.content = self.content_after(&change, watermark.content);
        let document = document.map(|(mut rows, confines)| {
            sort(&mut rows);
            Arc::new(Document { rows, confines })
        });
        let export = Export {
            inventory: self.key.inventory.clone(),
            generation: self.settings.generation,
            schema: Arc::clone(&self.settings.schema),
            change: Arc::new(change),
            watermark,
            document,
            limit: self.settings.limit,
            expected: self.expected.clone(),
            writer: Arc::clone(&self.context.writer),
            trust: if work == Work::Compare { Trust::Nothing } else { Trust::Record },
            patience: if self.warmup_is_over() { Patience::IsOver } else { Patience::Waits },
            at: self.context.clock.timestamp(),
            progress: Progress::default(),
        };
        Some(Attempt { work, ticket, gathered: gathered_at, is_last, export })
    }

    /// R5: the first export waits until everything has been read, or could
    /// not be.
    fn is_cold(&mut self) -> bool {
        if self.acknowledged.is_some() || self.warmup_is_over() {
            return false;
        }
        let view = self.settings.view;
        let warm = self.context.ledger.with(|store| store.is_warm(view));
        if !warm {
            let until = self.started + self.settings.warmup;
            let why = "the first export waits for rows that have not been read".to_owned();
            self.hold = Some(Hold { until, why, for_rows: true });
            self.publish();
        }
        !warm
    }

    pub(super) fn warmup_is_over(&self) -> bool {
        self.now() >= self.started + self.settings.warmup
    }

    /// What there is to do, and with what. A pair that has nothing to write
    /// looks whether its copy is still there, if it has to do something.
    fn gather(&mut self, work: Work) -> Option<(Work, Gathered)> {
        let (cursor, view, batch) = (self.cursor, self.settings.view, self.settings.batch);
        let unit = self.settings.unit;
        let most = if unit == Unit::Document { usize::MAX } else { batch };
        let acknowledged = self.acknowledged.as_ref().map(|(watermark, _)| *watermark);
        let is_retry = self.history.failure.is_some();
        let gathered = self.context.ledger.quietly(cursor, |store| {
            if work == Work::Compare {
                store.start_over(cursor);
            }
            let batch = if work == Work::Verify { None } else { store.gather(cursor, most) };
            let document = (unit == Unit::Document)
                .then(|| Some((store.view_rows(view), store.confines(view)?)))
                .flatten();
            match batch {
                Some(batch) => Some((
                    work,
                    Gathered {
                        ticket: Some(batch.ticket),
                        change: batch.change,
                        watermark: batch.watermark,
                        is_last: batch.is_last,
                        document,
                    },
                )),
                None if work == Work::Export && !is_retry => None,
                None if work == Work::Compare => None,
                None => Some((
                    Work::Verify,
                    Gathered {
                        ticket: None,
                        change: Change::default(),
                        watermark: acknowledged?,
                        is_last: false,
                        document: None,
                    },
                )),
            }
        });
        if gathered.is_none() {
            self.history.waiting = None;
            if work != Work::Export || is_retry {
                self.come_to_rest();
            }
        }
        gathered
    }

    /// The view is gone, and with it everything that could be tried again.
    fn come_to_rest(&mut self) {
        self.history = History::default();
        self.trouble = None;
        self.is_asked = false;
    }

    /// R20: as long as the destination refuses a row, it does not hold the
    /// view, whatever else it takes.
    fn content_after(&self, change: &Change, content: Option<Content>) -> Option<Content> {
        let remains = self.refused.keys().any(|identity| !mentions(change, identity));
        content.filter(|_| !remains)
    }

    /// What the destination still refuses once it has taken a change.
    pub(super) fn forget_refused(&mut self, change: &Change) {
        if !self.refused.is_empty() {
            self.refused.retain(|identity, _| !mentions(change, identity));
        }
    }
}

/// Whether a change says something about a row.
fn mentions(change: &Change, identity: &Identity<'_>) -> bool {
    match change {
        Change::All { .. } => true,
        Change::Since { upserts, deletes, partitions } => {
            upserts.iter().any(|row| row.identity() == *identity)
                || deletes.iter().any(|gone| gone.identity() == *identity)
                || partitions.iter().any(|(partition, change)| {
                    let is_whole =
                        matches!(change, PartitionChange::Replace(_) | PartitionChange::Drop);
                    is_whole && partition.place() == identity.place()
                })
        }
    }
}
