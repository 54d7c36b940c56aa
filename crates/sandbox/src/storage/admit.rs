//! What a server does to an object before it keeps it.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::StoreError;
use crate::{
    definition::ResourceDefinition,
    object::{Key, Object},
    synthetic::Dice,
};

/// When the cluster's time begins. It goes on by a second a version: the clock
/// would make each run another one.
const EPOCH: i64 = 1_767_225_600;

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

/// Fills in what the server decides: an update keeps whose life it is.
pub(super) fn inherit(
    fields: &mut Map<String, Value>,
    known: Option<&Map<String, Value>>,
    version: u64,
) {
    let old = |name: &str| known?.get("metadata")?.get(name).cloned();
    let same_spec = known.is_none_or(|known| known.get("spec") == fields.get("spec"));
    let generation = old("generation").and_then(|value| value.as_u64()).unwrap_or(1);
    let generation = if same_spec { generation } else { generation + 1 };
    let born = Timestamp::from_second(EPOCH.saturating_add_unsigned(version));
    let born = born.unwrap_or(Timestamp::UNIX_EPOCH).to_string();
    let has_spec = fields.contains_key("spec");
    let Some(Value::Object(metadata)) = fields.get_mut("metadata") else { return };
    let uid = old("uid").unwrap_or_else(|| Value::from(Dice::new(!version).uid()));
    metadata.insert("uid".to_owned(), uid);
    let born = old("creationTimestamp").unwrap_or_else(|| Value::from(born));
    metadata.insert("creationTimestamp".to_owned(), born);
    // What has no spec has no generations of it.
    if has_spec {
        metadata.insert("generation".to_owned(), Value::from(generation));
    }
}

pub(super) fn shown(object: &Object, definition: &ResourceDefinition) -> Value {
    let mut fields = object.fields();
    fields.insert("apiVersion".to_owned(), Value::from(definition.api_version()));
    fields.insert("kind".to_owned(), Value::from(definition.kind.clone()));
    Value::Object(fields)
}
