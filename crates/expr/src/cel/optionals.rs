//! Values that may be absent.

use super::{
    functions::{Function, global, method, unfit},
    value::Value,
};
use crate::{budget::Budget, eval::Reason};

type Computed<'v, 'a> = Result<Value<'v, 'a>, Reason>;

pub(crate) const FUNCTIONS: &[Function] = &[
    global("optional.none", " -> optional(dyn)", none),
    global("optional.of", "A -> optional(A)", of),
    global("optional.ofNonZeroValue", "A -> optional(A)", of_non_zero),
    global("optional.unwrap", "list(optional(A)) -> list(A)", unwrap_all),
    method("unwrapOpt", "list(optional(A)) -> list(A)", unwrap_all),
    method("hasValue", "optional(A) -> bool", has_value),
    method("value", "optional(A) -> A", value),
];

/// What is absent costs nothing, and what is there is kept in a box.
const BOX: usize = size_of::<Value<'_, '_>>() + 16;

#[expect(clippy::unnecessary_wraps, reason = "every function has this shape")]
fn none<'v, 'a>(_: &mut Budget, _: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    Ok(Value::NONE)
}

fn of<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    budget.build(BOX)?;
    let value = args.first().cloned().ok_or_else(|| unfit("optional.of", args))?;
    Ok(Value::some(value))
}

fn of_non_zero<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let is_zero = match args {
        [
            Value::Null
            | Value::Bool(false)
            | Value::Int(0)
            | Value::Uint(0)
            | Value::Duration(0)
            | Value::Optional(None),
        ] => true,
        [Value::Double(double)] => *double == 0.0,
        [Value::Text(text)] => text.as_str().is_empty(),
        [Value::Bytes(bytes)] => bytes.is_empty(),
        [other] => other.length() == Some(0),
        _ => return Err(unfit("optional.ofNonZeroValue", args)),
    };
    if is_zero { Ok(Value::NONE) } else { of(budget, args) }
}

fn has_value<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Optional(value)] => Ok(Value::Bool(value.is_some())),
        _ => Err(unfit("hasValue", args)),
    }
}

fn value<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Optional(Some(value))] => Ok((**value).clone()),
        [Value::Optional(None)] => Err(Reason::Invalid("the optional has no value".into())),
        _ => Err(unfit("value", args)),
    }
}

fn unwrap_all<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let items = args.first().and_then(Value::items).ok_or_else(|| unfit("unwrapOpt", args))?;
    let mut found = Vec::new();
    for item in items {
        budget.build(2 * size_of::<Value<'_, '_>>())?;
        match item {
            Value::Optional(None) => {}
            Value::Optional(Some(value)) => found.push((*value).clone()),
            other => return Err(unfit("unwrapOpt", &[other])),
        }
    }
    Ok(Value::list(found))
}
