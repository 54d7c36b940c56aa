//! Names and namespaces of objects of any kind.

use kollect_validate::{Kind, Rule};
use serde_json::{Value, json};

use super::support::{Case, accepted, object, refused};

fn with_metadata(kind: Kind, metadata: Value) -> Value {
    let spec = match kind {
        Kind::ClusterScope | Kind::Inventory => json!({}),
        _ => json!({ "targetGVK": { "version": "v1", "kind": "Pod" } }),
    };
    let mut object = object(kind, "unnamed", spec);
    object["metadata"] = metadata;
    object
}

pub(crate) fn cases() -> Vec<Case> {
    [names(), namespaces()].concat()
}

fn names() -> Vec<Case> {
    let named = |metadata: Value| with_metadata(Kind::Profile, metadata);
    let mut without = named(json!({}));
    without.as_object_mut().map(|object| object.remove("metadata"));
    vec![
        accepted(Rule::Obj02, named(json!({ "name": "a.b-c" }))),
        accepted(Rule::Obj02, named(json!({ "generateName": "images-" }))),
        accepted(Rule::Obj02, named(json!({ "name": "", "generateName": "images-" }))),
        refused(Rule::Obj02, without, "metadata.name: Required value: the name of the object"),
        refused(
            Rule::Obj02,
            named(json!({ "name": "", "generateName": "" })),
            "metadata.name: Required value: the name of the object",
        ),
        refused(
            Rule::Obj02,
            named(json!({ "name": "Web_Stack" })),
            r#"metadata.name: Invalid value: "Web_Stack": must be an object name: at most 253 small letters, digits, dashes and dots"#,
        ),
        refused(
            Rule::Obj02,
            named(json!({ "name": "a/b" })),
            r#"metadata.name: Invalid value: "a/b": must be an object name: at most 253 small letters, digits, dashes and dots"#,
        ),
        refused(
            Rule::Obj02,
            named(json!({ "name": 7 })),
            "metadata.name: Invalid value: 7: must be a string; put it in quotes",
        ),
    ]
}

fn namespaces() -> Vec<Case> {
    let in_namespace = |kind, namespace: &str| {
        with_metadata(kind, json!({ "name": "one", "namespace": namespace }))
    };
    vec![
        accepted(Rule::Obj02, in_namespace(Kind::Profile, "")),
        refused(
            Rule::Obj02,
            in_namespace(Kind::Profile, "team.a"),
            r#"metadata.namespace: Invalid value: "team.a": must be a namespace name: at most 63 small letters, digits and dashes, such as team-a"#,
        ),
        accepted(Rule::Obj03, with_metadata(Kind::ClusterScope, json!({ "name": "one" }))),
        accepted(Rule::Obj03, in_namespace(Kind::ClusterScope, "")),
        refused(
            Rule::Obj03,
            in_namespace(Kind::ClusterScope, "shop"),
            "metadata.namespace: Forbidden: a KollectClusterScope belongs to no namespace",
        ),
    ]
}
