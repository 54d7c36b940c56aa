//! Reads protobuf, which Go clients send for built-in kinds and do not replace
//! by JSON when it is refused. Answers are JSON, which they take.

use std::{collections::BTreeMap, str::SplitWhitespace};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::recorded;

/// What such a body is called.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// How each begins.
const MAGIC: &[u8] = b"k8s\0";

/// Messages that hold themselves could be nested without end.
const DEEPEST: usize = 64;

/// A body that is not what it is said to be.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("it does not begin as one of Kubernetes")]
    Magic,
    #[error("it ends too early")]
    Short,
    #[error("a number is too long")]
    Number,
    #[error("a text is not one")]
    Text,
    #[error("a field has the form {0}, which it cannot have")]
    Form(u64),
    #[error("it is nested too deeply")]
    Deep,
    #[error("no field of {0} is known")]
    Message(String),
    #[error("its content is encoded as {0}")]
    Encoding(String),
}

/// Reads an object of a type, by the name of its schema.
pub(crate) fn read(body: &[u8], schema: &str) -> Result<Value, Unreadable> {
    let body = body.strip_prefix(MAGIC).ok_or(Unreadable::Magic)?;
    let (mut kind, mut version, mut raw): (&[u8], &[u8], &[u8]) = (&[], &[], &[]);
    each(body, |number, wire| {
        match (number, wire) {
            (1, Wire::Bytes(bytes)) => {
                return each(bytes, |number, wire| {
                    match (number, wire) {
                        (1, Wire::Bytes(text)) => version = text,
                        (2, Wire::Bytes(text)) => kind = text,
                        _ => {}
                    }
                    Ok(())
                });
            }
            (2, Wire::Bytes(bytes)) => raw = bytes,
            (3, Wire::Bytes(bytes)) if !bytes.is_empty() => {
                return Err(Unreadable::Encoding(text(bytes)?));
            }
            _ => {}
        }
        Ok(())
    })?;
    let mut object = message(raw, schema, 0)?;
    object.insert("kind".to_owned(), Value::from(text(kind)?));
    object.insert("apiVersion".to_owned(), Value::from(text(version)?));
    Ok(Value::Object(object))
}

/// A value before anybody knows what it means.
#[derive(Clone, Copy)]
enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// Calls with the number and the value of each field of a message.
fn each<'a>(
    mut bytes: &'a [u8],
    mut found: impl FnMut(u64, Wire<'a>) -> Result<(), Unreadable>,
) -> Result<(), Unreadable> {
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let wire = match key & 7 {
            0 => Wire::Number(varint(&mut bytes)?),
            1 => Wire::Bytes(take(&mut bytes, 8)?),
            2 => {
                let length = varint(&mut bytes)?;
                Wire::Bytes(take(&mut bytes, usize::try_from(length).unwrap_or(usize::MAX))?)
            }
            5 => Wire::Bytes(take(&mut bytes, 4)?),
            form => return Err(Unreadable::Form(form)),
        };
        found(key >> 3, wire)?;
    }
    Ok(())
}

fn varint(bytes: &mut &[u8]) -> Result<u64, Unreadable> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first().ok_or(Unreadable::Short)?;
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(Unreadable::Number)
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Result<&'a [u8], Unreadable> {
    let (taken, rest) = bytes.split_at_checked(length).ok_or(Unreadable::Short)?;
    *bytes = rest;
    Ok(taken)
}

fn text(bytes: &[u8]) -> Result<String, Unreadable> {
    String::from_utf8(bytes.to_vec()).map_err(|_| Unreadable::Text)
}

fn message(bytes: &[u8], name: &str, depth: usize) -> Result<Map<String, Value>, Unreadable> {
    if depth > DEEPEST {
        return Err(Unreadable::Deep);
    }
    let fields = recorded::wire().get(name).and_then(Value::as_object);
    let fields = fields.ok_or_else(|| Unreadable::Message(name.to_owned()))?;
    let mut object = Map::new();
    each(bytes, |number, wire| {
        // A newer client may know more than we do.
        let Some(field) = fields.get(&number.to_string()).and_then(Value::as_str) else {
            return Ok(());
        };
        add(&mut object, field.split_whitespace(), wire, depth)
    })?;
    Ok(object)
}

/// Adds a field that is described as `name type ?`.
fn add(
    object: &mut Map<String, Value>,
    mut field: SplitWhitespace<'_>,
    wire: Wire<'_>,
    depth: usize,
) -> Result<(), Unreadable> {
    let (name, kind) = (field.next().unwrap_or_default(), field.next().unwrap_or_default());
    let is_left_out_empty = field.next().is_some();
    if let (Some(item), Wire::Bytes(bytes)) = (kind.strip_prefix("list:"), wire) {
        let mut items = Vec::new();
        if item == "int" {
            // Several numbers may stand in one field.
            let mut bytes = bytes;
            while !bytes.is_empty() {
                items.push(signed(varint(&mut bytes)?));
            }
        } else {
            items.push(value(item, wire, depth)?);
        }
        extend(object, name, items);
        return Ok(());
    }
    if let Some(item) = kind.strip_prefix("list:") {
        extend(object, name, vec![value(item, wire, depth)?]);
        return Ok(());
    }
    if let (Some(item), Wire::Bytes(bytes)) = (kind.strip_prefix("map:"), wire) {
        let (mut key, mut found) = (String::new(), empty(item));
        each(bytes, |number, wire| {
            match (number, wire) {
                (1, Wire::Bytes(bytes)) => key = text(bytes)?,
                (2, wire) => found = value(item, wire, depth)?,
                _ => {}
            }
            Ok(())
        })?;
        let entries = object.entry(name).or_insert_with(|| json!({}));
        if let Value::Object(entries) = entries {
            entries.insert(key, found);
        }
        return Ok(());
    }
    match value(kind, wire, depth)? {
        Value::Object(inner) if name == "-" => object.extend(inner),
        Value::Null => {}
        value if is_left_out_empty && value == empty(kind) => {}
        value => drop(object.insert(name.to_owned(), value)),
    }
    Ok(())
}

fn extend(object: &mut Map<String, Value>, name: &str, items: Vec<Value>) {
    if let Value::Array(known) = object.entry(name).or_insert_with(|| json!([])) {
        known.extend(items);
    }
}

fn empty(kind: &str) -> Value {
    match kind {
        "int" => json!(0),
        "bool" => json!(false),
        "string" | "bytes" | "quantity" => json!(""),
        _ => Value::Null,
    }
}

fn signed(number: u64) -> Value {
    Value::from(number.cast_signed())
}

fn value(kind: &str, wire: Wire<'_>, depth: usize) -> Result<Value, Unreadable> {
    let bytes = match (kind, wire) {
        ("bool", Wire::Number(number)) => return Ok(Value::from(number != 0)),
        (_, Wire::Number(number)) => return Ok(signed(number)),
        (_, Wire::Bytes(bytes)) => bytes,
    };
    match kind {
        "string" => text(bytes).map(Value::from),
        "bytes" => Ok(Value::from(STANDARD.encode(bytes))),
        "quantity" => one(bytes, 1).and_then(text).map(Value::from),
        "raw" => {
            let raw = one(bytes, 1)?;
            Ok(serde_json::from_slice(raw).unwrap_or_default())
        }
        "time" => time(bytes),
        "int-or-string" => int_or_string(bytes),
        "texts" => {
            let mut texts = Vec::new();
            each(bytes, |_, wire| match wire {
                Wire::Bytes(bytes) => text(bytes).map(|text| texts.push(Value::from(text))),
                Wire::Number(_) => Ok(()),
            })?;
            Ok(Value::Array(texts))
        }
        name => message(bytes, name, depth + 1).map(Value::Object),
    }
}

/// The bytes of one field; none if it is not there.
fn one(bytes: &[u8], wanted: u64) -> Result<&[u8], Unreadable> {
    let mut found: &[u8] = &[];
    each(bytes, |number, wire| {
        if let (true, Wire::Bytes(bytes)) = (number == wanted, wire) {
            found = bytes;
        }
        Ok(())
    })?;
    Ok(found)
}

fn numbers(bytes: &[u8]) -> Result<BTreeMap<u64, i64>, Unreadable> {
    let mut found = BTreeMap::new();
    each(bytes, |number, wire| {
        if let Wire::Number(value) = wire {
            found.insert(number, value.cast_signed());
        }
        Ok(())
    })?;
    Ok(found)
}

/// Nothing if it is empty, as a time that is not set is.
fn time(bytes: &[u8]) -> Result<Value, Unreadable> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let parts = numbers(bytes)?;
    let part = |number| parts.get(&number).copied().unwrap_or_default();
    let nanos = i32::try_from(part(2)).unwrap_or_default();
    let time = Timestamp::new(part(1), nanos);
    Ok(time.map_or(Value::Null, |time| Value::from(time.to_string())))
}

fn int_or_string(bytes: &[u8]) -> Result<Value, Unreadable> {
    let parts = numbers(bytes)?;
    if parts.get(&1) == Some(&1) {
        return one(bytes, 3).and_then(text).map(Value::from);
    }
    Ok(Value::from(parts.get(&2).copied().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG_MAP: &str = "io.k8s.api.core.v1.ConfigMap";

    /// A field that holds bytes.
    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let length = u8::try_from(bytes.len()).expect("a short one");
        [&[number << 3 | 2, length], bytes].concat()
    }

    fn body(raw: &[u8]) -> Vec<u8> {
        let kind = [field(1, b"v1"), field(2, b"ConfigMap")].concat();
        [MAGIC, &field(1, &kind), &field(2, raw)].concat()
    }

    #[test]
    fn an_object_is_read_and_what_is_empty_left_out() {
        let metadata = [field(1, b"one"), field(3, b"")].concat();
        let entry = [field(1, b"a"), field(2, b"b")].concat();
        // A number that we do not know comes from a newer client.
        let raw =
            [field(1, &metadata), field(2, &entry), field(15, b"?"), vec![4 << 3, 1]].concat();
        assert_eq!(
            read(&body(&raw), CONFIG_MAP),
            Ok(json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"},
                "data": {"a": "b"}, "immutable": true,
            }))
        );
    }

    #[test]
    fn whatever_is_cut_off_is_refused_and_nothing_panics() {
        let whole = body(&field(1, &field(1, b"one")));
        for end in 0..whole.len() {
            let cut = whole.get(..end).expect("a part");
            let is_cut_between_fields = [4, 21].contains(&end);
            assert_eq!(read(cut, CONFIG_MAP).is_err(), !is_cut_between_fields, "{end}");
        }
        assert_eq!(read(b"{}", CONFIG_MAP), Err(Unreadable::Magic));
        assert_eq!(read(&[MAGIC, &[0xff; 12]].concat(), CONFIG_MAP), Err(Unreadable::Number));
    }
}
