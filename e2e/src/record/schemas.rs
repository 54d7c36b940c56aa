//! The schemas of kinds and of everything that they are made of.

use anyhow::{Result, bail};
use serde_json::{Map, Value};

/// What lists and answers are made of, beside what kinds refer to.
const SHARED: [&str; 2] =
    ["io.k8s.api.autoscaling.v1.Scale", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"];

/// The schemas of these names, their lists, and what they refer to.
pub(super) fn gather<'a>(
    documents: impl Iterator<Item = &'a Value>,
    roots: &[String],
) -> Result<Map<String, Value>> {
    let mut all = Map::new();
    for document in documents {
        if let Some(Value::Object(schemas)) = document.pointer("/components/schemas") {
            all.extend(schemas.iter().map(|(name, schema)| (name.clone(), schema.clone())));
        }
    }
    let mut found = Map::new();
    for root in roots {
        if !all.contains_key(root) {
            bail!("the server has no schema {root}");
        }
        take(root, &all, &mut found);
        take(&format!("{root}List"), &all, &mut found);
    }
    for shared in SHARED {
        take(shared, &all, &mut found);
    }
    // Whoever compares reads them by name.
    let mut sorted: Vec<(String, Value)> = found.into_iter().collect();
    sorted.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(sorted.into_iter().collect())
}

fn take(name: &str, all: &Map<String, Value>, found: &mut Map<String, Value>) {
    let Some(schema) = all.get(name).filter(|_| !found.contains_key(name)) else { return };
    let schema = bare(schema);
    found.insert(name.to_owned(), schema.clone());
    follow(&schema, all, found);
}

fn follow(schema: &Value, all: &Map<String, Value>, found: &mut Map<String, Value>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get("$ref") {
                take(reference.rsplit('/').next().unwrap_or_default(), all, found);
            }
            fields.values().for_each(|value| follow(value, all, found));
        }
        Value::Array(items) => items.iter().for_each(|item| follow(item, all, found)),
        _ => {}
    }
}

/// A schema without its texts, which are most of it, and not ours.
fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => fields
            .iter()
            // A property may be called so, and is then no text.
            .filter(|(name, value)| *name != "description" || !value.is_string())
            .map(|(name, value)| (name.clone(), bare(value)))
            .collect(),
        Value::Array(items) => items.iter().map(bare).collect(),
        other => other.clone(),
    }
}
