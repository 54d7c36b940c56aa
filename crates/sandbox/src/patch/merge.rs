//! JSON merge patches: maps are merged, everything else is replaced.

use serde_json::{Map, Value};

/// Merges a patch; null removes.
pub(crate) fn merge(object: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *object = patch.clone();
        return;
    };
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    let Value::Object(fields) = object else { return };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name.clone()).or_insert(Value::Null), change);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn maps_are_merged_null_removes_and_lists_are_replaced() {
        let mut object = json!({"a": {"b": 1, "c": 2}, "d": [1, 2], "e": 3});
        merge(&mut object, &json!({"a": {"b": null, "x": {"y": null}}, "d": [3]}));
        assert_eq!(object, json!({"a": {"c": 2, "x": {}}, "d": [3], "e": 3}));
    }
}
