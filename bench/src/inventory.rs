//! What the store costs: a change, an equal row, memory, a document.

use std::hint::black_box;

use allocation_counter::measure as allocations;
use kollect_inventory::{
    Change, CursorId, Dedupe, Freshness, Identity, ListNumber, PartitionId, PartitionKey, Row,
    Store, Sweep, TargetKey, ViewId,
    envelope::{self, Header},
    sort,
};
use serde_json::json;

use crate::measure::{Chance, float, print, resident, timed};

const NAMESPACES: usize = 50;
const CHANGES: usize = 20_000;
const CHUNK: usize = 10_000;

/// A store that is filled, with a cursor that has copied everything.
struct Filled {
    store: Store,
    keys: Vec<PartitionKey>,
    partitions: Vec<PartitionId>,
    list: ListNumber,
    view: ViewId,
    cursor: CursorId,
}

impl Filled {
    fn empty(namespaces: usize) -> Self {
        let mut store = Store::new(0);
        let view = store.add_view(Dedupe::KeepAll);
        store.settle(view);
        let cursor = store.open_cursor(view);
        let target = TargetKey { namespace: Some("platform".into()), name: "workloads".into() };
        let key =
            |at: usize| PartitionKey { target: target.clone(), namespace: format!("team-{at}") };
        let keys: Vec<_> = (0..namespaces).map(key).collect();
        let partitions: Vec<_> = keys.iter().map(|key| store.join(key)).collect();
        let mut list = ListNumber::default();
        for partition in &partitions {
            store.attach(view, *partition);
            list = store.begin_list(*partition);
            store.end_list(*partition, list, Sweep::Yes);
        }
        Self { store, keys, partitions, list, view, cursor }
    }

    /// The row of an object in one of its versions.
    fn row(&self, object: usize, version: u64) -> (PartitionId, Row) {
        let home = object % self.keys.len();
        (self.partitions[home], realistic(&self.keys[home], object, version))
    }

    /// A row that is quick to make.
    fn small_row(&self, object: usize, version: u64) -> (PartitionId, Row) {
        let home = object % self.keys.len();
        let key = &self.keys[home];
        let name = format!("service-{object}-{}", object % 97);
        let identity = Identity {
            target_namespace: key.target_namespace().into(),
            target_name: key.target.name.as_str().into(),
            namespace: key.namespace.as_str().into(),
            uid: format!("{object:08x}-aaaa-4bbb-8ccc-{:012x}", object * 7).into(),
            name: name.into(),
            version: "v1".into(),
            kind: "Deployment".into(),
            ..Identity::default()
        };
        (
            self.partitions[home],
            Row::new(&identity, format!("{{\"replicas\":{version}}}").as_bytes()),
        )
    }

    fn upsert(&mut self, (partition, row): &(PartitionId, Row), version: u64) {
        self.store.upsert(*partition, Freshness { list: self.list, version }, row);
    }

    fn export(&mut self) -> usize {
        let mut rows = 0;
        while let Some(batch) = self.store.gather(self.cursor, 5_000) {
            rows += match &batch.change {
                Change::All { rows, .. } => rows.len(),
                Change::Since { upserts, deletes, .. } => upserts.len() + deletes.len(),
            };
            self.store.acknowledge(self.cursor, batch.ticket);
        }
        rows
    }
}

/// Ten attributes as a platform team would take them from a Deployment, with
/// random values: about 700 bytes of JSON.
fn realistic(key: &PartitionKey, object: usize, version: u64) -> Row {
    let mut chance = Chance::new(object as u64 * 1_000_003 + version);
    let mut word = || format!("{:016x}", chance.next());
    let name = format!("service-{object}-{}", object % 97);
    let identity = Identity {
        target_namespace: key.target_namespace().into(),
        target_name: key.target.name.as_str().into(),
        namespace: key.namespace.as_str().into(),
        name: name.as_str().into(),
        uid: format!("{:08x}-aaaa-4bbb-8ccc-{:012x}", object, object * 7).into(),
        group: "apps".into(),
        version: "v1".into(),
        kind: "Deployment".into(),
    };
    let attributes = json!({
        "chart": format!("web-{}", word()),
        "commit": format!("{}{}", word(), word()),
        "containers": object % 4 + 1,
        "image": format!("registry.example/team/{}@sha256:{}{}{}{}", word(), word(), word(), word(), word()),
        "images": [format!("registry.example/{}", word()), format!("registry.example/{}", word())],
        "labels": {"app": word(), "owner": word(), "tier": "backend"},
        "node": format!("node-{}.eu-1.example", object % 300),
        "ready": version.is_multiple_of(2),
        "replicas": version % 9,
        "updated": format!("2026-11-{:02}T08:30:00Z", version % 28 + 1),
    });
    Row::of_value(&identity, &attributes)
}

/// Every figure of one size.
pub(crate) fn run(size: &str, rows: usize) -> anyhow::Result<()> {
    let mut filled = Filled::empty(NAMESPACES);
    let before = resident();
    let (seconds, payload) = fill(&mut filled, rows);
    filled.export();
    let grown = resident().saturating_sub(before);
    let say = |name: &str, value: f64| print(&format!("inventory.{name}.{size}"), value);
    say("row_bytes", float(payload) / float(rows))?;
    say("upserts_per_s", float(rows) / seconds)?;

    let (change_ns, change_allocs) = changes(&mut filled, rows);
    say("change_ns", change_ns)?;
    say("change_allocs", change_allocs)?;
    say("noop_ns", equal_rows(&mut filled, rows))?;
    say("heap_mib", float(grown) / float(1 << 20))?;
    say("overhead_bytes_per_row", (float(grown) - float(payload)) / float(rows))?;
    say("document_ms", document(&mut filled) * 1e3)?;
    Ok(())
}

/// Puts all rows in, in random order; how long that took without making them,
/// and how many bytes of JSON they are.
fn fill(filled: &mut Filled, rows: usize) -> (f64, usize) {
    let (mut seconds, mut payload) = (0.0, 0);
    let stride = 1_000_003 % rows.max(2);
    let stride = if rows.is_multiple_of(stride.max(1)) { 1 } else { stride };
    for start in (0..rows).step_by(CHUNK) {
        let objects = start..rows.min(start + CHUNK);
        let chunk: Vec<_> =
            objects.map(|at| filled.row(at.wrapping_mul(stride) % rows, 1)).collect();
        payload += chunk.iter().map(|(_, row)| row.as_json().len()).sum::<usize>();
        let (time, ()) = timed(|| chunk.iter().for_each(|row| filled.upsert(row, 1)));
        seconds += time.as_secs_f64();
    }
    (seconds, payload)
}

/// One change, gathered and acknowledged: nanoseconds and allocations.
fn changes(filled: &mut Filled, rows: usize) -> (f64, f64) {
    let mut chance = Chance::new(7);
    let picked: Vec<_> = (0..CHANGES).map(|at| (chance.below(rows), 2 + at as u64)).collect();
    let mut nanoseconds = 0;
    let mut counted = 0;
    for chunk in picked.chunks(1_000) {
        let made: Vec<_> = chunk
            .iter()
            .map(|(object, version)| (filled.row(*object, *version), *version))
            .collect();
        let mut exported = 0;
        let mut time = 0;
        let counts = allocations(|| {
            let (took, ()) = timed(|| {
                for (row, version) in &made {
                    filled.upsert(row, *version);
                    exported += filled.export();
                }
            });
            time = took.as_nanos();
        });
        assert_eq!(exported, chunk.len(), "every change is handed out once");
        nanoseconds += time;
        counted += counts.count_total;
    }
    let changes = float(CHANGES);
    (
        float(usize::try_from(nanoseconds).unwrap_or_default()) / changes,
        float(usize::try_from(counted).unwrap_or_default()) / changes,
    )
}

/// A row that the store has already.
fn equal_rows(filled: &mut Filled, rows: usize) -> f64 {
    let mut chance = Chance::new(11);
    let version = 1_000_000;
    let picked: Vec<_> = (0..1_000).map(|_| filled.row(chance.below(rows), version)).collect();
    for row in &picked {
        filled.upsert(row, version);
    }
    filled.export();
    let before = filled.store.sequence();
    let (time, ()) = timed(|| picked.iter().for_each(|row| filled.upsert(row, version)));
    assert_eq!(filled.store.sequence(), before, "an equal row is no change");
    time.as_secs_f64() * 1e9 / float(picked.len())
}

/// The whole view as one document.
fn document(filled: &mut Filled) -> f64 {
    filled.store.start_over(filled.cursor);
    let (time, bytes) = timed(|| {
        let batch = filled.store.gather(filled.cursor, usize::MAX)?;
        let Change::All { mut rows, .. } = batch.change else { return None };
        sort(&mut rows);
        Some(envelope::encode(&Header::default(), &rows))
    });
    black_box(bytes);
    time.as_secs_f64()
}

/// Gathering one change when ten thousand partitions have none.
pub(crate) fn partitions() -> anyhow::Result<()> {
    let mut filled = Filled::empty(10_000);
    fill(&mut filled, 100_000);
    filled.export();
    let mut nanoseconds = 0.0;
    let rounds = 2_000;
    for round in 0..rounds {
        let version = 2 + round as u64;
        let row = filled.row(5_000, version);
        filled.upsert(&row, version);
        let (time, batch) = timed(|| filled.store.gather(filled.cursor, 5_000));
        nanoseconds += time.as_secs_f64() * 1e9;
        if let Some(batch) = batch {
            filled.store.acknowledge(filled.cursor, batch.ticket);
        }
    }
    print("inventory.gather_ns.10k_partitions", nanoseconds / float(rounds))?;
    Ok(())
}

/// A day on which a sink is dead: ten million changes of rows that it has, and
/// ten million rows that come and go. How much the process has grown.
pub(crate) fn outage() -> anyhow::Result<()> {
    const ROWS: usize = 100_000;
    const EVENTS: usize = 10_000_000;
    let mut filled = Filled::empty(NAMESPACES);
    fill(&mut filled, ROWS);
    filled.export();
    let dead = filled.cursor;
    let live = filled.store.open_cursor(filled.view);
    filled.cursor = live;
    filled.export();
    let mut chance = Chance::new(13);
    let mut version = 2;
    // The first round lets every row change size once, as it would in a day.
    for at in 0..ROWS {
        version += 1;
        let row = filled.row(at, version);
        filled.upsert(&row, version);
    }
    filled.export();
    let before = resident();
    for at in 0..EVENTS {
        version += 1;
        let row = filled.small_row(chance.below(ROWS), version);
        filled.upsert(&row, version);
        if at % 100 == 0 {
            filled.export();
        }
    }
    let changed = resident();
    for at in 0..EVENTS {
        version += 1;
        let (partition, row) = filled.small_row(ROWS + at, version);
        let freshness = Freshness { list: filled.list, version };
        filled.store.upsert(partition, freshness, &row);
        if at % 100 == 0 {
            filled.export();
        }
        filled.store.delete(partition, freshness, &row.identity().name);
    }
    filled.export();
    let mib = |bytes: usize| float(bytes) / float(1 << 20);
    print("inventory.outage_before_mib", mib(before))?;
    print("inventory.outage_after_changes_mib", mib(changed))?;
    print("inventory.outage_after_churn_mib", mib(resident()))?;
    print("inventory.outage_tombstones", float(filled.store.tombstones()))?;
    black_box(dead);
    Ok(())
}
