//! Writes JSON values as YAML that a person can read.

use serde_json::Value;

/// One document in block style, ending in a line break.
pub(crate) fn text(value: &Value) -> String {
    let mut text = String::new();
    block(value, 0, &mut text);
    text
}

/// Writes a value at the beginning of a line.
fn block(value: &Value, indent: usize, text: &mut String) {
    let margin = "  ".repeat(indent);
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                text.push_str(&margin);
                field(name, value, indent, text);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                text.push_str(&margin);
                entry(item, indent, text);
            }
        }
        other => {
            text.push_str(&margin);
            text.push_str(&scalar(other));
            text.push('\n');
        }
    }
}

/// Writes `name: value`, the margin being there already.
fn field(name: &str, value: &Value, indent: usize, text: &mut String) {
    text.push_str(&quoted(name));
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            text.push_str(":\n");
            block(value, indent + 1, text);
        }
        Value::Array(items) if !items.is_empty() => {
            text.push_str(":\n");
            block(value, indent, text);
        }
        other => {
            text.push_str(": ");
            text.push_str(&scalar(other));
            text.push('\n');
        }
    }
}

/// Writes `- value`, the margin being there already.
fn entry(item: &Value, indent: usize, text: &mut String) {
    text.push_str("- ");
    match item {
        Value::Object(fields) if !fields.is_empty() => {
            for (at, (name, value)) in fields.iter().enumerate() {
                if at > 0 {
                    text.push_str(&"  ".repeat(indent + 1));
                }
                field(name, value, indent + 1, text);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            text.push('\n');
            block(item, indent + 1, text);
        }
        other => {
            text.push_str(&scalar(other));
            text.push('\n');
        }
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

/// A text without quotes where no reader could take it for anything else.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./ ,()".contains(c);
    let ambiguous = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"]
        .contains(&text.to_ascii_lowercase().as_str());
    let safe = text.chars().all(plain)
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !text.ends_with(' ')
        && !ambiguous;
    if safe { text.to_owned() } else { Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nested_values_stand_in_block_style() {
        let value = json!({"a": {"list": [{"name": "x1", "of": [1, 2]}, "plain text"]}, "e": {}});
        let expected =
            "a:\n  list:\n  - name: x1\n    of:\n    - 1\n    - 2\n  - plain text\ne: {}\n";
        assert_eq!(text(&value), expected);
    }

    #[test]
    fn a_text_that_looks_like_something_else_is_quoted() {
        for (plain, expected) in [
            ("yes", "\"yes\""),
            ("1.5", "\"1.5\""),
            ("a: b", "\"a: b\""),
            ("", "\"\""),
            ("line\nbreak", "\"line\\nbreak\""),
            ("apps/v1", "apps/v1"),
        ] {
            assert_eq!(quoted(plain), expected);
        }
    }
}
