//! Partitions: what one target has in one namespace, and how well it is known.

use std::collections::BTreeMap;

use super::{
    Store,
    slab::{List, NIL, SlotId},
};
use crate::{
    change::Content,
    key::{CursorId, Freshness, ListNumber, PartitionId, PartitionKey, ViewId},
    row::Row,
};

/// How well a partition is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every row is known, and changes are being followed.
    Covered,
    /// Rows may be missing or out of date; nothing is deleted because of it.
    Uncovered,
}

/// Whether a list saw everything, so that what it did not see is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// It did.
    Yes,
    /// Its continuation was inconsistent; another list has to follow.
    No,
}

#[derive(Debug)]
pub(super) struct Partition {
    pub(super) key: PartitionKey,
    /// How every row of it begins, up to before its name.
    pub(super) prefix: Box<[u8]>,
    pub(super) log: List,
    pub(super) content: Content,
    pub(super) readers: Vec<Reader>,
    /// Views that hold it.
    pub(super) views: Vec<ViewId>,
    coverage: Coverage,
    /// Whether it was ever covered, or found to be unreadable.
    tried: bool,
    /// Lists up to this one began too early to cover it.
    too_early: ListNumber,
    running: Option<Running>,
}

/// A list that has begun and not ended.
#[derive(Debug)]
struct Running {
    number: ListNumber,
    /// Names, as JSON, that were deleted meanwhile, and how fresh the delete is.
    markers: BTreeMap<Box<[u8]>, Freshness>,
}

/// Where a cursor stands in the log of a partition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    pub(super) cursor: CursorId,
    /// The first slot that the destination has not acknowledged.
    pub(super) unacknowledged: SlotId,
    /// The first slot that has not been handed out.
    pub(super) unread: SlotId,
}

impl Reader {
    pub(super) fn new(cursor: CursorId, at: SlotId) -> Self {
        Self { cursor, unacknowledged: at, unread: at }
    }

    /// A slot has come to the end. Whether there was nothing to read before.
    pub(super) fn see(&mut self, id: SlotId) -> bool {
        let idle = self.unread == NIL;
        if self.unacknowledged == NIL {
            self.unacknowledged = id;
        }
        if idle {
            self.unread = id;
        }
        idle
    }

    /// A slot leaves its place.
    pub(super) fn pass(&mut self, id: SlotId, next: SlotId) {
        if self.unacknowledged == id {
            self.unacknowledged = next;
        }
        if self.unread == id {
            self.unread = next;
        }
    }
}

impl Partition {
    fn new(key: PartitionKey, too_early: ListNumber) -> Self {
        Self {
            prefix: key.row_prefix(),
            key,
            log: List::default(),
            content: Content::default(),
            readers: Vec::new(),
            views: Vec::new(),
            coverage: Coverage::Uncovered,
            tried: false,
            too_early,
            running: None,
        }
    }

    pub(super) fn is_covered(&self) -> bool {
        self.coverage == Coverage::Covered
    }

    /// The name of a row as JSON, if the row is one of this partition.
    pub(super) fn name_in<'a>(&self, row: &'a [u8]) -> Option<&'a [u8]> {
        let rest = row.strip_prefix(&*self.prefix)?;
        let mut end = 1;
        loop {
            match rest.get(end)? {
                b'"' => return rest.get(..=end),
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
    }

    /// Whether a delete that came while a list runs beats this row.
    pub(super) fn is_beaten(&self, name: &[u8], freshness: Freshness) -> bool {
        let marker = self.running.as_ref().and_then(|running| running.markers.get(name));
        marker.is_some_and(|marker| *marker > freshness)
    }

    /// Remembers a delete until the running list has ended.
    pub(super) fn mark(&mut self, name: &[u8], freshness: Freshness) {
        if let Some(running) = &mut self.running {
            let marker = running.markers.entry(name.into()).or_default();
            *marker = freshness.max(*marker);
        }
    }
}

impl Content {
    /// Both together; they must not share a row.
    pub(super) fn and(self, other: Self) -> Self {
        Self { rows: self.rows + other.rows, digest: self.digest.and(other.digest) }
    }

    /// What is left without rows that are part of it.
    pub(super) fn without(self, other: Self) -> Self {
        Self { rows: self.rows - other.rows, digest: self.digest.less(other.digest) }
    }

    pub(super) fn change(&mut self, old: Option<&Row>, new: Option<&Row>) {
        if let Some(row) = old {
            self.rows -= 1;
            self.digest = self.digest.without(row.hash());
        }
        if let Some(row) = new {
            self.rows += 1;
            self.digest = self.digest.with(row.hash());
        }
    }
}

impl Store {
    /// The partition of that key; a new one is uncovered until it was listed.
    pub fn join(&mut self, key: &PartitionKey) -> PartitionId {
        if let Some(id) = self.by_key.get(key) {
            return *id;
        }
        let id = self.hidden_partition(key.clone());
        self.by_key.insert(key.clone(), id);
        id
    }

    /// A partition that nobody finds by its key.
    pub(super) fn hidden_partition(&mut self, key: PartitionKey) -> PartitionId {
        let id = PartitionId(self.next_id());
        self.partitions.insert(id.0, Partition::new(key, ListNumber(self.lists)));
        id
    }

    /// The partition of that key, if there is one.
    pub fn partition(&self, key: &PartitionKey) -> Option<PartitionId> {
        self.by_key.get(key).copied()
    }

    /// How well a partition is known.
    pub fn coverage(&self, partition: PartitionId) -> Coverage {
        self.partitions.get(&partition.0).map_or(Coverage::Uncovered, |home| home.coverage)
    }

    /// Number and digest of a partition's rows.
    pub fn content(&self, partition: PartitionId) -> Content {
        self.partitions.get(&partition.0).map(|home| home.content).unwrap_or_default()
    }

    /// What is read from objects has changed: lists that have begun will not
    /// cover the partition.
    pub fn plan_changed(&mut self, partition: PartitionId) {
        let too_early = ListNumber(self.lists);
        if let Some(home) = self.partitions.get_mut(&partition.0) {
            home.too_early = too_early;
        }
        self.lose_coverage(partition);
    }

    /// The partition cannot be read, or no longer. Its rows stay.
    pub fn uncover(&mut self, partition: PartitionId) {
        let Some(home) = self.partitions.get_mut(&partition.0) else { return };
        home.tried = true;
        self.lose_coverage(partition);
        self.wake_beginners(partition);
    }

    fn lose_coverage(&mut self, partition: PartitionId) {
        let Some(home) = self.partitions.get_mut(&partition.0) else { return };
        if home.is_covered() {
            home.coverage = Coverage::Uncovered;
            for view in home.views.clone() {
                self.count_uncovered(view, 1);
            }
        }
    }

    /// A list of the partition begins; a running one is given up.
    pub fn begin_list(&mut self, partition: PartitionId) -> ListNumber {
        let number = self.next_list();
        if let Some(home) = self.partitions.get_mut(&partition.0) {
            home.running = Some(Running { number, markers: BTreeMap::new() });
        }
        number
    }

    /// A list has ended. What it did not see is gone, if it saw everything,
    /// and the partition is covered, if the list began late enough.
    pub fn end_list(&mut self, partition: PartitionId, list: ListNumber, sweep: Sweep) {
        let Some(home) = self.partitions.get_mut(&partition.0) else { return };
        if home.running.as_ref().is_none_or(|running| running.number != list) || sweep == Sweep::No
        {
            return;
        }
        let markers = home.running.take().map(|running| running.markers).unwrap_or_default();
        let covers = list > home.too_early;
        if !covers && !home.is_covered() {
            return;
        }
        let gone: Vec<_> = home
            .log
            .iter(&self.slab)
            .filter(|(_, slot)| !slot.is_gone)
            .filter(|(_, slot)| {
                let marker = home.name_in(&slot.bytes).and_then(|name| markers.get(name));
                slot.freshness.list < list || marker.is_some_and(|one| *one >= slot.freshness)
            })
            .map(|(id, _)| id)
            .collect();
        for id in gone {
            self.sequence += 1;
            self.remove(partition, id);
        }
        self.cover(partition);
    }

    fn cover(&mut self, partition: PartitionId) {
        let Some(home) = self.partitions.get_mut(&partition.0) else { return };
        if home.is_covered() {
            return;
        }
        home.coverage = Coverage::Covered;
        home.tried = true;
        for view in home.views.clone() {
            self.count_uncovered(view, -1);
            self.settle_debts(view, partition);
        }
        self.wake_beginners(partition);
    }

    /// Cursors that have copied nothing yet may have waited for the partition.
    fn wake_beginners(&mut self, partition: PartitionId) {
        let Some(home) = self.partitions.get(&partition.0) else { return };
        let beginners = self.cursors.iter().filter(|(_, cursor)| cursor.from_scratch);
        let waiting = beginners.filter(|(_, cursor)| home.views.contains(&cursor.view));
        self.woken.extend(waiting.map(|(id, _)| CursorId(*id)));
    }

    pub(super) fn is_tried(&self, partition: PartitionId) -> bool {
        self.partitions.get(&partition.0).is_some_and(|home| home.tried)
    }

    /// The partition is gone: its target, its namespace or the permission. Its
    /// rows are deleted wherever they were copied to.
    pub fn withdraw(&mut self, partition: PartitionId) {
        let Some(home) = self.partitions.get(&partition.0) else { return };
        for view in home.views.clone() {
            self.detach(view, partition);
        }
        if let Some(home) = self.partitions.get(&partition.0) {
            self.by_key.remove(&home.key);
        }
        self.tell_all_gone(partition);
        self.discard(partition);
    }

    /// Frees a partition that no view holds.
    pub(super) fn discard(&mut self, partition: PartitionId) {
        let Some(home) = self.partitions.remove(&partition.0) else { return };
        let ids: Vec<_> = home.log.iter(&self.slab).map(|(id, _)| id).collect();
        let mut buried = false;
        for id in ids {
            let Some(slot) = self.slab.remove(id) else { continue };
            if slot.is_gone {
                buried = true;
            } else if let Ok(entry) =
                self.index.find_entry(super::spread(slot.key), |found| *found == id)
            {
                entry.remove();
                self.rows -= 1;
            }
        }
        if buried {
            self.tombstones.retain(|id| self.slab.get(*id).is_some());
        }
    }
}
