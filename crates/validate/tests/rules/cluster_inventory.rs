//! What a cluster inventory may roll up, and where it may go.

use kollect_validate::{Kind, Rule};
use serde_json::{Value, json};

use super::support::{Case, accepted, object, refused};

/// A cluster inventory of the namespace `shop` with further fields; null
/// takes one away.
fn inventory(fields: Value) -> Value {
    let mut spec = json!({ "namespaces": ["shop"] });
    for (name, value) in fields.as_object().into_iter().flatten() {
        spec[name] = value.clone();
    }
    spec.as_object_mut().into_iter().for_each(|spec| spec.retain(|_, value| !value.is_null()));
    object(Kind::ClusterInventory, "all", spec)
}

fn to(refs: Value) -> Value {
    inventory(json!({ "databaseSinkRefs": refs }))
}

fn scope(namespace: &str, floor: &str) -> Value {
    let mut scope = object(Kind::Scope, "ceiling", json!({ "minExportInterval": floor }));
    scope["metadata"]["namespace"] = json!(namespace);
    scope
}

fn cluster_scope(spec: Value) -> Value {
    object(Kind::ClusterScope, "ceiling", spec)
}

pub(crate) fn cases() -> Vec<Case> {
    [sources(), namespaces(), references(), limits(), floors(), ceiling()].concat()
}

fn sources() -> Vec<Case> {
    let of = |profile: Value| inventory(json!({ "profileRef": profile }));
    let targets = |names: Value| inventory(json!({ "targetRefs": names }));
    vec![
        accepted(Rule::Civ00, inventory(json!({}))),
        refused(Rule::Civ00, inventory(json!({})), "kind: Forbidden: a KollectClusterInventory needs cluster-wide rights, which the operator does not have in tenant mode; use a KollectInventory in each namespace").under(|policy| policy.tenant_mode = true),
        accepted(Rule::Civ01, of(json!({ "name": "images", "namespace": "platform" }))),
        refused(Rule::Civ01, of(json!({ "name": "images", "namespace": " " })), "spec.profileRef.namespace: Required value: the profile's namespace; there is no default"),
        refused(Rule::Civ01, of(json!({ "name": "a/b", "namespace": "platform" })), r#"spec.profileRef.name: Invalid value: "a/b": must be the name alone; the namespace has a field of its own"#),
        refused(Rule::Civ01, of(json!({ "name": "images" })), "spec.profileRef.namespace: Required value: Namespace of the object. Required: there is no default namespace"),
        accepted(Rule::Civ02, targets(json!(["web"]))),
        refused(Rule::Civ02, targets(json!(["web", " "])), "spec.targetRefs[1]: Required value: the name of a KollectClusterTarget"),
        refused(Rule::Civ02, targets(json!(["shop/web"])), r#"spec.targetRefs[0]: Invalid value: "shop/web": must be a name alone: cluster targets have no namespace"#),
    ]
}

fn namespaces() -> Vec<Case> {
    let listed = |names: Value| inventory(json!({ "namespaces": names }));
    let by_label = json!({ "matchLabels": { "team": "shop" } });
    let bad = json!({ "matchExpressions": [{ "key": "a", "operator": "Is" }] });
    vec![
        accepted(Rule::Civ03, listed(json!(["a", "b"]))),
        refused(
            Rule::Civ03,
            listed(json!(["a", ""])),
            "spec.namespaces[1]: Required value: an entry must not be empty",
        ),
        refused(
            Rule::Civ03,
            listed(json!([" a"])),
            r#"spec.namespaces[0]: Invalid value: " a": must be a namespace name: at most 63 small letters, digits and dashes, such as team-a"#,
        ),
        refused(
            Rule::Civ03,
            listed(json!(["a", "a"])),
            r#"spec.namespaces[1]: Duplicate value: "a": it stands earlier in the list"#,
        ),
        refused(
            Rule::Civ03,
            listed(json!(["a.b"])),
            r#"spec.namespaces[0]: Invalid value: "a.b": must be a namespace name: at most 63 small letters, digits and dashes, such as team-a"#,
        ),
        accepted(Rule::Civ04, listed(json!(["a"]))),
        accepted(
            Rule::Civ04,
            inventory(json!({ "namespaces": [], "namespaceSelector": by_label })),
        ),
        accepted(Rule::Civ04, inventory(json!({ "namespaceSelector": by_label }))),
        refused(
            Rule::Civ04,
            listed(json!([])),
            "spec.namespaceSelector: Required value: namespaceSelector or namespaces is needed; without either the whole cluster would be rolled up",
        ),
        refused(
            Rule::Civ04,
            inventory(json!({ "namespaces": null, "namespaceSelector": {} })),
            "spec.namespaceSelector: Required value: namespaceSelector or namespaces is needed; without either the whole cluster would be rolled up",
        ),
        refused(
            Rule::Tgt08,
            inventory(json!({ "targetSelector": bad })),
            r#"spec.targetSelector.matchExpressions[0].operator: Unsupported value: "Is": supported values: In, NotIn, Exists, DoesNotExist"#,
        ),
    ]
}

fn references() -> Vec<Case> {
    let many = (0..21).map(|at| format!("sink-{at}")).collect::<Vec<_>>();
    let pg = |namespace: &str| to(json!([{ "name": "pg", "namespace": namespace }]));
    vec![
        accepted(
            Rule::Civ05,
            inventory(json!({ "databaseSinkRefs": ["x"], "eventSinkRefs": ["x"] })),
        ),
        refused(
            Rule::Civ05,
            to(json!(many)),
            "spec.databaseSinkRefs: Too many: 21: at most 20 sinks are allowed over the three lists",
        ),
        refused(
            Rule::Civ05,
            to(json!(["pg", " "])),
            "spec.databaseSinkRefs[1].name: Required value: the name of a sink",
        ),
        refused(
            Rule::Civ05,
            to(json!(["shop/pg"])),
            r#"spec.databaseSinkRefs[0].name: Invalid value: "shop/pg": must be the name alone; the namespace has a field of its own"#,
        ),
        refused(
            Rule::Civ05,
            to(json!(["pg", { "name": "pg", "namespace": "other" }])),
            r#"spec.databaseSinkRefs[1].name: Duplicate value: "pg": it stands earlier in the list"#,
        ),
        refused(
            Rule::Gen01,
            to(json!([true])),
            "spec.databaseSinkRefs[0]: Invalid value: true: must be the name of a sink, or an object of name, namespace, exportMinInterval and maxExportBytes: neither a name nor an object with a name",
        ),
        accepted(Rule::Civ06, pg("shop")),
        refused(
            Rule::Civ06,
            pg("Shop"),
            r#"spec.databaseSinkRefs[0].namespace: Invalid value: "Shop": must be a namespace name: at most 63 small letters, digits and dashes, such as team-a"#,
        ),
    ]
}

fn limits() -> Vec<Case> {
    let every = |interval: &str| inventory(json!({ "exportMinInterval": interval }));
    vec![
        accepted(Rule::Civ07, every("24h")),
        refused(
            Rule::Civ07,
            every("48h"),
            r#"spec.exportMinInterval: Invalid value: "48h": must be between 0s and 24h"#,
        ),
        refused(
            Rule::Civ07,
            to(json!([{ "name": "pg", "exportMinInterval": "-1s" }])),
            r#"spec.databaseSinkRefs[0].exportMinInterval: Invalid value: "-1s": must be between 0s and 24h"#,
        ),
        refused(
            Rule::Civ07,
            to(json!([{ "name": "pg", "maxExportBytes": 0 }])),
            "spec.databaseSinkRefs[0].maxExportBytes: Invalid value: 0: must be 1 to 1572864 bytes, the operator's --max-export-bytes",
        ),
        refused(
            Rule::Str01,
            inventory(json!({ "maxExportBytes": 1 })),
            "spec.maxExportBytes: Forbidden: unknown field; known here: databaseSinkRefs, dedupe, eventSinkRefs, exportMinInterval, namespaceSelector, namespaces, profileRef, sinkNamespace, snapshotSinkRefs, suspend, targetRefs, targetSelector",
        ),
        accepted(
            Rule::Civ08,
            inventory(json!({ "sinkNamespace": "shop", "dedupe": "byResourceUID" })),
        ),
        refused(
            Rule::Civ08,
            inventory(json!({ "sinkNamespace": "a/b" })),
            r#"spec.sinkNamespace: Invalid value: "a/b": must be a namespace name: at most 63 small letters, digits and dashes, such as team-a"#,
        ),
        refused(
            Rule::Civ08,
            inventory(json!({ "sinkNamespace": "" })),
            r#"spec.sinkNamespace: Invalid value: "": must be a namespace name: at most 63 small letters, digits and dashes, such as team-a"#,
        ),
        refused(
            Rule::Civ08,
            inventory(json!({ "dedupe": "byUID" })),
            r#"spec.dedupe: Unsupported value: "byUID": supported values: "keepAll", "byResourceUID""#,
        ),
    ]
}

fn floors() -> Vec<Case> {
    let every = |interval: &str| inventory(json!({ "exportMinInterval": interval }));
    let ref_every = |interval: &str| {
        to(json!([{ "name": "pg", "namespace": "shop", "exportMinInterval": interval }]))
    };
    let by_default = || scope("kollect-system", "1m");
    let of_cluster = || cluster_scope(json!({ "minExportInterval": "2m" }));
    vec![
        accepted(Rule::Civ09, every("10s")).beside(scope("shop", "1m")),
        accepted(Rule::Civ09, inventory(json!({}))).beside(by_default()),
        refused(Rule::Civ09, every("10s"), r#"spec.exportMinInterval: Invalid value: "10s": must be at least 1m, the minExportInterval of KollectScope kollect-system/ceiling"#).beside(by_default()),
        refused(Rule::Civ09, every("0s"), r#"spec.exportMinInterval: Invalid value: "0s": must be at least 2m, the minExportInterval of KollectClusterScope ceiling"#).beside(of_cluster()),
        accepted(Rule::Civ09, ref_every("10s")).beside(by_default()),
        refused(Rule::Civ09, ref_every("10s"), r#"spec.databaseSinkRefs[0].exportMinInterval: Invalid value: "10s": must be at least 1m, the minExportInterval of KollectScope shop/ceiling"#).beside(scope("shop", "1m")),
        refused(Rule::Civ09, ref_every("1m"), r#"spec.databaseSinkRefs[0].exportMinInterval: Invalid value: "1m": must be at least 2m, the minExportInterval of KollectClusterScope ceiling"#).beside(of_cluster()),
        refused(Rule::InvW2, inventory(json!({})), "spec.exportMinInterval: 30s is raised to 1m, the minExportInterval of KollectScope kollect-system/ceiling").beside(by_default()),
        refused(Rule::InvW2, inventory(json!({})), "spec.exportMinInterval: 30s is raised to 2m, the minExportInterval of KollectClusterScope ceiling").beside(of_cluster()),
    ]
}

fn ceiling() -> Vec<Case> {
    let only =
        |namespace: &str| cluster_scope(json!({ "allowedStaticRefNamespaces": [namespace] }));
    let sinks = || cluster_scope(json!({ "databaseSinkRefs": ["ledger"] }));
    let profile = json!({ "name": "images", "namespace": "other" });
    vec![
        accepted(Rule::Civ10, to(json!(["pg"]))).beside(only("kollect-system")),
        accepted(Rule::Civ10, inventory(json!({}))).beside(only("shop")),
        refused(Rule::Civ10, to(json!(["pg"])), "spec.databaseSinkRefs[0]: Forbidden: kollect-system is not in allowedStaticRefNamespaces of KollectClusterScope ceiling").beside(only("shop")),
        refused(Rule::Civ10, to(json!([{ "name": "pg", "namespace": "x" }])), "spec.databaseSinkRefs[0]: Forbidden: x is not in allowedStaticRefNamespaces of KollectClusterScope ceiling").beside(only("shop")),
        refused(Rule::Civ10, inventory(json!({ "profileRef": profile })), "spec.profileRef.namespace: Forbidden: other is not in allowedStaticRefNamespaces of KollectClusterScope ceiling").beside(only("shop")),
        accepted(Rule::Civ11, to(json!(["ledger"]))).beside(sinks()),
        accepted(Rule::Civ11, inventory(json!({ "snapshotSinkRefs": ["git"] }))).beside(sinks()),
        refused(Rule::Civ11, to(json!(["pg"])), "spec.databaseSinkRefs[0]: Forbidden: database sink pg is not in databaseSinkRefs of KollectClusterScope ceiling").beside(sinks()),
    ]
}
