//! What the tests of this area share.

use std::{
    env, fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use kollect_api::GroupVersionKind;
use kollect_collect::{
    Catalogue, Heard, ListError, Listed, Lookup, Place, Question, Resource, connect, list, use_ring,
};
use kube::Client;
use serde_json::{Value, json};

/// A client by way of a kubeconfig.
pub(super) async fn client(kubeconfig: &Path) -> Client {
    use_ring();
    let place = Place::Files(vec![kubeconfig.to_owned()]);
    connect(&place, None).await.unwrap()
}

/// A kind, as in `apps v1 Deployment`; the core group is `-`.
pub(super) fn gvk(text: &str) -> GroupVersionKind {
    let [group, version, kind] = text.split(' ').collect::<Vec<_>>().try_into().unwrap();
    GroupVersionKind {
        group: group.trim_matches('-').to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
    }
}

/// What the server serves once it has an answer that is waited for: a definition
/// is established a moment before discovery shows it.
pub(super) async fn catalogue(client: &Client, until: impl Fn(&Catalogue) -> bool) -> Catalogue {
    for _ in 0..300 {
        let catalogue = Catalogue::fetch(client).await.unwrap();
        if until(&catalogue) {
            return catalogue;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("discovery does not show what was waited for");
}

/// One resource, once it is served.
pub(super) async fn resource(client: &Client, kind: &str) -> Resource {
    let kind = gvk(kind);
    let served = |catalogue: &Catalogue| matches!(catalogue.find(&kind), Lookup::Served(_));
    match catalogue(client, served).await.find(&kind) {
        Lookup::Served(resource) => resource.clone(),
        other => panic!("{other:?}"),
    }
}

/// A list with all its objects.
pub(super) async fn all(
    client: &Client,
    question: Question<'_>,
) -> Result<(Listed, Vec<Value>), ListError> {
    let mut items = Vec::new();
    let listed = list(client, &question, |heard| match heard {
        Heard::Item(item) => items.push(serde_json::from_slice(item).unwrap()),
        Heard::Again => items.clear(),
    });
    Ok((listed.await?, items))
}

/// The names of objects with their namespaces, sorted.
pub(super) fn names(items: &[Value]) -> Vec<String> {
    let name = |item: &Value| {
        let text = |field: &str| item["metadata"][field].as_str().unwrap_or_default().to_owned();
        format!("{}/{}", text("namespace"), text("name"))
    };
    let mut names: Vec<_> = items.iter().map(name).collect();
    names.sort();
    names
}

/// A definition of a custom kind in some versions, of which the last is stored.
pub(super) fn definition(name: &str, kind: &str, scope: &str, versions: &[&str]) -> String {
    let (plural, group) = name.split_once('.').unwrap();
    let versions: Vec<_> = versions
        .iter()
        .map(|version| {
            format!(
                "{{name: {version}, served: true, storage: {}, schema: {{openAPIV3Schema: \
                 {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}",
                Some(version) == versions.last()
            )
        })
        .collect();
    format!(
        "---\n{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, \
         metadata: {{name: {name}}}, spec: {{group: {group}, scope: {scope}, \
         names: {{kind: {kind}, plural: {plural}, singular: {}}}, versions: [{}]}}}}\n",
        kind.to_lowercase(),
        versions.join(", ")
    )
}

/// What a run of the binary left behind.
pub(super) struct Run {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs the binary, which `cargo test` has built beside the tests.
pub(super) fn kollect(arguments: &[&str], input: &str) -> Run {
    let tests = env::current_exe().unwrap();
    let program = tests.parent().and_then(Path::parent).unwrap().join("kollect");
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// So many Deployments in each of some namespaces.
pub(super) fn deployments(namespaces: &[String], each: usize) -> String {
    let mut documents = Vec::new();
    for namespace in namespaces {
        for number in 0..each {
            documents.push(format!(
                r#"{{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"web-{number}","namespace":"{namespace}"}},
                    "spec":{{"selector":{{"matchLabels":{{"app":"web"}}}},"template":{{"metadata":{{"labels":{{"app":"web"}}}},
                    "spec":{{"containers":[{{"name":"web","image":"registry.example/web:{number}"}}]}}}}}}}}"#
            ));
        }
    }
    documents.join("\n---\n")
}

/// A profile that reads attributes and keeps a copy, and its target.
pub(super) fn config(place: &Path, namespaces: &[&str]) -> String {
    let file = place.join("config.yaml");
    let profile = json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectProfile",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "targetGVK": {"group": "apps", "version": "v1", "kind": "Deployment"},
            "attributes": [
                {"name": "images", "path": "{.spec.template.spec.containers[*].image}"},
                {"name": "kind", "path": "$.kind"},
            ],
            "export": {"mode": "Resource", "include": "All"},
        },
    });
    let target = json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectTarget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"profileRef": "web", "includedNamespaces": namespaces},
    });
    fs::write(&file, format!("{profile}\n---\n{target}\n")).unwrap();
    file.display().to_string()
}

/// The rows of the first record that was printed.
pub(super) fn items(stdout: &str) -> Value {
    let records: Value = serde_json::from_str(stdout).unwrap();
    records[0]["envelope"]["items"].clone()
}
