//! Where an inventory of one namespace may go, and how often.

use kollect_validate::{Kind, Rule};
use serde_json::{Value, json};

use super::support::{Case, accepted, object, refused};

fn inventory(spec: Value) -> Value {
    object(Kind::Inventory, "shop", spec)
}

fn to(refs: Value) -> Value {
    inventory(json!({ "databaseSinkRefs": refs }))
}

fn scope(name: &str, spec: Value) -> Value {
    object(Kind::Scope, name, spec)
}

pub(crate) fn cases() -> Vec<Case> {
    [references(), names(), numbers(), floor(), sinks(), others()].concat()
}

fn references() -> Vec<Case> {
    let long = "x".repeat(300);
    vec![
        accepted(Rule::Gen01, to(json!(["pg", { "name": "lake", "exportMinInterval": "5m" }]))),
        refused(
            Rule::Gen01,
            to(json!(["pg", 7])),
            "spec.databaseSinkRefs[1]: Invalid value: 7: must be the name of a sink, or an object of name, namespace, exportMinInterval and maxExportBytes: neither a name nor an object with a name",
        ),
        refused(
            Rule::Gen01,
            to(json!([null])),
            "spec.databaseSinkRefs[0]: Invalid value: null: must be the name of a sink, or an object of name, namespace, exportMinInterval and maxExportBytes: neither a name nor an object with a name",
        ),
        refused(
            Rule::Gen01,
            to(json!([{ "nam": "pg" }])),
            r#"spec.databaseSinkRefs[0]: Invalid value: {"nam":"pg"}: must be the name of a sink, or an object of name, namespace, exportMinInterval and maxExportBytes: unknown field `nam`, expected one of `name`, `namespace`, `exportMinInterval`, `maxExportBytes`"#,
        ),
        refused(
            Rule::Gen01,
            to(json!([{ "namespace": "shop" }])),
            r#"spec.databaseSinkRefs[0]: Invalid value: {"namespace":"shop"}: must be the name of a sink, or an object of name, namespace, exportMinInterval and maxExportBytes: missing field `name`"#,
        ),
        refused(
            Rule::Gen01,
            to(json!([{ "name": "pg", "maxExportBytes": "many" }])),
            r#"spec.databaseSinkRefs[0]: Invalid value: {"maxExportBytes":"many","name":"pg"}: must be the name of a sink, or an object of name, namespace, exportMinInterval and maxExportBytes: invalid type: string "many", expected i64"#,
        ),
        refused(
            Rule::Gen01,
            to(json!([[long]])),
            r#"spec.databaseSinkRefs[0]: Invalid value: ["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx (cut): must be the name of a sink, or an object of name, namespace, exportMinInterval and maxExportBytes: neither a name nor an object with a name"#,
        ),
    ]
}

fn names() -> Vec<Case> {
    let many = |number: usize| (0..number).map(|at| format!("sink-{at}")).collect::<Vec<_>>();
    let spread = inventory(json!({
        "snapshotSinkRefs": many(7), "databaseSinkRefs": many(7), "eventSinkRefs": many(7),
    }));
    vec![
        accepted(Rule::Inv01, to(json!(many(20)))),
        refused(
            Rule::Inv01,
            to(json!(many(21))),
            "spec.databaseSinkRefs: Too many: 21: at most 20 sinks are allowed over the three lists",
        ),
        refused(
            Rule::Inv01,
            spread,
            "spec: Too many: 21: at most 20 sinks are allowed over the three lists",
        ),
        accepted(Rule::Inv02, to(json!(["pg"]))),
        refused(
            Rule::Inv02,
            to(json!(["pg", ""])),
            "spec.databaseSinkRefs[1].name: Required value: the name of an object in the same namespace",
        ),
        refused(
            Rule::Inv02,
            to(json!([{ "name": "team/pg" }])),
            r#"spec.databaseSinkRefs[0].name: Invalid value: "team/pg": must be a name in the same namespace, without a slash"#,
        ),
        accepted(
            Rule::Inv03,
            inventory(json!({ "databaseSinkRefs": ["x"], "eventSinkRefs": ["x"] })),
        ),
        refused(
            Rule::Inv03,
            to(json!(["pg", "lake", { "name": "pg" }])),
            r#"spec.databaseSinkRefs[2].name: Duplicate value: "pg": it stands earlier in the list"#,
        ),
        accepted(Rule::Inv04, to(json!([{ "name": "pg" }]))),
        refused(
            Rule::Inv04,
            to(json!([{ "name": "pg", "namespace": "shop" }])),
            "spec.databaseSinkRefs[0].namespace: Forbidden: sinks are looked up in the namespace of the inventory",
        ),
    ]
}

fn numbers() -> Vec<Case> {
    let every = |interval: &str| inventory(json!({ "exportMinInterval": interval }));
    let most = |bytes: i64| inventory(json!({ "maxExportBytes": bytes }));
    let ref_most = |bytes: i64| to(json!([{ "name": "pg", "maxExportBytes": bytes }]));
    vec![
        accepted(Rule::Inv05, every("24h")),
        accepted(Rule::Inv05, every("0")),
        refused(Rule::Inv05, every("25h"), r#"spec.exportMinInterval: Invalid value: "25h": must be between 0s and 24h"#),
        refused(Rule::Inv05, every("-1s"), r#"spec.exportMinInterval: Invalid value: "-1s": must be between 0s and 24h"#),
        refused(Rule::Inv05, every("1 hour"), r#"spec.exportMinInterval: Invalid value: "1 hour": must be a duration such as 30s, 5m or 1h30m (units: ns, us, ms, s, m, h)"#),
        refused(Rule::Inv05, to(json!([{ "name": "pg", "exportMinInterval": "1d" }])), r#"spec.databaseSinkRefs[0].exportMinInterval: Invalid value: "1d": must be a duration such as 30s, 5m or 1h30m (units: ns, us, ms, s, m, h)"#),
        accepted(Rule::Inv06, most(1_572_864)),
        accepted(
            Rule::Inv06,
            inventory(json!({
                "maxExportBytes": 1000,
                "databaseSinkRefs": [{ "name": "pg", "maxExportBytes": 2000 }],
            })),
        ),
        refused(Rule::Inv06, most(0), "spec.maxExportBytes: Invalid value: 0: must be 1 to 1572864 bytes, the operator's --max-export-bytes"),
        refused(Rule::Inv06, most(1_572_865), "spec.maxExportBytes: Invalid value: 1572865: must be 1 to 1572864 bytes, the operator's --max-export-bytes"),
        refused(Rule::Inv06, most(500), "spec.maxExportBytes: Invalid value: 500: must be 1 to 499 bytes, the operator's --max-export-bytes").under(|policy| policy.max_export_bytes = 499),
        refused(Rule::Inv06, ref_most(-1), "spec.databaseSinkRefs[0].maxExportBytes: Invalid value: -1: must be 1 to 1572864 bytes, the operator's --max-export-bytes"),
    ]
}

fn floor() -> Vec<Case> {
    let every = |interval: &str| inventory(json!({ "exportMinInterval": interval }));
    let ref_every = |interval: &str| to(json!([{ "name": "pg", "exportMinInterval": interval }]));
    let minute = || scope("ceiling", json!({ "minExportInterval": "1m" }));
    let hour = |name: &str| scope(name, json!({ "minExportInterval": "1h" }));
    vec![
        accepted(Rule::Inv07, every("60s")).beside(minute()),
        accepted(Rule::Inv07, inventory(json!({}))).beside(minute()),
        accepted(Rule::Inv07, every("1m")).beside(hour("later")).beside(minute()),
        refused(Rule::Inv07, every("10s"), r#"spec.exportMinInterval: Invalid value: "10s": must be at least 1m, the minExportInterval of KollectScope ceiling"#).beside(minute()),
        refused(Rule::Inv07, every("0s"), r#"spec.exportMinInterval: Invalid value: "0s": must be at least 1m, the minExportInterval of KollectScope ceiling"#).beside(minute()),
        refused(Rule::Inv07, every("1m"), r#"spec.exportMinInterval: Invalid value: "1m": must be at least 1h, the minExportInterval of KollectScope a-first"#).beside(minute()).beside(hour("a-first")),
        refused(Rule::Inv07, ref_every("30s"), r#"spec.databaseSinkRefs[0].exportMinInterval: Invalid value: "30s": must be at least 1m, the minExportInterval of KollectScope ceiling"#).beside(minute()),
        refused(Rule::Inv07, ref_every("0"), r#"spec.databaseSinkRefs[0].exportMinInterval: Invalid value: "0": must be at least 1m, the minExportInterval of KollectScope ceiling"#).beside(minute()),
        accepted(Rule::InvW2, every("1m")).beside(minute()),
        refused(Rule::InvW2, inventory(json!({})), "spec.exportMinInterval: 30s is raised to 1m, the minExportInterval of KollectScope ceiling").beside(minute()),
        refused(Rule::InvW2, every("30s"), "spec.exportMinInterval: 30s is raised to 1m, the minExportInterval of KollectScope ceiling").beside(minute()),
    ]
}

fn sinks() -> Vec<Case> {
    let only = || scope("ceiling", json!({ "databaseSinkRefs": ["ledger"] }));
    vec![
        accepted(Rule::Inv08, to(json!(["ledger"]))).beside(only()),
        accepted(Rule::Inv08, inventory(json!({ "eventSinkRefs": ["bus"] }))).beside(only()),
        accepted(Rule::Inv08, to(json!(["pg"]))).beside(only()).beside(scope("a-first", json!({}))),
        refused(Rule::Inv08, to(json!(["ledger", "pg"])), "spec.databaseSinkRefs[1]: Forbidden: database sink pg is not in databaseSinkRefs of KollectScope ceiling").beside(only()),
    ]
}

fn others() -> Vec<Case> {
    let mut reserved = inventory(json!({}));
    reserved["metadata"]["namespace"] = json!("cluster");
    vec![
        accepted(Rule::Inv09, inventory(json!({}))),
        refused(
            Rule::Inv09,
            reserved,
            "metadata.namespace: Forbidden: the namespace cluster is reserved for the rows of cluster inventories",
        ),
        accepted(Rule::InvW1, inventory(json!({ "httpEndpoint": { "enabled": true } }))),
        refused(
            Rule::InvW1,
            inventory(json!({ "httpEndpoint": { "port": 8082 } })),
            "spec.httpEndpoint.port: has no effect: one port, set by --inventory-http-port, serves all inventories",
        ),
    ]
}
