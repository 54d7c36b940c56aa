use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use kollect_sandbox::Sandbox;
use kollect_testenv::ControlPlane;
use serde_json::{Value, json};

/// So often somebody looks who waits, which is longer than anything takes.
const LOOKS: usize = 1200;
const BETWEEN: Duration = Duration::from_millis(50);

/// A running operator; killed when it is dropped.
struct Operator(Child);

impl Drop for Operator {
    fn drop(&mut self) {
        // One that has ended by itself is no harm.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn ours(kind: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": kind,
        "metadata": {"name": name, "namespace": "shop"}, "spec": spec,
    })
}

fn config_map(name: &str, value: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"value": value},
        "metadata": {"name": name, "namespace": "shop"},
    })
}

/// Waits until kubectl says something; fails with what it said last.
#[track_caller]
fn says(kubectl: &dyn Fn(&[&str]) -> String, arguments: &[&str], expected: &str) {
    let mut said = String::new();
    for _ in 0..LOOKS {
        said = kubectl(arguments);
        if said == expected {
            return;
        }
        thread::sleep(BETWEEN);
    }
    assert_eq!(said, expected);
}

#[test]
fn the_operator_works_on_the_sandbox_as_on_a_cluster() {
    let Some(plane) = ControlPlane::shared() else { return };
    let sandbox = Sandbox::start().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("kubeconfig");
    fs::write(&config, sandbox.kubeconfig()).unwrap();
    let kubectl = |arguments: &[&str]| plane.kubectl(arguments).as_config(&config).stdout();
    let apply = |object: &Value| {
        plane.kubectl(["apply", "-f", "-"]).as_config(&config).stdin(object.to_string()).stdout()
    };
    let crds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/crds");
    kubectl(&["apply", "--server-side", "-f", crds.to_str().unwrap()]);
    apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}));
    apply(&config_map("a", "1"));
    let log = fs::File::create(directory.path().join("log")).unwrap();
    let _operator = Operator(
        Command::new(env!("CARGO_BIN_EXE_kollect"))
            .args(["operator", "--watch-namespaces", "shop", "--health-probe-bind-address=0"])
            .arg("--kubeconfig")
            .arg(&config)
            .arg("--local-sink-root")
            .arg(directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap(),
    );
    let attributes = json!([{"name": "value", "path": "$.data.value"}]);
    let kind = json!({"version": "v1", "kind": "ConfigMap"});
    apply(&ours("KollectProfile", "p", json!({"targetGVK": kind, "attributes": attributes})));
    apply(&ours("KollectTarget", "t", json!({"profileRef": "p"})));
    let sink = json!({"type": "sqlite", "sqlite": {"path": "rows.db"}});
    apply(&ours("KollectDatabaseSink", "rows", sink));
    apply(&ours("KollectInventory", "i", json!({"databaseSinkRefs": [{"name": "rows"}]})));
    let state = "jsonpath={.status.itemCount} {.status.conditions[?(@.type==\"Synced\")].status}";
    let look = ["get", "kollectinventory", "i", "-n", "shop", "-o", state];
    says(&kubectl, &look, "1 True");
    apply(&config_map("b", "1"));
    says(&kubectl, &look, "2 True");
    kubectl(&["delete", "configmap", "a", "-n", "shop"]);
    says(&kubectl, &look, "1 True");
    assert!(directory.path().join("shop/rows.db").exists());
}
