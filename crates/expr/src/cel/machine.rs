//! Evaluates the compiled form over borrowed values, within a budget.

mod access;
mod loops;

use std::sync::Arc;

use super::{
    ast::Optional,
    functions::{Run, unfit},
    node::{Kind, Node, Slot},
    value::{Key, Map, Text, Value},
};
use crate::{
    budget::Budget,
    eval::{EvalError, Reason},
};

/// What it costs to look at a part of an expression.
const STEP: usize = 24;

/// What a list or a map takes besides its elements.
const SHARED: usize = 48;

pub(super) type Evaluated<'v, 'a> = Result<Value<'v, 'a>, EvalError>;

/// The variables while an expression is evaluated.
pub(crate) struct Machine<'r, 'v, 'a> {
    roots: &'r [Value<'v, 'a>],
    locals: Vec<Value<'v, 'a>>,
    budget: &'r mut Budget,
}

impl<'r, 'v, 'a> Machine<'r, 'v, 'a> {
    pub(crate) fn new(roots: &'r [Value<'v, 'a>], budget: &'r mut Budget) -> Self {
        Self { roots, locals: Vec::new(), budget }
    }

    pub(crate) fn eval(&mut self, node: &'v Node) -> Evaluated<'v, 'a> {
        let fail = |reason| EvalError { at: node.at, reason };
        self.budget.take(STEP).map_err(fail)?;
        match &node.kind {
            Kind::Constant(value) => Ok(borrowed(value)),
            Kind::Slot(slot) => self.slot(*slot).cloned().map_err(fail),
            Kind::Walk { from, steps } => self.walk(*from, steps, node.at),
            Kind::Select { of, field } => access::select(&self.eval(of)?, field).map_err(fail),
            Kind::OptionalSelect { of, field } => {
                access::optional_select(&self.eval(of)?, field).map_err(fail)
            }
            Kind::Has { of, field } => {
                access::has(&self.eval(of)?, field).map(Value::Bool).map_err(fail)
            }
            Kind::Index { of, key } => {
                access::index(&self.eval(of)?, &self.eval(key)?).map_err(fail)
            }
            Kind::OptionalIndex { of, key } => {
                access::optional_index(&self.eval(of)?, &self.eval(key)?).map_err(fail)
            }
            Kind::Not(of) => match self.eval(of)? {
                Value::Bool(bool) => Ok(Value::Bool(!bool)),
                other => Err(fail(unfit("!", &[other]))),
            },
            Kind::And(parts) => self.logic(parts, false, "&&"),
            Kind::Or(parts) => self.logic(parts, true, "||"),
            Kind::Conditional(parts) => {
                let [test, yes, no] = &**parts;
                match self.eval(test)? {
                    Value::Bool(true) => self.eval(yes),
                    Value::Bool(false) => self.eval(no),
                    other => Err(fail(unfit("? :", &[other]))),
                }
            }
            Kind::Call { run, args, .. } => self.call(node.at, *run, args),
            Kind::Match { pattern, what, args } => self
                .with_values(args, |budget, values| pattern.run(budget, *what, values))?
                .map_err(fail),
            Kind::List(items) => self.list(node.at, items),
            Kind::Map(entries) => self.map(node.at, entries),
            Kind::Loop(looped) => {
                let base = self.locals.len();
                let found = self.run_loop(node.at, looped);
                self.locals.truncate(base);
                found
            }
            Kind::Bind { value, body } => {
                let value = self.eval(value)?;
                self.with_local(value, body)
            }
            Kind::OptionalMap { of, body, flat } => self.optional_map(node.at, of, body, *flat),
            Kind::OrElse { of, other, unwrap } => self.or_else(of, other, *unwrap),
            Kind::Fail(reason) => Err(fail(reason.clone())),
        }
    }

    fn slot(&self, slot: Slot) -> Result<&Value<'v, 'a>, Reason> {
        let found = match slot {
            Slot::Root(at) => self.roots.get(at),
            Slot::Local(at) => self.locals.get(at),
        };
        found.ok_or_else(|| Reason::Unknown("variable".into()))
    }

    fn with_local(&mut self, value: Value<'v, 'a>, body: &'v Node) -> Evaluated<'v, 'a> {
        let base = self.locals.len();
        self.locals.push(value);
        let found = self.eval(body);
        self.locals.truncate(base);
        found
    }

    /// One part may decide alone; what went wrong in the others then does not
    /// matter.
    fn logic(&mut self, parts: &'v [Node], decides: bool, name: &'static str) -> Evaluated<'v, 'a> {
        let mut wrong = None;
        for part in parts {
            match self.eval(part) {
                Ok(Value::Bool(bool)) if bool == decides => return Ok(Value::Bool(decides)),
                Ok(Value::Bool(_)) => {}
                Ok(other) => {
                    wrong.get_or_insert(EvalError { at: part.at, reason: unfit(name, &[other]) });
                }
                Err(error) if error.reason.is_final() => return Err(error),
                Err(error) => {
                    wrong.get_or_insert(error);
                }
            }
        }
        wrong.map_or(Ok(Value::Bool(!decides)), Err)
    }

    fn call(&mut self, at: usize, run: Run, args: &'v [Node]) -> Evaluated<'v, 'a> {
        self.with_values(args, run)?.map_err(|reason| EvalError { at, reason })
    }

    /// Hands over the values of a call's arguments; few need no allocation.
    fn with_values<T>(
        &mut self,
        args: &'v [Node],
        run: impl FnOnce(&mut Budget, &[Value<'v, 'a>]) -> T,
    ) -> Result<T, EvalError> {
        match args {
            [] => Ok(run(self.budget, &[])),
            [one] => {
                let values = [self.eval(one)?];
                Ok(run(self.budget, &values))
            }
            [one, two] => {
                let values = [self.eval(one)?, self.eval(two)?];
                Ok(run(self.budget, &values))
            }
            _ => {
                let values =
                    args.iter().map(|arg| self.eval(arg)).collect::<Result<Vec<_>, _>>()?;
                Ok(run(self.budget, &values))
            }
        }
    }

    fn list(&mut self, at: usize, items: &'v [(Optional, Node)]) -> Evaluated<'v, 'a> {
        let fail = |reason| EvalError { at, reason };
        self.budget.build(SHARED + items.len() * size_of::<Value<'_, '_>>()).map_err(fail)?;
        let mut list = Vec::with_capacity(items.len());
        for (optional, item) in items {
            match (optional, self.eval(item)?) {
                (Optional::No, value) => list.push(value),
                (Optional::Yes, Value::Optional(Some(value))) => list.push((*value).clone()),
                (Optional::Yes, Value::Optional(None)) => {}
                (Optional::Yes, other) => return Err(fail(not_optional(&other))),
            }
        }
        Ok(Value::list(list))
    }

    fn map(&mut self, at: usize, entries: &'v [(Optional, Node, Node)]) -> Evaluated<'v, 'a> {
        let fail = |reason| EvalError { at, reason };
        let size = 2 * entries.len() * size_of::<Value<'_, '_>>();
        self.budget.build(SHARED + size).map_err(fail)?;
        let mut map = Vec::with_capacity(entries.len());
        for (optional, key, value) in entries {
            let key = Key::of(self.eval(key)?).map_err(fail)?;
            match (optional, self.eval(value)?) {
                (Optional::No, value) => map.push((key, value)),
                (Optional::Yes, Value::Optional(Some(value))) => map.push((key, (*value).clone())),
                (Optional::Yes, Value::Optional(None)) => {}
                (Optional::Yes, other) => return Err(fail(not_optional(&other))),
            }
        }
        Ok(Value::Map(Arc::new(Map::new(map).map_err(fail)?)))
    }

    fn or_else(&mut self, of: &'v Node, other: &'v Node, unwrap: bool) -> Evaluated<'v, 'a> {
        match (self.eval(of)?, unwrap) {
            (Value::Optional(Some(value)), true) => Ok((*value).clone()),
            (value @ Value::Optional(Some(_)), false) => Ok(value),
            (Value::Optional(None), _) => self.eval(other),
            (value, _) => Err(EvalError { at: of.at, reason: unfit("or", &[value]) }),
        }
    }

    fn optional_map(
        &mut self,
        at: usize,
        of: &'v Node,
        body: &'v Node,
        flat: bool,
    ) -> Evaluated<'v, 'a> {
        let fail = |reason| EvalError { at, reason };
        match self.eval(of)? {
            Value::Optional(None) => Ok(Value::NONE),
            Value::Optional(Some(value)) => {
                let found = self.with_local((*value).clone(), body)?;
                match (flat, found) {
                    (true, found @ Value::Optional(_)) => Ok(found),
                    (true, other) => Err(fail(not_optional(&other))),
                    (false, found) => {
                        self.budget.build(2 * size_of::<Value<'_, '_>>()).map_err(fail)?;
                        Ok(Value::some(found))
                    }
                }
            }
            other => Err(fail(unfit("optMap", &[other]))),
        }
    }
}

fn not_optional(value: &Value<'_, '_>) -> Reason {
    Reason::Invalid(format!("an optional is needed, and this is {}", value.type_name()).into())
}

/// A constant without a copy of its text.
fn borrowed<'v>(value: &'v Value<'static, 'static>) -> Value<'v, 'static> {
    match value {
        Value::Text(text) => Value::Text(Text::Part(text.as_str())),
        other => other.clone(),
    }
}
