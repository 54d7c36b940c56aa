//! From [`Ast`] to [`Node`]: names become slots and functions, chains of
//! fields become walks, and what is constant is computed.
//!
//! Types are followed on the way. What they rule out is an error here, unless
//! the environment asks for no check; then it is one when it is reached.

mod calls;
mod fold;
mod macros;

use super::{
    Environment,
    ast::{Ast, AstKind, Binary, Optional},
    functions::{self, Style},
    node::{Kind, Node, Slot, Step, StepKind},
    operators,
    types::Type,
    value::Value,
};
use crate::{eval::Reason, json_path::SyntaxError};
use fold::folded;

/// A part and what is known of its type.
type Lowered = Result<(Node, Type), SyntaxError>;

/// Lowers a whole expression.
pub(crate) fn lower(ast: &Ast, environment: &Environment) -> Lowered {
    Lowering { environment, scope: Vec::new() }.lower(ast)
}

struct Lowering<'e> {
    environment: &'e Environment,
    /// The variables that macros have bound, by name; their places are those
    /// of their slots.
    scope: Vec<(String, Type)>,
}

impl Lowering<'_> {
    fn lower(&mut self, ast: &Ast) -> Lowered {
        let at = ast.at;
        match &ast.kind {
            AstKind::Literal(value) => {
                let of = Type::Named(value.type_name());
                Ok((Node { at, kind: Kind::Constant(value.clone()) }, of))
            }
            AstKind::Name { name, .. } => match self.resolve(ast) {
                Some(found) => Ok(found),
                None => self.refuse(at, format!("variable {name}")),
            },
            AstKind::Select { of, field, optional } => match self.resolve(ast) {
                Some(found) => Ok(found),
                None => self.select(at, of, field, *optional),
            },
            AstKind::Index { of, key, optional } => self.index(at, of, key, *optional),
            AstKind::Call { target, name, args } => self.call(at, target.as_deref(), name, args),
            AstKind::List(items) => self.list(at, items),
            AstKind::Map(entries) => self.map(at, entries),
            AstKind::And(parts) => self.logic(at, parts, Kind::And),
            AstKind::Or(parts) => self.logic(at, parts, Kind::Or),
            AstKind::Not(of) => {
                let (of, given) = self.lower(of)?;
                self.needs_bool(&of, &given)?;
                let node = Node { at, kind: Kind::Not(Box::new(of)) };
                Ok((folded(node), Type::BOOL))
            }
            AstKind::Negate(of) => {
                let of = self.lower(of)?;
                self.function(at, "-_", Style::Global, vec![of])
            }
            AstKind::Binary(operator, left, right) => self.binary(at, *operator, left, right),
            AstKind::Conditional(test, yes, no) => {
                let (test, given) = self.lower(test)?;
                self.needs_bool(&test, &given)?;
                let ((yes, one), (no, other)) = (self.lower(yes)?, self.lower(no)?);
                if self.environment.is_checked() && !one.agrees_with(&other) {
                    let reason =
                        format!("one side is {one} and the other {other}; dyn() permits it");
                    return Err(SyntaxError { at, reason });
                }
                let kind = match test.constant() {
                    Some(Value::Bool(true)) => yes.kind,
                    Some(Value::Bool(false)) => no.kind,
                    _ => Kind::Conditional(Box::new([test, yes, no])),
                };
                Ok((Node { at, kind }, one.join(other)))
            }
        }
    }

    /// What is not there is an error now, or when it is reached.
    fn refuse(&self, at: usize, what: String) -> Lowered {
        self.fail(at, Reason::Unknown(what.into()))
    }

    fn fail(&self, at: usize, reason: Reason) -> Lowered {
        if self.environment.is_checked() {
            return Err(SyntaxError { at, reason: reason.to_string() });
        }
        Ok((Node { at, kind: Kind::Fail(reason) }, Type::Dynamic))
    }

    fn needs_bool(&self, node: &Node, given: &Type) -> Result<(), SyntaxError> {
        let fits = matches!(given, Type::Dynamic) || *given == Type::BOOL;
        if fits || !self.environment.is_checked() {
            return Ok(());
        }
        let reason = format!("a bool is needed, and this is {given}");
        Err(SyntaxError { at: node.at, reason })
    }

    /// A variable or a type, if a name or a chain of names is one as a whole.
    fn resolve(&self, ast: &Ast) -> Option<(Node, Type)> {
        let (names, from_root) = chain(ast)?;
        let at = ast.at;
        let first = names.first()?;
        if !from_root && let Some(slot) = self.scope.iter().rposition(|(name, _)| name == first) {
            let (_, of) = self.scope.get(slot).filter(|_| names.len() == 1)?;
            return Some((Node { at, kind: Kind::Slot(Slot::Local(slot)) }, of.clone()));
        }
        let name = names.join(".");
        for candidate in self.environment.candidates(&name, from_root) {
            if let Some(root) = self.environment.variable(&candidate) {
                let kind = Kind::Slot(Slot::Root(root));
                return Some((Node { at, kind }, Type::Dynamic));
            }
        }
        let known = TYPES.iter().find(|known| **known == name)?;
        Some((Node { at, kind: Kind::Constant(Value::Type(known)) }, Type::Named("type")))
    }

    fn select(&mut self, at: usize, of: &Ast, field: &str, optional: bool) -> Lowered {
        let (of, given) = self.lower(of)?;
        let found = self.field_type(at, &given, field)?;
        if optional {
            let found = match found {
                Type::Optional(of) => *of,
                other => other,
            };
            let kind = Kind::OptionalSelect { of: Box::new(of), field: field.into() };
            return Ok((folded(Node { at, kind }), Type::optional(found)));
        }
        let step = Step { at, kind: StepKind::Field(field.into()) };
        Ok((stepped(of, step), found))
    }

    fn field_type(&self, at: usize, of: &Type, field: &str) -> Result<Type, SyntaxError> {
        match of {
            Type::Dynamic => Ok(Type::Dynamic),
            Type::Map(key, value) if matches!(**key, Type::Dynamic) || **key == STRING => {
                Ok((**value).clone())
            }
            Type::Optional(of) => Ok(Type::optional(self.field_type(at, of, field)?)),
            _ if !self.environment.is_checked() => Ok(Type::Dynamic),
            other => Err(SyntaxError { at, reason: format!("{other} has no field {field}") }),
        }
    }

    fn index(&mut self, at: usize, of: &Ast, key: &Ast, optional: bool) -> Lowered {
        let (of, given) = self.lower(of)?;
        let (key, by) = self.lower(key)?;
        let found = self.element_type(at, &given, &by)?;
        if optional {
            let found = match found {
                Type::Optional(of) => *of,
                other => other,
            };
            let kind = Kind::OptionalIndex { of: Box::new(of), key: Box::new(key) };
            return Ok((folded(Node { at, kind }), Type::optional(found)));
        }
        let step = match key.constant() {
            Some(Value::Text(name)) => Some(StepKind::Field(name.as_str().into())),
            Some(Value::Int(index)) => Some(StepKind::Index(*index)),
            _ => None,
        };
        let step = step.filter(|_| matches!(of.kind, Kind::Slot(_) | Kind::Walk { .. }));
        let node = if let Some(kind) = step {
            stepped(of, Step { at, kind })
        } else {
            folded(Node { at, kind: Kind::Index { of: Box::new(of), key: Box::new(key) } })
        };
        Ok((node, found))
    }

    fn element_type(&self, at: usize, of: &Type, by: &Type) -> Result<Type, SyntaxError> {
        let number = [Type::Dynamic, Type::INT, Type::Named("uint"), Type::Named("double")];
        match of {
            Type::Dynamic => Ok(Type::Dynamic),
            Type::List(of) if number.contains(by) => Ok((**of).clone()),
            Type::Map(key, value)
                if matches!(**key, Type::Dynamic) || number.contains(by) || **key == *by =>
            {
                Ok((**value).clone())
            }
            Type::Optional(of) => Ok(Type::optional(self.element_type(at, of, by)?)),
            _ if !self.environment.is_checked() => Ok(Type::Dynamic),
            other => Err(SyntaxError { at, reason: format!("{other} has no element by {by}") }),
        }
    }

    fn list(&mut self, at: usize, items: &[(Optional, Ast)]) -> Lowered {
        let mut of: Option<Type> = None;
        let mut nodes = Vec::with_capacity(items.len());
        for (optional, item) in items {
            let (node, given) = self.lower(item)?;
            let given = self.entry_type(node.at, *optional, given)?;
            of = Some(of.map_or(given.clone(), |of| of.join(given)));
            nodes.push((*optional, node));
        }
        let node = folded(Node { at, kind: Kind::List(nodes) });
        Ok((node, Type::list(of.unwrap_or(Type::Dynamic))))
    }

    fn map(&mut self, at: usize, entries: &[(Optional, Ast, Ast)]) -> Lowered {
        let mut of: Option<(Type, Type)> = None;
        let mut nodes = Vec::with_capacity(entries.len());
        for (optional, key, value) in entries {
            let (key, by) = self.lower(key)?;
            let (value, given) = self.lower(value)?;
            let given = self.entry_type(value.at, *optional, given)?;
            of = Some(match of {
                None => (by, given),
                Some((key, value)) => (key.join(by), value.join(given)),
            });
            nodes.push((*optional, key, value));
        }
        let (key, value) = of.unwrap_or((Type::Dynamic, Type::Dynamic));
        let node = folded(Node { at, kind: Kind::Map(nodes) });
        Ok((node, Type::Map(Box::new(key), Box::new(value))))
    }

    fn entry_type(&self, at: usize, optional: Optional, of: Type) -> Result<Type, SyntaxError> {
        match (optional, of) {
            (Optional::No, of) => Ok(of),
            (Optional::Yes, Type::Optional(of)) => Ok(*of),
            (Optional::Yes, other) if other == Type::Dynamic || !self.environment.is_checked() => {
                Ok(Type::Dynamic)
            }
            (Optional::Yes, other) => {
                let reason = format!("an optional is needed, and this is {other}");
                Err(SyntaxError { at, reason })
            }
        }
    }

    fn logic(&mut self, at: usize, parts: &[Ast], make: fn(Vec<Node>) -> Kind) -> Lowered {
        let mut nodes = Vec::with_capacity(parts.len());
        for part in parts {
            let (node, given) = self.lower(part)?;
            self.needs_bool(&node, &given)?;
            nodes.push(node);
        }
        Ok((folded(Node { at, kind: make(nodes) }), Type::BOOL))
    }

    fn binary(&mut self, at: usize, operator: Binary, left: &Ast, right: &Ast) -> Lowered {
        let args = vec![self.lower(left)?, self.lower(right)?];
        let run = match operator {
            Binary::LessOrEqual => operators::less_or_equal,
            Binary::Greater => operators::greater,
            Binary::GreaterOrEqual => operators::greater_or_equal,
            _ => return self.function(at, operator.name(), Style::Global, args),
        };
        // All orderings take the same types.
        let given: Vec<_> = args.iter().map(|(_, given)| given.clone()).collect();
        if functions::result(operators::ORDERING, Style::Global, &given).is_err()
            && self.environment.is_checked()
        {
            return Err(calls::unfit(at, operator.name(), &given));
        }
        let args = args.into_iter().map(|(node, _)| node).collect();
        let kind = Kind::Call { name: operator.name().into(), run, args };
        Ok((folded(Node { at, kind }), Type::BOOL))
    }
}

/// A step further, as part of a walk if there is one.
fn stepped(of: Node, step: Step) -> Node {
    let at = of.at;
    let kind = match (of.kind, step) {
        (Kind::Slot(from), step) => Kind::Walk { from, steps: vec![step] },
        (Kind::Walk { from, mut steps }, step) => {
            steps.push(step);
            Kind::Walk { from, steps }
        }
        (kind, Step { at: place, kind: StepKind::Field(field) }) => {
            let of = Box::new(Node { at, kind });
            return folded(Node { at: place, kind: Kind::Select { of, field } });
        }
        (kind, Step { at: place, kind: StepKind::Index(index) }) => {
            let of = Box::new(Node { at, kind });
            let key = Node { at: place, kind: Kind::Constant(Value::Int(index)) };
            let kind = Kind::Index { of, key: Box::new(key) };
            return folded(Node { at: place, kind });
        }
    };
    Node { at, kind }
}

const STRING: Type = Type::Named("string");

/// Types that can be named.
const TYPES: [&str; 20] = [
    "bool",
    "int",
    "uint",
    "double",
    "string",
    "bytes",
    "list",
    "map",
    "null_type",
    "type",
    "optional_type",
    "google.protobuf.Timestamp",
    "google.protobuf.Duration",
    "net.IP",
    "net.CIDR",
    "kubernetes.Quantity",
    "kubernetes.URL",
    "kubernetes.Semver",
    "kubernetes.NamedFormat",
    "kubernetes.CIDR",
];

/// The names of a chain such as `a.b.c`, and whether it begins with a dot.
fn chain(ast: &Ast) -> Option<(Vec<&str>, bool)> {
    match &ast.kind {
        AstKind::Name { name, from_root } => Some((vec![name], *from_root)),
        AstKind::Select { of, field, optional: false } => {
            let (mut names, from_root) = chain(of)?;
            names.push(field);
            Some((names, from_root))
        }
        _ => None,
    }
}
