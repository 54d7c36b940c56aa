//! What a real server says of its built-in kinds, as the sandbox keeps it.
//!
//! Three files: the kinds with their names and columns, their schemas without
//! the texts, and how their fields are numbered when clients send protobuf.
//! The first two are asked of the server; the third stands in the sources that
//! the server is built from, because no server tells it.

mod kinds;
mod schemas;
mod wire;

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context as _, Result};
use kollect_collect::{Place, connect, use_ring};
use kube::Client;
use serde_json::{Map, Value};

/// The kinds that are recorded: the group, its version, and the resources.
///
/// Admission webhooks and the like are left out: the sandbox would take them
/// and not call them.
const KINDS: &[(&str, &str, &[&str])] = &[
    (
        "",
        "v1",
        &[
            "configmaps",
            "endpoints",
            "events",
            "limitranges",
            "namespaces",
            "nodes",
            "persistentvolumeclaims",
            "persistentvolumes",
            "pods",
            "podtemplates",
            "replicationcontrollers",
            "resourcequotas",
            "secrets",
            "serviceaccounts",
            "services",
        ],
    ),
    (
        "apps",
        "v1",
        &["controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"],
    ),
    ("batch", "v1", &["cronjobs", "jobs"]),
    ("autoscaling", "v2", &["horizontalpodautoscalers"]),
    ("policy", "v1", &["poddisruptionbudgets"]),
    ("networking.k8s.io", "v1", &["ingressclasses", "ingresses", "networkpolicies"]),
    ("discovery.k8s.io", "v1", &["endpointslices"]),
    ("storage.k8s.io", "v1", &["storageclasses"]),
    ("scheduling.k8s.io", "v1", &["priorityclasses"]),
    (
        "rbac.authorization.k8s.io",
        "v1",
        &["clusterrolebindings", "clusterroles", "rolebindings", "roles"],
    ),
    ("coordination.k8s.io", "v1", &["leases"]),
    ("apiextensions.k8s.io", "v1", &["customresourcedefinitions"]),
    ("events.k8s.io", "v1", &["events"]),
    (
        "authorization.k8s.io",
        "v1",
        &[
            "localsubjectaccessreviews",
            "selfsubjectaccessreviews",
            "selfsubjectrulesreviews",
            "subjectaccessreviews",
        ],
    ),
    ("authentication.k8s.io", "v1", &["selfsubjectreviews", "tokenreviews"]),
];

/// What a server says; each is the text of a file.
#[derive(Debug)]
pub struct Recording {
    pub kinds: String,
    pub schemas: String,
    /// The schemas of the kinds, by name, where the numbers of fields begin.
    roots: Vec<String>,
}

/// Asks a server for everything that is recorded of it.
pub async fn record(kubeconfig: &Path) -> Result<Recording> {
    use_ring();
    let client = connect(&Place::Files(vec![kubeconfig.to_owned()]), None)
        .await
        .context("no client for the server")?;
    let mut documents = BTreeMap::new();
    let mut kinds = Vec::new();
    for (group, version, plurals) in KINDS {
        let place = base(group, version);
        let document = ask(&client, &format!("/openapi/v3{place}"), "application/json").await?;
        let found = kinds::of_group(&client, (group, version), plurals, &document).await?;
        kinds.extend(found);
        documents.insert(place, document);
    }
    let roots: Vec<String> =
        kinds.iter().filter_map(|kind| kind.get("schema")?.as_str().map(str::to_owned)).collect();
    let schemas = schemas::gather(documents.values(), &roots)?;
    Ok(Recording { kinds: list(&kinds), schemas: map(&schemas), roots })
}

impl Recording {
    /// How the fields of the recorded kinds are numbered, by the Go sources of
    /// the server in the module cache.
    pub fn wire(&self) -> Result<String> {
        Ok(map(&wire::gather(&self.roots)?))
    }
}

fn base(group: &str, version: &str) -> String {
    match group {
        "" => format!("/api/{version}"),
        group => format!("/apis/{group}/{version}"),
    }
}

async fn ask(client: &Client, path: &str, accept: &str) -> Result<Value> {
    let request = http::Request::get(path).header("accept", accept).body(Vec::new())?;
    let text = client.request_text(request).await.with_context(|| format!("GET {path}"))?;
    serde_json::from_str(&text).with_context(|| format!("{path} is no JSON"))
}

/// One element a line, so that a difference can be read.
fn list(items: &[Value]) -> String {
    let lines: Vec<String> = items.iter().map(Value::to_string).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

fn map(items: &Map<String, Value>) -> String {
    let lines: Vec<String> =
        items.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}
