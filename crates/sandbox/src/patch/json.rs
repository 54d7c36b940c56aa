//! JSON patches: a list of operations, all of them or none.

use serde_json::Value;

/// Applies the operations in order; fails with the message of real servers.
pub(crate) fn apply(object: &Value, patch: &Value) -> Result<Value, String> {
    let Value::Array(operations) = patch else {
        return Err("a JSON patch is a list of operations".to_owned());
    };
    let mut object = object.clone();
    for operation in operations {
        let text = |name: &str| operation.get(name).and_then(Value::as_str).unwrap_or_default();
        let value = || {
            let value = operation.get("value").cloned();
            value.ok_or_else(|| format!("{} operation does not have a value", text("op")))
        };
        let place = text("path");
        match text("op") {
            "add" => add(&mut object, place, value()?)?,
            "remove" => {
                remove(&mut object, place)?;
            }
            "replace" => {
                let found = object.pointer_mut(place).ok_or_else(|| missing("replace", place))?;
                *found = value()?;
            }
            "move" => {
                let moved = remove(&mut object, text("from"))?;
                add(&mut object, place, moved)?;
            }
            "copy" => {
                let copied = object.pointer(text("from")).cloned();
                add(&mut object, place, copied.ok_or_else(|| missing("copy", text("from")))?)?;
            }
            "test" => {
                if object.pointer(place) != operation.get("value") {
                    return Err(format!("testing value {place} failed: test failed"));
                }
            }
            other => return Err(format!("Unexpected kind: {other}")),
        }
    }
    Ok(object)
}

fn missing(operation: &str, path: &str) -> String {
    format!("{operation} operation does not apply: doc is missing path: {path}: missing value")
}

/// The parent of a place, and the last part of its path.
fn parent<'a>(object: &'a mut Value, path: &str) -> Option<(&'a mut Value, String)> {
    let (above, last) = path.rsplit_once('/')?;
    let last = last.replace("~1", "/").replace("~0", "~");
    Some((object.pointer_mut(above)?, last))
}

fn add(object: &mut Value, path: &str, value: Value) -> Result<(), String> {
    if path.is_empty() {
        *object = value;
        return Ok(());
    }
    let absent = || missing("add", path);
    let (parent, last) = parent(object, path).ok_or_else(absent)?;
    match parent {
        Value::Object(fields) => {
            fields.insert(last, value);
        }
        Value::Array(items) if last == "-" => items.push(value),
        Value::Array(items) => {
            let at = last.parse().ok().filter(|at| *at <= items.len());
            items.insert(at.ok_or_else(absent)?, value);
        }
        _ => return Err(absent()),
    }
    Ok(())
}

fn remove(object: &mut Value, path: &str) -> Result<Value, String> {
    let absent = || missing("remove", path);
    let (parent, last) = parent(object, path).ok_or_else(absent)?;
    match parent {
        Value::Object(fields) => fields.remove(&last).ok_or_else(absent),
        Value::Array(items) => {
            let at = last.parse().ok().filter(|at| *at < items.len());
            Ok(items.remove(at.ok_or_else(absent)?))
        }
        _ => Err(absent()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(patch: Value, expected: Option<Value>) {
        let object = json!({"a": [1, 2], "b": {"c/d": 1}});
        assert_eq!(apply(&object, &patch).ok(), expected);
    }

    #[test]
    fn operations_happen_in_order() {
        let patch = json!([
            {"op": "test", "path": "/a/0", "value": 1},
            {"op": "add", "path": "/a/-", "value": 3},
            {"op": "add", "path": "/a/0", "value": 0},
            {"op": "remove", "path": "/b/c~1d"},
            {"op": "move", "from": "/a/1", "path": "/b/e"},
            {"op": "copy", "from": "/b/e", "path": "/f"},
            {"op": "replace", "path": "/f", "value": null},
        ]);
        check(patch, Some(json!({"a": [0, 2, 3], "b": {"e": 1}, "f": null})));
    }

    #[test]
    fn one_operation_that_fails_fails_all() {
        for operation in [
            json!({"op": "test", "path": "/a/0", "value": 2}),
            json!({"op": "remove", "path": "/x"}),
            json!({"op": "replace", "path": "/x", "value": 1}),
            json!({"op": "add", "path": "/a/9", "value": 1}),
            json!({"op": "add", "path": "/x/y", "value": 1}),
            json!({"op": "add", "path": "/x"}),
            json!({"op": "what", "path": "/x"}),
        ] {
            check(json!([operation]), None);
        }
        check(json!({}), None);
    }
}
