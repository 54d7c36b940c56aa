//! What a plain text in YAML 1.1 stands for.

use granit_parser::{ScalarStyle, Tag};
use serde_json::{Number, Value};

/// The value of a scalar; an error if it has no counterpart in JSON.
pub(super) fn value(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    let tag = tag.and_then(Tag::core_suffix);
    match (tag, style) {
        (Some("str" | "binary"), _) => Ok(Value::from(text)),
        (None, ScalarStyle::Plain) | (Some(_), _) => plain(text),
        (None, _) => Ok(Value::from(text)),
    }
}

fn plain(text: &str) -> Result<Value, String> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Value::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Value::Bool(false)
        }
        ".inf" | ".Inf" | ".INF" | "+.inf" | "-.inf" | ".nan" | ".NaN" | ".NAN" => {
            return Err(format!("{text} has no counterpart in JSON; quote it if a text is meant"));
        }
        _ => integer(text).or_else(|| float(text)).unwrap_or_else(|| Value::from(text)),
    })
}

fn integer(text: &str) -> Option<Value> {
    let (negative, digits) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let digits = digits.replace('_', "");
    let prefixed = |prefix: &str, radix| {
        digits.strip_prefix(prefix).map(|digits| u64::from_str_radix(digits, radix).ok())
    };
    let magnitude = prefixed("0x", 16)
        .or_else(|| prefixed("0b", 2))
        .or_else(|| prefixed("0o", 8))
        .unwrap_or_else(|| match digits.strip_prefix('0').filter(|rest| !rest.is_empty()) {
            Some(octal) => u64::from_str_radix(octal, 8).ok(),
            None => digits.parse().ok(),
        })?;
    if negative {
        let value = i64::try_from(magnitude).ok().map(|value| -value);
        return value.map(Value::from);
    }
    Some(Value::from(magnitude))
}

fn float(text: &str) -> Option<Value> {
    let legal = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    if !text.chars().all(legal) || !text.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let number = text.parse::<f64>().ok()?;
    Number::from_f64(number).map(Value::Number)
}
