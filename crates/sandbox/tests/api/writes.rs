//! What clients change, and what comes of it.

use kollect_sandbox::{Sandbox, Settings, Transport};
use serde_json::{Value, json};

use crate::support::{names, read, sandbox, send};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Sends a document; returns the code and the answer.
async fn ask(sandbox: &Sandbox, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let media_type = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let headers = [("content-type", media_type)];
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let answer = send(sandbox, method, path, &headers, &body).await.expect("an answer");
    (answer.code, answer.json().await)
}

fn config_map(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "b"},
    })
}

#[tokio::test]
async fn a_new_object_gets_what_the_server_decides() {
    let sandbox = sandbox();
    let (code, made) = ask(&sandbox, "POST", MAPS, &config_map("one")).await;
    assert_eq!(code, 201);
    assert_eq!(made["metadata"]["namespace"], "default");
    for name in ["uid", "resourceVersion", "creationTimestamp"] {
        assert!(made["metadata"][name].is_string(), "{name}: {made}");
    }
    assert_eq!(read(&sandbox, &format!("{MAPS}/one")).await, made);
    let (code, again) = ask(&sandbox, "POST", MAPS, &config_map("one")).await;
    assert_eq!((code, &again["reason"]), (409, &json!("AlreadyExists")));
    let mut generated = config_map("");
    generated["metadata"] = json!({"generateName": "some-"});
    let (_, generated) = ask(&sandbox, "POST", MAPS, &generated).await;
    assert!(generated["metadata"]["name"].as_str().expect("a name").starts_with("some-"));
    let nowhere = "/api/v1/namespaces/nowhere/configmaps";
    assert_eq!(ask(&sandbox, "POST", nowhere, &config_map("one")).await.0, 404);
}

#[tokio::test]
async fn the_age_of_an_object_is_the_servers_unless_it_is_put_by_hand() {
    let sandbox = sandbox();
    let mut old = config_map("one");
    old["metadata"]["creationTimestamp"] = json!("2020-01-01T00:00:00Z");
    let (_, made) = ask(&sandbox, "POST", MAPS, &old).await;
    assert_ne!(made["metadata"]["creationTimestamp"], old["metadata"]["creationTimestamp"]);
    old["metadata"]["name"] = json!("two");
    let put = sandbox.put(old.clone()).expect("a config map");
    assert_eq!(put["metadata"]["creationTimestamp"], old["metadata"]["creationTimestamp"]);
    let path = format!("{MAPS}/two");
    let change = json!({"metadata": {"creationTimestamp": null}, "data": {"a": "c"}});
    let (_, changed) = ask(&sandbox, "PATCH", &path, &change).await;
    assert_eq!(changed["metadata"]["creationTimestamp"], old["metadata"]["creationTimestamp"]);
}

#[tokio::test]
async fn whoever_writes_an_old_state_is_told_of_the_conflict() {
    let sandbox = sandbox();
    let (_, old) = ask(&sandbox, "POST", MAPS, &config_map("one")).await;
    let path = format!("{MAPS}/one");
    let mut new = old.clone();
    new["data"] = json!({"a": "c"});
    assert_eq!(ask(&sandbox, "PUT", &path, &new).await.0, 200);
    let (code, status) = ask(&sandbox, "PUT", &path, &old).await;
    assert_eq!((code, &status["reason"]), (409, &json!("Conflict")));
    assert_eq!(
        status["message"],
        "Operation cannot be fulfilled on configmaps \"one\": the object has been modified; \
         please apply your changes to the latest version and try again"
    );
}

#[tokio::test]
async fn what_is_only_tried_leaves_nothing() {
    let sandbox = sandbox();
    let tried = format!("{MAPS}?dryRun=All");
    assert_eq!(ask(&sandbox, "POST", &tried, &config_map("one")).await.0, 201);
    assert_eq!(ask(&sandbox, "GET", &format!("{MAPS}/one"), &Value::Null).await.0, 404);
}

#[tokio::test]
async fn a_namespace_goes_when_everything_in_it_has_gone() {
    let sandbox = sandbox();
    let shop = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    ask(&sandbox, "POST", "/api/v1/namespaces", &shop).await;
    let maps = "/api/v1/namespaces/shop/configmaps";
    let mut held = config_map("held");
    held["metadata"]["finalizers"] = json!(["example.org/wait"]);
    ask(&sandbox, "POST", maps, &held).await;
    ask(&sandbox, "POST", maps, &config_map("free")).await;
    let (_, ending) = ask(&sandbox, "DELETE", "/api/v1/namespaces/shop", &Value::Null).await;
    assert_eq!(ending["status"]["phase"], "Terminating");
    assert_eq!(ask(&sandbox, "GET", &format!("{maps}/free"), &Value::Null).await.0, 404);
    assert_eq!(ask(&sandbox, "POST", maps, &config_map("late")).await.0, 403);
    let free = json!({"metadata": {"finalizers": null}});
    assert_eq!(ask(&sandbox, "PATCH", &format!("{maps}/held"), &free).await.0, 200);
    assert_eq!(ask(&sandbox, "GET", "/api/v1/namespaces/shop", &Value::Null).await.0, 404);
}

#[tokio::test]
async fn what_has_lost_its_owner_goes_unless_it_is_made_an_orphan() {
    let sandbox = sandbox();
    for (policy, left) in [("Background", 404), ("Orphan", 200)] {
        let (_, owner) = ask(&sandbox, "POST", MAPS, &config_map("owner")).await;
        let mut dependent = config_map("owned");
        dependent["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "v1", "kind": "ConfigMap", "name": "owner",
            "uid": owner["metadata"]["uid"],
        }]);
        assert_eq!(ask(&sandbox, "POST", MAPS, &dependent).await.0, 201);
        let options = json!({"propagationPolicy": policy});
        assert_eq!(ask(&sandbox, "DELETE", &format!("{MAPS}/owner"), &options).await.0, 200);
        assert_eq!(ask(&sandbox, "GET", &format!("{MAPS}/owned"), &Value::Null).await.0, left);
    }
}

#[tokio::test]
async fn a_definition_is_served_when_its_creation_is_answered() {
    let sandbox = sandbox();
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.example.org"},
        "spec": {
            "group": "example.org", "scope": "Cluster",
            "names": {"kind": "Gadget", "plural": "gadgets"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": {
                        "size": {"type": "integer", "default": 3},
                    }},
                    "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
                }}},
            }],
        },
    });
    assert_eq!(ask(&sandbox, "POST", definitions, &crd).await.0, 201);
    let gadgets = "/apis/example.org/v1/gadgets";
    let gadget = json!({
        "apiVersion": "example.org/v1", "kind": "Gadget", "metadata": {"name": "one"},
        "spec": {"weight": 1}, "status": {"phase": "ignored"},
    });
    let (code, made) = ask(&sandbox, "POST", gadgets, &gadget).await;
    assert_eq!((code, &made["spec"], &made["status"]), (201, &json!({"size": 3}), &Value::Null));
    let path = format!("{gadgets}/one");
    let change = json!({"spec": {"size": 4}, "status": {"phase": "Ready"}});
    let (_, status) = ask(&sandbox, "PATCH", &format!("{path}/status"), &change).await;
    assert_eq!(status["spec"]["size"], 3);
    assert_eq!(status["metadata"]["generation"], 1);
    let (_, spec) = ask(&sandbox, "PATCH", &path, &change).await;
    assert_eq!((&spec["spec"]["size"], &spec["status"]["phase"]), (&json!(4), &json!("Ready")));
    assert_eq!(spec["metadata"]["generation"], 2);
    let (code, wrong) = ask(&sandbox, "PATCH", &path, &json!({"spec": {"size": "large"}})).await;
    assert_eq!((code, &wrong["reason"]), (422, &json!("Invalid")));
    let path = format!("{definitions}/gadgets.example.org");
    assert_eq!(ask(&sandbox, "DELETE", &path, &Value::Null).await.0, 200);
    let gone = send(&sandbox, "GET", gadgets, &[], "").await.expect("an answer");
    assert_eq!(gone.code, 404);
}

#[tokio::test]
async fn an_encrypted_sandbox_says_whom_to_trust() {
    let settings = Settings { transport: Transport::Https, ..Settings::default() };
    let sandbox = Sandbox::start_with(settings).expect("a free port");
    assert!(sandbox.url().starts_with("https://127.0.0.1:"));
    let config: Value = serde_json::from_str(&sandbox.kubeconfig()).expect("a kubeconfig");
    assert!(config["clusters"][0]["cluster"]["certificate-authority-data"].is_string());
}

#[tokio::test]
async fn yaml_is_as_good_as_json_and_other_bodies_are_refused_by_name() {
    let sandbox = sandbox();
    let post = async |media_type: &str, body: &str| {
        let headers = [("content-type", media_type)];
        let answer = send(&sandbox, "POST", MAPS, &headers, body).await.expect("an answer");
        (answer.code, answer.json().await)
    };
    let yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata:\n  a: '1'\n";
    let (code, made) = post("application/yaml", yaml).await;
    assert_eq!((code, &made["data"]), (201, &json!({"a": "1"})));
    assert_eq!(post("application/yaml", "a: [").await.0, 400);
    assert_eq!(post("application/vnd.kubernetes.protobuf", yaml).await.0, 400);
    let (code, refused) = post("application/cbor", "").await;
    assert_eq!((code, &refused["reason"]), (415, &json!("UnsupportedMediaType")));
    let apply = [("content-type", "application/apply-patch+yaml")];
    let path = format!("{MAPS}/one?fieldManager=me&force=true");
    let applied = "apiVersion: v1\nkind: ConfigMap\ndata: {a: '2'}\n";
    let answer = send(&sandbox, "PATCH", &path, &apply, applied).await.expect("an answer");
    assert_eq!(answer.json().await["data"], json!({"a": "2"}));
}

#[tokio::test]
async fn events_of_both_groups_are_the_same_objects() {
    let sandbox = sandbox();
    let (old, new) =
        ("/api/v1/namespaces/default/events", "/apis/events.k8s.io/v1/namespaces/default/events");
    let object = json!({"kind": "Pod", "name": "web"});
    let event = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "one"},
        "involvedObject": object, "message": "it runs", "count": 2, "type": "Normal",
    });
    assert_eq!(ask(&sandbox, "POST", old, &event).await.0, 201);
    let shown = read(&sandbox, &format!("{new}/one")).await;
    assert_eq!(
        (&shown["regarding"], &shown["note"], &shown["deprecatedCount"], &shown["message"]),
        (&object, &json!("it runs"), &json!(2), &Value::Null)
    );
    let event = json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "two"},
        "regarding": object, "note": "it stops", "reportingController": "me", "type": "Warning",
    });
    assert_eq!(ask(&sandbox, "POST", new, &event).await.0, 201);
    let list = read(&sandbox, &format!("{old}?fieldSelector=involvedObject.name%3Dweb")).await;
    assert_eq!(names(&list), ["one", "two"]);
    let two = &list["items"][1];
    assert_eq!((&two["message"], &two["reportingComponent"]), (&json!("it stops"), &json!("me")));
    let list = read(&sandbox, &format!("{new}?fieldSelector=reportingController%3Dme")).await;
    assert_eq!(names(&list), ["two"]);
    assert_eq!(ask(&sandbox, "DELETE", &format!("{new}/one"), &Value::Null).await.0, 200);
    assert_eq!(ask(&sandbox, "GET", &format!("{old}/one"), &Value::Null).await.0, 404);
}
