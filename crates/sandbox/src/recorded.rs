//! What a real server says of its built-in kinds, as it was recorded.

use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::definition::{About, Column, ResourceDefinition, ScalePaths};

/// One built-in kind: how discovery names it, and its columns.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recorded {
    group: String,
    version: String,
    kind: String,
    plural: String,
    namespaced: bool,
    singular: String,
    verbs: Vec<String>,
    short_names: Vec<String>,
    categories: Vec<String>,
    status: bool,
    scale: bool,
    /// Its name among the schemas.
    schema: String,
    #[serde(default)]
    columns: Vec<Column>,
}

static SCHEMAS: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../recorded/schemas.json")).unwrap_or_default()
});

static WIRE: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../recorded/wire.json")).unwrap_or_default()
});

/// How the fields of types are numbered in protobuf, by the names of schemas.
pub(crate) fn wire() -> &'static Map<String, Value> {
    &WIRE
}

/// The schemas of built-in kinds and of everything that they are made of.
pub(crate) fn schemas() -> &'static Map<String, Value> {
    &SCHEMAS
}

/// The kinds that are there from the start.
pub(crate) fn kinds() -> Vec<(ResourceDefinition, Arc<About>)> {
    let recorded: Vec<Recorded> =
        serde_json::from_str(include_str!("../recorded/kinds.json")).unwrap_or_default();
    recorded.into_iter().map(Recorded::into_kind).collect()
}

impl Recorded {
    fn into_kind(self) -> (ResourceDefinition, Arc<About>) {
        let Self { group, version, kind, plural, namespaced, .. } = self;
        let about = About {
            singular: self.singular,
            list_kind: format!("{kind}List"),
            has_generation: has_generation(&group, &kind),
            short_names: self.short_names,
            categories: self.categories,
            verbs: self.verbs,
            has_status: self.status,
            scale: self.scale.then(ScalePaths::built_in),
            columns: self.columns,
            schema: SCHEMAS.get(&self.schema).cloned(),
            schema_name: Some(self.schema),
        };
        (ResourceDefinition { group, version, kind, plural, namespaced }, Arc::new(about))
    }
}

/// Whether a real server counts the changes of a built-in kind's spec.
fn has_generation(group: &str, kind: &str) -> bool {
    match group {
        "apps"
        | "batch"
        | "apiextensions.k8s.io"
        | "policy"
        | "scheduling.k8s.io"
        | "discovery.k8s.io" => true,
        "networking.k8s.io" => matches!(kind, "Ingress" | "IngressClass" | "NetworkPolicy"),
        "" => matches!(kind, "Pod" | "PodTemplate" | "ReplicationController"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_kind_has_its_schema_and_those_that_are_listed_have_columns() {
        let kinds = kinds();
        assert!(kinds.len() > 30, "{}", kinds.len());
        for (definition, about) in kinds {
            assert!(about.schema.is_some(), "{}", definition.kind);
            let is_listed = about.verbs.iter().any(|verb| verb == "list");
            assert_eq!(!about.columns.is_empty(), is_listed, "{}", definition.kind);
        }
    }
}
