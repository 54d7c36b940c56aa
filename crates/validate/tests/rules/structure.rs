//! What the published schema says about the shape of an object.

use kollect_validate::{Kind, Rule};
use serde_json::{Value, json};

use super::support::{Case, accepted, object, refused};

fn target(spec: Value) -> Value {
    object(Kind::Target, "web", spec)
}

fn inventory(spec: Value) -> Value {
    object(Kind::Inventory, "shop", spec)
}

pub(crate) fn cases() -> Vec<Case> {
    [fields(), types(), numbers(), metadata(), presence(), values()].concat()
}

fn fields() -> Vec<Case> {
    let mut with_status = target(json!({ "profileRef": "images" }));
    with_status["status"] = json!({ "anything": ["goes", 7] });
    let mut with_label = target(json!({ "profileRef": "images" }));
    with_label["metadata"]["label"] = json!({});
    vec![
        accepted(Rule::Str01, target(json!({ "profileRef": "images", "suspend": true }))),
        accepted(Rule::Str01, with_status),
        refused(
            Rule::Str01,
            target(json!({ "profileRef": "images", "watchmode": "All" })),
            "spec.watchmode: Forbidden: unknown field; did you mean watchMode?",
        ),
        refused(
            Rule::Str01,
            target(json!({ "profileRef": "images", "x": 1 })),
            "spec.x: Forbidden: unknown field; known here: excludedNamespaces, includedNamespaces, labelSelector, names, namespaceExcludeSelector, namespaceSelector, profileRef, resourceRules, suspend, watchMode",
        ),
        refused(
            Rule::Str01,
            with_label,
            "metadata.label: Forbidden: unknown field; did you mean labels?",
        ),
        refused(
            Rule::Str01,
            object(Kind::Scope, "one", json!({ "sinkRefs": ["pg"] })),
            "spec.sinkRefs: Forbidden: unknown field; did you mean snapshotSinkRefs, databaseSinkRefs or eventSinkRefs?",
        ),
        refused(
            Rule::Str01,
            target(json!({ "profileRef": "images", "labelSelector": { "matchLabel": {} } })),
            "spec.labelSelector.matchLabel: Forbidden: unknown field; did you mean matchLabels?",
        ),
    ]
}

fn types() -> Vec<Case> {
    vec![
        accepted(Rule::Str02, target(json!({ "profileRef": "images", "names": ["a"] }))),
        refused(
            Rule::Str02,
            target(json!({ "profileRef": "images", "suspend": "yes" })),
            r#"spec.suspend: Invalid value: "yes": must be true or false"#,
        ),
        refused(
            Rule::Str02,
            target(json!({ "profileRef": "images", "names": "web" })),
            r#"spec.names: Invalid value: "web": must be a list"#,
        ),
        accepted(Rule::StrW1, target(json!({ "profileRef": "images", "watchMode": null }))),
        refused(
            Rule::StrW1,
            target(json!({ "profileRef": "images", "suspend": null })),
            "spec.suspend: null says nothing, and server-side apply refuses it; leave the field out",
        ),
        refused(
            Rule::Str02,
            target(json!({ "profileRef": "images", "names": [null] })),
            "spec.names[0]: Invalid value: null: must be a string",
        ),
        refused(
            Rule::Str02,
            target(json!({ "profileRef": "images", "names": [true] })),
            "spec.names[0]: Invalid value: true: must be a string; put it in quotes",
        ),
        refused(Rule::Str02, target(json!([])), "spec: Invalid value: a list: must be an object"),
        refused(
            Rule::Str02,
            object(
                Kind::SnapshotSink,
                "audit",
                json!({
                    "type": "git", "endpoint": 7
                }),
            ),
            "spec.endpoint: Invalid value: 7: must be a string; put it in quotes",
        ),
    ]
}

fn numbers() -> Vec<Case> {
    let probe = |seconds: Value| {
        let spec = json!({
            "sinkRef": { "eventSinkRef": "bus" },
            "ttlSecondsAfterFinished": seconds,
        });
        object(Kind::ConnectionTest, "probe", spec)
    };
    vec![
        accepted(Rule::Str02, probe(json!(300.0))),
        refused(
            Rule::Str02,
            probe(json!(1.5)),
            "spec.ttlSecondsAfterFinished: Invalid value: 1.5: must be a whole number",
        ),
        refused(
            Rule::Str02,
            probe(json!(3_000_000_000_i64)),
            "spec.ttlSecondsAfterFinished: Invalid value: 3000000000: is out of the range of this field",
        ),
        refused(
            Rule::Str02,
            probe(json!("300")),
            r#"spec.ttlSecondsAfterFinished: Invalid value: "300": must be a whole number"#,
        ),
    ]
}

fn metadata() -> Vec<Case> {
    let mut with_time = target(json!({ "profileRef": "images" }));
    with_time["metadata"]["creationTimestamp"] = json!("yesterday");
    let mut with_owner = target(json!({ "profileRef": "images" }));
    with_owner["metadata"]["ownerReferences"] = json!([7]);
    vec![
        refused(
            Rule::Str02,
            with_time,
            "metadata: Invalid value: an object: cannot be read: failed to parse four digit integer as year: invalid digit, expected 0-9 but got y",
        ),
        refused(
            Rule::Str02,
            with_owner,
            "metadata: Invalid value: an object: cannot be read: invalid type: integer `7`, expected OwnerReference",
        ),
    ]
}

fn presence() -> Vec<Case> {
    let mut without_spec = object(Kind::SnapshotSink, "audit", json!({}));
    without_spec.as_object_mut().map(|object| object.remove("spec"));
    let by_expression = |requirement: Value| {
        let selector = json!({ "matchExpressions": [requirement] });
        target(json!({ "profileRef": "images", "labelSelector": selector }))
    };
    vec![
        accepted(Rule::Str03, inventory(json!({}))),
        refused(
            Rule::Str03,
            without_spec,
            "spec: Required value: Whole-state copies: Git, object stores, directories",
        ),
        refused(
            Rule::Str03,
            by_expression(json!({ "operator": "Exists" })),
            "spec.labelSelector.matchExpressions[0].key: Required value: key is the label key that the selector applies to",
        ),
    ]
}

fn values() -> Vec<Case> {
    let profile = |include: &str| {
        let export = json!({ "mode": "Resource", "include": include });
        let gvk = json!({ "version": "v1", "kind": "Pod" });
        object(Kind::Profile, "pods", json!({ "targetGVK": gvk, "export": export }))
    };
    vec![
        accepted(Rule::Str04, profile("SpecOnly")),
        refused(
            Rule::Str04,
            profile("specOnly"),
            r#"spec.export.include: Unsupported value: "specOnly": supported values: "MetadataOnly", "SpecOnly", "StatusOnly", "SpecAndStatus", "All""#,
        ),
        accepted(Rule::Str05, inventory(json!({ "httpEndpoint": { "port": 8082 } }))),
        refused(
            Rule::Str05,
            inventory(json!({ "httpEndpoint": { "port": 0 } })),
            "spec.httpEndpoint.port: Invalid value: 0: must be at least 1",
        ),
        refused(
            Rule::Str05,
            inventory(json!({ "httpEndpoint": { "port": 65536 } })),
            "spec.httpEndpoint.port: Invalid value: 65536: must be at most 65535",
        ),
        refused(
            Rule::Str05,
            object(
                Kind::ConnectionTest,
                "probe",
                json!({
                    "sinkRef": { "eventSinkRef": "bus" },
                    "ttlSecondsAfterFinished": -1,
                }),
            ),
            "spec.ttlSecondsAfterFinished: Invalid value: -1: must be at least 0",
        ),
        refused(
            Rule::Str05,
            target(json!({ "profileRef": "images", "resourceRules": vec![
                json!({ "gvk": { "version": "v1", "kind": "Pod" } }); 101
            ] })),
            "spec.resourceRules: Too many: 101: at most 100 are allowed",
        ),
        refused(
            Rule::Str05,
            object(
                Kind::Profile,
                "pods",
                json!({
                    "targetGVK": { "version": "v1", "kind": "Pod" },
                    "export": { "mode": "Resource", "as": "" },
                }),
            ),
            r#"spec.export.as: Invalid value: "": must not be empty"#,
        ),
    ]
}
