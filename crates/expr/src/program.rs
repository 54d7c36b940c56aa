//! The compiled form.
//!
//! A program is an expression over slots; slot 0 is the object. A path is a
//! walk from a slot; a filter binds the element that it looks at to slot 1.

use crate::{cel, json::Number};

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) source: Box<str>,
    pub(crate) root: Root,
}

/// What a program does: follows a path, or computes a value.
#[derive(Clone, Debug)]
pub(crate) enum Root {
    Path(Expr),
    Cel(Box<cel::node::Node>),
}

impl Program {
    /// The text that it was compiled from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it is CEL, and no path.
    pub fn is_cel(&self) -> bool {
        matches!(self.root, Root::Cel(_))
    }
}

/// Which value an expression starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// The object that the program reads.
    Object,
    /// The element that the innermost filter looks at.
    Element,
}

/// Anything that has values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    /// All values that the steps lead to.
    Walk {
        from: Slot,
        steps: Vec<Step>,
    },
    Text(Box<str>),
    Number(Number),
    Bool(bool),
}

/// One step of a walk, and where it stands in the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) at: usize,
    pub(crate) kind: StepKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StepKind {
    /// `.name`, `['name']`.
    Field(Box<str>),
    /// `[3]`, `[-1]`.
    Index(i64),
    /// `[from:to:step]`, `[*]`.
    Slice { from: Option<i64>, to: Option<i64>, step: i64 },
    /// `.*`: the values of a map or the elements of a list.
    Every,
    /// `..`: the value itself and everything below it.
    Descend,
    /// `[0,2]`, `['x','y']`.
    Union(Vec<Step>),
    /// `[?(…)]`.
    Filter(Box<Filter>),
}

/// What a filter asks of an element.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Filter {
    pub(crate) left: Expr,
    /// Absent: whether there is such a value.
    pub(crate) test: Option<(Operator, Expr)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}
