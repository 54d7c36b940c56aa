//! Calls of functions.

use std::sync::Arc;

use super::{
    super::{
        ast::{Ast, AstKind},
        functions::{self, Missing, Style},
        node::{Kind, Node, Slot},
        patterns::{self, Pattern},
        types::Type,
        value::Value,
    },
    Lowered, Lowering, chain,
    fold::folded,
};
use crate::{eval::Reason, json_path::SyntaxError};

impl Lowering<'_> {
    pub(super) fn call(
        &mut self,
        at: usize,
        target: Option<&Ast>,
        name: &str,
        args: &[Ast],
    ) -> Lowered {
        if self.environment.macros
            && let Some(found) = self.expand(at, target, name, args)?
        {
            return Ok(found);
        }
        let Some(target) = target else {
            let args = self.all(args)?;
            return self.function(at, name, Style::Global, args);
        };
        if let Some(full) = self.namespaced(target, name) {
            let args = self.all(args)?;
            return self.function(target.at, &full, Style::Global, args);
        }
        let mut given = vec![self.lower(target)?];
        given.extend(self.all(args)?);
        self.function(at, name, Style::Method, given)
    }

    fn all(&mut self, args: &[Ast]) -> Result<Vec<(Node, Type)>, SyntaxError> {
        args.iter().map(|arg| self.lower(arg)).collect()
    }

    /// The full name of a function in a namespace, such as `math.abs`.
    fn namespaced(&self, target: &Ast, name: &str) -> Option<String> {
        let (names, _) = chain(target)?;
        let first = names.first()?;
        let is_variable = self.scope.iter().any(|(bound, _)| bound == first);
        let full = format!("{}.{name}", names.join("."));
        (!is_variable && functions::is_known(&full, Style::Global)).then_some(full)
    }

    /// A call of a function whose arguments are there.
    pub(super) fn function(
        &mut self,
        at: usize,
        name: &str,
        style: Style,
        args: Vec<(Node, Type)>,
    ) -> Lowered {
        let (nodes, given): (Vec<_>, Vec<_>) = args.into_iter().unzip();
        let run = match functions::find(name, style, nodes.len()) {
            Ok(run) => run,
            Err(Missing::Name) => return self.refuse(at, format!("function {name}")),
            Err(_) => {
                let what = format!("function {name} of {} arguments", nodes.len());
                return self.refuse(at, what);
            }
        };
        let result = match functions::result(name, style, &given) {
            Ok(result) => result,
            Err(_) if self.environment.is_checked() => return Err(unfit(at, name, &given)),
            Err(_) => Type::Dynamic,
        };
        let pattern = nodes.get(1).and_then(Node::constant).and_then(Value::as_text);
        let kind = match patterns::use_of(name).zip(pattern) {
            Some((what, pattern)) => match Pattern::compile(pattern) {
                Ok(pattern) => Kind::Match { pattern: Arc::new(pattern), what, args: nodes },
                Err(reason) => return self.fail(nodes.get(1).map_or(at, |node| node.at), reason),
            },
            None => Kind::Call { name: name.into(), run, args: nodes },
        };
        Ok((folded(Node { at, kind }), result))
    }

    /// Variables of `cel.block` and its kin, which stand for themselves.
    pub(super) fn variable(&self, at: usize, name: &str) -> Lowered {
        match self.scope.iter().rposition(|(bound, _)| bound == name) {
            Some(slot) => {
                let of = self.scope.get(slot).map_or(Type::Dynamic, |(_, of)| of.clone());
                Ok((Node { at, kind: Kind::Slot(Slot::Local(slot)) }, of))
            }
            None => self.fail(at, Reason::Unknown(format!("variable {name}").into())),
        }
    }
}

/// The name that a macro binds.
pub(super) fn bound_name(ast: &Ast) -> Option<String> {
    match &ast.kind {
        AstKind::Name { name, from_root: false } => Some(name.clone()),
        AstKind::Call { target: Some(target), name, args } if is_cel(target) => {
            placeholder(name, args)
        }
        _ => None,
    }
}

pub(super) fn is_cel(target: &Ast) -> bool {
    matches!(&target.kind, AstKind::Name { name, .. } if name == "cel")
}

/// What `cel.index(1)` and `cel.iterVar(0, 1)` are called.
pub(super) fn placeholder(name: &str, args: &[Ast]) -> Option<String> {
    let numbers = args.iter().map(|arg| match &arg.kind {
        AstKind::Literal(Value::Int(int)) => Some(int.to_string()),
        _ => None,
    });
    let numbers = numbers.collect::<Option<Vec<_>>>()?;
    match (name, args.len()) {
        ("index", 1) | ("iterVar" | "accuVar", 2) => Some(format!("@{name}:{}", numbers.join(":"))),
        _ => None,
    }
}

/// No function of the name takes values of these types.
pub(super) fn unfit(at: usize, name: &str, given: &[Type]) -> SyntaxError {
    let types: Vec<_> = given.iter().map(ToString::to_string).collect();
    let name = name.trim_end_matches('_');
    SyntaxError { at, reason: format!("{name} does not take {}", types.join(", ")) }
}
