//! Strategic merge patches: lists of built-in kinds are merged by a key.

use serde_json::{Map, Value};

use crate::schema::Schema;

const DIRECTIVE: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const ORDER: &str = "$setElementOrder/";
const REMOVE: &str = "$deleteFromPrimitiveList/";

/// Merges a patch into an object of a schema.
pub(crate) fn merge(object: &mut Value, patch: &Value, schema: Option<Schema<'_>>) {
    let Value::Object(changes) = patch else {
        *object = patch.clone();
        return;
    };
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    let Value::Object(fields) = object else { return };
    if changes.get(DIRECTIVE).and_then(Value::as_str) == Some("replace") {
        fields.clone_from(changes);
        fields.remove(DIRECTIVE);
        return;
    }
    if let Some(Value::Array(kept)) = changes.get(RETAIN) {
        fields.retain(|name, _| kept.iter().any(|key| key == name));
    }
    for (name, change) in changes {
        merge_field(fields, (name, change), changes, schema);
    }
}

/// Changes one field; `orders` is where the order of lists is said.
fn merge_field(
    fields: &mut Map<String, Value>,
    (name, change): (&str, &Value),
    orders: &Map<String, Value>,
    schema: Option<Schema<'_>>,
) {
    if let (Some(name), Value::Array(gone)) = (name.strip_prefix(REMOVE), change) {
        if let Some(Value::Array(items)) = fields.get_mut(name) {
            items.retain(|item| !gone.contains(item));
        }
        return;
    }
    if name.starts_with('$') {
        return;
    }
    let place = schema.and_then(|schema| schema.member(name));
    match change {
        Value::Null => {
            fields.remove(name);
        }
        Value::Object(inner) if inner.get(DIRECTIVE).and_then(Value::as_str) == Some("delete") => {
            fields.remove(name);
        }
        Value::Array(changes) => {
            let items = fields.entry(name.to_owned()).or_insert(Value::Array(Vec::new()));
            let known = match items {
                Value::Array(known) => std::mem::take(known),
                _ => Vec::new(),
            };
            let order = orders.get(&format!("{ORDER}{name}")).and_then(Value::as_array);
            let server: Vec<Value> = known.clone();
            let merged = merged(known, changes, place);
            let key = place.and_then(|place| place.merge_key());
            *items = Value::Array(match place.filter(Schema::merges) {
                Some(_) => sorted(merged, order.unwrap_or(changes), &server, key),
                None => merged,
            });
        }
        Value::Object(_) => {
            merge(fields.entry(name.to_owned()).or_insert(Value::Null), change, place);
        }
        other => {
            fields.insert(name.to_owned(), other.clone());
        }
    }
}

fn merged(known: Vec<Value>, changes: &[Value], place: Option<Schema<'_>>) -> Vec<Value> {
    let is_replaced = |change: &Value| {
        change.get(DIRECTIVE).and_then(Value::as_str) == Some("replace")
            && change.as_object().is_some_and(|fields| fields.len() == 1)
    };
    if changes.iter().any(is_replaced) {
        return changes.iter().filter(|change| !is_replaced(change)).cloned().collect();
    }
    let Some(place) = place.filter(Schema::merges) else { return changes.to_vec() };
    let mut items = known;
    for change in changes {
        let Some(key) = place.merge_key() else {
            if !items.contains(change) {
                items.push(change.clone());
            }
            continue;
        };
        let value = change.get(key);
        let directive = change.get(DIRECTIVE).and_then(Value::as_str).unwrap_or_default();
        if directive == "delete" {
            items.retain(|item| item.get(key) != value);
            continue;
        }
        if let Some(item) = items.iter_mut().find(|item| item.get(key) == value) {
            merge(item, change, place.items());
        } else {
            let mut item = Value::Null;
            merge(&mut item, change, place.items());
            items.push(item);
        }
    }
    items
}

/// Puts the elements in the order of the patch; those that it does not name
/// stay before what they were before, and otherwise come last.
fn sorted(items: Vec<Value>, order: &[Value], server: &[Value], key: Option<&str>) -> Vec<Value> {
    let position = |list: &[Value], item: &Value| {
        list.iter().position(|other| match key {
            Some(key) => other.get(key) == item.get(key),
            None => other == item,
        })
    };
    let (mut named, others): (Vec<Value>, Vec<Value>) =
        items.into_iter().partition(|item| position(order, item).is_some());
    named.sort_by_key(|item| position(order, item));
    let mut named = named.into_iter().peekable();
    let mut others = others.into_iter().peekable();
    let mut all = Vec::new();
    while let (Some(one), Some(other)) = (named.peek(), others.peek()) {
        let is_before = match (position(server, other), position(server, one)) {
            (Some(other), Some(one)) => other < one,
            _ => false,
        };
        all.extend(if is_before { others.next() } else { named.next() });
    }
    all.extend(named);
    all.extend(others);
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::recorded;

    #[track_caller]
    fn check(patch: Value, expected: Value) {
        let mut pod = json!({"spec": {
            "containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "2"}],
            "nodeSelector": {"x": "y"},
        }, "metadata": {"finalizers": ["one", "two"]}});
        let schema = Schema::new(&recorded::schemas()["io.k8s.api.core.v1.Pod"]);
        merge(&mut pod, &patch, Some(schema));
        assert_eq!(pod, expected);
    }

    #[test]
    fn containers_are_merged_by_name() {
        // What is new and named first comes first, as on real servers.
        check(
            json!({"spec": {"containers": [{"name": "b", "image": "3"}, {"name": "c"}]}}),
            json!({"spec": {
                "containers": [
                    {"name": "a", "image": "1"}, {"name": "b", "image": "3"}, {"name": "c"},
                ],
                "nodeSelector": {"x": "y"},
            }, "metadata": {"finalizers": ["one", "two"]}}),
        );
    }

    #[test]
    fn directives_delete_replace_and_order() {
        check(
            json!({
                "spec": {
                    "containers": [{"name": "a", "$patch": "delete"}, {"name": "c"}],
                    "$setElementOrder/containers": [{"name": "c"}, {"name": "b"}],
                    "nodeSelector": {"$patch": "replace", "z": "w"},
                },
                "metadata": {"$deleteFromPrimitiveList/finalizers": ["one"]},
            }),
            json!({"spec": {
                "containers": [{"name": "c"}, {"name": "b", "image": "2"}],
                "nodeSelector": {"z": "w"},
            }, "metadata": {"finalizers": ["two"]}}),
        );
    }
}
