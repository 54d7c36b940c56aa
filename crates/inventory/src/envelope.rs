//! The document that readers of snapshots know.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    digest::checksum,
    json,
    row::{Identity, Row},
};

/// The one version of the document.
pub const SCHEMA_VERSION: &str = "kollect.dev/v1alpha1";

/// Everything in a document beside its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header<'a> {
    /// Generation of the inventory; zero is left out.
    pub generation: i64,
    /// Which part of how many, both from one.
    pub part: Option<(usize, usize)>,
    /// When the export was made.
    pub exported_at: Timestamp,
    /// The cluster that the rows are from; empty is left out.
    pub cluster: Cow<'a, str>,
}

/// Writes a document. The rows must be in canonical order.
pub fn encode(header: &Header<'_>, rows: &[Row]) -> Vec<u8> {
    let size: usize = rows.iter().map(|row| row.as_json().len() + 1).sum();
    let mut out = Vec::with_capacity(320 + size);
    write_front(header, &checksum(rows), rows.len(), &mut out);
    for (at, row) in rows.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(row.as_json());
    }
    out.extend_from_slice(b"]}");
    out
}

/// Everything up to the opening bracket of the rows.
pub(crate) fn write_front(header: &Header<'_>, checksum: &str, count: usize, out: &mut Vec<u8>) {
    let Header { generation, part, exported_at, cluster } = header;
    let mut text = format!("{{\"schemaVersion\":\"{SCHEMA_VERSION}\",\"checksum\":\"{checksum}\"");
    if *generation != 0 {
        text = format!("{text},\"generation\":{generation}");
    }
    if let Some((index, total)) = part {
        text = format!("{text},\"partIndex\":{index},\"partTotal\":{total}");
    }
    text = format!("{text},\"itemCount\":{count},\"exportedAt\":\"{exported_at}\"");
    out.extend_from_slice(text.as_bytes());
    if !cluster.is_empty() {
        out.extend_from_slice(b",\"cluster\":");
        json::write_text(cluster, out);
    }
    out.extend_from_slice(b",\"items\":[");
}

/// Why a document cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// It is not JSON, or lacks what a document must have.
    #[error("the document is malformed")]
    Malformed(#[source] serde_json::Error),
    /// It is of a version that we do not know.
    #[error("the document has schemaVersion {0:?}, and only {SCHEMA_VERSION:?} is known")]
    Version(String),
}

/// A document that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    pub header: Header<'static>,
    /// In the order of the document.
    pub rows: Vec<Row>,
}

/// Reads a document. A bare list of rows is taken too, and nothing, `null` and
/// `[]` hold no rows.
pub fn decode(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    if bytes.trim_ascii().is_empty() {
        return Ok(Decoded::default());
    }
    match serde_json::from_slice(bytes).map_err(DecodeError::Malformed)? {
        Value::Null => Ok(Decoded::default()),
        list @ Value::Array(_) => Ok(Decoded { rows: rows(list)?, ..Decoded::default() }),
        document => {
            let document = Document::deserialize(document).map_err(DecodeError::Malformed)?;
            if document.schema_version != SCHEMA_VERSION {
                return Err(DecodeError::Version(document.schema_version));
            }
            let header = Header {
                generation: document.generation,
                part: document.part_index.zip(document.part_total),
                exported_at: document.exported_at,
                cluster: document.cluster.into(),
            };
            Ok(Decoded { header, rows: rows(document.items)? })
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    schema_version: String,
    #[serde(default)]
    generation: i64,
    part_index: Option<usize>,
    part_total: Option<usize>,
    #[serde(default)]
    exported_at: Timestamp,
    #[serde(default)]
    cluster: String,
    #[serde(default)]
    items: Value,
}

fn rows(items: Value) -> Result<Vec<Row>, DecodeError> {
    let Value::Array(items) = items else { return Ok(Vec::new()) };
    let row = |mut item: Value| {
        let attributes = item.get_mut("attributes").map(Value::take).unwrap_or_default();
        let identity = Identity::deserialize(&item).map_err(DecodeError::Malformed)?;
        Ok(Row::of_value(&identity, &attributes))
    };
    items.into_iter().map(row).collect()
}
