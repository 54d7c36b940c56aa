//! The watermark of an inventory as a file.
//!
//! It is one line of JSON. `writer` and `sequence` are the token; `digest` and
//! `rows` say what the copy holds, and are absent when it is not exactly the
//! view; `projection` stands for everything else that decides the bytes;
//! `dirty` is true while an export is under way. Documents also have
//! `covered`, the partitions that they hold, and `missing`, those that could
//! not be read, each with `since`. A partition is its target's `namespace`
//! (absent for cluster targets) and `target`, and the `within` of its objects.

use jiff::Timestamp;
use kollect_inventory::{
    Content, PartitionKey, TargetKey,
    watermark::{Missing, Recorded, Token},
};
use serde::{Deserialize, Serialize};

/// The name of the file.
pub(crate) const NAME: &str = "watermark";

#[derive(Serialize, Deserialize)]
struct Record {
    writer: String,
    sequence: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<usize>,
    projection: String,
    dirty: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    covered: Vec<Partition>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missing: Vec<Absent>,
}

#[derive(Serialize, Deserialize)]
struct Partition {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    target: String,
    within: String,
}

#[derive(Serialize, Deserialize)]
struct Absent {
    #[serde(flatten)]
    partition: Partition,
    since: Timestamp,
}

/// Writes a record.
pub(super) fn encode(recorded: &Recorded) -> Result<Vec<u8>, serde_json::Error> {
    let Recorded { token, content, projection, dirty, covered, missing } = recorded;
    let absent = |Missing { partition, since }: &_| Absent {
        partition: Partition::of(partition),
        since: *since,
    };
    let record = Record {
        writer: token.writer.clone(),
        sequence: token.sequence,
        digest: content.map(|content| content.digest.to_string()),
        rows: content.map(|content| content.rows),
        projection: projection.clone(),
        dirty: *dirty,
        covered: covered.iter().map(Partition::of).collect(),
        missing: missing.iter().map(absent).collect(),
    };
    let mut line = serde_json::to_vec(&record)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads a record, unless it is none. A digest that is none is left out, which
/// means that the copy will be compared.
pub(crate) fn decode(bytes: &[u8]) -> Option<Recorded> {
    let record: Record = serde_json::from_slice(bytes).ok()?;
    let digest = record.digest.and_then(|digest| digest.parse().ok());
    let missing = |Absent { partition, since }| Missing { partition: partition.key(), since };
    Some(Recorded {
        token: Token { writer: record.writer, sequence: record.sequence },
        content: digest.zip(record.rows).map(|(digest, rows)| Content { rows, digest }),
        projection: record.projection,
        dirty: record.dirty,
        covered: record.covered.into_iter().map(Partition::key).collect(),
        missing: record.missing.into_iter().map(missing).collect(),
    })
}

impl Partition {
    fn of(key: &PartitionKey) -> Self {
        let PartitionKey { target: TargetKey { namespace, name }, namespace: within } = key.clone();
        Self { namespace, target: name, within }
    }

    fn key(self) -> PartitionKey {
        let Self { namespace, target: name, within } = self;
        PartitionKey { target: TargetKey { namespace, name }, namespace: within }
    }
}
