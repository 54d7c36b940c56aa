//! Reads manifests from wherever a user keeps them.

pub(crate) mod files;
pub(crate) mod node;
mod yaml;

use std::path::PathBuf;

use serde_json::Value;

use self::node::{Content, Node, Position, Step};

/// One object, as it was written and where.
#[derive(Debug)]
pub struct Manifest {
    /// The file, or `-`.
    pub file: String,
    /// Which document of the file, from 1.
    pub document: usize,
    node: Node,
}

/// Something that could not be read.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    /// The file, or `-`.
    pub file: String,
    /// Where in the file, if it could be opened.
    pub at: Option<Position>,
    /// Why.
    pub reason: String,
}

/// Everything that was found, and everything that could not be read.
#[derive(Debug, Default)]
pub struct Found {
    pub manifests: Vec<Manifest>,
    pub failures: Vec<Failure>,
}

/// What a user names on the command line.
#[derive(Debug, PartialEq, Eq)]
pub enum Source {
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
    pub fn value(&self) -> Value {
        self.node.value()
    }

    /// Where a field stands, or the nearest place above it that exists.
    pub fn position<'s>(&self, way: impl IntoIterator<Item = Step<'s>>) -> Position {
        self.node.position(way)
    }
}

impl Found {
    /// What a text holds that is no file yet, or not any more.
    pub fn add(&mut self, file: &str, text: &str) {
        manifests(file, text, self);
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
