//! Directories, pairs and exports for the tests.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use kollect_inventory::{
    Change, Confines, Content, Dedupe, Digest, Freshness, Identity, PartitionKey, Row, Store,
    Sweep, TargetKey, Tombstone, Watermark, sort,
    watermark::{Expected, Trust},
};
use kollect_sinks::{
    Document, Export, Farewell, FileDestination, FileSink, InventoryKey, Patience, Progress,
    Receipt, Schema, Sink as _, SinkError,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A directory that copies are written to.
pub(super) struct Directory {
    root: PathBuf,
    destination: Arc<FileDestination>,
    _made: Option<TempDir>,
}

impl Directory {
    pub(super) fn new() -> Self {
        let made = tempfile::tempdir().unwrap();
        let root = made.path().to_owned();
        Self { _made: Some(made), ..Self::at(root) }
    }

    pub(super) fn at(root: PathBuf) -> Self {
        let destination = Arc::new(FileDestination::new(root.clone()));
        Self { root, destination, _made: None }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Everything but the watermarks and what stands for the lock.
    pub(super) fn contents(&self) -> BTreeMap<String, String> {
        let files = walk(&self.root, &self.root);
        let kept = files.into_iter().filter(|path| !path.ends_with("/watermark"));
        kept.map(|path| (path.clone(), self.read(&path))).collect()
    }

    /// What would change if a file were touched.
    pub(super) fn stamp(&self, path: &str) -> (i64, i64, u64) {
        let found = fs::symlink_metadata(self.path(path)).unwrap();
        (found.mtime(), found.mtime_nsec(), found.ino())
    }

    pub(super) fn stamps(&self) -> Vec<(String, (i64, i64, u64))> {
        let files = walk(&self.root, &self.root);
        files.into_iter().map(|path| (path.clone(), self.stamp(&path))).collect()
    }

    /// Does what an export does up to a step on the way to another state.
    pub(super) fn advance(&self, after: &Self, steps: usize) {
        let (before, then) = (self.contents(), after.contents());
        let ours = |path: &str| path.starts_with(".kollect");
        let watermark = ".kollect/eu-1/shop/web/watermark";
        if steps >= 1 {
            self.write(watermark, &self.read(watermark).replace(":false", ":true"));
        }
        if steps >= 2 {
            for (path, lines) in then.iter().filter(|(path, _)| ours(path)) {
                let mut union: Vec<_> = lines.lines().collect();
                union.extend(before.get(path).into_iter().flat_map(|lines| lines.lines()));
                union.sort_unstable();
                union.dedup();
                self.write(path, &(union.join("\n") + "\n"));
            }
        }
        let written = then.iter().filter(|(path, _)| !ours(path));
        let written: Vec<_> =
            written.filter(|(path, text)| before.get(*path) != Some(text)).collect();
        let count = match steps {
            0..=2 => 0,
            3 => 1,
            _ => written.len(),
        };
        for (path, text) in written.into_iter().take(count) {
            self.write(path, text);
        }
        let gone = |path: &&String| !then.contains_key(*path);
        if steps >= 5 {
            for path in before.keys().filter(gone).filter(|path| !ours(path)) {
                fs::remove_file(self.path(path)).unwrap();
            }
        }
        if steps >= 6 {
            for path in before.keys().filter(gone).filter(|path| ours(path)) {
                fs::remove_file(self.path(path)).unwrap();
            }
            for (path, lines) in then.iter().filter(|(path, _)| ours(path)) {
                self.write(path, lines);
            }
        }
    }
}

fn walk(folder: &Path, root: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            paths.extend(walk(&entry.path(), root));
        } else {
            paths.push(entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        }
    }
    paths.retain(|path| path != ".kollect/.lock");
    paths.sort();
    paths
}

/// The files that are not our own.
pub(super) fn files(directory: &Directory) -> Vec<String> {
    let mut files = walk(&directory.root, &directory.root);
    files.retain(|path| !path.starts_with(".kollect/"));
    files
}

/// One inventory in one process.
pub(super) struct Pair {
    pub(super) sink: FileSink,
    inventory: InventoryKey,
    pub(super) writer: Arc<str>,
    pub(super) sequence: i64,
    pub(super) expected: Expected,
    pub(super) rows: Vec<Row>,
}

impl Pair {
    pub(super) fn new(directory: &Directory, name: &str, settings: Value) -> Self {
        static PROCESSES: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(1);
        let process = PROCESSES.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut spec = json!({"type": "file", "file": {"path": "/x"}, "cluster": "eu-1"});
        spec.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        let spec = serde_json::from_value(spec).unwrap();
        Self {
            sink: FileSink::new(Arc::clone(&directory.destination), spec),
            inventory: InventoryKey { namespace: "shop".into(), name: name.into() },
            writer: format!("writer-{process:06}").into(),
            sequence: 1_000_000_000_000 + 1_000_000 * process,
            expected: Expected::Unread,
            rows: Vec::new(),
        }
    }

    pub(super) fn export(&mut self, change: Change) -> Result<Receipt, SinkError> {
        let mut export = export(&self.inventory.name, change);
        if matches!(*export.change, Change::Since { .. }) {
            let rows = self.rows.clone();
            set_rows(&mut export, &rows, &["gone", "mail", "shop"], &[]);
        }
        self.run(export)
    }

    pub(super) fn run(&mut self, mut export: Export) -> Result<Receipt, SinkError> {
        let verifies = export.change.is_empty();
        export.inventory = self.inventory.clone();
        export.writer = Arc::clone(&self.writer);
        export.expected = self.expected.clone();
        self.sequence += i64::from(!verifies);
        export.watermark.sequence = self.sequence;
        let receipt = block_on(self.sink.export(&export))?;
        self.expected = receipt.token.clone().map_or(Expected::Nothing, Expected::Token);
        Ok(receipt)
    }

    pub(super) fn retire(&self, farewell: Farewell) -> Result<Receipt, SinkError> {
        block_on(self.sink.retire(&self.inventory, farewell))
    }
}

pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(future)
}

pub(super) fn tree() -> Value {
    json!({"layout": {"mode": "perResource", "content": "attributes"}})
}

pub(super) fn document(format: &str) -> Value {
    json!({"layout": {"mode": "document"}, "serialization": {"format": format}})
}

pub(super) fn row(namespace: &str, name: &str, value: i64) -> Row {
    attributes(namespace, name, &json!({ "value": value }))
}

pub(super) fn attributes(namespace: &str, name: &str, attributes: &Value) -> Row {
    let identity = Identity {
        target_namespace: namespace.into(),
        target_name: "pods".into(),
        namespace: namespace.into(),
        name: name.into(),
        uid: format!("{namespace}-{name}").into(),
        group: "".into(),
        version: "v1".into(),
        kind: "Pod".into(),
    };
    Row::of_value(&identity, attributes)
}

pub(super) fn partition(namespace: &str) -> PartitionKey {
    let target = TargetKey { namespace: Some(namespace.into()), name: "pods".into() };
    PartitionKey { target, namespace: namespace.into() }
}

fn confines(covered: &[&str], uncovered: &[&str], settled: bool) -> Confines {
    let keys = |names: &[&str]| names.iter().map(|name| partition(name)).collect();
    let (covered, uncovered) = (keys(covered), keys(uncovered));
    Confines { covered, uncovered, settled, ..Confines::default() }
}

/// A comparison with all rows of a view that is known in full.
pub(super) fn all(rows: &[Row]) -> Change {
    confined(rows, &["gone", "mail", "shop"], &[], true)
}

pub(super) fn confined(
    rows: &[Row],
    covered: &[&str],
    uncovered: &[&str],
    settled: bool,
) -> Change {
    Change::All { rows: rows.to_vec(), confines: confines(covered, uncovered, settled) }
}

pub(super) fn since(rows: &[Row]) -> Change {
    Change::Since { upserts: rows.to_vec(), deletes: vec![], partitions: vec![] }
}

/// What is left of rows once they are gone.
pub(super) fn tombstones(rows: &[Row]) -> Vec<Tombstone> {
    let mut store = Store::new(1);
    let view = store.add_view(Dedupe::KeepAll);
    let inside = store.join(&partition(&rows[0].identity().namespace));
    store.attach(view, inside);
    store.settle(view);
    let list = store.begin_list(inside);
    let freshness = |version| Freshness { list, version };
    for row in rows {
        store.upsert(inside, freshness(1), row);
    }
    store.end_list(inside, list, Sweep::Yes);
    let cursor = store.open_cursor(view);
    let batch = store.gather(cursor, usize::MAX).unwrap();
    store.acknowledge(cursor, batch.ticket);
    for row in rows {
        store.delete(inside, freshness(2), &row.identity().name);
    }
    match store.gather(cursor, usize::MAX).unwrap().change {
        Change::Since { deletes, .. } => deletes,
        Change::All { .. } => panic!("the cursor was lost"),
    }
}

pub(super) fn export(name: &str, change: Change) -> Export {
    let rows = match &change {
        Change::All { rows, .. } => rows.clone(),
        Change::Since { upserts, .. } => upserts.clone(),
    };
    let (covered, uncovered) = match &change {
        Change::All { confines, .. } => (confines.covered.clone(), confines.uncovered.clone()),
        Change::Since { .. } => (vec![], vec![]),
    };
    let digest = rows.iter().fold(Digest::EMPTY, |sum, row| sum.with(row.hash()));
    let content = Some(Content { rows: rows.len(), digest }).filter(|_| uncovered.is_empty());
    let confines = Confines { covered, uncovered, settled: true, ..Confines::default() };
    let mut sorted = rows;
    sort(&mut sorted);
    Export {
        inventory: InventoryKey { namespace: "shop".into(), name: name.into() },
        generation: 7,
        schema: Arc::new(Schema::default()),
        change: Arc::new(change),
        watermark: Watermark { sequence: 0, content },
        document: Some(Arc::new(Document { rows: sorted, confines })),
        limit: None,
        expected: Expected::Unread,
        writer: "".into(),
        trust: Trust::Record,
        patience: Patience::IsOver,
        at: "2026-01-01T00:00:00Z".parse().unwrap(),
        progress: Progress::default(),
    }
}

/// Says what the whole view holds.
pub(super) fn set_rows(export: &mut Export, rows: &[Row], covered: &[&str], uncovered: &[&str]) {
    let mut rows = rows.to_vec();
    sort(&mut rows);
    let digest = rows.iter().fold(Digest::EMPTY, |sum, row| sum.with(row.hash()));
    let content = Content { rows: rows.len(), digest };
    export.watermark.content = Some(content).filter(|_| uncovered.is_empty());
    let confines = confines(covered, uncovered, true);
    export.document = Some(Arc::new(Document { rows, confines }));
}

/// Says what is known of a view that is not settled.
pub(super) fn set_confines(export: &mut Export, rows: &[Row], covered: &[&str], settled: bool) {
    export.watermark.content = None;
    let confines = confines(covered, &[], settled);
    export.document = Some(Arc::new(Document { rows: rows.to_vec(), confines }));
}
