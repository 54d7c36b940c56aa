//! From the events of a watch to rows in the store.

use std::{collections::BTreeMap, sync::Arc};

use kollect_extract::{Verdict, select::Namespace};
use kollect_inventory::ViewId;

use crate::{
    assignment::Assignment,
    intake::Keeper,
    places::{Metadata, Places},
    watch::{Event, Listener},
};

/// Keeps the rows of all assignments that one watch serves as the watch tells.
///
/// Every row carries the number of the newest list of its place, so whatever
/// came by an earlier one goes when that list has ended, and nothing that a
/// watch told since does.
#[derive(Debug)]
pub struct Follow<K> {
    keeper: K,
    universe: Arc<BTreeMap<String, Namespace>>,
    followers: Vec<Follower>,
}

/// An assignment, and where its rows go.
#[derive(Debug)]
struct Follower {
    assignment: Arc<Assignment>,
    places: Places,
}

impl<K: Keeper> Follow<K> {
    /// For nobody yet; `universe` is what is known of namespaces.
    pub fn new(keeper: K, universe: Arc<BTreeMap<String, Namespace>>) -> Self {
        Self { keeper, universe, followers: Vec::new() }
    }

    /// Follows for an assignment, too, in these namespaces (one that is empty
    /// is for objects without any); `views` says to which views rows of a
    /// namespace belong. Nothing is known there until a list has ended.
    pub fn add(
        &mut self,
        assignment: Arc<Assignment>,
        namespaces: impl IntoIterator<Item = String>,
        views: impl Fn(&str) -> Vec<ViewId>,
    ) {
        let places = Places::join(&self.keeper, &assignment, namespaces, views);
        self.followers.push(Follower { assignment, places });
    }

    /// Puts in what becomes of an object. One that is wanted no longer, or
    /// gives no row, leaves none behind: a stale row looks like a fresh one.
    fn put(&self, bytes: &[u8], was: Was) {
        let Self { keeper, universe, followers } = self;
        for Follower { assignment, places } in followers {
            match places.examine(assignment, universe, bytes) {
                (Verdict::Keep { row, .. }, Some(spot)) => keeper.with(&mut |store| {
                    store.upsert(spot.partition, spot.freshness, &row);
                }),
                (Verdict::Skip(_) | Verdict::Fail(_), Some(spot)) if was == Was::Known => {
                    let Metadata { name, .. } = Metadata::of(bytes);
                    keeper.with(&mut |store| {
                        store.delete(spot.partition, spot.freshness, &name);
                    });
                }
                // What a list does not bring goes when the list has ended.
                (Verdict::Keep { .. } | Verdict::Skip(_) | Verdict::Fail(_), _) => {}
            }
        }
    }

    fn remove(&self, bytes: &[u8]) {
        let Metadata { namespace, name, resource_version } = Metadata::of(bytes);
        for Follower { places, .. } in &self.followers {
            if let Some(spot) = places.spot(&namespace, &resource_version) {
                self.keeper.with(&mut |store| {
                    store.delete(spot.partition, spot.freshness, &name);
                });
            }
        }
    }
}

/// Whether an object may have a row that the end of the list would leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Was {
    Known,
    New,
}

impl<K: Keeper + Send> Listener for Follow<K> {
    fn hear(&mut self, event: Event<'_>) {
        match event {
            Event::ListBegins => {
                for Follower { places, .. } in &mut self.followers {
                    places.begin_list(&self.keeper, None);
                }
            }
            Event::Item(bytes) => self.put(bytes, Was::New),
            Event::Changed(bytes) => self.put(bytes, Was::Known),
            Event::Gone(bytes) => self.remove(bytes),
            Event::ListEnds { sweep, .. } => {
                for Follower { places, .. } in &self.followers {
                    places.end_list(&self.keeper, None, sweep);
                }
            }
            Event::Uncovered(_) => {
                for Follower { places, .. } in &self.followers {
                    places.uncover(&self.keeper, None);
                }
            }
            Event::Bookmark(_) | Event::Recovered => {}
        }
    }
}
