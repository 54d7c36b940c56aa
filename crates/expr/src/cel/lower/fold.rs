//! What is constant is computed once.

use std::sync::Arc;

use super::super::{
    machine::Machine,
    node::{Kind, Node},
    value::{Key, Map, Text, Value},
};
use crate::budget::Budget;

/// What computing a constant may cost; what costs more is computed when it is
/// needed, where the budget of the evaluation stands.
const COST: u64 = 20_000;

/// The largest text or list that is kept.
const LARGEST: usize = 4096;

/// The node, or its value if it is made of constants. What has no value
/// stays: it may never be reached.
pub(super) fn folded(node: Node) -> Node {
    let parts = node.parts();
    if matches!(node.kind, Kind::Loop(_) | Kind::Fail(_))
        || parts.iter().any(|part| part.constant().is_none())
    {
        return node;
    }
    let mut budget = Budget::new(COST);
    let value = Machine::new(&[], &mut budget).eval(&node).ok().and_then(|value| owned(&value));
    match value {
        Some(value) => Node { at: node.at, kind: Kind::Constant(value) },
        None => node,
    }
}

/// The value with nothing borrowed, if it is not too large to be kept.
fn owned(value: &Value<'_, '_>) -> Option<Value<'static, 'static>> {
    Some(match value {
        Value::Null => Value::Null,
        Value::Bool(bool) => Value::Bool(*bool),
        Value::Int(int) => Value::Int(*int),
        Value::Uint(uint) => Value::Uint(*uint),
        Value::Double(double) => Value::Double(*double),
        Value::Text(text) => Value::Text(owned_text(text)?),
        Value::Bytes(bytes) if bytes.len() > LARGEST => return None,
        Value::Bytes(bytes) => Value::Bytes(Arc::clone(bytes)),
        Value::Duration(nanoseconds) => Value::Duration(*nanoseconds),
        Value::Timestamp(at) => Value::Timestamp(*at),
        Value::Type(name) => Value::Type(name),
        Value::Special(special) => Value::Special(Arc::clone(special)),
        Value::Optional(None) => Value::NONE,
        Value::Optional(Some(value)) => Value::some(owned(value)?),
        // There is no object while a program is compiled.
        Value::Json(_) => return None,
        Value::List(items) => {
            if items.len() > LARGEST {
                return None;
            }
            Value::list(items.iter().map(owned).collect::<Option<_>>()?)
        }
        Value::Map(map) => {
            let entries = map.entries().iter();
            let entries = entries.map(|(key, value)| Some((owned_key(key)?, owned(value)?)));
            Value::Map(Map::new(entries.collect::<Option<_>>()?).ok()?.into())
        }
    })
}

fn owned_text(text: &Text<'_, '_>) -> Option<Text<'static, 'static>> {
    let text = text.as_str();
    (text.len() <= LARGEST).then(|| Text::Built(text.into()))
}

fn owned_key(key: &Key<'_, '_>) -> Option<Key<'static, 'static>> {
    Some(match key {
        Key::Bool(bool) => Key::Bool(*bool),
        Key::Int(int) => Key::Int(*int),
        Key::Uint(uint) => Key::Uint(*uint),
        Key::Text(text) => Key::Text(owned_text(text)?),
    })
}
