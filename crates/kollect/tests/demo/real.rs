//! On a real API server.

use kollect_testenv::{ControlPlane, assets};
use serde_json::{Value, json};

use crate::support::{Demo, git_rows, said_rows, sqlite_rows};

/// A Deployment in a namespace of its own.
fn shop(plane: &ControlPlane) -> String {
    let namespace = plane.namespace("shop");
    let labels = json!({"app": "web"});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "web", "image": "registry.example/web:1"}]},
            },
        },
    });
    plane.apply(&deployment.to_string());
    namespace
}

/// Every object of a kind.
fn all(plane: &ControlPlane, kind: &str) -> Vec<Value> {
    let listed = plane.kubectl(["get", kind, "-A", "-o", "json"]).stdout();
    let listed: Value = serde_json::from_str(&listed).unwrap();
    listed["items"].as_array().unwrap().clone()
}

fn names(plane: &ControlPlane, kind: &str) -> Vec<String> {
    let name = |one: &Value| one["metadata"]["name"].as_str().unwrap().to_owned();
    all(plane, kind).iter().map(name).collect()
}

fn start(plane: &ControlPlane, arguments: &[&str]) -> Demo {
    let kubeconfig = plane.kubeconfig().to_str().unwrap().to_owned();
    let mut flags = vec!["--kubeconfig", &kubeconfig];
    flags.extend(arguments);
    Demo::start(plane.directory(), &flags)
}

/// Whether the demo's namespace has gone, or is about to: there is nobody here
/// who empties namespaces.
fn is_leaving(plane: &ControlPlane) -> bool {
    let found = all(plane, "namespaces");
    let home = found.iter().find(|one| one["metadata"]["name"] == "kollect-demo");
    home.is_none_or(|home| home["metadata"]["deletionTimestamp"].is_string())
}

#[test]
fn what_was_created_is_gone_afterwards_and_nothing_else_has_changed() {
    let Some(assets) = assets() else { return };
    let plane = ControlPlane::start(&assets).unwrap();
    let namespace = shop(&plane);
    let (deployments, before) = (all(&plane, "deployments"), names(&plane, "namespaces"));
    let mut silent = start(&plane, &["--for", "1s"]);
    assert_eq!(silent.ended(), Some(2));
    let complaint = silent.all();
    assert!(complaint.contains("Namespace kollect-demo, and in it:"), "{complaint}");
    assert!(complaint.contains("nothing was created: there is no terminal"), "{complaint}");
    assert_eq!(names(&plane, "namespaces"), before);
    assert_eq!(names(&plane, "crds"), Vec::<String>::new());

    let kept = tempfile::tempdir().unwrap();
    let dir = kept.path().to_str().unwrap();
    let mut demo = start(&plane, &["--yes", "--for", "3s", "--dir", dir]);
    assert_eq!(demo.ended(), Some(0), "{}", demo.all());
    let [inventory, git, sqlite] = said_rows(&demo.said);
    assert_eq!([git, sqlite], [inventory; 2]);
    assert_eq!(git_rows(kept.path()), inventory);
    assert_eq!(sqlite_rows(kept.path(), "inventory_items"), inventory);
    let images =
        format!("deployments where namespace = '{namespace}' and image = 'registry.example/web:1'");
    assert_eq!(sqlite_rows(kept.path(), &images), 1);
    assert_eq!(sqlite_rows(kept.path(), "pulses where beat > 0"), 3);

    assert_eq!(names(&plane, "crds"), Vec::<String>::new());
    assert_eq!(names(&plane, "configmaps").iter().filter(|name| name.contains("pulse")).count(), 0);
    assert!(is_leaving(&plane));
    assert_eq!(all(&plane, "deployments"), deployments);
    let mut hasty = start(&plane, &["--yes", "--for", "1s"]);
    assert_eq!(hasty.ended(), Some(2));
    assert!(hasty.all().contains("is being removed"), "{}", hasty.all());
}

#[test]
fn definitions_and_objects_of_others_stay_as_they_are() {
    let Some(assets) = assets() else { return };
    let plane = ControlPlane::start(&assets).unwrap();
    let namespace = shop(&plane);
    let crds = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/crds");
    plane.kubectl(["apply", "--server-side", "-f", crds]).stdout();
    let defined = names(&plane, "crds");
    let defined: Vec<_> = defined.iter().map(String::as_str).collect();
    plane.established(&defined);
    let metadata = json!({"name": "theirs", "namespace": namespace});
    let inventory = json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectInventory", "metadata": metadata,
        "spec": {"databaseSinkRefs": [{"name": "nowhere"}]},
    });
    plane.apply(&inventory.to_string());
    let theirs = all(&plane, "kollectinventories");
    let mut demo = start(&plane, &["--yes"]);
    let arrived = demo.until(|line| line.contains("configmap kollect-demo/pulse-a: beat"));
    assert!(arrived.is_some(), "{}", demo.all());
    demo.interrupt();
    assert_eq!(demo.ended(), Some(0), "{}", demo.all());
    assert_eq!(names(&plane, "crds"), defined);
    assert_eq!(all(&plane, "kollectinventories"), theirs);
    assert_eq!(names(&plane, "kollectprofiles"), Vec::<String>::new());
    assert!(is_leaving(&plane));
}

#[test]
fn a_namespace_of_somebody_else_is_not_used() {
    let Some(plane) = ControlPlane::shared() else { return };
    plane.kubectl(["create", "namespace", "kollect-demo"]).stdout();
    let mut demo = start(plane, &["--yes", "--for", "1s"]);
    assert_eq!(demo.ended(), Some(2));
    let complaint = demo.all();
    assert!(complaint.contains("there is a namespace kollect-demo already"), "{complaint}");
    assert!(!is_leaving(plane));
}
