//! From manifests to rows, and back to nothing.

use serde_json::json;

use super::support::Scene;

const INVENTORY: (&str, &str) = ("kollectinventory", "i");

#[test]
fn rows_come_change_and_go_with_their_objects_targets_and_inventories() {
    let Some(scene) = Scene::new("basics") else { return };
    let operator = scene.operator();
    scene.put("a", "1");
    scene.basics();
    scene.has("t", &["a=1"]);
    scene.says(INVENTORY, "Synced", "True Exported");
    scene.says(("kollecttarget", "t"), "Ready", "True Collecting");
    scene.put("b", "1");
    scene.put("a", "2");
    scene.has("t", &["a=2", "b=1"]);
    scene.delete("configmap", "a");
    scene.has("t", &["b=1"]);
    // An edited profile takes effect by itself.
    scene.apply(
        "KollectProfile",
        "p",
        json!({
            "targetGVK": {"version": "v1", "kind": "ConfigMap"},
            "attributes": [{"name": "value", "path": "$.metadata.name"}],
        }),
    );
    scene.has("t", &["b=b"]);
    scene.apply("KollectTarget", "u", json!({"profileRef": "p"}));
    scene.has("u", &["b=b"]);
    // What upstream has put on a target does not hold it.
    let patch = r#"{"metadata":{"finalizers":["kollect.dev/target-cleanup"]}}"#;
    let namespace = &scene.namespace;
    let patched = ["patch", "kollecttarget", "t", "-n", namespace, "--type=merge", "-p", patch];
    scene.cluster.kubectl(patched).stdout();
    scene.delete("kollecttarget", "t");
    scene.has("t", &[]);
    scene.has("u", &["b=b"]);
    scene.delete("kollectinventory", "i");
    scene.has("u", &[]);
    assert_eq!(operator.stop(), Some(0));
}

#[test]
fn what_is_suspended_stops_and_goes_on() {
    let Some(scene) = Scene::new("suspended") else { return };
    let _operator = scene.operator();
    scene.put("a", "1");
    scene.basics();
    scene.has("t", &["a=1"]);
    scene.apply(
        "KollectInventory",
        "i",
        json!({"databaseSinkRefs": [{"name": "rows"}], "suspend": true}),
    );
    scene.says(INVENTORY, "Degraded", "True Suspended");
    scene.put("a", "2");
    scene.says(("kollecttarget", "t"), "Ready", "True Collecting");
    assert_eq!(scene.rows("t"), ["a=1"]);
    scene.apply("KollectInventory", "i", json!({"databaseSinkRefs": [{"name": "rows"}]}));
    scene.has("t", &["a=2"]);
    scene.apply("KollectTarget", "t", json!({"profileRef": "p", "suspend": true}));
    scene.has("t", &[]);
    scene.says(("kollecttarget", "t"), "Degraded", "True Suspended");
}
