//! What a copy costs: the first, one change, and none.

mod postgres;

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, anyhow};
use kollect_sinks::{
    Credentials, Family, FileDestination, FileSink, InventoryKey, LocalPaths, Opener, Receipt,
    Sink, SinkKey, SinkSpec, SqliteDestination, SqliteSink, Unit,
    conformance::{Cluster, Process},
};
use tokio::runtime::Runtime;

use crate::{
    SIZES,
    measure::{Chance, float, print, processor_time, timed},
};

/// Single changes whose mean is taken.
const CHANGES: usize = 50;
/// Attributes of about so many bytes make rows of about 700.
const VALUE: usize = 460;

const SINKS: [&str; 3] = ["sqlite", "file", "git"];

/// Every sink at every size. A million files are left out: they measure the
/// file system.
pub(crate) fn run() -> anyhow::Result<()> {
    postgres::run()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    for sink in SINKS {
        let sizes = SIZES.iter().filter(|(name, _)| sink == "sqlite" || *name != "1m");
        let mut changes = Vec::new();
        for (name, rows) in sizes {
            let receipt = measure(&runtime, sink, (name, *rows))?;
            changes.push((*name, receipt));
        }
        let of = |size: &str| {
            let found = changes.iter().find(|(name, _)| *name == size);
            found.map(|(_, receipt)| receipt).context("a size is missing")
        };
        let (large, small) = (of("100k")?, of("1k")?);
        let ratio = |what: fn(&Receipt) -> u64| number(what(large)) / number(what(small));
        print(&format!("{sink}.change_bytes_ratio_100k_1k"), ratio(|one| one.bytes))?;
        print(&format!("{sink}.change_statements_ratio_100k_1k"), ratio(|one| one.statements))?;
    }
    Ok(())
}

/// One sink at one size; what a single change left behind.
fn measure(runtime: &Runtime, sink: &str, (name, rows): (&str, usize)) -> anyhow::Result<Receipt> {
    let directory = tempfile::tempdir()?;
    let mut chance = Chance::new(7);
    let mut cluster = Cluster::default();
    for object in 0..rows {
        cluster.put(&namespace(object), &format!("object-{object}"), &value(&mut chance));
    }
    let inventory = InventoryKey { namespace: "shop".into(), name: "web".into() };
    let destination = open(sink, &directory.path().join("copy"))?;
    let mut process =
        Process::start(destination, Unit::Rows, &cluster, inventory).map_err(|e| anyhow!(e))?;
    let copy = |process: &mut Process| {
        let (took, outcome) = timed(|| runtime.block_on(process.copy()));
        outcome.map(|()| took).map_err(|error| anyhow!(error))
    };
    let first = copy(&mut process)?;
    print(&format!("{sink}.first_rows_per_s.{name}"), float(rows) / first.as_secs_f64())?;
    print(&format!("{sink}.first_s.{name}"), first.as_secs_f64())?;
    let mut spent = 0.0;
    let before = processor_time();
    for _ in 0..CHANGES {
        let object = chance.below(rows);
        let (namespace, object) = (namespace(object), format!("object-{object}"));
        cluster.put(&namespace, &object, &value(&mut chance));
        process.watch(&cluster, &namespace, &object);
        spent += copy(&mut process)?.as_secs_f64();
    }
    let receipt = process.receipt().context("nothing was written")?;
    let cpu = processor_time() - before;
    print(&format!("{sink}.change_ms.{name}"), spent * 1e3 / float(CHANGES))?;
    print(&format!("{sink}.change_cpu_ms.{name}"), cpu * 1e3 / float(CHANGES))?;
    print(&format!("{sink}.change_bytes.{name}"), number(receipt.bytes))?;
    print(&format!("{sink}.change_statements.{name}"), number(receipt.statements))?;
    let before = files_below(directory.path())?;
    for _ in 0..10 {
        runtime.block_on(process.verify());
    }
    let after = files_below(directory.path())?;
    let changed = after.iter().filter(|file| {
        let known = before.binary_search_by(|other| other.path.cmp(&file.path));
        known.ok().and_then(|at| before.get(at)) != Some(*file)
    });
    let written = changed.map(|file| file.size);
    print(&format!("{sink}.idle_bytes.{name}"), number(written.sum()))?;
    Ok(receipt)
}

fn open(sink: &str, path: &Path) -> anyhow::Result<Arc<dyn Sink>> {
    if sink == "sqlite" {
        return Ok(Arc::new(SqliteSink::new(Arc::new(SqliteDestination::new(path)), "eu-1")));
    }
    if sink == "git" {
        return open_git(path);
    }
    let spec = serde_json::json!({
        "type": "file",
        "file": {"path": "x"},
        "cluster": "eu-1",
        "layout": {"mode": "perResource", "content": "item"},
    });
    let destination = Arc::new(FileDestination::new(path.to_owned()));
    Ok(Arc::new(FileSink::new(destination, serde_json::from_value(spec)?)))
}

/// A bare repository, which is made here: no git binary is needed for it.
fn open_git(path: &Path) -> anyhow::Result<Arc<dyn Sink>> {
    for folder in ["objects/pack", "refs/heads"] {
        fs::create_dir_all(path.join(folder))?;
    }
    fs::write(path.join("HEAD"), "ref: refs/heads/main\n")?;
    fs::write(path.join("config"), "[core]\n\trepositoryformatversion = 0\n\tbare = true\n")?;
    let spec = serde_json::json!({
        "type": "git",
        "endpoint": format!("file://{}", path.display()),
        "cluster": "eu-1",
        "layout": {"mode": "perResource", "content": "item"},
    });
    let spec = SinkSpec::Snapshot(Box::new(serde_json::from_value(spec)?));
    let key = SinkKey { family: Family::Snapshot, namespace: "shop".into(), name: "audit".into() };
    let opener = Opener::new(LocalPaths::Anywhere);
    Ok(opener.open(&key, &spec, &Credentials::default())?)
}

/// A hundred namespaces, so that no directory grows without bound.
fn namespace(object: usize) -> String {
    format!("team-{}", object % 100)
}

/// A text that does not compress away.
fn value(chance: &mut Chance) -> String {
    let pieces: Vec<_> = (0..VALUE / 16).map(|_| format!("{:016x}", chance.next())).collect();
    pieces.concat()
}

/// A file, and what differs when it was written.
#[derive(PartialEq, Eq)]
struct File {
    path: PathBuf,
    inode: u64,
    written: (i64, i64),
    size: u64,
}

/// In the order of their paths.
fn files_below(folder: &Path) -> anyhow::Result<Vec<File>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let about = fs::symlink_metadata(&path)?;
            if about.is_dir() {
                folders.push(path);
            } else {
                let written = (about.mtime(), about.mtime_nsec());
                files.push(File { path, inode: about.ino(), written, size: about.size() });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

#[expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]
fn number(number: u64) -> f64 {
    number as f64
}
