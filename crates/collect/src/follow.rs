//! From the events of a watch to rows in the store.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kollect_extract::{Failure, Verdict, select::Namespace};
use kollect_inventory::{Sweep, TargetKey, Upsert, ViewId};
use tokio::time::Instant;

use crate::{
    assignment::Assignment,
    failed::Failed,
    intake::{FailedObject, Keeper},
    meters::{Became, Flow},
    places::{Astray, Metadata, Numbers, Places},
    watch::{Event, Garbled, Listener, line::is_whole},
};

/// Keeps the rows of all assignments that one watch serves as the watch tells.
/// Cheap to clone; all clones are one.
///
/// Every row carries the number of the newest list of its place, so whatever
/// came by an earlier one goes when that list has ended, and nothing that a
/// watch told since does. Lists of single places may run beside the watch.
#[derive(Debug)]
pub struct Follow<K>(Arc<Mutex<Circle<K>>>);

impl<K> Clone for Follow<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

#[derive(Debug)]
struct Circle<K> {
    keeper: K,
    universe: Arc<BTreeMap<String, Namespace>>,
    followers: BTreeMap<TargetKey, Follower>,
    /// The running list of the watch itself.
    list: Run,
    is_in_trouble: bool,
    flow: Arc<Flow>,
}

/// An assignment, and where its rows go.
#[derive(Debug)]
struct Follower {
    assignment: Arc<Assignment>,
    places: Places,
    failed: Failed,
}

/// Which places a list is of, and its number in each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run(BTreeMap<TargetKey, Numbers>);

impl Run {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.values().all(BTreeMap::is_empty)
    }

    /// The namespaces of all its places.
    pub(crate) fn namespaces(&self) -> BTreeSet<&str> {
        self.0.values().flat_map(BTreeMap::keys).map(String::as_str).collect()
    }

    /// What of it is in one namespace.
    pub(crate) fn within(&self, namespace: &str) -> Self {
        let part = |(target, numbers): (&TargetKey, &Numbers)| {
            let (name, list) = numbers.get_key_value(namespace)?;
            Some((target.clone(), Numbers::from([(name.clone(), *list)])))
        };
        Self(self.0.iter().filter_map(part).collect())
    }
}

/// What a target asks of a watch.
#[derive(Clone, Debug)]
pub(crate) struct Membership {
    pub(crate) assignment: Arc<Assignment>,
    pub(crate) namespaces: BTreeSet<String>,
    /// Places that have to be listed although nothing else of them has changed.
    pub(crate) again: BTreeSet<String>,
}

impl<K: Keeper> Follow<K> {
    /// For nobody yet; `universe` is what is known of namespaces.
    pub fn new(keeper: K, universe: Arc<BTreeMap<String, Namespace>>) -> Self {
        let (followers, list) = (BTreeMap::new(), Run::default());
        let flow = Arc::default();
        let circle = Circle { keeper, universe, followers, list, is_in_trouble: false, flow };
        Self(Arc::new(Mutex::new(circle)))
    }

    /// Counts there what comes from now on.
    pub(crate) fn counts(&self, flow: Arc<Flow>) {
        self.lock().flow = flow;
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
        let mut circle = self.lock();
        let places = Places::join(&circle.keeper, &assignment, namespaces, views);
        let target = assignment.target().clone();
        let failed = Failed::default();
        circle.followers.insert(target, Follower { assignment, places, failed });
    }

    /// Follows for these and nobody else. A list of what is new has begun with
    /// that; somebody has to read it, unless the watch has yet to begin.
    pub(crate) fn serve(&self, members: &BTreeMap<TargetKey, Membership>) -> Run {
        let mut circle = self.lock();
        let Circle { keeper, followers, .. } = &mut *circle;
        followers.retain(|target, _| members.contains_key(target));
        let mut run = Run::default();
        for (target, member) in members {
            let follower = followers.entry(target.clone()).or_insert_with(|| Follower {
                assignment: Arc::clone(&member.assignment),
                places: Places::default(),
                failed: Failed::default(),
            });
            let numbers = follower.becomes(keeper, member);
            if !numbers.is_empty() {
                run.0.insert(target.clone(), numbers);
            }
        }
        run
    }

    pub(crate) fn knows(&self, universe: &Arc<BTreeMap<String, Namespace>>) {
        self.lock().universe = Arc::clone(universe);
    }

    /// An object of a list.
    pub(crate) fn item(&self, run: &Run, bytes: &[u8]) {
        // What is garbled gives no row, and the list goes on.
        drop(self.lock().put(bytes, Some(run)));
    }

    /// A list begins anew where nothing newer has begun.
    pub(crate) fn again(&self, run: &Run) -> Run {
        self.lock().again(run)
    }

    /// A list has ended.
    pub(crate) fn end(&self, run: &Run, version: &str, sweep: Sweep) {
        self.lock().end(run, version, sweep);
    }

    /// A list cannot be read: nothing is sure where nothing newer has begun.
    pub(crate) fn give_up(&self, run: &Run) {
        let circle = self.lock();
        for (target, numbers) in &run.0 {
            let Some(follower) = circle.followers.get(target) else { continue };
            let newest = follower.places.newest_of(numbers);
            follower.places.uncover(&circle.keeper, |name| newest.contains(name));
        }
    }

    /// Whether a list is still waited for.
    pub(crate) fn waits_for(&self, run: &Run) -> bool {
        let circle = self.lock();
        run.0.iter().any(|(target, numbers)| {
            let follower = circle.followers.get(target);
            follower.is_some_and(|follower| !follower.places.newest_of(numbers).is_empty())
        })
    }

    /// How many objects of a target give no row, and the first of them.
    pub(crate) fn failed(&self, target: &TargetKey) -> (u64, Vec<FailedObject>) {
        let circle = self.lock();
        let follower = circle.followers.get(target);
        follower.map(|one| (one.failed.count(), one.failed.named())).unwrap_or_default()
    }

    /// A panic in another target's extraction is no reason to stop.
    fn lock(&self) -> MutexGuard<'_, Circle<K>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Follower {
    /// Takes over what a target asks for; a list of what is new begins.
    fn becomes<K: Keeper>(&mut self, keeper: &K, member: &Membership) -> Numbers {
        let reads_alike = self.assignment.reads_like(&member.assignment);
        self.assignment = Arc::clone(&member.assignment);
        let left: Vec<_> = self
            .places
            .namespaces()
            .filter(|one| !member.namespaces.contains(*one))
            .cloned()
            .collect();
        for namespace in left {
            self.places.leave(&namespace);
            self.failed.leave(&namespace);
        }
        let known: BTreeSet<_> = self.places.namespaces().cloned().collect();
        for namespace in member.namespaces.difference(&known) {
            self.places.add(keeper, &self.assignment, namespace.clone());
        }
        let is_due =
            |name: &str| !reads_alike || !known.contains(name) || member.again.contains(name);
        let numbers = self.places.begin_list(keeper, is_due);
        for name in numbers.keys() {
            self.failed.list_begins(name);
        }
        numbers
    }

    /// Puts in what becomes of an object, as a list or a watch tells it. One
    /// that is wanted no longer, or gives no row, leaves none behind: a stale
    /// row looks like a fresh one. What a list does not bring goes at its end.
    fn put<K: Keeper>(
        &mut self,
        keeper: &K,
        universe: &BTreeMap<String, Namespace>,
        bytes: &[u8],
        of: Option<&Numbers>,
    ) -> Result<Became, Garbled> {
        let examine = || self.places.examine(&self.assignment, universe, bytes, of);
        // A bug that one object meets must not end the watch of all others.
        let (verdict, spot) = catch_unwind(AssertUnwindSafe(examine)).unwrap_or_else(|_| {
            let Metadata { namespace, resource_version, .. } = Metadata::of(bytes);
            let bug = Failure::Object("a bug in Kollect".to_owned());
            let spot = self.places.place(of, &namespace, &resource_version);
            (Verdict::Fail(bug), spot.ok_or(Astray::Unplaced))
        });
        if matches!(verdict, Verdict::Fail(Failure::Object(_))) && !is_whole(bytes) {
            return Err(Garbled);
        }
        let spot = match spot {
            Ok(spot) => spot,
            Err(Astray::Elsewhere) => return Ok(Became::Elsewhere),
            Err(Astray::Unplaced) => return Ok(Became::Nothing),
        };
        if let Verdict::Keep { row, .. } = &verdict {
            if !self.failed.is_empty() {
                let identity = row.identity();
                self.failed.is_well(&identity.namespace, &identity.name);
            }
            let mut upsert = Upsert::Foreign;
            keeper.with(&mut |store| upsert = store.upsert(spot.partition, spot.freshness, row));
            return Ok(Became::Row(upsert));
        }
        let Metadata { namespace, name, .. } = Metadata::of(bytes);
        let became = if let Verdict::Fail(failure) = verdict {
            self.failed.fails(&namespace, &name, &failure.to_string());
            Became::Failed
        } else {
            self.failed.is_well(&namespace, &name);
            Became::Nothing
        };
        if of.is_none() {
            keeper.with(&mut |store| {
                store.delete(spot.partition, spot.freshness, &name);
            });
        }
        Ok(became)
    }
}

impl<K: Keeper> Circle<K> {
    /// What is garbled is so for all, and so the first one says it before
    /// anything has been changed.
    fn put(&mut self, bytes: &[u8], of: Option<&Run>) -> Result<(), Garbled> {
        let began = Instant::now();
        let Self { keeper, universe, followers, flow, .. } = self;
        for (target, follower) in followers {
            let numbers = of.map(|run| run.0.get(target));
            // A list that is not for the target says nothing about it.
            if numbers != Some(None) {
                let became = follower.put(keeper, universe, bytes, numbers.flatten())?;
                flow.became(target, became);
            }
        }
        flow.object(began.elapsed());
        Ok(())
    }

    fn remove(&mut self, bytes: &[u8]) -> Result<(), Garbled> {
        let Metadata { namespace, name, resource_version } = Metadata::of(bytes);
        if name.is_empty() && !is_whole(bytes) {
            return Err(Garbled);
        }
        let began = Instant::now();
        for follower in self.followers.values_mut() {
            if let Some(spot) = follower.places.spot(&namespace, &resource_version) {
                follower.failed.is_well(&namespace, &name);
                self.keeper.with(&mut |store| {
                    store.delete(spot.partition, spot.freshness, &name);
                });
            }
        }
        self.flow.object(began.elapsed());
        Ok(())
    }

    fn begin(&mut self) -> Run {
        let mut run = Run::default();
        for (target, follower) in &mut self.followers {
            follower.places.forget_versions();
            let numbers = follower.places.begin_list(&self.keeper, |_| true);
            for name in numbers.keys() {
                follower.failed.list_begins(name);
            }
            run.0.insert(target.clone(), numbers);
        }
        run
    }

    fn again(&mut self, run: &Run) -> Run {
        let mut anew = Run::default();
        for (target, numbers) in &run.0 {
            let Some(follower) = self.followers.get_mut(target) else { continue };
            let newest = follower.places.newest_of(numbers);
            let numbers = follower.places.begin_list(&self.keeper, |name| newest.contains(name));
            for name in numbers.keys() {
                follower.failed.list_begins(name);
            }
            anew.0.insert(target.clone(), numbers);
        }
        anew
    }

    fn end(&mut self, run: &Run, version: &str, sweep: Sweep) {
        self.flow.list_ended();
        for (target, numbers) in &run.0 {
            let Some(follower) = self.followers.get_mut(target) else { continue };
            let newest = follower.places.newest_of(numbers);
            follower.places.end_list(&self.keeper, numbers, version, sweep);
            if sweep == Sweep::Yes {
                for name in &newest {
                    follower.failed.list_ends(name);
                }
            }
            if self.is_in_trouble {
                // It was so when it was read, but nobody tells what comes after.
                follower.places.uncover(&self.keeper, |name| newest.contains(name));
            }
        }
    }
}

impl<K: Keeper + Send> Listener for Follow<K> {
    fn hear(&mut self, event: Event<'_>) {
        // What is garbled gives no row, and takes none away.
        drop(self.hear_unread(event));
    }

    fn hear_unread(&mut self, event: Event<'_>) -> Result<(), Garbled> {
        let mut circle = self.lock();
        match event {
            Event::ListBegins => circle.list = circle.begin(),
            Event::Item(bytes) => {
                let list = std::mem::take(&mut circle.list);
                let heard = circle.put(bytes, Some(&list));
                circle.list = list;
                return heard;
            }
            Event::Changed(bytes) => return circle.put(bytes, None),
            Event::Gone(bytes) => return circle.remove(bytes),
            Event::ListEnds { version, sweep } => {
                // Who names no version cannot be followed, and says so next.
                circle.is_in_trouble = false;
                let list = std::mem::take(&mut circle.list);
                circle.end(&list, version, sweep);
            }
            Event::Uncovered(_) => {
                circle.is_in_trouble = true;
                for Follower { places, .. } in circle.followers.values() {
                    places.uncover(&circle.keeper, |_| true);
                }
            }
            Event::Recovered => circle.is_in_trouble = false,
            Event::Bookmark(_) => {}
        }
        Ok(())
    }
}
