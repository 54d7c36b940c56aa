//! The definitions that an API server is given.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt;

use crate::{
    ClusterInventory, ClusterScope, ClusterTarget, ConnectionTest, DatabaseSink, EventSink,
    Inventory, Profile, Scope, SnapshotSink, Target,
};

/// The eleven definitions, in the order in which a user meets the kinds.
pub fn crds() -> Vec<CustomResourceDefinition> {
    let mut crds = vec![
        Profile::crd(),
        Target::crd(),
        Scope::crd(),
        Inventory::crd(),
        SnapshotSink::crd(),
        DatabaseSink::crd(),
        EventSink::crd(),
        ConnectionTest::crd(),
        ClusterTarget::crd(),
        ClusterScope::crd(),
        ClusterInventory::crd(),
    ];
    for version in crds.iter_mut().flat_map(|crd| &mut crd.spec.versions) {
        if let Some(root) = version.schema.as_mut().and_then(|s| s.open_api_v3_schema.as_mut()) {
            settle_nulls(root);
            settle_texts(root);
        }
    }
    crds
}

/// Takes away the mark by which a schema admits null.
///
/// The schema generator puts it on every optional field. A null would then be
/// stored, and rules that ask whether a field is there would see one. Without
/// the mark the server puts the default in its place, or refuses it. The
/// count of a target is the one field where null has a meaning of its own.
fn settle_nulls(schema: &mut JSONSchemaProps) {
    schema.nullable = None;
    if let Some(values) = &mut schema.enum_ {
        values.retain(|value| !value.0.is_null());
    }
    for (name, property) in schema.properties.iter_mut().flatten() {
        settle_nulls(property);
        if name == "collectedCount" {
            property.nullable = Some(true);
        }
    }
    match &mut schema.items {
        Some(JSONSchemaPropsOrArray::Schema(item)) => settle_nulls(item),
        Some(JSONSchemaPropsOrArray::Schemas(items)) => items.iter_mut().for_each(settle_nulls),
        None => {}
    }
    if let Some(JSONSchemaPropsOrBool::Schema(value)) = &mut schema.additional_properties {
        settle_nulls(value);
    }
}

/// Makes one line of each paragraph: where our source breaks lines means
/// nothing to whoever reads a description.
fn settle_texts(schema: &mut JSONSchemaProps) {
    if let Some(text) = &mut schema.description {
        let paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
        *text = paragraphs.collect::<Vec<_>>().join("\n\n");
    }
    schema.properties.iter_mut().flatten().for_each(|(_, property)| settle_texts(property));
    if let Some(JSONSchemaPropsOrArray::Schema(item)) = &mut schema.items {
        settle_texts(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts properties as the reference does: nested members count, the
    /// insides of selectors and conditions do not.
    fn count(schema: &JSONSchemaProps) -> usize {
        let of_items = match &schema.items {
            Some(JSONSchemaPropsOrArray::Schema(item)) => count(item),
            _ => 0,
        };
        let of_properties = schema.properties.iter().flatten().map(|(name, property)| {
            let opaque = name.to_lowercase().ends_with("selector")
                || name == "conditions"
                || name == "matchExpressions";
            1 + if opaque { 0 } else { count(property) }
        });
        of_items + of_properties.sum::<usize>()
    }

    fn root(crd: &CustomResourceDefinition) -> JSONSchemaProps {
        crd.spec.versions[0].schema.clone().unwrap().open_api_v3_schema.unwrap()
    }

    /// What upstream publishes, and what is ours on top. Items of the three
    /// sink-reference lists are open, so their 12 members do not count here.
    #[test]
    fn every_field_of_the_reference_is_published() {
        let expected = [
            ("KollectProfile", 24, 1),
            ("KollectTarget", 18, 9),
            ("KollectScope", 10, 0),
            ("KollectInventory", 21 - 12, 10 + 31),
            ("KollectSnapshotSink", 64 + 2, 22),
            ("KollectDatabaseSink", 54 + 2, 22),
            ("KollectEventSink", 47, 22),
            ("KollectConnectionTest", 7, 5),
            ("KollectClusterTarget", 17, 5 + 4),
            ("KollectClusterScope", 11, 0),
            ("KollectClusterInventory", 26 - 12, 17 + 31),
        ];
        let found: Vec<_> = crds()
            .iter()
            .map(|crd| {
                let root = root(crd);
                let part =
                    |name: &str| root.properties.as_ref().unwrap().get(name).map_or(0, count);
                (crd.spec.names.kind.clone(), part("spec"), part("status"))
            })
            .collect();
        assert_eq!(found, expected.map(|(kind, spec, status)| (kind.to_owned(), spec, status)));
    }

    #[test]
    fn every_field_tells_its_user_what_it_is() {
        fn check(path: &str, schema: &JSONSchemaProps) {
            for (name, property) in schema.properties.iter().flatten() {
                let path = format!("{path}.{name}");
                let description = property.description.as_deref().unwrap_or_default();
                assert!(!description.is_empty(), "{path} has no description");
                check(&path, property);
            }
            if let Some(JSONSchemaPropsOrArray::Schema(item)) = &schema.items {
                check(&format!("{path}[]"), item);
            }
        }
        for crd in crds() {
            let root = root(&crd);
            for part in ["spec", "status"] {
                if let Some(schema) = root.properties.as_ref().unwrap().get(part) {
                    check(&format!("{}.{part}", crd.spec.names.kind), schema);
                }
            }
        }
    }

    #[test]
    fn only_the_count_of_a_target_may_be_null() {
        fn nullable(path: &str, schema: &JSONSchemaProps, found: &mut Vec<String>) {
            if schema.nullable == Some(true) {
                found.push(path.to_owned());
            }
            for (name, property) in schema.properties.iter().flatten() {
                nullable(&format!("{path}.{name}"), property, found);
            }
        }
        let mut found = Vec::new();
        for crd in crds() {
            nullable(&crd.spec.names.kind, &root(&crd), &mut found);
        }
        let expected =
            ["KollectTarget.status.collectedCount", "KollectClusterTarget.status.collectedCount"];
        assert_eq!(found, expected);
    }
}
