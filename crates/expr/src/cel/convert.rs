//! From one type to another, and what a type is called.

use std::sync::Arc;

use super::{
    functions::{Function, global, method, unfit},
    instant::Instant,
    kubernetes::Special,
    operators, time,
    value::Value,
};
use crate::{budget::Budget, eval::Reason};

type Computed<'v, 'a> = Result<Value<'v, 'a>, Reason>;

pub(crate) const FUNCTIONS: &[Function] = &[
    global("size", "string -> int", size),
    global("size", "bytes -> int", size),
    global("size", "list(A) -> int", size),
    global("size", "map(A, B) -> int", size),
    method("size", "string -> int", size),
    method("size", "bytes -> int", size),
    method("size", "list(A) -> int", size),
    method("size", "map(A, B) -> int", size),
    global("type", "dyn -> type", type_of),
    global("dyn", "dyn -> dyn", itself),
    global("bool", "bool -> bool", bool),
    global("bool", "string -> bool", bool),
    global("int", "int -> int", int),
    global("int", "uint -> int", int),
    global("int", "double -> int", int),
    global("int", "string -> int", int),
    global("int", "timestamp -> int", int),
    global("int", "duration -> int", int),
    global("uint", "int -> uint", uint),
    global("uint", "uint -> uint", uint),
    global("uint", "double -> uint", uint),
    global("uint", "string -> uint", uint),
    global("double", "int -> double", double),
    global("double", "uint -> double", double),
    global("double", "double -> double", double),
    global("double", "string -> double", double),
    global("bytes", "bytes -> bytes", bytes),
    global("bytes", "string -> bytes", bytes),
    global("string", "bool -> string", string),
    global("string", "int -> string", string),
    global("string", "uint -> string", string),
    global("string", "double -> string", string),
    global("string", "string -> string", string),
    global("string", "bytes -> string", string),
    global("string", "timestamp -> string", string),
    global("string", "duration -> string", string),
    global("duration", "duration -> duration", duration),
    global("duration", "string -> duration", duration),
    global("duration", "int -> duration", duration),
    global("timestamp", "timestamp -> timestamp", timestamp),
    global("timestamp", "string -> timestamp", timestamp),
    global("timestamp", "int -> timestamp", timestamp),
];

fn size<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let count = match args {
        [Value::Text(text)] => {
            budget.take(text.as_str().len() / 8)?;
            Some(text.as_str().chars().count())
        }
        [Value::Bytes(bytes)] => Some(bytes.len()),
        [other] => other.length(),
        _ => None,
    };
    let count = count.ok_or_else(|| unfit("size", args))?;
    operators::int(i64::try_from(count).ok())
}

fn type_of<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [value] => Ok(Value::Type(value.type_name())),
        _ => Err(unfit("type", args)),
    }
}

fn itself<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    args.first().cloned().ok_or_else(|| unfit("dyn", args))
}

fn bool<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [value] = args else { return Err(unfit("bool", args)) };
    match (value, value.as_text()) {
        (Value::Bool(bool), _) => Ok(Value::Bool(*bool)),
        (_, Some("1" | "t" | "T" | "true" | "TRUE" | "True")) => Ok(Value::Bool(true)),
        (_, Some("0" | "f" | "F" | "false" | "FALSE" | "False")) => Ok(Value::Bool(false)),
        (_, Some(text)) => Err(no_such("boolean", text)),
        _ => Err(unfit("bool", args)),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the bounds are looked at before")]
fn int<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    const BOUND: f64 = 9_223_372_036_854_775_808.0;
    match args {
        [Value::Int(int)] => Ok(Value::Int(*int)),
        [Value::Uint(uint)] => operators::int(i64::try_from(*uint).ok()),
        [Value::Double(double)] if *double > -BOUND && *double < BOUND => {
            Ok(Value::Int(double.trunc() as i64))
        }
        [Value::Double(_)] => Err(Reason::Overflow),
        [Value::Text(text)] => {
            let text = text.as_str();
            text.parse().map(Value::Int).map_err(|_| no_such("int", text))
        }
        [Value::Timestamp(at)] => Ok(Value::Int(at.seconds())),
        [Value::Duration(nanoseconds)] => Ok(Value::Int(nanoseconds / 1_000_000_000)),
        _ => Err(unfit("int", args)),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the bounds are looked at before")]
#[expect(clippy::cast_sign_loss, reason = "the bounds are looked at before")]
fn uint<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    const BOUND: f64 = 18_446_744_073_709_551_616.0;
    match args {
        [Value::Uint(uint)] => Ok(Value::Uint(*uint)),
        [Value::Int(int)] => operators::uint(u64::try_from(*int).ok()),
        [Value::Double(double)] if *double >= 0.0 && *double < BOUND => {
            Ok(Value::Uint(double.trunc() as u64))
        }
        [Value::Double(_)] => Err(Reason::Overflow),
        [Value::Text(text)] => {
            let text = text.as_str();
            text.parse().map(Value::Uint).map_err(|_| no_such("uint", text))
        }
        _ => Err(unfit("uint", args)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "the nearest float is what is asked for")]
fn double<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Double(double)] => Ok(Value::Double(*double)),
        [Value::Int(int)] => Ok(Value::Double(*int as f64)),
        [Value::Uint(uint)] => Ok(Value::Double(*uint as f64)),
        [Value::Text(text)] => {
            let text = text.as_str();
            text.parse().map(Value::Double).map_err(|_| no_such("double", text))
        }
        _ => Err(unfit("double", args)),
    }
}

fn bytes<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Bytes(bytes)] => Ok(Value::Bytes(Arc::clone(bytes))),
        [Value::Text(text)] => {
            budget.build(text.as_str().len())?;
            Ok(Value::Bytes(text.as_str().as_bytes().into()))
        }
        _ => Err(unfit("bytes", args)),
    }
}

fn string<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    /// As long as a number or a time can be.
    const SHORT: usize = 64;
    budget.build(SHORT)?;
    match args {
        [Value::Text(text)] => Ok(Value::Text(text.clone())),
        [Value::Bool(bool)] => Ok(Value::text(bool.to_string())),
        [Value::Int(int)] => Ok(Value::text(int.to_string())),
        [Value::Uint(uint)] => Ok(Value::text(uint.to_string())),
        [Value::Double(double)] => Ok(Value::text(spelled(*double))),
        [Value::Bytes(bytes)] => {
            budget.build(bytes.len())?;
            let text = str::from_utf8(bytes);
            text.map(Value::text).map_err(|_| Reason::Invalid("the bytes are no UTF-8".into()))
        }
        [Value::Timestamp(at)] => Ok(Value::text(at.to_string())),
        [Value::Duration(nanoseconds)] => Ok(Value::text(time::seconds(*nanoseconds))),
        [Value::Special(special)] if matches!(**special, Special::Ip(_) | Special::Cidr(_)) => {
            Ok(Value::text(special.spelled()))
        }
        _ => Err(unfit("string", args)),
    }
}

/// A float as short as it can be without being another.
pub(crate) fn spelled(double: f64) -> String {
    match double {
        _ if double.is_nan() => "NaN".to_owned(),
        _ if double.is_infinite() && double > 0.0 => "+Inf".to_owned(),
        _ if double.is_infinite() => "-Inf".to_owned(),
        // As Go does it: an exponent from a million on.
        _ if double != 0.0 && !(1e-4..1e6).contains(&double.abs()) => {
            let text = format!("{double:e}");
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
        _ => double.to_string(),
    }
}

fn duration<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Duration(nanoseconds)] => Ok(Value::Duration(*nanoseconds)),
        [Value::Int(seconds)] => {
            seconds.checked_mul(1_000_000_000).map(Value::Duration).ok_or(Reason::Overflow)
        }
        [Value::Text(text)] => {
            let text = text.as_str();
            time::read_duration(text).map(Value::Duration).ok_or_else(|| no_such("duration", text))
        }
        _ => Err(unfit("duration", args)),
    }
}

fn timestamp<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Timestamp(at)] => Ok(Value::Timestamp(*at)),
        [Value::Int(seconds)] => {
            let at = Instant::from_nanoseconds(i128::from(*seconds) * 1_000_000_000);
            at.map(Value::Timestamp).ok_or(Reason::Overflow)
        }
        [Value::Text(text)] => Instant::read(text.as_str()).map(Value::Timestamp),
        _ => Err(unfit("timestamp", args)),
    }
}

/// A text that does not say what it should.
pub(crate) fn no_such(what: &str, text: &str) -> Reason {
    /// A text may be long, and an error is read by people.
    const SHOWN: usize = 80;
    let shown: String = text.chars().take(SHOWN).collect();
    Reason::Invalid(format!("{shown:?} is no {what}").into())
}
