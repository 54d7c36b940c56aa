//! Fills in the defaults of a schema.

use serde_json::Value;

use crate::schema::Schema;

/// Fills in what an object does not say and its schema does.
pub(crate) fn complete(value: &mut Value, schema: Schema<'_>) {
    match value {
        Value::Object(fields) => {
            for (name, place) in schema.properties() {
                let is_absent = fields.get(name).is_none_or(|value| {
                    // Null is as good as nothing where it is not allowed.
                    value.is_null() && !place.flag("nullable")
                });
                if let (true, Some(default)) = (is_absent, place.said("default")) {
                    fields.insert(name.clone(), default.clone());
                }
                if let Some(value) = fields.get_mut(name) {
                    complete(value, place);
                }
            }
            if let Some(place) = schema.values() {
                let others = fields.iter_mut().filter(|(name, _)| schema.property(name).is_none());
                others.for_each(|(_, value)| complete(value, place));
            }
        }
        Value::Array(items) => {
            if let Some(place) = schema.items() {
                for item in items {
                    complete(item, place);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn defaults_are_filled_in_at_every_depth_and_not_over_what_is_said() {
        let schema = json!({"properties": {
            "a": {"type": "integer", "default": 1},
            "b": {"type": "object", "default": {}, "properties": {"c": {"default": "x"}}},
            "d": {"items": {"properties": {"e": {"default": true}}}},
            "f": {"additionalProperties": {"properties": {"g": {"default": 2}}}},
        }});
        let mut object = json!({"a": 3, "d": [{}, {"e": false}], "f": {"any": {}}});
        complete(&mut object, Schema::new(&schema));
        assert_eq!(
            object,
            json!({
                "a": 3, "b": {"c": "x"}, "d": [{"e": true}, {"e": false}], "f": {"any": {"g": 2}},
            })
        );
    }
}
