//! Where the rows of one assignment go, and which list of each place counts.

use std::collections::{BTreeMap, BTreeSet};

use kollect_extract::{Header, Verdict, select::Namespace};
use kollect_inventory::{Freshness, ListNumber, PartitionId, PartitionKey, Sweep, ViewId};
use serde::Deserialize;

use crate::{assignment::Assignment, intake::Keeper};

/// The partitions of an assignment, by namespace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(BTreeMap<String, Place>);

/// A partition and the newest list of it.
#[derive(Clone, Copy, Debug)]
struct Place {
    partition: PartitionId,
    list: ListNumber,
    /// Up to this version everything is in a list that has ended. A watch that
    /// is behind may still tell of it, and would raise the dead.
    told: u64,
}

/// A list of some places, and its number in each. A place in which a newer list
/// has begun is no longer a part of it.
pub(crate) type Numbers = BTreeMap<String, ListNumber>;

/// Why an object belongs nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Astray {
    /// Its namespace is none of these places.
    Elsewhere,
    /// It is no news, or nobody could read where it belongs.
    Unplaced,
}

/// Where an object belongs, and how new it is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub(crate) partition: PartitionId,
    pub(crate) freshness: Freshness,
}

impl Places {
    /// The places of an assignment in some namespaces; an empty one is for
    /// objects without any. `views` says to which views rows of a namespace belong.
    pub(crate) fn join<K: Keeper + ?Sized>(
        keeper: &K,
        assignment: &Assignment,
        namespaces: impl IntoIterator<Item = String>,
        views: impl Fn(&str) -> Vec<ViewId>,
    ) -> Self {
        let mut places = Self::default();
        for namespace in namespaces {
            let views = views(&namespace);
            let partition = places.add(keeper, assignment, namespace);
            keeper.with(&mut |store| {
                for (view, partition) in views.iter().zip(partition.iter().cycle()) {
                    store.attach(*view, *partition);
                }
            });
        }
        places
    }

    /// One more place.
    pub(crate) fn add<K: Keeper + ?Sized>(
        &mut self,
        keeper: &K,
        assignment: &Assignment,
        namespace: String,
    ) -> Option<PartitionId> {
        let target = assignment.target().clone();
        let key = PartitionKey { target, namespace };
        let mut joined = None;
        keeper.with(&mut |store| joined = Some(store.join(&key)));
        let place = |partition| Place { partition, list: ListNumber::default(), told: 0 };
        self.0.extend(joined.map(|partition| (key.namespace, place(partition))));
        joined
    }

    pub(crate) fn leave(&mut self, namespace: &str) {
        self.0.remove(namespace);
    }

    /// A list begins in some of the places.
    pub(crate) fn begin_list<K: Keeper + ?Sized>(
        &mut self,
        keeper: &K,
        is_meant: impl Fn(&str) -> bool,
    ) -> Numbers {
        let mut numbers = Numbers::new();
        for (namespace, place) in self.0.iter_mut().filter(|(name, _)| is_meant(name)) {
            keeper.with(&mut |store| place.list = store.begin_list(place.partition));
            numbers.insert(namespace.clone(), place.list);
        }
        numbers
    }

    /// A list has ended, at a version.
    pub(crate) fn end_list<K: Keeper + ?Sized>(
        &mut self,
        keeper: &K,
        numbers: &Numbers,
        version: &str,
        sweep: Sweep,
    ) {
        for (namespace, list) in numbers {
            let Some(place) = self.0.get_mut(namespace).filter(|place| place.list == *list) else {
                continue;
            };
            if sweep == Sweep::Yes {
                place.told = version.parse().unwrap_or_default();
            }
            keeper.with(&mut |store| store.end_list(place.partition, *list, sweep));
        }
    }

    /// What is known of some places is no longer sure.
    pub(crate) fn uncover<K: Keeper + ?Sized>(&self, keeper: &K, is_meant: impl Fn(&str) -> bool) {
        for (_, place) in self.0.iter().filter(|(name, _)| is_meant(name)) {
            keeper.with(&mut |store| store.uncover(place.partition));
        }
    }

    /// Versions that were heard before mean nothing any longer.
    pub(crate) fn forget_versions(&mut self) {
        self.0.values_mut().for_each(|place| place.told = 0);
    }

    /// Makes what becomes of an object, and says where it belongs if that is
    /// one of these places and it is news there, or else why it does not.
    pub(crate) fn examine(
        &self,
        assignment: &Assignment,
        universe: &BTreeMap<String, Namespace>,
        bytes: &[u8],
        of: Option<&Numbers>,
    ) -> (Verdict, Result<Spot, Astray>) {
        let mut spot = Err(Astray::Unplaced);
        let verdict = assignment.plan().examine(bytes, |header: &Header<'_>| {
            let is_here = || self.0.contains_key(header.namespace);
            let astray = || if is_here() { Astray::Unplaced } else { Astray::Elsewhere };
            spot = self.place(of, header.namespace, header.resource_version).ok_or_else(astray);
            spot.ok().map(|_| universe.get(header.namespace))
        });
        (verdict, spot)
    }

    /// Where an object of a list belongs, or a change.
    pub(crate) fn place(
        &self,
        of: Option<&Numbers>,
        namespace: &str,
        version: &str,
    ) -> Option<Spot> {
        match of {
            Some(numbers) => self.spot_in(numbers, namespace, version),
            None => self.spot(namespace, version),
        }
    }

    /// Where a change in a namespace belongs, if it is news there.
    pub(crate) fn spot(&self, namespace: &str, version: &str) -> Option<Spot> {
        let Place { partition, list, told } = *self.0.get(namespace)?;
        let version: u64 = version.parse().unwrap_or_default();
        let is_news = told == 0 || version == 0 || version > told;
        is_news.then_some(Spot { partition, freshness: Freshness { list, version } })
    }

    /// Where an object of a list belongs.
    fn spot_in(&self, numbers: &Numbers, namespace: &str, version: &str) -> Option<Spot> {
        let Place { partition, list, .. } = *self.0.get(namespace)?;
        let version = version.parse().unwrap_or_default();
        let is_newest = numbers.get(namespace) == Some(&list);
        is_newest.then_some(Spot { partition, freshness: Freshness { list, version } })
    }

    pub(crate) fn namespaces(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// The names of the places that a list is the newest of.
    pub(crate) fn newest_of(&self, numbers: &Numbers) -> BTreeSet<String> {
        let newest = numbers
            .iter()
            .filter(|(name, list)| self.0.get(*name).is_some_and(|place| place.list == **list));
        newest.map(|(name, _)| name.clone()).collect()
    }
}

/// Who an object is, as far as that can be read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Named {
    pub(crate) metadata: Metadata,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Metadata {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) resource_version: String,
}

impl Metadata {
    /// Reads who an object is; nobody if it cannot be read.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let Named { metadata } = serde_json::from_slice(bytes).unwrap_or_default();
        metadata
    }
}
