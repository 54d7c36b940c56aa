//! Which values are equal, and which comes first.

use std::cmp::Ordering;

use super::value::{Key, Value};
use crate::{budget::Budget, eval::Reason};

/// What it costs to look at a value, and how many bytes are compared for that.
const STEP: usize = 32;

/// What it costs to begin with the elements of a list or a map.
const INSIDE: usize = 48;
const AT_ONCE: usize = 16;

/// Whether two values are equal. Numbers are by what they are worth, whatever
/// their types; values of different types are not equal.
pub(crate) fn equal(
    budget: &mut Budget,
    one: &Value<'_, '_>,
    other: &Value<'_, '_>,
) -> Result<bool, Reason> {
    budget.take(STEP)?;
    Ok(match (one, other) {
        (Value::Int(one), Value::Int(other)) | (Value::Duration(one), Value::Duration(other)) => {
            one == other
        }
        // One part of the object is equal to itself; nothing in it is NaN.
        (Value::Json(one), Value::Json(other)) if std::ptr::eq(*one, *other) => true,
        (Value::Null, Value::Null) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::Text(one), Value::Text(other)) => {
            let (one, other) = (one.as_str(), other.as_str());
            budget.take(one.len().min(other.len()) / AT_ONCE)?;
            one == other
        }
        (Value::Bytes(one), Value::Bytes(other)) => {
            budget.take(one.len().min(other.len()) / AT_ONCE)?;
            one == other
        }
        (Value::Timestamp(one), Value::Timestamp(other)) => one == other,
        (Value::Type(one), Value::Type(other)) => one == other,
        (Value::Special(one), Value::Special(other)) => one == other,
        (Value::Optional(one), Value::Optional(other)) => match (one, other) {
            (None, None) => true,
            (Some(one), Some(other)) => equal(budget, one, other)?,
            _ => false,
        },
        _ if is_number(one) && is_number(other) => numbers(one, other) == Some(Ordering::Equal),
        _ => inside(budget, one, other)?,
    })
}

/// Compares lists and maps element by element.
fn inside(budget: &mut Budget, one: &Value<'_, '_>, other: &Value<'_, '_>) -> Result<bool, Reason> {
    budget.take(INSIDE)?;
    if one.length() != other.length() {
        return Ok(false);
    }
    if let (Value::List(one), Value::List(other)) = (one, other) {
        for (one, other) in one.iter().zip(&**other) {
            if !equal(budget, one, other)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    if let (Some(one), Some(other)) = (one.items(), other.items()) {
        for (one, other) in one.zip(other) {
            if !equal(budget, &one, &other)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    if let (Some(one), Some(other)) = (one.entries(), other.entries()) {
        // Both are in the order of their keys.
        for ((key, value), (other_key, other_value)) in one.zip(other) {
            let same = equal(budget, &key.value(), &other_key.value())?;
            if !same || !equal(budget, &value, &other_value)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    Ok(false)
}

fn is_number(value: &Value<'_, '_>) -> bool {
    matches!(value, Value::Int(_) | Value::Uint(_) | Value::Double(_))
}

/// Which comes first, if the values have an order; NaN has none.
pub(crate) fn order(one: &Value<'_, '_>, other: &Value<'_, '_>) -> Option<Ordering> {
    match (one, other) {
        (Value::Bool(one), Value::Bool(other)) => Some(one.cmp(other)),
        (Value::Text(one), Value::Text(other)) => Some(one.as_str().cmp(other.as_str())),
        (Value::Bytes(one), Value::Bytes(other)) => Some(one.cmp(other)),
        (Value::Duration(one), Value::Duration(other)) => Some(one.cmp(other)),
        (Value::Timestamp(one), Value::Timestamp(other)) => Some(one.cmp(other)),
        _ => numbers(one, other),
    }
}

/// Whether two values are of types that can be put in order.
pub(crate) fn can_be_ordered(one: &Value<'_, '_>, other: &Value<'_, '_>) -> bool {
    is_number(one) && is_number(other)
        || one.type_name() == other.type_name()
            && matches!(
                one,
                Value::Bool(_)
                    | Value::Text(_)
                    | Value::Bytes(_)
                    | Value::Duration(_)
                    | Value::Timestamp(_)
            )
}

#[expect(clippy::cast_precision_loss, reason = "the nearest float is what is compared")]
fn numbers(one: &Value<'_, '_>, other: &Value<'_, '_>) -> Option<Ordering> {
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => Some(one.cmp(other)),
        (Value::Uint(one), Value::Uint(other)) => Some(one.cmp(other)),
        (Value::Int(one), Value::Uint(other)) => Some(i128::from(*one).cmp(&i128::from(*other))),
        (Value::Uint(one), Value::Int(other)) => Some(i128::from(*one).cmp(&i128::from(*other))),
        (Value::Double(one), Value::Double(other)) => one.partial_cmp(other),
        (Value::Double(one), Value::Int(other)) => one.partial_cmp(&(*other as f64)),
        (Value::Double(one), Value::Uint(other)) => one.partial_cmp(&(*other as f64)),
        (Value::Int(one), Value::Double(other)) => (*one as f64).partial_cmp(other),
        (Value::Uint(one), Value::Double(other)) => (*one as f64).partial_cmp(other),
        _ => None,
    }
}

/// Whether a value is an element of a list or a key of a map.
pub(crate) fn contains(
    budget: &mut Budget,
    within: &Value<'_, '_>,
    value: &Value<'_, '_>,
) -> Result<Option<bool>, Reason> {
    if let Some(items) = within.items() {
        for item in items {
            if equal(budget, &item, value)? {
                return Ok(Some(true));
            }
        }
        return Ok(Some(false));
    }
    match within {
        _ if !within.is_map() => Ok(None),
        Value::Map(map) => Ok(Some(Key::lookup(value).is_some_and(|key| map.get(&key).is_some()))),
        _ => Ok(Some(value.as_text().is_some_and(|name| within.field(name).is_some()))),
    }
}
