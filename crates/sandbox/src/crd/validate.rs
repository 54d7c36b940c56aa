//! Holds an object against its schema; expressions in the schema are not run.

use regex::Regex;
use serde_json::Value;

use crate::{schema::Schema, status::Violation};

/// What an object says that its schema forbids.
pub(crate) fn violations(value: &Value, schema: Schema<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    check(value, schema, "", &mut found);
    found
}

fn check(value: &Value, schema: Schema<'_>, at: &str, found: &mut Vec<Violation>) {
    if value.is_null() && schema.flag("nullable") {
        return;
    }
    if let Some(violation) = wrong_type(value, schema, at) {
        found.push(violation);
        return;
    }
    if let Some(Value::Array(allowed)) = schema.said("enum")
        && !allowed.contains(value)
    {
        let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
        let message =
            format!("Unsupported value: {value}: supported values: {}", allowed.join(", "));
        found.push(violation("FieldValueNotSupported", at, message));
    }
    match value {
        Value::Object(fields) => {
            for name in schema.texts("required") {
                if !fields.contains_key(name) {
                    let field = join(at, name);
                    found.push(violation("FieldValueRequired", &field, "Required value".into()));
                }
            }
            for (name, value) in fields {
                if at.is_empty() && matches!(name.as_str(), "metadata" | "apiVersion" | "kind") {
                    continue;
                }
                if let Some(place) = schema.member(name) {
                    check(value, place, &join(at, name), found);
                }
            }
        }
        Value::Array(items) => {
            count(items.len(), "items", schema, at, found);
            let Some(place) = schema.items() else { return };
            for (index, item) in items.iter().enumerate() {
                check(item, place, &format!("{at}[{index}]"), found);
            }
        }
        Value::String(text) => check_text(text, schema, at, found),
        Value::Number(number) => check_number(number, schema, at, found),
        Value::Null | Value::Bool(_) => {}
    }
}

fn join(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

fn violation(reason: &'static str, field: &str, message: String) -> Violation {
    Violation { reason, field: field.to_owned(), message }
}

fn invalid(value: &dyn std::fmt::Display, at: &str, why: &str) -> Violation {
    let message = format!("Invalid value: {value}: {at} in body {why}");
    violation("FieldValueInvalid", at, message)
}

fn wrong_type(value: &Value, schema: Schema<'_>, at: &str) -> Option<Violation> {
    if schema.flag("x-kubernetes-int-or-string") {
        return None;
    }
    let actual = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let wanted = schema.text("type");
    let fits = match wanted {
        "" => true,
        "number" => matches!(actual, "number" | "integer"),
        wanted => wanted == actual,
    };
    (!fits).then(|| {
        let message = format!(
            r#"Invalid value: "{actual}": {at} in body must be of type {wanted}: "{actual}""#
        );
        violation("FieldValueTypeInvalid", at, message)
    })
}

fn check_text(text: &str, schema: Schema<'_>, at: &str, found: &mut Vec<Violation>) {
    let length = text.chars().count();
    let quoted = Value::from(text);
    let limit = |name: &str| schema.said(name).and_then(Value::as_u64);
    if let Some(least) = limit("minLength").filter(|least| (length as u64) < *least) {
        let why = format!("should be at least {least} chars long");
        found.push(invalid(&quoted, at, &why));
    }
    if let Some(most) = limit("maxLength").filter(|most| (length as u64) > *most) {
        let message = format!("Too long: may not be more than {most} bytes");
        found.push(violation("FieldValueTooLong", at, message));
    }
    let pattern = schema.text("pattern");
    // A pattern that we cannot read forbids nothing.
    if !pattern.is_empty() && Regex::new(pattern).is_ok_and(|regex| !regex.is_match(text)) {
        found.push(invalid(&quoted, at, &format!("should match '{pattern}'")));
    }
}

fn check_number(
    number: &serde_json::Number,
    schema: Schema<'_>,
    at: &str,
    found: &mut Vec<Violation>,
) {
    let value = number.as_f64().unwrap_or_default();
    if let Some(least) = schema.number("minimum").filter(|least| value < *least) {
        let why = format!("should be greater than or equal to {least}");
        found.push(invalid(number, at, &why));
    }
    if let Some(most) = schema.number("maximum").filter(|most| value > *most) {
        let why = format!("should be less than or equal to {most}");
        found.push(invalid(number, at, &why));
    }
}

fn count(actual: usize, what: &str, schema: Schema<'_>, at: &str, found: &mut Vec<Violation>) {
    let limit = |name: &str| schema.said(name).and_then(Value::as_u64);
    if let Some(least) = limit("minItems").filter(|least| (actual as u64) < *least) {
        let why = format!("should have at least {least} {what}");
        found.push(invalid(&actual, at, &why));
    }
    if let Some(most) = limit("maxItems").filter(|most| (actual as u64) > *most) {
        let message = format!("Too many: {actual}: must have at most {most} {what}");
        found.push(violation("FieldValueTooMany", at, message));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(spec: Value, expected: &[&str]) {
        let schema = json!({"type": "object", "required": ["spec"], "properties": {"spec": {
            "type": "object", "required": ["a"], "properties": {
                "a": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"},
                "b": {"type": "integer", "minimum": 1, "maximum": 5},
                "c": {"type": "string", "enum": ["x", "y"]},
                "d": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "boolean"}},
            },
        }}});
        let found =
            violations(&json!({"metadata": {"name": 1}, "spec": spec}), Schema::new(&schema));
        let found: Vec<String> =
            found.iter().map(|it| format!("{}: {}", it.field, it.message)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_fits_is_not_mentioned() {
        check(json!({"a": "ab", "b": 5, "c": "y", "d": [true]}), &[]);
    }

    #[test]
    fn what_does_not_fit_is_said_as_real_servers_say_it() {
        check(json!({}), &["spec.a: Required value"]);
        check(
            json!("x"),
            &[r#"spec: Invalid value: "string": spec in body must be of type object: "string""#],
        );
        check(
            json!({"a": "A", "b": 0, "c": "z", "d": []}),
            &[
                r#"spec.a: Invalid value: "A": spec.a in body should be at least 2 chars long"#,
                r#"spec.a: Invalid value: "A": spec.a in body should match '^[a-z]+$'"#,
                "spec.b: Invalid value: 0: spec.b in body should be greater than or equal to 1",
                r#"spec.c: Unsupported value: "z": supported values: "x", "y""#,
                "spec.d: Invalid value: 0: spec.d in body should have at least 1 items",
            ],
        );
        check(
            json!({"a": "abcde", "b": 6, "d": [true, 1, true]}),
            &[
                "spec.a: Too long: may not be more than 4 bytes",
                "spec.b: Invalid value: 6: spec.b in body should be less than or equal to 5",
                "spec.d: Too many: 3: must have at most 2 items",
                r#"spec.d[1]: Invalid value: "integer": spec.d[1] in body must be of type boolean: "integer""#,
            ],
        );
    }
}
