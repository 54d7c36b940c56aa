//! Files that list other files.

use jiff::Timestamp;
use kollect_api::Format;
use kollect_inventory::envelope::SCHEMA_VERSION;
use serde_json::{Value, json};

use super::path::{self, Edition, PathError};
use crate::{
    encode::{self, EncodeError},
    sink::InventoryKey,
};

/// The index of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index<'a> {
    /// How many rows the tree holds.
    pub item_count: usize,
    /// Their contract checksum.
    pub checksum: String,
    /// When the export was made; written in whole seconds.
    pub exported_at: Timestamp,
    /// The name of the cluster, not blank.
    pub cluster: &'a str,
    /// The file of each row, in the order of the rows; each file once.
    pub paths: Vec<&'a str>,
}

impl Index<'_> {
    /// The index as a file.
    pub fn encode(&self, format: Format) -> Result<Vec<u8>, EncodeError> {
        let Self { item_count, checksum, exported_at, cluster, paths } = self;
        let members = [
            ("schemaVersion", json!(SCHEMA_VERSION)),
            ("itemCount", json!(item_count)),
            ("checksum", json!(checksum)),
            ("exportedAt", seconds(*exported_at)),
            ("cluster", json!(cluster)),
            ("paths", json!(paths)),
        ];
        encode::members(&members, format)
    }
}

/// Whether two encoded indexes are the same but for the time of their export,
/// so that the newer need not be written.
pub fn same_but_for_time(recorded: &[u8], fresh: &[u8]) -> bool {
    match (around_time(recorded), around_time(fresh)) {
        (Some(recorded), Some(fresh)) => recorded == fresh,
        _ => recorded == fresh,
    }
}

/// What stands before and behind the time in an index, whatever its format.
fn around_time(index: &[u8]) -> Option<(&[u8], &[u8])> {
    const MARKS: [&[u8]; 3] = [b"exportedAt: \"", b"exportedAt\": \"", b"exportedAt\":\""];
    let starts = |mark: &&[u8]| {
        let at = index.windows(mark.len()).position(|window| window == *mark)?;
        Some(at + mark.len())
    };
    let (front, rest) = index.split_at_checked(MARKS.iter().find_map(starts)?)?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    let (time, back) = rest.split_at_checked(end)?;
    str::from_utf8(time).ok()?.parse::<Timestamp>().ok()?;
    Some((front, back))
}

/// Says that all parts of a set have arrived, and which files they hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetManifest<'a> {
    /// The name of the cluster, not blank.
    pub cluster: &'a str,
    pub edition: &'a Edition,
    pub part_total: usize,
    /// When the export was made; written in whole seconds.
    pub exported_at: Timestamp,
    /// The files of all parts, in any order.
    pub paths: Vec<&'a str>,
}

impl SetManifest<'_> {
    /// Where it goes, whatever the layout.
    pub fn path(&self) -> Result<String, PathError> {
        let InventoryKey { namespace, name } = &self.edition.inventory;
        path::document(&format!("inventory/{namespace}/{name}.manifest.json"))
    }

    /// The manifest as a file; always JSON.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let Self { cluster, edition, part_total, exported_at, paths } = self;
        let Edition { inventory: InventoryKey { namespace, name }, generation } = edition;
        let mut sorted = paths.clone();
        sorted.sort_unstable();
        let members = [
            ("kind", json!("KollectExportSetManifest")),
            ("schemaVersion", json!(SCHEMA_VERSION)),
            ("cluster", json!(cluster)),
            ("namespace", json!(namespace)),
            ("name", json!(name)),
            ("generation", json!(generation)),
            ("partTotal", json!(part_total)),
            ("parts", (1..=*part_total).collect()),
            ("exportedAt", seconds(*exported_at)),
            ("paths", json!(sorted)),
        ];
        encode::members(&members, Format::Json)
    }
}

/// A time in whole seconds.
fn seconds(time: Timestamp) -> Value {
    let whole = Timestamp::from_second(time.as_second()).unwrap_or(time);
    Value::String(whole.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_written_again_only_for_what_it_lists() {
        let index = Index {
            item_count: 1,
            checksum: "c".into(),
            exported_at: Timestamp::UNIX_EPOCH,
            cluster: "exportedAt",
            paths: vec!["a"],
        };
        let later = Index { exported_at: Timestamp::MAX, ..index.clone() };
        let other = Index { paths: vec!["b"], ..index.clone() };
        for format in [Format::Yaml, Format::Json, Format::Ndjson] {
            let [index, later, other] =
                [&index, &later, &other].map(|index| index.encode(format).unwrap());
            assert_ne!(index, later);
            assert!(same_but_for_time(&index, &later), "{format:?}");
            assert!(!same_but_for_time(&index, &other), "{format:?}");
            assert!(!same_but_for_time(b"<<<<<<< HEAD", &index), "{format:?}");
            assert!(!same_but_for_time(b"", &index), "{format:?}");
        }
    }
}
