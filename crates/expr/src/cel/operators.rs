//! Arithmetic, comparison and membership.

use std::{cmp::Ordering, sync::Arc};

use super::{
    compare,
    functions::{Function, global, unfit},
    instant::Instant,
    value::Value,
};
use crate::{budget::Budget, eval::Reason};

type Computed<'v, 'a> = Result<Value<'v, 'a>, Reason>;

pub(crate) const FUNCTIONS: &[Function] = &[
    global("==", "A, A -> bool", equal),
    global("!=", "A, A -> bool", not_equal),
    global("<", "bool, bool -> bool", less),
    global("<", "string, string -> bool", less),
    global("<", "bytes, bytes -> bool", less),
    global("<", "duration, duration -> bool", less),
    global("<", "timestamp, timestamp -> bool", less),
    global("<", "int, int -> bool", less),
    global("<", "int, uint -> bool", less),
    global("<", "int, double -> bool", less),
    global("<", "uint, int -> bool", less),
    global("<", "uint, uint -> bool", less),
    global("<", "uint, double -> bool", less),
    global("<", "double, int -> bool", less),
    global("<", "double, uint -> bool", less),
    global("<", "double, double -> bool", less),
    global("in", "A, list(A) -> bool", within),
    global("in", "A, map(A, B) -> bool", within),
    global("+", "int, int -> int", add),
    global("+", "uint, uint -> uint", add),
    global("+", "double, double -> double", add),
    global("+", "string, string -> string", add),
    global("+", "bytes, bytes -> bytes", add),
    global("+", "list(A), list(A) -> list(A)", add),
    global("+", "timestamp, duration -> timestamp", add),
    global("+", "duration, timestamp -> timestamp", add),
    global("+", "duration, duration -> duration", add),
    global("-", "int, int -> int", subtract),
    global("-", "uint, uint -> uint", subtract),
    global("-", "double, double -> double", subtract),
    global("-", "timestamp, timestamp -> duration", subtract),
    global("-", "timestamp, duration -> timestamp", subtract),
    global("-", "duration, duration -> duration", subtract),
    global("*", "int, int -> int", multiply),
    global("*", "uint, uint -> uint", multiply),
    global("*", "double, double -> double", multiply),
    global("/", "int, int -> int", divide),
    global("/", "uint, uint -> uint", divide),
    global("/", "double, double -> double", divide),
    global("%", "int, int -> int", remainder),
    global("%", "uint, uint -> uint", remainder),
    global("-_", "int -> int", negate),
    global("-_", "double -> double", negate),
];

/// The name under which the types of an ordering are looked up; all four take
/// the same.
pub(crate) const ORDERING: &str = "<";

fn equal<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [one, other] = args else { return Err(unfit("==", args)) };
    compare::equal(budget, one, other).map(Value::Bool)
}

fn not_equal<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [one, other] = args else { return Err(unfit("!=", args)) };
    compare::equal(budget, one, other).map(|equal| Value::Bool(!equal))
}

fn less<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    compare_with(budget, args, "<", |order| order == Ordering::Less)
}

pub(crate) fn less_or_equal<'v, 'a>(
    budget: &mut Budget,
    args: &[Value<'v, 'a>],
) -> Computed<'v, 'a> {
    compare_with(budget, args, "<=", |order| order != Ordering::Greater)
}

pub(crate) fn greater<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    compare_with(budget, args, ">", |order| order == Ordering::Greater)
}

pub(crate) fn greater_or_equal<'v, 'a>(
    budget: &mut Budget,
    args: &[Value<'v, 'a>],
) -> Computed<'v, 'a> {
    compare_with(budget, args, ">=", |order| order != Ordering::Less)
}

fn compare_with<'v, 'a>(
    budget: &mut Budget,
    args: &[Value<'v, 'a>],
    name: &'static str,
    test: fn(Ordering) -> bool,
) -> Computed<'v, 'a> {
    match args {
        [one, other] if compare::can_be_ordered(one, other) => {
            if let (Some(one), Some(other)) = (one.as_text(), other.as_text()) {
                budget.take(one.len().min(other.len()) / 16)?;
            }
            Ok(Value::Bool(compare::order(one, other).is_some_and(test)))
        }
        _ => Err(unfit(name, args)),
    }
}

fn within<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [value, within] = args else { return Err(unfit("in", args)) };
    match compare::contains(budget, within, value)? {
        Some(found) => Ok(Value::Bool(found)),
        None => Err(unfit("in", args)),
    }
}

fn add<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Int(one), Value::Int(other)] => int(one.checked_add(*other)),
        [Value::Uint(one), Value::Uint(other)] => uint(one.checked_add(*other)),
        [Value::Double(one), Value::Double(other)] => Ok(Value::Double(one + other)),
        [Value::Text(one), Value::Text(other)] => {
            let (one, other) = (one.as_str(), other.as_str());
            budget.build(2 * (one.len() + other.len()))?;
            Ok(Value::text([one, other].concat()))
        }
        [Value::Bytes(one), Value::Bytes(other)] => {
            budget.build(2 * (one.len() + other.len()))?;
            Ok(Value::Bytes([&**one, &**other].concat().into()))
        }
        [Value::Duration(one), Value::Duration(other)] => duration(one.checked_add(*other)),
        [Value::Timestamp(at), Value::Duration(by)]
        | [Value::Duration(by), Value::Timestamp(at)] => moved(*at, i128::from(*by)),
        [one, other] => match (one.items(), other.items()) {
            (Some(items), Some(more)) => {
                let count = one.length().unwrap_or_default() + other.length().unwrap_or_default();
                budget.build(count * size_of::<Value<'_, '_>>())?;
                Ok(Value::List(Arc::new(items.chain(more).collect())))
            }
            _ => Err(unfit("+", args)),
        },
        _ => Err(unfit("+", args)),
    }
}

fn subtract<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Int(one), Value::Int(other)] => int(one.checked_sub(*other)),
        [Value::Uint(one), Value::Uint(other)] => uint(one.checked_sub(*other)),
        [Value::Double(one), Value::Double(other)] => Ok(Value::Double(one - other)),
        [Value::Duration(one), Value::Duration(other)] => duration(one.checked_sub(*other)),
        [Value::Timestamp(at), Value::Duration(by)] => moved(*at, -i128::from(*by)),
        [Value::Timestamp(one), Value::Timestamp(other)] => {
            let between = one.nanoseconds() - other.nanoseconds();
            duration(i64::try_from(between).ok())
        }
        _ => Err(unfit("-", args)),
    }
}

fn multiply<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Int(one), Value::Int(other)] => int(one.checked_mul(*other)),
        [Value::Uint(one), Value::Uint(other)] => uint(one.checked_mul(*other)),
        [Value::Double(one), Value::Double(other)] => Ok(Value::Double(one * other)),
        _ => Err(unfit("*", args)),
    }
}

fn divide<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => {
            Err(Reason::DividedByZero)
        }
        [Value::Int(one), Value::Int(other)] => int(one.checked_div(*other)),
        [Value::Uint(one), Value::Uint(other)] => uint(one.checked_div(*other)),
        [Value::Double(one), Value::Double(other)] => Ok(Value::Double(one / other)),
        _ => Err(unfit("/", args)),
    }
}

fn remainder<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => {
            Err(Reason::DividedByZero)
        }
        [Value::Int(one), Value::Int(other)] => int(one.checked_rem(*other)),
        [Value::Uint(one), Value::Uint(other)] => uint(one.checked_rem(*other)),
        _ => Err(unfit("%", args)),
    }
}

fn negate<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Int(one)] => int(one.checked_neg()),
        [Value::Double(one)] => Ok(Value::Double(-one)),
        _ => Err(unfit("-", args)),
    }
}

pub(crate) fn int<'v, 'a>(int: Option<i64>) -> Computed<'v, 'a> {
    int.map(Value::Int).ok_or(Reason::Overflow)
}

pub(crate) fn uint<'v, 'a>(uint: Option<u64>) -> Computed<'v, 'a> {
    uint.map(Value::Uint).ok_or(Reason::Overflow)
}

fn duration<'v, 'a>(nanoseconds: Option<i64>) -> Computed<'v, 'a> {
    nanoseconds.map(Value::Duration).ok_or(Reason::Overflow)
}

fn moved<'v, 'a>(at: Instant, by: i128) -> Computed<'v, 'a> {
    Instant::from_nanoseconds(at.nanoseconds() + by).map(Value::Timestamp).ok_or(Reason::Overflow)
}
