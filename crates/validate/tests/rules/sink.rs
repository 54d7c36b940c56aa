//! What all sinks have in common.

use kollect_validate::{Kind, Rule};
use serde_json::{Value, json};

use super::support::{Case, accepted, object, refused};

/// A Git sink with further fields.
fn git(fields: Value) -> Value {
    let mut spec = json!({ "type": "git", "endpoint": "https://git.example.org/shop/audit.git" });
    for (name, value) in fields.as_object().into_iter().flatten() {
        spec[name] = value.clone();
    }
    object(Kind::SnapshotSink, "audit", spec)
}

/// A bucket with further fields.
fn bucket(fields: Value) -> Value {
    let mut sink = git(fields);
    sink["spec"]["type"] = json!("s3");
    sink["spec"]["endpoint"] = json!("s3://bucket/prefix");
    sink
}

/// A Postgres sink with further fields.
fn postgres(fields: Value) -> Value {
    let block = json!({ "databaseRef": { "name": "dsn" }, "table": "rows" });
    let mut spec = json!({ "type": "postgres", "postgres": block });
    for (name, value) in fields.as_object().into_iter().flatten() {
        spec[name] = value.clone();
    }
    object(Kind::DatabaseSink, "ledger", spec)
}

pub(crate) fn cases() -> Vec<Case> {
    [
        types(),
        document_paths(),
        object_paths(),
        intervals(),
        encodings(),
        options(),
        limits(),
        layouts(),
        trust(),
        secrets(),
        names(),
    ]
    .concat()
}

fn types() -> Vec<Case> {
    let of = |kind, name: &str| object(kind, "x", json!({ "type": name, "nonsense": 1 }));
    let without = |kind| object(kind, "x", json!({ "nonsense": 1 }));
    vec![
        accepted(Rule::Snk01, git(json!({}))),
        accepted(Rule::Snk01, postgres(json!({}))),
        refused(
            Rule::Snk01,
            of(Kind::SnapshotSink, "azureblob"),
            r#"spec.type: Unsupported value: "azureblob": supported values: "git", "gitlab", "s3", "gcs", "file""#,
        ),
        refused(
            Rule::Snk01,
            of(Kind::SnapshotSink, ""),
            r#"spec.type: Unsupported value: "": supported values: "git", "gitlab", "s3", "gcs", "file""#,
        ),
        refused(
            Rule::Snk01,
            without(Kind::SnapshotSink),
            "spec.type: Required value: Kind of destination: `git`, `gitlab`, `s3`, `gcs`, or `file` for a directory or mounted volume",
        ),
        refused(
            Rule::Snk01,
            of(Kind::DatabaseSink, "git"),
            r#"spec.type: Unsupported value: "git": supported values: "postgres", "bigquery", "mongodb", "sqlite""#,
        ),
        refused(
            Rule::Snk01,
            without(Kind::DatabaseSink),
            "spec.type: Required value: Kind of database: `postgres`, `bigquery`, `mongodb`, or `sqlite` for a file",
        ),
        refused(
            Rule::Snk01,
            of(Kind::EventSink, "Kafka"),
            r#"spec.type: Unsupported value: "Kafka": supported values: "nats", "kafka""#,
        ),
        refused(
            Rule::Snk01,
            without(Kind::EventSink),
            "spec.type: Required value: Kind of stream: `nats` or `kafka`",
        ),
    ]
}

fn document_paths() -> Vec<Case> {
    let unsound = [
        (
            "/{namespace}/{name}",
            r#"spec.pathTemplate: Invalid value: "/{namespace}/{name}": must not begin with a slash"#,
        ),
        (
            "../{namespace}/{name}",
            r#"spec.pathTemplate: Invalid value: "../{namespace}/{name}": must not contain `..`"#,
        ),
        (
            "{namespace}.json",
            r#"spec.pathTemplate: Invalid value: "{namespace}.json": must contain {name}, or inventories would overwrite each other"#,
        ),
        (
            "{name}.json",
            r#"spec.pathTemplate: Invalid value: "{name}.json": must contain {namespace}, or inventories would overwrite each other"#,
        ),
        (
            "{namespace}/{name}/{uid}",
            r#"spec.pathTemplate: Invalid value: "{namespace}/{name}/{uid}": {uid} is no placeholder; known: cluster, namespace, name, generation, extension"#,
        ),
        (
            "{namespace}/{name}/{Cluster}",
            r#"spec.pathTemplate: Invalid value: "{namespace}/{name}/{Cluster}": {Cluster} is no placeholder; known: cluster, namespace, name, generation, extension"#,
        ),
        (" ", r#"spec.pathTemplate: Invalid value: " ": must not be blank"#),
    ];
    let unsound = unsound.map(|(template, says)| {
        refused(Rule::Snk02, git(json!({ "pathTemplate": template })), says)
    });
    let index =
        |template: &str| git(json!({ "layout": { "index": { "pathTemplate": template } } }));
    let more = [
        accepted(
            Rule::Snk02,
            git(json!({ "pathTemplate": "{cluster}/{namespace}/{name}.{generation}{extension}" })),
        ),
        accepted(Rule::Snk02, index("index/{namespace}-{name}.yaml")),
        refused(
            Rule::Snk02,
            index("index.yaml"),
            r#"spec.layout.index.pathTemplate: Invalid value: "index.yaml": must contain {namespace}, or inventories would overwrite each other"#,
        ),
    ];
    unsound.into_iter().chain(more).collect()
}

fn object_paths() -> Vec<Case> {
    let of = |template: &str| git(json!({ "layout": { "pathTemplate": template } }));
    vec![
        accepted(
            Rule::Snk03,
            of("{cluster}/{group}/{kind}/{sourceNamespace}/{sourceName}{extension}"),
        ),
        accepted(Rule::Snk03, of("{targetNamespace}/{targetName}/{uid}.yaml")),
        refused(
            Rule::Snk03,
            of("{kind}/../{sourceName}"),
            r#"spec.layout.pathTemplate: Invalid value: "{kind}/../{sourceName}": must not contain `..`"#,
        ),
        refused(
            Rule::Snk03,
            of("{kind}/{name}.yaml"),
            r#"spec.layout.pathTemplate: Invalid value: "{kind}/{name}.yaml": must contain {sourceName} or {uid}, or objects would overwrite each other"#,
        ),
        refused(
            Rule::Snk03,
            of("{sourceName}/{labels}"),
            r#"spec.layout.pathTemplate: Invalid value: "{sourceName}/{labels}": {labels} is no placeholder; known: cluster, namespace, name, targetNamespace, targetName, sourceNamespace, sourceName, group, kind, uid, generation, extension"#,
        ),
        refused(
            Rule::Snk03,
            of(""),
            r#"spec.layout.pathTemplate: Invalid value: "": must not be blank"#,
        ),
    ]
}

fn intervals() -> Vec<Case> {
    let every = |interval: &str| git(json!({ "exportMinInterval": interval }));
    let floor =
        |name: &str, floor: &str| object(Kind::Scope, name, json!({ "minExportInterval": floor }));
    vec![
        accepted(Rule::Snk04, every("0s")),
        accepted(Rule::Snk04, every("1m")).beside(floor("ceiling", "60s")),
        accepted(Rule::Snk04, git(json!({}))).beside(floor("ceiling", "60s")),
        refused(Rule::Snk04, every("25h"), r#"spec.exportMinInterval: Invalid value: "25h": must be between 0s and 24h"#),
        refused(Rule::Snk04, every("soon"), r#"spec.exportMinInterval: Invalid value: "soon": must be a duration such as 30s, 5m or 1h30m (units: ns, us, ms, s, m, h)"#),
        refused(Rule::Snk04, every("30s"), r#"spec.exportMinInterval: Invalid value: "30s": must be at least 1m, the minExportInterval of KollectScope a"#).beside(floor("z", "0s")).beside(floor("a", "1m")),
        refused(Rule::Snk04, postgres(json!({ "exportMinInterval": "0s" })), r#"spec.exportMinInterval: Invalid value: "0s": must be at least 1s, the minExportInterval of KollectScope ceiling"#)
            .beside(floor("ceiling", "1s")),
    ]
}

fn encodings() -> Vec<Case> {
    let parquet = |compression: &str| json!({ "serialization": { "format": "parquet", "compression": compression } });
    let format = |format: &str| json!({ "serialization": { "format": format } });
    vec![
        accepted(Rule::Snk07, git(format("ndjson"))),
        accepted(Rule::Snk07, bucket(format("csv"))),
        accepted(Rule::Snk07, bucket(parquet("zstd"))),
        refused(
            Rule::Snk07,
            git(format("csv")),
            r#"spec.serialization.format: Unsupported value: "csv": type git supports yaml, json, ndjson"#,
        ),
        refused(
            Rule::Snk07,
            bucket(format("yaml")),
            r#"spec.serialization.format: Unsupported value: "yaml": type s3 supports json, parquet, csv"#,
        ),
        refused(
            Rule::Snk07,
            postgres(format("yaml")),
            r#"spec.serialization.format: Unsupported value: "yaml": type postgres supports json"#,
        ),
        refused(
            Rule::Snk07,
            bucket(parquet("gzip")),
            r#"spec.serialization.compression: Unsupported value: "gzip": type s3 with format parquet supports none, snappy, zstd"#,
        ),
        refused(
            Rule::Snk07,
            bucket(json!({ "serialization": { "compression": "snappy" } })),
            r#"spec.serialization.compression: Unsupported value: "snappy": type s3 with format json supports none, gzip, zstd"#,
        ),
    ]
}

fn options() -> Vec<Case> {
    let option = |name: &str| bucket(json!({ "options": { name: "x" } }));
    vec![
        accepted(Rule::Snk08, option("sseKmsKeyId")),
        refused(
            Rule::Snk08,
            option("dbPassword"),
            "spec.options[dbPassword]: Forbidden: looks like a credential; put it into a Secret and name that in secretRef",
        ),
        refused(
            Rule::Snk08,
            option("SECRET_KEY"),
            "spec.options[SECRET_KEY]: Forbidden: looks like a credential; put it into a Secret and name that in secretRef",
        ),
        refused(
            Rule::Snk08,
            option("session.token"),
            "spec.options[session.token]: Forbidden: looks like a credential; put it into a Secret and name that in secretRef",
        ),
        refused(
            Rule::Snk08,
            option("credentials"),
            "spec.options[credentials]: Forbidden: looks like a credential; put it into a Secret and name that in secretRef",
        ),
    ]
}

fn limits() -> Vec<Case> {
    let cut =
        |length: i64| git(json!({ "layout": { "filename": { "maxSegmentLength": length } } }));
    vec![
        accepted(Rule::Snk09, cut(1)),
        accepted(Rule::Snk09, git(json!({ "git": { "cloneDepth": 1, "pushPolicy": "Commit" } }))),
        refused(
            Rule::Snk09,
            cut(0),
            "spec.layout.filename.maxSegmentLength: Invalid value: 0: must be at least 1",
        ),
        refused(
            Rule::Snk09,
            git(json!({ "git": { "cloneDepth": 0 } })),
            "spec.git.cloneDepth: Invalid value: 0: must be at least 1",
        ),
        refused(
            Rule::Snk09,
            git(json!({ "git": { "pushPolicy": "forcePush" } })),
            r#"spec.git.pushPolicy: Unsupported value: "forcePush": supported values: "Commit", "ForcePush""#,
        ),
        refused(
            Rule::Snk09,
            git(json!({ "serialization": { "format": "xml" } })),
            r#"spec.serialization.format: Unsupported value: "xml": supported values: "json", "yaml", "parquet", "csv", "ndjson""#,
        ),
        refused(
            Rule::Snk09,
            postgres(json!({ "provisioning": { "mode": "create" } })),
            r#"spec.provisioning.mode: Unsupported value: "create": supported values: "ensure", "existing""#,
        ),
        refused(
            Rule::Snk09,
            git(json!({ "layout": { "mode": "tree" } })),
            r#"spec.layout.mode: Unsupported value: "tree": supported values: "document", "perResource", "split""#,
        ),
    ]
}

fn layouts() -> Vec<Case> {
    vec![
        accepted(Rule::Snk10, git(json!({ "layout": { "mode": "document" } }))),
        refused(
            Rule::Snk10,
            bucket(json!({ "layout": {} })),
            "spec.layout: Forbidden: only the types git, gitlab and file write files; this is s3",
        ),
        refused(
            Rule::Snk10,
            postgres(json!({ "layout": { "mode": "split" } })),
            "spec.layout: Forbidden: only the types git, gitlab and file write files; this is postgres",
        ),
        accepted(Rule::Snk13, git(json!({ "provisioning": { "naming": { "template": " " } } }))),
        refused(
            Rule::Snk13,
            git(json!({ "provisioning": { "naming": { "template": "{namespace}-{name}" } } })),
            "spec.provisioning.naming.template: Forbidden: naming templates are not supported; name the destination in its own field",
        ),
    ]
}

fn trust() -> Vec<Case> {
    let of = |tls: Value| git(json!({ "tls": tls }));
    // "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"
    let pem = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1BPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=";
    vec![
        accepted(Rule::Snk11, of(json!({ "caBundle": pem }))),
        accepted(Rule::Snk11, of(json!({ "caSecretRef": { "name": "ca" } }))),
        refused(
            Rule::Snk11,
            of(json!({ "caBundle": pem, "caSecretRef": { "name": "ca" } })),
            "spec.tls.caBundle: Forbidden: caBundle and caSecretRef exclude each other",
        ),
        refused(
            Rule::Snk11,
            of(json!({ "caBundle": "not base64" })),
            r#"spec.tls.caBundle: Invalid value: "not base64": must be one or more PEM certificates, encoded in base64"#,
        ),
        refused(
            Rule::Snk11,
            of(json!({ "caBundle": "aGVsbG8=" })),
            r#"spec.tls.caBundle: Invalid value: "aGVsbG8=": must be one or more PEM certificates, encoded in base64"#,
        ),
        refused(
            Rule::Snk11,
            of(json!({ "caSecretRef": { "name": "" } })),
            "spec.tls.caSecretRef.name: Required value: the name of a Secret",
        ),
        refused(
            Rule::Snk11,
            of(json!({ "caSecretRef": {} })),
            "spec.tls.caSecretRef.name: Required value: Name of the Secret",
        ),
    ]
}

fn secrets() -> Vec<Case> {
    let of = |secret: Value| git(json!({ "secretRef": secret }));
    let foreign = || of(json!({ "name": "key", "namespace": "vault" }));
    let secret = |allowed: &str| {
        json!({ "kind": "Secret", "metadata": {
            "name": "key",
            "namespace": "vault",
            "annotations": { "kollect.dev/allow-sink-namespaces": allowed },
        } })
    };
    vec![
        accepted(Rule::Snk11, of(json!({ "name": "key" }))),
        refused(Rule::Snk11, of(json!({ "name": " " })), "spec.secretRef.name: Required value: the name of a Secret"),
        refused(Rule::Snk11, postgres(json!({ "postgres": { "databaseRef": { "name": "" }, "table": "t" } })), "spec.postgres.databaseRef.name: Required value: the name of a Secret"),
        accepted(Rule::SnkW13, of(json!({ "name": "key", "namespace": "shop" }))),
        accepted(Rule::SnkW13, of(json!({ "name": "key", "namespace": "" }))),
        accepted(Rule::SnkW13, foreign()).beside(secret("bank, shop")),
        accepted(Rule::SnkW13, foreign()).beside(secret("*")),
        refused(Rule::SnkW13, foreign(), "spec.secretRef.namespace: Secret vault/key must carry the annotation kollect.dev/allow-sink-namespaces with shop or *"),
        refused(Rule::SnkW13, foreign(), "spec.secretRef.namespace: Secret vault/key must carry the annotation kollect.dev/allow-sink-namespaces with shop or *").beside(secret("bank,shopping")),
        refused(
            Rule::SnkW13,
            postgres(json!({ "postgres": { "databaseRef": { "name": "dsn", "namespace": "vault" }, "table": "t" } })),
            "spec.postgres.databaseRef.namespace: Secret vault/dsn must carry the annotation kollect.dev/allow-sink-namespaces with shop or *",
        ),
    ]
}

fn names() -> Vec<Case> {
    let cluster = |name: &str| git(json!({ "cluster": name }));
    let mut cases = vec![
        accepted(Rule::Snk14, cluster("eu-1.Prod_a")),
        accepted(Rule::Snk14, cluster("")),
        refused(
            Rule::Snk14,
            cluster(&"x".repeat(64)),
            r#"spec.cluster: Invalid value: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx": must be at most 63 letters, digits, dots, underscores and dashes, and begin and end with a letter or digit"#,
        ),
    ];
    let unsound = [
        (
            "eu/1",
            r#"spec.cluster: Invalid value: "eu/1": must be at most 63 letters, digits, dots, underscores and dashes, and begin and end with a letter or digit"#,
        ),
        (
            "..",
            r#"spec.cluster: Invalid value: "..": must be at most 63 letters, digits, dots, underscores and dashes, and begin and end with a letter or digit"#,
        ),
        (
            "-eu",
            r#"spec.cluster: Invalid value: "-eu": must be at most 63 letters, digits, dots, underscores and dashes, and begin and end with a letter or digit"#,
        ),
        (
            "eu 1",
            r#"spec.cluster: Invalid value: "eu 1": must be at most 63 letters, digits, dots, underscores and dashes, and begin and end with a letter or digit"#,
        ),
    ];
    cases.extend(unsound.map(|(name, says)| refused(Rule::Snk14, cluster(name), says)));
    cases
}
