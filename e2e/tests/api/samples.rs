//! Every sample on the server.

use std::collections::BTreeSet;

use e2e::{cluster, samples};
use kollect_testenv::ControlPlane;
use kollect_validate::{Kind, Object, Surroundings, review};
use serde_json::Value;

/// The objects of a file as the server stores them.
fn applied(cluster: &ControlPlane, file: &str) -> Vec<Value> {
    objects(&cluster.kubectl(["apply", "--server-side", "-o", "json", "-f", file]).stdout())
}

/// The objects of a file as kubectl reads them.
fn written(cluster: &ControlPlane, file: &str) -> Vec<Value> {
    let arguments = ["create", "--dry-run=client", "--validate=false", "-o", "json", "-f", file];
    objects(&cluster.kubectl(arguments).stdout())
}

/// kubectl prints a list, or one document after the other.
fn objects(text: &str) -> Vec<Value> {
    let documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let of_document = |document: Value| match document.get("items").and_then(Value::as_array) {
        Some(items) => items.clone(),
        None => vec![document],
    };
    documents.filter_map(Result::ok).flat_map(of_document).collect()
}

fn kind(object: &Value) -> Option<Kind> {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    Kind::of(text("apiVersion"), text("kind"))?.ok()
}

/// Applies each sample, and compares what the server has made of it with what
/// we make of the file: defaults, pruning and decoding must agree.
#[test]
fn every_sample_applies_and_is_stored_as_we_read_it() {
    let Some(cluster) = cluster() else { return };
    let files = samples();
    assert!(files.len() > 50, "only {} samples were found", files.len());
    let mut compared = 0;
    for file in &files {
        let file = file.display().to_string();
        let written = written(cluster, &file);
        let stored = applied(cluster, &file);
        assert_eq!(written.len(), stored.len(), "{file}");
        for (written, stored) in written.into_iter().zip(stored) {
            let Some(kind) = kind(&written) else { continue };
            let reviewed = review(kind, written, &Surroundings::default());
            assert_eq!(reviewed.report.violations, [], "{file}");
            let ours = reviewed.object.map(spec);
            let theirs = Object::decode(kind, stored).map(spec);
            assert_eq!(ours, theirs.ok(), "{file}");
            compared += 1;
        }
    }
    assert!(compared > 70, "only {compared} objects were compared");
}

/// The spec of an object, as the typed form writes it.
fn spec(object: Object) -> Value {
    let spec = match object {
        Object::Profile(one) => serde_json::to_value(one.spec),
        Object::Target(one) => serde_json::to_value(one.spec),
        Object::Scope(one) => serde_json::to_value(one.spec),
        Object::Inventory(one) => serde_json::to_value(one.spec),
        Object::SnapshotSink(one) => serde_json::to_value(one.spec),
        Object::DatabaseSink(one) => serde_json::to_value(one.spec),
        Object::EventSink(one) => serde_json::to_value(one.spec),
        Object::ConnectionTest(one) => serde_json::to_value(one.spec),
        Object::ClusterTarget(one) => serde_json::to_value(one.spec),
        Object::ClusterScope(one) => serde_json::to_value(one.spec),
        Object::ClusterInventory(one) => serde_json::to_value(one.spec),
    };
    spec.unwrap_or_default()
}

/// A profile for a kind that no server has would show nothing to whoever
/// tries it; the foreign kinds are installed as small definitions.
#[test]
fn every_kind_that_a_sample_reads_is_served() {
    let Some(cluster) = cluster() else { return };
    let mut wanted = BTreeSet::new();
    for file in samples() {
        let file = file.display().to_string();
        let found = written(cluster, &file);
        for profile in found.iter().filter(|object| kind(object) == Some(Kind::Profile)) {
            let part = |name: &str| {
                let value = profile.pointer(&format!("/spec/targetGVK/{name}"));
                value.and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            wanted.insert((part("group"), part("version"), part("kind")));
        }
    }
    assert!(wanted.len() > 6, "{wanted:?}");
    for (group, version, kind) in wanted {
        let path = match group.as_str() {
            "" => format!("/api/{version}"),
            group => format!("/apis/{group}/{version}"),
        };
        let text = cluster.kubectl(["get", "--raw", &path]).stdout();
        let list: Value = serde_json::from_str(&text).unwrap_or_default();
        let resources = list["resources"].as_array().cloned().unwrap_or_default();
        assert!(resources.iter().any(|one| one["kind"] == kind.as_str()), "{path} has no {kind}");
    }
}
