//! Git's objects: how they are named, and how trees and commits are spelled.

use std::{cmp::Ordering, fmt, str::FromStr};

use sha1_checked::{Digest as _, Sha1};

/// Names an object: the SHA-1 of what it is and holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id([u8; 20]);

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Commit,
    Tree,
    Blob,
    Tag,
}

/// What a name in a tree stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Folder,
    /// A file, executable or not.
    File,
    Link,
    /// A commit of another repository, or something newer than us.
    Other,
}

/// A name in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    /// As it is written, without the type that it stands for.
    pub(super) mode: &'a [u8],
    pub(super) name: &'a [u8],
    pub(super) id: Id,
}

/// Somebody sent an object that is none.
#[derive(Debug, thiserror::Error)]
#[error("the {0} is malformed")]
pub(super) struct Malformed(pub(super) &'static str);

/// How folders and files are written in trees.
pub(super) const FOLDER: &[u8] = b"40000";
pub(super) const FILE: &[u8] = b"100644";

impl Id {
    /// What stands for no object at all.
    pub(super) const NONE: Self = Self([0; 20]);
    pub(super) const LENGTH: usize = 20;

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub(super) fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// Reads an id that is written in hexadecimal digits, as bytes.
    pub(super) fn from_hex(digits: &[u8]) -> Option<Self> {
        if digits.len() != 40 {
            return None;
        }
        let mut id = [0; 20];
        for (byte, pair) in id.iter_mut().zip(digits.chunks_exact(2)) {
            let [high, low] = [pair.first(), pair.last()].map(|digit| {
                let digit = char::from(*digit?);
                digit.to_digit(16).filter(|_| !digit.is_ascii_uppercase())
            });
            *byte = u8::try_from(high? * 16 + low?).ok()?;
        }
        Some(Self(id))
    }

    /// Four numbers that tell ids apart as well as the id itself.
    pub(super) fn as_numbers(&self) -> Vec<u64> {
        let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        self.0.chunks(8).map(number).collect()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Id {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        Self::from_hex(text.as_bytes()).ok_or(Malformed("name of an object"))
    }
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
            Self::Blob => "blob",
            Self::Tag => "tag",
        }
    }

    pub(super) fn named(name: &[u8]) -> Option<Self> {
        [Self::Commit, Self::Tree, Self::Blob, Self::Tag]
            .into_iter()
            .find(|kind| kind.name().as_bytes() == name)
    }
}

/// The name of an object that comes piece by piece.
///
/// Content that was made to attack SHA-1 gets a name that nothing else has.
pub(super) struct Naming(Sha1);

impl Naming {
    pub(super) fn new(kind: Kind, length: u64) -> Self {
        let mut hash = Sha1::new();
        hash.update(format!("{} {length}\0", kind.name()).as_bytes());
        Self(hash)
    }

    pub(super) fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    pub(super) fn finish(self) -> Id {
        Id(self.0.finalize().into())
    }
}

/// The name of an object.
pub(super) fn name(kind: Kind, content: &[u8]) -> Id {
    let mut naming = Naming::new(kind, content.len() as u64);
    naming.update(content);
    naming.finish()
}

/// A checksum as packs and their indexes end in.
pub(super) struct Checksum(Sha1);

impl Checksum {
    pub(super) fn new() -> Self {
        // These are not signatures: what counts is whether bytes were lost.
        Self(Sha1::builder().detect_collision(false).build())
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(super) fn finish(self) -> [u8; 20] {
        self.0.finalize().into()
    }
}

impl Entry<'_> {
    pub(super) fn kind(&self) -> Mode {
        match self.mode {
            b"40000" | b"040000" => Mode::Folder,
            b"100644" | b"100755" | b"100664" => Mode::File,
            b"120000" => Mode::Link,
            _ => Mode::Other,
        }
    }

    /// The order of trees, in which a folder counts as if it ended in a slash.
    pub(super) fn order(&self, other: &Entry<'_>) -> Ordering {
        let end = |entry: &Entry<'_>| if entry.kind() == Mode::Folder { b'/' } else { 0 };
        let shared = self.name.len().min(other.name.len());
        let front = self.name.get(..shared).cmp(&other.name.get(..shared));
        front.then_with(|| {
            let next = |entry: &Entry<'_>| entry.name.get(shared).copied().unwrap_or(end(entry));
            next(self).cmp(&next(other)).then(self.name.len().cmp(&other.name.len()))
        })
    }
}

/// The entries of a tree.
pub(super) fn entries(tree: &[u8]) -> impl Iterator<Item = Result<Entry<'_>, Malformed>> {
    let mut rest = tree;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let entry = entry(&mut rest).ok_or(Malformed("tree"));
        if entry.is_err() {
            rest = &[];
        }
        Some(entry)
    })
}

fn entry<'a>(rest: &mut &'a [u8]) -> Option<Entry<'a>> {
    let blank = rest.iter().position(|byte| *byte == b' ')?;
    let (mode, behind) = (rest.get(..blank)?, rest.get(blank + 1..)?);
    let end = behind.iter().position(|byte| *byte == 0)?;
    let (name, behind) = (behind.get(..end)?, behind.get(end + 1..)?);
    let (id, behind) = behind.split_at_checked(Id::LENGTH)?;
    *rest = behind;
    Some(Entry { mode, name, id: Id::from_bytes(id)? })
}

/// Spells a tree; the entries must be in order.
pub(super) fn tree<'a>(entries: impl IntoIterator<Item = Entry<'a>>) -> Vec<u8> {
    let mut tree = Vec::new();
    for Entry { mode, name, id } in entries {
        tree.extend_from_slice(mode);
        tree.push(b' ');
        tree.extend_from_slice(name);
        tree.push(0);
        tree.extend_from_slice(id.as_bytes());
    }
    tree
}

/// The tree of a commit.
pub(super) fn tree_of(commit: &[u8]) -> Result<Id, Malformed> {
    let line = commit.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let digits = line.strip_prefix(b"tree ");
    digits.and_then(Id::from_hex).ok_or(Malformed("commit"))
}

/// A commit in the making.
#[derive(Debug)]
pub(super) struct Commit<'a> {
    pub(super) tree: Id,
    pub(super) parent: Option<Id>,
    /// Name and address of whoever made it.
    pub(super) author: (&'a str, &'a str),
    /// When, in seconds since 1970.
    pub(super) seconds: i64,
    pub(super) message: &'a str,
}

impl Commit<'_> {
    pub(super) fn encode(&self) -> Vec<u8> {
        let Self { tree, parent, author: (name, email), seconds, message } = self;
        let parent = parent.map(|parent| format!("parent {parent}\n")).unwrap_or_default();
        let who = format!("{} <{}> {seconds} +0000", plain(name), plain(email));
        let mut text = format!("tree {tree}\n{parent}author {who}\ncommitter {who}\n\n{message}");
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.into_bytes()
    }
}

/// A name without what would end it, and without what Git strips from the ends.
fn plain(name: &str) -> String {
    let odd = |c: char| c.is_control() || matches!(c, '<' | '>');
    let crud = |c: char| c.is_whitespace() || ".,:;\"'\\".contains(c);
    let kept: String = name.chars().filter(|c| !odd(*c)).collect();
    kept.trim_matches(crud).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_the_names_that_git_gives_them() {
        let empty = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
        assert_eq!(name(Kind::Blob, b"").to_string(), empty);
        assert_eq!(name(Kind::Tree, b"").to_string(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
        assert_eq!(empty.parse::<Id>().unwrap(), name(Kind::Blob, b""));
        for wrong in ["", "e69d", &empty.to_uppercase(), &format!("{empty}0"), &"g".repeat(40)] {
            assert!(wrong.parse::<Id>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_tree_reads_back_and_a_broken_one_does_not() {
        let id = name(Kind::Blob, b"");
        let written =
            [Entry { mode: FILE, name: b"a", id }, Entry { mode: FOLDER, name: b"b", id }];
        let bytes = tree(written);
        let read: Result<Vec<_>, _> = entries(&bytes).collect();
        assert_eq!(read.unwrap(), written);
        let first = tree(written.into_iter().take(1)).len();
        for length in 1..bytes.len() {
            let read: Result<Vec<_>, _> = entries(bytes.get(..length).unwrap()).collect();
            assert!(read.is_err() || length == first, "{length}");
        }
    }

    #[test]
    fn folders_stand_as_if_they_ended_in_a_slash() {
        let id = Id::NONE;
        let file = |name: &'static str| Entry { mode: FILE, name: name.as_bytes(), id };
        let folder = |name: &'static str| Entry { mode: FOLDER, name: name.as_bytes(), id };
        let mut all = [file("a0"), folder("a"), file("a.b"), file("a-b"), file("b"), file("")];
        all.sort_by(Entry::order);
        let names: Vec<_> = all.iter().map(|entry| str::from_utf8(entry.name).unwrap()).collect();
        assert_eq!(names, ["", "a-b", "a.b", "a", "a0", "b"]);
    }

    #[test]
    fn a_commit_is_spelled_as_git_spells_it() {
        let commit = Commit {
            tree: name(Kind::Tree, b""),
            parent: Some(Id::NONE),
            author: ("A <b>\n", " a@b.example."),
            seconds: 1_772_600_767,
            message: "One\n\nTwo",
        };
        let expected = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\
            parent 0000000000000000000000000000000000000000\n\
            author A b <a@b.example> 1772600767 +0000\n\
            committer A b <a@b.example> 1772600767 +0000\n\nOne\n\nTwo\n";
        assert_eq!(String::from_utf8(commit.encode()).unwrap(), expected);
        assert_eq!(tree_of(&commit.encode()).unwrap(), commit.tree);
        assert!(tree_of(b"parent x").is_err());
    }
}
