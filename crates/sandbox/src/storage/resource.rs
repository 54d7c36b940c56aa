//! One resource: what there is now, and how it came to be.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    iter::Peekable,
    ops::Bound,
    sync::Arc,
};

use tokio::sync::watch;

use crate::{
    object::{Key, Object},
    synthetic::{Changes, Recipe},
};

/// Events are kept for watches that are open, even if new ones may no longer
/// begin there.
const RETAINED: usize = 10_000;

/// A state of an object, which may have to be made first.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Stored(Arc<Object>),
    Synthetic { recipe: Arc<Recipe>, index: usize, version: u64, born: u64 },
}

impl Item {
    pub(crate) fn object(&self) -> Arc<Object> {
        match self {
            Self::Stored(object) => Arc::clone(object),
            Self::Synthetic { recipe, index, version, born } => {
                Arc::new(recipe.object(*index, *version, *born))
            }
        }
    }

    pub(crate) fn key(&self) -> Key {
        match self {
            Self::Stored(object) => object.key.clone(),
            Self::Synthetic { recipe, index, .. } => recipe.key(*index),
        }
    }
}

/// Something that happened to one object.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) version: u64,
    pub(crate) previous: Option<Item>,
    /// The new state; of an object that was deleted, the last one.
    pub(crate) item: Item,
    pub(crate) deleted: bool,
}

/// The objects of one resource in all its versions.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) objects: BTreeMap<Key, Arc<Object>>,
    pub(crate) synthetic: Option<Synthetic>,
    history: VecDeque<Event>,
    /// The version of the newest event that is no longer in the history.
    dropped: u64,
    /// Wakes the watches.
    pub(crate) changed: watch::Sender<()>,
}

/// Objects that are made when they are asked for.
#[derive(Debug)]
pub(crate) struct Synthetic {
    pub(crate) recipe: Arc<Recipe>,
    /// Of each object, in the order of keys; zero of those that are gone.
    pub(crate) versions: Vec<u64>,
    /// Those that are gone, and may come back as others of the same name.
    pub(crate) gone: BTreeSet<usize>,
    /// When those were made that have come back; the others were from the start.
    pub(crate) born: BTreeMap<usize, u64>,
    pub(crate) changes: Changes,
    /// Parts of an event that are due.
    pub(crate) due: f64,
}

impl Synthetic {
    fn items(&self, from: usize) -> impl Iterator<Item = Item> {
        let all = self.versions.iter().enumerate().skip(from);
        all.filter(|(_, version)| **version > 0).map(|(index, version)| self.item(index, *version))
    }

    /// A state of one of them.
    pub(crate) fn item(&self, index: usize, version: u64) -> Item {
        let born = self.born.get(&index).copied().unwrap_or_default();
        Item::Synthetic { recipe: Arc::clone(&self.recipe), index, version, born }
    }
}

/// What a watch gets next.
pub(crate) enum Feed {
    Events(Vec<Event>),
    /// Events were dropped before the watch came to read them.
    Behind,
}

impl Resource {
    pub(crate) fn new() -> Self {
        Self {
            objects: BTreeMap::new(),
            synthetic: None,
            history: VecDeque::new(),
            dropped: 0,
            changed: watch::Sender::new(()),
        }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Item> {
        if let Some(object) = self.objects.get(key) {
            return Some(Item::Stored(Arc::clone(object)));
        }
        let synthetic = self.synthetic.as_ref()?;
        let item = synthetic.items(synthetic.recipe.position((&key.0, &key.1))).next()?;
        (item.key() == *key).then_some(item)
    }

    pub(crate) fn record(&mut self, event: Event, window: usize) {
        self.history.push_back(event);
        while self.history.len() > window.max(RETAINED) {
            if let Some(event) = self.history.pop_front() {
                self.dropped = event.version;
            }
        }
        self.changed.send_replace(());
    }

    /// Lets nobody begin before a version.
    pub(crate) fn forget_before(&mut self, version: u64) {
        self.dropped = version;
    }

    /// The oldest version from which every event is still to be had, if only
    /// so many are shown.
    pub(crate) fn floor(&self, window: usize) -> u64 {
        let hidden = self.history.len().checked_sub(window + 1);
        hidden.and_then(|at| self.history.get(at)).map_or(self.dropped, |event| event.version)
    }

    /// The next events after a version.
    pub(crate) fn after(&self, version: u64, limit: usize) -> Feed {
        if version < self.dropped {
            return Feed::Behind;
        }
        let from = self.history.partition_point(|event| event.version <= version);
        Feed::Events(self.history.range(from..).take(limit).cloned().collect())
    }

    /// The objects as they were at a version, in order, from a key on.
    pub(crate) fn at(&self, version: u64, from: &Key) -> impl Iterator<Item = Item> {
        // The first event after the version knows what was there before.
        let mut undone: BTreeMap<Key, Option<Item>> = BTreeMap::new();
        let since = self.history.partition_point(|event| event.version <= version);
        for event in self.history.range(since..) {
            undone.entry(event.item.key()).or_insert_with(|| event.previous.clone());
        }
        let undone = undone.into_iter().filter({
            let from = from.clone();
            move |(key, _)| *key >= from
        });
        let now = self.now(from).map(|item| (item.key(), Some(item)));
        merged(undone, now).filter_map(|(_, item)| item)
    }

    fn now(&self, from: &Key) -> impl Iterator<Item = Item> {
        let stored = self
            .objects
            .range::<Key, _>((Bound::Included(from), Bound::Unbounded))
            .map(|(key, object)| (key.clone(), Item::Stored(Arc::clone(object))));
        let synthetic = self.synthetic.iter().flat_map(|synthetic| {
            let items = synthetic.items(synthetic.recipe.position((&from.0, &from.1)));
            items.map(|item| (item.key(), item))
        });
        merged(stored, synthetic).map(|(_, item)| item)
    }

    /// About how many objects there are from a key on, in one namespace or all.
    pub(crate) fn count(&self, from: &Key, namespace: Option<&str>) -> usize {
        let stored = self.objects.range::<Key, _>((Bound::Included(from), Bound::Unbounded));
        let stored = stored
            .take_while(|((of, _), _)| namespace.is_none_or(|namespace| namespace == of))
            .count();
        let synthetic = self.synthetic.as_ref().map_or(0, |synthetic| {
            let end = match namespace {
                // Nothing sorts between a name and itself with a zero.
                Some(namespace) => synthetic.recipe.position((&format!("{namespace}\0"), "")),
                None => synthetic.recipe.count,
            };
            let begin = synthetic.recipe.position((&from.0, &from.1)).min(end);
            end - begin - synthetic.gone.range(begin..end).count()
        });
        stored + synthetic
    }
}

/// Merges two sorted sequences; of equal keys the first sequence's stays.
fn merged<T>(
    first: impl Iterator<Item = (Key, T)>,
    second: impl Iterator<Item = (Key, T)>,
) -> impl Iterator<Item = (Key, T)> {
    Merged { first: first.peekable(), second: second.peekable() }
}

struct Merged<A: Iterator, B: Iterator> {
    first: Peekable<A>,
    second: Peekable<B>,
}

impl<T, A, B> Iterator for Merged<A, B>
where
    A: Iterator<Item = (Key, T)>,
    B: Iterator<Item = (Key, T)>,
{
    type Item = (Key, T);

    fn next(&mut self) -> Option<Self::Item> {
        let (Some((first, _)), Some((second, _))) = (self.first.peek(), self.second.peek()) else {
            return self.first.next().or_else(|| self.second.next());
        };
        if first > second {
            return self.second.next();
        }
        if first == second {
            self.second.next();
        }
        self.first.next()
    }
}
