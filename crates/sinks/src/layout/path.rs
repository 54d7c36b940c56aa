//! Paths: how they are spelled, and that they lead nowhere else.

use kollect_inventory::{Identity, digest::hexadecimal};
use sha2::{Digest as _, Sha256};

use super::{Group, Kind, Layout, extension, template::Field};
use crate::sink::InventoryKey;

/// An inventory at one generation: what paths say about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edition {
    pub inventory: InventoryKey,
    pub generation: i64,
}

/// Why a path is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("the path is empty")]
    Empty,
    #[error("the path {0:?} begins with a slash")]
    Absolute(String),
    #[error("the path {0:?} has a part that is `.` or `..`")]
    Climbs(String),
    #[error("the path {0:?} holds a NUL character")]
    Nul(String),
    /// Git keeps its own files in `.git`, and we ours in `.kollect`.
    #[error("the path {0:?} is reserved")]
    Reserved(String),
}

/// The folder for our own files about an inventory at a destination: its
/// ownership list and its watermark.
pub fn private_folder(cluster: &str, inventory: &InventoryKey) -> Result<String, PathError> {
    let InventoryKey { namespace, name } = inventory;
    let cluster = super::cluster_or_default(Some(cluster));
    let below = document(&format!("{cluster}/{namespace}/{name}"))?;
    Ok(format!(".kollect/{below}"))
}

/// The values of placeholders.
pub(super) struct Values<'a> {
    pub(super) layout: &'a Layout,
    pub(super) edition: &'a Edition,
}

impl Values<'_> {
    /// As it is, for documents. Nothing of an object is known there.
    pub(super) fn literal(&self, field: Field) -> String {
        match field {
            Field::Cluster => self.layout.cluster.clone(),
            Field::Namespace => self.edition.inventory.namespace.clone(),
            Field::Name => self.edition.inventory.name.clone(),
            Field::Generation => self.edition.generation.to_string(),
            Field::Extension => extension(self.layout.format).to_owned(),
            Field::TargetNamespace
            | Field::TargetName
            | Field::SourceNamespace
            | Field::SourceName
            | Field::Group
            | Field::Kind
            | Field::Uid => String::new(),
        }
    }

    /// As one segment, for objects.
    pub(super) fn segment(&self, field: Field, identity: &Identity<'_>) -> String {
        let spelling = self.layout.spelling;
        let value = match field {
            Field::Generation | Field::Extension => return self.literal(field),
            Field::Cluster | Field::Namespace | Field::Name => self.literal(field),
            Field::TargetNamespace => identity.target_namespace.to_string(),
            Field::TargetName => identity.target_name.to_string(),
            Field::SourceNamespace => identity.namespace.to_string(),
            Field::SourceName => identity.name.to_string(),
            Field::Uid => identity.uid.to_string(),
            Field::Group => match spelling.group {
                Group::Shown => identity.group.to_string(),
                Group::Dropped => String::new(),
            },
            Field::Kind => match spelling.kind {
                Kind::Lowercase => identity.kind.to_lowercase(),
                Kind::AsIs => identity.kind.to_string(),
            },
        };
        sanitised(&value, spelling.longest_segment)
    }
}

/// Makes a value one segment of at most `longest` bytes.
///
/// Separators and runs of dots become dashes, dots and dashes at the ends go.
/// What is too long is cut between two characters and gets a dash and the
/// first eight digits of the SHA-256 of the whole value, so that values which
/// begin alike stay apart. Where not even that fits, the digits stand alone.
fn sanitised(value: &str, longest: usize) -> String {
    let segment = stripped(&dashed(value.trim()));
    if segment.len() <= longest {
        return segment;
    }
    let digits = short_hash(value.as_bytes());
    let room = longest.saturating_sub(digits.len() + 1);
    let front = stripped(segment.get(..segment.floor_char_boundary(room)).unwrap_or_default());
    match front.as_str() {
        "" => digits.chars().take(longest).collect(),
        front => format!("{front}-{digits}"),
    }
}

/// Runs of separators, and runs of two or more dots, as one dash each.
fn dashed(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars().peekable();
    while let Some(character) = characters.next() {
        let is_separator = |next: &char| matches!(next, '/' | '\\' | ':');
        if is_separator(&character) {
            while characters.next_if(is_separator).is_some() {}
            out.push('-');
        } else if character == '.' && characters.peek() == Some(&'.') {
            while characters.next_if_eq(&'.').is_some() {}
            out.push('-');
        } else {
            out.push(character);
        }
    }
    out
}

fn stripped(segment: &str) -> String {
    segment.trim_matches(['.', '-']).to_owned()
}

/// The first eight digits of the SHA-256 of something.
pub(super) fn short_hash(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes)).chars().take(8).collect()
}

/// Checks the path of a document. Empty segments and single dots are dropped.
pub(super) fn document(path: &str) -> Result<String, PathError> {
    if path.starts_with('/') {
        return Err(PathError::Absolute(path.to_owned()));
    }
    let segments = path.split('/').filter(|segment| !matches!(*segment, "" | "."));
    checked(segments.collect())
}

/// Checks the path of an object, whose segments are trimmed.
pub(super) fn object(path: &str) -> Result<String, PathError> {
    let segments = path.split(['/', '\\']).map(str::trim).filter(|segment| !segment.is_empty());
    checked(segments.collect())
}

fn checked(segments: Vec<&str>) -> Result<String, PathError> {
    let path = segments.join("/");
    if path.is_empty() {
        Err(PathError::Empty)
    } else if path.contains('\0') {
        Err(PathError::Nul(path))
    } else if segments.iter().any(|segment| matches!(*segment, "." | "..")) {
        Err(PathError::Climbs(path))
    } else if segments.first() == Some(&".kollect")
        || segments.iter().any(|segment| segment.eq_ignore_ascii_case(".git"))
    {
        Err(PathError::Reserved(path))
    } else {
        Ok(path)
    }
}

/// Puts something before the extension, or at the end if the path lacks it.
pub(super) fn with_suffix(path: &str, extension: &str, suffix: &str) -> String {
    match path.strip_suffix(extension) {
        Some(stem) if !stem.is_empty() && !stem.ends_with('/') => {
            format!("{stem}{suffix}{extension}")
        }
        _ => format!("{path}{suffix}"),
    }
}

/// How a part of a set is told from the others.
pub(super) fn part_suffix((index, total): (usize, usize)) -> String {
    format!(".part-{index:04}-of-{total:04}")
}

/// The path of a Parquet object, as query engines read columns off it.
pub(super) fn columnar(cluster: &str, edition: &Edition, suffix: &str) -> String {
    let Edition { inventory: InventoryKey { namespace, name }, generation } = edition;
    let name = format!("{name}{suffix}");
    let [cluster, namespace, name] = [cluster, namespace, &name].map(column_value);
    format!(
        "inventory/cluster={cluster}/ns={namespace}/name={name}/generation={generation}.parquet"
    )
}

/// A value with each run of characters that mean something to query engines
/// as one underscore.
fn column_value(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut dropped = false;
    for character in value.trim().chars() {
        let kept = character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
        if kept {
            out.push(character);
        } else if !dropped {
            out.push('_');
        }
        dropped = !kept;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(value: &str, expected: &str) {
        assert_eq!(sanitised(value, 63), expected);
    }

    #[test]
    fn values_become_one_segment() {
        check("system:node:worker-1", "system-node-worker-1");
        check(r"a/b\c", "a-b-c");
        check("foo..bar", "foo-bar");
        check("...", "");
        check(".hidden.", "hidden");
        check("a b", "a b");
        check("x::y//z", "x-y-z");
        check("x:/\\y", "x-y");
        check(" v1.2 ", "v1.2");
    }

    #[test]
    fn long_values_that_begin_alike_stay_apart() {
        let long = |tail: &str| format!("{}-{}", "n".repeat(62), tail.repeat(10));
        check(&long("m"), &format!("{}-{}", "n".repeat(54), short_hash(long("m").as_bytes())));
        assert_ne!(sanitised(&long("m"), 63), sanitised(&long("k"), 63));
        check(&"n".repeat(63), &"n".repeat(63));
        assert_eq!(sanitised(&"é".repeat(40), 20).len(), 10 + 9);
    }

    #[test]
    fn a_tiny_limit_leaves_digits_alone() {
        let digits = short_hash(b"deployment");
        for longest in 1..=9 {
            let expected: String = digits.chars().take(longest).collect();
            assert_eq!(sanitised("deployment", longest), expected);
        }
        assert_eq!(sanitised("deployment-long", 10).len(), 10);
    }

    #[test]
    fn paths_that_lead_elsewhere_are_refused() {
        assert_eq!(document("a//./b.yaml"), Ok("a/b.yaml".to_owned()));
        assert_eq!(document("/a"), Err(PathError::Absolute("/a".into())));
        assert_eq!(document("a/../b"), Err(PathError::Climbs("a/../b".into())));
        assert_eq!(document("a\0b"), Err(PathError::Nul("a\0b".into())));
        assert_eq!(document("./"), Err(PathError::Empty));
        assert_eq!(document("x/.Git/config"), Err(PathError::Reserved("x/.Git/config".into())));
        assert_eq!(object(" .kollect /x"), Err(PathError::Reserved(".kollect/x".into())));
        assert_eq!(object(r"/a\ b /"), Ok("a/b".to_owned()));
        assert_eq!(object("a/./b"), Err(PathError::Climbs("a/./b".into())));
    }

    #[test]
    fn a_suffix_goes_before_the_extension() {
        assert_eq!(with_suffix("a/web.stack.yaml", ".yaml", "-x"), "a/web.stack-x.yaml");
        assert_eq!(with_suffix("a/web.stack", "", "-x"), "a/web.stack-x");
        assert_eq!(with_suffix("a/.yaml", ".yaml", "-x"), "a/.yaml-x");
    }

    #[test]
    fn column_values_hold_nothing_that_query_engines_read() {
        for (value, expected) in [("eu west/1", "eu_west_1"), ("a=b", "a_b"), ("ü", "_")] {
            assert_eq!(column_value(value), expected);
        }
    }

    #[test]
    fn our_own_files_stand_apart() {
        let inventory = InventoryKey { namespace: "shop".into(), name: "web".into() };
        assert_eq!(private_folder(" ", &inventory), Ok(".kollect/default/shop/web".to_owned()));
        assert_eq!(private_folder("eu-1", &inventory), Ok(".kollect/eu-1/shop/web".to_owned()));
        assert!(private_folder("..", &inventory).is_err());
    }

    proptest! {
        #[test]
        fn segments_hold_no_separator_and_keep_their_limit(value in "\\PC{0,90}|[./\\\\:a-]{0,90}", longest in 1_usize..80) {
            let segment = sanitised(&value, longest);
            prop_assert!(segment.len() <= longest);
            prop_assert!(!segment.contains(['/', '\\', ':']) && !segment.contains(".."));
        }
    }
}
