//! What a text says, before any name is looked up.

use super::value::Value;

/// A part of an expression and where it begins.
#[derive(Debug)]
pub(crate) struct Ast {
    pub(crate) at: usize,
    pub(crate) kind: AstKind,
    /// How many parts lie one within the other.
    pub(crate) depth: usize,
}

#[derive(Debug)]
pub(crate) enum AstKind {
    Literal(Value<'static, 'static>),
    /// `name`, or `.name` which is looked for from the root.
    Name {
        name: String,
        from_root: bool,
    },
    /// `of.field`, `of.?field`.
    Select {
        of: Box<Ast>,
        field: String,
        optional: bool,
    },
    /// `of[key]`, `of[?key]`.
    Index {
        of: Box<Ast>,
        key: Box<Ast>,
        optional: bool,
    },
    Call {
        target: Option<Box<Ast>>,
        name: String,
        args: Vec<Ast>,
    },
    /// `[a, ?b]`.
    List(Vec<(Optional, Ast)>),
    /// `{a: b, ?c: d}`.
    Map(Vec<(Optional, Ast, Ast)>),
    /// `a && b && c`.
    And(Vec<Ast>),
    Or(Vec<Ast>),
    Not(Box<Ast>),
    Negate(Box<Ast>),
    Binary(Binary, Box<Ast>, Box<Ast>),
    Conditional(Box<Ast>, Box<Ast>, Box<Ast>),
}

/// Whether an entry is left out where its value is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Optional {
    Yes,
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Binary {
    /// As it is spelled, which is also the name of its function.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::In => "in",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }
}

impl Ast {
    pub(crate) fn new(at: usize, kind: AstKind) -> Self {
        let below = match &kind {
            AstKind::Literal(_) | AstKind::Name { .. } => 0,
            AstKind::Select { of, .. } | AstKind::Not(of) | AstKind::Negate(of) => of.depth,
            AstKind::Index { of, key, .. } => of.depth.max(key.depth),
            AstKind::Call { target, args, .. } => {
                deepest(args).max(target.as_ref().map_or(0, |target| target.depth))
            }
            AstKind::And(parts) | AstKind::Or(parts) => deepest(parts),
            AstKind::List(items) => deepest(items.iter().map(|(_, item)| item)),
            AstKind::Map(entries) => {
                deepest(entries.iter().flat_map(|(_, key, value)| [key, value]))
            }
            AstKind::Binary(_, left, right) => left.depth.max(right.depth),
            AstKind::Conditional(test, yes, no) => test.depth.max(yes.depth).max(no.depth),
        };
        Self { at, kind, depth: below + 1 }
    }
}

fn deepest<'a>(parts: impl IntoIterator<Item = &'a Ast>) -> usize {
    parts.into_iter().map(|part| part.depth).max().unwrap_or_default()
}
