//! Faults from outside, restarts and backups.

use kollect_sandbox::{Memory, Sandbox};
use serde_json::{Value, json};

use crate::support::{get, pod, read, sandbox, send};

async fn tell(sandbox: &Sandbox, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let answer = send(sandbox, method, path, &[], &body.to_string()).await.expect("an answer");
    (answer.code, answer.json().await)
}

#[tokio::test]
async fn faults_are_set_and_lifted_from_outside_and_do_not_hit_whoever_sets_them() {
    let sandbox = sandbox();
    let fault = json!({"fault": {"tooManyRequests": {"retryAfter": 7}}});
    let (code, set) = tell(&sandbox, "POST", "/sandbox/faults", &fault).await;
    assert_eq!(code, 200, "{set}");
    let refused = get(&sandbox, "/api/v1/pods").await;
    assert_eq!((refused.code, refused.headers["retry-after"].as_str()), (429, "7"));
    let path = format!("/sandbox/faults/{}", set["id"]);
    assert_eq!(tell(&sandbox, "DELETE", &path, &Value::Null).await.0, 200);
    assert_eq!(tell(&sandbox, "DELETE", &path, &Value::Null).await.0, 404);
    assert_eq!(get(&sandbox, "/api/v1/pods").await.code, 200);
    let narrow = json!({
        "on": {"verb": "list", "resource": "pods", "nth": 2}, "fault": {"status": {"code": 503}},
    });
    assert_eq!(tell(&sandbox, "POST", "/sandbox/faults", &narrow).await.0, 200);
    assert_eq!(get(&sandbox, "/api/v1/pods").await.code, 200);
    assert_eq!(get(&sandbox, "/api/v1/pods").await.code, 503);
    let unknown = json!({"fault": {"flood": {}}});
    assert_eq!(tell(&sandbox, "POST", "/sandbox/faults", &unknown).await.0, 400);
}

#[tokio::test]
async fn a_namespace_is_forbidden_from_outside() {
    let sandbox = sandbox();
    let denial = json!({"resource": "secrets", "namespace": "a"});
    assert_eq!(tell(&sandbox, "POST", "/sandbox/denials", &denial).await.0, 200);
    assert_eq!(get(&sandbox, "/api/v1/namespaces/a/secrets").await.code, 403);
    assert_eq!(tell(&sandbox, "DELETE", "/sandbox/denials", &denial).await.0, 200);
    assert_eq!(get(&sandbox, "/api/v1/namespaces/a/secrets").await.code, 200);
}

#[tokio::test]
async fn a_body_that_drips_arrives_whole() {
    let sandbox = sandbox();
    let fault = json!({"fault": {"drip": {"bytes": 100, "pauseMillis": 1}}});
    tell(&sandbox, "POST", "/sandbox/faults", &fault).await;
    assert_eq!(read(&sandbox, "/api/v1/namespaces").await["kind"], "NamespaceList");
}

#[tokio::test]
async fn a_backup_brings_back_objects_and_their_versions() {
    let sandbox = sandbox();
    sandbox.put(pod("default", "old")).expect("a pod");
    let backup = sandbox.backup();
    let version = sandbox.version();
    sandbox.put(pod("default", "new")).expect("a pod");
    sandbox.restore(&backup);
    assert_eq!(sandbox.version(), version);
    let path = "/api/v1/namespaces/default/pods";
    assert_eq!(get(&sandbox, &format!("{path}/old")).await.code, 200);
    assert_eq!(get(&sandbox, &format!("{path}/new")).await.code, 404);
}

#[tokio::test]
async fn a_restart_ends_watches_and_may_lose_everything() {
    let sandbox = sandbox();
    sandbox.put(pod("default", "old")).expect("a pod");
    let path = "/api/v1/namespaces/default/pods/old";
    for (memory, left) in [(Memory::Kept, 200), (Memory::Lost, 404)] {
        let mut watch = get(&sandbox, "/api/v1/pods?watch=true&resourceVersion=0").await;
        sandbox.restart(memory);
        watch.rest().await;
        assert_eq!(get(&sandbox, path).await.code, left);
    }
    assert_eq!(get(&sandbox, "/api/v1/namespaces/default").await.code, 200);
}
