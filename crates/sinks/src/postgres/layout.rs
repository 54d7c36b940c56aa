//! The tables: how they are made, and whether those that are there will do.

use kollect_api::ProvisioningMode;
use tokio_postgres::Client;

use super::{error::Fault, settings::PostgresSettings};
use crate::sink::SinkError;

/// A table and the one beside it that holds what is recorded of each inventory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) schema: String,
    pub(super) name: String,
}

/// What a row is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Upstream's four columns: clusters must not share uids.
    Plain,
    /// These and the cluster.
    WithCluster,
}

/// What is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) key: Key,
    /// Whether there is a place for records; if not, why.
    pub(super) records: Result<(), String>,
    /// Whether views may be made beside the table.
    pub(super) takes_views: bool,
}

/// Longest name that the server keeps whole, in bytes.
pub(super) const LONGEST: usize = 63;

const RIGHTS: [&str; 4] = ["SELECT", "INSERT", "UPDATE", "DELETE"];

/// Columns of rows with the types that will do.
const ITEMS: [(&str, &[&str]); 8] = [
    ("inventory_namespace", TEXT),
    ("inventory_name", TEXT),
    ("target_name", TEXT),
    ("source_uid", TEXT),
    ("cluster", TEXT),
    ("resource_namespace", TEXT),
    ("payload", &["jsonb"]),
    ("exported_at", &["timestamp with time zone"]),
];

/// Columns of records with the types that will do.
const RECORDS: [(&str, &[&str]); 10] = [
    ("inventory_namespace", TEXT),
    ("inventory_name", TEXT),
    ("cluster", TEXT),
    ("writer", TEXT),
    ("sequence", &["bigint"]),
    ("digest", TEXT),
    ("rows", &["bigint"]),
    ("projection", TEXT),
    ("views", &["jsonb"]),
    ("updated_at", &["timestamp with time zone"]),
];

const TEXT: &[&str] = &["text", "character varying"];

const PLAIN_KEY: [&str; 4] = ["inventory_name", "inventory_namespace", "source_uid", "target_name"];
const FULL_KEY: [&str; 5] =
    ["cluster", "inventory_name", "inventory_namespace", "source_uid", "target_name"];
const RECORD_KEY: [&str; 3] = ["cluster", "inventory_name", "inventory_namespace"];

impl Table {
    pub(super) fn new(schema: &str, name: &str) -> Self {
        Self { schema: schema.to_owned(), name: name.to_owned() }
    }

    /// The table of rows, as statements name it.
    pub(super) fn items(&self) -> String {
        format!("{}.{}", identifier(&self.schema), identifier(&self.name))
    }

    /// The table of records likewise.
    pub(super) fn records(&self) -> String {
        let name = format!("{}_kollect", self.name);
        format!("{}.{}", identifier(&self.schema), identifier(&name))
    }

    /// A number for locks that are about this table and nothing else.
    pub(super) fn lock(&self, about: &[&str]) -> i64 {
        use sha2::{Digest as _, Sha256};
        let mut hash = Sha256::new();
        for part in [self.schema.as_str(), &self.name].iter().chain(about) {
            hash.update(part.len().to_be_bytes());
            hash.update(part);
        }
        let hash = hash.finalize();
        hash.iter().take(8).fold(0, |number, byte| number << 8 | i64::from(*byte))
    }

    /// How the table of rows is made.
    ///
    /// Room on each page lets a row that changes stay where it is.
    pub(super) fn create_items(&self) -> String {
        format!(
            "CREATE TABLE IF NOT EXISTS {} (\n\
            \x20 inventory_namespace TEXT NOT NULL,\n\
            \x20 inventory_name TEXT NOT NULL,\n\
            \x20 target_name TEXT NOT NULL,\n\
            \x20 source_uid TEXT NOT NULL,\n\
            \x20 cluster TEXT NOT NULL DEFAULT '',\n\
            \x20 resource_namespace TEXT NOT NULL DEFAULT '',\n\
            \x20 payload JSONB NOT NULL,\n\
            \x20 exported_at TIMESTAMPTZ NOT NULL,\n\
            \x20 PRIMARY KEY (inventory_namespace, inventory_name, target_name, source_uid, cluster)\n\
            ) WITH (fillfactor = 90)",
            self.items()
        )
    }

    /// How the table of records is made.
    pub(super) fn create_records(&self) -> String {
        format!(
            "CREATE TABLE IF NOT EXISTS {} (\n\
            \x20 inventory_namespace TEXT NOT NULL,\n\
            \x20 inventory_name TEXT NOT NULL,\n\
            \x20 cluster TEXT NOT NULL DEFAULT '',\n\
            \x20 writer TEXT NOT NULL,\n\
            \x20 sequence BIGINT NOT NULL,\n\
            \x20 digest TEXT,\n\
            \x20 rows BIGINT,\n\
            \x20 projection TEXT NOT NULL,\n\
            \x20 views JSONB,\n\
            \x20 updated_at TIMESTAMPTZ NOT NULL,\n\
            \x20 PRIMARY KEY (inventory_namespace, inventory_name, cluster)\n\
            ) WITH (fillfactor = 50)",
            self.records()
        )
    }
}

impl Layout {
    /// Looks at what is there and makes nothing; none if there is no table.
    pub(super) async fn look(
        client: &Client,
        settings: &PostgresSettings,
    ) -> Result<Option<Self>, Fault> {
        if Found::look(client, &settings.table.items()).await?.is_none() {
            return Ok(None);
        }
        let settings = PostgresSettings { mode: ProvisioningMode::Existing, ..settings.clone() };
        let mut layout = Self::find(client, &settings).await?;
        layout.takes_views = layout.key == Key::WithCluster && layout.records.is_ok();
        Ok(Some(layout))
    }

    /// Looks at what is there; makes what is missing where that is wanted.
    pub(super) async fn find(client: &Client, settings: &PostgresSettings) -> Result<Self, Fault> {
        let table = &settings.table;
        let ensure = settings.mode == ProvisioningMode::Ensure;
        let mut items = Found::look(client, &table.items()).await?;
        let mut records = Found::look(client, &table.records()).await?;
        if items.is_none() && ensure {
            create_items(client, table, records.is_some()).await?;
            items = Found::look(client, &table.items()).await?;
        }
        let Some(items) = items else {
            let text = format!("there is no table {}, and none is to be made", table.items());
            return Err(SinkError::Unusable(text).into());
        };
        items.check(&table.items(), &ITEMS)?;
        let key = items.key(&table.items())?;
        let may_create = ensure && may_create(client, &table.schema).await?;
        let mut reason = format!("there is no table {}", table.records());
        if records.is_none() && table.name.len() + "_kollect".len() > LONGEST {
            reason = format!("the name of {} is too long for one beside it", table.items());
        } else if records.is_none() && may_create {
            create(client, table, &table.create_records()).await?;
            records = Found::look(client, &table.records()).await?;
        }
        let takes_views = may_create && records.is_some() && key == Key::WithCluster;
        let records = match records {
            Some(records) => {
                records.check(&table.records(), &RECORDS)?;
                records.has_key(&table.records(), &RECORD_KEY)?;
                Ok(())
            }
            None => Err(reason),
        };
        Ok(Self { key, records, takes_views })
    }
}

/// Makes the table of rows. What was recorded of one that is gone is no longer true.
async fn create_items(client: &Client, table: &Table, records: bool) -> Result<(), Fault> {
    create(client, table, &table.create_items()).await?;
    if records {
        client.batch_execute(&format!("DELETE FROM {}", table.records())).await?;
    }
    Ok(())
}

/// Runs what makes a table while nobody else of us does.
async fn create(client: &Client, table: &Table, text: &str) -> Result<(), Fault> {
    let lock = table.lock(&["tables"]);
    let text = format!("BEGIN; SELECT pg_advisory_xact_lock({lock}); {text}; COMMIT");
    Ok(client.batch_execute(&text).await?)
}

async fn may_create(client: &Client, schema: &str) -> Result<bool, Fault> {
    let text = "SELECT coalesce((SELECT has_schema_privilege(oid, 'CREATE') \
        FROM pg_namespace WHERE nspname = $1), false)";
    Ok(client.query_one(text, &[&schema]).await?.get(0))
}

/// A table that is there.
#[derive(Debug, Default)]
struct Found {
    kind: String,
    columns: Vec<Column>,
    /// The columns of each unique index, sorted.
    keys: Vec<Vec<String>>,
    /// What we may not do.
    lacks: Vec<String>,
}

#[derive(Debug)]
struct Column {
    name: String,
    kind: String,
    /// Whether it must be given and has no value of its own.
    is_owed: bool,
}

const LOOK: &str = "SELECT c.relkind::text, \
    ARRAY(SELECT a.attname::text FROM pg_attribute a \
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum), \
    ARRAY(SELECT format_type(a.atttypid, NULL) FROM pg_attribute a \
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum), \
    ARRAY(SELECT a.attnotnull AND NOT (a.atthasdef OR a.attidentity <> '') FROM pg_attribute a \
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum), \
    ARRAY(SELECT array_to_string(ARRAY(SELECT a.attname::text FROM pg_attribute a \
        WHERE a.attrelid = c.oid \
        AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]) ORDER BY 1), ' ') \
        FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid \
        AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL), \
    ARRAY(SELECT one FROM unnest($2::text[]) one WHERE NOT has_table_privilege(c.oid, one)) \
    FROM pg_class c WHERE c.oid = to_regclass($1)";

impl Found {
    async fn look(client: &Client, table: &str) -> Result<Option<Self>, Fault> {
        let Some(row) = client.query_opt(LOOK, &[&table, &RIGHTS.as_slice()]).await? else {
            return Ok(None);
        };
        let (names, kinds): (Vec<String>, Vec<String>) = (row.get(1), row.get(2));
        let owed: Vec<bool> = row.get(3);
        let columns = names.into_iter().zip(kinds).zip(owed);
        let columns = columns.map(|((name, kind), is_owed)| Column { name, kind, is_owed });
        let keys: Vec<String> = row.get(4);
        let keys = keys.iter().map(|key| key.split(' ').map(str::to_owned).collect());
        Ok(Some(Self {
            kind: row.get(0),
            columns: columns.collect(),
            keys: keys.collect(),
            lacks: row.get(5),
        }))
    }

    /// Fails if it cannot be written as we write.
    fn check(&self, table: &str, wanted: &[(&str, &[&str])]) -> Result<(), SinkError> {
        let mut said = Vec::new();
        if !matches!(self.kind.as_str(), "r" | "p") {
            said.push("it is no table".to_owned());
        }
        for (name, kinds) in wanted {
            match self.columns.iter().find(|column| column.name == *name) {
                None => said.push(format!("column {name} is missing")),
                Some(column) if !kinds.contains(&column.kind.as_str()) => {
                    said.push(format!(
                        "column {name} is {} and not {}",
                        column.kind,
                        kinds.join(" or ")
                    ));
                }
                Some(_) => {}
            }
        }
        let known = |column: &&Column| wanted.iter().any(|(name, _)| *name == column.name);
        for column in self.columns.iter().filter(|column| column.is_owed && !known(column)) {
            said.push(format!("column {} must be given and is not ours", column.name));
        }
        if !said.is_empty() {
            return Err(SinkError::Unusable(format!(
                "{table} cannot be used: {}",
                said.join(", ")
            )));
        }
        if !self.lacks.is_empty() {
            let rights = self.lacks.join(", ");
            let text = format!("the role lacks rights: GRANT {rights} ON {table}");
            return Err(SinkError::Refused {
                action: "write the table",
                source: std::sync::Arc::new(Lacks(text)),
            });
        }
        Ok(())
    }

    fn key(&self, table: &str) -> Result<Key, SinkError> {
        if self.keys.iter().any(|key| *key == FULL_KEY) {
            return Ok(Key::WithCluster);
        }
        if self.keys.iter().any(|key| *key == PLAIN_KEY) {
            return Ok(Key::Plain);
        }
        Err(no_key(table, &PLAIN_KEY))
    }

    fn has_key(&self, table: &str, wanted: &[&str]) -> Result<(), SinkError> {
        if self.keys.iter().any(|key| key == wanted) { Ok(()) } else { Err(no_key(table, wanted)) }
    }
}

fn no_key(table: &str, wanted: &[&str]) -> SinkError {
    let wanted = wanted.join(", ");
    SinkError::Unusable(format!("{table} cannot be used: it has no unique key of {wanted}"))
}

/// Which rights are missing.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Lacks(String);

/// A name as statements hold it.
pub(super) fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\"").replace('\0', "\u{fffd}"))
}

/// A text as statements hold it.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''").replace('\0', "\u{fffd}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: &str, columns: &[(&str, &str, bool)]) -> Found {
        let column = |(name, kind, is_owed): &(&str, &str, bool)| Column {
            name: (*name).to_owned(),
            kind: (*kind).to_owned(),
            is_owed: *is_owed,
        };
        let columns = columns.iter().map(column).collect();
        Found { kind: kind.to_owned(), columns, ..Found::default() }
    }

    fn rows() -> Vec<(&'static str, &'static str, bool)> {
        ITEMS.iter().map(|(name, kinds)| (*name, kinds[0], true)).collect()
    }

    #[test]
    fn a_table_with_the_eight_columns_will_do_whatever_else_it_has() {
        let mut columns = rows();
        columns.push(("note", "text", false));
        assert!(found("r", &columns).check("t", &ITEMS).is_ok());
        assert!(found("p", &columns).check("t", &ITEMS).is_ok());
    }

    #[test]
    fn everything_that_will_not_do_is_named_at_once() {
        let mut columns = rows();
        columns.retain(|(name, ..)| *name != "cluster");
        columns[5].1 = "json";
        columns.push(("owner", "text", true));
        let error = found("v", &columns).check("t", &ITEMS).unwrap_err().to_string();
        assert_eq!(
            error,
            "t cannot be used: it is no table, column cluster is missing, column payload is json \
             and not jsonb, column owner must be given and is not ours"
        );
    }

    #[test]
    fn the_key_with_the_cluster_is_preferred() {
        let key = |columns: &[&str]| columns.iter().map(|one| (*one).to_owned()).collect();
        let mut found = found("r", &rows());
        assert!(found.key("t").is_err());
        found.keys = vec![key(&PLAIN_KEY)];
        assert_eq!(found.key("t").unwrap(), Key::Plain);
        found.keys.push(key(&FULL_KEY));
        assert_eq!(found.key("t").unwrap(), Key::WithCluster);
    }

    #[test]
    fn rights_that_are_missing_are_named_as_one_grants_them() {
        let lacks = vec!["INSERT".to_owned(), "DELETE".to_owned()];
        let found = Found { lacks, ..found("r", &rows()) };
        let error = found.check("\"s\".\"t\"", &ITEMS).unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert_eq!(cause, "the role lacks rights: GRANT INSERT, DELETE ON \"s\".\"t\"");
    }

    #[test]
    fn names_cannot_end_a_statement() {
        assert_eq!(Table::new("a\"b", "t;--").items(), "\"a\"\"b\".\"t;--\"");
        assert_eq!(literal("it's"), "'it''s'");
    }
}
