//! The record of an inventory: a row in the table beside the rows.

use kollect_inventory::{
    Content,
    watermark::{Recorded, Token},
};
use tokio_postgres::Row;

use super::{Owner, connect::Session, error::Fault, statements::Text};
use std::time::SystemTime;

/// What is recorded of an inventory.
#[derive(Debug, Default)]
pub(super) struct Stored {
    pub(super) recorded: Option<Recorded>,
    /// The schema that the views were last made for.
    pub(super) views: Option<String>,
}

/// A record as the statements take it.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) writer: String,
    pub(super) sequence: i64,
    pub(super) digest: Option<String>,
    pub(super) rows: Option<i64>,
    pub(super) projection: String,
}

impl Columns {
    pub(super) fn of(recorded: &Recorded) -> Self {
        Self {
            writer: recorded.token.writer.clone(),
            sequence: recorded.token.sequence,
            digest: recorded.content.map(|content| content.digest.to_string()),
            rows: recorded.content.and_then(|content| i64::try_from(content.rows).ok()),
            projection: recorded.projection.clone(),
        }
    }
}

/// Reads the record.
pub(super) async fn read(
    session: &mut Session,
    owner: Owner<'_>,
    text: Text,
) -> Result<Stored, Fault> {
    let statement = session.prepare(text).await?;
    session.statements += 1;
    let Owner { namespace, name, cluster } = owner;
    let row = session.client.query_opt(&statement, &[&namespace, &name, &cluster]).await?;
    row.map_or_else(|| Ok(Stored::default()), |row| stored(&row))
}

fn stored(row: &Row) -> Result<Stored, Fault> {
    let (digest, rows): (Option<&str>, Option<i64>) = (row.try_get(2)?, row.try_get(3)?);
    // What cannot be read equals nothing, and leads to a comparison.
    let content = digest.zip(rows).and_then(|(digest, rows)| {
        Some(Content { rows: rows.try_into().ok()?, digest: digest.parse().ok()? })
    });
    let recorded = Recorded {
        token: Token { writer: row.try_get(0)?, sequence: row.try_get(1)? },
        content,
        projection: row.try_get(4)?,
        // A transaction ends or never was.
        dirty: false,
        covered: Vec::new(),
        missing: Vec::new(),
    };
    Ok(Stored { recorded: Some(recorded), views: row.try_get(5)? })
}

/// Writes the record.
pub(super) async fn write(
    session: &mut Session,
    owner: Owner<'_>,
    recorded: &Recorded,
    at: SystemTime,
) -> Result<(), Fault> {
    let statement = session.prepare(Text::Record).await?;
    session.statements += 1;
    let Owner { namespace, name, cluster } = owner;
    let Columns { writer, sequence, digest, rows, projection } = Columns::of(recorded);
    session
        .client
        .execute(
            &statement,
            &[&namespace, &name, &cluster, &at, &writer, &sequence, &digest, &rows, &projection],
        )
        .await?;
    Ok(())
}
