//! A cluster to begin with, and somebody who begins.

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    path::Path,
    process::{Command, Stdio},
};

use kollect_sandbox::{ResourceDefinition, Sandbox};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;

use crate::cli::support::{Run, run_in};

/// A cluster with a Deployment, and a custom kind that is defined in all words.
pub(super) fn cluster(place: &Path) -> Sandbox {
    let sandbox = Sandbox::start().unwrap();
    let define = |group: &str, kind: &str, plural: &str, namespaced| {
        let (group, version) = (group.to_owned(), "v1".to_owned());
        let (kind, plural) = (kind.to_owned(), plural.to_owned());
        sandbox.define(ResourceDefinition { group, version, kind, plural, namespaced });
    };
    let definitions = ("apiextensions.k8s.io", "CustomResourceDefinition");
    define(definitions.0, definitions.1, "customresourcedefinitions", false);
    define("widgets.example.org", "Widget", "widgets", true);
    define("other.example.org", "Widget", "widgets", true);
    let columns = json!([
        {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "description": "How large it is."},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]);
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = json!({"name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": schema}, "additionalPrinterColumns": columns});
    for object in [
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}),
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.widgets.example.org"},
            "spec": {"group": "widgets.example.org", "scope": "Namespaced", "versions": [version],
                "names": {"kind": "Widget", "plural": "widgets", "singular": "widget"}}}),
        json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"replicas": 2, "template": {"spec": {"containers": [{"name": "c", "image": "web:1"}]}}}}),
        json!({"apiVersion": "widgets.example.org/v1", "kind": "Widget",
            "metadata": {"name": "w1", "namespace": "shop"}, "spec": {"size": 7},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
    ] {
        sandbox.put(object).unwrap();
    }
    sandbox.clear_requests();
    fs::write(place.join("kubeconfig"), sandbox.kubeconfig()).unwrap();
    sandbox
}

/// Runs `kollect init` on the cluster.
pub(super) fn init(place: &Path, arguments: &[&str]) -> Run {
    let arguments = [&["init", "--kubeconfig", "kubeconfig", "--output-dir", "config"], arguments];
    run_in(place, &arguments.concat(), "")
}

/// Runs `kollect init` at a terminal, where these lines are typed. What the
/// terminal showed is the standard error.
pub(super) fn at_a_terminal(place: &Path, arguments: &[&str], typed: &str) -> Run {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let open = || File::options().read(true).write(true).open(&name).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_kollect"))
        .args(["init", "--kubeconfig", "kubeconfig", "--output-dir", "config"])
        .args(arguments)
        .current_dir(place)
        .stdin(open())
        .stderr(open())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut terminal = File::from(terminal);
    terminal.write_all(typed.as_bytes()).unwrap();
    let (mut shown, mut piece) = (Vec::new(), [0; 1024]);
    // Linux says that the other side has hung up by an error.
    while let Ok(count @ 1..) = terminal.read(&mut piece) {
        shown.extend_from_slice(&piece[..count]);
    }
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(shown).unwrap(),
    }
}
