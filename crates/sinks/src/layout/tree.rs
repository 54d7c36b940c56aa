//! A tree of files, one for each row, kept up to date change by change.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Bound,
    sync::Arc,
};

use jiff::Timestamp;
use kollect_inventory::{Digest, Identity, Place, Row, digest, sort};
use sha2::{Digest as _, Sha256};

use super::{
    Layout,
    manifest::Index,
    ownership::Line,
    path::{Edition, PathError, short_hash},
};
use crate::encode::{self, EncodeError};

/// What to do to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOp {
    /// Relative, with slashes.
    pub path: String,
    /// What the file holds from now on; nothing if it goes.
    pub content: Option<Vec<u8>>,
}

/// What a change of rows means for the files.
#[derive(Debug, Default)]
pub struct Applied {
    /// Files that go, then files that are written, each in the order of their
    /// paths.
    pub files: Vec<FileOp>,
    /// Which partitions came to name which paths.
    pub gained: Vec<Line>,
    /// Which partitions ceased to.
    pub lost: Vec<Line>,
    /// Rows that can have no file. An older file of theirs goes, because a
    /// stale one looks exactly like a fresh one.
    pub refused: Vec<Refused>,
    /// How many rows were encoded. It follows the change, not the tree.
    pub visited: usize,
}

/// A row that can have no file.
#[derive(Debug)]
pub struct Refused {
    pub identity: Identity<'static>,
    pub reason: RefusedBecause,
}

/// Why a row can have no file.
#[derive(Debug, thiserror::Error)]
pub enum RefusedBecause {
    #[error("the row has no usable path")]
    Path(#[from] PathError),
    #[error("the row cannot be encoded")]
    Content(#[from] EncodeError),
}

/// The files of one inventory at one destination.
///
/// Rows that ask for the same path share the file if it would hold the same.
/// Otherwise all of them get a suffix made of group, version and uid. Rows for
/// which even that is the same path, as of one object in two targets, or the
/// path that somebody has without a suffix, get a longer one made of their
/// whole identity. The outcome depends on the rows that are there and not on
/// the order in which they came.
#[derive(Debug)]
pub struct Tree {
    layout: Layout,
    edition: Edition,
    /// The path of the index, which no row may have.
    index: Option<String>,
    /// Where each row asked to go.
    places: BTreeMap<Key, Arc<str>>,
    /// The rows that asked for each path.
    slots: HashMap<Arc<str>, Slot>,
    /// Suffixed paths that colliding rows have or would have, and what they
    /// asked for.
    wanted: HashMap<String, Arc<str>>,
}

/// Names a row: its target, namespace, name and uid.
type Key = Arc<str>;

/// The rows that ask for one path, in the order of their keys.
#[derive(Debug, Default)]
struct Slot {
    rows: Vec<(Key, Row)>,
    /// Where the rows went, if not to the path itself.
    apart: Vec<Arc<str>>,
}

/// A row and the file that holds it.
type Placed = (Arc<str>, Row);

/// A change in progress: the touched paths and how things were there, and what
/// has been encoded.
#[derive(Default)]
struct Batch {
    before: BTreeMap<Arc<str>, Vec<Placed>>,
    encoded: HashMap<Key, Vec<u8>>,
    visited: usize,
}

impl Tree {
    /// A tree without rows. The layout must be one of files; the generation of
    /// the inventory stays what it is, because paths may hold it.
    pub fn new(layout: Layout, edition: Edition) -> Result<Self, PathError> {
        let index = layout.index_path(&edition).transpose()?;
        Ok(Self {
            layout,
            edition,
            index,
            places: BTreeMap::new(),
            slots: HashMap::new(),
            wanted: HashMap::new(),
        })
    }

    /// Takes rows out, then puts rows in.
    ///
    /// Fed with everything, an empty tree answers with every file.
    pub fn apply<'a>(
        &mut self,
        deletes: impl IntoIterator<Item = &'a Identity<'a>>,
        upserts: impl IntoIterator<Item = Row>,
    ) -> Applied {
        let mut batch = Batch::default();
        let mut applied = Applied::default();
        for identity in deletes {
            self.remove(&key(identity), &mut batch);
        }
        for row in upserts {
            let key = key(&row.identity());
            if let Err(reason) = self.insert(&key, &row, &mut batch) {
                self.remove(&key, &mut batch);
                applied.refused.push(Refused { identity: row.identity().into_owned(), reason });
            }
        }
        self.settle(batch, &mut applied);
        applied
    }

    /// The index of the tree, if it has one. It lists every row, so this costs
    /// as much as the tree is large.
    pub fn index(&self, exported_at: Timestamp) -> Result<Option<FileOp>, EncodeError> {
        let Some(path) = &self.index else { return Ok(None) };
        let placed = self.slots.iter().flat_map(|(path, slot)| slot.placed(path));
        let paths: HashMap<_, _> = placed.map(|(path, row)| (key(&row.identity()), path)).collect();
        let mut rows: Vec<_> =
            self.slots.values().flat_map(|slot| &slot.rows).map(|(_, row)| row.clone()).collect();
        sort(&mut rows);
        let mut seen = BTreeSet::new();
        let in_order = rows.iter().filter_map(|row| paths.get(&key(&row.identity())));
        let index = Index {
            item_count: rows.len(),
            checksum: digest::checksum(&rows),
            exported_at,
            cluster: &self.layout.cluster,
            paths: in_order.filter(|path| seen.insert(*path)).map(|path| &**path).collect(),
        };
        let content = index.encode(self.layout.format)?;
        Ok(Some(FileOp { path: path.clone(), content: Some(content) }))
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The digest of all rows; costs as much as the tree is large.
    pub fn digest(&self) -> Digest {
        let rows = self.slots.values().flat_map(|slot| &slot.rows);
        rows.fold(Digest::EMPTY, |sum, (_, row)| sum.with(row.hash()))
    }

    /// The rows that say that they are in one place.
    pub fn rows_in(&self, (target_namespace, target_name, namespace): Place<'_>) -> Vec<Row> {
        let front = format!("{target_namespace}\0{target_name}\0{namespace}\0");
        let range =
            self.places.range::<str, _>((Bound::Included(front.as_str()), Bound::Unbounded));
        let inside = range.take_while(|(key, _)| key.starts_with(&front));
        inside.filter_map(|(key, path)| self.slots.get(path)?.row(key).cloned()).collect()
    }

    /// The rows whose file is at a path.
    pub fn rows_at(&self, path: &str) -> Vec<Row> {
        let of = |(asked, slot): (&Arc<str>, &Slot)| -> Vec<Row> {
            let here = slot.placed(asked).filter(|(file, _)| &**file == path);
            here.map(|(_, row)| row).collect()
        };
        let asked = self.wanted.get(path).map_or(path, |asked| asked);
        let near = self.slots.get_key_value(asked).map(of).unwrap_or_default();
        // Only paths with the longer suffix are not where they were asked for.
        if near.is_empty() { self.slots.iter().flat_map(of).collect() } else { near }
    }

    fn insert(&mut self, key: &Key, row: &Row, batch: &mut Batch) -> Result<(), RefusedBecause> {
        let path: Arc<str> = self.layout.object_path(&self.edition, &row.identity())?.into();
        let known = self.places.get(key) == Some(&path);
        let slot = self.slots.get(&path);
        if known && slot.is_some_and(|slot| slot.rows.iter().any(|(_, known)| known == row)) {
            return Ok(());
        }
        batch.encode(&self.layout, key, row)?;
        self.remove(key, batch);
        self.touch(&path, batch);
        self.places.insert(Arc::clone(key), Arc::clone(&path));
        let slot = self.slots.entry(path).or_default();
        let at = slot.rows.partition_point(|(other, _)| other < key);
        // Nearly every path has one row.
        slot.rows.reserve_exact(1);
        slot.rows.insert(at, (Arc::clone(key), row.clone()));
        Ok(())
    }

    fn remove(&mut self, key: &Key, batch: &mut Batch) {
        let Some(path) = self.places.remove(key) else { return };
        self.touch(&path, batch);
        if let Some(slot) = self.slots.get_mut(&path) {
            slot.rows.retain(|(other, _)| other != key);
        }
    }

    /// Remembers how things were at a path before its first change, and at the
    /// path whose rows would like to move here, or had to avoid it.
    fn touch(&self, path: &Arc<str>, batch: &mut Batch) {
        for path in [Some(path), self.wanted.get(&**path)].into_iter().flatten() {
            let slot = self.slots.get(path);
            let before = || slot.map(|slot| slot.placed(path).collect()).unwrap_or_default();
            batch.before.entry(Arc::clone(path)).or_insert_with(before);
        }
    }

    /// Decides anew where the rows of each touched path go.
    fn settle(&mut self, mut batch: Batch, applied: &mut Applied) {
        let mut removed = BTreeSet::new();
        let mut written = BTreeMap::new();
        for (path, before) in std::mem::take(&mut batch.before) {
            for (_, row) in &before {
                self.wanted.remove(&self.suffixed(&path, &short_suffix(row)));
            }
            self.place(&path, &mut batch);
            let slot = self.slots.get(&path);
            let after: Vec<_> = slot.map(|slot| slot.placed(&path).collect()).unwrap_or_default();
            let (old_files, new_files) = (files(&before), files(&after));
            removed.extend(old_files.keys().filter(|file| !new_files.contains_key(*file)).cloned());
            for (file, row) in &new_files {
                if old_files.get(file) != Some(row) {
                    written.insert(Arc::clone(file), batch.take(&self.layout, row));
                }
            }
            let (old_lines, new_lines) = (lines(&before), lines(&after));
            applied.gained.extend(new_lines.difference(&old_lines).cloned());
            applied.lost.extend(old_lines.difference(&new_lines).cloned());
            if after.is_empty() {
                self.slots.remove(&path);
            }
        }
        let gone = removed.into_iter().filter(|path| !written.contains_key(path));
        applied.files.extend(gone.map(|path| FileOp { path: path.to_string(), content: None }));
        let write = |(path, content): (Arc<str>, _)| FileOp { path: path.to_string(), content };
        applied.files.extend(written.into_iter().map(write));
        applied.visited = batch.visited;
    }

    /// Gives the rows of one path their files.
    fn place(&mut self, path: &Arc<str>, batch: &mut Batch) {
        let Some(mut slot) = self.slots.remove(path) else { return };
        slot.apart.clear();
        let reserved = self.index.as_deref() == Some(path);
        if reserved || slot.rows.len() > 1 {
            let content = |(_, row): &(Key, Row)| batch.content(&self.layout, row);
            let contents: Vec<_> = slot.rows.iter().map(content).collect();
            if reserved || contents.iter().any(|content| Some(content) != contents.first()) {
                let short = |(_, row): &(Key, Row)| self.suffixed(path, &short_suffix(row));
                let short: Vec<_> = slot.rows.iter().map(short).collect();
                slot.apart = self.apart(path, &slot.rows, &short, &contents);
                self.wanted.extend(short.into_iter().map(|file| (file, Arc::clone(path))));
            }
        }
        self.slots.insert(Arc::clone(path), slot);
    }

    /// Where rows go that cannot all go to one path: with the short suffix,
    /// unless that is not theirs alone.
    fn apart(
        &self,
        path: &str,
        rows: &[(Key, Row)],
        short: &[String],
        contents: &[Option<Vec<u8>>],
    ) -> Vec<Arc<str>> {
        let mut holds = HashMap::new();
        let mut contested = BTreeSet::new();
        for (file, content) in short.iter().zip(contents) {
            if *holds.entry(file).or_insert(content) != content || self.is_taken(file) {
                contested.insert(file);
            }
        }
        let file = |((_, row), short): (&(Key, Row), &String)| {
            if contested.contains(short) {
                self.suffixed(path, &long_suffix(row)).into()
            } else {
                short.as_str().into()
            }
        };
        rows.iter().zip(short).map(file).collect()
    }

    /// Whether a path belongs to the index, or to rows that asked for it.
    fn is_taken(&self, path: &str) -> bool {
        self.index.as_deref() == Some(path)
            || self.slots.get(path).is_some_and(|slot| !slot.rows.is_empty())
    }

    fn suffixed(&self, path: &str, suffix: &str) -> String {
        self.layout.object_path_with(path, suffix)
    }
}

impl Slot {
    fn row(&self, key: &str) -> Option<&Row> {
        self.rows.iter().find(|(known, _)| &**known == key).map(|(_, row)| row)
    }

    fn placed<'a>(&'a self, path: &'a Arc<str>) -> impl Iterator<Item = Placed> + 'a {
        let place = move |(at, (_, row)): (usize, &(Key, Row))| {
            (Arc::clone(self.apart.get(at).unwrap_or(path)), row.clone())
        };
        self.rows.iter().enumerate().map(place)
    }
}

impl Batch {
    fn encode(&mut self, layout: &Layout, key: &Key, row: &Row) -> Result<(), EncodeError> {
        let content = encode::row(row, &layout.content, layout.format)?;
        self.visited += 1;
        self.encoded.insert(Arc::clone(key), content);
        Ok(())
    }

    /// What the file of a row holds. Rows in the tree have been encoded before,
    /// so that it cannot fail.
    fn content(&mut self, layout: &Layout, row: &Row) -> Option<Vec<u8>> {
        let key = key(&row.identity());
        if !self.encoded.contains_key(&key) {
            self.encode(layout, &key, row).ok()?;
        }
        self.encoded.get(&key).cloned()
    }

    /// The same, for the last time.
    fn take(&mut self, layout: &Layout, row: &Row) -> Option<Vec<u8>> {
        self.content(layout, row)?;
        self.encoded.remove(&key(&row.identity()))
    }
}

fn key(identity: &Identity<'_>) -> Key {
    let Identity { target_namespace, target_name, namespace, name, uid, .. } = identity;
    [target_namespace, target_name, namespace, name, uid].map(|field| &**field).join("\0").into()
}

/// The files that rows went to; of rows that share one, the first.
fn files(placed: &[Placed]) -> BTreeMap<Arc<str>, &Row> {
    let mut files = BTreeMap::new();
    for (path, row) in placed {
        files.entry(Arc::clone(path)).or_insert(row);
    }
    files
}

fn lines(placed: &[Placed]) -> BTreeSet<Line> {
    placed.iter().map(|(path, row)| Line::of(path, &row.identity())).collect()
}

fn short_suffix(row: &Row) -> String {
    let Identity { group, version, uid, .. } = row.identity();
    format!("-{}", short_hash([group, version, uid].join("\0").as_bytes()))
}

fn long_suffix(row: &Row) -> String {
    let identity = row.identity();
    let Identity { group, version, kind, .. } = &identity;
    let text = format!("{}\0{group}\0{version}\0{kind}", key(&identity));
    format!("-{}", digest::hexadecimal(&Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests;
