//! Numbers.

use std::cmp::Ordering;

use super::{
    compare,
    functions::{Function, global, unfit},
    operators,
    value::Value,
};
use crate::{budget::Budget, eval::Reason};

type Computed<'v, 'a> = Result<Value<'v, 'a>, Reason>;

pub(crate) const FUNCTIONS: &[Function] = &[
    global("math.greatest", "list(dyn) -> dyn", greatest),
    global("math.greatest", "dyn... -> dyn", greatest),
    global("math.least", "list(dyn) -> dyn", least),
    global("math.least", "dyn... -> dyn", least),
    global("math.ceil", "double -> double", ceil),
    global("math.floor", "double -> double", floor),
    global("math.round", "double -> double", round),
    global("math.trunc", "double -> double", trunc),
    global("math.abs", "int -> int", abs),
    global("math.abs", "uint -> uint", abs),
    global("math.abs", "double -> double", abs),
    global("math.sign", "int -> int", sign),
    global("math.sign", "uint -> uint", sign),
    global("math.sign", "double -> double", sign),
    global("math.sqrt", "int -> double", sqrt),
    global("math.sqrt", "uint -> double", sqrt),
    global("math.sqrt", "double -> double", sqrt),
    global("math.isNaN", "double -> bool", is_nan),
    global("math.isInf", "double -> bool", is_inf),
    global("math.isFinite", "double -> bool", is_finite),
    global("math.bitAnd", "int, int -> int", and),
    global("math.bitAnd", "uint, uint -> uint", and),
    global("math.bitOr", "int, int -> int", or),
    global("math.bitOr", "uint, uint -> uint", or),
    global("math.bitXor", "int, int -> int", xor),
    global("math.bitXor", "uint, uint -> uint", xor),
    global("math.bitNot", "int -> int", not),
    global("math.bitNot", "uint -> uint", not),
    global("math.bitShiftLeft", "int, int -> int", shift_left),
    global("math.bitShiftLeft", "uint, int -> uint", shift_left),
    global("math.bitShiftRight", "int, int -> int", shift_right),
    global("math.bitShiftRight", "uint, int -> uint", shift_right),
];

fn greatest<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    extreme(budget, args, "math.greatest", Ordering::Greater)
}

fn least<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    extreme(budget, args, "math.least", Ordering::Less)
}

/// Of equal numbers the first.
fn extreme<'v, 'a>(
    budget: &mut Budget,
    args: &[Value<'v, 'a>],
    name: &'static str,
    wanted: Ordering,
) -> Computed<'v, 'a> {
    let is_number =
        |value: &Value<'v, 'a>| matches!(value, Value::Int(_) | Value::Uint(_) | Value::Double(_));
    let mut best: Option<Value<'v, 'a>> = None;
    let mut look = |value: Value<'v, 'a>| {
        budget.take(4)?;
        if !is_number(&value) {
            return Err(unfit(name, &[value]));
        }
        let better = best.as_ref().is_none_or(|best| compare::order(&value, best) == Some(wanted));
        if better {
            best = Some(value);
        }
        Ok(())
    };
    match args {
        [list] if list.items().is_some() => {
            list.items().into_iter().flatten().try_for_each(look)?;
        }
        values => values.iter().cloned().try_for_each(&mut look)?,
    }
    best.ok_or_else(|| Reason::Invalid(format!("{name} of nothing").into()))
}

fn ceil<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    rounded(args, "math.ceil", f64::ceil)
}

fn floor<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    rounded(args, "math.floor", f64::floor)
}

fn round<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    rounded(args, "math.round", f64::round)
}

fn trunc<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    rounded(args, "math.trunc", f64::trunc)
}

fn rounded<'v, 'a>(
    args: &[Value<'v, 'a>],
    name: &'static str,
    how: fn(f64) -> f64,
) -> Computed<'v, 'a> {
    match args {
        [Value::Double(double)] => Ok(Value::Double(how(*double))),
        _ => Err(unfit(name, args)),
    }
}

fn abs<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Int(int)] => operators::int(int.checked_abs()),
        [Value::Uint(uint)] => Ok(Value::Uint(*uint)),
        [Value::Double(double)] => Ok(Value::Double(double.abs())),
        _ => Err(unfit("math.abs", args)),
    }
}

fn sign<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Int(int)] => Ok(Value::Int(int.signum())),
        [Value::Uint(uint)] => Ok(Value::Uint((*uint).min(1))),
        [Value::Double(double)] if *double == 0.0 || double.is_nan() => Ok(Value::Double(*double)),
        [Value::Double(double)] => Ok(Value::Double(double.signum())),
        _ => Err(unfit("math.sign", args)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "the nearest float is what is asked for")]
fn sqrt<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Int(int)] => Ok(Value::Double((*int as f64).sqrt())),
        [Value::Uint(uint)] => Ok(Value::Double((*uint as f64).sqrt())),
        [Value::Double(double)] => Ok(Value::Double(double.sqrt())),
        _ => Err(unfit("math.sqrt", args)),
    }
}

fn is_nan<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    tested(args, "math.isNaN", f64::is_nan)
}

fn is_inf<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    tested(args, "math.isInf", f64::is_infinite)
}

fn is_finite<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    tested(args, "math.isFinite", f64::is_finite)
}

fn tested<'v, 'a>(
    args: &[Value<'v, 'a>],
    name: &'static str,
    test: fn(f64) -> bool,
) -> Computed<'v, 'a> {
    match args {
        [Value::Double(double)] => Ok(Value::Bool(test(*double))),
        _ => Err(unfit(name, args)),
    }
}

fn and<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    bits(args, "math.bitAnd", |one, other| one & other)
}

fn or<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    bits(args, "math.bitOr", |one, other| one | other)
}

fn xor<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    bits(args, "math.bitXor", |one, other| one ^ other)
}

fn bits<'v, 'a>(
    args: &[Value<'v, 'a>],
    name: &'static str,
    how: fn(u64, u64) -> u64,
) -> Computed<'v, 'a> {
    match args {
        [Value::Int(one), Value::Int(other)] => {
            Ok(Value::Int(how(one.cast_unsigned(), other.cast_unsigned()).cast_signed()))
        }
        [Value::Uint(one), Value::Uint(other)] => Ok(Value::Uint(how(*one, *other))),
        _ => Err(unfit(name, args)),
    }
}

fn not<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Int(int)] => Ok(Value::Int(!int)),
        [Value::Uint(uint)] => Ok(Value::Uint(!uint)),
        _ => Err(unfit("math.bitNot", args)),
    }
}

fn shift_left<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    shifted(args, "math.bitShiftLeft", u64::checked_shl)
}

/// Zeros come in from the left, whatever the sign.
fn shift_right<'v, 'a>(_: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    shifted(args, "math.bitShiftRight", u64::checked_shr)
}

fn shifted<'v, 'a>(
    args: &[Value<'v, 'a>],
    name: &'static str,
    how: fn(u64, u32) -> Option<u64>,
) -> Computed<'v, 'a> {
    let [value, Value::Int(by)] = args else { return Err(unfit(name, args)) };
    if *by < 0 {
        return Err(Reason::Invalid("cannot shift by a negative number".into()));
    }
    // A shift by more than all bits leaves none.
    let shift = |bits: u64| u32::try_from(*by).ok().and_then(|by| how(bits, by)).unwrap_or(0);
    match value {
        Value::Int(int) => Ok(Value::Int(shift(int.cast_unsigned()).cast_signed())),
        Value::Uint(uint) => Ok(Value::Uint(shift(*uint))),
        _ => Err(unfit(name, args)),
    }
}
