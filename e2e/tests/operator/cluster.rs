//! The kinds of the whole cluster.

use serde_json::{Value, json};

use super::ground::Ground;

const PLACE: (&str, &str) = ("platform", "rows.db");

fn ours(kind: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": kind,
        "metadata": {"name": name, "namespace": "platform"}, "spec": spec,
    })
}

fn namespace(name: &str, team: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": name, "labels": {"team": team}},
    })
}

fn map(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"value": "1"},
        "metadata": {"name": name, "namespace": namespace},
    })
}

fn target(name: &str, suspend: bool) -> Value {
    let mut target = ours(
        "KollectClusterTarget",
        name,
        json!({
            "profileRef": {"name": "maps", "namespace": "platform"}, "suspend": suspend,
            "namespaceSelector": {"matchLabels": {"team": "a"}},
        }),
    );
    target["metadata"]["namespace"] = Value::Null;
    target
}

fn rollup(spec: Value) -> Value {
    let mut rollup = ours("KollectClusterInventory", "all", spec);
    rollup["metadata"]["namespace"] = Value::Null;
    rollup
}

#[cfg(test)]
impl Ground {
    /// What the rollup says at a path.
    fn said(&self, path: &str) -> String {
        let path = format!("jsonpath={path}");
        self.plane.kubectl(["get", "kollectclusterinventory", "all", "-o", &path]).stdout()
    }

    #[track_caller]
    fn says(&self, path: &str, wanted: &str) {
        let found = super::support::until(|| (self.said(path) == wanted).then_some(()));
        assert!(
            found.is_some(),
            "wanted {wanted}, there is {}; {}",
            self.said("{.status}"),
            self.log()
        );
    }
}

#[test]
fn a_rollup_follows_namespaces_and_targets() {
    let Some(ground) = Ground::new() else { return };
    let _operator = ground.operator(ground.plane.kubeconfig(), &[]);
    ground.apply(&[namespace("platform", "p"), namespace("one", "a"), namespace("two", "b")]);
    ground.apply(&[map("one", "x"), map("two", "y")]);
    ground.apply(&[
        ours(
            "KollectProfile",
            "maps",
            json!({
                "targetGVK": {"version": "v1", "kind": "ConfigMap"},
                "attributes": [{"name": "value", "path": "$.data.value"}],
            }),
        ),
        ours(
            "KollectDatabaseSink",
            "rows",
            json!({"type": "sqlite", "sqlite": {"path": "rows.db"}}),
        ),
        target("first", false),
        target("second", false),
        rollup(json!({
            "namespaces": ["one", "two"], "sinkNamespace": "platform", "dedupe": "byResourceUID",
            "databaseSinkRefs": [{"name": "rows"}],
        })),
    ]);
    // Of two targets that have an object, the last one counts.
    ground.has(PLACE, &["cluster: second one/x"]);
    let synced = "{.status.conditions[?(@.type==\"Synced\")].reason}";
    ground.says(synced, "Exported");
    ground.says("{.status.targetCount} {.status.namespaceShards[*].namespace}", "2 one");
    // Trace 17: the runner-up appears once, under its own key.
    ground.apply(&[target("second", true)]);
    ground.has(PLACE, &["cluster: first one/x"]);
    ground.says("{.status.conditions[?(@.type==\"Degraded\")].reason}", "TargetDegraded");
    ground.apply(&[target("second", false)]);
    ground.has(PLACE, &["cluster: second one/x"]);
    ground.says("{.status.conditions[?(@.type==\"Degraded\")].reason}", "");
    // Namespaces come and go by their labels.
    ground.apply(&[namespace("two", "a")]);
    ground.has(PLACE, &["cluster: second one/x", "cluster: second two/y"]);
    ground.says("{.status.namespaceShardCount}", "2");
    ground.apply(&[namespace("one", "b")]);
    ground.has(PLACE, &["cluster: second two/y"]);
    ground.apply(&[rollup(json!({
        "namespaces": ["one", "two"], "sinkNamespace": "platform", "dedupe": "keepAll",
        "databaseSinkRefs": [{"name": "rows"}],
    }))]);
    ground.has(PLACE, &["cluster: first two/y", "cluster: second two/y"]);
    ground.delete("kollectclusterinventory", "", "all");
    ground.has(PLACE, &[]);
}
