//! The paths of printer columns: a small part of kubectl's JSONPath.

use serde_json::Value;

/// Everything that a path leads to; nothing if we cannot read the path.
pub(super) fn find<'a>(object: &'a Value, path: &str) -> Vec<&'a Value> {
    let path = path.trim().trim_start_matches('{').trim_end_matches('}').trim_start_matches('$');
    let mut found = vec![object];
    let mut rest = path;
    while !rest.is_empty() {
        let Some((step, after)) = step(rest) else { return Vec::new() };
        found = found.into_iter().flat_map(|value| follow(value, &step)).collect();
        rest = after;
    }
    found.into_iter().filter(|value| !value.is_null()).collect()
}

enum Step {
    Field(String),
    Index(usize),
    All,
    /// Elements whose field has a value.
    Where(String, String),
}

fn follow<'a>(value: &'a Value, step: &Step) -> Vec<&'a Value> {
    match (value, step) {
        (Value::Object(fields), Step::Field(name)) => fields.get(name).into_iter().collect(),
        (Value::Object(fields), Step::All) => fields.values().collect(),
        (Value::Array(items), Step::Index(index)) => items.get(*index).into_iter().collect(),
        (Value::Array(items), Step::All) => items.iter().collect(),
        (Value::Array(items), Step::Where(path, wanted)) => {
            let is_it = |value: &&Value| match value {
                Value::String(text) => text == wanted,
                other => other.to_string() == *wanted,
            };
            items.iter().filter(|item| find(item, path).iter().any(is_it)).collect()
        }
        _ => Vec::new(),
    }
}

fn step(text: &str) -> Option<(Step, &str)> {
    if let Some(rest) = text.strip_prefix('.') {
        if let Some(rest) = rest.strip_prefix('*') {
            return Some((Step::All, rest));
        }
        let mut name = String::new();
        let mut characters = rest.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => name.extend(characters.next().map(|(_, escaped)| escaped)),
                '.' | '[' => return Some((Step::Field(name), rest.get(at..)?)),
                other => name.push(other),
            }
        }
        return Some((Step::Field(name), ""));
    }
    let rest = text.strip_prefix('[')?;
    if let Some(condition) = rest.strip_prefix("?(@") {
        let (condition, rest) = condition.split_once(")]")?;
        let (path, value) = condition.split_once("==")?;
        let value = value.trim().trim_matches(['"', '\'']);
        return Some((Step::Where(path.trim().to_owned(), value.to_owned()), rest));
    }
    let (inner, rest) = rest.split_once(']')?;
    let step = match inner {
        "*" => Step::All,
        quoted if quoted.starts_with(['\'', '"']) => {
            Step::Field(quoted.trim_matches(['\'', '"']).to_owned())
        }
        number => Step::Index(number.parse().ok()?),
    };
    Some((step, rest))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_of_printer_columns_are_followed() {
        let object = json!({
            "metadata": {"labels": {"a.b/c": "x"}},
            "list": [{"type": "Ready", "status": "True"}, {"type": "Synced", "status": "False"}],
        });
        let cases = [
            (r#".list[?(@.type=="Synced")].status"#, vec![json!("False")]),
            (".list[*].type", vec![json!("Ready"), json!("Synced")]),
            (".list[0].status", vec![json!("True")]),
            (r".metadata.labels.a\.b/c", vec![json!("x")]),
            (".metadata.labels['a.b/c']", vec![json!("x")]),
            (".nothing.there", vec![]),
        ];
        for (path, expected) in cases {
            let found: Vec<Value> = find(&object, path).into_iter().cloned().collect();
            assert_eq!(found, expected, "{path}");
        }
    }
}
