//! What scopes themselves must be.

use kollect_validate::{Kind, Rule};
use serde_json::{Value, json};

use super::support::{Case, accepted, object, refused};

fn scope(spec: Value) -> Value {
    object(Kind::Scope, "ceiling", spec)
}

fn cluster_scope(spec: Value) -> Value {
    object(Kind::ClusterScope, "ceiling", spec)
}

pub(crate) fn cases() -> Vec<Case> {
    [limits(), floors(), one_in_force()].concat()
}

fn limits() -> Vec<Case> {
    let gvk =
        |gvk: Value| scope(json!({ "allowedGVKs": [{ "version": "v1", "kind": "Pod" }, gvk] }));
    vec![
        accepted(
            Rule::Scp01,
            gvk(json!({ "group": "apps", "version": "v1", "kind": "Deployment" })),
        ),
        refused(
            Rule::Scp01,
            gvk(json!({ "group": "apps", "version": "", "kind": "Deployment" })),
            "spec.allowedGVKs[1].version: Required value: the API version, such as v1",
        ),
        refused(
            Rule::Scp01,
            gvk(json!({ "group": "apps", "version": "v1", "kind": " " })),
            "spec.allowedGVKs[1].kind: Required value: the kind, such as Deployment",
        ),
        refused(
            Rule::Scp01,
            gvk(json!({ "group": "apps", "version": "v1" })),
            "spec.allowedGVKs[1].kind: Required value: Kind as in a manifest, such as `Deployment`",
        ),
        accepted(Rule::Scp02, scope(json!({ "snapshotSinkRefs": ["a"], "eventSinkRefs": ["a"] }))),
        refused(
            Rule::Scp02,
            scope(json!({ "allowedNamespaces": ["a", ""] })),
            "spec.allowedNamespaces[1]: Required value: an entry must not be empty",
        ),
        refused(
            Rule::Scp02,
            scope(json!({ "deniedNamespaces": ["a", "b", "a"] })),
            r#"spec.deniedNamespaces[2]: Duplicate value: "a": it stands earlier in the list"#,
        ),
        refused(
            Rule::Scp02,
            scope(json!({ "databaseSinkRefs": ["pg", "pg"] })),
            r#"spec.databaseSinkRefs[1]: Duplicate value: "pg": it stands earlier in the list"#,
        ),
        accepted(Rule::Scp02, cluster_scope(json!({ "allowedStaticRefNamespaces": ["a", "b"] }))),
        refused(
            Rule::Scp02,
            cluster_scope(json!({ "allowedStaticRefNamespaces": ["a", "a"] })),
            r#"spec.allowedStaticRefNamespaces[1]: Duplicate value: "a": it stands earlier in the list"#,
        ),
        refused(
            Rule::Scp02,
            cluster_scope(json!({ "eventSinkRefs": [" "] })),
            "spec.eventSinkRefs[0]: Required value: an entry must not be empty",
        ),
    ]
}

fn floors() -> Vec<Case> {
    let floor = |floor: &str| scope(json!({ "minExportInterval": floor }));
    vec![
        accepted(Rule::Scp03, floor("24h")),
        accepted(Rule::Scp03, floor("0")),
        refused(
            Rule::Scp03,
            floor("-1s"),
            r#"spec.minExportInterval: Invalid value: "-1s": must be between 0s and 24h"#,
        ),
        refused(
            Rule::Scp03,
            floor("24h1s"),
            r#"spec.minExportInterval: Invalid value: "24h1s": must be between 0s and 24h"#,
        ),
        refused(
            Rule::Scp03,
            floor("1d"),
            r#"spec.minExportInterval: Invalid value: "1d": must be a duration such as 30s, 5m or 1h30m (units: ns, us, ms, s, m, h)"#,
        ),
        refused(
            Rule::Scp03,
            floor(""),
            r#"spec.minExportInterval: Invalid value: "": must be a duration such as 30s, 5m or 1h30m (units: ns, us, ms, s, m, h)"#,
        ),
    ]
}

fn one_in_force() -> Vec<Case> {
    let named = |kind, name: &str| object(kind, name, json!({}));
    let mut elsewhere = named(Kind::Scope, "a-first");
    elsewhere["metadata"]["namespace"] = json!("other");
    vec![
        accepted(Rule::ScpW1, scope(json!({}))).beside(scope(json!({}))).beside(elsewhere),
        refused(Rule::ScpW1, scope(json!({})), "metadata.name: has no effect: a-first sorts before ceiling and is in force").beside(named(Kind::Scope, "a-first")),
        refused(Rule::ScpW1, scope(json!({})), "metadata.name: takes the place of z-last: ceiling sorts first, and only the first is in force").beside(named(Kind::Scope, "z-last")),
        accepted(Rule::ScpW1, cluster_scope(json!({}))),
        refused(Rule::ScpW1, cluster_scope(json!({})), "metadata.name: has no effect: a-first sorts before ceiling and is in force").beside(named(Kind::ClusterScope, "a-first")),
    ]
}
