//! Reads YAML as far as objects are written in it: one document, without
//! aliases.

use granit_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

/// Deeper than any object that a server would take.
const DEEPEST: usize = 200;

/// Reads the one document of a text, or says why not.
pub(super) fn read(bytes: &[u8]) -> Result<Value, String> {
    let text = str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let mut parser = Parser::new_from_str(text);
    let mut open: Vec<Open> = Vec::new();
    let mut finished = None;
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| error.to_string())?;
        let refused = |why: &str| Err(format!("{why} in line {}", span.start.line()));
        let value = match event {
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() == DEEPEST => {
                return refused("too many levels");
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Map::new(), None));
                continue;
            }
            Event::Scalar(text, style, ..) => {
                if let Some(Open::Map(_, key @ None)) = open.last_mut() {
                    *key = Some(text.into_owned());
                    continue;
                }
                scalar(&text, style)
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(items)) => Value::Array(items),
                Some(Open::Map(fields, _)) => Value::Object(fields),
                None => return refused("an end without a beginning"),
            },
            Event::Alias(_) => return refused("an alias, which the sandbox does not follow,"),
            Event::DocumentStart(..) if finished.is_some() => {
                return refused("a second document");
            }
            _ => continue,
        };
        match open.last_mut() {
            None => finished = Some(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map(fields, key)) => {
                let Some(key) = key.take() else { return refused("a key that is no text") };
                if fields.insert(key, value).is_some() {
                    return refused("a key that stands twice");
                }
            }
        }
    }
    finished.ok_or_else(|| "there is no document".to_owned())
}

/// What has begun and not ended.
enum Open {
    List(Vec<Value>),
    /// The fields so far, and the key whose value is awaited.
    Map(Map<String, Value>, Option<String>),
}

/// What a text without quotes means.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::from(text);
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => {
            return Value::Bool(true);
        }
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
            return Value::Bool(false);
        }
        _ => {}
    }
    let octal = text.strip_prefix("0o").or_else(|| text.strip_prefix('0'));
    let octal = octal.and_then(|digits| i64::from_str_radix(digits, 8).ok());
    let hexadecimal = text.strip_prefix("0x").and_then(|it| i64::from_str_radix(it, 16).ok());
    if let Some(number) = octal.or(hexadecimal).or_else(|| text.parse().ok()) {
        return Value::from(number);
    }
    let is_number = text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
    let number = text.parse().ok().filter(|_| is_number).and_then(Number::from_f64);
    number.map_or_else(|| Value::from(text), Value::Number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_is_read_as_kubectl_would() {
        let text = "# A comment.\n---\nkind: X\nspec:\n  list: [1, -2.5, 0644, 0x1f, yes, ~]\n  \
                    text: '12'\n  version: 1.2.3\n  lines: |\n    a\n    b\n  empty: {}\n";
        assert_eq!(
            read(text.as_bytes()),
            Ok(json!({"kind": "X", "spec": {
                "list": [1, -2.5, 420, 31, true, null], "text": "12", "version": "1.2.3",
                "lines": "a\nb\n", "empty": {},
            }}))
        );
        assert_eq!(read(br#"{"a": [true, null, "b"]}"#), Ok(json!({"a": [true, null, "b"]})));
    }

    #[test]
    fn what_is_not_read_is_refused_by_line() {
        for (text, expected) in [
            ("a: &x 1\nb: *x\n", "an alias, which the sandbox does not follow, in line 2"),
            ("a: 1\na: 2\n", "a key that stands twice in line 2"),
            ("a: 1\n---\nb: 2\n", "a second document in line 2"),
            ("", "there is no document"),
        ] {
            assert_eq!(read(text.as_bytes()), Err(expected.to_owned()));
        }
        assert!(read("[".repeat(300).as_bytes()).is_err());
    }
}
