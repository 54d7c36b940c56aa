//! What is counted while collecting: plain numbers, for whoever shows them.
//!
//! Everything here is added to where it happens and read by others at their
//! own time, so nobody who collects ever waits for somebody who looks.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use kollect_inventory::{TargetKey, Upsert};

use crate::{rights::Right, watch_set::Post};

/// Upper bounds of the spread of how long an object takes, in seconds.
pub const DISPATCH_BOUNDS: [f64; 11] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0];

/// Everything that is counted; all clones are one.
#[derive(Clone, Debug, Default)]
pub struct Meters(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    watches: Mutex<BTreeMap<WatchKey, Watched>>,
    rights_known: AtomicU64,
    rights_asked: AtomicU64,
    failed_of_targets: AtomicU64,
    failed_of_cluster_targets: AtomicU64,
    dispatches: Spread,
}

/// A resource that is watched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WatchKey {
    pub group: String,
    pub version: String,
    pub resource: String,
}

impl WatchKey {
    fn of(Right { group, version, plural, namespace: _ }: &Right) -> Self {
        let (group, version, resource) = (group.clone(), version.clone(), plural.clone());
        Self { group, version, resource }
    }
}

#[derive(Debug)]
struct Watched {
    flow: Arc<Flow>,
    is_everywhere: bool,
}

/// What has come of all watches of one resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WatchCounts {
    /// Whether it is watched in the whole cluster, and not by namespace.
    pub is_everywhere: bool,
    /// Objects that were listed, have changed or are gone.
    pub objects: u64,
    /// Those that made a row that was known already, for each target.
    pub unchanged: u64,
    /// Those of a namespace that a target does not want, for each target.
    pub elsewhere: u64,
    /// Lists that have ended.
    pub lists: u64,
}

/// How long objects took from their bytes to the store.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dispatches {
    /// How many took up to each of the bounds and longer than the one before;
    /// those that took longer than all come last.
    pub counts: [u64; DISPATCH_BOUNDS.len() + 1],
    pub total: Duration,
}

impl Meters {
    /// What has come of each resource that is watched.
    pub fn watches(&self) -> BTreeMap<WatchKey, WatchCounts> {
        let watches = self.lock();
        let counts = watches.iter().map(|(key, watched)| {
            let Flow { meters: _, objects, unchanged, elsewhere, lists } = &*watched.flow;
            let counts = WatchCounts {
                is_everywhere: watched.is_everywhere,
                objects: objects.load(Relaxed),
                unchanged: unchanged.load(Relaxed),
                elsewhere: elsewhere.load(Relaxed),
                lists: lists.load(Relaxed),
            };
            (key.clone(), counts)
        });
        counts.collect()
    }

    /// How often a right mattered that was known, and how often one was asked
    /// for.
    pub fn rights(&self) -> (u64, u64) {
        (self.0.rights_known.load(Relaxed), self.0.rights_asked.load(Relaxed))
    }

    /// How often an object that is wanted gave no row, for targets of
    /// namespaces and for those of the cluster.
    pub fn failed(&self) -> (u64, u64) {
        let Inner { failed_of_targets, failed_of_cluster_targets, .. } = &*self.0;
        (failed_of_targets.load(Relaxed), failed_of_cluster_targets.load(Relaxed))
    }

    /// How long objects took.
    pub fn dispatches(&self) -> Dispatches {
        self.0.dispatches.read()
    }

    /// These watches there are, and no others: what was counted of resources
    /// that nobody watches any longer is forgotten.
    pub(crate) fn watch<'p>(&self, posts: impl Iterator<Item = &'p Post>) {
        let mut wanted = BTreeMap::<_, bool>::new();
        for post in posts {
            *wanted.entry(WatchKey::of(&post.right)).or_default() |= post.namespace().is_none();
        }
        let mut watches = self.lock();
        watches.retain(|key, _| wanted.contains_key(key));
        for (key, is_everywhere) in wanted {
            let new = || Watched { flow: Arc::new(Flow::of(self)), is_everywhere };
            watches.entry(key).or_insert_with(new).is_everywhere = is_everywhere;
        }
    }

    /// Where what a watch brings is counted.
    pub(crate) fn of(&self, post: &Post) -> Arc<Flow> {
        let watches = self.lock();
        let known = watches.get(&WatchKey::of(&post.right));
        known.map_or_else(|| Arc::new(Flow::of(self)), |known| Arc::clone(&known.flow))
    }

    pub(crate) fn looked_up(&self, known: usize, asked: usize) {
        self.0.rights_known.fetch_add(known as u64, Relaxed);
        self.0.rights_asked.fetch_add(asked as u64, Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<WatchKey, Watched>> {
        self.0.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What has come of one watch, and those beside it.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    meters: Meters,
    objects: AtomicU64,
    unchanged: AtomicU64,
    elsewhere: AtomicU64,
    lists: AtomicU64,
}

/// What became of an object for one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Became {
    /// A row, and what the store made of it.
    Row(Upsert),
    /// None, because it is not wanted.
    Nothing,
    /// None, because its namespace is not wanted.
    Elsewhere,
    /// None, although it is wanted.
    Failed,
}

impl Flow {
    fn of(meters: &Meters) -> Self {
        Self { meters: meters.clone(), ..Self::default() }
    }

    /// An object has come, and it took so long to put it away.
    pub(crate) fn object(&self, took: Duration) {
        self.objects.fetch_add(1, Relaxed);
        self.meters.0.dispatches.add(took);
    }

    pub(crate) fn became(&self, target: &TargetKey, became: Became) {
        let inner = &self.meters.0;
        let counter = match became {
            Became::Row(Upsert::Unchanged) => &self.unchanged,
            Became::Elsewhere => &self.elsewhere,
            Became::Failed if target.namespace.is_none() => &inner.failed_of_cluster_targets,
            Became::Failed => &inner.failed_of_targets,
            Became::Row(_) | Became::Nothing => return,
        };
        counter.fetch_add(1, Relaxed);
    }

    pub(crate) fn list_ended(&self) {
        self.lists.fetch_add(1, Relaxed);
    }
}

#[derive(Debug, Default)]
struct Spread {
    counts: [AtomicU64; DISPATCH_BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

impl Spread {
    fn add(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let at = DISPATCH_BOUNDS.iter().take_while(|bound| seconds > **bound).count();
        if let Some(count) = self.counts.get(at) {
            count.fetch_add(1, Relaxed);
        }
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Relaxed);
    }

    fn read(&self) -> Dispatches {
        let counts = self.counts.each_ref().map(|count| count.load(Relaxed));
        Dispatches { counts, total: Duration::from_nanos(self.nanoseconds.load(Relaxed)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(plural: &str, namespace: Option<&str>) -> Post {
        let [group, version, plural] = ["apps", "v1", plural].map(str::to_owned);
        Post { right: Right { group, version, plural, namespace: namespace.map(str::to_owned) } }
    }

    #[test]
    fn watches_of_one_resource_are_counted_together_and_forgotten_with_the_last() {
        let meters = Meters::default();
        let (shop, mall) = (post("pods", Some("shop")), post("pods", Some("mall")));
        meters.watch([&shop, &mall].into_iter());
        meters.of(&shop).object(Duration::ZERO);
        meters.of(&mall).object(Duration::ZERO);
        meters.of(&mall).list_ended();
        let counts = |meters: &Meters| meters.watches().into_values().collect::<Vec<_>>();
        let expected = WatchCounts { objects: 2, lists: 1, ..WatchCounts::default() };
        assert_eq!(counts(&meters), [expected]);
        meters.watch([&post("pods", None)].into_iter());
        assert_eq!(counts(&meters), [WatchCounts { is_everywhere: true, ..expected }]);
        meters.watch([&post("jobs", None)].into_iter());
        let forgotten = WatchCounts { is_everywhere: true, ..WatchCounts::default() };
        assert_eq!(counts(&meters), [forgotten]);
    }

    #[test]
    fn a_time_is_counted_under_the_first_bound_that_it_does_not_exceed() {
        let meters = Meters::default();
        let flow = Flow::of(&meters);
        for micros in [500, 501, 2_000_000] {
            flow.object(Duration::from_micros(micros));
        }
        let Dispatches { counts, total } = meters.dispatches();
        assert_eq!((counts[0], counts[1], counts[11]), (1, 1, 1));
        assert_eq!(total, Duration::from_micros(2_001_001));
    }

    #[test]
    fn what_becomes_of_objects_is_counted_by_what_it_is() {
        let meters = Meters::default();
        let flow = Flow::of(&meters);
        let of = |namespace: Option<&str>| TargetKey {
            namespace: namespace.map(str::to_owned),
            name: "t".to_owned(),
        };
        for became in [
            Became::Row(Upsert::Changed),
            Became::Row(Upsert::Unchanged),
            Became::Nothing,
            Became::Elsewhere,
            Became::Failed,
        ] {
            flow.became(&of(Some("shop")), became);
        }
        flow.became(&of(None), Became::Failed);
        assert_eq!((flow.unchanged.load(Relaxed), flow.elsewhere.load(Relaxed)), (1, 1));
        assert_eq!(meters.failed(), (1, 1));
    }
}
