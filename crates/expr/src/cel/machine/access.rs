//! Fields, elements and entries.

use super::{
    super::{
        node::{Slot, Step, StepKind},
        value::{Key, Value},
    },
    Evaluated, Machine,
};
use crate::{
    eval::{EvalError, Reason},
    json::Json,
};

/// What a step of a walk costs.
const STEP: usize = 8;

impl<'v, 'a> Machine<'_, 'v, 'a> {
    /// Follows steps, through the object without making a value of each.
    pub(super) fn walk(&mut self, from: Slot, steps: &'v [Step], at: usize) -> Evaluated<'v, 'a> {
        let fail = |at| move |reason| EvalError { at, reason };
        self.budget.take(STEP * steps.len()).map_err(fail(at))?;
        let mut json: &'v Json<'a> = match self.slot(from).map_err(fail(at))? {
            Value::Json(json) => json,
            other => return from_built(other.clone(), steps),
        };
        for step in steps {
            let found = match &step.kind {
                StepKind::Field(name) => match json.get(name) {
                    Some(below) => Ok(below),
                    None => Err(no_field(&Value::of(json), name)),
                },
                StepKind::Index(index) => element(json, *index),
            };
            json = found.map_err(fail(step.at))?;
        }
        Ok(Value::of(json))
    }
}

fn element<'v, 'a>(json: &'v Json<'a>, index: i64) -> Result<&'v Json<'a>, Reason> {
    match json {
        Json::List(items) => {
            let item = usize::try_from(index).ok().and_then(|at| items.get(at));
            item.ok_or(Reason::OutOfBounds { index, length: items.len() })
        }
        other => Err(no_element(&Value::of(other), &Value::Int(index))),
    }
}

fn from_built<'v, 'a>(mut value: Value<'v, 'a>, steps: &'v [Step]) -> Evaluated<'v, 'a> {
    for step in steps {
        let found = match &step.kind {
            StepKind::Field(name) => select(&value, name),
            StepKind::Index(at) => index(&value, &Value::Int(*at)),
        };
        value = found.map_err(|reason| EvalError { at: step.at, reason })?;
    }
    Ok(value)
}

/// `of.name`; below an optional everything is optional.
pub(super) fn select<'v, 'a>(of: &Value<'v, 'a>, name: &str) -> Result<Value<'v, 'a>, Reason> {
    match of {
        Value::Optional(_) => optional_select(of, name),
        _ => of.field(name).ok_or_else(|| no_field(of, name)),
    }
}

fn no_field(of: &Value<'_, '_>, name: &str) -> Reason {
    if of.is_map() {
        return Reason::NoKey(name.into());
    }
    Reason::Invalid(format!("{} has no field {name}", of.type_name()).into())
}

pub(super) fn optional_select<'v, 'a>(
    of: &Value<'v, 'a>,
    name: &str,
) -> Result<Value<'v, 'a>, Reason> {
    match of {
        Value::Optional(None) => Ok(Value::NONE),
        Value::Optional(Some(of)) => optional_select(of, name),
        _ if of.is_map() => Ok(of.field(name).map_or(Value::NONE, Value::some)),
        _ => Err(no_field(of, name)),
    }
}

pub(super) fn has(of: &Value<'_, '_>, name: &str) -> Result<bool, Reason> {
    match of {
        Value::Optional(None) => Ok(false),
        Value::Optional(Some(of)) => has(of, name),
        _ if of.is_map() => Ok(of.field(name).is_some()),
        _ => Err(no_field(of, name)),
    }
}

/// `of[key]`.
pub(super) fn index<'v, 'a>(
    of: &Value<'v, 'a>,
    key: &Value<'v, 'a>,
) -> Result<Value<'v, 'a>, Reason> {
    match of {
        Value::Optional(_) => optional_index(of, key),
        _ => match lookup(of, key)? {
            Some(found) => Ok(found),
            None if of.is_map() => {
                let key = Key::lookup(key).map(|key| key.spelled());
                Err(Reason::NoKey(key.unwrap_or_default().into()))
            }
            None => {
                let index = match key {
                    Value::Int(index) => *index,
                    Value::Uint(index) => i64::try_from(*index).unwrap_or(i64::MAX),
                    _ => -1,
                };
                Err(Reason::OutOfBounds { index, length: of.length().unwrap_or_default() })
            }
        },
    }
}

pub(super) fn optional_index<'v, 'a>(
    of: &Value<'v, 'a>,
    key: &Value<'v, 'a>,
) -> Result<Value<'v, 'a>, Reason> {
    match of {
        Value::Optional(None) => Ok(Value::NONE),
        Value::Optional(Some(of)) => optional_index(of, key),
        _ => Ok(lookup(of, key)?.map_or(Value::NONE, Value::some)),
    }
}

/// An element or a value, if it is there; an error if there cannot be one.
fn lookup<'v, 'a>(
    of: &Value<'v, 'a>,
    key: &Value<'v, 'a>,
) -> Result<Option<Value<'v, 'a>>, Reason> {
    if of.items().is_some() {
        return match Key::lookup(key) {
            Some(Key::Int(at)) => Ok(usize::try_from(at).ok().and_then(|at| of.item(at))),
            Some(Key::Uint(at)) => Ok(usize::try_from(at).ok().and_then(|at| of.item(at))),
            _ => Err(no_element(of, key)),
        };
    }
    match of {
        Value::Map(map) => match Key::lookup(key) {
            Some(key) => Ok(map.get(&key).cloned()),
            None => Err(no_element(of, key)),
        },
        Value::Json(_) => match (key.as_text(), Key::lookup(key)) {
            (Some(name), _) => Ok(of.field(name)),
            (None, Some(_)) => Ok(None),
            (None, None) => Err(no_element(of, key)),
        },
        _ => Err(no_element(of, key)),
    }
}

fn no_element(of: &Value<'_, '_>, key: &Value<'_, '_>) -> Reason {
    let text = format!("{} has no element by {}", of.type_name(), key.type_name());
    Reason::Invalid(text.into())
}
