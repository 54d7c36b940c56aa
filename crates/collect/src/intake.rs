//! From objects to rows in the store.

use std::collections::BTreeMap;

use kollect_extract::{Verdict, select::Namespace};
use kollect_inventory::{Freshness, ListNumber, PartitionId, PartitionKey, Store, Sweep, ViewId};
use serde::Deserialize;

use crate::assignment::Assignment;

/// So many objects that gave no row are named.
const MOST_NAMED: usize = 100;

/// Whoever holds the store.
pub trait Keeper: Sync {
    /// Reads or changes the store.
    fn with(&self, operation: &mut dyn FnMut(&mut Store));
}

/// What became of the objects of one assignment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Objects that were looked at.
    pub objects: u64,
    /// Rows that were made.
    pub rows: u64,
    /// Objects that are not wanted.
    pub skipped: u64,
    /// Objects that gave no row although they are wanted.
    pub failed: u64,
    /// The first of those.
    pub failures: Vec<FailedObject>,
    /// Values that were hidden.
    pub hidden: u64,
}

/// An object that gave no row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailedObject {
    pub namespace: String,
    pub name: String,
    pub reason: String,
}

/// One list of what an assignment wants, from whatever source.
///
/// Rows go to the partition of their object's namespace as they come. What a
/// list did not see goes when it ends; a place where it did not end stays as
/// it was.
#[derive(Debug)]
pub struct Intake<'a, S: ?Sized> {
    keeper: &'a S,
    assignment: &'a Assignment,
    universe: &'a BTreeMap<String, Namespace>,
    places: BTreeMap<String, Place>,
    tally: Tally,
}

/// A partition and the list of it that runs.
#[derive(Clone, Copy, Debug)]
struct Place {
    partition: PartitionId,
    list: ListNumber,
}

impl<'a, S: Keeper + ?Sized> Intake<'a, S> {
    /// Begins a list in these namespaces (one that is empty is for objects
    /// without any); `views` says to which views rows of a namespace belong.
    pub fn begin(
        keeper: &'a S,
        assignment: &'a Assignment,
        universe: &'a BTreeMap<String, Namespace>,
        namespaces: impl IntoIterator<Item = String>,
        views: impl Fn(&str) -> Vec<ViewId>,
    ) -> Self {
        let mut places = BTreeMap::new();
        for namespace in namespaces {
            let target = assignment.target().clone();
            let key = PartitionKey { target, namespace: namespace.clone() };
            keeper.with(&mut |store| {
                let partition = store.join(&key);
                for view in views(&namespace) {
                    store.attach(view, partition);
                }
                let list = store.begin_list(partition);
                places.insert(namespace.clone(), Place { partition, list });
            });
        }
        Self { keeper, assignment, universe, places, tally: Tally::default() }
    }

    /// Makes a row of an object, if it is wanted.
    pub fn object(&mut self, bytes: &[u8]) {
        self.tally.objects += 1;
        let mut found = None;
        let verdict = self.assignment.plan().examine(bytes, |header| {
            let place = *self.places.get(header.namespace)?;
            let version = header.resource_version.parse().unwrap_or_default();
            found = Some((place.partition, Freshness { list: place.list, version }));
            Some(self.universe.get(header.namespace))
        });
        match (verdict, found) {
            (Verdict::Keep { row, redacted }, Some((partition, freshness))) => {
                self.tally.rows += 1;
                self.tally.hidden += redacted.total() as u64;
                self.keeper.with(&mut |store| {
                    store.upsert(partition, freshness, &row);
                });
            }
            (Verdict::Fail(failure), _) => self.failed(bytes, failure.to_string()),
            (Verdict::Keep { .. } | Verdict::Skip(_), _) => self.tally.skipped += 1,
        }
    }

    fn failed(&mut self, bytes: &[u8], reason: String) {
        self.tally.failed += 1;
        if self.tally.failures.len() < MOST_NAMED {
            let Named { metadata } = serde_json::from_slice(bytes).unwrap_or_default();
            let Metadata { namespace, name } = metadata;
            self.tally.failures.push(FailedObject { namespace, name, reason });
        }
    }

    /// The list begins anew in a namespace, or in all: what came before does
    /// not count.
    pub fn again(&mut self, namespace: Option<&str>) {
        let is_meant = |(name, _): &(&String, &mut Place)| namespace.is_none_or(|one| one == *name);
        for (_, place) in self.places.iter_mut().filter(is_meant) {
            let partition = place.partition;
            self.keeper.with(&mut |store| place.list = store.begin_list(partition));
        }
    }

    /// The list has ended in a namespace: what it did not see is gone.
    pub fn end(&mut self, namespace: &str) {
        if let Some(Place { partition, list }) = self.places.get(namespace).copied() {
            self.keeper.with(&mut |store| store.end_list(partition, list, Sweep::Yes));
        }
    }

    /// The list cannot end in a namespace: nothing there is gone.
    pub fn give_up(&mut self, namespace: &str) {
        if let Some(Place { partition, .. }) = self.places.get(namespace).copied() {
            self.keeper.with(&mut |store| store.uncover(partition));
        }
    }

    /// Where the list runs.
    pub fn namespaces(&self) -> Vec<String> {
        self.places.keys().cloned().collect()
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// What became of the objects.
    pub fn finish(mut self) -> Tally {
        self.tally.failures.sort();
        self.tally
    }
}

/// Who an object is, as far as that can be read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    namespace: String,
    name: String,
}
