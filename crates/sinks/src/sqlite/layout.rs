//! The tables: how they are made, and whether what is there is ours.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::{error::Fault, shown};
use crate::sink::SinkError;

/// Rows. The key holds the namespace before the uid so that a partition is one
/// range of it. Rows are too long to sit in the key's own tree, hence a rowid.
pub(super) const ITEMS: &str = "inventory_items";

/// What is recorded of each inventory.
pub(super) const RECORDS: &str = "inventory_items_kollect";

/// Which targets' rows are seen through which view.
pub(super) const VIEWS: &str = "inventory_items_kollect_views";

const TABLES: [&str; 3] = [ITEMS, RECORDS, VIEWS];

const CREATE: &str = "
CREATE TABLE IF NOT EXISTS inventory_items (
  inventory_namespace TEXT NOT NULL,
  inventory_name TEXT NOT NULL,
  target_name TEXT NOT NULL,
  source_uid TEXT NOT NULL,
  cluster TEXT NOT NULL DEFAULT '',
  resource_namespace TEXT NOT NULL DEFAULT '',
  payload TEXT NOT NULL,
  exported_at TEXT NOT NULL,
  PRIMARY KEY (
    inventory_namespace, inventory_name, cluster, target_name, resource_namespace, source_uid
  )
);
CREATE TABLE IF NOT EXISTS inventory_items_kollect (
  inventory_namespace TEXT NOT NULL,
  inventory_name TEXT NOT NULL,
  cluster TEXT NOT NULL,
  writer TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  digest TEXT,
  rows INTEGER,
  projection TEXT NOT NULL,
  covered TEXT NOT NULL,
  views TEXT,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (inventory_namespace, inventory_name, cluster)
);
CREATE TABLE IF NOT EXISTS inventory_items_kollect_views (
  view TEXT NOT NULL COLLATE NOCASE,
  inventory_namespace TEXT NOT NULL,
  inventory_name TEXT NOT NULL,
  cluster TEXT NOT NULL,
  target_name TEXT NOT NULL,
  target_namespace TEXT NOT NULL,
  profile_namespace TEXT NOT NULL,
  shape TEXT NOT NULL,
  PRIMARY KEY (
    view, inventory_namespace, inventory_name, cluster, target_name, target_namespace
  )
);";

/// Makes the tables that are missing.
pub(super) fn create(connection: &mut Connection, missing: &[&str]) -> Result<(), Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(CREATE)?;
    if missing.contains(&ITEMS) {
        // Somebody has dropped the rows: what is recorded of them is no longer true.
        transaction.execute("DELETE FROM inventory_items_kollect", [])?;
    }
    transaction.commit().map_err(Fault::Commit)
}

/// Which tables are missing; fails if one is there that is not ours.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<Vec<&'static str>, Fault> {
    let model = Connection::open_in_memory()?;
    model.execute_batch(CREATE)?;
    let mut missing = Vec::new();
    for table in TABLES {
        let found = columns(connection, table)?;
        if found.is_empty() {
            missing.push(table);
            continue;
        }
        let differences = differences(&columns(&model, table)?, &found);
        if !differences.is_empty() {
            let text = format!("table {table} in {} is not ours: {differences}", shown(path));
            return Err(SinkError::Unusable(text).into());
        }
    }
    Ok(missing)
}

/// A column's name, and its type, whether it may be null, its place in the key.
type Column = (String, (String, bool, i64));

fn columns(connection: &Connection, table: &str) -> Result<Vec<Column>, rusqlite::Error> {
    let text = "SELECT name, upper(type), \"notnull\", pk FROM pragma_table_info(?1)";
    let mut statement = connection.prepare(text)?;
    let rows = statement
        .query_map([table], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?))))?;
    rows.collect()
}

/// Says in words what is not as it should be.
fn differences(wanted: &[Column], found: &[Column]) -> String {
    let find = |name: &str, among: &[Column]| {
        among.iter().find(|(other, _)| other == name).map(|(_, column)| column.clone())
    };
    let mut said = Vec::new();
    for (name, column) in wanted {
        match find(name, found) {
            None => said.push(format!("column {name} is missing")),
            Some(other) if other != *column => {
                said.push(format!("column {name} is {} and not {}", put(&other), put(column)));
            }
            Some(_) => {}
        }
    }
    let foreign = found.iter().filter(|(name, _)| find(name, wanted).is_none());
    said.extend(foreign.map(|(name, _)| format!("column {name} is not known")));
    said.join(", ")
}

fn put((kind, required, key): &(String, bool, i64)) -> String {
    let null = if *required { " not null" } else { "" };
    let place = if *key > 0 { format!(" at {key} in the key") } else { String::new() };
    format!("{kind}{null}{place}")
}
