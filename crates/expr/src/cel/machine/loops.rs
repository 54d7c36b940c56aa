//! Macros that look at every element.

use std::sync::Arc;

use super::{
    super::{
        lists,
        node::{Loop, LoopKind, Node, Variables},
        value::{Key, Map, Value},
    },
    Evaluated, Machine, SHARED,
};
use crate::eval::{EvalError, Reason};

/// What it costs to go from one element to the next.
const STEP: usize = 24;

/// What is gathered from the elements.
enum Gathered<'v, 'a> {
    /// Whether the deciding answer came, and what went wrong until then.
    Logic {
        decides: bool,
        decided: bool,
        wrong: Option<EvalError>,
    },
    Count(usize),
    List(Vec<Value<'v, 'a>>),
    Keyed(Vec<(Value<'v, 'a>, Value<'v, 'a>)>),
    Map(Vec<(Key<'v, 'a>, Value<'v, 'a>)>),
}

/// Whether there is a reason to go on.
#[derive(PartialEq, Eq)]
enum Flow {
    On,
    Done,
}

impl<'v, 'a> Machine<'_, 'v, 'a> {
    pub(super) fn run_loop(&mut self, at: usize, looped: &'v Loop) -> Evaluated<'v, 'a> {
        let source = self.eval(&looped.source)?;
        let length = source.length().unwrap_or_default();
        let fail = |reason| EvalError { at, reason };
        let mut gathered = match looped.kind {
            LoopKind::All => Gathered::Logic { decides: false, decided: false, wrong: None },
            LoopKind::Exists => Gathered::Logic { decides: true, decided: false, wrong: None },
            LoopKind::ExistsOne => Gathered::Count(0),
            LoopKind::Filter => Gathered::List(Vec::new()),
            LoopKind::List => {
                let size = SHARED + length * size_of::<Value<'_, '_>>();
                self.budget.build(size).map_err(fail)?;
                Gathered::List(Vec::with_capacity(length))
            }
            LoopKind::SortBy => Gathered::Keyed(Vec::new()),
            LoopKind::Map | LoopKind::Entries => Gathered::Map(Vec::new()),
        };
        let base = self.locals.len();
        if let Some(items) = source.items() {
            for (index, item) in items.enumerate() {
                if looped.variables == Variables::Two {
                    let index = i64::try_from(index).unwrap_or(i64::MAX);
                    self.locals.push(Value::Int(index));
                }
                self.locals.push(item);
                let flow = self.look(looped, base, &mut gathered)?;
                self.locals.truncate(base);
                if flow == Flow::Done {
                    break;
                }
            }
        } else if let Some(entries) = source.entries() {
            for (key, value) in entries {
                self.locals.push(key.value());
                if looped.variables == Variables::Two {
                    self.locals.push(value);
                }
                let flow = self.look(looped, base, &mut gathered)?;
                self.locals.truncate(base);
                if flow == Flow::Done {
                    break;
                }
            }
        } else {
            return Err(EvalError { at: looped.source.at, reason: not_iterable(&source) });
        }
        self.settle(at, gathered)
    }

    /// Looks at one element, whose variables stand above the base.
    fn look(
        &mut self,
        looped: &'v Loop,
        base: usize,
        gathered: &mut Gathered<'v, 'a>,
    ) -> Result<Flow, EvalError> {
        let at = looped.body.at;
        let fail = |reason| EvalError { at, reason };
        self.budget.take(STEP).map_err(fail)?;
        if let Some(filter) = &looped.filter {
            match self.eval(filter)? {
                Value::Bool(true) => {}
                Value::Bool(false) => return Ok(Flow::On),
                other => return Err(EvalError { at: filter.at, reason: not_bool(&other) }),
            }
        }
        match gathered {
            Gathered::Logic { decides, decided, wrong } => {
                match self.test(&looped.body) {
                    Ok(bool) if bool == *decides => {
                        *decided = true;
                        return Ok(Flow::Done);
                    }
                    Ok(_) => {}
                    Err(error) if error.reason.is_final() => return Err(error),
                    Err(error) => {
                        wrong.get_or_insert(error);
                    }
                }
                Ok(Flow::On)
            }
            Gathered::Count(count) => {
                *count += usize::from(self.test(&looped.body)?);
                Ok(Flow::On)
            }
            Gathered::List(list) if looped.kind == LoopKind::Filter => {
                if self.test(&looped.body)? {
                    self.budget.build(2 * size_of::<Value<'_, '_>>()).map_err(fail)?;
                    list.extend(self.locals.get(base).cloned());
                }
                Ok(Flow::On)
            }
            Gathered::List(list) => {
                list.push(self.eval(&looped.body)?);
                Ok(Flow::On)
            }
            Gathered::Keyed(list) => {
                let key = self.eval(&looped.body)?;
                self.budget.build(4 * size_of::<Value<'_, '_>>()).map_err(fail)?;
                list.extend(self.locals.get(base).cloned().map(|value| (key, value)));
                Ok(Flow::On)
            }
            Gathered::Map(map) => {
                let found = self.eval(&looped.body)?;
                let key = self.locals.get(base).cloned().unwrap_or(Value::Null);
                self.add_entries(looped.kind, (key, found), map).map_err(fail)?;
                Ok(Flow::On)
            }
        }
    }

    /// Adds the value under the key, or the entries of which it is made.
    fn add_entries(
        &mut self,
        kind: LoopKind,
        (key, value): (Value<'v, 'a>, Value<'v, 'a>),
        map: &mut Vec<(Key<'v, 'a>, Value<'v, 'a>)>,
    ) -> Result<(), Reason> {
        const EACH: usize = 4 * size_of::<Value<'_, '_>>();
        if kind == LoopKind::Map {
            self.budget.build(EACH)?;
            map.push((Key::of(key)?, value));
            return Ok(());
        }
        for entry in value.entries().ok_or_else(|| not_a_map(&value))? {
            self.budget.build(EACH)?;
            map.push(entry);
        }
        Ok(())
    }

    fn test(&mut self, body: &'v Node) -> Result<bool, EvalError> {
        match self.eval(body)? {
            Value::Bool(bool) => Ok(bool),
            other => Err(EvalError { at: body.at, reason: not_bool(&other) }),
        }
    }
    fn settle(&mut self, at: usize, gathered: Gathered<'v, 'a>) -> Evaluated<'v, 'a> {
        let fail = |reason| EvalError { at, reason };
        match gathered {
            Gathered::Logic { decides, decided: true, .. } => Ok(Value::Bool(decides)),
            Gathered::Logic { wrong: Some(error), .. } => Err(error),
            Gathered::Logic { decides, .. } => Ok(Value::Bool(!decides)),
            Gathered::Count(count) => Ok(Value::Bool(count == 1)),
            Gathered::List(list) => Ok(Value::list(list)),
            Gathered::Keyed(list) => lists::sorted(self.budget, list).map_err(fail),
            Gathered::Map(map) => Ok(Value::Map(Arc::new(Map::new(map).map_err(fail)?))),
        }
    }
}

fn not_bool(value: &Value<'_, '_>) -> Reason {
    Reason::Invalid(format!("a bool is needed, and this is {}", value.type_name()).into())
}

fn not_a_map(value: &Value<'_, '_>) -> Reason {
    Reason::Invalid(format!("a map is needed, and this is {}", value.type_name()).into())
}

fn not_iterable(value: &Value<'_, '_>) -> Reason {
    Reason::Invalid(format!("{} has no elements", value.type_name()).into())
}
