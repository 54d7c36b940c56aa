//! Cursors: how far one sink has copied one view.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Store,
    partition::Reader,
    slab::{NIL, SlotId},
};
use crate::{
    change::{Effect, Ticket},
    key::{CursorId, PartitionId, PartitionKey, ViewId},
};

/// Rows that changed too often to be reached are remembered up to this many.
const MOST_DISPLACED: usize = 4096;

#[derive(Debug)]
pub(super) struct Cursor {
    pub(super) view: ViewId,
    /// Whether the next batch is everything.
    pub(super) from_scratch: bool,
    /// Partitions with something unread.
    pub(super) dirty: BTreeSet<PartitionId>,
    /// Partitions that came or went and have not been handed out.
    pub(super) pending: BTreeMap<PartitionKey, Pending>,
    /// Partitions that were copied while they were not covered.
    pub(super) owed: BTreeSet<PartitionId>,
    /// Everything up to here has been acknowledged.
    pub(super) acknowledged: i64,
    /// Rows born up to here may be at the destination.
    pub(super) seen: i64,
    pub(super) flight: Option<Flight>,
    /// Slots that moved away while they were next, and at which batch.
    pub(super) displaced: BTreeMap<SlotId, u64>,
    /// Batches handed out so far.
    pub(super) batches: u64,
    /// Whether the last batch left something behind.
    pub(super) is_behind: bool,
    /// Whether everything was compared before it was settled what there is.
    pub(super) unsettled: bool,
}

/// What is to be said about a partition as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    Replace,
    Drop,
}

/// A batch that has been handed out and not come back.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) ticket: Ticket,
    pub(super) sequence: i64,
    pub(super) seen_before: i64,
    pub(super) everything: bool,
    pub(super) pending: BTreeMap<PartitionKey, Pending>,
    /// Partitions that a comparison of everything has found uncovered.
    pub(super) owed: BTreeSet<PartitionId>,
}

impl Cursor {
    fn new(view: ViewId) -> Self {
        Self {
            view,
            from_scratch: true,
            dirty: BTreeSet::new(),
            pending: BTreeMap::new(),
            owed: BTreeSet::new(),
            acknowledged: i64::MIN,
            seen: i64::MIN,
            flight: None,
            displaced: BTreeMap::new(),
            batches: 0,
            is_behind: false,
            unsettled: false,
        }
    }

    /// Whether what happens now has to be told in a later batch; a comparison
    /// of everything that has yet to begin will see it by itself.
    pub(super) fn follows(&self) -> bool {
        !self.from_scratch || self.flight.as_ref().is_some_and(|flight| flight.everything)
    }

    /// Whether a tombstone of such a row tells the destination something.
    pub(super) fn misses(&self, born: i64, sequence: i64) -> bool {
        born <= self.seen && sequence > self.acknowledged
    }

    /// Whether there is anything to hand out.
    fn has_work(&self) -> bool {
        self.from_scratch || !self.dirty.is_empty() || !self.pending.is_empty()
    }

    /// A slot moves away before it could be read.
    pub(super) fn displace(&mut self, id: SlotId) {
        if self.is_behind && self.displaced.len() < MOST_DISPLACED {
            let batches = self.batches;
            self.displaced.entry(id).or_insert(batches);
        }
    }
}

impl Store {
    /// A cursor that has copied nothing: its first batch is everything.
    pub fn open_cursor(&mut self, view: ViewId) -> CursorId {
        let id = CursorId(self.next_id());
        self.cursors.insert(id.0, Cursor::new(view));
        for partition in self.logs_of(view) {
            if let Some(home) = self.partitions.get_mut(&partition.0) {
                home.readers.push(Reader::new(id, NIL));
            }
        }
        self.woken.insert(id);
        id
    }

    /// Forgets a cursor.
    pub fn close_cursor(&mut self, cursor: CursorId) {
        let Some(gone) = self.cursors.remove(&cursor.0) else { return };
        for partition in self.logs_of(gone.view) {
            if let Some(home) = self.partitions.get_mut(&partition.0) {
                home.readers.retain(|reader| reader.cursor != cursor);
            }
        }
        self.woken.remove(&cursor);
        self.sift_tombstones();
    }

    /// Whether a cursor has something to hand out and nothing in flight.
    pub fn is_due(&self, cursor: CursorId) -> bool {
        self.cursors
            .get(&cursor.0)
            .is_some_and(|cursor| cursor.flight.is_none() && cursor.has_work())
    }

    /// Whether the next batch of a cursor is everything.
    pub fn is_from_scratch(&self, cursor: CursorId) -> bool {
        self.cursors.get(&cursor.0).is_some_and(|cursor| cursor.from_scratch)
    }

    /// The next batch will be everything: the destination, its credentials or
    /// the inventory have changed. A batch in flight no longer counts.
    pub fn start_over(&mut self, cursor: CursorId) {
        let Some(state) = self.cursors.get_mut(&cursor.0) else { return };
        *state = Cursor { batches: state.batches, ..Cursor::new(state.view) };
        let view = state.view;
        for partition in self.logs_of(view) {
            if let Some(reader) = self.reader(partition.0, cursor) {
                (reader.unacknowledged, reader.unread) = (NIL, NIL);
            }
        }
        self.woken.insert(cursor);
        self.sift_tombstones();
    }

    /// The destination has taken a batch, durably. An acknowledgement of any
    /// other batch than the one in flight says nothing.
    pub fn acknowledge(&mut self, cursor: CursorId, ticket: Ticket) -> bool {
        let Some(state) = self.cursors.get_mut(&cursor.0) else { return false };
        if state.flight.as_ref().is_none_or(|flight| flight.ticket != ticket) {
            return false;
        }
        let Some(flight) = state.flight.take() else { return false };
        state.acknowledged = flight.sequence;
        state.from_scratch = false;
        let view = state.view;
        let Some(holder) = self.views.get(&view.0) else { return true };
        let mut debts: BTreeSet<_> =
            flight.owed.intersection(&holder.partitions).copied().collect();
        state.owed.extend(&debts);
        if state.unsettled && holder.settled {
            self.start_over(cursor);
            return true;
        }
        debts.retain(|partition| self.is_covered(*partition));
        for partition in debts {
            self.settle_debts(view, partition);
        }
        self.rewind(cursor, |reader| reader.unacknowledged = reader.unread);
        self.sift_tombstones();
        true
    }

    /// The destination has not taken a batch. What it held goes into the next;
    /// if some of it may have arrived, the next is everything.
    pub fn fail(&mut self, cursor: CursorId, ticket: Ticket, effect: Effect) {
        let Some(state) = self.cursors.get_mut(&cursor.0) else { return };
        if state.flight.as_ref().is_none_or(|flight| flight.ticket != ticket) {
            return;
        }
        let Some(flight) = state.flight.take() else { return };
        let settled = self.views.get(&state.view.0).is_some_and(|view| view.settled);
        if flight.everything || effect == Effect::Unknown || (state.unsettled && settled) {
            return self.start_over(cursor);
        }
        state.seen = flight.seen_before;
        let held = self.views.get(&state.view.0).map(|view| &view.partitions);
        for (key, change) in flight.pending {
            let id = self.by_key.get(&key);
            let is_held = id.is_some_and(|id| held.is_some_and(|held| held.contains(id)));
            // What came back or went meanwhile has said so itself.
            if is_held == (change == Pending::Replace) {
                state.pending.entry(key).or_insert(change);
            }
        }
        self.rewind(cursor, |reader| reader.unread = reader.unacknowledged);
        self.woken.insert(cursor);
    }

    /// Moves a cursor's readers, and finds out where it has something unread.
    pub(super) fn rewind(&mut self, cursor: CursorId, change: impl Fn(&mut Reader)) {
        let Some(state) = self.cursors.get(&cursor.0) else { return };
        let mut dirty = BTreeSet::new();
        for partition in state.dirty.clone() {
            let Some(reader) = self.reader(partition.0, cursor) else { continue };
            change(reader);
            if reader.unacknowledged != NIL || reader.unread != NIL {
                dirty.insert(partition);
            }
        }
        if let Some(state) = self.cursors.get_mut(&cursor.0) {
            state.dirty = dirty;
        }
    }

    /// The partitions whose logs a view's cursors read.
    fn logs_of(&self, view: ViewId) -> Vec<PartitionId> {
        match self.views.get(&view.0) {
            None => Vec::new(),
            Some(view) => match view.hidden {
                Some(hidden) => vec![hidden],
                None => view.partitions.iter().copied().collect(),
            },
        }
    }
}
