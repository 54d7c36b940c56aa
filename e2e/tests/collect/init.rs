//! `kollect init` on a real API server.

use std::fs;

use e2e::{cluster, servers};
use serde_json::{Value, json};

use super::support::{deployments, kollect};

/// Whatever a server serves, what is written for it is admitted without a
/// remark, by us and by the server.
#[test]
fn every_kind_of_the_server_gets_a_configuration_that_is_admitted() {
    for cluster in servers() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("config").display().to_string();
        let kubeconfig = cluster.kubeconfig().display().to_string();
        let names = cluster.kubectl(["api-resources", "--verbs=list", "-o", "name"]).stdout();
        let kinds: Vec<_> = names.lines().collect();
        assert!(kinds.len() > 50, "{kinds:?}");
        let run = kollect(
            &["init", &kinds.join(","), "--kubeconfig", &kubeconfig, "--output-dir", &directory],
            "",
        );
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let judged = kollect(&["validate", "--strict", &directory], "");
        let objects = 2 * kinds.len() + 2;
        assert_eq!(judged.stdout, format!("{objects} objects checked: 0 errors, 0 warnings\n"));
        let applied = cluster.kubectl(["apply", "--dry-run=server", "-f", &directory]).stdout();
        assert_eq!(applied.lines().count(), objects, "{applied}");
        // What has neither a table nor columns is read from its schema.
        let lease = fs::read_to_string(place.path().join("config/profile-leases.yaml")).unwrap();
        assert!(lease.contains("path: $.spec.holderIdentity\n      type: string\n"), "{lease}");
    }
}

/// The path from a bare cluster to rows, as the guide tells it.
#[test]
fn what_was_written_is_collected_as_it_is() {
    for cluster in servers() {
        let place = tempfile::tempdir().unwrap();
        let namespace = cluster.namespace("init");
        cluster.apply(&deployments(std::slice::from_ref(&namespace), 2));
        let certificate = json!({
            "apiVersion": "cert-manager.io/v1", "kind": "Certificate",
            "metadata": {"name": "web", "namespace": namespace},
            "spec": {"secretName": "web-tls", "issuerRef": {"name": "house"}},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        });
        let service = json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": namespace},
            "spec": {"ports": [{"port": 80}]},
        });
        cluster.apply(&format!("{certificate}\n---\n{service}"));
        let directory = place.path().join("config").display().to_string();
        let kubeconfig = cluster.kubeconfig().display().to_string();
        let run = kollect(
            &[
                "init",
                "deployments.apps,svc,certificates.cert-manager.io",
                "--namespace",
                &namespace,
                "--kubeconfig",
                &kubeconfig,
                "--output-dir",
                &directory,
            ],
            "",
        );
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let rows = kollect(
            &["collect", "--config", &directory, "--kubeconfig", &kubeconfig, "-o", "json"],
            "",
        );
        assert_eq!(rows.code, Some(0), "{}", rows.stderr);
        let records: Value = serde_json::from_str(&rows.stdout).unwrap();
        let items = records[0]["envelope"]["items"].as_array().unwrap();
        let of_kind = |kind: &str| {
            let rows = items.iter().filter(|item| item["kind"] == kind);
            rows.map(|item| item["attributes"].clone()).collect::<Vec<_>>()
        };
        let image = |number: u8| json!([format!("registry.example/web:{number}")]);
        let deployment = |number| json!({"replicas": 1, "ready": null, "images": image(number)});
        assert_eq!(of_kind("Deployment"), [deployment(0), deployment(1)]);
        let certificate = json!({"ready": "True", "secretName": "web-tls", "issuer": "house"});
        assert_eq!(of_kind("Certificate"), [certificate]);
        let [service] = of_kind("Service").try_into().unwrap();
        assert_eq!((&service["type"], &service["ports"]), (&json!("ClusterIP"), &json!([80])));
        // The same objects, in the cluster, for the operator.
        let applied = cluster.kubectl(["apply", "--dry-run=server", "-f", &directory]).stdout();
        assert_eq!(applied.lines().count(), 8, "{applied}");
    }
}

/// Every user may ask for kinds and schemas, and that is enough.
#[test]
fn who_has_no_rights_at_all_gets_attributes_from_the_published_schema() {
    let Some(cluster) = cluster() else { return };
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("config").display().to_string();
    let kubeconfig = cluster.user("begins-with-nothing", &[]).unwrap().display().to_string();
    let kinds = "kollectscopes.kollect.dev,leases";
    let run =
        kollect(&["init", kinds, "--kubeconfig", &kubeconfig, "--output-dir", &directory], "");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let note = "note: not allowed to list the definition of kollectscopes.kollect.dev: ";
    assert!(run.stderr.starts_with(note), "{}", run.stderr);
    for (kind, attribute) in [
        ("kollectscopes", "path: $.spec.deniedNamespaces\n      type: list\n"),
        ("leases", "path: $.spec.holderIdentity\n      type: string\n"),
    ] {
        let file = place.path().join(format!("config/profile-{kind}.yaml"));
        let profile = fs::read_to_string(file).unwrap();
        assert!(profile.contains("    # From the schema: "), "{profile}");
        assert!(profile.contains(attribute), "{profile}");
    }
}
