//! Histories that a review found to go wrong, and that do no more.

use std::collections::BTreeSet;

use kollect_inventory::{
    Change, CursorId, Dedupe, Delete, Effect, Freshness, ListNumber, PartitionId, PartitionKey,
    Store, Sweep, TargetKey, Upsert, ViewId,
};

use super::{
    destination::Destination,
    support::{partition, row},
};

/// A store and the version of the newest object.
struct World {
    store: Store,
    version: u64,
}
impl World {
    fn new() -> Self {
        Self { store: Store::new(0), version: 0 }
    }
    fn view(&mut self, dedupe: Dedupe) -> ViewId {
        let view = self.store.add_view(dedupe);
        self.store.settle(view);
        view
    }
    fn fresh(&mut self, list: ListNumber) -> Freshness {
        self.version += 1;
        Freshness { list, version: self.version }
    }
    fn put(&mut self, key: &PartitionKey, list: ListNumber, (name, uid): (&str, &str), value: u32) {
        let freshness = self.fresh(list);
        let id = self.store.join(key);
        assert_eq!(self.store.upsert(id, freshness, &row(key, name, uid, value)), Upsert::Changed);
    }
    fn del(&mut self, key: &PartitionKey, list: ListNumber, name: &str) -> Delete {
        let freshness = self.fresh(list);
        let id = self.store.join(key);
        self.store.delete(id, freshness, name)
    }
    fn covered(&mut self, key: &PartitionKey, names: &[&str]) -> (PartitionId, ListNumber) {
        let id = self.store.join(key);
        let list = self.store.begin_list(id);
        for name in names {
            self.put(key, list, (name, name), 0);
        }
        self.store.end_list(id, list, Sweep::Yes);
        (id, list)
    }
    fn drain(&mut self, cursor: CursorId, copy: &mut Destination) {
        while let Some(batch) = self.store.gather(cursor, 1000) {
            copy.apply(&batch);
            assert!(self.store.acknowledge(cursor, batch.ticket));
        }
    }
}

#[test]
fn a_dropped_partition_of_a_dedupe_view_needs_no_tombstones() {
    let (p, q) = (partition("p", "ns"), partition("q", "ns"));
    let mut world = World::new();
    let view = world.view(Dedupe::ByUid);
    let cursor = world.store.open_cursor(view);
    let many: Vec<_> = (0..25_000).map(|i| format!("r{i}")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let (p_id, _) = world.covered(&p, &many);
    let (q_id, _) = world.covered(&q, &["x"]);
    world.store.attach(view, p_id);
    world.store.attach(view, q_id);
    let mut copy = Destination::default();
    world.drain(cursor, &mut copy);
    world.store.withdraw(p_id);
    assert!(
        !world.store.is_from_scratch(cursor),
        "R1: a namespace that goes costs a comparison of everything"
    );
    world.drain(cursor, &mut copy);
    assert_eq!(names(&copy), ["q/ns/x"]);
}
#[test]
fn a_dedupe_view_keeps_rows_of_a_partition_that_came_back_unread() {
    for dedupe in [Dedupe::KeepAll, Dedupe::ByUid] {
        let p = partition("p", "ns");
        let mut world = World::new();
        let view = world.view(dedupe);
        let cursor = world.store.open_cursor(view);
        let (p_id, _) = world.covered(&p, &["a"]);
        world.store.attach(view, p_id);
        let mut copy = Destination::default();
        world.drain(cursor, &mut copy);
        world.store.withdraw(p_id);
        let p_id = world.store.join(&p);
        world.store.attach(view, p_id); // back, uncovered
        world.drain(cursor, &mut copy);
        assert_eq!(names(&copy), ["p/ns/a"], "{dedupe:?}");
    }
}
fn names(copy: &Destination) -> Vec<String> {
    copy.rows.keys().map(|i| format!("{}/{}/{}", i.target_name, i.namespace, i.name)).collect()
}

#[test]
fn a_dedupe_cursor_that_falls_back_by_the_cap_goes_on_reading() {
    let key = partition("web", "shop");
    let mut world = World::new();
    let view = world.view(Dedupe::ByUid);
    let cursor = world.store.open_cursor(view);
    let many: Vec<_> = (0..10_100).map(|i| format!("r{i}")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let (id, list) = world.covered(&key, &many);
    world.store.attach(view, id);
    let mut copy = Destination::default();
    world.drain(cursor, &mut copy);
    world.put(&key, list, ("r10060", "r10060"), 7);
    for name in &many[..10_050] {
        world.del(&key, list, name);
    }
    assert!(world.store.is_from_scratch(cursor));
    world.drain(cursor, &mut copy);
    world.put(&key, list, ("new", "new"), 1);
    world.drain(cursor, &mut copy);
    assert_eq!(copy.content(), world.store.view_content(view));
}

#[test]
fn a_tombstone_out_of_turn_does_not_undo_a_replacement() {
    let (p, q) = (partition("p", "ns"), partition("q", "ns"));
    let mut world = World::new();
    let view = world.view(Dedupe::KeepAll);
    let cursor = world.store.open_cursor(view);
    let (q_id, ql) = world.covered(&q, &["q0"]);
    world.store.attach(view, q_id);
    let p_id = world.store.join(&p);
    world.store.attach(view, p_id);
    let pl = world.store.begin_list(p_id);
    world.put(&p, pl, ("x", "x"), 0);
    let mut copy = Destination::default();
    world.drain(cursor, &mut copy); // P uncovered: owed
    for i in 1..6 {
        world.put(&q, ql, (&format!("q{i}"), "u"), 0);
    }
    let batch = world.store.gather(cursor, 1).unwrap();
    copy.apply(&batch);
    world.store.acknowledge(cursor, batch.ticket); // behind
    world.put(&p, pl, ("x", "x"), 1);
    world.put(&p, pl, ("x", "x"), 2); // displaced
    let batch = world.store.gather(cursor, 1).unwrap();
    copy.apply(&batch);
    world.store.acknowledge(cursor, batch.ticket);
    let pl = world.store.begin_list(p_id);
    world.store.end_list(p_id, pl, Sweep::Yes); // x is not in the list: swept; P covered
    world.put(&p, pl, ("x", "x"), 3); // back under its uid (a label came back)
    let batch = world.store.gather(cursor, 1).unwrap();
    println!("{batch:?}");
    copy.apply(&batch);
    world.store.acknowledge(cursor, batch.ticket);
    world.drain(cursor, &mut copy);
    assert_eq!(copy.content(), world.store.view_content(view), "{:?}", names(&copy));
}

#[test]
fn settling_while_a_batch_is_in_flight_that_fails_is_not_forgotten() {
    let (p, gone) = (partition("p", "ns"), partition("gone", "ns"));
    let mut world = World::new();
    let view = world.store.add_view(Dedupe::KeepAll);
    let cursor = world.store.open_cursor(view);
    let (p_id, pl) = world.covered(&p, &["a"]);
    world.store.attach(view, p_id);
    let mut copy = Destination::default();
    copy.put(&row(&gone, "g", "g", 0));
    world.drain(cursor, &mut copy);
    world.put(&p, pl, ("b", "b"), 0);
    let batch = world.store.gather(cursor, 10).unwrap();
    world.store.settle(view);
    world.store.fail(cursor, batch.ticket, Effect::None);
    world.del(&p, pl, "b");
    world.drain(cursor, &mut copy);
    assert_eq!(names(&copy), ["p/ns/a"]);
}

#[test]
fn the_number_of_a_batch_never_goes_back() {
    let (p, q) = (partition("p", "ns"), partition("q", "ns"));
    let mut world = World::new();
    let view = world.view(Dedupe::KeepAll);
    let cursor = world.store.open_cursor(view);
    let (p_id, _) = world.covered(&p, &["a", "b", "c"]);
    world.store.uncover(p_id);
    let (q_id, _) = world.covered(&q, &["x"]);
    world.store.attach(view, q_id);
    let batch = world.store.gather(cursor, 10).unwrap();
    world.store.acknowledge(cursor, batch.ticket);
    world.store.attach(view, p_id);
    let name = world.store.gather(cursor, 1).unwrap();
    assert!(
        name.watermark.sequence >= batch.watermark.sequence,
        "{} after {}",
        name.watermark.sequence,
        batch.watermark.sequence
    );
}

#[test]
fn a_calm_cursor_is_not_made_to_start_over_by_a_dead_one_elsewhere() {
    let (p, q) = (partition("busy", "ns"), partition("calm", "ns"));
    let mut world = World::new();
    let (vb, vc) = (world.view(Dedupe::KeepAll), world.view(Dedupe::KeepAll));
    let (cb, cc) = (world.store.open_cursor(vb), world.store.open_cursor(vc));
    let (q_id, _) = world.covered(&q, &["x"]);
    world.store.attach(vc, q_id);
    let mut copy = Destination::default();
    world.drain(cc, &mut copy);
    let many: Vec<_> = (0..10_100).map(|i| format!("r{i}")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let (p_id, pl) = world.covered(&p, &many);
    world.store.attach(vb, p_id);
    world.drain(cb, &mut Destination::default());
    for name in &many {
        world.del(&p, pl, name);
    }
    assert!(world.store.is_from_scratch(cb));
    assert!(!world.store.is_from_scratch(cc), "the calm cursor fell back");
}

#[test]
fn a_batch_of_none_records_no_digest() {
    let (p, q) = (partition("p", "ns"), partition("q", "ns"));
    let mut world = World::new();
    let view = world.view(Dedupe::KeepAll);
    let cursor = world.store.open_cursor(view);
    let (p_id, pl) = world.covered(&p, &["a"]);
    world.store.attach(view, p_id);
    let mut copy = Destination::default();
    world.drain(cursor, &mut copy);
    let (q_id, _) = world.covered(&q, &["x"]);
    world.put(&p, pl, ("b", "b"), 0);
    world.store.attach(view, q_id);
    let batch = world.store.gather(cursor, 0).unwrap();
    copy.apply(&batch);
}

#[test]
fn a_runner_up_comes_with_the_drop_of_the_winner() {
    let (a, batch, o) =
        (partition("alpha", "ns"), partition("beta", "ns"), partition("other", "ns"));
    let mut world = World::new();
    let view = world.view(Dedupe::ByUid);
    let cursor = world.store.open_cursor(view);
    let (ai, _) = world.covered(&a, &["x"]);
    let (bi, _) = world.covered(&batch, &["x"]);
    let (oi, ol) = world.covered(&o, &[]);
    for i in [ai, bi, oi] {
        world.store.attach(view, i);
    }
    let mut copy = Destination::default();
    world.drain(cursor, &mut copy);
    for i in 0..5 {
        world.put(&o, ol, (&format!("o{i}"), &format!("o{i}")), 0);
    }
    world.store.withdraw(bi);
    let g = world.store.gather(cursor, 1).unwrap();
    copy.apply(&g);
    world.store.acknowledge(cursor, g.ticket);
    assert!(
        names(&copy).iter().any(|name| name.ends_with("/x")),
        "x is live and gone from the copy: {:?}",
        names(&copy)
    );
}

#[test]
fn a_row_out_of_turn_is_not_deleted_by_its_older_tombstone() {
    let p = partition("p", "ns");
    let mut world = World::new();
    let view = world.view(Dedupe::KeepAll);
    let cursor = world.store.open_cursor(view);
    let (p_id, list) = world.covered(&p, &["x"]);
    world.store.attach(view, p_id);
    let mut copy = Destination::default();
    world.drain(cursor, &mut copy);
    for i in 0..4 {
        world.put(&p, list, (&format!("q{i}"), "u"), 0);
    }
    world.del(&p, list, "x");
    world.put(&p, list, ("x", "x"), 1);
    for i in 4..8 {
        world.put(&p, list, (&format!("q{i}"), "u"), 0);
    }
    let mut had = false;
    for i in 0..20 {
        if i < 2 {
            world.put(&p, list, ("x", "x"), 10 + i);
        }
        let Some(batch) = world.store.gather(cursor, 1) else { break };
        copy.apply(&batch);
        world.store.acknowledge(cursor, batch.ticket);
        let has = names(&copy).iter().any(|name| name.ends_with("/x"));
        println!("{i} {has} {:?}", batch.change);
        if let Change::Since { upserts, .. } = &batch.change
            && upserts.iter().any(|row| row.identity().name == "x")
        {
            had = true;
        }
        assert!(!had || has, "x was handed out and then deleted, batch {i}");
    }
}

#[test]
fn a_target_that_cannot_be_understood_keeps_its_own_rows_and_nobody_elses() {
    // R2, R3: one broken target does not keep what another one has left behind.
    let mut store = Store::new(1);
    let view = store.add_view(Dedupe::KeepAll);
    let cursor = store.open_cursor(view);
    let broken = TargetKey { namespace: Some("a".to_owned()), name: "broken".to_owned() };
    assert!(!store.is_warm(view));
    store.settle_but(view, &BTreeSet::from([broken]));
    assert!(store.is_warm(view));
    let batch = store.gather(cursor, 10).unwrap();
    let Change::All { confines, .. } = &batch.change else { panic!("{batch:?}") };
    assert!(!confines.permits().delete(("a", "broken", "x")));
    assert!(confines.permits().delete(("a", "gone", "x")));
    assert_eq!(batch.watermark.content, None, "it is not known what there is");
    assert!(store.acknowledge(cursor, batch.ticket));
    // Once it is understood, everything is compared again.
    store.settle(view);
    let batch = store.gather(cursor, 10).unwrap();
    let Change::All { confines, .. } = &batch.change else { panic!("{batch:?}") };
    assert!(confines.permits().delete(("a", "broken", "x")));
    assert!(batch.watermark.content.is_some());
}
