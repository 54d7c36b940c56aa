//! The partitions of all that is collected, and the views that they are in.

use std::collections::{BTreeMap, BTreeSet};

use kollect_inventory::{Coverage, PartitionId, PartitionKey, Store, TargetKey, ViewId};

use crate::intake::Keeper;

/// The partitions that somebody asked for.
#[derive(Debug)]
pub(super) struct Holdings<K> {
    keeper: K,
    /// The views that each was given to.
    held: BTreeMap<PartitionKey, BTreeSet<ViewId>>,
}

impl<K: Keeper> Holdings<K> {
    pub(super) fn new(keeper: K) -> Self {
        Self { keeper, held: BTreeMap::new() }
    }

    pub(super) fn keeper(&self) -> &K {
        &self.keeper
    }

    /// Brings partitions into the views that they belong to, and withdraws
    /// those that are wanted no longer, unless they stay.
    pub(super) fn change_to(
        &mut self,
        wanted: BTreeMap<PartitionKey, BTreeSet<ViewId>>,
        stays: impl Fn(&PartitionKey) -> bool,
    ) {
        let is_kept = |key: &PartitionKey| wanted.contains_key(key) || stays(key);
        let gone: Vec<_> = self.held.keys().filter(|key| !is_kept(key)).cloned().collect();
        for key in gone {
            self.held.remove(&key);
            self.of(&key, Store::withdraw);
        }
        for (key, views) in wanted {
            let held = self.held.get(&key);
            if held != Some(&views) {
                let before = held.cloned().unwrap_or_default();
                self.keeper.with(&mut |store| give(store, &key, &before, &views));
                self.held.insert(key, views);
            }
        }
    }

    /// What is read from objects of some partitions has changed.
    pub(super) fn plan_changed(&self, is_meant: impl Fn(&PartitionKey) -> bool) {
        for key in self.held.keys().filter(|key| is_meant(key)) {
            self.of(key, Store::plan_changed);
        }
    }

    /// Some partitions cannot be read, or no longer.
    pub(super) fn uncover(&self, is_meant: impl Fn(&PartitionKey) -> bool) {
        for key in self.held.keys().filter(|key| is_meant(key)) {
            self.of(key, Store::uncover);
        }
    }

    pub(super) fn is_covered(&self, target: &TargetKey, namespace: &str) -> bool {
        let key = PartitionKey { target: target.clone(), namespace: namespace.to_owned() };
        let mut is_covered = false;
        self.of(&key, |store, id| is_covered = store.coverage(id) == Coverage::Covered);
        is_covered
    }

    fn of(&self, key: &PartitionKey, mut operation: impl FnMut(&mut Store, PartitionId)) {
        self.keeper.with(&mut |store| {
            if let Some(partition) = store.partition(key) {
                operation(store, partition);
            }
        });
    }
}

/// Brings a partition into views, and out of others.
fn give(store: &mut Store, key: &PartitionKey, before: &BTreeSet<ViewId>, now: &BTreeSet<ViewId>) {
    let partition = store.join(key);
    for view in before.difference(now) {
        store.detach(*view, partition);
    }
    for view in now.difference(before) {
        store.attach(*view, partition);
    }
}
