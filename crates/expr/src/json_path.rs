//! JSONPath as kubectl knows it.
//!
//! A path is `$.a.b` or `{.a.b}`. Fields are `.name` or `['name']`, with a
//! backslash before a dot that belongs to a name; lists take `[0]`, `[-1]`,
//! `[0:2]`, `[0,2]`, `[*]` and filters such as `[?(@.name=="web")]`; `.*` is
//! every field and `..` everything below. Where kubectl's answer depends on
//! the order of a map, ours is in the order of the keys, and an empty list
//! within a list does not end the walk. `["name"]` is taken too. Templates,
//! that is text around braces and `range`, are for printing and are refused.

mod parser;

use crate::program::{Expr, Program, Root, Slot};

/// Why a text is no path, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SyntaxError {
    /// The byte of the source at which it goes wrong.
    pub at: usize,
    pub reason: String,
}

/// Compiles a path.
pub fn compile(source: &str) -> Result<Program, SyntaxError> {
    let steps = parser::Parser::new(source).path()?;
    let root = Root::Path(Expr::Walk { from: Slot::Object, steps });
    Ok(Program { source: source.into(), root })
}

impl SyntaxError {
    /// The source with a caret under the place, for people.
    pub fn point_at(&self, source: &str) -> String {
        let before = source.get(..self.at).unwrap_or(source).chars().count();
        format!("{source}\n{}^ {}", " ".repeat(before), self.reason)
    }
}
