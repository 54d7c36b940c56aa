//! The compiled form of an expression.
//!
//! Names are resolved to slots, chains of fields are one walk, what is
//! constant is computed, and patterns are compiled.

use std::sync::Arc;

use super::{
    ast::Optional,
    functions::Run,
    patterns::{Pattern, Use},
    value::Value,
};
use crate::eval::Reason;

/// A part of an expression and where it stands in the source.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) at: usize,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Constant(Value<'static, 'static>),
    Slot(Slot),
    /// Fields and elements, one below the other.
    Walk {
        from: Slot,
        steps: Vec<Step>,
    },
    Select {
        of: Box<Node>,
        field: Box<str>,
    },
    OptionalSelect {
        of: Box<Node>,
        field: Box<str>,
    },
    Has {
        of: Box<Node>,
        field: Box<str>,
    },
    Index {
        of: Box<Node>,
        key: Box<Node>,
    },
    OptionalIndex {
        of: Box<Node>,
        key: Box<Node>,
    },
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    Conditional(Box<[Node; 3]>),
    Call {
        name: Box<str>,
        run: Run,
        args: Vec<Node>,
    },
    /// A function of a text whose pattern is known.
    Match {
        pattern: Arc<Pattern>,
        what: Use,
        args: Vec<Node>,
    },
    List(Vec<(Optional, Node)>),
    Map(Vec<(Optional, Node, Node)>),
    Loop(Box<Loop>),
    /// The body sees the value in the next slot.
    Bind {
        value: Box<Node>,
        body: Box<Node>,
    },
    /// The body sees what is in the optional, if there is something.
    OptionalMap {
        of: Box<Node>,
        body: Box<Node>,
        flat: bool,
    },
    /// What is in the optional, or else another value or optional.
    OrElse {
        of: Box<Node>,
        other: Box<Node>,
        unwrap: bool,
    },
    /// What was wrong when it was compiled without a check.
    Fail(Reason),
}

/// Where a value is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A variable of the environment.
    Root(usize),
    /// A variable that a macro binds.
    Local(usize),
}

/// A step of a walk.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) at: usize,
    pub(crate) kind: StepKind,
}

#[derive(Clone, Debug)]
pub(crate) enum StepKind {
    Field(Box<str>),
    Index(i64),
}

/// A body that is looked at for every element of a list or entry of a map.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub(crate) kind: LoopKind,
    pub(crate) source: Node,
    /// One sees elements or keys; two see index and element, or key and value.
    pub(crate) variables: Variables,
    /// What an element must fulfil to be looked at.
    pub(crate) filter: Option<Node>,
    pub(crate) body: Node,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variables {
    One,
    Two,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopKind {
    All,
    Exists,
    ExistsOne,
    Filter,
    List,
    Map,
    Entries,
    SortBy,
}

impl Variables {
    pub(crate) fn count(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

impl Node {
    pub(crate) fn constant(&self) -> Option<&Value<'static, 'static>> {
        match &self.kind {
            Kind::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The parts of which it is made.
    pub(crate) fn parts(&self) -> Vec<&Self> {
        match &self.kind {
            Kind::Constant(_) | Kind::Slot(_) | Kind::Walk { .. } | Kind::Fail(_) => Vec::new(),
            Kind::Select { of, .. }
            | Kind::OptionalSelect { of, .. }
            | Kind::Has { of, .. }
            | Kind::Not(of) => vec![of],
            Kind::Index { of, key } | Kind::OptionalIndex { of, key } => vec![of, key],
            Kind::And(parts) | Kind::Or(parts) => parts.iter().collect(),
            Kind::Conditional(parts) => parts.iter().collect(),
            Kind::Call { args, .. } | Kind::Match { args, .. } => args.iter().collect(),
            Kind::List(items) => items.iter().map(|(_, item)| item).collect(),
            Kind::Map(entries) => entries.iter().flat_map(|(_, key, value)| [key, value]).collect(),
            Kind::Loop(looped) => {
                let Loop { source, filter, body, .. } = &**looped;
                [Some(source), filter.as_ref(), Some(body)].into_iter().flatten().collect()
            }
            Kind::Bind { value, body } => vec![value, body],
            Kind::OptionalMap { of, body, .. } => vec![of, body],
            Kind::OrElse { of, other, .. } => vec![of, other],
        }
    }
}
