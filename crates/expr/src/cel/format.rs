//! Texts with places to fill in: `'%s has %d'.format([name, count])`.

use std::fmt::Write as _;

use super::{
    functions::{Function, method, unfit},
    time,
    value::Value,
};
use crate::{budget::Budget, eval::Reason};

type Computed<'v, 'a> = Result<Value<'v, 'a>, Reason>;

pub(crate) const FUNCTIONS: &[Function] =
    &[method("format", "string, list(dyn) -> string", format)];

/// More digits than these a float does not have.
const MOST_DIGITS: usize = 400;

/// Digits behind the point if nobody says how many.
const USUAL_DIGITS: usize = 6;

fn format<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    let [Value::Text(text), list] = args else { return Err(unfit("format", args)) };
    let Some(mut values) = list.items() else { return Err(unfit("format", args)) };
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, clause)) = rest.split_once('%') {
        budget.build(2 * before.len() + 1)?;
        out.push_str(before);
        if let Some(after) = clause.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let (digits, clause) = precision(clause)?;
        let mut letters = clause.chars();
        let letter = letters.next().ok_or_else(|| bad("ends within %"))?;
        rest = letters.as_str();
        let value = values.next().ok_or_else(|| bad("has more places than there are values"))?;
        budget.build(2 * (longest(&value) + digits.unwrap_or_default()))?;
        fill(budget, &value, letter, digits.unwrap_or(USUAL_DIGITS), &mut out)?;
    }
    budget.build(2 * rest.len() + out.len())?;
    out.push_str(rest);
    Ok(Value::text(out))
}

/// How many digits stand before the point at most.
fn longest(value: &Value<'_, '_>) -> usize {
    match value {
        Value::Double(_) => 310,
        _ => 64,
    }
}

fn bad(what: &str) -> Reason {
    Reason::Invalid(format!("the format {what}").into())
}

/// `.3` before a letter.
fn precision(clause: &str) -> Result<(Option<usize>, &str), Reason> {
    let Some(after) = clause.strip_prefix('.') else { return Ok((None, clause)) };
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    let (digits, rest) = after.split_at(end);
    let digits = digits.parse().ok().filter(|digits| *digits <= MOST_DIGITS);
    Ok((Some(digits.ok_or_else(|| bad("has a precision that is no small number"))?), rest))
}

fn fill(
    budget: &mut Budget,
    value: &Value<'_, '_>,
    letter: char,
    digits: usize,
    out: &mut String,
) -> Result<(), Reason> {
    let unfit = || Reason::Invalid(format!("%{letter} does not take {}", value.type_name()).into());
    let written = match (letter, value) {
        ('s', _) => return spell(budget, value, out),
        ('d', Value::Int(int)) => write!(out, "{int}"),
        ('d', Value::Uint(uint)) => write!(out, "{uint}"),
        ('d' | 'f' | 'e', Value::Double(double)) if !double.is_finite() => {
            out.write_str(named(*double))
        }
        ('d', Value::Double(double)) => write!(out, "{double}"),
        ('f' | 'e', Value::Int(_) | Value::Uint(_) | Value::Double(_)) => {
            let double = as_double(value);
            if letter == 'f' {
                write!(out, "{double:.digits$}")
            } else {
                out.write_str(&scientific(double, digits))
            }
        }
        ('b', Value::Bool(bool)) => write!(out, "{}", u8::from(*bool)),
        ('b' | 'o' | 'x' | 'X', Value::Int(int)) => {
            let sign = if *int < 0 { "-" } else { "" };
            out.write_str(sign).and_then(|()| radix(int.unsigned_abs(), letter, out))
        }
        ('b' | 'o' | 'x' | 'X', Value::Uint(uint)) => radix(*uint, letter, out),
        ('x' | 'X', Value::Text(text)) => {
            return hex(budget, text.as_str().as_bytes(), letter, out);
        }
        ('x' | 'X', Value::Bytes(bytes)) => return hex(budget, bytes, letter, out),
        ('d' | 'f' | 'e' | 'b' | 'o' | 'x' | 'X', _) => return Err(unfit()),
        _ => return Err(bad(&format!("has %{letter}, which means nothing"))),
    };
    written.map_err(|_| unfit())
}

#[expect(clippy::cast_precision_loss, reason = "the nearest float is what is asked for")]
fn as_double(value: &Value<'_, '_>) -> f64 {
    match value {
        Value::Int(int) => *int as f64,
        Value::Uint(uint) => *uint as f64,
        Value::Double(double) => *double,
        _ => f64::NAN,
    }
}

fn named(double: f64) -> &'static str {
    match double {
        _ if double.is_nan() => "NaN",
        _ if double > 0.0 => "Infinity",
        _ => "-Infinity",
    }
}

/// `1.052033e+03`.
fn scientific(double: f64, digits: usize) -> String {
    let text = format!("{double:.digits$e}");
    let (number, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{number}e{sign}{exponent:0>2}")
}

fn radix(uint: u64, letter: char, out: &mut String) -> std::fmt::Result {
    match letter {
        'b' => write!(out, "{uint:b}"),
        'o' => write!(out, "{uint:o}"),
        'x' => write!(out, "{uint:x}"),
        _ => write!(out, "{uint:X}"),
    }
}

fn hex(budget: &mut Budget, bytes: &[u8], letter: char, out: &mut String) -> Result<(), Reason> {
    budget.build(4 * bytes.len())?;
    for byte in bytes {
        let written =
            if letter == 'x' { write!(out, "{byte:02x}") } else { write!(out, "{byte:02X}") };
        written.map_err(|_| bad("cannot be filled"))?;
    }
    Ok(())
}

/// A value as people read it.
fn spell(budget: &mut Budget, value: &Value<'_, '_>, out: &mut String) -> Result<(), Reason> {
    /// As long as a number or a time can be.
    const SHORT: usize = 64;
    budget.build(SHORT)?;
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
        Value::Int(int) => out.push_str(&int.to_string()),
        Value::Uint(uint) => out.push_str(&uint.to_string()),
        Value::Double(double) if !double.is_finite() => out.push_str(named(*double)),
        Value::Double(double) => {
            budget.build(2 * longest(value))?;
            out.push_str(&double.to_string());
        }
        Value::Text(text) => {
            budget.build(2 * text.as_str().len())?;
            out.push_str(text.as_str());
        }
        Value::Bytes(bytes) => {
            budget.build(6 * bytes.len())?;
            out.push_str(&String::from_utf8_lossy(bytes));
        }
        Value::Duration(nanoseconds) => out.push_str(&time::seconds(*nanoseconds)),
        Value::Timestamp(at) => out.push_str(&at.to_string()),
        Value::Type(name) => out.push_str(name),
        Value::Special(special) => {
            let text = special.spelled();
            budget.build(2 * text.len())?;
            out.push_str(&text);
        }
        Value::Json(_) | Value::List(_) | Value::Map(_) => return spell_inside(budget, value, out),
        Value::Optional(_) => return Err(Reason::Invalid("%s does not take optional_type".into())),
    }
    Ok(())
}

fn spell_inside(
    budget: &mut Budget,
    value: &Value<'_, '_>,
    out: &mut String,
) -> Result<(), Reason> {
    if let Some(items) = value.items() {
        out.push('[');
        for (at, item) in items.enumerate() {
            out.push_str(if at > 0 { ", " } else { "" });
            spell(budget, &item, out)?;
        }
        out.push(']');
        return Ok(());
    }
    let mut entries = Vec::new();
    for (key, value) in value.entries().into_iter().flatten() {
        let key = key.spelled();
        budget.build(2 * size_of::<Value<'_, '_>>() + key.len())?;
        entries.push((key, value));
    }
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    out.push('{');
    for (at, (key, value)) in entries.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        budget.build(2 * key.len())?;
        out.push_str(key);
        out.push_str(": ");
        spell(budget, value, out)?;
    }
    out.push('}');
    Ok(())
}
