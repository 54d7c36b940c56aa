//! What is secret, wherever people put it.

use serde_json::{Value, json};

use super::super::ground::ours;

/// What must be seen nowhere.
pub(super) const CANARY: &str = "wW7kQ2canaryZ9x4";

/// Objects that hold what is secret, and targets that copy them whole.
pub(super) fn canaries(place: &str) -> Vec<Value> {
    let whole =
        |kind: Value| json!({"targetGVK": kind, "export": {"mode": "Resource", "as": "resource"}});
    let meta = |name: &str| json!({"name": name, "namespace": place});
    let mut settings = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": meta("settings"),
        "data": {
            "db.password": CANARY,
            "url": format!("postgres://somebody:{CANARY}@db.example/rows"),
        },
    });
    settings["metadata"]["annotations"] = json!({"example.org/api-token": CANARY});
    let container = json!({
        "name": "web", "image": "web:1",
        "env": [{"name": "DB_PASSWORD", "value": CANARY}],
        "args": [format!("--token={CANARY}")],
    });
    let web = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta("web"),
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]},
            },
        },
    });
    let dsn = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": meta("dsn"),
        "stringData": {"dsn": format!("postgres://somebody:{CANARY}@127.0.0.1:1/rows")},
    });
    let sink = json!({
        "type": "postgres", "postgres": {"databaseRef": {"name": "dsn"}, "table": "rows"},
    });
    let target = |name: &str| {
        let spec = json!({"profileRef": name, "includedNamespaces": [place]});
        ours("KollectTarget", place, name, spec)
    };
    vec![
        settings,
        web,
        dsn,
        ours("KollectProfile", place, "maps", whole(json!({"version": "v1", "kind": "ConfigMap"}))),
        ours(
            "KollectProfile",
            place,
            "works",
            whole(json!({"group": "apps", "version": "v1", "kind": "Deployment"})),
        ),
        target("maps"),
        target("works"),
        ours("KollectDatabaseSink", place, "lost", sink),
        ours("KollectInventory", place, "lost", json!({"databaseSinkRefs": [{"name": "lost"}]})),
    ]
}
