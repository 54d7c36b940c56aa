//! Files in a directory of their own.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use kollect_inventory::{Identity, Row, sort};
use kollect_sinks::{
    InventoryKey, Sink, SqliteDestination, SqliteSink,
    conformance::{Destination, Opening, Tampering},
};
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{conforms, finds_every_mutant};

/// A file, and somebody who reads it all the time.
#[derive(Debug)]
struct File {
    directory: TempDir,
    reader: Mutex<Connection>,
}

impl File {
    fn new() -> Result<Self, String> {
        let directory = tempfile::tempdir().map_err(text)?;
        let reader = Connection::open(directory.path().join("inventory.db")).map_err(text)?;
        Ok(Self { directory, reader: Mutex::new(reader) })
    }

    fn ask<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, rusqlite::Error>,
    ) -> Result<T, String> {
        question(&self.reader.lock().unwrap_or_else(PoisonError::into_inner)).map_err(text)
    }
}

#[async_trait]
impl Destination for File {
    async fn open(&self, cluster: &str) -> Result<Arc<dyn Sink>, String> {
        let destination = SqliteDestination::new(self.directory.path().join("inventory.db"));
        Ok(Arc::new(SqliteSink::new(Arc::new(destination), cluster)))
    }

    async fn read(
        &self,
        cluster: &str,
        inventory: &InventoryKey,
    ) -> Result<Option<Vec<Row>>, String> {
        let payloads = self.ask(|reader| {
            if !reader.table_exists(None, "inventory_items")? {
                return Ok(None);
            }
            let query = "SELECT payload FROM inventory_items \
                WHERE inventory_namespace = ?1 AND inventory_name = ?2 AND cluster = ?3";
            let mut statement = reader.prepare(query)?;
            let place = [inventory.namespace.as_str(), &inventory.name, cluster];
            let payloads = statement.query_map(place, |row| row.get(0))?;
            payloads.collect::<Result<Vec<String>, _>>().map(Some)
        })?;
        let Some(payloads) = payloads else { return Ok(None) };
        let mut rows =
            payloads.iter().map(|payload| row(payload)).collect::<Result<Vec<_>, _>>()?;
        sort(&mut rows);
        Ok(Some(rows))
    }

    async fn tamper(
        &self,
        cluster: &str,
        inventory: &InventoryKey,
        tampering: Tampering,
    ) -> Result<(), String> {
        let verb = match tampering {
            Tampering::Delete => "DELETE FROM inventory_items",
            Tampering::Edit => {
                "UPDATE inventory_items \
                SET payload = json_set(payload, '$.attributes', json('{\"value\":\"forged\"}'))"
            }
        };
        let statement = format!(
            "{verb} WHERE rowid = (SELECT max(rowid) FROM inventory_items \
            WHERE inventory_namespace = ?1 AND inventory_name = ?2 AND cluster = ?3)"
        );
        let path = self.directory.path().join("inventory.db");
        let place = [inventory.namespace.as_str(), &inventory.name, cluster];
        Connection::open(path).and_then(|other| other.execute(&statement, place)).map_err(text)?;
        Ok(())
    }

    /// SQLite's own number, which moves with every commit of somebody else.
    async fn fingerprint(&self) -> Result<String, String> {
        let version: i64 =
            self.ask(|reader| reader.query_row("PRAGMA data_version", [], |row| row.get(0)))?;
        Ok(version.to_string())
    }

    fn refuses_name(&self) -> Option<&'static str> {
        Some("b\0ad")
    }
}

fn row(payload: &str) -> Result<Row, String> {
    let identity: Identity<'_> = serde_json::from_str(payload).map_err(text)?;
    let value: Value = serde_json::from_str(payload).map_err(text)?;
    let row = Row::of_value(&identity, value.get("attributes").unwrap_or(&Value::Null));
    if row.as_json() == payload.as_bytes() {
        Ok(row)
    } else {
        Err(format!("not canonical: {payload}"))
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn make() -> Opening {
    Box::pin(async { Ok(Box::new(File::new()?) as Box<dyn Destination>) })
}

#[tokio::test]
async fn sqlite_conforms() {
    conforms(&make).await;
}

#[tokio::test]
async fn a_bug_in_it_is_found() {
    finds_every_mutant(&make).await;
}
