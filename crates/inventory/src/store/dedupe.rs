//! Views in which an object has one row, whoever collected it.
//!
//! The winners stand in a partition of their own that nobody finds by key, so
//! that their log, their digest and their tombstones work as everywhere.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{
    Store,
    slab::{NIL, Slot, SlotId},
};
use crate::{
    change::Content,
    key::{PartitionId, PartitionKey, TargetKey, ViewId},
    row::Row,
};

#[derive(Debug)]
pub(super) struct Winners {
    /// The hidden partition.
    pub(super) partition: PartitionId,
    objects: HashMap<ObjectKey, Object>,
    /// What has won, by the namespace of the objects and the target's name.
    pub(super) shares: BTreeMap<Box<str>, BTreeMap<Box<str>, Content>>,
}

/// Namespace and uid.
type ObjectKey = (Box<str>, Box<str>);

fn object_key(row: &Row) -> ObjectKey {
    let identity = row.identity();
    (identity.namespace.as_ref().into(), identity.uid.as_ref().into())
}

/// One object, whoever has it.
#[derive(Debug)]
struct Object {
    /// The row of each target that has it, by the target's name.
    candidates: BTreeMap<Box<str>, Row>,
    /// The winner's slot.
    slot: SlotId,
}

impl Winners {
    pub(super) fn new(store: &mut Store) -> Self {
        let nobody = TargetKey { namespace: None, name: String::new() };
        let key = PartitionKey { target: nobody, namespace: String::new() };
        let partition = store.hidden_partition(key);
        Self { partition, objects: HashMap::new(), shares: BTreeMap::new() }
    }

    /// A row has won, or has lost to nobody.
    fn share(&mut self, row: &Row, has_won: bool) {
        let identity = row.identity();
        let (namespace, target) = (identity.namespace.as_ref(), identity.target_name.as_ref());
        let targets = self.shares.entry(namespace.into()).or_default();
        let share = targets.entry(target.into()).or_default();
        if has_won {
            share.change(None, Some(row));
        } else {
            share.change(Some(row), None);
        }
        if share.rows == 0 {
            targets.remove(target);
        }
        if targets.is_empty() {
            self.shares.remove(namespace);
        }
    }
}

impl Store {
    /// A row of a view's partition has come, changed or gone. The number of
    /// the change has been taken; what follows from it shares it.
    pub(super) fn candidate(
        &mut self,
        view: ViewId,
        partition: PartitionId,
        old: Option<&Row>,
        new: Option<&Row>,
    ) {
        let Some(holder) = self.views.get_mut(&view.0) else { return };
        // A partition that leaves is dropped as a whole, without tombstones.
        let leaves = !holder.partitions.contains(&partition);
        let Some(mut winners) = holder.winners.take() else {
            holder.content.change(old, new);
            return;
        };
        let target = self.partitions.get(&partition.0).map(|home| home.key.target.name.clone());
        let target: Box<str> = target.unwrap_or_default().into();
        let mut touched = BTreeSet::new();
        for (row, is_new) in [(old, false), (new, true)] {
            let Some(row) = row else { continue };
            let nobody = || Object { candidates: BTreeMap::new(), slot: NIL };
            let object = winners.objects.entry(object_key(row)).or_insert_with(nobody);
            if is_new {
                object.candidates.insert(target.clone(), row.clone());
            } else {
                object.candidates.remove(&target);
            }
            touched.insert(object_key(row));
        }
        for key in touched {
            self.crown(view, &mut winners, key, leaves);
        }
        if let Some(holder) = self.views.get_mut(&view.0) {
            holder.winners = Some(winners);
        }
    }

    /// Makes the last of an object's candidates its winner.
    fn crown(&mut self, view: ViewId, winners: &mut Winners, key: ObjectKey, leaves: bool) {
        let Some(object) = winners.objects.get_mut(&key) else { return };
        let winner = object.candidates.last_key_value().map(|(_, row)| row.clone());
        let slot = object.slot;
        let former = self.slab.get(slot).map(Slot::row);
        if former == winner {
            if winner.is_none() {
                winners.objects.remove(&key);
            }
            return;
        }
        let born = self.born(slot);
        let renamed = match (&former, &winner) {
            (Some(former), Some(winner)) => former.identity() != winner.identity(),
            _ => false,
        };
        match &winner {
            None => {
                self.unlink(winners.partition.0, slot);
                self.slab.remove(slot);
                winners.objects.remove(&key);
            }
            Some(row) if former.is_some() => {
                self.unlink(winners.partition.0, slot);
                self.replace(slot, row, renamed);
            }
            Some(row) => {
                let mut new = Slot::of(row, winners.partition.0, 0);
                (new.born, new.sequence) = (self.sequence, self.sequence);
                object.slot = self.slab.insert(new);
            }
        }
        if let Some(former) = former.as_ref().filter(|_| !leaves && (renamed || winner.is_none())) {
            self.bury(winners.partition, former, born);
        }
        if winner.is_some() {
            let slot = winners.objects.get(&key).map_or(NIL, |object| object.slot);
            self.append(winners.partition.0, slot);
        }
        for (row, has_won) in [(&former, false), (&winner, true)] {
            if let Some(row) = row {
                winners.share(row, has_won);
            }
        }
        if let Some(holder) = self.views.get_mut(&view.0) {
            holder.content.change(former.as_ref(), winner.as_ref());
        }
    }

    /// Whether a row of one of a view's partitions is what the view shows.
    pub(super) fn is_shown(&self, view: ViewId, row: &Row) -> bool {
        let Some(winners) = self.views.get(&view.0).and_then(|view| view.winners.as_ref()) else {
            return true;
        };
        let slot = winners.objects.get(&object_key(row)).map_or(NIL, |object| object.slot);
        self.slab.get(slot).is_some_and(|slot| *slot.bytes == *row.as_json())
    }
}
