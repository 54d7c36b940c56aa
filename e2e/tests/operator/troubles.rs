//! What is broken says so, and stops nobody else.

use serde_json::json;

use super::support::Scene;

#[test]
fn broken_targets_say_what_is_wrong_and_the_others_work() {
    let Some(scene) = Scene::new("troubles") else { return };
    let _operator = scene.operator();
    scene.put("a", "1");
    scene.basics();
    scene.apply("KollectTarget", "no-profile", json!({"profileRef": "nope"}));
    scene.apply(
        "KollectProfile",
        "no-kind",
        json!({
            "targetGVK": {"group": "nowhere.example", "version": "v1", "kind": "Thing"},
            "attributes": [{"name": "value", "path": "$.x"}],
        }),
    );
    scene.apply("KollectTarget", "no-kind", json!({"profileRef": "no-kind"}));
    scene.apply(
        "KollectProfile",
        "failing",
        json!({
            "targetGVK": {"version": "v1", "kind": "ConfigMap"},
            "attributes": [{"name": "value", "path": "$.data.value[0]"}],
        }),
    );
    scene.apply("KollectTarget", "failing", json!({"profileRef": "failing"}));
    scene.apply(
        "KollectInventory",
        "i",
        json!({
            "databaseSinkRefs": [{"name": "rows"}, {"name": "missing"}],
        }),
    );
    scene.has("t", &["a=1"]);
    for (target, reason) in [
        ("no-profile", "True ProfileNotFound"),
        ("no-kind", "True InformerRegistrationFailed"),
        ("failing", "True ExtractionFailed"),
    ] {
        scene.says(("kollecttarget", target), "Degraded", reason);
    }
    scene.says(("kollecttarget", "t"), "Ready", "True Collecting");
    scene.says(("kollectinventory", "i"), "Synced", "False PartiallySynced");
    scene.says(("kollectinventory", "i"), "SinkReachable", "False SinkNotFound");
    scene.put("a", "2");
    scene.has("t", &["a=2"]);
    // What was missing comes, and all is well.
    scene.apply(
        "KollectDatabaseSink",
        "missing",
        json!({
            "type": "sqlite", "sqlite": {"path": "others.db"},
        }),
    );
    scene.says(("kollectinventory", "i"), "Synced", "True Exported");
}

#[test]
fn a_profile_that_is_replaced_or_broken_deletes_nothing() {
    // R3, trace 12.
    let Some(scene) = Scene::new("replaced") else { return };
    let _operator = scene.operator();
    scene.put("a", "1");
    scene.basics();
    scene.has("t", &["a=1"]);
    scene.delete("kollectprofile", "p");
    scene.says(("kollecttarget", "t"), "Degraded", "True ProfileNotFound");
    assert_eq!(scene.rows("t"), ["a=1"]);
    // What was understood last goes on.
    scene.put("b", "1");
    scene.has("t", &["a=1", "b=1"]);
    scene.apply(
        "KollectProfile",
        "p",
        json!({
            "targetGVK": {"version": "v1", "kind": "ConfigMap"},
            "attributes": [{"name": "value", "path": "$.data.value"}],
        }),
    );
    scene.says(("kollecttarget", "t"), "Ready", "True Collecting");
    scene.has("t", &["a=1", "b=1"]);
}
