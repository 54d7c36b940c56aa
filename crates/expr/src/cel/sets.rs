//! Lists as sets.

use super::{
    compare,
    functions::{Function, global, unfit},
    value::Value,
};
use crate::{budget::Budget, eval::Reason};

type Computed<'v, 'a> = Result<Value<'v, 'a>, Reason>;

pub(crate) const FUNCTIONS: &[Function] = &[
    global("sets.contains", "list(A), list(A) -> bool", contains),
    global("sets.equivalent", "list(A), list(A) -> bool", equivalent),
    global("sets.intersects", "list(A), list(A) -> bool", intersects),
];

fn lists<'s, 'v, 'a>(
    args: &'s [Value<'v, 'a>],
    name: &'static str,
) -> Result<(&'s Value<'v, 'a>, &'s Value<'v, 'a>), Reason> {
    match args {
        [one, other] if one.items().is_some() && other.items().is_some() => Ok((one, other)),
        _ => Err(unfit(name, args)),
    }
}

/// Whether every element of the second is one of the first.
fn covers(budget: &mut Budget, all: &Value<'_, '_>, some: &Value<'_, '_>) -> Result<bool, Reason> {
    for item in some.items().into_iter().flatten() {
        if compare::contains(budget, all, &item)? != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn contains<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let (all, some) = lists(args, "sets.contains")?;
    covers(budget, all, some).map(Value::Bool)
}

fn equivalent<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let (one, other) = lists(args, "sets.equivalent")?;
    Ok(Value::Bool(covers(budget, one, other)? && covers(budget, other, one)?))
}

fn intersects<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let (one, other) = lists(args, "sets.intersects")?;
    for item in one.items().into_iter().flatten() {
        if compare::contains(budget, other, &item)? == Some(true) {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}
