//! What the author of a sink probably wants to know.

use kollect_validate::{Kind, Rule};
use serde_json::{Value, json};

use super::support::{Case, accepted, object, refused};

fn with(mut spec: Value, fields: Value) -> Value {
    for (name, value) in fields.as_object().into_iter().flatten() {
        spec[name] = value.clone();
    }
    spec
}

fn git(fields: Value) -> Value {
    let spec = json!({ "type": "git", "endpoint": "https://git.example.org/shop/audit.git" });
    object(Kind::SnapshotSink, "audit", with(spec, fields))
}

fn bucket(fields: Value) -> Value {
    let spec = json!({ "type": "s3", "endpoint": "s3://bucket/prefix" });
    object(Kind::SnapshotSink, "lake", with(spec, fields))
}

fn postgres(fields: Value) -> Value {
    let block = json!({ "databaseRef": { "name": "dsn" }, "table": "rows" });
    let spec = json!({ "type": "postgres", "postgres": block });
    object(Kind::DatabaseSink, "ledger", with(spec, fields))
}

pub(crate) fn cases() -> Vec<Case> {
    [destinations(), formats(), layouts(), without_effect(), safety()].concat()
}

fn destinations() -> Vec<Case> {
    let existing = json!({ "provisioning": { "mode": "existing" } });
    let option = |name: &str| postgres(json!({ "options": { name: "x" } }));
    vec![
        accepted(Rule::SnkW1, postgres(json!({ "provisioning": { "mode": "ensure" } }))),
        accepted(Rule::SnkW1, git(existing.clone())),
        refused(
            Rule::SnkW1,
            postgres(existing),
            "spec.provisioning.mode: nothing will be created: the destination must exist in the right shape",
        ),
        accepted(Rule::SnkW11, option("statement_timeout")),
        accepted(Rule::SnkW11, option("export_timeout")),
        refused(
            Rule::SnkW11,
            option("region"),
            "spec.options[region]: unknown to type postgres and without effect; known: statement_timeout, max_conns, export_timeout",
        ),
        accepted(Rule::SnkW12, git(json!({}))),
        refused(Rule::SnkW12, git(json!({})), "spec.type: this build cannot write to type git")
            .under(|policy| _ = policy.backends.remove("git")),
    ]
}

fn formats() -> Vec<Case> {
    let format = |format: &str| json!({ "serialization": { "format": format } });
    let older = |format: &str| json!({ "objectStore": { "format": format } });
    let path = |name: &str, format: &str| json!({ "pathTemplate": name, "serialization": { "format": format } });
    vec![
        accepted(Rule::SnkW2, bucket(format("json"))),
        refused(
            Rule::SnkW2,
            bucket(format("parquet")),
            "spec.serialization.format: Parquet objects have a fixed key, one for each generation of the inventory",
        ),
        refused(
            Rule::SnkW2,
            bucket(older("parquet")),
            "spec.objectStore.format: Parquet objects have a fixed key, one for each generation of the inventory",
        ),
        accepted(Rule::SnkW3, bucket(older("json"))),
        refused(
            Rule::SnkW3,
            bucket(with(older("json"), format("csv"))),
            "spec.objectStore.format: has no effect: serialization.format is set and wins",
        ),
        accepted(Rule::SnkW4, git(format("yaml"))),
        accepted(Rule::SnkW4, bucket(json!({}))),
        refused(
            Rule::SnkW4,
            git(json!({})),
            "spec.serialization.format: not given: documents are written as YAML",
        ),
        accepted(Rule::SnkW5, git(path("{namespace}/{name}.json", "json"))),
        accepted(Rule::SnkW5, git(path("{namespace}/{name}{extension}", "yaml"))),
        refused(
            Rule::SnkW5,
            git(path("{namespace}/{name}.json", "yaml")),
            "spec.pathTemplate: ends in .json, and the format is yaml",
        ),
        refused(
            Rule::SnkW5,
            git(json!({ "pathTemplate": "{namespace}/{name}.json" })),
            "spec.pathTemplate: ends in .json, and the format is yaml",
        ),
        refused(
            Rule::SnkW5,
            bucket(path("{namespace}/{name}.json", "csv")),
            "spec.pathTemplate: ends in .json, and the format is csv",
        ),
    ]
}

fn layouts() -> Vec<Case> {
    let layout = |layout: Value| git(json!({ "layout": layout }));
    vec![
        accepted(Rule::SnkW6, layout(json!({ "content": "item" }))),
        refused(
            Rule::SnkW6,
            layout(json!({ "content": "manifest" })),
            "spec.layout.content: needs profiles with export.mode Resource",
        ),
        accepted(Rule::SnkW7, layout(json!({ "mode": "document" }))),
        refused(
            Rule::SnkW7,
            layout(json!({ "mode": "perResource" })),
            "spec.layout.mode: files of objects that are gone will be deleted",
        ),
        refused(
            Rule::SnkW7,
            layout(json!({ "mode": "split" })),
            "spec.layout.mode: files of objects that are gone will be deleted",
        ),
    ]
}

fn without_effect() -> Vec<Case> {
    let gzip = json!({ "serialization": { "compression": "gzip" } });
    let template = json!({ "pathTemplate": "{namespace}/{name}" });
    let parquet = json!({ "serialization": { "format": "parquet" } });
    let file = json!({ "type": "file", "file": { "path": "/srv" }, "secretRef": { "name": "x" } });
    vec![
        accepted(Rule::SnkW9, bucket(gzip.clone())),
        accepted(Rule::SnkW9, git(json!({ "serialization": { "compression": "none" } }))),
        refused(
            Rule::SnkW9,
            git(gzip),
            "spec.serialization.compression: has no effect on type git",
        ),
        refused(
            Rule::SnkW9,
            git(json!({ "provisioning": { "mode": "ensure" } })),
            "spec.provisioning.mode: has no effect on type git",
        ),
        refused(
            Rule::SnkW9,
            git(json!({ "git": { "engine": "cli" } })),
            "spec.git.engine: has no effect: there is one built-in engine",
        ),
        accepted(Rule::SnkW9, git(json!({ "git": { "engine": "go-git" } }))),
        refused(
            Rule::SnkW9,
            postgres(template.clone()),
            "spec.pathTemplate: has no effect on type postgres",
        ),
        refused(
            Rule::SnkW9,
            postgres(json!({ "endpoint": "http://127.0.0.1" })),
            "spec.endpoint: has no effect on type postgres",
        ),
        refused(
            Rule::SnkW9,
            bucket(with(template, parquet)),
            "spec.pathTemplate: has no effect on type s3",
        ),
        refused(
            Rule::SnkW9,
            object(Kind::SnapshotSink, "disk", file),
            "spec.secretRef: has no effect on type file",
        ),
    ]
}

fn safety() -> Vec<Case> {
    let push = |policy: &str| git(json!({ "git": { "pushPolicy": policy } }));
    let skip = |skip: bool| git(json!({ "tls": { "insecureSkipVerify": skip } }));
    vec![
        accepted(Rule::SnkW8, push("Commit")),
        refused(
            Rule::SnkW8,
            push("ForcePush"),
            "spec.git.pushPolicy: overwrites the branch, commits of others included",
        ),
        accepted(Rule::SnkW10, skip(false)),
        refused(
            Rule::SnkW10,
            skip(true),
            "spec.tls.insecureSkipVerify: certificates are not checked: anyone on the way can read and alter the data",
        ),
    ]
}
