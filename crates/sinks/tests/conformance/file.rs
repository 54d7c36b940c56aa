//! Files in a directory: one for each row, and one for all.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use kollect_inventory::{Row, envelope, sort};
use kollect_sinks::{
    InventoryKey, Sink, Unit,
    conformance::{Destination, Opening, Tampering},
};
use tempfile::TempDir;

use super::local;
use crate::support::{conforms, finds_every_mutant};

#[derive(Debug)]
struct Directory {
    kind: &'static str,
    directory: TempDir,
}

impl Directory {
    fn make(kind: &'static str) -> Opening {
        Box::pin(async move {
            let directory = TempDir::new().map_err(said)?;
            Ok(Box::new(Self { kind, directory }) as Box<dyn Destination>)
        })
    }

    /// The files that hold rows of an inventory.
    fn files(&self, cluster: &str, inventory: &InventoryKey) -> Result<Vec<PathBuf>, String> {
        let home = self.directory.path().join(cluster);
        match self.kind {
            "document" => {
                let file =
                    home.join(&inventory.namespace).join(format!("{}.ndjson", inventory.name));
                Ok(if file.exists() { vec![file] } else { Vec::new() })
            }
            _ => files_below(&home.join(&inventory.name)).map_err(said),
        }
    }
}

#[async_trait]
impl Destination for Directory {
    fn unit(&self) -> Unit {
        if self.kind == "document" { Unit::Document } else { Unit::Rows }
    }

    async fn open(&self, cluster: &str) -> Result<Arc<dyn Sink>, String> {
        Ok(local::open(self.kind, self.directory.path(), cluster)?.0)
    }

    async fn read(
        &self,
        cluster: &str,
        inventory: &InventoryKey,
    ) -> Result<Option<Vec<Row>>, String> {
        let mut rows = Vec::new();
        for file in self.files(cluster, inventory)? {
            rows.extend(rows_of(&fs::read_to_string(file).map_err(said)?)?);
        }
        sort(&mut rows);
        Ok(Some(rows))
    }

    async fn tamper(
        &self,
        cluster: &str,
        inventory: &InventoryKey,
        tampering: Tampering,
    ) -> Result<(), String> {
        let files = self.files(cluster, inventory)?;
        let file = files.first().ok_or("there is no file")?;
        match tampering {
            Tampering::Delete => fs::remove_file(file).map_err(said),
            Tampering::Edit => {
                let text = fs::read_to_string(file).map_err(said)?;
                fs::write(file, text.replace("\"1\"", "\"x\"")).map_err(said)
            }
        }
    }

    async fn fingerprint(&self) -> Result<String, String> {
        let mut lines = Vec::new();
        for file in files_below(self.directory.path()).map_err(said)? {
            let about = fs::metadata(&file).map_err(said)?;
            let times = (about.mtime(), about.mtime_nsec(), about.ino(), about.size());
            lines.push(format!("{} {times:?}", file.display()));
        }
        Ok(lines.join("\n"))
    }

    fn keeps_copies(&self) -> bool {
        true
    }
}

/// Every file below a folder, in order; the lock is none of the copies.
pub(super) fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files_below(&path)?);
        } else if !path.ends_with(".kollect/.lock") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Reads one row a line.
fn rows_of(lines: &str) -> Result<Vec<Row>, String> {
    let list = format!("[{}]", lines.lines().collect::<Vec<_>>().join(","));
    Ok(envelope::decode(list.as_bytes()).map_err(said)?.rows)
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[tokio::test]
async fn a_tree_of_files_conforms() {
    conforms(&|| Directory::make("tree")).await;
}

#[tokio::test]
async fn a_document_conforms() {
    conforms(&|| Directory::make("document")).await;
}

#[tokio::test]
async fn a_bug_in_a_tree_is_found() {
    finds_every_mutant(&|| Directory::make("tree")).await;
}
