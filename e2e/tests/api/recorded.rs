use std::fs;

use e2e::{record::record, repository};
use kollect_collect::{Place, connect, use_ring};
use kollect_sandbox::Sandbox;
use kollect_testenv::ControlPlane;
use kube::Client;
use serde_json::{Value, json};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The lines that two texts do not have in common.
fn differences(recorded: &str, said: &str) -> Vec<String> {
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let (recorded, said) = (lines(recorded), lines(said));
    let gone = recorded.iter().filter(|line| !said.contains(line)).map(|line| format!("- {line}"));
    let new = said.iter().filter(|line| !recorded.contains(line)).map(|line| format!("+ {line}"));
    gone.chain(new).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_sandbox_has_recorded_is_what_the_server_says() {
    let Some(plane) = ControlPlane::shared() else { return };
    let said = record(plane.kubeconfig()).await.unwrap();
    for (name, said) in [("kinds.json", said.kinds), ("schemas.json", said.schemas)] {
        let file = repository().join("crates/sandbox/recorded").join(name);
        let found = differences(&fs::read_to_string(file).unwrap(), &said);
        assert_eq!(found, [""; 0], "{name}: run `cargo xtask record`");
    }
}

async fn ask(client: &Client, method: &str, path: &str, body: (&str, Vec<u8>)) -> Vec<u8> {
    let (media_type, body) = body;
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("accept", media_type)
        .header("content-type", media_type)
        .body(kube::client::Body::from(body))
        .unwrap();
    let answer = client.send(request).await.unwrap();
    assert!(answer.status().is_success(), "{method} {path}: {}", answer.status());
    answer.into_body().collect_bytes().await.unwrap().to_vec()
}

/// Without what each server decides for itself.
fn bare(mut object: Value) -> Value {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        for own in ["uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"] {
            metadata.remove(own);
        }
    }
    object
}

/// Objects with something at every turn that protobuf takes: texts, numbers,
/// flags, times, maps, lists, quantities, and fields that stand in others; each
/// after the path of its kind.
fn objects(namespace: &str) -> Vec<(String, Value)> {
    let file = repository().join("fixtures/protobuf.json");
    let text = fs::read_to_string(file).unwrap().replace("{namespace}", namespace);
    serde_json::from_str(&text).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn protobuf_means_to_the_sandbox_what_it_means_to_the_server() {
    let Some(plane) = ControlPlane::shared() else { return };
    let namespace = plane.namespace("wire");
    let sandbox = Sandbox::start().unwrap();
    sandbox
        .put(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}))
        .unwrap();
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("kubeconfig");
    fs::write(&config, sandbox.kubeconfig()).unwrap();
    use_ring();
    let real = connect(&Place::Files(vec![plane.kubeconfig().to_owned()]), None).await.unwrap();
    let ours = connect(&Place::Files(vec![config]), None).await.unwrap();
    for (all, object) in objects(&namespace) {
        let json = "application/json";
        ask(&real, "POST", &all, (json, object.to_string().into_bytes())).await;
        let one = format!("{all}/{}", object["metadata"]["name"].as_str().unwrap());
        let binary = ask(&real, "GET", &one, (PROTOBUF, Vec::new())).await;
        // What is said twice is refused: the version belongs to the real server.
        let expected: Value =
            serde_json::from_slice(&ask(&real, "GET", &one, (json, Vec::new())).await).unwrap();
        let version = expected["metadata"]["resourceVersion"].as_str().unwrap();
        let made = ask(&ours, "POST", &all, (PROTOBUF, without_version(binary, version))).await;
        let made: Value = serde_json::from_slice(&made).unwrap();
        assert_eq!(bare(made), bare(expected), "{all}");
    }
}

/// Blots a text out of protobuf: it is then a field that nobody knows.
fn without_version(mut binary: Vec<u8>, version: &str) -> Vec<u8> {
    let length = u8::try_from(version.len()).unwrap();
    let field = [&[6 << 3 | 2, length], version.as_bytes()].concat();
    let at = binary.windows(field.len()).position(|window| window == field).unwrap();
    binary[at] = 15 << 3 | 2;
    binary
}
