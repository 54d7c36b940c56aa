//! From objects to rows in the store.

use std::{collections::BTreeMap, sync::Arc};

use kollect_extract::{Verdict, select::Namespace};
use kollect_inventory::{Store, Sweep, ViewId};

use crate::{
    assignment::Assignment,
    places::{Metadata, Numbers, Places},
};

/// So many objects that gave no row are named.
pub(crate) const MOST_NAMED: usize = 100;

/// Whoever holds the store.
pub trait Keeper: Sync {
    /// Reads or changes the store.
    fn with(&self, operation: &mut dyn FnMut(&mut Store));
}

impl<K: Keeper + Send + ?Sized> Keeper for Arc<K> {
    fn with(&self, operation: &mut dyn FnMut(&mut Store)) {
        (**self).with(operation);
    }
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
    places: Places,
    numbers: Numbers,
    tally: Tally,
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
        let mut places = Places::join(keeper, assignment, namespaces, views);
        let numbers = places.begin_list(keeper, |_| true);
        Self { keeper, assignment, universe, places, numbers, tally: Tally::default() }
    }

    /// Makes a row of an object, if it is wanted.
    pub fn object(&mut self, bytes: &[u8]) {
        self.tally.objects += 1;
        let (verdict, spot) =
            self.places.examine(self.assignment, self.universe, bytes, Some(&self.numbers));
        match (verdict, spot) {
            (Verdict::Keep { row, redacted }, Ok(spot)) => {
                self.tally.rows += 1;
                self.tally.hidden += redacted.total() as u64;
                self.keeper.with(&mut |store| {
                    store.upsert(spot.partition, spot.freshness, &row);
                });
            }
            (Verdict::Fail(failure), _) => self.failed(bytes, failure.to_string()),
            (Verdict::Keep { .. } | Verdict::Skip(_), _) => self.tally.skipped += 1,
        }
    }

    fn failed(&mut self, bytes: &[u8], reason: String) {
        self.tally.failed += 1;
        if self.tally.failures.len() < MOST_NAMED {
            let Metadata { namespace, name, .. } = Metadata::of(bytes);
            self.tally.failures.push(FailedObject { namespace, name, reason });
        }
    }

    /// The list begins anew in a namespace, or in all: what came before does
    /// not count.
    pub fn again(&mut self, namespace: Option<&str>) {
        let is_meant = |name: &str| namespace.is_none_or(|one| one == name);
        self.numbers.extend(self.places.begin_list(self.keeper, is_meant));
    }

    /// The list has ended in a namespace: what it did not see is gone.
    pub fn end(&mut self, namespace: &str) {
        if let Some((name, number)) = self.numbers.remove_entry(namespace) {
            let ended = Numbers::from([(name, number)]);
            self.places.end_list(self.keeper, &ended, "", Sweep::Yes);
        }
    }

    /// The list cannot end in a namespace: nothing there is gone.
    pub fn give_up(&mut self, namespace: &str) {
        self.places.uncover(self.keeper, |name| name == namespace);
    }

    /// Where the list runs.
    pub fn namespaces(&self) -> Vec<String> {
        self.places.namespaces().cloned().collect()
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
