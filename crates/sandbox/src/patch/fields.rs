//! Sets of fields, as the managers of an object are recorded to own them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::schema::{List, Schema};

/// A set of fields: a tree whose steps are spelled as in `fieldsV1`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    /// Whether the place itself belongs to the set.
    own: bool,
    below: BTreeMap<String, Fields>,
}

impl Fields {
    pub(crate) fn is_empty(&self) -> bool {
        !self.own && self.below.is_empty()
    }

    fn leaf() -> Self {
        Self { own: true, below: BTreeMap::new() }
    }

    /// Everything that an object says.
    pub(crate) fn of(value: &Value, schema: Option<Schema<'_>>) -> Self {
        match value {
            Value::Object(fields) if !is_atomic(schema) && !fields.is_empty() => {
                let mut set = Self::default();
                for (name, value) in fields {
                    let place = schema.and_then(|schema| schema.member(name));
                    let is_declared = schema.is_some_and(|s| s.property(name).is_some());
                    let mut below = Self::of(value, place);
                    // Members of a map are owned themselves, fields of a
                    // structure are not.
                    below.own |= !is_declared && !value.is_array();
                    set.below.insert(format!("f:{name}"), below);
                }
                set
            }
            Value::Array(items) => match schema.map(|schema| schema.list()) {
                Some(rule @ (List::Set | List::Map(_))) if !items.is_empty() => {
                    let place = schema.and_then(|schema| schema.items());
                    let mut set = Self::default();
                    for item in items {
                        let mut below = match rule {
                            List::Map(_) => Self::of(item, place),
                            _ => Self::default(),
                        };
                        below.own = true;
                        set.below.insert(step(item, &rule, place), below);
                    }
                    set
                }
                _ => Self::leaf(),
            },
            _ => Self::leaf(),
        }
    }

    /// Reads `fieldsV1`.
    pub(crate) fn read(value: &Value) -> Self {
        let Value::Object(fields) = value else { return Self::default() };
        let own = fields.is_empty() || fields.contains_key(".");
        let below = fields.iter().filter(|(step, _)| *step != ".");
        Self { own, below: below.map(|(step, set)| (step.clone(), Self::read(set))).collect() }
    }

    /// Writes `fieldsV1`.
    pub(crate) fn write(&self) -> Value {
        let mut fields = Map::new();
        if self.own && !self.below.is_empty() {
            fields.insert(".".to_owned(), Value::Object(Map::new()));
        }
        for (step, set) in &self.below {
            fields.insert(step.clone(), set.write());
        }
        Value::Object(fields)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.own |= other.own;
        for (step, set) in &other.below {
            self.below.entry(step.clone()).or_default().add(set);
        }
    }

    pub(crate) fn without(&self, other: &Self) -> Self {
        let below = self.below.iter().filter_map(|(step, set)| {
            let left = match other.below.get(step) {
                Some(other) => set.without(other),
                None => set.clone(),
            };
            (!left.is_empty()).then(|| (step.clone(), left))
        });
        Self { own: self.own && !other.own, below: below.collect() }
    }

    pub(crate) fn common(&self, other: &Self) -> Self {
        let below = self.below.iter().filter_map(|(step, set)| {
            let common = set.common(other.below.get(step)?);
            (!common.is_empty()).then(|| (step.clone(), common))
        });
        Self { own: self.own && other.own, below: below.collect() }
    }

    /// The set below a field of that name; leaves nothing there.
    pub(crate) fn remove(&mut self, path: &[&str]) {
        match path {
            [] => {}
            [last] => {
                self.below.remove(&format!("f:{last}"));
            }
            [first, rest @ ..] => {
                let step = format!("f:{first}");
                if let Some(below) = self.below.get_mut(&step) {
                    below.remove(rest);
                    if below.is_empty() {
                        self.below.remove(&step);
                    }
                }
            }
        }
    }

    /// The paths of its members, as messages spell them: `.spec.replicas`.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.gather("", &mut paths);
        paths
    }

    fn gather(&self, at: &str, paths: &mut Vec<String>) {
        if self.own {
            paths.push(at.to_owned());
        }
        for (step, set) in &self.below {
            set.gather(&format!("{at}{}", spelled(step)), paths);
        }
    }

    /// Takes the members of the set out of an object.
    pub(crate) fn clear(&self, value: &mut Value, schema: Option<Schema<'_>>) {
        match value {
            Value::Object(fields) => {
                for (step, set) in &self.below {
                    let Some(name) = step.strip_prefix("f:") else { continue };
                    let place = schema.and_then(|schema| schema.member(name));
                    let Some(member) = fields.get_mut(name) else { continue };
                    set.clear(member, place);
                    let is_hollow = match member {
                        Value::Object(left) => left.is_empty(),
                        Value::Array(left) => left.is_empty(),
                        _ => true,
                    };
                    if (set.own && set.below.is_empty()) || is_hollow {
                        fields.remove(name);
                    }
                }
            }
            Value::Array(items) => {
                let rule = schema.map_or(List::Atomic, |schema| schema.list());
                let place = schema.and_then(|schema| schema.items());
                items.retain_mut(|item| match self.below.get(&step(item, &rule, place)) {
                    Some(set) if set.own => false,
                    Some(set) => {
                        set.clear(item, place);
                        true
                    }
                    None => true,
                });
            }
            _ => {}
        }
    }
}

fn is_atomic(schema: Option<Schema<'_>>) -> bool {
    schema.is_some_and(|schema| schema.is_atomic_map())
}

/// How an element of a list is named.
pub(crate) fn step(item: &Value, rule: &List, place: Option<Schema<'_>>) -> String {
    match rule {
        List::Map(keys) => {
            let key: BTreeMap<&str, &Value> = keys
                .iter()
                .filter_map(|key| {
                    let default = || place?.property(key)?.said("default");
                    Some((key.as_str(), item.get(key).or_else(default)?))
                })
                .collect();
            format!("k:{}", serde_json::to_string(&key).unwrap_or_default())
        }
        List::Set | List::Atomic => format!("v:{item}"),
    }
}

fn spelled(step: &str) -> String {
    match step.split_once(':') {
        Some(("f", name)) => format!(".{name}"),
        Some(("k", key)) => {
            let key: BTreeMap<String, Value> = serde_json::from_str(key).unwrap_or_default();
            let key: Vec<String> =
                key.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("[{}]", key.join(","))
        }
        Some(("v", value)) => format!("[={value}]"),
        _ => step.to_owned(),
    }
}

/// What differs between two states of an object: what is new or other, and
/// what is gone.
pub(crate) fn difference(old: &Value, new: &Value, schema: Option<Schema<'_>>) -> (Fields, Fields) {
    let (before, after) = (Fields::of(old, schema), Fields::of(new, schema));
    let gone = before.without(&after);
    let mut changed = after.without(&before);
    changed.add(&modified(old, new, schema));
    (changed, gone)
}

/// The leaves that both have with other values.
fn modified(old: &Value, new: &Value, schema: Option<Schema<'_>>) -> Fields {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) if !is_atomic(schema) => {
            let mut set = Fields::default();
            for (name, value) in new {
                let Some(before) = old.get(name).filter(|before| *before != value) else {
                    continue;
                };
                let below = modified(before, value, schema.and_then(|schema| schema.member(name)));
                if !below.is_empty() {
                    set.below.insert(format!("f:{name}"), below);
                }
            }
            set
        }
        (Value::Array(old), Value::Array(new)) => match schema.map(|schema| schema.list()) {
            Some(List::Set) => Fields::default(),
            Some(rule @ List::Map(_)) => {
                let place = schema.and_then(|schema| schema.items());
                let mut set = Fields::default();
                for item in new {
                    let name = step(item, &rule, place);
                    let before = old.iter().find(|old| step(old, &rule, place) == name);
                    let below = before.map(|before| modified(before, item, place));
                    if let Some(below) = below.filter(|below| !below.is_empty()) {
                        set.below.insert(name, below);
                    }
                }
                set
            }
            _ if old == new => Fields::default(),
            _ => Fields::leaf(),
        },
        _ if old == new => Fields::default(),
        _ => Fields::leaf(),
    }
}
