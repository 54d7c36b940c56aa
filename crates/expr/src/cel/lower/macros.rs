//! Macros: calls whose arguments are not values.

use super::{
    super::{
        ast::{Ast, AstKind},
        node::{Kind, Loop, LoopKind, Node, Variables},
        types::Type,
    },
    Lowered, Lowering,
    calls::{bound_name, is_cel, placeholder},
    fold::folded,
};
use crate::json_path::SyntaxError;

impl Lowering<'_> {
    /// The call as a macro, if it is one.
    pub(super) fn expand(
        &mut self,
        at: usize,
        target: Option<&Ast>,
        name: &str,
        args: &[Ast],
    ) -> Result<Option<(Node, Type)>, SyntaxError> {
        let found = match (target, name, args) {
            (None, "has", [tested]) => self.has(at, tested),
            (Some(target), "bind", [variable, value, body]) if is_cel(target) => {
                let name = named(variable)?;
                let value = self.lower(value)?;
                self.bind(at, vec![(name, value)], body)
            }
            (Some(target), "block", [list, body]) if is_cel(target) => self.block(at, list, body),
            (Some(target), name, args) if is_cel(target) => match placeholder(name, args) {
                Some(name) => self.variable(at, &name),
                None => return Ok(None),
            },
            (Some(target), "optMap" | "optFlatMap", [variable, body]) => {
                self.optional_map(at, target, variable, (body, name == "optFlatMap"))
            }
            (Some(target), "or" | "orValue", [other]) => {
                self.or_else(at, target, other, name == "orValue")
            }
            (Some(target), _, _) => match shape(name, args) {
                Some(shape) => self.looped(at, target, shape, args),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        found.map(Some)
    }

    fn has(&mut self, at: usize, tested: &Ast) -> Lowered {
        let AstKind::Select { of, field, .. } = &tested.kind else {
            let reason = "has() takes a field, such as has(object.spec)".to_owned();
            return Err(SyntaxError { at: tested.at, reason });
        };
        let (of, given) = self.lower(of)?;
        self.field_type(tested.at, &given, field)?;
        let kind = Kind::Has { of: Box::new(of), field: field.as_str().into() };
        Ok((folded(Node { at, kind }), Type::BOOL))
    }

    /// The body with values bound to names, the first outermost.
    fn bind(&mut self, at: usize, bound: Vec<(String, (Node, Type))>, body: &Ast) -> Lowered {
        let mut values = Vec::with_capacity(bound.len());
        let depth = self.scope.len();
        for (name, (value, of)) in bound {
            self.scope.push((name, of));
            values.push(value);
        }
        let lowered = self.lower(body);
        self.scope.truncate(depth);
        let (mut node, of) = lowered?;
        for value in values.into_iter().rev() {
            let kind = Kind::Bind { value: Box::new(value), body: Box::new(node) };
            node = Node { at, kind };
        }
        Ok((node, of))
    }

    /// `cel.block([a, b], c)`: each value sees those before it.
    fn block(&mut self, at: usize, list: &Ast, body: &Ast) -> Lowered {
        let AstKind::List(items) = &list.kind else {
            let reason = "cel.block takes a list of values".to_owned();
            return Err(SyntaxError { at: list.at, reason });
        };
        let depth = self.scope.len();
        let mut values = Vec::with_capacity(items.len());
        for (index, (_, item)) in items.iter().enumerate() {
            let lowered = self.lower(item);
            let (node, of) = match lowered {
                Ok(lowered) => lowered,
                Err(error) => {
                    self.scope.truncate(depth);
                    return Err(error);
                }
            };
            values.push(node);
            self.scope.push((format!("@index:{index}"), of));
        }
        let lowered = self.lower(body);
        self.scope.truncate(depth);
        let (mut node, of) = lowered?;
        for value in values.into_iter().rev() {
            let kind = Kind::Bind { value: Box::new(value), body: Box::new(node) };
            node = Node { at, kind };
        }
        Ok((node, of))
    }

    fn optional_map(
        &mut self,
        at: usize,
        target: &Ast,
        variable: &Ast,
        (body, flat): (&Ast, bool),
    ) -> Lowered {
        let (of, given) = self.lower(target)?;
        let inner = match given {
            Type::Optional(inner) => *inner,
            other => self.optional(of.at, other)?,
        };
        let name = named(variable)?;
        let (body, found) = self.within(vec![(name, inner)], body)?;
        let found = match (flat, found) {
            (false, found) => Type::optional(found),
            (true, found @ Type::Optional(_)) => found,
            (true, other) => Type::optional(self.optional(body.at, other)?),
        };
        let kind = Kind::OptionalMap { of: Box::new(of), body: Box::new(body), flat };
        Ok((Node { at, kind }, found))
    }

    /// Nothing is known of what may be an optional; anything else is none.
    fn optional(&self, at: usize, of: Type) -> Result<Type, SyntaxError> {
        if of == Type::Dynamic || !self.environment.is_checked() {
            return Ok(Type::Dynamic);
        }
        Err(SyntaxError { at, reason: format!("an optional is needed, and this is {of}") })
    }

    fn or_else(&mut self, at: usize, target: &Ast, other: &Ast, unwrap: bool) -> Lowered {
        let (of, given) = self.lower(target)?;
        let (other, else_given) = self.lower(other)?;
        let inner = match given {
            Type::Optional(inner) => *inner,
            other => self.optional(of.at, other)?,
        };
        let found = match (unwrap, else_given) {
            (true, given) => inner.join(given),
            (false, Type::Optional(given)) => Type::optional(inner.join(*given)),
            (false, given) => Type::optional(self.optional(other.at, given)?),
        };
        let kind = Kind::OrElse { of: Box::new(of), other: Box::new(other), unwrap };
        Ok((folded(Node { at, kind }), found))
    }

    /// Lowers a body in which names are bound.
    fn within(&mut self, bound: Vec<(String, Type)>, body: &Ast) -> Lowered {
        let depth = self.scope.len();
        self.scope.extend(bound);
        let lowered = self.lower(body);
        self.scope.truncate(depth);
        lowered
    }

    fn looped(&mut self, at: usize, target: &Ast, shape: Shape, args: &[Ast]) -> Lowered {
        let (source, given) = self.lower(target)?;
        let Shape { kind, variables, filtered } = shape;
        let (first, second) = match given {
            Type::List(of) => match variables {
                Variables::One => (*of, Type::Dynamic),
                Variables::Two => (Type::INT, *of),
            },
            Type::Map(key, value) => (*key, *value),
            Type::Dynamic => (Type::Dynamic, Type::Dynamic),
            _ if !self.environment.is_checked() => (Type::Dynamic, Type::Dynamic),
            other => {
                return Err(SyntaxError { at, reason: format!("{other} has no elements") });
            }
        };
        let types = [first.clone(), second];
        let count = variables.count();
        let (names, bodies) = args.split_at_checked(count).unwrap_or_default();
        let mut bound = Vec::with_capacity(count);
        for (name, of) in names.iter().zip(types) {
            let name_of = named(name)?;
            if bound.iter().any(|(earlier, _)| *earlier == name_of) {
                let reason = format!("{name_of} is bound twice");
                return Err(SyntaxError { at: name.at, reason });
            }
            bound.push((name_of, of));
        }
        let (filter, body) = match bodies {
            [filter, body] if filtered => (Some(filter), body),
            [body, ..] => (None, body),
            [] => return Err(SyntaxError { at, reason: "the body is missing".to_owned() }),
        };
        let filter = match filter {
            Some(filter) => {
                let (filter, given) = self.within(bound.clone(), filter)?;
                self.needs_bool(&filter, &given)?;
                Some(filter)
            }
            None => None,
        };
        let (body, given) = self.within(bound, body)?;
        let found = match kind {
            LoopKind::All | LoopKind::Exists | LoopKind::ExistsOne => {
                self.needs_bool(&body, &given)?;
                Type::BOOL
            }
            LoopKind::Filter => {
                self.needs_bool(&body, &given)?;
                Type::list(first)
            }
            LoopKind::SortBy => Type::list(first),
            LoopKind::List => Type::list(given),
            LoopKind::Map => Type::Map(Box::new(first), Box::new(given)),
            LoopKind::Entries => Type::Map(Box::new(Type::Dynamic), Box::new(Type::Dynamic)),
        };
        let kind = Kind::Loop(Box::new(Loop { kind, source, variables, filter, body }));
        Ok((Node { at, kind }, found))
    }
}

/// Which loop a call is.
struct Shape {
    kind: LoopKind,
    variables: Variables,
    filtered: bool,
}

fn shape(name: &str, args: &[Ast]) -> Option<Shape> {
    use LoopKind::{All, Entries, Exists, ExistsOne, Filter, List, Map, SortBy};
    use Variables::{One, Two};
    let (kind, variables, filtered) = match (name, args.len()) {
        ("all", 2) => (All, One, false),
        ("all", 3) => (All, Two, false),
        ("exists", 2) => (Exists, One, false),
        ("exists", 3) => (Exists, Two, false),
        ("exists_one" | "existsOne", 2) => (ExistsOne, One, false),
        ("exists_one" | "existsOne", 3) => (ExistsOne, Two, false),
        ("filter", 2) => (Filter, One, false),
        ("map", 2) => (List, One, false),
        ("map", 3) => (List, One, true),
        ("sortBy", 2) => (SortBy, One, false),
        ("transformList", 3) => (List, Two, false),
        ("transformList", 4) => (List, Two, true),
        ("transformMap", 3) => (Map, Two, false),
        ("transformMap", 4) => (Map, Two, true),
        ("transformMapEntry", 3) => (Entries, Two, false),
        ("transformMapEntry", 4) => (Entries, Two, true),
        _ => return None,
    };
    Some(Shape { kind, variables, filtered })
}

fn named(variable: &Ast) -> Result<String, SyntaxError> {
    bound_name(variable).ok_or_else(|| SyntaxError {
        at: variable.at,
        reason: "a simple name is needed, which the rest can use".to_owned(),
    })
}
