//! Objects that make the operator do something.

use serde_json::{Value, json};

use super::super::ground::{ours, profile};

/// A database whose connection string is in a Secret, and nobody may dial.
pub(super) fn guarded(namespace: &str) -> Vec<Value> {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "dsn", "namespace": namespace},
        "stringData": {"dsn": "postgres://somebody@127.0.0.1:1/rows"},
    });
    let sink = json!({
        "type": "postgres", "postgres": {"databaseRef": {"name": "dsn"}, "table": "rows"},
    });
    vec![
        secret,
        ours("KollectDatabaseSink", namespace, "guarded", sink),
        ours(
            "KollectInventory",
            namespace,
            "guarded",
            json!({"databaseSinkRefs": [{"name": "guarded"}]}),
        ),
    ]
}

/// An inventory whose sink cannot be opened, which is left behind with an event.
pub(super) fn unusable(namespace: &str) -> Vec<Value> {
    let sink = json!({"type": "sqlite", "sqlite": {"path": "../elsewhere.db"}});
    let refs = json!({"databaseSinkRefs": [{"name": "unusable"}]});
    vec![
        ours("KollectDatabaseSink", namespace, "unusable", sink),
        ours("KollectInventory", namespace, "unusable", refs),
    ]
}

/// Sinks that ask to be probed once, one that nothing can be written to, and a
/// test that goes as soon as it has been run.
pub(super) fn asked(namespace: &str) -> Vec<Value> {
    let once = |kind: &str, spec: Value| {
        let mut sink = ours(kind, namespace, "once", spec);
        sink["metadata"]["annotations"] = json!({"kollect.dev/test-connection": "true"});
        sink["spec"]["connectionTest"] = json!(false);
        sink
    };
    let test = json!({"sinkRef": {"databaseSinkRef": "once"}, "ttlSecondsAfterFinished": 0});
    let stream =
        json!({"type": "nats", "nats": {"url": "nats://nats.example.org", "subject": "s"}});
    vec![
        once("KollectDatabaseSink", json!({"type": "sqlite", "sqlite": {"path": "once.db"}})),
        once("KollectSnapshotSink", json!({"type": "file", "file": {"path": "once"}})),
        ours("KollectEventSink", namespace, "stream", stream),
        ours("KollectConnectionTest", namespace, "test", test),
    ]
}

pub(super) fn finalized(mut target: Value, finalizer: &str) -> Value {
    target["metadata"]["finalizers"] = json!([finalizer]);
    target
}

/// A target of each kind that the samples collect.
pub(super) fn sampled(place: &str) -> Vec<Value> {
    let kinds = [
        ("", "v1", "Service"),
        ("", "v1", "Node"),
        ("apps", "v1", "Deployment"),
        ("batch", "v1", "CronJob"),
        ("networking.k8s.io", "v1", "Ingress"),
        ("cert-manager.io", "v1", "Certificate"),
        ("argoproj.io", "v1alpha1", "Application"),
        ("helm.toolkit.fluxcd.io", "v2", "HelmRelease"),
        ("aquasecurity.github.io", "v1alpha1", "VulnerabilityReport"),
    ];
    let mut objects = Vec::new();
    for (group, version, kind) in kinds {
        let name = kind.to_lowercase();
        let of = json!({"group": group, "version": version, "kind": kind});
        objects.push(profile(place, &name, of));
        let spec = json!({"profileRef": name, "includedNamespaces": [place]});
        objects.push(ours("KollectTarget", place, &name, spec));
    }
    objects
}
