//! A document as a tree that remembers where everything stood.

use serde_json::{Map, Value};

/// A place in a file, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// One step of the way to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'s> {
    Field(&'s str),
    Index(usize),
}

/// One value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) at: Position,
    pub(super) content: Content,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    /// Anything that is neither a list nor a map.
    Scalar(Value),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_at: Position,
    pub(super) value: Node,
}

impl Node {
    /// The node as JSON.
    pub(super) fn value(&self) -> Value {
        match &self.content {
            Content::Scalar(value) => value.clone(),
            Content::List(items) => items.iter().map(Self::value).collect(),
            Content::Map(entries) => {
                let fields = entries.iter().map(|entry| (entry.key.clone(), entry.value.value()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
        }
    }

    /// The text of a field, if the node is a map and the field a text.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        let Content::Map(entries) = &self.content else { return None };
        let entry = entries.iter().find(|entry| entry.key == key)?;
        let Content::Scalar(Value::String(text)) = &entry.value.content else { return None };
        Some(text)
    }

    /// The value of a field, taken out.
    pub(super) fn take(self, key: &str) -> Option<Self> {
        let Content::Map(entries) = self.content else { return None };
        entries.into_iter().find(|entry| entry.key == key).map(|entry| entry.value)
    }

    /// Where the way down leads, or where it ends too early. A field that is
    /// there is pointed at by its key.
    pub(super) fn position<'s>(&self, way: impl IntoIterator<Item = Step<'s>>) -> Position {
        let mut node = self;
        let mut at = self.at;
        for step in way {
            match (step, &node.content) {
                (Step::Field(name), Content::Map(entries)) => {
                    let Some(entry) = entries.iter().find(|entry| entry.key == name) else {
                        break;
                    };
                    (node, at) = (&entry.value, entry.key_at);
                }
                (Step::Index(index), Content::List(items)) => {
                    let Some(item) = items.get(index) else { break };
                    (node, at) = (item, item.at);
                }
                _ => break,
            }
        }
        at
    }

    /// How many values the node consists of.
    pub(super) fn size(&self) -> usize {
        match &self.content {
            Content::Scalar(_) => 1,
            Content::List(items) => 1 + items.iter().map(Self::size).sum::<usize>(),
            Content::Map(entries) => {
                1 + entries.iter().map(|entry| entry.value.size()).sum::<usize>()
            }
        }
    }
}
