//! Where the rows of one assignment go, and which list of each place counts.

use std::collections::BTreeMap;

use kollect_extract::{Verdict, select::Namespace};
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
        let mut places = BTreeMap::new();
        for namespace in namespaces {
            let target = assignment.target().clone();
            let key = PartitionKey { target, namespace: namespace.clone() };
            keeper.with(&mut |store| {
                let partition = store.join(&key);
                for view in views(&namespace) {
                    store.attach(view, partition);
                }
                let list = ListNumber::default();
                places.insert(namespace.clone(), Place { partition, list });
            });
        }
        Self(places)
    }

    /// A list begins in a namespace, or in all.
    pub(crate) fn begin_list<K: Keeper + ?Sized>(&mut self, keeper: &K, namespace: Option<&str>) {
        let is_meant = |(name, _): &(&String, &mut Place)| namespace.is_none_or(|one| one == *name);
        for (_, place) in self.0.iter_mut().filter(is_meant) {
            let partition = place.partition;
            keeper.with(&mut |store| place.list = store.begin_list(partition));
        }
    }

    /// The newest list has ended in a namespace, or in all.
    pub(crate) fn end_list<K: Keeper + ?Sized>(
        &self,
        keeper: &K,
        namespace: Option<&str>,
        sweep: Sweep,
    ) {
        for Place { partition, list } in self.meant(namespace) {
            keeper.with(&mut |store| store.end_list(partition, list, sweep));
        }
    }

    /// What is known of a namespace, or of all, is no longer sure.
    pub(crate) fn uncover<K: Keeper + ?Sized>(&self, keeper: &K, namespace: Option<&str>) {
        for Place { partition, .. } in self.meant(namespace) {
            keeper.with(&mut |store| store.uncover(partition));
        }
    }

    fn meant(&self, namespace: Option<&str>) -> impl Iterator<Item = Place> {
        let is_meant =
            move |(name, _): &(&String, &Place)| namespace.is_none_or(|one| one == *name);
        self.0.iter().filter(is_meant).map(|(_, place)| *place)
    }

    /// Makes what becomes of an object, and says where it belongs if that is
    /// one of these places.
    pub(crate) fn examine(
        &self,
        assignment: &Assignment,
        universe: &BTreeMap<String, Namespace>,
        bytes: &[u8],
    ) -> (Verdict, Option<Spot>) {
        let mut spot = None;
        let verdict = assignment.plan().examine(bytes, |header| {
            spot = self.spot(header.namespace, header.resource_version);
            spot.map(|_| universe.get(header.namespace))
        });
        (verdict, spot)
    }

    /// Where an object of a namespace belongs.
    pub(crate) fn spot(&self, namespace: &str, version: &str) -> Option<Spot> {
        let Place { partition, list } = *self.0.get(namespace)?;
        let version = version.parse().unwrap_or_default();
        Some(Spot { partition, freshness: Freshness { list, version } })
    }

    pub(crate) fn namespaces(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
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
