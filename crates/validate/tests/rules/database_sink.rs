//! Databases.

use kollect_validate::{Kind, Rule};
use serde_json::{Value, json};

use super::support::{Case, accepted, object, refused};

fn sink(spec: Value) -> Value {
    object(Kind::DatabaseSink, "ledger", spec)
}

fn postgres(table: &str) -> Value {
    json!({ "databaseRef": { "name": "dsn" }, "table": table })
}

pub(crate) fn cases() -> Vec<Case> {
    [blocks(), texts()].concat()
}

fn blocks() -> Vec<Case> {
    let sqlite = json!({ "path": "/srv/rows.db" });
    vec![
        accepted(Rule::Dsk01, sink(json!({ "type": "postgres", "postgres": postgres("rows") }))),
        accepted(Rule::Dsk01, sink(json!({ "type": "sqlite", "sqlite": sqlite }))),
        refused(
            Rule::Dsk01,
            sink(json!({ "type": "postgres" })),
            "spec.postgres: Required value: type postgres needs this block",
        ),
        refused(
            Rule::Dsk01,
            sink(json!({ "type": "mongodb", "postgres": postgres("rows") })),
            "spec.postgres: Forbidden: this block is not for type mongodb",
        ),
        refused(
            Rule::Dsk01,
            sink(json!({ "type": "postgres", "postgres": postgres("rows"), "sqlite": sqlite })),
            "spec.sqlite: Forbidden: this block is not for type postgres",
        ),
    ]
}

fn texts() -> Vec<Case> {
    let bigquery = |project: &str, dataset: &str, table: &str| {
        let block = json!({ "project": project, "dataset": dataset, "table": table });
        sink(json!({ "type": "bigquery", "bigquery": block }))
    };
    let mongodb = |database: &str, collection: &str| {
        let block = json!({
            "databaseRef": { "name": "uri" }, "database": database, "collection": collection,
        });
        sink(json!({ "type": "mongodb", "mongodb": block }))
    };
    vec![
        accepted(Rule::Dsk02, bigquery("p", "d", "t")),
        accepted(Rule::Dsk02, mongodb("d", "c")),
        refused(
            Rule::Dsk02,
            bigquery(" ", "d", "t"),
            "spec.bigquery.project: Required value: must not be blank",
        ),
        refused(
            Rule::Dsk02,
            bigquery("p", "", "t"),
            "spec.bigquery.dataset: Required value: must not be blank",
        ),
        refused(
            Rule::Dsk02,
            bigquery("p", "d", "\t"),
            "spec.bigquery.table: Required value: must not be blank",
        ),
        refused(
            Rule::Dsk02,
            mongodb(" ", "c"),
            "spec.mongodb.database: Required value: must not be blank",
        ),
        refused(
            Rule::Dsk02,
            mongodb("d", ""),
            "spec.mongodb.collection: Required value: must not be blank",
        ),
        refused(
            Rule::Dsk02,
            sink(json!({ "type": "postgres", "postgres": postgres(" ") })),
            "spec.postgres.table: Required value: must not be blank",
        ),
        refused(
            Rule::Dsk02,
            sink(json!({ "type": "postgres", "postgres": { "table": "rows" } })),
            "spec.postgres.databaseRef: Required value: Secret with the connection string, under `dsn`, `url`, `connectionString` or `DATABASE_URL`",
        ),
        refused(
            Rule::Dsk02,
            sink(json!({ "type": "postgres", "postgres": { "databaseRef": { "name": "dsn" } } })),
            "spec.postgres.table: Required value: Table that holds the rows",
        ),
    ]
}
