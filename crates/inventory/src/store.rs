//! The only place where rows change, and where every change gets its number.
//!
//! One writer. Rows sit in a slab behind a hash index; the log of a partition
//! is a list through the slab in the order of changes, and a changed row moves
//! to its end, so a row is in the log once however often it changes. Whoever
//! copies a view has a cursor, and each partition knows for each of its
//! cursors where the unread part of the log begins. So a change costs the same
//! whatever the size of the store, and gathering costs what has changed.

mod slab;
mod partition;
mod view;
mod dedupe;
mod cursor;
mod gather;
mod tombstones;
mod witness;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

use self::{
    cursor::Cursor,
    partition::{Partition, Reader},
    slab::{NIL, Slab, Slot, SlotId},
    view::View,
};
use crate::{
    key::{CursorId, Freshness, ListNumber, PartitionId, PartitionKey, ViewId},
    row::Row,
};

pub use self::{
    partition::{Coverage, Sweep},
    view::{Dedupe, Shard},
    witness::Witness,
};

/// Rows, partitions, views and cursors.
#[derive(Debug)]
pub struct Store {
    slab: Slab,
    index: HashTable<SlotId>,
    hasher: DefaultHashBuilder,
    partitions: BTreeMap<u32, Partition>,
    by_key: HashMap<PartitionKey, PartitionId>,
    views: BTreeMap<u32, View>,
    cursors: BTreeMap<u32, Cursor>,
    /// Tombstones in the order of their making.
    tombstones: VecDeque<SlotId>,
    /// How many tombstones there were when they were last sifted.
    sifted: usize,
    woken: BTreeSet<CursorId>,
    witness: Option<Box<dyn Witness>>,
    rows: usize,
    sequence: i64,
    lists: u32,
    ids: u32,
    tickets: u64,
    walked: u64,
}

/// What became of a row that was put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upsert {
    /// It is new or has changed.
    Changed,
    /// It is what the store had; nothing was logged and nobody woken.
    Unchanged,
    /// The store knows something fresher.
    Stale,
    /// It does not belong to the partition; its target or namespace is another.
    Foreign,
}

/// What became of a row that was to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delete {
    /// It is gone.
    Gone,
    /// It goes when the running list has ended: what an uncovered partition
    /// holds is not deleted.
    Later,
    /// There is no such row.
    Absent,
    /// The store knows something fresher.
    Stale,
}

impl Store {
    /// An empty store whose changes are numbered from here: the start of the
    /// process in microseconds, so that numbers never go back.
    pub fn new(start: i64) -> Self {
        Self {
            slab: Slab::default(),
            index: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            partitions: BTreeMap::new(),
            by_key: HashMap::new(),
            views: BTreeMap::new(),
            cursors: BTreeMap::new(),
            tombstones: VecDeque::new(),
            sifted: 0,
            woken: BTreeSet::new(),
            witness: None,
            rows: 0,
            sequence: start,
            lists: 0,
            ids: 0,
            tickets: 0,
            walked: 0,
        }
    }

    /// Number of the newest change.
    pub fn sequence(&self) -> i64 {
        self.sequence
    }

    /// Number of rows, over all partitions.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Lifts the numbering above one that a destination has recorded.
    pub fn lift(&mut self, sequence: i64) {
        self.sequence = self.sequence.max(sequence.saturating_add(1));
    }

    /// The cursors that have something to read since this was last asked.
    pub fn take_woken(&mut self) -> BTreeSet<CursorId> {
        std::mem::take(&mut self.woken)
    }

    /// Puts a row into its partition, or leaves it if the store has it already
    /// or knows something fresher. In one partition a name has one row: one
    /// with another uid replaces the older, under one sequence.
    pub fn upsert(&mut self, partition: PartitionId, freshness: Freshness, row: &Row) -> Upsert {
        let Some(home) = self.partitions.get(&partition.0) else { return Upsert::Foreign };
        let Some(name) = home.name_in(row.as_json()) else { return Upsert::Foreign };
        if home.is_beaten(name, freshness) {
            return Upsert::Stale;
        }
        let (key, prefix) = (self.key(partition, name), home.prefix.len());
        let found = self.find(partition, key, name, prefix);
        let Some(slot) = self.slab.get_mut(found) else {
            self.insert(partition, freshness, key, row);
            return Upsert::Changed;
        };
        if slot.freshness > freshness {
            return Upsert::Stale;
        }
        slot.freshness = freshness;
        if slot.hash() == row.hash() {
            return Upsert::Unchanged;
        }
        let old = slot.row();
        let renamed = old.identity().uid != row.identity().uid;
        self.sequence += 1;
        if renamed {
            self.bury(partition, &old, self.born(found));
        }
        self.unlink(partition.0, found);
        self.replace(found, row, renamed);
        self.append(partition.0, found);
        self.recount(partition, Some(&old), Some(row));
        Upsert::Changed
    }

    /// Takes a row out of its partition, unless the store knows something fresher.
    pub fn delete(&mut self, partition: PartitionId, freshness: Freshness, name: &str) -> Delete {
        let mut text = Vec::new();
        crate::json::write_text(name, &mut text);
        let key = self.key(partition, &text);
        let Some(home) = self.partitions.get_mut(&partition.0) else { return Delete::Absent };
        home.mark(&text, freshness);
        let (covered, prefix) = (home.is_covered(), home.prefix.len());
        let found = self.find(partition, key, &text, prefix);
        match self.slab.get(found) {
            None => Delete::Absent,
            Some(slot) if slot.freshness > freshness => Delete::Stale,
            Some(_) if !covered => Delete::Later,
            Some(_) => {
                self.sequence += 1;
                self.remove(partition, found);
                Delete::Gone
            }
        }
    }

    fn insert(&mut self, partition: PartitionId, freshness: Freshness, key: u32, row: &Row) {
        self.sequence += 1;
        let mut slot = Slot::of(row, partition.0, key);
        slot.freshness = freshness;
        slot.born = self.sequence;
        slot.sequence = self.sequence;
        let id = self.slab.insert(slot);
        let slab = &self.slab;
        self.index
            .insert_unique(spread(key), id, |id| slab.get(*id).map_or(0, |slot| spread(slot.key)));
        self.rows += 1;
        self.append(partition.0, id);
        self.recount(partition, None, Some(row));
    }

    fn replace(&mut self, id: SlotId, row: &Row, renamed: bool) {
        let sequence = self.sequence;
        if let Some(slot) = self.slab.get_mut(id) {
            slot.bytes = row.share();
            slot.set_hash(row.hash());
            slot.sequence = sequence;
            if renamed {
                slot.born = sequence;
            }
        }
    }

    /// Takes a live row out of index, log and counts; its number is taken.
    fn remove(&mut self, partition: PartitionId, id: SlotId) {
        self.unlink(partition.0, id);
        let Some(slot) = self.slab.remove(id) else { return };
        if let Ok(entry) = self.index.find_entry(spread(slot.key), |found| *found == id) {
            entry.remove();
        }
        self.rows -= 1;
        let row = slot.row();
        self.bury(partition, &row, slot.born);
        self.recount(partition, Some(&row), None);
    }

    fn born(&self, id: SlotId) -> i64 {
        self.slab.get(id).map_or(self.sequence, |slot| slot.born)
    }

    /// The hash of a name in a partition.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "half of the hash is enough for a million rows"
    )]
    fn key(&self, partition: PartitionId, name: &[u8]) -> u32 {
        self.hasher.hash_one((partition.0, name)) as u32
    }

    /// The row of a name; `name` is JSON, and stands behind the partition's prefix.
    fn find(&self, partition: PartitionId, key: u32, name: &[u8], prefix: usize) -> SlotId {
        let is_it = |id: &SlotId| {
            self.slab.get(*id).is_some_and(|slot| {
                slot.key == key
                    && slot.partition == partition.0
                    && slot.bytes.get(prefix..).is_some_and(|rest| rest.starts_with(name))
            })
        };
        self.index.find(spread(key), is_it).copied().unwrap_or(NIL)
    }

    /// Puts a slot at the end of a log; every cursor there has it to read.
    fn append(&mut self, partition: u32, id: SlotId) {
        let Some(home) = self.partitions.get_mut(&partition) else { return };
        home.log.append(&mut self.slab, id);
        for reader in &mut home.readers {
            if reader.see(id) {
                self.woken.insert(reader.cursor);
                if let Some(cursor) = self.cursors.get_mut(&reader.cursor.0) {
                    cursor.dirty.insert(PartitionId(partition));
                }
            }
        }
    }

    /// Takes a slot out of a log; cursors that stood at it stand at the next.
    fn unlink(&mut self, partition: u32, id: SlotId) {
        let Some(home) = self.partitions.get_mut(&partition) else { return };
        let (next, sequence) = (self.slab.next(id), self.slab.get(id).map(|slot| slot.sequence));
        for reader in &mut home.readers {
            let first_unread = self.slab.get(reader.unread).map(|slot| slot.sequence);
            if first_unread.is_some_and(|first| sequence >= Some(first))
                && let Some(cursor) = self.cursors.get_mut(&reader.cursor.0)
            {
                cursor.displace(id);
            }
            reader.pass(id, next);
        }
        home.log.unlink(&mut self.slab, id);
    }

    /// Keeps numbers and digests of the partition and its views up to date,
    /// and tells deduplicated views and the witness.
    fn recount(&mut self, partition: PartitionId, old: Option<&Row>, new: Option<&Row>) {
        let Some(home) = self.partitions.get_mut(&partition.0) else { return };
        home.content.change(old, new);
        if let Some(witness) = &mut self.witness {
            witness.sees(&home.key, old, new);
        }
        for at in 0..home.views.len() {
            let home = self.partitions.get(&partition.0);
            if let Some(view) = home.and_then(|home| home.views.get(at)).copied() {
                self.candidate(view, partition, old, new);
            }
        }
    }
}

/// Spreads a hash of 32 bits over 64, as the table takes its tag from the top.
fn spread(key: u32) -> u64 {
    u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Store {
    fn next_id(&mut self) -> u32 {
        self.ids += 1;
        self.ids
    }

    fn next_list(&mut self) -> ListNumber {
        self.lists += 1;
        ListNumber(self.lists)
    }

    fn cursors_of(&self, view: ViewId) -> impl Iterator<Item = CursorId> + use<> {
        let of_view = self.cursors.iter().filter(move |(_, cursor)| cursor.view == view);
        of_view.map(|(id, _)| CursorId(*id)).collect::<Vec<_>>().into_iter()
    }

    fn reader(&mut self, partition: u32, cursor: CursorId) -> Option<&mut Reader> {
        let home = self.partitions.get_mut(&partition)?;
        home.readers.iter_mut().find(|reader| reader.cursor == cursor)
    }
}
