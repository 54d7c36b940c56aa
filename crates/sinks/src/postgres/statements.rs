//! What is said to the server.
//!
//! The first three parameters of every statement are namespace and name of
//! the inventory and the cluster; where a fourth is a time, it is that of the
//! export.

use super::layout::{Key, Table};

/// Which statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Text {
    /// A small change: rows, deletes and the record, if that is as expected.
    Delta,
    /// The same where there is no place for a record.
    DeltaAlone,
    /// The record.
    Read,
    /// The record, which nobody else can write until we are done.
    ReadToWrite,
    /// Writes the record.
    Record,
    /// Removes the record.
    Forget,
    /// Whether nothing of the inventory is stored.
    IsEmpty,
    /// Writes rows where there are none.
    Fill,
    /// Writes those of the staged rows that differ from what is stored.
    Merge,
    /// Staged rows that another cluster has under the same key.
    Foreign,
    /// Remembers the keys of the staged rows.
    KeepStaged,
    /// Remembers other keys.
    Keep,
    /// Deletes by key.
    Delete,
    /// Where the rows are whose keys are not remembered.
    Places,
    /// The same within some partitions.
    PlacesWithin,
    /// Deletes those of them that are in the given places.
    Prune,
    /// Deletes every row of the inventory.
    RemoveAll,
}

/// Where rows are staged; both live as long as the connection, and are empty
/// after every transaction.
pub(super) const STAGES: &str = "CREATE TEMPORARY TABLE IF NOT EXISTS kollect_rows (\
    target_name text, source_uid text, resource_namespace text, payload jsonb) \
    ON COMMIT DELETE ROWS; \
    CREATE TEMPORARY TABLE IF NOT EXISTS kollect_keys (target_name text, source_uid text) \
    ON COMMIT DELETE ROWS";

/// How rows are staged.
pub(super) const STAGE: &str = "COPY pg_temp.kollect_rows FROM STDIN (FORMAT BINARY)";

/// The statements for one table.
#[derive(Debug)]
pub(super) struct Texts {
    items: String,
    records: String,
    key: Key,
}

const OWNER: &str = "inventory_namespace = $1 AND inventory_name = $2 AND cluster = $3";

const COLUMNS: &str = "inventory_namespace, inventory_name, target_name, source_uid, cluster, \
    resource_namespace, payload, exported_at";

impl Texts {
    pub(super) fn new(table: &Table, key: Key) -> Self {
        Self { items: table.items(), records: table.records(), key }
    }

    pub(super) fn get(&self, text: Text) -> String {
        let Self { items, records, .. } = self;
        match text {
            Text::Delta => self.delta(),
            Text::DeltaAlone => self.delta_alone(),
            Text::Read => self.read(""),
            Text::ReadToWrite => self.read("FOR UPDATE"),
            Text::Record => self.record(),
            Text::Forget => format!("DELETE FROM {records} WHERE {OWNER}"),
            Text::IsEmpty => format!("SELECT NOT EXISTS (SELECT FROM {items} WHERE {OWNER})"),
            Text::Fill => format!("COPY {items} ({COLUMNS}) FROM STDIN (FORMAT BINARY)"),
            Text::Merge => self.merge(),
            Text::Foreign => self.foreign(),
            Text::KeepStaged => "INSERT INTO pg_temp.kollect_keys \
                SELECT target_name, source_uid FROM pg_temp.kollect_rows"
                .to_owned(),
            Text::Keep => "INSERT INTO pg_temp.kollect_keys \
                SELECT * FROM unnest($1::text[], $2::text[])"
                .to_owned(),
            Text::Delete => self.delete("true", "$4::text[], $5::text[]"),
            Text::Places => self.places(""),
            Text::PlacesWithin => self.places(
                "AND (item.target_name, item.resource_namespace) IN \
                (SELECT * FROM unnest($4::text[], $5::text[]))",
            ),
            Text::Prune => self.prune(),
            Text::RemoveAll => format!("DELETE FROM {items} WHERE {OWNER}"),
        }
    }

    fn delta(&self) -> String {
        let Self { records, .. } = self;
        let unopposed = match self.key {
            Key::WithCluster => String::new(),
            Key::Plain => format!("AND NOT {}", self.opposed()),
        };
        let gone = self.delete("EXISTS (SELECT FROM moved)", "$14::text[], $15::text[]");
        let put = self.upsert("wanted WHERE EXISTS (SELECT FROM moved)");
        format!(
            "WITH wanted AS ({WANTED}), \
            moved AS (UPDATE {records} SET writer = $5, sequence = $6, digest = $7, rows = $8, \
            updated_at = $4 WHERE {OWNER} AND projection = $9 AND writer = $16 AND sequence = $17 \
            {unopposed} RETURNING views), \
            gone AS ({gone} RETURNING 1), \
            put AS ({put} RETURNING 1) \
            SELECT (SELECT count(*) FROM moved), (SELECT count(*) FROM put), \
            (SELECT count(*) FROM gone), (SELECT views->>'schema' FROM moved)"
        )
    }

    fn delta_alone(&self) -> String {
        let unopposed = match self.key {
            Key::WithCluster => "SELECT 1".to_owned(),
            Key::Plain => format!("SELECT 1 WHERE NOT {}", self.opposed()),
        };
        let gone = self.delete("EXISTS (SELECT FROM moved)", "$9::text[], $10::text[]");
        let put = self.upsert("wanted WHERE EXISTS (SELECT FROM moved)");
        let wanted = WANTED
            .replace("$10", "$5")
            .replace("$11", "$6")
            .replace("$12", "$7")
            .replace("$13", "$8");
        format!(
            "WITH wanted AS ({wanted}), moved AS ({unopposed}), \
            gone AS ({gone} RETURNING 1), put AS ({put} RETURNING 1) \
            SELECT (SELECT count(*) FROM moved), (SELECT count(*) FROM put), \
            (SELECT count(*) FROM gone), NULL::text"
        )
    }

    /// Whether another cluster has one of the rows; looked up by the whole key,
    /// with `OFFSET 0` as in a merge.
    fn opposed(&self) -> String {
        format!(
            "EXISTS (SELECT FROM wanted CROSS JOIN LATERAL (SELECT item.cluster FROM {} AS item \
            WHERE {} OFFSET 0) AS item WHERE item.cluster <> $3)",
            self.items,
            self.same("wanted")
        )
    }

    fn read(&self, lock: &str) -> String {
        format!(
            "SELECT writer, sequence, digest, rows, projection, views->>'schema' \
            FROM {} WHERE {OWNER} {lock}",
            self.records
        )
    }

    fn record(&self) -> String {
        format!(
            "INSERT INTO {} AS record (inventory_namespace, inventory_name, cluster, updated_at, \
            writer, sequence, digest, rows, projection) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
            ON CONFLICT (inventory_namespace, inventory_name, cluster) DO UPDATE SET \
            writer = excluded.writer, sequence = excluded.sequence, digest = excluded.digest, \
            rows = excluded.rows, projection = excluded.projection, \
            updated_at = excluded.updated_at",
            self.records
        )
    }

    /// To look first keeps rows that are as they should be from being touched:
    /// a conflict locks the row that it meets, even if nothing is then changed.
    /// `OFFSET 0` makes it a look by the whole key for each row, whatever the
    /// server believes of a table that was empty a moment ago.
    fn merge(&self) -> String {
        let ours = match self.key {
            Key::WithCluster => "",
            Key::Plain => "AND item.cluster = $3",
        };
        self.upsert(&format!(
            "pg_temp.kollect_rows AS wanted \
            LEFT JOIN LATERAL (SELECT * FROM {} AS item WHERE {} OFFSET 0) AS item ON true \
            WHERE item.source_uid IS NULL OR ((item.payload IS DISTINCT FROM wanted.payload \
            OR item.resource_namespace IS DISTINCT FROM wanted.resource_namespace) {ours})",
            self.items,
            self.same("wanted"),
        ))
    }

    fn foreign(&self) -> String {
        format!(
            "SELECT wanted.target_name, wanted.source_uid, item.cluster \
            FROM pg_temp.kollect_rows AS wanted \
            CROSS JOIN LATERAL (SELECT * FROM {} AS item WHERE {} OFFSET 0) AS item \
            WHERE item.cluster <> $3",
            self.items,
            self.same("wanted"),
        )
    }

    /// Inserts what is selected from a source of wanted rows.
    fn upsert(&self, source: &str) -> String {
        let (conflict, ours) = match self.key {
            Key::WithCluster => (", cluster", ""),
            Key::Plain => ("", "AND item_.cluster = excluded.cluster"),
        };
        format!(
            "INSERT INTO {} AS item_ ({COLUMNS}) \
            SELECT $1, $2, wanted.target_name, wanted.source_uid, $3, wanted.resource_namespace, \
            wanted.payload, $4 FROM {source} \
            ON CONFLICT (inventory_namespace, inventory_name, target_name, source_uid{conflict}) \
            DO UPDATE SET payload = excluded.payload, \
            resource_namespace = excluded.resource_namespace, exported_at = excluded.exported_at \
            WHERE (item_.payload IS DISTINCT FROM excluded.payload \
            OR item_.resource_namespace IS DISTINCT FROM excluded.resource_namespace) {ours}",
            self.items
        )
    }

    /// Rows are found one by one by the whole key, as in a merge, and deleted
    /// where they were found: joined with a list of keys, a server that knows
    /// nothing of the table yet reads every row of the inventory to delete none.
    fn delete(&self, condition: &str, keys: &str) -> String {
        format!(
            "DELETE FROM {items} AS item USING unnest({keys}) AS gone_ (target, uid), \
            LATERAL (SELECT tableoid, ctid FROM {items} WHERE {OWNER} \
            AND target_name = gone_.target AND source_uid = gone_.uid OFFSET 0) AS old \
            WHERE {condition} AND item.ctid = old.ctid AND item.tableoid = old.tableoid",
            items = self.items
        )
    }

    fn places(&self, within: &str) -> String {
        format!(
            "SELECT DISTINCT {PLACE} FROM {} AS item WHERE {OWNER} {within} AND {SURPLUS}",
            self.items
        )
    }

    fn prune(&self) -> String {
        format!(
            "DELETE FROM {} AS item USING unnest($4::text[], $5::text[], $6::text[], $7::text[], \
            $8::text[]) AS place (a, b, c, d, e) WHERE {OWNER} AND {SURPLUS} \
            AND item.target_name = place.d AND item.resource_namespace = place.e \
            AND item.payload->>'targetNamespace' IS NOT DISTINCT FROM place.a \
            AND item.payload->>'targetName' IS NOT DISTINCT FROM place.b \
            AND item.payload->>'namespace' IS NOT DISTINCT FROM place.c",
            self.items
        )
    }

    /// What makes a stored row and a wanted one the same.
    fn same(&self, wanted: &str) -> String {
        let cluster = match self.key {
            Key::WithCluster => " AND item.cluster = $3",
            Key::Plain => "",
        };
        format!(
            "item.inventory_namespace = $1 AND item.inventory_name = $2 \
            AND item.target_name = {wanted}.target_name \
            AND item.source_uid = {wanted}.source_uid{cluster}"
        )
    }
}

const WANTED: &str = "SELECT * FROM unnest($10::text[], $11::text[], $12::text[], $13::jsonb[]) \
    AS one (target_name, source_uid, resource_namespace, payload)";

/// Where a row says that it is, and where its columns say so.
const PLACE: &str = "item.payload->>'targetNamespace', item.payload->>'targetName', \
    item.payload->>'namespace', item.target_name, item.resource_namespace";

const SURPLUS: &str = "NOT EXISTS (SELECT FROM pg_temp.kollect_keys AS kept \
    WHERE kept.target_name = item.target_name AND kept.source_uid = item.source_uid)";
