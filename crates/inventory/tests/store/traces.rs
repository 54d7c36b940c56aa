//! Histories that have broken plausible designs, by their numbers in the
//! rules of change.

use kollect_inventory::{
    Batch, Change, CursorId, Dedupe, Effect, Freshness, ListNumber, PartitionChange, PartitionId,
    PartitionKey, Store, Sweep, ViewId,
};

use super::{
    destination::Destination,
    support::{partition, row},
};

/// One process with one view and one cursor.
struct Process {
    store: Store,
    view: ViewId,
    cursor: CursorId,
    list: ListNumber,
    version: u64,
}

impl Process {
    fn new() -> Self {
        let mut store = Store::new(0);
        let view = store.add_view(Dedupe::KeepAll);
        let cursor = store.open_cursor(view);
        store.settle(view);
        Self { store, view, cursor, list: ListNumber::default(), version: 0 }
    }

    /// Brings a partition into the view and begins to list it.
    fn list(&mut self, key: &PartitionKey) -> PartitionId {
        let id = self.store.join(key);
        self.store.attach(self.view, id);
        self.list = self.store.begin_list(id);
        id
    }

    fn put(&mut self, key: &PartitionKey, name: &str, uid: &str, value: u32) {
        self.version += 1;
        let freshness = Freshness { list: self.list, version: self.version };
        let id = self.store.join(key);
        self.store.upsert(id, freshness, &row(key, name, uid, value));
    }

    fn remove(&mut self, key: &PartitionKey, name: &str) {
        self.version += 1;
        let freshness = Freshness { list: self.list, version: self.version };
        let id = self.store.join(key);
        self.store.delete(id, freshness, name);
    }

    fn listed(&mut self, id: PartitionId) {
        self.store.end_list(id, self.list, Sweep::Yes);
    }

    /// A partition with rows, listed.
    fn covered(&mut self, key: &PartitionKey, names: &[&str]) -> PartitionId {
        let id = self.list(key);
        for name in names {
            self.put(key, name, name, 0);
        }
        self.listed(id);
        id
    }

    fn gather(&mut self, most: usize) -> Option<Batch> {
        self.store.gather(self.cursor, most)
    }

    /// Exports until nothing is left.
    fn export(&mut self, copy: &mut Destination) {
        while let Some(batch) = self.gather(1000) {
            copy.apply(&batch);
            assert!(self.store.acknowledge(self.cursor, batch.ticket));
        }
    }
}

fn names(copy: &Destination) -> Vec<String> {
    copy.rows.keys().map(|identity| format!("{}/{}", identity.namespace, identity.name)).collect()
}

/// Trace 1.
#[test]
fn what_a_capped_batch_left_behind_arrives_after_a_kill() {
    let shop = partition("web", "shop");
    let mut copy = Destination::default();
    let mut first = Process::new();
    first.covered(&shop, &["a"]);
    first.export(&mut copy);
    for name in ["b", "c", "d"] {
        first.put(&shop, name, name, 0);
    }
    let capped = first.gather(1).unwrap();
    assert_eq!(capped.watermark.content, None, "a capped batch must not record a digest");
    copy.apply(&capped);
    drop(first);

    let mut second = Process::new();
    second.covered(&shop, &["a", "b", "c", "d"]);
    second.export(&mut copy);
    assert_eq!(names(&copy), ["shop/a", "shop/b", "shop/c", "shop/d"]);
}

/// Trace 2.
#[test]
fn a_row_that_is_handed_out_deleted_and_recreated_leaves_no_ghost() {
    let shop = partition("web", "shop");
    let mut copy = Destination::default();
    let mut process = Process::new();
    process.covered(&shop, &[]);
    process.export(&mut copy);
    assert!(!process.store.is_due(process.cursor), "everything has been handed out");
    process.put(&shop, "a", "uid-1", 0);
    let handed = process.gather(1000).unwrap();
    process.remove(&shop, "a");
    process.put(&shop, "a", "uid-2", 0);
    copy.apply(&handed);
    process.store.acknowledge(process.cursor, handed.ticket);
    process.export(&mut copy);
    let uids: Vec<_> = copy.rows.keys().map(|identity| identity.uid.to_string()).collect();
    assert_eq!(uids, ["uid-2"]);
}

/// Trace 2, when the watch saw only the second object.
#[test]
fn a_new_uid_under_an_old_name_is_one_change() {
    let shop = partition("web", "shop");
    let mut copy = Destination::default();
    let mut process = Process::new();
    process.covered(&shop, &["a"]);
    process.export(&mut copy);
    let before = process.store.sequence();
    process.put(&shop, "a", "uid-2", 0);
    assert_eq!(process.store.sequence(), before + 1);
    let batch = process.gather(1).unwrap();
    let Change::Since { upserts, deletes, .. } = &batch.change else { panic!("{batch:?}") };
    assert_eq!((upserts.len(), deletes.len()), (1, 1), "both belong to one sequence");
}

/// Trace 3.
#[test]
fn a_late_acknowledgement_does_not_move_a_cursor_that_fell_back() {
    let shop = partition("web", "shop");
    let mut copy = Destination::default();
    let mut process = Process::new();
    let many: Vec<_> = (0..10_100).map(|at| format!("row-{at}")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    process.covered(&shop, &many);
    process.export(&mut copy);
    process.put(&shop, "late", "late", 0);
    let in_flight = process.gather(1000).unwrap();
    for name in &many {
        process.remove(&shop, name);
    }
    assert!(process.store.tombstones() <= 10_000);
    assert!(process.store.is_from_scratch(process.cursor));
    copy.apply(&in_flight);
    assert!(!process.store.acknowledge(process.cursor, in_flight.ticket));
    assert!(process.store.is_from_scratch(process.cursor));
    process.export(&mut copy);
    assert_eq!(names(&copy), ["shop/late"]);
}

/// Trace 6.
#[test]
fn a_partition_that_heals_after_the_first_export_is_compared_alone() {
    let (shop, ops) = (partition("web", "shop"), partition("web", "ops"));
    let mut copy = Destination::default();
    let mut first = Process::new();
    first.covered(&shop, &["a", "b"]);
    first.covered(&ops, &["x"]);
    first.export(&mut copy);

    let mut second = Process::new();
    let forbidden = second.list(&shop);
    second.covered(&ops, &["x"]);
    second.export(&mut copy);
    assert_eq!(names(&copy), ["ops/x", "shop/a", "shop/b"], "what cannot be read stays");

    second.list = second.store.begin_list(forbidden);
    second.put(&shop, "b", "b", 0);
    second.listed(forbidden);
    let batch = second.gather(1000).unwrap();
    let Change::Since { partitions, .. } = &batch.change else { panic!("{batch:?}") };
    assert!(matches!(&partitions[..], [(key, PartitionChange::Replace(_))] if *key == shop));
    copy.apply(&batch);
    assert_eq!(names(&copy), ["ops/x", "shop/b"]);
}

/// Trace 7.
#[test]
fn a_namespace_that_left_while_we_were_down_goes_and_an_unread_one_stays() {
    let (shop, ops) = (partition("web", "shop"), partition("web", "ops"));
    let mut copy = Destination::default();
    let mut first = Process::new();
    first.covered(&shop, &["a"]);
    first.covered(&ops, &["x"]);
    first.export(&mut copy);

    let mut unread = Process::new();
    unread.view = unread.store.add_view(Dedupe::KeepAll);
    unread.cursor = unread.store.open_cursor(unread.view);
    unread.covered(&ops, &["x"]);
    unread.export(&mut copy);
    assert_eq!(names(&copy), ["ops/x", "shop/a"], "namespaces have not been listed");

    unread.store.settle(unread.view);
    unread.export(&mut copy);
    assert_eq!(names(&copy), ["ops/x"], "now they have, and shop is not among them");
}

/// Trace 8.
#[test]
fn a_namespace_that_returns_under_a_running_list_has_the_rows_of_its_second_list() {
    let shop = partition("web", "shop");
    let mut copy = Destination::default();
    let mut process = Process::new();
    process.covered(&shop, &["a", "b"]);
    process.export(&mut copy);

    let running = process.list(&shop);
    let early = process.list;
    process.store.withdraw(running);
    let again = process.list(&shop);
    // The first list is still delivering; its partition is no longer there.
    let stale = Freshness { list: early, version: 99 };
    process.store.upsert(running, stale, &row(&shop, "ghost", "ghost", 0));
    process.store.end_list(running, early, Sweep::Yes);
    process.put(&shop, "b", "b", 0);
    process.listed(again);
    process.export(&mut copy);
    assert_eq!(names(&copy), ["shop/b"]);
}

/// Trace 17.
#[test]
fn the_runner_up_appears_once_under_its_own_key_when_the_winner_is_suspended() {
    let (alpha, beta) = (partition("alpha", "shop"), partition("beta", "shop"));
    let mut copy = Destination::default();
    let mut process = Process::new();
    process.view = process.store.add_view(Dedupe::ByUid);
    process.cursor = process.store.open_cursor(process.view);
    process.store.settle(process.view);
    process.covered(&alpha, &["a"]);
    let winner = process.covered(&beta, &["a"]);
    process.export(&mut copy);
    let targets = |copy: &Destination| {
        copy.rows.keys().map(|identity| identity.target_name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(targets(&copy), ["beta"]);
    process.store.withdraw(winner);
    process.export(&mut copy);
    assert_eq!(targets(&copy), ["alpha"]);
}

/// Trace 18.
#[test]
fn a_small_view_beside_a_busy_one_costs_nothing() {
    let (busy, calm) = (partition("busy", "shop"), partition("calm", "shop"));
    let mut copy = Destination::default();
    let mut process = Process::new();
    let busy_view = process.view;
    process.covered(&busy, &["x"]);
    process.export(&mut copy);
    process.view = process.store.add_view(Dedupe::KeepAll);
    process.cursor = process.store.open_cursor(process.view);
    process.store.settle(process.view);
    process.covered(&calm, &["a", "b"]);
    process.export(&mut Destination::default());
    process.store.take_woken();
    let walked = process.store.walked();
    for value in 1..10_000 {
        process.put(&busy, "x", "x", value);
    }
    assert!(!process.store.take_woken().contains(&process.cursor));
    assert!(process.gather(1000).is_none());
    assert_eq!(process.store.walked(), walked);
    assert_eq!(process.store.view_content(busy_view).rows, 1);
}

/// Trace 18.
#[test]
fn one_dirty_partition_among_ten_thousand_costs_one() {
    let mut process = Process::new();
    let keys: Vec<_> = (0..10_000).map(|at| partition("web", &format!("ns-{at}"))).collect();
    for key in &keys {
        process.covered(key, &["a"]);
    }
    process.export(&mut Destination::default());
    let walked = process.store.walked();
    process.put(&keys[5_000], "a", "a", 1);
    let batch = process.gather(1000).unwrap();
    assert_eq!(process.store.walked(), walked + 1);
    process.store.acknowledge(process.cursor, batch.ticket);
}

/// The rule on logs: a row that changes all the time is not left behind for ever.
#[test]
fn a_hot_row_left_behind_by_two_capped_batches_is_in_the_third() {
    let shop = partition("web", "shop");
    let mut copy = Destination::default();
    let mut process = Process::new();
    let cold: Vec<_> = (0..100).map(|at| format!("cold-{at}")).collect();
    process.covered(&shop, &["hot"]);
    process.export(&mut copy);
    process.put(&shop, "hot", "hot", 1);
    for name in &cold {
        process.put(&shop, name, name, 0);
    }
    let mut found_in = None;
    for batch_number in 1..=4 {
        process.put(&shop, "hot", "hot", 10 + batch_number);
        let batch = process.gather(5).unwrap();
        let Change::Since { upserts, .. } = &batch.change else { panic!("{batch:?}") };
        if upserts.iter().any(|row| row.identity().name == "hot") {
            found_in.get_or_insert(batch_number);
        }
        copy.apply(&batch);
        process.store.acknowledge(process.cursor, batch.ticket);
    }
    assert_eq!(found_in, Some(3));
}

#[test]
fn a_failed_export_without_effect_is_repeated_and_one_with_unknown_effect_starts_over() {
    let shop = partition("web", "shop");
    let mut copy = Destination::default();
    let mut process = Process::new();
    process.covered(&shop, &["a"]);
    process.export(&mut copy);
    process.put(&shop, "b", "b", 0);
    let lost = process.gather(1000).unwrap();
    process.store.fail(process.cursor, lost.ticket, Effect::None);
    assert!(!process.store.is_from_scratch(process.cursor));
    let again = process.gather(1000).unwrap();
    process.store.fail(process.cursor, again.ticket, Effect::Unknown);
    assert!(process.store.is_from_scratch(process.cursor));
    process.export(&mut copy);
    assert_eq!(names(&copy), ["shop/a", "shop/b"]);
}

#[test]
fn an_equal_row_takes_no_number_and_wakes_nobody() {
    let shop = partition("web", "shop");
    let mut process = Process::new();
    process.covered(&shop, &["a"]);
    process.export(&mut Destination::default());
    process.store.take_woken();
    let before = process.store.sequence();
    process.put(&shop, "a", "a", 0);
    assert_eq!(process.store.sequence(), before);
    assert!(process.store.take_woken().is_empty());
    assert!(!process.store.is_due(process.cursor));
}
