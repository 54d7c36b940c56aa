//! What the page of metrics says while things change.

use std::net::SocketAddr;

use serde_json::json;

use super::{
    super::{
        client::{Trust, get},
        support::{Scene, until},
    },
    METRICS,
};

/// Waits until the page has a line that begins like this and ends with that.
#[track_caller]
#[cfg(test)]
fn has(scene: &Scene, address: SocketAddr, (name, label): (&str, &str), value: &str) {
    let page = || get(address, "/metrics", &Trust::Plain, None).map(|(_, page)| page);
    let is_it = |line: &str| {
        line.starts_with(name) && line.contains(label) && line.ends_with(&format!(" {value}"))
    };
    let found = until(|| page().ok()?.lines().any(is_it).then_some(()));
    assert!(found.is_some(), "{name} {label} is not {value}: {:?}; {}", page(), scene.log());
}

/// Waits until no line of the page holds this.
#[track_caller]
#[cfg(test)]
fn lacks(scene: &Scene, address: SocketAddr, text: &str) {
    let page = || get(address, "/metrics", &Trust::Plain, None).map(|(_, page)| page);
    let found = until(|| (!page().ok()?.contains(text)).then_some(()));
    assert!(found.is_some(), "{text} is still there: {:?}; {}", page(), scene.log());
}

#[test]
fn the_page_follows_rows_profiles_and_targets() {
    let Some(scene) = Scene::new("metrics") else { return };
    let _operator = scene.operator_with(&[METRICS, "--metrics-secure=false"]);
    scene.put("a", "1");
    scene.put("b", "2.5");
    scene.basics();
    scene.has("t", &["a=1", "b=2.5"]);
    let address = scene.address(1, "metrics");
    let namespace = format!("profile_namespace=\"{}\"", scene.namespace);
    let value = ("kollect_custom_resource_series{", "series=\"value\"");
    has(&scene, address, value, "3.5");
    has(&scene, address, ("kollect_custom_resource_series{", &namespace), "3.5");
    has(&scene, address, ("kollect_target_ready{", "target_name=\"t\""), "1");
    has(&scene, address, ("kollect_watermark_lag_seconds{", "sink=\"rows\""), "0");
    has(&scene, address, ("kollect_sink_connection_test_total{", "type=\"sqlite\""), "1");
    has(&scene, address, ("kollect_build_info{", ""), "1");
    scene.put("a", "4");
    has(&scene, address, value, "6.5");
    scene.delete("configmap", "b");
    has(&scene, address, value, "4");
    // Another profile has other series.
    scene.apply(
        "KollectProfile",
        "p",
        json!({
            "targetGVK": {"version": "v1", "kind": "ConfigMap"},
            "attributes": [{"name": "size", "path": "$.data.value"}],
        }),
    );
    has(&scene, address, ("kollect_custom_resource_series{", "series=\"size\""), "4");
    lacks(&scene, address, "series=\"value\"");
    scene.delete("kollecttarget", "t");
    lacks(&scene, address, "target_name=\"t\"");
    lacks(&scene, address, "series=\"size\"");
}
