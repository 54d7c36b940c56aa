//! Reads YAML, and JSON as a part of it, the way kubectl does.
//!
//! kubectl reads YAML 1.1: `yes` is true and `0644` is octal. What it would
//! send to the server is what we judge, so we read the same way. What could
//! only be meant badly is bounded: depth, and how much aliases may unfold to.

mod scalar;

use std::collections::BTreeMap;

use granit_parser::{Event, Marker, Parser, ScanError, StrInput};

use super::node::{Content, Entry, Node, Position};

/// Deeper than any object that a server would take.
const MAX_DEPTH: usize = 200;

/// More than any honest manifest repeats by aliases.
const MAX_ALIASED: usize = 50_000;

/// Why a document cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub(super) at: Position,
    pub(super) reason: String,
}

/// The documents of a text; empty ones are `None`.
///
/// A document that cannot be read does not hide the ones after it.
pub(super) fn documents(text: &str) -> Vec<Result<Option<Node>, SyntaxError>> {
    let mut parser = Parser::new_from_str(text);
    let mut documents = Vec::new();
    loop {
        match next_document(&mut parser) {
            Ok(None) => return documents,
            Ok(Some(node)) => documents.push(Ok(meaningful(node))),
            Err(error) => {
                documents.push(Err(error));
                if !matches!(parser.proceed_next_document(), Ok(true)) {
                    return documents;
                }
            }
        }
    }
}

fn meaningful(node: Node) -> Option<Node> {
    match node.content {
        Content::Scalar(serde_json::Value::Null) => None,
        _ => Some(node),
    }
}

/// Reads up to the end of the next document; `None` at the end of the text.
fn next_document<'t>(parser: &mut Parser<'t, StrInput<'t>>) -> Result<Option<Node>, SyntaxError> {
    let mut builder = Builder::default();
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(syntax_error)?;
        match event {
            Event::StreamEnd => return Ok(None),
            Event::DocumentEnd => {
                return Ok(Some(builder.finished.unwrap_or_else(|| null_at(position(span.start)))));
            }
            event => builder.take(event, position(span.start))?,
        }
    }
    Ok(None)
}

/// Collections that are still open, innermost last, and what has been named.
#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    anchors: BTreeMap<usize, Node>,
    aliased: usize,
    finished: Option<Node>,
}

struct Open {
    at: Position,
    anchor: usize,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Node>),
    /// The entries so far, and the key whose value is awaited.
    Map(Vec<Entry>, Option<(String, Position)>),
}

impl Builder {
    fn take(&mut self, event: Event<'_>, at: Position) -> Result<(), SyntaxError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar::value(&text, style, tag.as_deref())
                    .map_err(|reason| SyntaxError { at, reason })?;
                if let Some(OpenKind::Map(_, key @ None)) =
                    self.open.last_mut().map(|open| &mut open.kind)
                {
                    *key = Some((text.into_owned(), at));
                    return Ok(());
                }
                self.place(Node { at, content: Content::Scalar(value) }, anchor)
            }
            Event::SequenceStart(_, anchor, _) => self.open(at, anchor, OpenKind::List(Vec::new())),
            Event::MappingStart(_, anchor, _) => {
                self.open(at, anchor, OpenKind::Map(Vec::new(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => self.alias(anchor, at),
            _ => Ok(()),
        }
    }

    fn open(&mut self, at: Position, anchor: usize, kind: OpenKind) -> Result<(), SyntaxError> {
        if self.open.len() >= MAX_DEPTH {
            let reason = format!("nested deeper than {MAX_DEPTH} levels");
            return Err(SyntaxError { at, reason });
        }
        self.open.push(Open { at, anchor, kind });
        Ok(())
    }

    fn close(&mut self) -> Result<(), SyntaxError> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let content = match open.kind {
            OpenKind::List(items) => Content::List(items),
            OpenKind::Map(entries, _) => Content::Map(merged(entries)),
        };
        self.place(Node { at: open.at, content }, open.anchor)
    }

    fn alias(&mut self, anchor: usize, at: Position) -> Result<(), SyntaxError> {
        let Some(node) = self.anchors.get(&anchor).cloned() else {
            let reason = "this alias refers to a value that contains it".to_owned();
            return Err(SyntaxError { at, reason });
        };
        self.aliased += node.size();
        if self.aliased > MAX_ALIASED {
            let reason = format!("aliases unfold to more than {MAX_ALIASED} values");
            return Err(SyntaxError { at, reason });
        }
        self.place(Node { at, ..node }, 0)
    }

    /// Puts a finished value where it belongs.
    fn place(&mut self, node: Node, anchor: usize) -> Result<(), SyntaxError> {
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut().map(|open| &mut open.kind) {
            None => self.finished = Some(node),
            Some(OpenKind::List(items)) => items.push(node),
            Some(OpenKind::Map(entries, key)) => {
                let at = node.at;
                let Some((name, key_at)) = key.take() else {
                    let reason = "a key must be a text, not a list or a map".to_owned();
                    return Err(SyntaxError { at, reason });
                };
                if let Some(earlier) = entries.iter().find(|entry| entry.key == name) {
                    let reason = format!(
                        "the key {name} stands twice, first in line {}",
                        earlier.key_at.line
                    );
                    return Err(SyntaxError { at: key_at, reason });
                }
                entries.push(Entry { key: name, key_at, value: node });
            }
        }
        Ok(())
    }
}

/// Resolves the merge key `<<`: what the map itself says wins.
fn merged(mut entries: Vec<Entry>) -> Vec<Entry> {
    let Some(at) = entries.iter().position(|entry| entry.key == "<<") else { return entries };
    let merge = entries.remove(at);
    let sources = match merge.value.content {
        Content::List(items) => items.into_iter().map(|item| item.content).collect(),
        other => vec![other],
    };
    for source in sources {
        let Content::Map(inherited) = source else { continue };
        for entry in inherited {
            if !entries.iter().any(|own| own.key == entry.key) {
                entries.push(entry);
            }
        }
    }
    entries
}

fn null_at(at: Position) -> Node {
    Node { at, content: Content::Scalar(serde_json::Value::Null) }
}

fn position(marker: Marker) -> Position {
    Position { line: marker.line(), column: marker.col() + 1 }
}

fn syntax_error(error: ScanError) -> SyntaxError {
    SyntaxError { at: position(*error.marker()), reason: error.info() }
}

#[cfg(test)]
mod tests;
