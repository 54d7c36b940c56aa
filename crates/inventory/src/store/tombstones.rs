//! What is left of rows that are gone, as long as a cursor needs it.

use super::{
    Store,
    slab::{Slot, SlotId},
};
use crate::{
    key::{CursorId, PartitionId},
    row::Row,
};

/// Tombstones that may always be kept.
const ALWAYS: usize = 10_000;

impl Store {
    /// Number of tombstones.
    pub fn tombstones(&self) -> usize {
        self.tombstones.len()
    }

    /// Remembers that a row is gone, if a destination may have it. The number
    /// of the change has been taken.
    pub(super) fn bury(&mut self, partition: PartitionId, row: &Row, born: i64) {
        if !self.is_missed(partition.0, born, self.sequence) {
            return;
        }
        let mut slot = Slot::new(row.tombstone(), partition.0, 0);
        (slot.is_gone, slot.born, slot.sequence) = (true, born, self.sequence);
        let id = self.slab.insert(slot);
        self.append(partition.0, id);
        self.tombstones.push_back(id);
        self.keep_within_bounds();
    }

    /// Whether some cursor has to be told that such a row is gone.
    fn is_missed(&self, partition: u32, born: i64, sequence: i64) -> bool {
        let Some(home) = self.partitions.get(&partition) else { return false };
        home.readers.iter().any(|reader| {
            let cursor = self.cursors.get(&reader.cursor.0);
            cursor.is_some_and(|cursor| cursor.misses(born, sequence))
        })
    }

    /// Lets the cursors that are furthest behind start over, rather than keep
    /// ever more for them.
    fn keep_within_bounds(&mut self) {
        let most = ALWAYS.max(self.rows / 2);
        while self.tombstones.len() > most {
            self.sift_all();
            // Room is made, so that the next look at all of them is far away.
            if self.tombstones.len() <= most - most / 8 {
                return;
            }
            let Some(oldest) = self.furthest_behind() else { return };
            self.start_over(oldest);
            self.sift_all();
        }
    }

    /// Of the cursors that need the oldest tombstone, the one furthest behind.
    fn furthest_behind(&self) -> Option<CursorId> {
        let slot = self.slab.get(*self.tombstones.front()?)?;
        let readers = self.partitions.get(&slot.partition)?.readers.iter();
        let needing = readers.filter_map(|reader| {
            let cursor = self.cursors.get(&reader.cursor.0)?;
            let needs = cursor.misses(slot.born, slot.sequence);
            needs.then_some((cursor.acknowledged, reader.cursor))
        });
        needing.min().map(|(_, cursor)| cursor)
    }

    /// Drops tombstones that nobody needs. Looking at all of them is left
    /// until they have doubled, so that each is looked at a few times only.
    pub(super) fn sift_tombstones(&mut self) {
        while let Some(id) = self.tombstones.front().copied() {
            if self.is_needed(id) {
                break;
            }
            self.tombstones.pop_front();
            self.unbury(id);
        }
        if self.tombstones.len() > 2 * self.sifted + 1024 {
            self.sift_all();
        }
    }

    fn sift_all(&mut self) {
        let all = std::mem::take(&mut self.tombstones);
        for id in all {
            if self.is_needed(id) {
                self.tombstones.push_back(id);
            } else {
                self.unbury(id);
            }
        }
        self.sifted = self.tombstones.len();
    }

    fn is_needed(&self, id: SlotId) -> bool {
        let slot = self.slab.get(id);
        slot.is_some_and(|slot| self.is_missed(slot.partition, slot.born, slot.sequence))
    }

    fn unbury(&mut self, id: SlotId) {
        if let Some(partition) = self.slab.get(id).map(|slot| slot.partition) {
            self.unlink(partition, id);
            self.slab.remove(id);
        }
    }
}
