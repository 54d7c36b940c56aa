//! Random histories, on the store and on the model.

use std::collections::BTreeMap;

use kollect_inventory::{
    Batch, Change, CursorId, Dedupe, Effect, Freshness, ListNumber, PartitionChange, PartitionId,
    PartitionKey, Row, Store, Sweep, ViewId,
};
use proptest::prelude::*;

use super::{
    destination::Destination,
    model::{self, Model},
    support::{partition, row},
    witness::Told,
};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
/// The first two views keep all rows, the others one row an object.
const VIEWS: usize = 4;
const CURSORS: usize = 7;

/// One step of a history. Small numbers pick the partition, name, view or cursor.
#[derive(Clone, Debug)]
enum Step {
    /// The cluster changes, and the watch says so if it is heard.
    Put {
        partition: usize,
        name: usize,
        uid: u8,
        value: u32,
        heard: bool,
    },
    Remove {
        partition: usize,
        name: usize,
        heard: bool,
    },
    BeginList(usize),
    ListItem(usize),
    EndList {
        partition: usize,
        sweep: bool,
    },
    PlanChanged(usize),
    Uncover(usize),
    Withdraw(usize),
    Attach {
        view: usize,
        partition: usize,
    },
    Detach {
        view: usize,
        partition: usize,
    },
    Settle(usize),
    Gather {
        cursor: usize,
        most: usize,
    },
    Acknowledge(usize),
    Fail {
        cursor: usize,
        effect: usize,
    },
    StartOver(usize),
    /// The sink is configured anew: its cursor goes and comes.
    Reopen(usize),
    /// The inventory is made anew, with some partitions.
    Remake {
        view: usize,
        partitions: u8,
    },
    /// A destination has recorded a number near ours.
    Lift(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let partition = || 0..6_usize;
    let name = || 0..NAMES.len();
    let cursor = || 0..CURSORS;
    prop_oneof![
        8 => (partition(), name(), 0..2_u8, 0..4_u32, prop::bool::weighted(0.95))
            .prop_map(|(partition, name, uid, value, heard)| Step::Put { partition, name, uid, value, heard }),
        4 => (partition(), name(), prop::bool::weighted(0.95))
            .prop_map(|(partition, name, heard)| Step::Remove { partition, name, heard }),
        3 => partition().prop_map(Step::BeginList),
        3 => partition().prop_map(Step::ListItem),
        3 => (partition(), prop::bool::weighted(0.9))
            .prop_map(|(partition, sweep)| Step::EndList { partition, sweep }),
        1 => partition().prop_map(Step::PlanChanged),
        1 => partition().prop_map(Step::Uncover),
        1 => partition().prop_map(Step::Withdraw),
        2 => (0..VIEWS, partition()).prop_map(|(view, partition)| Step::Attach { view, partition }),
        1 => (0..VIEWS, partition()).prop_map(|(view, partition)| Step::Detach { view, partition }),
        1 => (0..VIEWS).prop_map(Step::Settle),
        8 => (cursor(), prop_oneof![1..4_usize, Just(1000)])
            .prop_map(|(cursor, most)| Step::Gather { cursor, most }),
        8 => cursor().prop_map(Step::Acknowledge),
        2 => (cursor(), 0..3_usize).prop_map(|(cursor, effect)| Step::Fail { cursor, effect }),
        1 => cursor().prop_map(Step::StartOver),
        1 => cursor().prop_map(Step::Reopen),
        1 => (0..VIEWS, any::<u8>()).prop_map(|(view, partitions)| Step::Remake { view, partitions }),
        1 => (-10..40_i64).prop_map(Step::Lift),
    ]
}

/// A list that is being read: what it has yet to deliver.
struct Listing {
    number: (ListNumber, u32),
    items: Vec<(String, u64, Row)>,
}

/// The cluster, the store, the model, and where copies go.
struct World {
    store: Store,
    told: Told,
    model: Model,
    keys: Vec<PartitionKey>,
    /// What there really is: name → version and row.
    cluster: BTreeMap<PartitionKey, BTreeMap<String, (u64, Row)>>,
    version: u64,
    listings: BTreeMap<PartitionKey, Listing>,
    /// The list under which events of the watch are numbered.
    numbers: BTreeMap<PartitionKey, (ListNumber, u32)>,
    views: Vec<ViewId>,
    cursors: Vec<CursorId>,
    copies: Vec<Destination>,
    flights: Vec<Option<Batch>>,
    /// The number that each destination has recorded.
    recorded: Vec<i64>,
}

/// Which view a cursor copies.
fn view_of(cursor: usize) -> usize {
    cursor % VIEWS
}

impl World {
    fn new(leftovers: &[(usize, usize, u32)], settled: bool) -> Self {
        let mut store = Store::new(1_000);
        let told = Told::default();
        store.tell(Box::new(told.clone()));
        let mut model = Model::default();
        let keys: Vec<_> = ["alpha", "beta", "gamma"]
            .iter()
            .flat_map(|target| ["ops", "shop"].map(|namespace| partition(target, namespace)))
            .collect();
        let mut views = Vec::new();
        for at in 0..VIEWS {
            let by_uid = at >= 2;
            let view = store.add_view(if by_uid { Dedupe::ByUid } else { Dedupe::KeepAll });
            if settled {
                store.settle(view);
            }
            views.push(view);
            model.views.push(model::View { by_uid, ..model::View::default() });
        }
        let cursors: Vec<_> =
            (0..CURSORS).map(|at| store.open_cursor(views[view_of(at)])).collect();
        // What an earlier process has written.
        let mut copy = Destination::default();
        for (partition, name, value) in leftovers {
            copy.put(&row(&keys[*partition], NAMES[*name], "old", *value));
        }
        Self {
            store,
            told,
            model,
            keys,
            cluster: BTreeMap::new(),
            version: 0,
            listings: BTreeMap::new(),
            numbers: BTreeMap::new(),
            views,
            copies: vec![copy; CURSORS],
            flights: vec![None; CURSORS],
            recorded: vec![0; CURSORS],
            cursors,
        }
    }

    /// Brings the world to where it is most of the time: some rows, everything
    /// listed and in view, and every cursor past its first export.
    fn warm_up(&mut self) {
        for partition in 0..self.keys.len() {
            for name in 0..2 {
                self.put(partition, name, (0, 0), true);
            }
            self.begin_list(partition);
            self.end_list(partition, true);
            for view in 0..VIEWS {
                self.run(Step::Attach { view, partition });
            }
        }
        for cursor in 0..CURSORS {
            self.gather(cursor, 1000);
            self.acknowledge(cursor);
        }
    }

    /// The partition in the store, made if it is not there.
    fn joined(&mut self, key: &PartitionKey) -> PartitionId {
        self.model.join(key);
        self.store.join(key)
    }

    fn freshness(&self, key: &PartitionKey) -> Option<((ListNumber, u32), Freshness)> {
        let number = *self.numbers.get(key)?;
        Some((number, Freshness { list: number.0, version: self.version }))
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Put { partition, name, uid, value, heard } => {
                self.put(partition, name, (uid, value), heard);
            }
            Step::Remove { partition, name, heard } => self.remove(partition, name, heard),
            Step::BeginList(at) => self.begin_list(at),
            Step::ListItem(at) => self.list_item(&self.keys[at].clone()),
            Step::EndList { partition, sweep } => self.end_list(partition, sweep),
            Step::PlanChanged(at) => {
                let key = self.keys[at].clone();
                let id = self.joined(&key);
                self.store.plan_changed(id);
                self.model.plan_changed(&key);
            }
            Step::Uncover(at) => {
                let key = self.keys[at].clone();
                let id = self.joined(&key);
                self.store.uncover(id);
                if let Some(partition) = self.model.partitions.get_mut(&key) {
                    partition.covered = false;
                }
            }
            Step::Withdraw(at) => {
                let key = self.keys[at].clone();
                if let Some(id) = self.store.partition(&key) {
                    self.store.withdraw(id);
                }
                self.model.withdraw(&key);
                self.listings.remove(&key);
                self.numbers.remove(&key);
            }
            Step::Attach { view, partition } => {
                let key = self.keys[partition].clone();
                let id = self.joined(&key);
                self.store.attach(self.views[view], id);
                self.model.views[view].partitions.insert(key);
            }
            Step::Detach { view, partition } => {
                let key = self.keys[partition].clone();
                let id = self.joined(&key);
                self.store.detach(self.views[view], id);
                self.model.views[view].partitions.remove(&key);
            }
            Step::Settle(view) => self.store.settle(self.views[view]),
            Step::Gather { cursor, most } => self.gather(cursor, most),
            Step::Acknowledge(cursor) => self.acknowledge(cursor),
            Step::Fail { cursor, effect } => self.fail(cursor, effect),
            Step::StartOver(cursor) => self.store.start_over(self.cursors[cursor]),
            Step::Reopen(cursor) => {
                self.store.close_cursor(self.cursors[cursor]);
                self.cursors[cursor] = self.store.open_cursor(self.views[view_of(cursor)]);
                self.flights[cursor] = None;
            }
            Step::Remake { view, partitions } => self.remake(view, partitions),
            Step::Lift(by) => self.store.lift(self.store.sequence() + by),
        }
    }

    fn remake(&mut self, view: usize, partitions: u8) {
        self.store.remove_view(self.views[view]);
        let by_uid = self.model.views[view].by_uid;
        let new = self.store.add_view(if by_uid { Dedupe::ByUid } else { Dedupe::KeepAll });
        self.store.settle(new);
        self.views[view] = new;
        self.model.views[view].partitions.clear();
        for cursor in (0..CURSORS).filter(|cursor| view_of(*cursor) == view) {
            self.cursors[cursor] = self.store.open_cursor(new);
            self.flights[cursor] = None;
        }
        for partition in (0..self.keys.len()).filter(|at| partitions & (1 << at) != 0) {
            self.run(Step::Attach { view, partition });
        }
    }

    fn put(&mut self, at: usize, name: usize, (uid, value): (u8, u32), heard: bool) {
        let (key, name) = (self.keys[at].clone(), NAMES[name]);
        self.version += 1;
        let row = row(&key, name, &format!("{name}-{uid}"), value);
        let there = self.cluster.entry(key.clone()).or_default();
        there.insert(name.to_owned(), (self.version, row.clone()));
        let id = self.joined(&key);
        match self.freshness(&key).filter(|_| heard) {
            Some((number, freshness)) => {
                self.store.upsert(id, freshness, &row);
                self.model.upsert(&key, (number.1, self.version), name, &row);
            }
            None => self.lose_track(&key),
        }
    }

    fn remove(&mut self, at: usize, name: usize, heard: bool) {
        let (key, name) = (self.keys[at].clone(), NAMES[name]);
        if self.cluster.get_mut(&key).and_then(|there| there.remove(name)).is_none() {
            return;
        }
        self.version += 1;
        let id = self.joined(&key);
        match self.freshness(&key).filter(|_| heard) {
            Some((number, freshness)) => {
                self.store.delete(id, freshness, name);
                self.model.delete(&key, (number.1, self.version), name);
            }
            None => self.lose_track(&key),
        }
    }

    /// An event was missed, so the watch is not alive: a new list is needed.
    fn lose_track(&mut self, key: &PartitionKey) {
        let id = self.joined(key);
        self.store.plan_changed(id);
        self.model.plan_changed(key);
        self.listings.remove(key);
    }

    fn begin_list(&mut self, at: usize) {
        let key = self.keys[at].clone();
        let id = self.joined(&key);
        let number = (self.store.begin_list(id), self.model.begin_list(&key));
        let there = self.cluster.entry(key.clone()).or_default();
        let items =
            there.iter().map(|(name, (version, row))| (name.clone(), *version, row.clone()));
        self.listings.insert(key.clone(), Listing { number, items: items.collect() });
        self.numbers.insert(key, number);
    }

    fn list_item(&mut self, key: &PartitionKey) {
        let Some(listing) = self.listings.get_mut(key) else { return };
        let Some((name, version, row)) = listing.items.pop() else { return };
        let number = listing.number;
        let id = self.joined(key);
        self.store.upsert(id, Freshness { list: number.0, version }, &row);
        self.model.upsert(key, (number.1, version), &name, &row);
    }

    fn end_list(&mut self, at: usize, sweep: bool) {
        let key = self.keys[at].clone();
        let Some(listing) = self.listings.get(&key) else { return };
        let (number, left) = (listing.number, listing.items.len());
        for _ in 0..left {
            self.list_item(&key);
        }
        let id = self.joined(&key);
        self.store.end_list(id, number.0, if sweep { Sweep::Yes } else { Sweep::No });
        self.model.end_list(&key, number.1, sweep);
        if sweep {
            self.listings.remove(&key);
        }
    }

    fn gather(&mut self, cursor: usize, most: usize) {
        let Some(batch) = self.store.gather(self.cursors[cursor], most) else { return };
        let sequence = batch.watermark.sequence;
        assert!(sequence >= self.recorded[cursor], "the number of a batch went back");
        self.deletes_are_confined(cursor, &batch);
        self.flights[cursor] = Some(batch);
    }

    /// Whole partitions are compared only when covered, and dropped only when gone.
    fn deletes_are_confined(&self, cursor: usize, batch: &Batch) {
        let view = &self.model.views[view_of(cursor)];
        let covered =
            |key: &PartitionKey| self.model.partitions.get(key).is_some_and(|one| one.covered);
        match &batch.change {
            Change::All { confines, .. } => {
                assert!(confines.covered.iter().all(covered));
                let there = confines.covered.len() + confines.uncovered.len();
                assert_eq!(there, view.partitions.len());
            }
            Change::Since { partitions, .. } => {
                for (key, change) in partitions {
                    match change {
                        PartitionChange::Replace(_) => assert!(covered(key), "{key}"),
                        PartitionChange::Drop => assert!(!view.partitions.contains(key), "{key}"),
                    }
                }
            }
        }
    }

    fn acknowledge(&mut self, cursor: usize) {
        let Some(batch) = self.flights[cursor].take() else { return };
        let kept: Vec<_> = self.kept(&batch, cursor);
        self.copies[cursor].apply(&batch);
        self.recorded[cursor] = batch.watermark.sequence;
        for row in kept {
            let there = self.copies[cursor].rows.get(&row.identity().into_owned());
            assert!(there.is_some(), "a row of an uncovered partition was lost: {row:?}");
        }
        self.store.acknowledge(self.cursors[cursor], batch.ticket);
    }

    /// Rows at the destination that a comparison of everything must leave.
    fn kept(&self, batch: &Batch, cursor: usize) -> Vec<Row> {
        match &batch.change {
            Change::All { confines, .. } => {
                let uncovered = confines.uncovered.iter();
                uncovered.flat_map(|key| self.copies[cursor].of(key)).collect()
            }
            Change::Since { .. } => Vec::new(),
        }
    }

    fn fail(&mut self, cursor: usize, effect: usize) {
        let Some(batch) = self.flights[cursor].take() else { return };
        let known = match effect {
            0 => Effect::None,
            1 => Effect::Unknown,
            _ => {
                self.copies[cursor].apply(&batch);
                Effect::Unknown
            }
        };
        self.store.fail(self.cursors[cursor], batch.ticket, known);
    }

    /// Numbers and digests of everything are those of the model.
    fn agrees(&self) {
        for (key, expected) in &self.model.partitions {
            let found = self.store.partition(key).map(|id| self.store.content(id));
            let rows: Vec<_> = expected.rows.values().map(|(_, row)| row.clone()).collect();
            assert_eq!(found, Some(model::content(&rows)), "{key}");
            let rows = expected.rows.iter().map(|(name, (_, row))| (name.clone(), row.clone()));
            assert_eq!(self.told.rows(key), rows.collect(), "{key}: the witness knows others");
        }
        let is_there = |key: &PartitionKey| self.model.partitions.contains_key(key);
        assert!(self.told.partitions().iter().all(is_there), "the witness was not told of an end");
        for target in ["alpha", "beta", "gamma"] {
            let mut rows = 0;
            self.store.each_row_of(&partition(target, "").target, |_| rows += 1);
            let mine = self.model.partitions.iter().filter(|(key, _)| key.target.name == target);
            assert_eq!(rows, mine.map(|(_, one)| one.rows.len()).sum::<usize>(), "{target}");
        }
        for (at, view) in self.views.iter().enumerate() {
            let rows = self.model.rows(at);
            assert_eq!(self.store.view_content(*view), model::content(&rows), "view {at}");
            assert_eq!(self.store.shards(*view), model::shards(&rows), "view {at}");
        }
    }

    /// Everything is listed, and every cursor catches up.
    fn come_to_rest(&mut self) {
        for at in 0..self.keys.len() {
            self.begin_list(at);
            self.end_list(at, true);
        }
        for view in self.views.clone() {
            self.store.settle(view);
        }
        self.agrees();
        for cursor in 0..CURSORS {
            self.acknowledge(cursor);
            let mut batches = 0;
            while self.store.is_due(self.cursors[cursor]) {
                self.gather(cursor, 2);
                self.acknowledge(cursor);
                batches += 1;
                assert!(batches < 200, "cursor {cursor} never catches up");
            }
            let rows = self.model.rows(view_of(cursor));
            let expected =
                rows.iter().map(|row| (row.identity().into_owned(), row.clone())).collect();
            assert_eq!(self.copies[cursor], Destination { rows: expected }, "cursor {cursor}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_copy_that_has_caught_up_equals_the_model(
        leftovers in prop::collection::vec((0..6_usize, 0..4_usize, 0..4_u32), 0..6),
        settled in prop::bool::weighted(0.9),
        warm in prop::bool::weighted(0.8),
        steps in prop::collection::vec(step(), 0..120),
    ) {
        let mut world = World::new(&leftovers, settled);
        if warm {
            world.warm_up();
        }
        for step in steps {
            world.run(step);
            world.agrees();
        }
        world.come_to_rest();
        // A second round: nothing is left to do, and nothing is lost by it.
        world.come_to_rest();
    }
}
