//! Copies in one SQLite file: a table of rows, a record beside it, and a view
//! for each profile.
//!
//! Every export is one transaction, so readers in other connections see whole
//! states only, and what was acknowledged survives a power cut.

pub(crate) mod destination;
mod layout;
mod record;
mod write;
mod views;
mod columns;
mod error;

use std::{panic, path::Path, sync::Arc};

use async_trait::async_trait;
use kollect_inventory::{Effect, watermark::Step};
use rusqlite::{Connection, TransactionBehavior};

use self::{
    destination::SqliteDestination,
    error::Fault,
    record::Stored,
    write::{Writer, Written},
};
use crate::{
    progress::Progress,
    sink::{Export, Farewell, InventoryKey, Receipt, Sink, SinkError, Wrote},
};

/// Grows when the same rows would be stored in another way.
const FORMAT: &str = "sqlite 1";

/// Keeps copies of inventories in an SQLite file.
#[derive(Debug)]
pub struct SqliteSink {
    destination: Arc<SqliteDestination>,
    cluster: Arc<str>,
}

impl SqliteSink {
    pub fn new(destination: Arc<SqliteDestination>, cluster: &str) -> Self {
        Self { destination, cluster: cluster.into() }
    }

    /// Has its turn at the file, on a thread that may block.
    async fn run<T: Send + 'static>(
        &self,
        action: &'static str,
        progress: Progress,
        work: impl FnOnce(&mut Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, SinkError> {
        self.blocking(action, move |destination| destination.turn(action, &progress, work)).await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        action: &'static str,
        job: impl FnOnce(&SqliteDestination) -> Result<T, SinkError> + Send + 'static,
    ) -> Result<T, SinkError> {
        let destination = Arc::clone(&self.destination);
        let done = tokio::task::spawn_blocking(move || job(&destination));
        match done.await.map_err(tokio::task::JoinError::try_into_panic) {
            Ok(outcome) => outcome,
            Err(Ok(panic)) => panic::resume_unwind(panic),
            Err(Err(error)) => Err(SinkError::Unreachable {
                action,
                effect: Effect::Unknown,
                source: Arc::new(error),
            }),
        }
    }
}

#[async_trait]
impl Sink for SqliteSink {
    async fn probe(&self) -> Result<String, SinkError> {
        let action = "look at the file";
        self.blocking(action, move |destination| destination.look(action, probe)).await
    }

    async fn export(&self, export: &Export) -> Result<Receipt, SinkError> {
        let (export, cluster) = (export.clone(), Arc::clone(&self.cluster));
        let progress = export.progress.clone();
        self.run("write the export", progress, move |connection| {
            Turn { owner: Owner::new(&export.inventory, &cluster), export: &export }
                .export(connection)
        })
        .await
    }

    async fn retire(
        &self,
        inventory: &InventoryKey,
        farewell: Farewell,
    ) -> Result<Receipt, SinkError> {
        if !self.destination.exists() {
            return Ok(Receipt::unchanged(None));
        }
        let (inventory, cluster) = (inventory.clone(), Arc::clone(&self.cluster));
        self.run("take leave of the inventory", Progress::default(), move |connection| {
            retire(connection, Owner::new(&inventory, &cluster), farewell)
        })
        .await
    }
}

/// Whose rows these are.
#[derive(Clone, Copy, Debug)]
struct Owner<'a> {
    namespace: &'a str,
    name: &'a str,
    cluster: &'a str,
}

impl<'a> Owner<'a> {
    fn new(inventory: &'a InventoryKey, cluster: &'a str) -> Self {
        Self { namespace: &inventory.namespace, name: &inventory.name, cluster }
    }

    /// The same as the first three parameters of a statement.
    fn parameters(&self) -> [&'a str; 3] {
        [self.namespace, self.name, self.cluster]
    }
}

/// A write of more rows is faster with more of the file in memory.
const MANY_ROWS: usize = 1_000;

/// One export that has the file for itself.
struct Turn<'a> {
    owner: Owner<'a>,
    export: &'a Export,
}

impl Turn<'_> {
    fn export(&self, connection: &mut Connection) -> Result<Receipt, Fault> {
        // The turn may have come late.
        if self.export.progress.is_abandoned() {
            return Err(Fault::abandoned());
        }
        let schema = self.export.schema.fingerprint();
        let projection = format!("{FORMAT} {schema}");
        // To look before taking the write lock keeps an export without a change from writing.
        let stored = record::read(connection, self.owner)?;
        let step = self.export.judge(stored.recorded(), &projection)?;
        let views_are_due = stored.views != Some(views::recorded_as(&schema))
            || (step == Step::Compare && views::is_one_missing(connection, self.owner)?);
        let mut receipt = match step {
            Step::Nothing => Receipt::unchanged(stored.recorded()),
            Step::Apply | Step::Compare => {
                let is_large = self.export.change.len() > MANY_ROWS;
                destination::with_room(connection, is_large, |connection| {
                    self.write(connection, &projection)
                })?
            }
        };
        // From here on nothing may fail: the rows are committed.
        if views_are_due {
            receipt.warnings = views::refresh(connection, self.owner, &self.export.schema);
        }
        Ok(receipt)
    }

    /// Judges again under the write lock, then writes in one transaction.
    fn write(&self, connection: &mut Connection, projection: &str) -> Result<Receipt, Fault> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let stored = record::read(&transaction, self.owner)?;
        if self.export.judge(stored.recorded(), projection)? == Step::Nothing {
            return Ok(Receipt::unchanged(stored.recorded()));
        }
        let mut writer = Writer::new(&transaction, self.owner, self.export)?;
        writer.change(&self.export.change)?;
        let mut written = writer.finish()?;
        let recorded = self.export.record(projection, &written.refused);
        if stored.recorded() != Some(&recorded) {
            let at = self.export.at.to_string();
            written.bytes += record::write(&transaction, self.owner, &recorded, &at)?;
            written.statements += 1;
        }
        if self.export.progress.is_abandoned() {
            return Err(Fault::abandoned());
        }
        transaction.commit().map_err(Fault::Commit)?;
        let Written { upserted, deleted, bytes, statements, refused } = written;
        Ok(Receipt {
            wrote: Wrote::Rows { upserted, deleted },
            token: Some(recorded.token),
            checksum: None,
            bytes,
            // The two looks at the record, and where the transaction begins and ends.
            statements: statements + 4,
            refused,
            warnings: Vec::new(),
        })
    }
}

impl Stored {
    fn recorded(&self) -> Option<&kollect_inventory::watermark::Recorded> {
        self.recorded.as_ref()
    }
}

fn retire(
    connection: &mut Connection,
    owner: Owner<'_>,
    farewell: Farewell,
) -> Result<Receipt, Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut receipt = Receipt::unchanged(None);
    receipt.statements = 3;
    record::remove(&transaction, owner)?;
    if farewell == Farewell::Deleted {
        let deleted = write::remove_all(&transaction, owner)?;
        receipt.wrote = Wrote::Rows { upserted: 0, deleted };
        views::release(&transaction, owner)?;
        views::drop_unused(&transaction)?;
        receipt.statements += 3;
    }
    transaction.commit().map_err(Fault::Commit)?;
    Ok(receipt)
}

/// Says what there is; nothing is made, and nobody who writes has to wait.
fn probe(found: Option<&Connection>, path: &Path) -> Result<String, Fault> {
    let version = rusqlite::version();
    let Some(connection) = found else {
        return Ok(format!("SQLite {version}, {} is not there yet", shown(path)));
    };
    let bytes = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    let bytes: i64 = connection.query_row(bytes, [], |row| row.get(0))?;
    if !layout::check(connection, path)?.is_empty() {
        return Ok(format!("SQLite {version}, {bytes} bytes, the tables are not there yet"));
    }
    let inventories = record::count(connection)?;
    Ok(format!("SQLite {version}, {bytes} bytes, inventories recorded: {inventories}"))
}

/// A path as people write it.
fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests;
