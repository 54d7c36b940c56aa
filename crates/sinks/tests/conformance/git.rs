//! Commits on a branch: one file for each row, and one for all.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
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
struct Repository {
    kind: &'static str,
    directory: TempDir,
}

impl Repository {
    fn make(kind: &'static str) -> Opening {
        Box::pin(async move {
            let directory = TempDir::new().map_err(said)?;
            git(directory.path(), &["init", "--quiet", "--bare", "copy.git"])?;
            Ok(Box::new(Self { kind, directory }) as Box<dyn Destination>)
        })
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("copy.git")
    }

    fn tip(&self) -> Option<String> {
        git(&self.path(), &["rev-parse", "--verify", "--quiet", "refs/heads/main"]).ok()
    }

    /// The branch as stock Git checks it out; nothing if there is none.
    fn clone(&self) -> Result<Option<TempDir>, String> {
        if self.tip().is_none() {
            return Ok(None);
        }
        let clone = TempDir::new().map_err(said)?;
        let from = format!("file://{}", self.path().display());
        git(clone.path(), &["clone", "--quiet", "--depth", "1", "--branch", "main", &from, "."])?;
        Ok(Some(clone))
    }

    /// The files that hold rows of an inventory.
    fn files(
        &self,
        clone: &Path,
        cluster: &str,
        inventory: &InventoryKey,
    ) -> Result<Vec<PathBuf>, String> {
        let home = clone.join(cluster);
        match self.kind {
            "git-document" => {
                let file =
                    home.join(&inventory.namespace).join(format!("{}.ndjson", inventory.name));
                Ok(if file.exists() { vec![file] } else { Vec::new() })
            }
            _ => super::file::files_below(&home.join(&inventory.name)).map_err(said),
        }
    }
}

#[async_trait]
impl Destination for Repository {
    fn unit(&self) -> Unit {
        if self.kind == "git-document" { Unit::Document } else { Unit::Rows }
    }

    async fn open(&self, cluster: &str) -> Result<Arc<dyn Sink>, String> {
        Ok(local::open(self.kind, &self.path(), cluster)?.0)
    }

    async fn read(
        &self,
        cluster: &str,
        inventory: &InventoryKey,
    ) -> Result<Option<Vec<Row>>, String> {
        let Some(clone) = self.clone()? else { return Ok(None) };
        let mut lines = Vec::new();
        for file in self.files(clone.path(), cluster, inventory)? {
            lines.extend(fs::read_to_string(file).map_err(said)?.lines().map(str::to_owned));
        }
        let list = format!("[{}]", lines.join(","));
        let mut rows = envelope::decode(list.as_bytes()).map_err(said)?.rows;
        sort(&mut rows);
        Ok(Some(rows))
    }

    async fn tamper(
        &self,
        cluster: &str,
        inventory: &InventoryKey,
        tampering: Tampering,
    ) -> Result<(), String> {
        let clone = self.clone()?.ok_or("there is no branch")?;
        let files = self.files(clone.path(), cluster, inventory)?;
        let file = files.first().ok_or("there is no file")?;
        match tampering {
            Tampering::Delete => fs::remove_file(file).map_err(said)?,
            Tampering::Edit => {
                let text = fs::read_to_string(file).map_err(said)?;
                fs::write(file, text.replace("\"1\"", "\"x\"")).map_err(said)?;
            }
        }
        git(clone.path(), &["commit", "--quiet", "--all", "--message", "by hand"])?;
        git(clone.path(), &["push", "--quiet", "origin", "HEAD:main"])?;
        Ok(())
    }

    async fn fingerprint(&self) -> Result<String, String> {
        let packs = super::file::files_below(&self.path().join("objects")).map_err(said)?;
        Ok(format!("{:?} {packs:?}", self.tip()))
    }

    fn keeps_copies(&self) -> bool {
        true
    }
}

/// Runs stock Git, as nobody in particular.
fn git(directory: &Path, arguments: &[&str]) -> Result<String, String> {
    let who = [("NAME", "Somebody"), ("EMAIL", "somebody@example.org")];
    let who = ["AUTHOR", "COMMITTER"]
        .iter()
        .flat_map(|role| who.map(|(what, value)| (format!("GIT_{role}_{what}"), value)));
    let output = Command::new("git")
        .current_dir(directory)
        .args(arguments)
        .envs(who)
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .output()
        .map_err(said)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(format!("git {arguments:?}: {}", text(&output.stderr)))
    }
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[tokio::test]
async fn a_tree_in_a_repository_on_disk_conforms() {
    conforms(&|| Repository::make("git-tree")).await;
}

#[tokio::test]
async fn a_document_in_a_repository_on_disk_conforms() {
    conforms(&|| Repository::make("git-document")).await;
}

#[tokio::test]
async fn a_bug_in_a_tree_on_a_branch_is_found() {
    finds_every_mutant(&|| Repository::make("git-tree")).await;
}
