use kollect_sandbox::{Denial, DenialScope};
use serde_json::{Value, json};

use super::support::Scene;

/// A profile of widgets that asks for these series.
fn profile(metrics: Value) -> Value {
    json!({
        "targetGVK": {"group": "shop.example", "version": "v1", "kind": "Widget"},
        "attributes": [
            {"name": "size", "path": "$.spec.size"},
            {"name": "colour", "path": "$.spec.colour"},
        ],
        "metrics": metrics,
    })
}

/// A profile, a target, and an inventory with one sink that is there and one
/// that is not.
fn basics(scene: &Scene) {
    scene.widget("a", json!(2), "red");
    scene.widget("b", json!("3"), "blue");
    scene.apply("KollectProfile", "p", profile(json!([])));
    scene.apply("KollectTarget", "t", json!({"profileRef": "p"}));
    scene.apply("KollectSnapshotSink", "copy", json!({"type": "file", "file": {"path": "out"}}));
    let sinks = json!([{"name": "copy"}, {"name": "missing"}]);
    scene.apply("KollectInventory", "i", json!({"snapshotSinkRefs": sinks}));
}

const OF: &str = r#"profile_namespace="shop",profile="p",gvk="shop.example/v1/Widget""#;
const PAIR: &str = r#"{inventory_namespace="shop",inventory_name="i",sink_family="snapshot",sink_namespace="shop",sink="copy"}"#;
const WIDGETS: &str = r#"{group="shop.example",version="v1",resource="widgets"}"#;

#[tokio::test]
async fn an_operator_counts_what_it_does_and_says_how_things_are() {
    Scene::play(async |scene| {
        basics(scene);
        scene
            .shows(&[
                "kollect_collect_items_total 2",
                "kollect_inventory_items_total 2",
                r#"kollect_inventory_snapshot_items{inventory_namespace="shop",inventory_name="i"} 2"#,
                r#"kollect_target_ready{target_namespace="shop",target_name="t",profile="p"} 1"#,
                r#"kollect_target_partitions{target_namespace="shop",target_name="t",state="covered"} 5"#,
                r#"kollect_target_partitions{target_namespace="shop",target_name="t",state="uncovered"} 0"#,
                r#"kollect_reconcile_errors_total{kind="KollectInventory",error_class="terminal"} 1"#,
                r#"kollect_sink_circuit_open{family="snapshot",namespace="shop",name="copy"} 0"#,
                &format!("kollect_watermark_lag_seconds{PAIR} 0"),
                &format!("kollect_informer_cluster_wide_scope{WIDGETS} 1"),
                &format!("kollect_inventory_last_success_timestamp_seconds{PAIR} *"),
                &format!("kollect_watch_objects_total{WIDGETS} *"),
                &format!("kollect_watch_lists_total{WIDGETS} *"),
                r#"kollect_export_bytes_total{sink_type="file"} *"#,
                r#"kollect_export_duration_seconds_count{sink_type="file"} *"#,
                r#"kollect_reconcile_total{controller="kollecttarget",result="success"} *"#,
                r#"kollect_static_ref_resolution_total{kind="KollectInventory",ref_type="snapshot",result="not_found"} *"#,
                r#"kollect_access_cache_total{result="miss"} *"#,
                "kollect_collect_dispatch_duration_seconds_count *",
            ])
            .await;
        assert!(scene.has_copies());
        scene.is_silent_of(&["kollect_target_uncovered_partitions{"]).await;
        let denial = Denial::read("shop.example", "widgets", DenialScope::Everywhere);
        scene.sandbox.deny(denial.clone());
        scene
            .shows(&[
                r#"kollect_target_uncovered_partitions{target_namespace="shop",target_name="t",reason="forbidden"} 5"#,
                r#"kollect_target_partitions{target_namespace="shop",target_name="t",state="covered"} 0"#,
                r#"kollect_reconcile_errors_total{kind="KollectTarget",error_class="forbidden"} 1"#,
                "kollect_collect_items_total 2",
            ])
            .await;
        assert!(scene.sandbox.allow(&denial));
        scene.is_silent_of(&["kollect_target_uncovered_partitions{"]).await;
    })
    .await;
}

#[tokio::test]
async fn profile_metrics_follow_rows_profiles_and_targets() {
    Scene::play(async |scene| {
        basics(scene);
        let sum = |series: &str, value: &str| {
            format!("kollect_custom_resource_series{{{OF},series=\"{series}\"}} {value}")
        };
        scene.shows(&[&sum("object_count", "2"), &sum("size", "5")]).await;
        scene.widget("a", json!(10.5), "red");
        scene.shows(&[&sum("size", "13.5")]).await;
        let listed = json!([{"name": "by", "path": "size", "labels": ["colour"]}]);
        scene.apply("KollectProfile", "p", profile(listed));
        let by = |colour: &str, value: &str| {
            let labels = format!("{OF},series=\"by\",colour=\"{colour}\"");
            format!("kollect_custom_resource_labeled_series{{{labels}}} {value}")
        };
        scene.shows(&[&by("red", "10.5"), &by("blue", "3")]).await;
        scene.is_silent_of(&["series=\"size\""]).await;
        // A second target has the same objects in rows of its own.
        scene.apply("KollectTarget", "u", json!({"profileRef": "p"}));
        scene.shows(&[&sum("object_count", "4"), &by("red", "21")]).await;
        assert!(scene.sandbox.delete("kollect.dev", "kollecttargets", Some("shop"), "u"));
        scene.shows(&[&sum("object_count", "2"), &by("red", "10.5")]).await;
        scene.is_silent_of(&["target_name=\"u\""]).await;
        assert!(scene.sandbox.delete("shop.example", "widgets", Some("shop"), "a"));
        scene.is_silent_of(&["colour=\"red\""]).await;
        scene.apply("KollectTarget", "t", json!({"profileRef": "p", "suspend": true}));
        scene.is_silent_of(&["profile_namespace="]).await;
    })
    .await;
}
