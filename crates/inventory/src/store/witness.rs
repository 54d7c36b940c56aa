//! Whoever is told of every row that comes, changes or goes.
//!
//! Views and cursors know rows by what was exported; whoever sums over rows
//! needs the old one and the new one of each change, once, whoever holds them.

use std::fmt;

use super::Store;
use crate::{
    key::{PartitionId, PartitionKey, TargetKey},
    row::Row,
};

/// Is told of every change of a row while it is made.
///
/// It is called within the store's own operations, and so must be quick.
pub trait Witness: fmt::Debug + Send {
    /// A row of a partition has come if there was none before, and is gone if
    /// there is none now.
    fn sees(&mut self, partition: &PartitionKey, old: Option<&Row>, new: Option<&Row>);
}

impl Store {
    /// Tells somebody of every change of a row from now on. There is one
    /// witness; a later one takes the place of an earlier.
    pub fn tell(&mut self, witness: Box<dyn Witness>) {
        self.witness = Some(witness);
    }

    /// Every row of a target, in no order.
    pub fn each_row_of(&self, target: &TargetKey, mut each: impl FnMut(&Row)) {
        let mine = self.by_key.iter().filter(|(key, _)| key.target == *target);
        let homes = mine.filter_map(|(_, id)| self.partitions.get(&id.0));
        for home in homes {
            let live = home.log.iter(&self.slab).filter(|(_, slot)| !slot.is_gone);
            live.for_each(|(_, slot)| each(&slot.row()));
        }
    }

    /// Tells of a partition that goes as a whole.
    pub(super) fn tell_all_gone(&mut self, partition: PartitionId) {
        let Some(witness) = &mut self.witness else { return };
        let Some(home) = self.partitions.get(&partition.0) else { return };
        for (_, slot) in home.log.iter(&self.slab).filter(|(_, slot)| !slot.is_gone) {
            witness.sees(&home.key, Some(&slot.row()), None);
        }
    }
}
