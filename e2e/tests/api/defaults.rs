//! What the server writes into objects, and what it leaves alone.

use e2e::cluster;
use kollect_testenv::ControlPlane;
use serde_json::{Value, json};

fn stored(cluster: &ControlPlane, kind: &str, name: &str, namespace: &str) -> Value {
    let text = cluster.kubectl(["get", kind, name, "-n", namespace, "-o", "json"]).stdout();
    serde_json::from_str::<Value>(&text).unwrap_or_default()["spec"].clone()
}

#[test]
fn the_server_writes_the_schema_defaults_and_no_others() {
    let Some(cluster) = cluster() else { return };
    let namespace = cluster.namespace("defaults");
    let objects = include_str!("../../../fixtures/one-of-each.yaml");
    let objects = objects.replace("one-of-each", &namespace).replace("NAMESPACE", &namespace);
    cluster.apply(&objects);
    let of = |kind: &str, name: &str| stored(cluster, kind, name, &namespace);
    assert_eq!(
        of("kprof", "images")["export"],
        json!({"mode": "Attributes", "as": "resource", "include": "SpecAndStatus"})
    );
    assert_eq!(of("ktgt", "web"), json!({"profileRef": "images", "watchMode": "All"}));
    assert_eq!(of("kscope", "ceiling"), json!({}));
    assert_eq!(
        of("kinv", "all"),
        json!({
            "snapshotSinkRefs": ["copies"],
            "databaseSinkRefs": [{"name": "rows"}],
            "exportMinInterval": "30s",
        })
    );
    assert_eq!(
        of("kcinv", &namespace),
        json!({
            "namespaces": ["shop"],
            "exportMinInterval": "30s",
            "sinkNamespace": "kollect-system",
            "dedupe": "keepAll",
        })
    );
    assert_eq!(
        of("kconntest", "probe"),
        json!({"sinkRef": {"databaseSinkRef": "rows"}, "ttlSecondsAfterFinished": 300})
    );
    // Neither a layout nor a connection test is decided by the schema.
    assert_eq!(
        of("ksnap", "copies"),
        json!({"type": "file", "file": {"path": "/var/lib/kollect"}, "layout": {}})
    );
}

#[test]
fn a_null_is_dropped_by_a_plain_write_and_refused_by_server_side_apply() {
    let Some(cluster) = cluster() else { return };
    let namespace = cluster.namespace("nulls");
    let target = |name: &str| {
        format!(
            "{{apiVersion: kollect.dev/v1alpha1, kind: KollectTarget, \
              metadata: {{name: {name}, namespace: {namespace}, creationTimestamp: null}}, \
              spec: {{profileRef: images, watchMode: null, suspend: null}}}}"
        )
    };
    cluster.kubectl(["create", "-f", "-"]).stdin(target("plain")).stdout();
    let spec = stored(cluster, "ktgt", "plain", &namespace);
    assert_eq!(spec, json!({"profileRef": "images", "watchMode": "All"}));
    let apply = cluster.kubectl(["apply", "--server-side", "-f", "-"]).stdin(target("applied"));
    let outcome = apply.run().unwrap_or_else(|error| panic!("kubectl did not run: {error}"));
    let expected = "spec.suspend in body must be of type boolean";
    assert!(outcome.stderr.contains(expected), "{outcome:?}");
    assert!(!outcome.stderr.contains("watchMode"), "{outcome:?}");
}
