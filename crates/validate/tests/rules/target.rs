//! What a target of one namespace may collect.

use kollect_validate::{Kind, Rule};
use serde_json::{Value, json};

use super::support::{Case, accepted, object, refused};

/// A target with the profile `images` and further fields.
fn target(mut spec: Value) -> Value {
    if spec.get("profileRef").is_none() {
        spec["profileRef"] = json!("images");
    }
    object(Kind::Target, "web", spec)
}

fn profile(kind: &str) -> Value {
    let gvk = json!({ "group": "apps", "version": "v1", "kind": kind });
    object(Kind::Profile, "images", json!({ "targetGVK": gvk }))
}

fn scope(name: &str, spec: Value) -> Value {
    object(Kind::Scope, name, spec)
}

fn rule_for(kind: &str) -> Value {
    json!({ "gvk": { "group": "apps", "version": "v1", "kind": kind } })
}

pub(crate) fn cases() -> Vec<Case> {
    [
        references(),
        namespaces(),
        rules(),
        policies(),
        modes(),
        kinds(),
        ceiling(),
        selectors(),
        selectors_of_rules(),
    ]
    .concat()
}

fn policies() -> Vec<Case> {
    let asks = |policy: &str| {
        let mut rule = rule_for("Deployment");
        rule["matchPolicy"] = json!(policy);
        target(json!({ "resourceRules": [rule] }))
    };
    let of_secrets = |policy: &str| {
        let gvk = json!({ "version": "v1", "kind": "Secret" });
        target(json!({ "resourceRules": [{ "gvk": gvk, "matchPolicy": policy }] }))
    };
    let secrets = |allowed: &str| {
        let gvk = json!({ "version": "v1", "kind": "Secret" });
        let mut profile = object(Kind::Profile, "images", json!({ "targetGVK": gvk }));
        profile["metadata"]["annotations"] =
            json!({ "kollect.dev/allow-secret-extraction": allowed });
        profile
    };
    vec![
        accepted(Rule::Tgt04, asks("object.spec.replicas > 1")),
        accepted(Rule::Tgt04, asks("object.spec.paused")),
        refused(
            Rule::Tgt04,
            asks("object.spec.replicas >"),
            r#"spec.resourceRules[0].matchPolicy: Invalid value: "object.spec.replicas >": expected a value, not the end (character 23)"#,
        ),
        refused(
            Rule::Tgt04,
            asks("size(object.spec)"),
            r#"spec.resourceRules[0].matchPolicy: Invalid value: "size(object.spec)": a bool is needed, and this is int (character 1)"#,
        ),
        accepted(Rule::Tgt04, of_secrets("object.type == 'Opaque'")).beside(secrets("false")),
        accepted(Rule::Tgt04, of_secrets("object.data.x == 'y'")).beside(secrets("true")),
        refused(
            Rule::Tgt04,
            of_secrets("object.data.x.startsWith('y')"),
            "spec.resourceRules[0].matchPolicy: Forbidden: reads the data of Secrets; the annotation kollect.dev/allow-secret-extraction: \"true\" on the profile would permit it",
        )
        .beside(secrets("false")),
    ]
}

fn references() -> Vec<Case> {
    let of = |name: Value| object(Kind::Target, "web", json!({ "profileRef": name }));
    vec![
        accepted(Rule::Tgt01, of(json!("images"))),
        refused(
            Rule::Tgt01,
            of(json!("")),
            "spec.profileRef: Required value: the name of an object in the same namespace",
        ),
        refused(
            Rule::Tgt01,
            of(json!("  ")),
            "spec.profileRef: Required value: the name of an object in the same namespace",
        ),
        refused(
            Rule::Tgt01,
            of(json!("team/images")),
            r#"spec.profileRef: Invalid value: "team/images": must be a name in the same namespace, without a slash"#,
        ),
        refused(
            Rule::Tgt01,
            of(json!(null)),
            "spec.profileRef: Required value: Name of a KollectProfile in this namespace",
        ),
        refused(
            Rule::Tgt01,
            of(json!({ "name": "images" })),
            "spec.profileRef: Invalid value: an object: must be a string",
        ),
    ]
}

fn namespaces() -> Vec<Case> {
    vec![
        accepted(
            Rule::Tgt02,
            target(json!({ "includedNamespaces": ["a", "b"], "excludedNamespaces": ["a"] })),
        ),
        refused(
            Rule::Tgt02,
            target(json!({ "includedNamespaces": ["a", ""] })),
            "spec.includedNamespaces[1]: Required value: an entry must not be empty",
        ),
        refused(
            Rule::Tgt02,
            target(json!({ "includedNamespaces": ["a", "b", "a"] })),
            r#"spec.includedNamespaces[2]: Duplicate value: "a": it stands earlier in the list"#,
        ),
        refused(
            Rule::Tgt02,
            target(json!({ "excludedNamespaces": ["kube-*"] })),
            r#"spec.excludedNamespaces[0]: Invalid value: "kube-*": must be a namespace name: at most 63 small letters, digits and dashes, such as team-a"#,
        ),
    ]
}

fn rules() -> Vec<Case> {
    let of =
        |gvk: Value| target(json!({ "resourceRules": [rule_for("Deployment"), { "gvk": gvk }] }));
    let two = target(json!({ "resourceRules": [rule_for("Deployment"), rule_for("StatefulSet")] }));
    vec![
        accepted(Rule::Tgt03, of(json!({ "version": "v1", "kind": "Pod" }))),
        refused(Rule::Tgt03, of(json!({ "version": " ", "kind": "Pod" })), "spec.resourceRules[1].gvk.version: Required value: the API version, such as v1"),
        refused(Rule::Tgt03, of(json!({ "version": "v1", "kind": "" })), "spec.resourceRules[1].gvk.kind: Required value: the kind, such as Deployment"),
        refused(Rule::Tgt03, of(json!({ "version": "v1" })), "spec.resourceRules[1].gvk.kind: Required value: Kind as in a manifest, such as `Deployment`"),
        accepted(Rule::Tgt09, two.clone()),
        accepted(Rule::Tgt09, target(json!({ "resourceRules": [rule_for("deployment")] })))
            .beside(profile("Deployment")),
        refused(Rule::Tgt09, two, r#"spec.resourceRules[1].gvk: Invalid value: "apps/v1 StatefulSet": the profile reads apps/v1 Deployment, and only that kind is watched"#).beside(profile("Deployment")),
    ]
}

fn modes() -> Vec<Case> {
    vec![
        accepted(Rule::Tgt05, target(json!({ "watchMode": "OptIn" }))),
        accepted(Rule::Tgt05, target(json!({ "watchMode": null }))),
        refused(
            Rule::Tgt05,
            target(json!({ "watchMode": "optIn" })),
            r#"spec.watchMode: Unsupported value: "optIn": supported values: "All", "OptIn""#,
        ),
        refused(
            Rule::Tgt05,
            target(json!({ "watchMode": "" })),
            r#"spec.watchMode: Unsupported value: "": supported values: "All", "OptIn""#,
        ),
    ]
}

fn kinds() -> Vec<Case> {
    let only_pods =
        || scope("ceiling", json!({ "allowedGVKs": [{ "version": "v1", "kind": "Pod" }] }));
    let only_apps = |kind: &str| {
        let gvk = json!({ "group": "APPS", "version": "v1", "kind": kind });
        scope("ceiling", json!({ "allowedGVKs": [gvk] }))
    };
    let by_rule = || target(json!({ "resourceRules": [rule_for("Deployment")] }));
    let mut elsewhere = only_pods();
    elsewhere["metadata"]["namespace"] = json!("other");
    vec![
        accepted(Rule::Tgt06, target(json!({}))).beside(profile("Deployment")).beside(elsewhere),
        accepted(Rule::Tgt06, target(json!({}))).beside(profile("Deployment")).beside(only_apps("deployment")),
        // The profile need not exist yet.
        accepted(Rule::Tgt06, target(json!({}))).beside(only_pods()),
        accepted(Rule::Tgt06, target(json!({}))).beside(profile("Deployment"))
            .beside(only_pods())
            .beside(scope("a-first", json!({}))),
        refused(Rule::Tgt06, target(json!({})), "spec.profileRef: Forbidden: apps/v1 Deployment is not in allowedGVKs of KollectScope ceiling").beside(profile("Deployment")).beside(only_pods()),
        refused(Rule::Tgt06, target(json!({})), "spec.profileRef: Forbidden: apps/v1 Deployment is not in allowedGVKs of KollectScope ceiling").beside(profile("Deployment"))
            .beside(scope("z-last", json!({})))
            .beside(only_pods()),
        refused(Rule::Tgt06, by_rule(), "spec.resourceRules[0].gvk: Forbidden: apps/v1 Deployment is not in allowedGVKs of KollectScope ceiling").beside(only_pods()),
    ]
}

fn ceiling() -> Vec<Case> {
    let included = |names: Value| target(json!({ "includedNamespaces": names }));
    let limits = || {
        scope(
            "ceiling",
            json!({ "allowedNamespaces": ["shop", "kube-system"], "deniedNamespaces": ["kube-system"] }),
        )
    };
    vec![
        accepted(Rule::Tgt07, included(json!(["shop"]))).beside(limits()),
        accepted(Rule::Tgt07, target(json!({ "excludedNamespaces": ["kube-system"] }))).beside(limits()),
        refused(Rule::Tgt07, included(json!(["shop", "kube-system"])), "spec.includedNamespaces[1]: Forbidden: kube-system is in deniedNamespaces of KollectScope ceiling").beside(limits()),
        refused(Rule::Tgt07, included(json!(["shop", "bank"])), "spec.includedNamespaces[1]: Forbidden: bank is not in allowedNamespaces of KollectScope ceiling").beside(limits()),
    ]
}

fn selectors() -> Vec<Case> {
    let expression = |requirement: Value| {
        target(json!({ "namespaceSelector": { "matchExpressions": [requirement] } }))
    };
    let labels = |labels: Value| target(json!({ "labelSelector": { "matchLabels": labels } }));
    vec![
        accepted(Rule::Tgt08, labels(json!({ "example.org/app": "", "tier": "web_1.x" }))),
        accepted(Rule::Tgt08, expression(json!({ "key": "a", "operator": "DoesNotExist" }))),
        accepted(
            Rule::Tgt08,
            expression(json!({ "key": "a", "operator": "NotIn", "values": ["b"] })),
        ),
        refused(
            Rule::Tgt08,
            expression(json!({ "key": "a", "operator": "Equals", "values": ["b"] })),
            r#"spec.namespaceSelector.matchExpressions[0].operator: Unsupported value: "Equals": supported values: In, NotIn, Exists, DoesNotExist"#,
        ),
        refused(
            Rule::Tgt08,
            expression(json!({ "key": "a", "operator": "In", "values": [] })),
            "spec.namespaceSelector.matchExpressions[0].values: Required value: In needs at least one value",
        ),
        refused(
            Rule::Tgt08,
            expression(json!({ "key": "a", "operator": "Exists", "values": ["b"] })),
            "spec.namespaceSelector.matchExpressions[0].values: Forbidden: Exists takes no values",
        ),
        refused(
            Rule::Tgt08,
            expression(json!({ "key": "a b", "operator": "Exists" })),
            r#"spec.namespaceSelector.matchExpressions[0].key: Invalid value: "a b": must be a label key, such as app or example.org/app"#,
        ),
        refused(
            Rule::Tgt08,
            expression(json!({ "key": "a", "operator": "In", "values": ["b", "c d"] })),
            r#"spec.namespaceSelector.matchExpressions[0].values[1]: Invalid value: "c d": must be a label value: at most 63 letters, digits, dashes, underscores and dots, with a letter or digit at either end"#,
        ),
        refused(
            Rule::Tgt08,
            labels(json!({ "a/b/c": "x" })),
            r#"spec.labelSelector.matchLabels[a/b/c]: Invalid value: "a/b/c": must be a label key, such as app or example.org/app"#,
        ),
        refused(
            Rule::Tgt08,
            labels(json!({ "app": "-x" })),
            r#"spec.labelSelector.matchLabels[app]: Invalid value: "-x": must be a label value: at most 63 letters, digits, dashes, underscores and dots, with a letter or digit at either end"#,
        ),
    ]
}

fn selectors_of_rules() -> Vec<Case> {
    let in_rule = |field: &str, value: Value| {
        let mut rule = rule_for("Deployment");
        rule[field] = value;
        target(json!({ "resourceRules": [rule] }))
    };
    vec![
        refused(
            Rule::Tgt08,
            in_rule("matchLabels", json!({ "app": "über" })),
            r#"spec.resourceRules[0].matchLabels[app]: Invalid value: "über": must be a label value: at most 63 letters, digits, dashes, underscores and dots, with a letter or digit at either end"#,
        ),
        refused(
            Rule::Tgt08,
            in_rule("matchExpressions", json!([{ "key": "a", "operator": "In" }])),
            "spec.resourceRules[0].matchExpressions[0].values: Required value: In needs at least one value",
        ),
        refused(
            Rule::Tgt08,
            in_rule("namespaceSelector", json!({ "matchLabels": { "": "x" } })),
            r#"spec.resourceRules[0].namespaceSelector.matchLabels[]: Invalid value: "": must be a label key, such as app or example.org/app"#,
        ),
        refused(
            Rule::Tgt08,
            target(
                json!({ "namespaceExcludeSelector": { "matchExpressions": [{ "key": "a", "operator": "in" }] } }),
            ),
            r#"spec.namespaceExcludeSelector.matchExpressions[0].operator: Unsupported value: "in": supported values: In, NotIn, Exists, DoesNotExist"#,
        ),
    ]
}
