//! YAML as Kubernetes tools write it.
//!
//! Copies that move between implementations of the contract must not show up
//! as changes, so the rules are exact: block style, two spaces, lists flush
//! with their key, keys in natural order, texts plain wherever a YAML 1.1
//! reader would still read a text, lines folded at the first chance after
//! column 80.

mod scalar;
mod resolve;
mod order;
mod number;

use serde_json::{Map, Value};

/// The column after which a line is folded at the next single space.
const WIDTH: usize = 80;
/// How much deeper each level stands.
const STEP: usize = 2;
/// The longest key, in bytes, that may stand on one line with its value.
const LONGEST_KEY: usize = 128;

/// Writes a value as one document, with a line break at its end.
///
/// Integers of 64 bits stay exact. A character that YAML does not allow in
/// the open is escaped, so that no text is lost or refused.
pub(super) fn document(value: &Value) -> Vec<u8> {
    let mut emitter = Emitter::new();
    emitter.node(value, Parent::Nothing);
    emitter.indent_to(0);
    emitter.out.into_bytes()
}

/// What a value stands in, and how deep that stands.
#[derive(Clone, Copy)]
enum Parent {
    Nothing,
    List(usize),
    Mapping(usize),
}

impl Parent {
    /// Where a mapping inside it stands.
    fn inner(self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::List(indent) | Self::Mapping(indent) => indent + STEP,
        }
    }

    /// Where further lines of a text inside it stand.
    fn continuation(self) -> usize {
        match self {
            Self::Nothing => STEP,
            Self::List(_) | Self::Mapping(_) => self.inner(),
        }
    }
}

/// Writes and knows where it is.
struct Emitter {
    out: String,
    /// Characters since the last line break.
    column: usize,
    /// Whether a blank, or nothing at all, stands before the next character.
    spaced: bool,
    /// Whether the line holds nothing yet but indentation and indicators that
    /// count as such, so that a block may begin on it.
    indented: bool,
}

impl Emitter {
    fn new() -> Self {
        Self { out: String::new(), column: 0, spaced: true, indented: true }
    }

    fn node(&mut self, value: &Value, parent: Parent) {
        match value {
            Value::Null => self.word("null"),
            Value::Bool(true) => self.word("true"),
            Value::Bool(false) => self.word("false"),
            Value::Number(number) => self.word(&number::spell(number)),
            Value::String(text) => {
                self.text(text, scalar::Place::Value { indent: parent.continuation() });
            }
            Value::Array(items) if items.is_empty() => self.mark("[]", Indentation::Ends),
            Value::Array(items) => self.list(items, parent),
            Value::Object(fields) if fields.is_empty() => self.mark("{}", Indentation::Ends),
            Value::Object(fields) => self.mapping(fields, parent.inner()),
        }
    }

    fn list(&mut self, items: &[Value], parent: Parent) {
        let indent = match parent {
            // Under its key on the line before, a list stands flush with it.
            Parent::Mapping(indent) if !self.indented => indent,
            _ => parent.inner(),
        };
        for item in items {
            self.indent_to(indent);
            self.mark("-", Indentation::Continues);
            self.node(item, Parent::List(indent));
        }
    }

    fn mapping(&mut self, fields: &Map<String, Value>, indent: usize) {
        for (key, value) in order::sorted(fields) {
            self.indent_to(indent);
            if key.len() <= LONGEST_KEY && !key.contains(scalar::is_break) {
                self.text(key, scalar::Place::Key);
                self.put(':');
                self.spaced = false;
                self.indented = false;
            } else {
                self.mark("?", Indentation::Continues);
                self.text(key, scalar::Place::Value { indent: indent + STEP });
                self.indent_to(indent);
                self.mark(":", Indentation::Continues);
            }
            self.node(value, Parent::Mapping(indent));
        }
    }

    fn put(&mut self, character: char) {
        self.out.push(character);
        self.column += 1;
    }

    fn break_line(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    /// Moves to a column, on the next line unless this one is still free.
    fn indent_to(&mut self, indent: usize) {
        let behind = self.column > indent || (self.column == indent && !self.spaced);
        if !self.indented || behind {
            self.break_line();
        }
        while self.column < indent {
            self.put(' ');
        }
        self.spaced = true;
        self.indented = true;
    }

    /// Writes an indicator, set off from what stands before it.
    fn mark(&mut self, indicator: &str, indentation: Indentation) {
        self.word_start();
        indicator.chars().for_each(|character| self.put(character));
        self.spaced = false;
        self.indented = self.indented && matches!(indentation, Indentation::Continues);
    }

    /// Writes what needs no quotes and has no blanks.
    fn word(&mut self, word: &str) {
        self.mark(word, Indentation::Ends);
    }

    fn word_start(&mut self) {
        if !self.spaced {
            self.put(' ');
        }
    }
}

/// Whether a block may still begin on the line after an indicator.
#[derive(Clone, Copy)]
enum Indentation {
    Continues,
    Ends,
}
