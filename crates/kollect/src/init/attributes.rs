//! Which attributes a profile begins with, and where each comes from.
//!
//! All of it is pure. What people see of a kind with kubectl is what they want
//! first, so printer columns come before the schema; a kind about which
//! nothing is said has at least its age and its labels.

mod columns;
mod naming;
mod schema;

use kollect_api::GroupVersionKind;
use kollect_expr::{cel, json_path};
use serde_json::Value;

use self::schema::Schema;
use crate::collect::builtin::{self, Known};

/// More than this is for the author to add.
const MOST: usize = 12;

/// One attribute of a profile to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) name: String,
    pub(super) path: String,
    /// Nothing if values may be of several types.
    pub(super) value_type: Option<&'static str>,
    pub(super) optional: bool,
    /// Where it comes from, for the comment above it.
    pub(super) origin: String,
}

/// What a server says about a kind.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The definition, if it is a custom kind.
    pub(super) definition: Option<Value>,
    /// The document that has the schema, if that was asked for.
    pub(super) open_api: Option<Value>,
}

/// Chooses attributes for a kind; there is always one.
pub(super) fn choose(kind: &GroupVersionKind, told: &Told) -> Vec<Chosen> {
    let table = builtin::of_kind(&kind.group, &kind.version, &kind.kind);
    let schema = told
        .definition
        .as_ref()
        .and_then(|definition| Schema::of_definition(definition, &kind.version))
        .or_else(|| Schema::of_document(told.open_api.as_ref()?, kind));
    let mut chosen = match (table, &told.definition) {
        (Some(known), _) => of_table(known),
        (None, Some(definition)) => columns::of(definition, &kind.version, schema),
        (None, None) => Vec::new(),
    };
    if chosen.is_empty() && !kind.is_core_secret() {
        chosen = schema.map(|schema| schema::of(schema, is_custom(kind))).unwrap_or_default();
    }
    if chosen.is_empty() {
        chosen = of_metadata();
    }
    chosen.truncate(MOST);
    chosen
}

/// What everybody wants to know of a kind that everybody has.
pub(super) fn of_table(known: &Known) -> Vec<Chosen> {
    let one = |(name, path, value): &(&str, &str, &'static str)| Chosen {
        name: (*name).to_owned(),
        path: (*path).to_owned(),
        value_type: Some(value),
        optional: builtin::is_optional(path),
        origin: "the built-in profile".to_owned(),
    };
    known.attributes.iter().map(one).collect()
}

/// What every object has.
fn of_metadata() -> Vec<Chosen> {
    let one = |name: &str, path: &str, value| Chosen {
        name: name.to_owned(),
        path: path.to_owned(),
        value_type: Some(value),
        optional: false,
        origin: "the metadata, for want of anything else that is short and lasts".to_owned(),
    };
    vec![
        one("created", "$.metadata.creationTimestamp", "string"),
        one("labels", "$.metadata.labels", "map"),
    ]
}

/// Whether a kind is nobody's but its author's, who may follow conventions
/// that Kubernetes' own kinds do not.
fn is_custom(kind: &GroupVersionKind) -> bool {
    kind.group.contains('.') && !kind.group.ends_with(".k8s.io")
}

/// Whether a profile with this path is admitted.
fn compiles(path: &str) -> bool {
    match path.strip_prefix("cel:") {
        Some(expression) => cel::compile(expression).is_ok(),
        None => json_path::compile(path).is_ok(),
    }
}

/// How an element of a list is read that is known by the value of a field, as
/// conditions are. It fails where there is none, so it is for optional
/// attributes.
fn of_element(list: &str, key: &str, value: &str, field: &str) -> String {
    format!("cel:object{list}.filter(c, c.{key} == \"{value}\")[0].{field}")
}

#[cfg(test)]
mod tests;
