//! Repositories, processes and exports for the tests.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use kollect_inventory::{
    Change, Confines, Content, Digest, PartitionKey, Row, TargetKey, Watermark, envelope, sort,
    watermark::{Expected, Trust},
};
use kollect_sinks::{
    Document, Export, InventoryKey, Patience, Progress, Schema, Sink, Unit,
    conformance::{Cluster, Process},
};
use kollect_testenv::{GitServer, SshServer, git};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::reach::{self, DOCUMENT, Reach, TREE};

/// A bare repository on disk.
pub(super) struct Repository {
    _directory: TempDir,
    pub(super) path: PathBuf,
}

impl Repository {
    pub(super) fn new() -> Self {
        Self::with(&[])
    }

    pub(super) fn with(arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut all = vec!["init", "--quiet", "--bare", "--initial-branch", "main"];
        all.extend(arguments);
        all.push("copy.git");
        git(directory.path(), &all).unwrap();
        let path = directory.path().join("copy.git");
        Self { _directory: directory, path }
    }

    pub(super) fn reach(&self) -> Reach {
        Reach { endpoint: format!("file://{}", self.path.display()), ..Reach::default() }
    }
}

/// How a repository of a server is reached by those who may.
pub(super) fn https(server: &GitServer, name: &str) -> Reach {
    let (user, password) = server.login();
    let secret = [("username", user), ("token", password)];
    let secret = secret.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let tls = json!({"caBundle": BASE64_STANDARD.encode(server.authority())});
    let more = Map::from_iter([("tls".to_owned(), tls)]);
    Reach { endpoint: server.url(name), secret: secret.into(), more }
}

/// The same over ssh.
pub(super) fn ssh(server: &SshServer, name: &str) -> Reach {
    let secret = [("ssh-privatekey", server.key()), ("known_hosts", server.known_hosts())];
    let secret = secret.map(|(key, value)| (key.to_owned(), value));
    Reach { endpoint: server.url(name), secret: secret.into(), more: Map::new() }
}

pub(super) fn with(mut reach: Reach, name: &str, block: Value) -> Reach {
    reach.more.insert(name.to_owned(), block);
    reach
}

/// A process that copies a cluster as a tree.
pub(super) fn process(reach: &Reach, name: &str, cluster: &Cluster) -> Process {
    let sink = reach::open_git(reach, name, TREE).unwrap();
    Process::start(sink, Unit::Rows, cluster, inventory()).unwrap()
}

pub(super) fn document(reach: &Reach) -> Arc<dyn Sink> {
    reach::open_git(reach, "eu-1", DOCUMENT).unwrap()
}

pub(super) fn inventory() -> InventoryKey {
    InventoryKey { namespace: "shop".into(), name: "web".into() }
}

pub(super) fn cluster(objects: usize) -> Cluster {
    let mut cluster = Cluster::default();
    for object in 0..objects {
        cluster.put("shop", &format!("object-{object}"), "1");
    }
    cluster
}

/// The rows of a cluster's tree as a clone by stock Git holds them.
pub(super) fn rows(repository: &Path, cluster: &str) -> Vec<Row> {
    let clone = tempfile::tempdir().unwrap();
    let from = format!("file://{}", repository.display());
    git(clone.path(), &["clone", "--quiet", "--no-checkout", "--branch", "main", &from, "."])
        .unwrap();
    git(clone.path(), &["checkout", "main", "--", cluster]).unwrap();
    let mut lines = Vec::new();
    for file in files_below(&clone.path().join(cluster).join("web")) {
        lines.extend(fs::read_to_string(file).unwrap().lines().map(str::to_owned));
    }
    let mut rows = envelope::decode(format!("[{}]", lines.join(",")).as_bytes()).unwrap().rows;
    sort(&mut rows);
    rows
}

pub(super) fn clone(repository: &Path) -> TempDir {
    let clone = tempfile::tempdir().unwrap();
    let from = format!("file://{}", repository.display());
    git(clone.path(), &["clone", "--quiet", "--branch", "main", &from, "."]).unwrap();
    clone
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let (folders, mut files): (Vec<_>, Vec<_>) =
        entries.map(|entry| entry.unwrap().path()).partition(|path| path.is_dir());
    files.extend(folders.iter().flat_map(|folder| files_below(folder)));
    files
}

/// Somebody commits a file and pushes it, however often others are faster.
pub(super) fn commit_by_hand(repository: &Path, path: &str, text: &str) {
    let clone = clone(repository);
    let file = clone.path().join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
    git(clone.path(), &["add", "--all"]).unwrap();
    git(clone.path(), &["commit", "--quiet", "--message", "by hand"]).unwrap();
    for _ in 0..200 {
        if git(clone.path(), &["push", "--quiet", "origin", "HEAD:main"]).is_ok() {
            return;
        }
        git(clone.path(), &["pull", "--quiet", "--rebase", "origin", "main"]).unwrap();
    }
    panic!("a person could not push for all the others");
}

pub(super) fn tip(repository: &Path) -> String {
    git(repository, &["rev-parse", "refs/heads/main"]).unwrap()
}

/// What Git's own check has to say.
pub(super) fn check(repository: &Path) {
    git(repository, &["fsck", "--strict", "--full", "--no-dangling"]).unwrap();
    assert!(!repository.join("refs/heads/main.lock").exists());
}

/// A first export of these rows.
pub(super) fn export(rows: &[Row]) -> Export {
    let mut sorted = rows.to_vec();
    sort(&mut sorted);
    let digest = rows.iter().fold(Digest::EMPTY, |sum, row| sum.with(row.hash()));
    let target = TargetKey { namespace: Some("shop".into()), name: "things".into() };
    let covered = vec![PartitionKey { target, namespace: "shop".into() }];
    let confines = Confines { covered, settled: true, ..Confines::default() };
    let change = Change::All { rows: sorted.clone(), confines: confines.clone() };
    Export {
        inventory: InventoryKey { namespace: "shop".into(), name: "web-stack".into() },
        generation: 7,
        schema: Arc::new(Schema::default()),
        change: Arc::new(change),
        watermark: Watermark {
            sequence: 1_772_600_767_000_000,
            content: Some(Content { rows: rows.len(), digest }),
        },
        document: Some(Arc::new(Document { rows: sorted, confines })),
        limit: None,
        expected: Expected::Unread,
        writer: "one".into(),
        trust: Trust::Record,
        patience: Patience::IsOver,
        at: "2026-03-04T05:06:07.89Z".parse().unwrap(),
        progress: Progress::default(),
    }
}
