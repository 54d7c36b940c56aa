//! A hundred targets of which ten are broken, each in its own way.

use serde_json::{Value, json};

use super::support::Scene;

const GOOD: usize = 90;

/// A broken target: its name, what its profile and it say, and what it must
/// say of itself.
struct Broken {
    name: &'static str,
    profile: Value,
    target: Value,
    reason: &'static str,
    words: &'static str,
}

fn maps() -> Value {
    json!({
        "targetGVK": {"version": "v1", "kind": "ConfigMap"},
        "attributes": [{"name": "value", "path": "$.data.value"}],
    })
}

fn of_kind(group: &str, version: &str, kind: &str) -> Value {
    json!({
        "targetGVK": {"group": group, "version": version, "kind": kind},
        "attributes": [{"name": "value", "path": "$.metadata.name"}],
    })
}

fn reading(path: &str) -> Value {
    json!({
        "targetGVK": {"version": "v1", "kind": "ConfigMap"},
        "attributes": [{"name": "value", "path": path}],
    })
}

fn broken() -> Vec<Broken> {
    let one =
        |name, profile, target, reason, words| Broken { name, profile, target, reason, words };
    vec![
        one("no-profile", Value::Null, json!({}), "ProfileNotFound", "no-profile"),
        one(
            "no-kind",
            of_kind("nowhere.example", "v1", "Thing"),
            json!({}),
            "InformerRegistrationFailed",
            "nowhere.example",
        ),
        one(
            "no-version",
            of_kind("", "v9", "ConfigMap"),
            json!({}),
            "InformerRegistrationFailed",
            "v9",
        ),
        one("no-value", reading("$.data.value[0]"), json!({}), "ExtractionFailed", "value"),
        one("no-path", reading("$.data["), json!({}), "InvalidSpec", "path"),
        one("no-cel", reading("cel:object.data +"), json!({}), "InvalidSpec", "value"),
        one("suspended", maps(), json!({"suspend": true}), "Suspended", "spec.suspend"),
        one("kind", of_kind("", "v1", "Service"), json!({}), "ScopeGVKDenied", "Service"),
        one(
            "namespace",
            maps(),
            json!({"includedNamespaces": ["kube-system"]}),
            "ScopeNamespaceDenied",
            "kube-system",
        ),
        one(
            "rule",
            maps(),
            json!({"resourceRules": [{
                "gvk": {"version": "v1", "kind": "ConfigMap"}, "matchPolicy": "object.kind +",
            }]}),
            "InvalidSpec",
            "matchPolicy",
        ),
    ]
}

#[test]
fn ninety_work_and_ten_say_exactly_what_is_wrong() {
    let Some(scene) = Scene::new("hundred") else { return };
    let _operator = scene.operator();
    scene.put("a", "1");
    scene.basics();
    let ours = |kind: &str, name: &str, spec: &Value| {
        json!({
            "apiVersion": "kollect.dev/v1alpha1", "kind": kind, "spec": spec,
            "metadata": {"name": name, "namespace": scene.namespace},
        })
    };
    let allowed =
        [("", "v1", "ConfigMap"), ("", "v9", "ConfigMap"), ("nowhere.example", "v1", "Thing")];
    let allowed: Vec<_> = allowed
        .iter()
        .map(|(group, version, kind)| json!({"group": group, "version": version, "kind": kind}))
        .collect();
    let scope = json!({"allowedGVKs": allowed, "deniedNamespaces": ["kube-system"]});
    let mut items = vec![ours("KollectScope", "s", &scope)];
    for number in 0..GOOD {
        items.push(ours("KollectTarget", &format!("good-{number}"), &json!({"profileRef": "p"})));
    }
    for Broken { name, profile, target, .. } in broken() {
        if !profile.is_null() {
            items.push(ours("KollectProfile", name, &profile));
        }
        let mut spec = target;
        spec["profileRef"] = json!(name);
        items.push(ours("KollectTarget", name, &spec));
    }
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    scene.cluster.apply(&list.to_string());
    for number in 0..GOOD {
        scene.has(&format!("good-{number}"), &["a=1"]);
    }
    for Broken { name, reason, words, .. } in broken() {
        scene.says(("kollecttarget", name), "Degraded", &format!("True {reason}"));
        let path = "{.status.conditions[?(@.type==\"Degraded\")].message}";
        let message = scene.field(("kollecttarget", name), path);
        assert!(message.contains(words), "{name} says: {message}");
    }
    scene.says(("kollectinventory", "i"), "Synced", "True Exported");
    scene.put("a", "2");
    for number in 0..GOOD {
        scene.has(&format!("good-{number}"), &["a=2"]);
    }
}
