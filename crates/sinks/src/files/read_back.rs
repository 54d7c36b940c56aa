//! Reads the rows of a document that was written earlier.

use granit_parser::{Event, Parser, ScalarStyle};
use kollect_inventory::{Identity, Row, envelope};
use serde::Deserialize as _;
use serde_json::{Map, Value};

/// The rows of a document in any of the formats that we write, or none if it
/// is not one of ours.
pub(super) fn rows(document: &[u8]) -> Option<Vec<Row>> {
    if let Ok(decoded) = envelope::decode(document) {
        return Some(decoded.rows);
    }
    let text = str::from_utf8(document).ok()?;
    let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    let items = match lines {
        Ok(items) => items,
        Err(_) => match yaml(text)? {
            Value::Array(items) => items,
            _ => return None,
        },
    };
    items.into_iter().map(row).collect()
}

fn row(mut item: Value) -> Option<Row> {
    let attributes = item.get_mut("attributes").map(Value::take).unwrap_or_default();
    let identity = Identity::deserialize(&item).ok()?;
    Some(Row::of_value(&identity, &attributes))
}

/// Collections that have begun and not ended; mappings hold keys and values in
/// turn.
type Open = Vec<(Vec<Value>, Shape)>;

#[derive(Clone, Copy)]
enum Shape {
    List,
    Mapping,
}

/// Reads YAML as we write it: one document without anchors and tags.
fn yaml(text: &str) -> Option<Value> {
    let mut open: Open = vec![(Vec::new(), Shape::List)];
    for event in Parser::new_from_str(text) {
        let value = match event.ok()?.0 {
            Event::SequenceStart(..) => {
                open.push((Vec::new(), Shape::List));
                continue;
            }
            Event::MappingStart(..) => {
                open.push((Vec::new(), Shape::Mapping));
                continue;
            }
            Event::Scalar(text, ScalarStyle::Plain, ..) => plain(&text),
            Event::Scalar(text, ..) => Value::String(text.into_owned()),
            Event::SequenceEnd | Event::MappingEnd => closed(open.pop()?)?,
            Event::Alias(..) => return None,
            _ => continue,
        };
        open.last_mut()?.0.push(value);
    }
    let (mut documents, _) = open.pop()?;
    if documents.len() == 1 { documents.pop() } else { None }
}

fn closed((values, shape): (Vec<Value>, Shape)) -> Option<Value> {
    match shape {
        Shape::List => Some(Value::Array(values)),
        Shape::Mapping => {
            let mut fields = Map::new();
            let mut values = values.into_iter();
            while let Some(key) = values.next() {
                let key = match key {
                    Value::String(key) => key,
                    other => other.to_string(),
                };
                fields.insert(key, values.next()?);
            }
            Some(Value::Object(fields))
        }
    }
}

/// What a text without quotes means. Texts that look like another type have
/// quotes when we write them; `-inf` looks like one only to Rust.
fn plain(text: &str) -> Value {
    let is_number = |one: char| one.is_ascii_digit() || matches!(one, '-' | '+' | '.' | 'e');
    match text {
        "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ if text.chars().all(is_number) => {
            let integer = text.parse::<i64>().map(Value::from);
            let integer = integer.or_else(|_| text.parse::<u64>().map(Value::from));
            let number = integer.ok().or_else(|| text.parse::<f64>().ok().map(Value::from));
            number.unwrap_or_else(|| Value::String(text.to_owned()))
        }
        _ => Value::String(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use kollect_api::Format;
    use kollect_inventory::envelope::Header;
    use serde_json::json;

    use super::*;
    use crate::encode;

    #[test]
    fn what_is_written_reads_back_in_every_format() {
        let identity = Identity {
            target_namespace: "shop".into(),
            target_name: "workloads".into(),
            namespace: "shop".into(),
            name: "web".into(),
            uid: "0777".into(),
            version: "v1".into(),
            kind: "Deployment".into(),
            ..Identity::default()
        };
        let attributes = json!({
            "on": ["yes", "1:30", "a\nb\n", "", "-", "-inf", "12e", "é: #"], "": null, "n": -3,
            "big": u64::MAX, "float": 1e21, "small": 0.00001, "nest": [{"a": [[], {}]}], "t": true,
        });
        let rows = [
            Row::of_value(&identity, &attributes),
            Row::of_value(&Identity { name: "x".into(), ..identity }, &Value::Null),
        ];
        for format in [Format::Json, Format::Yaml, Format::Ndjson] {
            for rows in [&rows[..], &rows[..1], &[]] {
                let document = encode::document(&Header::default(), rows, format).unwrap();
                assert_eq!(super::rows(&document).as_deref(), Some(rows), "{format:?}");
            }
        }
    }

    #[test]
    fn what_somebody_else_wrote_is_not_read() {
        for text in ["hello: world", "- a", "{}", "[", "{\"schemaVersion\":\"v9\"}", "- &a {}"] {
            assert_eq!(rows(text.as_bytes()), None, "{text}");
        }
    }
}
