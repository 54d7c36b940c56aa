//! What a cursor has not seen.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap},
    sync::Arc,
};

use super::{
    Store,
    cursor::{Flight, Pending},
    slab::{NIL, Slot, SlotId},
};
use crate::{
    change::{Batch, Change, PartitionChange, Ticket, Tombstone, Watermark},
    key::{CursorId, PartitionKey, ViewId},
    row::Row,
};

/// Batches that may come after the one that left a row behind because it had
/// changed again, before the row is taken out of turn.
const PATIENCE: u64 = 1;

/// What a walk through the logs has found.
#[derive(Default)]
struct Walked {
    upserts: Vec<Row>,
    deletes: Vec<Tombstone>,
    /// Number of the last change that was taken, if some were left behind.
    stopped_at: Option<i64>,
}

impl Store {
    /// Hands out what a cursor has not seen, up to about so many rows, in the
    /// order of changes. Nothing if there is nothing, or if the last batch has
    /// not come back.
    pub fn gather(&mut self, cursor: CursorId, most: usize) -> Option<Batch> {
        let state = self.cursors.get(&cursor.0)?;
        if state.flight.is_some() {
            return None;
        }
        let view = state.view;
        if state.from_scratch {
            self.everything(cursor, view)
        } else {
            self.since(cursor, view, most)
        }
    }

    /// How many log entries gathering has looked at so far.
    pub fn walked(&self) -> u64 {
        self.walked
    }

    fn next_ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    fn everything(&mut self, cursor: CursorId, view: ViewId) -> Option<Batch> {
        let ticket = self.next_ticket();
        let holder = self.views.get(&view.0)?;
        let rows = self.view_rows(view);
        let confines = self.confines(view)?;
        let owed: BTreeSet<_> =
            holder.partitions.iter().copied().filter(|id| !self.is_covered(*id)).collect();
        let settled = holder.settled;
        let content = (owed.is_empty() && settled).then_some(holder.content);
        let sequence = self.sequence;
        self.walked += rows.len() as u64;
        self.rewind(cursor, |reader| (reader.unacknowledged, reader.unread) = (NIL, NIL));
        let state = self.cursors.get_mut(&cursor.0)?;
        state.pending.clear();
        state.owed.clear();
        state.displaced.clear();
        state.unsettled = !settled;
        state.is_behind = false;
        state.batches += 1;
        state.flight = Some(Flight {
            ticket,
            sequence,
            seen_before: state.seen,
            everything: true,
            pending: BTreeMap::new(),
            owed,
        });
        state.seen = sequence;
        let watermark = Watermark { sequence, content };
        Some(Batch { ticket, change: Change::All { rows, confines }, watermark, is_last: true })
    }

    fn since(&mut self, cursor: CursorId, view: ViewId, most: usize) -> Option<Batch> {
        let pending = std::mem::take(&mut self.cursors.get_mut(&cursor.0)?.pending);
        let mut told = BTreeMap::new();
        let mut partitions = Vec::new();
        for (key, change) in pending {
            if let Some(change) = self.partition_change(cursor, view, &key, change) {
                told.insert(key.clone(), Pending::from(&change));
                partitions.push((key, change));
            }
        }
        // What a deduplicated view shows instead comes with what is replaced.
        let whole = !partitions.is_empty()
            && self.views.get(&view.0).is_some_and(|view| view.hidden.is_some());
        let most = if whole { usize::MAX } else { most.max(1) };
        let mut walked = self.walk(cursor, most);
        if walked.upserts.is_empty() && walked.deletes.is_empty() && partitions.is_empty() {
            self.rewind(cursor, |_| {});
            return None;
        }
        self.reward_patience(cursor, &mut walked);
        let ticket = self.next_ticket();
        let newest = self.sequence;
        let holder = self.views.get(&view.0)?;
        let state = self.cursors.get_mut(&cursor.0)?;
        let sequence = walked.stopped_at.map_or(newest, |at| at.max(state.acknowledged));
        let complete = walked.stopped_at.is_none()
            && holder.uncovered == 0
            && state.owed.is_empty()
            && !state.unsettled;
        let content = complete.then_some(holder.content);
        state.is_behind = walked.stopped_at.is_some();
        state.batches += 1;
        state.flight = Some(Flight {
            ticket,
            sequence,
            seen_before: state.seen,
            everything: false,
            pending: told,
            owed: BTreeSet::new(),
        });
        state.seen = newest;
        let is_last = walked.stopped_at.is_none();
        let Walked { upserts, deletes, .. } = walked;
        let change = Change::Since { upserts, deletes, partitions };
        Some(Batch { ticket, change, watermark: Watermark { sequence, content }, is_last })
    }

    /// What is to be told about a partition that came or went. One that has
    /// become uncovered meanwhile must not be compared: its rows are handed
    /// out as they are, and the comparison is owed.
    fn partition_change(
        &mut self,
        cursor: CursorId,
        view: ViewId,
        key: &PartitionKey,
        change: Pending,
    ) -> Option<PartitionChange> {
        if change == Pending::Drop {
            return Some(PartitionChange::Drop);
        }
        let partition = self.partition(key)?;
        let covered = self.is_covered(partition);
        let head = self.partitions.get(&partition.0)?.log.head;
        if let Some(reader) = self.reader(partition.0, cursor) {
            reader.unread = if covered { NIL } else { head };
            if !covered {
                reader.unacknowledged = head;
            }
        }
        if !covered {
            let state = self.cursors.get_mut(&cursor.0)?;
            state.owed.insert(partition);
            state.dirty.insert(partition);
            return None;
        }
        let mut rows = self.rows_of(partition);
        rows.retain(|row| self.is_shown(view, row));
        self.walked += rows.len() as u64;
        Some(PartitionChange::Replace(rows))
    }

    /// Takes the oldest unread changes of all dirty partitions, merged by
    /// their numbers. What shares a number stays together.
    fn walk(&mut self, cursor: CursorId, most: usize) -> Walked {
        let mut walked = Walked::default();
        let mut heads = BinaryHeap::new();
        let Some(state) = self.cursors.get(&cursor.0) else { return walked };
        for partition in state.dirty.clone() {
            let unread = self.reader(partition.0, cursor).map_or(NIL, |reader| reader.unread);
            if let Some(slot) = self.slab.get(unread) {
                heads.push(Reverse((slot.sequence, partition, unread)));
            }
        }
        let mut last = None;
        while let Some(Reverse((sequence, partition, id))) = heads.pop() {
            let taken = walked.upserts.len() + walked.deletes.len();
            if taken >= most && last != Some(sequence) {
                walked.stopped_at = last;
                break;
            }
            last = Some(sequence);
            self.walked += 1;
            let next = self.take(id, &mut walked);
            if let Some(reader) = self.reader(partition.0, cursor) {
                reader.unread = next;
            }
            if let Some(state) = self.cursors.get_mut(&cursor.0) {
                state.displaced.remove(&id);
            }
            if let Some(slot) = self.slab.get(next) {
                heads.push(Reverse((slot.sequence, partition, next)));
            }
        }
        walked
    }

    /// Adds a slot to what is handed out; what comes after it in its log.
    fn take(&self, id: SlotId, walked: &mut Walked) -> SlotId {
        let Some(slot) = self.slab.get(id) else { return NIL };
        if slot.is_gone {
            walked.deletes.push(Tombstone(Arc::clone(&slot.bytes)));
        } else {
            walked.upserts.push(slot.row());
        }
        slot.next
    }

    /// Hands out rows that have been left behind too often, although it is not
    /// their turn; they will be handed out again when it is.
    fn reward_patience(&mut self, cursor: CursorId, walked: &mut Walked) {
        let Some(stopped_at) = walked.stopped_at else { return };
        let Some(state) = self.cursors.get(&cursor.0) else { return };
        let batches = state.batches;
        let patient: Vec<_> = state
            .displaced
            .iter()
            .filter(|(_, since)| batches - **since >= PATIENCE)
            .map(|(id, _)| *id)
            .collect();
        for id in patient {
            let waits = |slot: &&Slot| !slot.is_gone && slot.sequence > stopped_at;
            let place = self.slab.get(id).filter(waits).map(|s| (s.sequence, s.prev, s.partition));
            let place = place.filter(|(_, _, home)| self.reader(*home, cursor).is_some());
            let Some((sequence, before, _)) = place else {
                if let Some(state) = self.cursors.get_mut(&cursor.0) {
                    state.displaced.remove(&id);
                }
                continue;
            };
            self.walked += 1;
            // A row that replaced another comes together with its tombstone.
            if self.slab.get(before).is_some_and(|slot| slot.is_gone && slot.sequence == sequence) {
                self.take(before, walked);
            }
            self.take(id, walked);
        }
    }
}

impl From<&PartitionChange> for Pending {
    fn from(change: &PartitionChange) -> Self {
        match change {
            PartitionChange::Replace(_) => Self::Replace,
            PartitionChange::Drop => Self::Drop,
        }
    }
}
