//! The record of an inventory: a row in the table beside the rows.

use kollect_inventory::{
    Content, PartitionKey, TargetKey,
    watermark::{Recorded, Token},
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::Owner;

/// What is recorded of an inventory.
#[derive(Debug, Default)]
pub(super) struct Stored {
    pub(super) recorded: Option<Recorded>,
    /// The schema that the views were last made for.
    pub(super) views: Option<String>,
}

/// A partition as it is recorded: target, and namespace of the objects.
type Partition = (Option<String>, String, String);

pub(super) fn read(connection: &Connection, owner: Owner<'_>) -> Result<Stored, rusqlite::Error> {
    let text = "SELECT writer, sequence, digest, rows, projection, covered, views \
        FROM inventory_items_kollect \
        WHERE inventory_namespace = ?1 AND inventory_name = ?2 AND cluster = ?3";
    let stored = connection.query_row(text, owner.parameters(), stored).optional()?;
    Ok(stored.unwrap_or_default())
}

fn stored(row: &Row<'_>) -> Result<Stored, rusqlite::Error> {
    let (digest, rows): (Option<String>, Option<i64>) = (row.get(2)?, row.get(3)?);
    // What cannot be read equals nothing, and leads to a comparison.
    let content = digest.zip(rows).and_then(|(digest, rows)| {
        Some(Content { rows: rows.try_into().ok()?, digest: digest.parse().ok()? })
    });
    let covered: String = row.get(5)?;
    let covered: Vec<Partition> = serde_json::from_str(&covered).unwrap_or_default();
    let partition = |(target, name, namespace)| PartitionKey {
        target: TargetKey { namespace: target, name },
        namespace,
    };
    let recorded = Recorded {
        token: Token { writer: row.get(0)?, sequence: row.get(1)? },
        content,
        projection: row.get(4)?,
        // A transaction ends or never was.
        dirty: false,
        covered: covered.into_iter().map(partition).collect(),
        missing: Vec::new(),
    };
    Ok(Stored { recorded: Some(recorded), views: row.get(6)? })
}

/// Writes the record; says how many bytes that were.
pub(super) fn write(
    connection: &Connection,
    owner: Owner<'_>,
    recorded: &Recorded,
    at: &str,
) -> Result<u64, rusqlite::Error> {
    let Recorded { token, content, projection, dirty: _, covered, missing: _ } = recorded;
    let partition = |PartitionKey { target, namespace }: &PartitionKey| {
        serde_json::json!([target.namespace, target.name, namespace])
    };
    let covered = covered.iter().map(partition).collect::<serde_json::Value>().to_string();
    let digest = content.map(|content| content.digest.to_string());
    let rows = content.and_then(|content| i64::try_from(content.rows).ok());
    let [namespace, name, cluster] = owner.parameters();
    let text = "INSERT INTO inventory_items_kollect (\
        inventory_namespace, inventory_name, cluster, writer, sequence, digest, rows, projection, \
        covered, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) \
        ON CONFLICT (inventory_namespace, inventory_name, cluster) DO UPDATE SET \
        writer = excluded.writer, sequence = excluded.sequence, digest = excluded.digest, \
        rows = excluded.rows, projection = excluded.projection, covered = excluded.covered, \
        updated_at = excluded.updated_at";
    let numbers = 2 * size_of::<i64>();
    let texts = [namespace, name, cluster, &token.writer, projection, &covered, at];
    let bytes = texts.iter().map(|text| text.len()).sum::<usize>() + numbers;
    connection.execute(
        text,
        params![
            namespace,
            name,
            cluster,
            token.writer,
            token.sequence,
            digest,
            rows,
            projection,
            covered,
            at
        ],
    )?;
    Ok((bytes + digest.map_or(0, |digest| digest.len())) as u64)
}

/// Notes which schema the views are for.
pub(super) fn note_views(
    connection: &Connection,
    owner: Owner<'_>,
    schema: &str,
) -> Result<(), rusqlite::Error> {
    let [namespace, name, cluster] = owner.parameters();
    let text = "UPDATE inventory_items_kollect SET views = ?4 \
        WHERE inventory_namespace = ?1 AND inventory_name = ?2 AND cluster = ?3";
    connection.execute(text, [namespace, name, cluster, schema])?;
    Ok(())
}

pub(super) fn remove(connection: &Connection, owner: Owner<'_>) -> Result<(), rusqlite::Error> {
    let text = "DELETE FROM inventory_items_kollect \
        WHERE inventory_namespace = ?1 AND inventory_name = ?2 AND cluster = ?3";
    connection.execute(text, owner.parameters())?;
    Ok(())
}

/// How many inventories are recorded.
pub(super) fn count(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.query_row("SELECT count(*) FROM inventory_items_kollect", [], |row| row.get(0))
}
