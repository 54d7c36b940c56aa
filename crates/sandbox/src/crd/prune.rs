//! Drops what a schema does not know.

use serde_json::Value;

use crate::schema::Schema;

/// Whose schema it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// In a definition an object without properties has none.
    Custom,
    /// Recorded schemas leave out the properties of what may be anything.
    BuiltIn,
}

/// Drops unknown fields, and returns their paths.
pub(crate) fn prune(value: &mut Value, schema: Schema<'_>, origin: Origin) -> Vec<String> {
    let mut unknown = Vec::new();
    below(value, schema, origin, "", &mut unknown);
    unknown
}

fn below(
    value: &mut Value,
    schema: Schema<'_>,
    origin: Origin,
    at: &str,
    unknown: &mut Vec<String>,
) {
    match value {
        Value::Object(fields) => {
            let is_any = origin == Origin::BuiltIn && !schema.has_properties();
            fields.retain(|name, value| {
                let path = match at {
                    "" => name.clone(),
                    at => format!("{at}.{name}"),
                };
                let is_head = schema.flag("x-kubernetes-embedded-resource") || at.is_empty();
                let is_own = is_head && matches!(name.as_str(), "apiVersion" | "kind" | "metadata");
                match schema.member(name) {
                    _ if is_own && origin == Origin::Custom => {
                        if let (true, Some(place)) = (name == "metadata", Schema::metadata()) {
                            below(value, place, Origin::BuiltIn, &path, unknown);
                        }
                    }
                    Some(place) => below(value, place, origin, &path, unknown),
                    None if is_own || is_any || schema.is_open() => {}
                    None => {
                        unknown.push(path);
                        return false;
                    }
                }
                true
            });
        }
        Value::Array(items) => {
            let Some(place) = schema.items() else { return };
            for (index, item) in items.iter_mut().enumerate() {
                below(item, place, origin, &format!("{at}[{index}]"), unknown);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::recorded;

    #[test]
    fn what_is_unknown_goes_and_is_named() {
        let schema = json!({"properties": {"spec": {"properties": {
            "a": {"type": "string"},
            "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "list": {"items": {"properties": {"b": {}}}},
            "none": {"type": "object"},
        }}}});
        let mut object = json!({
            "apiVersion": "x/v1", "kind": "X", "metadata": {"name": "x", "nose": 1},
            "spec": {"a": "", "z": 1, "any": {"z": 1}, "list": [{"b": 1, "c": 2}], "none": {"y": 1}},
        });
        let unknown = prune(&mut object, Schema::new(&schema), Origin::Custom);
        assert_eq!(unknown, ["metadata.nose", "spec.list[0].c", "spec.none.y", "spec.z"]);
        assert_eq!(
            object["spec"],
            json!({"a": "", "any": {"z": 1}, "list": [{"b": 1}], "none": {}})
        );
    }

    #[test]
    fn built_in_kinds_keep_what_may_be_anything() {
        let schema = Schema::new(&recorded::schemas()["io.k8s.api.core.v1.ConfigMap"]);
        let mut object = json!({"data": {"a": "b"}, "dat": {}, "metadata": {"labels": {"a": "b"}}});
        assert_eq!(prune(&mut object, schema, Origin::BuiltIn), ["dat"]);
        assert_eq!(object, json!({"data": {"a": "b"}, "metadata": {"labels": {"a": "b"}}}));
    }
}
