//! A file, and pairs that export to it.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use kollect_inventory::{
    Change, Confines, Content, Digest, Identity, PartitionKey, Row, TargetKey, Watermark,
    watermark::{Expected, Trust},
};
use rusqlite::{Connection, types::Value as Stored};
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    Column, ColumnType, Export, InventoryKey, Patience, ProfileSchema, Progress, Receipt, Schema,
    Sink as _, SinkError, SqliteDestination, SqliteSink, Wrote,
};

/// A directory with one database.
pub(super) struct File {
    directory: TempDir,
    pub(super) destination: Arc<SqliteDestination>,
}

impl File {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let destination = SqliteDestination::new(directory.path().join("inventory.db"))
            .with_patience(Duration::from_millis(50));
        Self { directory, destination: Arc::new(destination) }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.directory.path().join("inventory.db")
    }

    /// A connection that is no part of the sink.
    pub(super) fn reader(&self) -> Connection {
        let connection = Connection::open(self.path()).unwrap();
        connection.busy_timeout(Duration::from_secs(5)).unwrap();
        connection
    }

    /// A pair of an inventory in `namespace` called `web-stack`.
    pub(super) fn pair(&self, namespace: &str, cluster: &str) -> Pair {
        Pair {
            sink: SqliteSink::new(Arc::clone(&self.destination), cluster),
            inventory: InventoryKey { namespace: namespace.into(), name: "web-stack".into() },
            schema: Arc::default(),
            expected: Expected::Unread,
            trust: Trust::Record,
            sequence: 1_772_600_767_000_000,
            progress: Progress::default(),
        }
    }

    /// Everything that a query gives, as texts; none is `null`.
    #[track_caller]
    pub(super) fn query(&self, text: &str) -> Vec<Vec<String>> {
        let connection = self.reader();
        let mut statement = connection.prepare(text).unwrap();
        let count = statement.column_count();
        let shown = |value: Stored| match value {
            Stored::Null => "null".to_owned(),
            Stored::Integer(number) => number.to_string(),
            Stored::Real(number) => format!("{number:?}"),
            Stored::Text(text) => text,
            Stored::Blob(bytes) => format!("{bytes:?}"),
        };
        let rows = statement.query_map([], |row| {
            (0..count).map(|at| Ok(shown(row.get(at)?))).collect::<Result<Vec<_>, _>>()
        });
        rows.unwrap().map(Result::unwrap).collect()
    }

    /// Names of the views.
    pub(super) fn views(&self) -> Vec<String> {
        let names = "SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name";
        self.query(names).concat()
    }

    /// The bytes of the database and of its log.
    pub(super) fn bytes(&self) -> [Option<Vec<u8>>; 2] {
        let log = self.directory.path().join("inventory.db-wal");
        [fs::read(self.path()).ok(), fs::read(log).ok()]
    }
}

/// One inventory at one file.
pub(super) struct Pair {
    pub(super) sink: SqliteSink,
    pub(super) inventory: InventoryKey,
    pub(super) schema: Arc<Schema>,
    pub(super) expected: Expected,
    pub(super) trust: Trust,
    pub(super) progress: Progress,
    sequence: i64,
}

impl Pair {
    pub(super) fn with_schema(mut self, profiles: Vec<ProfileSchema>) -> Self {
        self.schema = Arc::new(Schema { profiles });
        self
    }

    /// Exports everything; the view is known in full.
    pub(super) async fn all(&mut self, rows: &[Row]) -> Result<Receipt, SinkError> {
        let confines = Confines { settled: true, ..Confines::default() };
        self.within(rows, confines).await
    }

    pub(super) async fn within(
        &mut self,
        rows: &[Row],
        confines: Confines,
    ) -> Result<Receipt, SinkError> {
        let digest = rows.iter().fold(Digest::EMPTY, |sum, row| sum.with(row.hash()));
        let known =
            confines.settled && confines.uncovered.is_empty() && confines.unknown.is_empty();
        let content = known.then_some(Content { rows: rows.len(), digest });
        self.export(Change::All { rows: rows.to_vec(), confines }, content).await
    }

    /// Exports rows that have changed.
    pub(super) async fn upsert(&mut self, rows: &[Row]) -> Result<Receipt, SinkError> {
        let (deletes, partitions) = (Vec::new(), Vec::new());
        let change = Change::Since { upserts: rows.to_vec(), deletes, partitions };
        self.export(change, None).await
    }

    pub(super) async fn export(
        &mut self,
        change: Change,
        content: Option<Content>,
    ) -> Result<Receipt, SinkError> {
        if !change.is_empty() {
            self.sequence += 1;
        }
        let export = Export {
            inventory: self.inventory.clone(),
            generation: 7,
            schema: Arc::clone(&self.schema),
            change: Arc::new(change),
            watermark: Watermark { sequence: self.sequence, content },
            document: None,
            limit: None,
            expected: self.expected.clone(),
            writer: "w-1".into(),
            trust: self.trust,
            patience: Patience::Waits,
            at: "2026-03-04T05:06:07.89Z".parse().unwrap(),
            progress: self.progress.clone(),
        };
        let receipt = self.sink.export(&export).await?;
        self.expected = receipt.token.clone().map_or(Expected::Nothing, Expected::Token);
        Ok(receipt)
    }
}

pub(super) fn wrote(upserted: u64, deleted: u64) -> Wrote {
    Wrote::Rows { upserted, deleted }
}

/// A row of the target `workloads` in the object's namespace.
pub(super) fn row(namespace: &str, name: &str, attributes: &Value) -> Row {
    row_of("workloads", namespace, name, attributes)
}

pub(super) fn row_of(target: &str, namespace: &str, name: &str, attributes: &Value) -> Row {
    let owned = |text: &str| text.to_owned().into();
    let identity = Identity {
        target_namespace: owned(namespace),
        target_name: owned(target),
        namespace: owned(namespace),
        name: owned(name),
        uid: owned(&format!("uid-of-{name}")),
        group: owned("apps"),
        version: owned("v1"),
        kind: owned("Deployment"),
    };
    Row::of_value(&identity, attributes)
}

pub(super) fn partition(target: Option<&str>, namespace: &str) -> PartitionKey {
    let target = TargetKey { namespace: target.map(str::to_owned), name: "workloads".into() };
    PartitionKey { target, namespace: namespace.into() }
}

/// A profile of `shop` whose target is `workloads`.
pub(super) fn profile(name: &str, columns: &[(&str, ColumnType)]) -> ProfileSchema {
    let column =
        |(name, value): &(&str, ColumnType)| Column { name: (*name).to_owned(), value: *value };
    ProfileSchema {
        namespace: "shop".into(),
        name: name.into(),
        targets: vec![TargetKey { namespace: Some("shop".into()), name: "workloads".into() }],
        columns: columns.iter().map(column).collect(),
        embeds: None,
    }
}
