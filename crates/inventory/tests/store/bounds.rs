//! What an outage costs.

use kollect_inventory::{CursorId, Dedupe, Freshness, ListNumber, PartitionId, Store, Sweep};

use super::support::{partition, row};

/// A store with some rows, a live cursor, and one that died after its first export.
struct Outage {
    store: Store,
    partition: PartitionId,
    list: ListNumber,
    live: CursorId,
}

impl Outage {
    fn with(rows: u32) -> Self {
        let shop = partition("web", "shop");
        let mut store = Store::new(0);
        let view = store.add_view(Dedupe::KeepAll);
        store.settle(view);
        let (live, dead) = (store.open_cursor(view), store.open_cursor(view));
        let partition = store.join(&shop);
        store.attach(view, partition);
        let list = store.begin_list(partition);
        for at in 0..rows {
            let name = format!("row-{at}");
            store.upsert(partition, Freshness { list, version: 1 }, &row(&shop, &name, &name, 0));
        }
        store.end_list(partition, list, Sweep::Yes);
        for cursor in [live, dead] {
            let ticket = store.gather(cursor, usize::MAX).map(|batch| batch.ticket);
            assert!(ticket.is_some_and(|ticket| store.acknowledge(cursor, ticket)));
        }
        Self { store, partition, list, live }
    }

    fn freshness(&self, version: u64) -> Freshness {
        Freshness { list: self.list, version }
    }

    fn catch_up(&mut self) {
        while let Some(batch) = self.store.gather(self.live, 1000) {
            self.store.acknowledge(self.live, batch.ticket);
        }
    }
}

#[test]
fn rows_that_come_and_go_leave_nothing_for_a_dead_cursor() {
    let shop = partition("web", "shop");
    let mut outage = Outage::with(100);
    for version in 2..20_000 {
        let name = format!("fresh-{version}");
        let freshness = outage.freshness(version);
        outage.store.upsert(outage.partition, freshness, &row(&shop, &name, &name, 0));
        if version % 3 == 0 {
            outage.catch_up();
        }
        outage.store.delete(outage.partition, freshness, &name);
        outage.catch_up();
        assert!(outage.store.tombstones() <= 2, "{}", outage.store.tombstones());
    }
    assert_eq!(outage.store.rows(), 100);
}

#[test]
fn deleted_rows_that_a_dead_cursor_has_are_remembered_up_to_a_bound() {
    let mut outage = Outage::with(30_000);
    for at in 0..30_000 {
        let freshness = outage.freshness(2);
        outage.store.delete(outage.partition, freshness, &format!("row-{at}"));
        if at % 100 == 0 {
            outage.catch_up();
        }
        let most = 10_000.max(outage.store.rows() / 2);
        assert!(outage.store.tombstones() <= most, "{} at {at}", outage.store.tombstones());
    }
    assert_eq!(outage.store.rows(), 0);
}

#[test]
fn rows_that_change_leave_nothing_but_themselves() {
    let shop = partition("web", "shop");
    let mut outage = Outage::with(1_000);
    for version in 2..50 {
        for at in 0..1_000 {
            let name = format!("row-{at}");
            let freshness = outage.freshness(version);
            let value = u32::try_from(version).unwrap_or_default();
            outage.store.upsert(outage.partition, freshness, &row(&shop, &name, &name, value));
        }
    }
    assert_eq!((outage.store.rows(), outage.store.tombstones()), (1_000, 0));
}
