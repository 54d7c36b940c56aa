//! Who owns which fields of an object: `metadata.managedFields`.

use serde_json::{Map, Value, json};

use super::fields::{Fields, difference};
use crate::schema::Schema;

/// Who writes, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Writer {
    pub(crate) name: String,
    pub(crate) operation: Operation,
    /// Empty for the object itself.
    pub(crate) subresource: String,
    /// In which version the fields are spelled.
    pub(crate) api_version: String,
    pub(crate) time: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Apply,
    Update,
}

/// One entry of the list.
#[derive(Clone, Debug)]
pub(crate) struct Manager {
    pub(crate) writer: Writer,
    pub(crate) fields: Fields,
}

impl Writer {
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.name == other.name
            && self.operation == other.operation
            && self.subresource == other.subresource
    }
}

/// Reads the managers of an object.
pub(crate) fn read(object: &Value) -> Vec<Manager> {
    let entries = object.pointer("/metadata/managedFields").and_then(Value::as_array);
    let manager = |entry: &Value| {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        Manager {
            writer: Writer {
                name: text("manager").to_owned(),
                operation: match text("operation") {
                    "Apply" => Operation::Apply,
                    _ => Operation::Update,
                },
                subresource: text("subresource").to_owned(),
                api_version: text("apiVersion").to_owned(),
                time: text("time").to_owned(),
            },
            fields: Fields::read(entry.get("fieldsV1").unwrap_or(&Value::Null)),
        }
    };
    entries.into_iter().flatten().map(manager).collect()
}

/// Writes them into an object; those who own nothing are left out.
pub(crate) fn write(object: &mut Value, mut managers: Vec<Manager>) {
    managers.retain(|manager| !manager.fields.is_empty());
    managers.sort_by_key(|manager| manager.writer.operation == Operation::Update);
    let entries: Vec<Value> = managers.iter().map(entry).collect();
    let metadata = object.as_object_mut().map(|fields| fields.entry("metadata"));
    let metadata = metadata.map(|entry| entry.or_insert(Value::Object(Map::new())));
    let Some(Value::Object(metadata)) = metadata else { return };
    if entries.is_empty() {
        metadata.remove("managedFields");
    } else {
        metadata.insert("managedFields".to_owned(), Value::Array(entries));
    }
}

fn entry(Manager { writer, fields }: &Manager) -> Value {
    let mut entry = json!({
        "manager": writer.name,
        "operation": match writer.operation {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        },
        "apiVersion": writer.api_version,
        "time": writer.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields.write(),
    });
    if let (Value::Object(entry), false) = (&mut entry, writer.subresource.is_empty()) {
        entry.insert("subresource".to_owned(), Value::from(writer.subresource.clone()));
    }
    entry
}

/// The fields that nobody owns, because the server decides them.
pub(crate) const SERVERS_OWN: [&[&str]; 12] = [
    &["apiVersion"],
    &["kind"],
    &["metadata", "name"],
    &["metadata", "namespace"],
    &["metadata", "uid"],
    &["metadata", "resourceVersion"],
    &["metadata", "generation"],
    &["metadata", "creationTimestamp"],
    &["metadata", "deletionTimestamp"],
    &["metadata", "deletionGracePeriodSeconds"],
    &["metadata", "managedFields"],
    &["metadata", "selfLink"],
];

/// Notes in the new state who has changed what since the old one, by any way
/// but apply.
pub(crate) fn note(old: &Value, new: &mut Value, writer: &Writer, schema: Option<Schema<'_>>) {
    let (mut changed, gone) = difference(old, new, schema);
    for path in SERVERS_OWN {
        changed.remove(path);
    }
    let mut managers = read(old);
    for manager in &mut managers {
        manager.fields = manager.fields.without(&gone);
        if !manager.writer.is(writer) {
            manager.fields = manager.fields.without(&changed);
        }
    }
    if !changed.is_empty() {
        match managers.iter_mut().find(|manager| manager.writer.is(writer)) {
            Some(own) => {
                own.fields.add(&changed);
                own.writer = writer.clone();
            }
            None => managers.push(Manager { writer: writer.clone(), fields: changed }),
        }
    }
    write(new, managers);
}
