//! Reads manifests from wherever a user keeps them.

mod files;
mod node;
mod yaml;

use std::path::PathBuf;

use kollect_validate::FieldPath;
use serde_json::Value;

pub(crate) use files::read;
pub(crate) use node::Position;
use node::{Content, Node};

/// One object, as it was written and where.
#[derive(Debug)]
pub(crate) struct Manifest {
    /// The file, or `-`.
    pub(crate) file: String,
    /// Which document of the file, from 1.
    pub(crate) document: usize,
    node: Node,
}

/// Something that could not be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The file, or `-`.
    pub(crate) file: String,
    /// Where in the file, if it could be opened.
    pub(crate) at: Option<Position>,
    /// Why.
    pub(crate) reason: String,
}

/// Everything that was found, and everything that could not be read.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) manifests: Vec<Manifest>,
    pub(crate) failures: Vec<Failure>,
}

/// What a user names on the command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Source {
    StandardInput,
    Path(PathBuf),
}

impl From<&PathBuf> for Source {
    fn from(path: &PathBuf) -> Self {
        match path.to_str() {
            Some("-") => Self::StandardInput,
            _ => Self::Path(path.clone()),
        }
    }
}

impl Manifest {
    /// The object as JSON.
    pub(crate) fn value(&self) -> Value {
        self.node.value()
    }

    /// Where a field stands, or the nearest place above it that exists.
    pub(crate) fn position(&self, path: &FieldPath) -> Position {
        self.node.position(path.segments())
    }
}

/// Makes manifests of the documents of one text.
///
/// A `List`, as kubectl prints several objects, is taken apart.
fn manifests(file: &str, text: &str, found: &mut Found) {
    for (at, document) in yaml::documents(text).into_iter().enumerate() {
        let manifest = |node| Manifest { file: file.to_owned(), document: at + 1, node };
        match document {
            Ok(Some(node)) => found.manifests.extend(objects(node).into_iter().map(manifest)),
            Ok(None) => {}
            Err(error) => found.failures.push(Failure {
                file: file.to_owned(),
                at: Some(error.at),
                reason: error.reason,
            }),
        }
    }
}

fn objects(node: Node) -> Vec<Node> {
    let is_list = node.text("kind").is_some_and(|kind| kind == "List")
        && node.text("apiVersion").is_some_and(|version| version == "v1");
    if !is_list {
        return vec![node];
    }
    match node.take("items").map(|items| items.content) {
        Some(Content::List(items)) => items.into_iter().flat_map(objects).collect(),
        _ => Vec::new(),
    }
}
