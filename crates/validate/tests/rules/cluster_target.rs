//! What a cluster target may collect.

use kollect_validate::{Kind, Rule};
use serde_json::{Value, json};

use super::support::{Case, accepted, object, refused};

/// A cluster target with a profile, a selector and further fields; null
/// takes one away.
fn target(fields: Value) -> Value {
    let mut spec = json!({
        "profileRef": { "name": "images", "namespace": "platform" },
        "namespaceSelector": { "matchLabels": { "team": "shop" } },
    });
    for (name, value) in fields.as_object().into_iter().flatten() {
        spec[name] = value.clone();
    }
    spec.as_object_mut().into_iter().for_each(|spec| spec.retain(|_, value| !value.is_null()));
    object(Kind::ClusterTarget, "web", spec)
}

fn profile() -> Value {
    let gvk = json!({ "group": "apps", "version": "v1", "kind": "Deployment" });
    let mut profile = object(Kind::Profile, "images", json!({ "targetGVK": gvk }));
    profile["metadata"]["namespace"] = json!("platform");
    profile
}

fn scope(name: &str, spec: Value) -> Value {
    object(Kind::ClusterScope, name, spec)
}

pub(crate) fn cases() -> Vec<Case> {
    [references(), selectors(), ceiling()].concat()
}

fn references() -> Vec<Case> {
    let of = |reference: Value| target(json!({ "profileRef": reference }));
    vec![
        accepted(Rule::Ctg00, target(json!({}))),
        refused(Rule::Ctg00, target(json!({})), "kind: Forbidden: a KollectClusterTarget needs cluster-wide rights, which the operator does not have in tenant mode; use a KollectTarget in each namespace").under(|policy| policy.tenant_mode = true),
        accepted(Rule::Ctg01, target(json!({}))),
        refused(Rule::Ctg01, of(json!({ "name": " ", "namespace": "platform" })), "spec.profileRef.name: Required value: the name of a KollectProfile"),
        refused(Rule::Ctg01, of(json!({ "name": "platform/images", "namespace": "platform" })), r#"spec.profileRef.name: Invalid value: "platform/images": must be the name alone; the namespace has a field of its own"#),
        refused(Rule::Ctg01, of(json!({ "name": "Images", "namespace": "platform" })), r#"spec.profileRef.name: Invalid value: "Images": must be an object name: at most 253 small letters, digits, dashes and dots"#),
        refused(Rule::Ctg01, of(json!({ "namespace": "platform" })), "spec.profileRef.name: Required value: Name of the object"),
        refused(Rule::Ctg01, of(json!("images")), r#"spec.profileRef: Invalid value: "images": must be an object"#),
        accepted(Rule::Ctg02, target(json!({}))),
        refused(Rule::Ctg02, of(json!({ "name": "images" })), "spec.profileRef.namespace: Required value: Namespace of the object. Required: there is no default namespace"),
        refused(Rule::Ctg02, of(json!({ "name": "images", "namespace": "" })), "spec.profileRef.namespace: Required value: the profile's namespace; there is no default"),
        refused(Rule::Ctg02, of(json!({ "name": "images", "namespace": "a.b" })), r#"spec.profileRef.namespace: Invalid value: "a.b": must be a namespace name: at most 63 small letters, digits and dashes, such as team-a"#),
    ]
}

fn selectors() -> Vec<Case> {
    let by = |selector: Value| target(json!({ "namespaceSelector": selector }));
    let exists = json!({ "matchExpressions": [{ "key": "team", "operator": "Exists" }] });
    vec![
        accepted(Rule::Ctg03, by(exists)),
        refused(
            Rule::Ctg03,
            by(json!(null)),
            "spec.namespaceSelector: Required value: at least one label or expression is needed; an empty selector would collect from the whole cluster",
        ),
        refused(
            Rule::Ctg03,
            by(json!({})),
            "spec.namespaceSelector: Required value: at least one label or expression is needed; an empty selector would collect from the whole cluster",
        ),
        refused(
            Rule::Ctg03,
            by(json!({ "matchLabels": {}, "matchExpressions": [] })),
            "spec.namespaceSelector: Required value: at least one label or expression is needed; an empty selector would collect from the whole cluster",
        ),
        refused(
            Rule::Tgt08,
            by(json!({ "matchLabels": { "team": "a b" } })),
            r#"spec.namespaceSelector.matchLabels[team]: Invalid value: "a b": must be a label value: at most 63 letters, digits, dashes, underscores and dots, with a letter or digit at either end"#,
        ),
        refused(
            Rule::Tgt02,
            target(json!({ "includedNamespaces": ["Shop"] })),
            r#"spec.includedNamespaces[0]: Invalid value: "Shop": must be a namespace name: at most 63 small letters, digits and dashes, such as team-a"#,
        ),
        refused(
            Rule::Tgt03,
            target(json!({ "resourceRules": [{ "gvk": { "version": "v1", "kind": "" } }] })),
            "spec.resourceRules[0].gvk.kind: Required value: the kind, such as Deployment",
        ),
    ]
}

fn ceiling() -> Vec<Case> {
    let pods = || scope("one", json!({ "allowedGVKs": [{ "version": "v1", "kind": "Pod" }] }));
    let places =
        || scope("one", json!({ "allowedNamespaces": ["shop"], "deniedNamespaces": ["bank"] }));
    let refs = |namespace: &str| scope("one", json!({ "allowedStaticRefNamespaces": [namespace] }));
    vec![
        // The profile need not exist yet.
        accepted(Rule::Ctg05, target(json!({}))).beside(pods()),
        refused(Rule::Ctg05, target(json!({})), "spec.profileRef: Forbidden: apps/v1 Deployment is not in allowedGVKs of KollectClusterScope one").beside(pods()).beside(profile()),
        refused(
            Rule::Ctg05,
            target(json!({ "resourceRules": [{ "gvk": { "version": "v1", "kind": "Node" } }] })),
            "spec.resourceRules[0].gvk: Forbidden: v1 Node is not in allowedGVKs of KollectClusterScope one",
        )
        .beside(pods()),
        accepted(Rule::Ctg06, target(json!({ "includedNamespaces": ["shop"] }))).beside(places()),
        refused(Rule::Ctg06, target(json!({ "includedNamespaces": ["bank"] })), "spec.includedNamespaces[0]: Forbidden: bank is in deniedNamespaces of KollectClusterScope one").beside(places()),
        refused(Rule::Ctg06, target(json!({ "includedNamespaces": ["other"] })), "spec.includedNamespaces[0]: Forbidden: other is not in allowedNamespaces of KollectClusterScope one").beside(places()),
        accepted(Rule::Ctg07, target(json!({}))).beside(refs("platform")),
        accepted(Rule::Ctg07, target(json!({}))).beside(refs("other")).beside(scope("first", json!({}))),
        refused(Rule::Ctg07, target(json!({})), "spec.profileRef.namespace: Forbidden: platform is not in allowedStaticRefNamespaces of KollectClusterScope one").beside(refs("other")).beside(scope("two", json!({}))),
    ]
}
