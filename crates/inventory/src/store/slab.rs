//! Where rows sit: a slab in segments, and lists through it.

use std::sync::Arc;

use crate::{
    key::Freshness,
    row::{Row, RowHash},
};

/// The index of a slot; `NIL` is none.
pub(super) type SlotId = u32;
pub(super) const NIL: SlotId = u32::MAX;

/// One row, or what is left of one, and its place in its partition's log.
#[derive(Debug)]
pub(super) struct Slot {
    /// The row's JSON, or its front if it is gone.
    pub(super) bytes: Arc<[u8]>,
    /// As two halves, which pack better than one number of 16 bytes.
    hash: [u64; 2],
    /// Number of its last change; the log is in this order.
    pub(super) sequence: i64,
    /// Number of the change that brought it.
    pub(super) born: i64,
    pub(super) freshness: Freshness,
    pub(super) prev: SlotId,
    pub(super) next: SlotId,
    /// The partition in whose log it stands.
    pub(super) partition: u32,
    /// Hash of its place and name, for the index.
    pub(super) key: u32,
    pub(super) is_gone: bool,
}

impl Slot {
    pub(super) fn new(bytes: Arc<[u8]>, partition: u32, key: u32) -> Self {
        Self {
            bytes,
            hash: [0, 0],
            sequence: 0,
            born: 0,
            freshness: Freshness::default(),
            prev: NIL,
            next: NIL,
            partition,
            key,
            is_gone: false,
        }
    }

    /// A slot for a row.
    pub(super) fn of(row: &Row, partition: u32, key: u32) -> Self {
        let mut slot = Self::new(row.share(), partition, key);
        slot.set_hash(row.hash());
        slot
    }

    /// The row, if the slot holds one.
    pub(super) fn row(&self) -> Row {
        Row::from_parts(Arc::clone(&self.bytes), self.hash())
    }

    pub(super) fn hash(&self) -> RowHash {
        let [high, low] = self.hash;
        RowHash(u128::from(high) << 64 | u128::from(low))
    }

    #[expect(clippy::cast_possible_truncation, reason = "the number is cut into its halves")]
    pub(super) fn set_hash(&mut self, hash: RowHash) {
        self.hash = [(hash.0 >> 64) as u64, hash.0 as u64];
    }
}

const SEGMENT: usize = 4096;

/// Slots in segments of a fixed size, so that growing never copies.
#[derive(Debug, Default)]
pub(super) struct Slab {
    segments: Vec<Vec<Option<Slot>>>,
    free: Vec<SlotId>,
}

impl Slab {
    /// Puts a slot somewhere.
    pub(super) fn insert(&mut self, slot: Slot) -> SlotId {
        if let Some(id) = self.free.pop() {
            if let Some(place) = self.place(id) {
                *place = Some(slot);
            }
            return id;
        }
        if self.segments.last().is_none_or(|segment| segment.len() == SEGMENT) {
            self.segments.push(Vec::with_capacity(SEGMENT));
        }
        let full = (self.segments.len() - 1) * SEGMENT;
        let Some(segment) = self.segments.last_mut() else { return NIL };
        segment.push(Some(slot));
        SlotId::try_from(full + segment.len() - 1).unwrap_or(NIL)
    }

    /// Takes a slot out.
    pub(super) fn remove(&mut self, id: SlotId) -> Option<Slot> {
        let slot = self.place(id)?.take()?;
        self.free.push(id);
        Some(slot)
    }

    pub(super) fn get(&self, id: SlotId) -> Option<&Slot> {
        let id = id as usize;
        self.segments.get(id / SEGMENT)?.get(id % SEGMENT)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, id: SlotId) -> Option<&mut Slot> {
        self.place(id)?.as_mut()
    }

    fn place(&mut self, id: SlotId) -> Option<&mut Option<Slot>> {
        let id = id as usize;
        self.segments.get_mut(id / SEGMENT)?.get_mut(id % SEGMENT)
    }

    /// The slot after this one in its log.
    pub(super) fn next(&self, id: SlotId) -> SlotId {
        self.get(id).map_or(NIL, |slot| slot.next)
    }
}

/// The two ends of a list through the slab, oldest change first.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub(super) head: SlotId,
    pub(super) tail: SlotId,
}

impl Default for List {
    fn default() -> Self {
        Self { head: NIL, tail: NIL }
    }
}

impl List {
    /// Puts a slot that is in no list at the end.
    pub(super) fn append(&mut self, slab: &mut Slab, id: SlotId) {
        let last = self.tail;
        if let Some(slot) = slab.get_mut(id) {
            slot.prev = last;
            slot.next = NIL;
        }
        match slab.get_mut(last) {
            Some(last) => last.next = id,
            None => self.head = id,
        }
        self.tail = id;
    }

    /// Takes a slot out; it stays in the slab.
    pub(super) fn unlink(&mut self, slab: &mut Slab, id: SlotId) {
        let Some((prev, next)) = slab.get(id).map(|slot| (slot.prev, slot.next)) else { return };
        match slab.get_mut(prev) {
            Some(before) => before.next = next,
            None => self.head = next,
        }
        match slab.get_mut(next) {
            Some(after) => after.prev = prev,
            None => self.tail = prev,
        }
    }

    /// Every slot, oldest change first.
    pub(super) fn iter<'a>(&self, slab: &'a Slab) -> impl Iterator<Item = (SlotId, &'a Slot)> {
        let mut at = self.head;
        std::iter::from_fn(move || {
            let slot = slab.get(at)?;
            let id = std::mem::replace(&mut at, slot.next);
            Some((id, slot))
        })
    }
}
