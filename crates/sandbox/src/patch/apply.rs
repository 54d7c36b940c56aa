//! Server-side apply: what a manager says is so, and what it no longer says
//! goes unless somebody else says it.

use serde_json::{Map, Value};

use super::{
    fields::{Fields, difference, step},
    managers::{self, Manager, SERVERS_OWN, Writer},
};
use crate::schema::{List, Schema};

/// Fields that others own and would be changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Conflicts(pub(crate) Vec<(String, String)>);

/// Applies a configuration to an object, or to nothing if the object is new.
///
/// With `force` fields of others are taken over.
pub(crate) fn apply(
    live: &Value,
    config: &Value,
    writer: &Writer,
    schema: Option<Schema<'_>>,
    force: bool,
) -> Result<Value, Conflicts> {
    let mut config = config.clone();
    if let Some(Value::Object(metadata)) = config.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    let mut applied = Fields::of(&config, schema);
    for path in SERVERS_OWN {
        applied.remove(path);
    }
    let mut object = live.clone();
    merge(&mut object, &config, schema);
    let mut managers = managers::read(live);
    let (changed, _) = difference(live, &object, schema);
    let mut conflicts = Vec::new();
    for other in managers.iter_mut().filter(|other| !other.writer.is(writer)) {
        let taken = other.fields.common(&changed).common(&applied);
        if taken.is_empty() {
            continue;
        }
        let paths = taken.paths().into_iter();
        conflicts.extend(paths.map(|path| (described(&other.writer), path)));
        other.fields = other.fields.without(&taken);
    }
    if !conflicts.is_empty() && !force {
        return Err(Conflicts(conflicts));
    }
    let own = managers.iter().position(|manager| manager.writer.is(writer));
    if let Some(own) = own {
        let before = managers.remove(own);
        let mut gone = before.fields.without(&applied);
        for other in &managers {
            gone = gone.without(&other.fields);
        }
        gone.clear(&mut object, schema);
        // The time is that of the last change of what is owned.
        let writer = if before.fields == applied && changed.is_empty() && gone.is_empty() {
            before.writer
        } else {
            writer.clone()
        };
        managers.insert(own, Manager { writer, fields: applied });
    } else {
        managers.push(Manager { writer: writer.clone(), fields: applied });
    }
    managers::write(&mut object, managers);
    Ok(object)
}

fn described(writer: &Writer) -> String {
    let Writer { name, operation, subresource, api_version, .. } = writer;
    let subresource = match subresource.as_str() {
        "" => String::new(),
        subresource => format!(" with subresource \"{subresource}\""),
    };
    match operation {
        managers::Operation::Apply => format!("\"{name}\"{subresource}"),
        managers::Operation::Update => format!("\"{name}\"{subresource} using {api_version}"),
    }
}

/// Merges what is said; what is not said stays.
fn merge(object: &mut Value, config: &Value, schema: Option<Schema<'_>>) {
    match config {
        Value::Object(said) if !schema.is_some_and(|schema| schema.is_atomic_map()) => {
            if !object.is_object() {
                *object = Value::Object(Map::new());
            }
            let Value::Object(fields) = object else { return };
            for (name, value) in said {
                let place = schema.and_then(|schema| schema.member(name));
                merge(fields.entry(name.clone()).or_insert(Value::Null), value, place);
            }
        }
        Value::Array(said) => match schema.map_or(List::Atomic, |schema| schema.list()) {
            List::Atomic => *object = config.clone(),
            rule => {
                let place = schema.and_then(|schema| schema.items());
                let known = match object {
                    Value::Array(known) => std::mem::take(known),
                    _ => Vec::new(),
                };
                *object = Value::Array(elements(known, said, &rule, place));
            }
        },
        other => *object = other.clone(),
    }
}

fn elements(
    mut known: Vec<Value>,
    said: &[Value],
    rule: &List,
    place: Option<Schema<'_>>,
) -> Vec<Value> {
    for item in said {
        let name = step(item, rule, place);
        match known.iter_mut().find(|known| step(known, rule, place) == name) {
            Some(known) => merge(known, item, place),
            None => known.push(item.clone()),
        }
    }
    known
}

#[cfg(test)]
mod tests;
