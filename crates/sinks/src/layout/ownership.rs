//! Which paths an inventory has written, as recorded at the destination.
//!
//! The list lies beside the copies, in 256 files by the first two digits of
//! the path's SHA-256, so that a change rewrites a small part of it. A line is
//! the path, the target and the object's namespace, with tabs between them.
//! In each of the three a tab is written `\t`, a line feed `\n`, a carriage
//! return `\r` and a backslash `\\`; nothing else is escaped.

use std::collections::{BTreeMap, BTreeSet};

use kollect_inventory::{Identity, digest::hexadecimal};
use sha2::{Digest as _, Sha256};

use super::{
    path::{PathError, private_folder},
    tree::FileOp,
};
use crate::sink::InventoryKey;

/// Says that a partition has rows in a file.
///
/// A file that rows of several partitions share has several lines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    pub path: String,
    /// Namespace and name of the target, with a slash between them.
    pub target: String,
    /// Namespace of the objects; empty for cluster-scoped kinds.
    pub namespace: String,
}

impl Line {
    /// The line of a row in a file.
    pub fn of(path: &str, identity: &Identity<'_>) -> Self {
        Self {
            path: path.to_owned(),
            target: format!("{}/{}", identity.target_namespace, identity.target_name),
            namespace: identity.namespace.to_string(),
        }
    }
}

/// One of the 256 files, named by two hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard(pub u8);

impl Shard {
    /// Every file that the list can have.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..=u8::MAX).map(Self)
    }

    /// The file that lists a path.
    pub fn of(path: &str) -> Self {
        let digest = Sha256::digest(path.as_bytes());
        Self(digest.first().copied().unwrap_or_default())
    }

    /// The name of the file.
    pub fn name(self) -> String {
        hexadecimal(&[self.0])
    }

    /// The file with a name, if it is one of the list.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|shard| shard.name() == name)
    }
}

/// Why a list cannot be read. Nothing may then be pruned by it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OwnershipError {
    #[error("the ownership list is not UTF-8")]
    Encoding,
    #[error("the ownership list ends in the middle of a line")]
    Truncated,
    #[error("line {0} of the ownership list is malformed")]
    Malformed(usize),
    #[error("line {0} of the ownership list belongs to another file of it")]
    Misplaced(usize),
}

/// Writes the lines of one file in their order.
pub fn render(lines: &BTreeSet<Line>) -> Vec<u8> {
    let mut out = String::new();
    for Line { path, target, namespace } in lines {
        for (field, end) in [(path, '\t'), (target, '\t'), (namespace, '\n')] {
            escape(field, &mut out);
            out.push(end);
        }
    }
    out.into_bytes()
}

/// Reads one file. Lines may stand in any order, but each must be whole and
/// belong there.
pub fn parse(shard: Shard, bytes: &[u8]) -> Result<BTreeSet<Line>, OwnershipError> {
    let text = str::from_utf8(bytes).map_err(|_| OwnershipError::Encoding)?;
    if !text.is_empty() && !text.ends_with('\n') {
        return Err(OwnershipError::Truncated);
    }
    let line = |(at, text): (usize, &str)| {
        let line = parse_line(text).ok_or(OwnershipError::Malformed(at + 1))?;
        if Shard::of(&line.path) == shard {
            Ok(line)
        } else {
            Err(OwnershipError::Misplaced(at + 1))
        }
    };
    text.split_terminator('\n').enumerate().map(line).collect()
}

/// The lines of a set that name a path.
pub(crate) fn naming<'a>(
    lines: &'a BTreeSet<Line>,
    path: &'a str,
) -> impl Iterator<Item = &'a Line> {
    let first = Line { path: path.to_owned(), target: String::new(), namespace: String::new() };
    lines.range(first..).take_while(move |line| line.path == path)
}

/// The list of one inventory at one destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ownership {
    folder: String,
    shards: BTreeMap<Shard, BTreeSet<Line>>,
}

impl Ownership {
    /// An empty list; a blank cluster is called `default`.
    pub fn new(cluster: &str, inventory: &InventoryKey) -> Result<Self, PathError> {
        Ok(Self { folder: private_folder(cluster, inventory)?, shards: BTreeMap::new() })
    }

    /// An empty list in a folder.
    pub(crate) fn at(folder: &str) -> Self {
        Self { folder: folder.to_owned(), shards: BTreeMap::new() }
    }

    /// Where a file of the list lies.
    pub fn path(&self, shard: Shard) -> String {
        format!("{}/{}", self.folder, shard.name())
    }

    /// Takes over a file as it is recorded.
    pub fn load(&mut self, shard: Shard, bytes: &[u8]) -> Result<(), OwnershipError> {
        let lines = parse(shard, bytes)?;
        self.shards.insert(shard, lines);
        Ok(())
    }

    /// Every line.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.shards.values().flatten()
    }

    /// The lines that name a path.
    pub fn naming<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a Line> {
        self.shards.get(&Shard::of(path)).into_iter().flat_map(move |lines| naming(lines, path))
    }

    /// Takes lines out, then puts lines in, and answers with the files that
    /// changed by it. One without lines goes.
    pub fn update(
        &mut self,
        lost: impl IntoIterator<Item = Line>,
        gained: impl IntoIterator<Item = Line>,
    ) -> Vec<FileOp> {
        let mut before: BTreeMap<Shard, BTreeSet<Line>> = BTreeMap::new();
        let mut touched = |shard: Shard, lines: &BTreeSet<Line>| {
            before.entry(shard).or_insert_with(|| lines.clone());
        };
        for line in lost {
            let shard = Shard::of(&line.path);
            let lines = self.shards.entry(shard).or_default();
            touched(shard, lines);
            lines.remove(&line);
        }
        for line in gained {
            let shard = Shard::of(&line.path);
            let lines = self.shards.entry(shard).or_default();
            touched(shard, lines);
            lines.insert(line);
        }
        let changed = |(shard, before): (Shard, BTreeSet<Line>)| {
            let now = self.shards.get(&shard).filter(|lines| **lines != before)?;
            let content = (!now.is_empty()).then(|| render(now));
            Some(FileOp { path: self.path(shard), content })
        };
        let files = before.into_iter().filter_map(changed).collect();
        self.shards.retain(|_, lines| !lines.is_empty());
        files
    }
}

fn parse_line(text: &str) -> Option<Line> {
    let mut fields = text.split('\t').map(unescape);
    let line = Line { path: fields.next()??, target: fields.next()??, namespace: fields.next()?? };
    (fields.next().is_none() && !line.path.is_empty()).then_some(line)
}

fn escape(field: &str, out: &mut String) {
    for character in field.chars() {
        match character {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            other => out.push(other),
        }
    }
}

fn unescape(field: &str) -> Option<String> {
    let mut out = String::with_capacity(field.len());
    let mut characters = field.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            '\\' => match characters.next()? {
                't' => '\t',
                'n' => '\n',
                'r' => '\r',
                '\\' => '\\',
                _ => return None,
            },
            other => other,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(path: &str) -> Line {
        Line { path: path.into(), target: "shop/workloads".into(), namespace: "shop".into() }
    }

    fn ownership() -> Ownership {
        let inventory = InventoryKey { namespace: "shop".into(), name: "web".into() };
        Ownership::new("", &inventory).unwrap()
    }

    #[test]
    fn a_path_has_one_file_in_the_list() {
        let shard = Shard::of("eu-1/shop/deployment/web.yaml");
        assert_eq!(ownership().path(shard), ".kollect/default/shop/web/68");
        assert_eq!(Shard::all().count(), 256);
        assert_eq!(Shard(10).name(), "0a");
    }

    #[test]
    fn lines_are_sorted_and_escaped() {
        let lines = BTreeSet::from([line("b"), line("a\tb\n\\")]);
        let expected = "a\\tb\\n\\\\\tshop/workloads\tshop\nb\tshop/workloads\tshop\n";
        assert_eq!(String::from_utf8(render(&lines)).unwrap(), expected);
    }

    #[test]
    fn what_is_not_a_list_is_refused() {
        let shard = Shard::of("a");
        assert_eq!(parse(shard, b"a\tshop/x\tshop"), Err(OwnershipError::Truncated));
        assert_eq!(parse(shard, b"\xff\n"), Err(OwnershipError::Encoding));
        for malformed in ["\n", "a\n", "a\tb\n", "a\tb\tc\td\n", "a\\x\tb\tc\n", "a\tb\t\\\n"] {
            let found = parse(shard, malformed.as_bytes());
            assert_eq!(found, Err(OwnershipError::Malformed(1)), "{malformed:?}");
        }
        assert_eq!(parse(Shard(shard.0 ^ 1), b"a\tb\tc\n"), Err(OwnershipError::Misplaced(1)));
        assert_eq!(parse(shard, b""), Ok(BTreeSet::new()));
    }

    #[test]
    fn only_changed_files_are_written() {
        let mut ownership = ownership();
        let files = ownership.update([], [line("a"), line("b")]);
        assert_eq!(files.len(), 2);
        assert_eq!(ownership.update([line("a")], [line("a"), line("b")]), []);
        let gone = FileOp { path: ownership.path(Shard::of("a")), content: None };
        assert_eq!(ownership.update([line("a"), line("never")], []), [gone]);
        assert_eq!(ownership.lines().collect::<Vec<_>>(), [&line("b")]);
    }

    #[test]
    fn the_lines_of_a_path_are_those_and_no_others() {
        let mut ownership = ownership();
        let other = Line { target: "other/x".into(), ..line("a") };
        ownership.update([], [line("a"), other.clone(), line("a/b"), line("b")]);
        assert_eq!(ownership.naming("a").collect::<Vec<_>>(), [&other, &line("a")]);
        assert_eq!(ownership.naming("c").count(), 0);
        assert_eq!(Shard::named("0a"), Some(Shard(10)));
        assert!(["0A", "a", "watermark", ""].iter().all(|name| Shard::named(name).is_none()));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            lines in proptest::collection::btree_set(("[ab/\\t\\n\\r\\\\é]{1,6}", "\\PC{0,4}|[\\t\\n\\\\]{0,3}", ".{0,3}"), 0..20),
        ) {
            let lines = lines.into_iter().map(|(path, target, namespace)| Line { path, target, namespace });
            let mut written = ownership();
            let files = written.update([], lines);
            let mut read = ownership();
            for file in files {
                let name = file.path.rsplit('/').next().unwrap_or_default();
                let shard = Shard(u8::from_str_radix(name, 16).unwrap());
                read.load(shard, &file.content.unwrap()).unwrap();
            }
            prop_assert_eq!(read, written);
        }
    }
}
