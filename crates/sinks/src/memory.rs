//! Copies in memory: what a sink has to do, and nothing else.
//!
//! The reference for all others. It is for tests and demonstrations; nobody
//! can ask for it in a manifest.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use kollect_inventory::{
    Change, Identity, PartitionChange, Row,
    watermark::{Recorded, Step},
};

use crate::sink::{Export, Farewell, InventoryKey, Receipt, RefusedRow, Sink, SinkError, Wrote};

/// A destination in memory. It outlives the sinks that write to it, as a
/// database outlives a process.
#[derive(Clone, Debug, Default)]
pub struct MemoryDestination(Arc<Mutex<World>>);

#[derive(Debug, Default)]
struct World {
    copies: BTreeMap<CopyKey, Copy>,
}

/// Cluster and inventory.
type CopyKey = (String, InventoryKey);

/// What is held of one inventory.
#[derive(Clone, Debug, Default)]
struct Copy {
    rows: BTreeMap<Identity<'static>, Row>,
    recorded: Option<Recorded>,
}

impl MemoryDestination {
    /// What a reader sees of an inventory.
    pub fn rows(&self, cluster: &str, inventory: &InventoryKey) -> Vec<Row> {
        let copy = self.world().copies.get(&(cluster.to_owned(), inventory.clone())).cloned();
        copy.map(|copy| copy.rows.into_values().collect()).unwrap_or_default()
    }

    /// What is recorded about an inventory.
    pub fn recorded(&self, cluster: &str, inventory: &InventoryKey) -> Option<Recorded> {
        let world = self.world();
        world.copies.get(&(cluster.to_owned(), inventory.clone()))?.recorded.clone()
    }

    /// Changes rows as somebody else would, past the record.
    pub fn tamper(
        &self,
        cluster: &str,
        inventory: &InventoryKey,
        change: impl FnOnce(&mut Vec<Row>),
    ) {
        let mut world = self.world();
        let copy = world.copies.entry((cluster.to_owned(), inventory.clone())).or_default();
        let mut rows = std::mem::take(&mut copy.rows).into_values().collect();
        change(&mut rows);
        copy.rows = rows.into_iter().map(|row| (key(&row), row)).collect();
    }

    fn world(&self) -> MutexGuard<'_, World> {
        // Nothing that is done under the lock panics.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps copies in memory.
#[derive(Debug)]
pub struct MemorySink {
    destination: MemoryDestination,
    cluster: String,
}

impl MemorySink {
    pub fn new(destination: MemoryDestination, cluster: &str) -> Self {
        Self { destination, cluster: cluster.to_owned() }
    }
}

#[async_trait]
impl Sink for MemorySink {
    async fn probe(&self) -> Result<String, SinkError> {
        Ok("memory is there".to_owned())
    }

    async fn export(&self, export: &Export) -> Result<Receipt, SinkError> {
        let projection = format!("rows {}", export.schema.fingerprint());
        let mut world = self.destination.world();
        let place = (self.cluster.clone(), export.inventory.clone());
        let recorded = world.copies.get(&place).and_then(|copy| copy.recorded.as_ref());
        if export.judge(recorded, &projection)? == Step::Nothing {
            return Ok(Receipt::unchanged(recorded));
        }
        let mut written = Written::default();
        let copy = world.copies.entry(place).or_default();
        copy.apply(&export.change, &mut written);
        let recorded = export.record(&projection, &written.refused);
        copy.recorded = Some(recorded.clone());
        export.progress.accepted(written.upserted + written.deleted);
        Ok(Receipt {
            wrote: Wrote::Rows { upserted: written.upserted, deleted: written.deleted },
            token: Some(recorded.token),
            checksum: None,
            bytes: written.bytes,
            statements: 1,
            refused: written.refused,
            warnings: Vec::new(),
        })
    }

    async fn retire(
        &self,
        inventory: &InventoryKey,
        farewell: Farewell,
    ) -> Result<Receipt, SinkError> {
        let mut world = self.destination.world();
        let place = (self.cluster.clone(), inventory.clone());
        let mut receipt = Receipt::unchanged(None);
        match farewell {
            Farewell::Deleted => {
                let gone = world.copies.remove(&place).map_or(0, |copy| copy.rows.len() as u64);
                receipt.wrote = Wrote::Rows { upserted: 0, deleted: gone };
            }
            Farewell::Released => {
                if let Some(copy) = world.copies.get_mut(&place) {
                    copy.recorded = None;
                }
            }
        }
        Ok(receipt)
    }
}

#[derive(Default)]
struct Written {
    upserted: u64,
    deleted: u64,
    bytes: u64,
    refused: Vec<RefusedRow>,
}

impl Copy {
    fn apply(&mut self, change: &Change, written: &mut Written) {
        match change {
            Change::All { rows, confines } => {
                let permits = confines.permits();
                self.replace(rows, |identity| permits.delete(identity.place()), written);
            }
            Change::Since { upserts, deletes, partitions } => {
                for (partition, change) in partitions {
                    let rows = match change {
                        PartitionChange::Replace(rows) => rows.as_slice(),
                        PartitionChange::Drop => &[],
                    };
                    let within = |identity: &Identity<'_>| identity.place() == partition.place();
                    self.replace(rows, within, written);
                }
                for tombstone in deletes {
                    self.delete(&tombstone.identity().into_owned(), written);
                }
                for row in upserts {
                    self.upsert(row, written);
                }
            }
        }
    }

    /// Puts rows in, and takes others out where that is permitted.
    fn replace(
        &mut self,
        rows: &[Row],
        may_delete: impl Fn(&Identity<'_>) -> bool,
        written: &mut Written,
    ) {
        let wanted: BTreeSet<_> = rows.iter().map(key).collect();
        let surplus = self.rows.keys().filter(|one| !wanted.contains(*one) && may_delete(one));
        for identity in surplus.cloned().collect::<Vec<_>>() {
            self.delete(&identity, written);
        }
        for row in rows {
            self.upsert(row, written);
        }
    }

    /// A row whose name holds a NUL character is refused, as databases do.
    fn upsert(&mut self, row: &Row, written: &mut Written) {
        let identity = key(row);
        if identity.name.contains('\0') {
            let reason = "the name holds a NUL character".to_owned();
            written.refused.push(RefusedRow { identity, reason });
        } else if self.rows.insert(identity, row.clone()).as_ref() != Some(row) {
            written.upserted += 1;
            written.bytes += row.as_json().len() as u64;
        }
    }

    fn delete(&mut self, identity: &Identity<'static>, written: &mut Written) {
        written.deleted += u64::from(self.rows.remove(identity).is_some());
    }
}

/// What rows are told apart by.
fn key(row: &Row) -> Identity<'static> {
    row.identity().into_owned()
}
