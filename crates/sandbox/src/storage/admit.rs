//! What a server does to an object before it keeps it.

use serde_json::{Map, Value};

use super::StoreError;
use crate::{
    definition::{About, ResourceDefinition},
    object::{Key, Object},
    synthetic::Dice,
};

/// Reads who the object is, and completes it.
pub(super) fn identify(
    fields: &mut Map<String, Value>,
    definition: &ResourceDefinition,
) -> Result<Key, StoreError> {
    let Some(Value::Object(metadata)) = fields.get_mut("metadata") else {
        return Err(StoreError::Nameless);
    };
    let text = |name: &str| metadata.get(name).and_then(Value::as_str).unwrap_or_default();
    let name = text("name").to_owned();
    if name.is_empty() {
        return Err(StoreError::Nameless);
    }
    if !definition.namespaced {
        metadata.remove("namespace");
        return Ok((String::new(), name));
    }
    let namespace = match text("namespace") {
        "" => "default".to_owned(),
        namespace => namespace.to_owned(),
    };
    metadata.insert("namespace".to_owned(), Value::from(namespace.clone()));
    Ok((namespace, name))
}

/// Which change this is, and when.
pub(crate) struct Stamp {
    pub(crate) version: u64,
    pub(crate) time: String,
}

/// Fills in what the server decides: an update keeps whose life it is.
pub(super) fn inherit(
    fields: &mut Map<String, Value>,
    known: Option<&Map<String, Value>>,
    stamp: &Stamp,
    about: &About,
) {
    let old = |name: &str| known?.get("metadata")?.get(name).cloned();
    let same = known.is_none_or(|known| is_same(known, fields, about));
    let generation = old("generation").and_then(|value| value.as_u64()).unwrap_or(1);
    let generation = if same { generation } else { generation + 1 };
    let metadata = fields.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    let Value::Object(metadata) = metadata else { return };
    let uid = old("uid").unwrap_or_else(|| Value::from(uid(stamp.version)));
    metadata.insert("uid".to_owned(), uid);
    // Of what is put by hand, as a dump of another cluster, the age is kept.
    let given = metadata.get("creationTimestamp").filter(|time| time.is_string()).cloned();
    let born = old("creationTimestamp").or(given);
    let born = born.unwrap_or_else(|| Value::from(stamp.time.clone()));
    metadata.insert("creationTimestamp".to_owned(), born);
    for name in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        match old(name) {
            Some(value) => metadata.insert(name.to_owned(), value),
            None => metadata.remove(name),
        };
    }
    if about.has_generation {
        metadata.insert("generation".to_owned(), Value::from(generation));
    } else {
        metadata.remove("generation");
    }
}

/// The identity of an object that is made at a version.
pub(crate) fn uid(version: u64) -> String {
    Dice::new(!version).uid()
}

/// Whether two states differ in nothing that counts for the generation.
fn is_same(known: &Map<String, Value>, fields: &Map<String, Value>, about: &About) -> bool {
    let counts = |name: &str| match name {
        "metadata" | "apiVersion" | "kind" => false,
        "status" => !about.has_status && about.schema.is_some(),
        _ => true,
    };
    let mut names = known.keys().chain(fields.keys()).filter(|name| counts(name));
    names.all(|name| known.get(name) == fields.get(name))
}

pub(super) fn shown(object: &Object, definition: &ResourceDefinition) -> Value {
    let mut fields = object.fields();
    fields.insert("apiVersion".to_owned(), Value::from(definition.api_version()));
    fields.insert("kind".to_owned(), Value::from(definition.kind.clone()));
    Value::Object(fields)
}
