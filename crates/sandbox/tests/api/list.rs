//! Objects and lists of them.

use kollect_sandbox::{Sandbox, StoreError};
use serde_json::{Value, json};

use crate::support::{
    deployment, gateway, gateways, get, get_as, names, pod, read, sandbox, version,
};

/// Five pods in two namespaces.
fn pods() -> Sandbox {
    let sandbox = sandbox();
    for (namespace, name) in [("a", "1"), ("a", "2"), ("a", "3"), ("b", "4"), ("b", "5")] {
        sandbox.put(pod(namespace, name)).expect("a pod");
    }
    sandbox
}

fn token(list: &Value) -> &str {
    list["metadata"]["continue"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn an_object_gets_what_the_server_decides() {
    let sandbox = sandbox();
    let put = sandbox.put(deployment("web", 1)).expect("a deployment");
    let found = read(&sandbox, "/apis/apps/v1/namespaces/shop/deployments/web").await;
    assert_eq!(found, put);
    assert_eq!(version(&found), sandbox.version());
    assert_eq!(found["metadata"]["generation"], 1);
    assert_eq!(found["metadata"]["uid"].as_str().map(str::len), Some(36));
    let newer = sandbox.put(deployment("web", 2)).expect("a deployment");
    assert_eq!(newer["metadata"]["uid"], found["metadata"]["uid"]);
    assert_eq!(newer["metadata"]["creationTimestamp"], found["metadata"]["creationTimestamp"]);
    assert_eq!(newer["metadata"]["generation"], 2);
    assert!(version(&newer) > version(&found));
}

#[tokio::test]
async fn an_update_that_changes_nothing_makes_no_version() {
    let sandbox = sandbox();
    let first = sandbox.put(deployment("web", 1)).expect("a deployment");
    assert_eq!(sandbox.put(deployment("web", 1)).expect("a deployment"), first);
    assert_eq!(sandbox.version(), version(&first));
}

#[tokio::test]
async fn an_object_that_is_none_is_refused() {
    let sandbox = sandbox();
    let unknown = StoreError::UnknownKind { api_version: "v9".into(), kind: "Pod".into() };
    let object = json!({"apiVersion": "v9", "kind": "Pod", "metadata": {"name": "a"}});
    assert_eq!(sandbox.put(object), Err(unknown));
    let object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {}});
    assert_eq!(sandbox.put(object), Err(StoreError::Nameless));
}

#[tokio::test]
async fn namespaces_are_ordinary_objects() {
    let sandbox = sandbox();
    let shop = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    sandbox.put(shop).expect("a namespace");
    let list = read(&sandbox, "/api/v1/namespaces").await;
    assert_eq!(names(&list), ["default", "kube-node-lease", "kube-public", "kube-system", "shop"]);
    assert_eq!(read(&sandbox, "/api/v1/namespaces/shop").await["kind"], "Namespace");
    assert!(sandbox.delete("", "namespaces", None, "shop"));
    assert_eq!(get(&sandbox, "/api/v1/namespaces/shop").await.code, 404);
}

#[tokio::test]
async fn lists_are_cluster_wide_or_of_one_namespace() {
    let sandbox = pods();
    let all = read(&sandbox, "/api/v1/pods").await;
    assert_eq!(names(&all), ["1", "2", "3", "4", "5"]);
    assert_eq!(version(&all), sandbox.version());
    assert_eq!(names(&read(&sandbox, "/api/v1/namespaces/b/pods").await), ["4", "5"]);
    assert!(names(&read(&sandbox, "/api/v1/namespaces/none/pods").await).is_empty());
}

#[tokio::test]
async fn lists_of_built_in_kinds_begin_with_metadata_and_their_items_say_no_kind() {
    let sandbox = sandbox();
    sandbox.put(pod("a", "1")).expect("a pod");
    let text = get(&sandbox, "/api/v1/pods").await.text().await;
    let begin = format!(
        r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"{}"}},"items":[{{"metadata":{{"#,
        sandbox.version()
    );
    assert!(text.starts_with(&begin), "{text}");
}

#[tokio::test]
async fn lists_of_custom_kinds_end_with_metadata_and_their_items_say_their_kind() {
    let sandbox = sandbox();
    sandbox.define(gateways("v1"));
    sandbox.put(gateway("a")).expect("a gateway");
    let text = get(&sandbox, "/apis/gateway.networking.k8s.io/v1/gateways").await.text().await;
    let begin = r#"{"apiVersion":"gateway.networking.k8s.io/v1","items":[{"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway","metadata":{"#;
    assert!(text.starts_with(begin), "{text}");
    let end = format!(
        "],\"kind\":\"GatewayList\",\"metadata\":{{\"continue\":\"\",\"resourceVersion\":\"{}\"}}}}\n",
        sandbox.version()
    );
    assert!(text.ends_with(&end), "{text}");
}

#[tokio::test]
async fn every_version_of_a_resource_shows_the_same_objects() {
    let sandbox = sandbox();
    sandbox.define(gateways("v1"));
    sandbox.define(gateways("v1beta1"));
    sandbox.put(gateway("a")).expect("a gateway");
    let path = "/apis/gateway.networking.k8s.io/v1beta1/namespaces/shop/gateways/a";
    let object = read(&sandbox, path).await;
    assert_eq!(object["apiVersion"], "gateway.networking.k8s.io/v1beta1");
    assert_eq!(object["spec"]["gatewayClassName"], "x");
}

#[tokio::test]
async fn metadata_alone_is_sent_to_those_who_ask_for_it() {
    let sandbox = sandbox();
    sandbox.put(deployment("web", 3)).expect("a deployment");
    let accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let list = get_as(&sandbox, "/apis/apps/v1/deployments", accept).await.json().await;
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert_eq!(list["items"][0]["kind"], "PartialObjectMetadata");
    assert_eq!(list["items"][0]["spec"], Value::Null);
    assert_eq!(names(&list), ["web"]);
    let accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let path = "/apis/apps/v1/namespaces/shop/deployments/web";
    assert_eq!(get_as(&sandbox, path, accept).await.json().await["kind"], "PartialObjectMetadata");
}

#[tokio::test]
async fn the_form_of_one_object_is_not_acceptable_for_a_list() {
    let sandbox = pods();
    let accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    assert_eq!(get_as(&sandbox, "/api/v1/pods", accept).await.code, 406);
}

#[tokio::test]
async fn short_lists_say_their_length_and_long_ones_come_in_chunks() {
    let sandbox = sandbox();
    let headers = get(&sandbox, "/api/v1/pods").await.headers;
    assert!(headers.contains_key("content-length"), "{headers:?}");
    sandbox.synthetic("", "pods", 20, 1_000).expect("pods");
    let headers = get(&sandbox, "/api/v1/pods").await.headers;
    assert_eq!(headers["transfer-encoding"], "chunked");
    assert!(!headers.contains_key("content-length"), "{headers:?}");
}

#[tokio::test]
async fn a_status_has_the_order_of_the_servers_types() {
    let sandbox = sandbox();
    let text = get(&sandbox, "/api/v1/namespaces/a/pods/b").await.text().await;
    assert_eq!(
        text,
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\
         \"message\":\"pods \\\"b\\\" not found\",\"reason\":\"NotFound\",\
         \"details\":{\"kind\":\"pods\",\"name\":\"b\"},\"code\":404}\n"
    );
}

#[tokio::test]
async fn the_first_form_that_the_server_has_is_sent() {
    let sandbox = pods();
    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    assert_eq!(get_as(&sandbox, "/api/v1/pods", accept).await.json().await["kind"], "Table");
    let accept = "application/json;as=Something;v=v1;g=meta.k8s.io,application/json";
    assert_eq!(get_as(&sandbox, "/api/v1/pods", accept).await.json().await["kind"], "PodList");
    let accept = "application/vnd.kubernetes.protobuf";
    assert_eq!(get_as(&sandbox, "/api/v1/pods", accept).await.code, 406);
}

#[tokio::test]
async fn selectors_narrow_a_list() {
    let sandbox = pods();
    let check = async |query: &str, expected: &[&str]| {
        let list = read(&sandbox, &format!("/api/v1/pods?{query}")).await;
        assert_eq!(names(&list), expected, "{query}");
    };
    check("labelSelector=app%3D1", &["1"]).await;
    check("labelSelector=app+in+%281%2C4%29", &["1", "4"]).await;
    check("labelSelector=app+notin+%281%2C4%29,app", &["2", "3", "5"]).await;
    check("labelSelector=%21app", &[]).await;
    check("fieldSelector=metadata.name%3D3", &["3"]).await;
    check("fieldSelector=metadata.namespace!%3Da", &["4", "5"]).await;
    assert_eq!(get(&sandbox, "/api/v1/pods?fieldSelector=status.nothing=x").await.code, 400);
    assert_eq!(get(&sandbox, "/api/v1/pods?labelSelector=a+in+(b").await.code, 400);
}

#[tokio::test]
async fn pages_show_the_state_in_which_the_first_was_read() {
    let sandbox = pods();
    let first = read(&sandbox, "/api/v1/pods?limit=2").await;
    assert_eq!(names(&first), ["1", "2"]);
    assert_eq!(first["metadata"]["remainingItemCount"], 3);
    sandbox.put(pod("a", "2b")).expect("a pod");
    sandbox.put(pod("b", "6")).expect("a pod");
    sandbox.delete("", "pods", Some("b"), "4");
    let mut changed = pod("b", "5");
    changed["spec"] = json!({"nodeName": "n"});
    sandbox.put(changed).expect("a pod");
    let path = format!("/api/v1/pods?limit=2&continue={}", token(&first));
    let second = read(&sandbox, &path).await;
    assert_eq!(names(&second), ["3", "4"]);
    assert_eq!(version(&second), version(&first));
    let path = format!("/api/v1/pods?limit=2&continue={}", token(&second));
    let third = read(&sandbox, &path).await;
    assert_eq!(names(&third), ["5"]);
    assert_eq!(third["items"][0]["spec"], Value::Null);
    assert_eq!(token(&third), "");
    assert_eq!(names(&read(&sandbox, "/api/v1/pods").await), ["1", "2", "2b", "3", "5", "6"]);
}

#[tokio::test]
async fn a_page_that_ends_with_the_list_has_no_token() {
    let sandbox = pods();
    assert_eq!(token(&read(&sandbox, "/api/v1/pods?limit=5").await), "");
    let of_a = read(&sandbox, "/api/v1/namespaces/a/pods?limit=3").await;
    assert_eq!((names(&of_a), token(&of_a)), (vec!["1", "2", "3"], ""));
}

#[tokio::test]
async fn with_a_selector_nobody_counts_what_remains() {
    let sandbox = pods();
    let list = read(&sandbox, "/api/v1/pods?limit=2&labelSelector=app").await;
    assert_ne!(token(&list), "");
    assert_eq!(list["metadata"]["remainingItemCount"], Value::Null);
}

#[tokio::test]
async fn a_page_of_a_forgotten_state_is_gone_and_a_token_for_the_rest_comes_with_it() {
    let sandbox = pods();
    let first = read(&sandbox, "/api/v1/pods?limit=2").await;
    sandbox.delete("", "pods", Some("b"), "4");
    sandbox.compact();
    let answer = get(&sandbox, &format!("/api/v1/pods?limit=2&continue={}", token(&first))).await;
    assert_eq!(answer.code, 410);
    let status = answer.json().await;
    assert_eq!(status["reason"], "Expired");
    let rest = read(&sandbox, &format!("/api/v1/pods?continue={}", token(&status))).await;
    assert_eq!(names(&rest), ["3", "5"]);
    assert_eq!(version(&rest), sandbox.version());
}

#[tokio::test]
async fn version_zero_ignores_the_limit() {
    let sandbox = pods();
    for query in
        ["resourceVersion=0&limit=2", "resourceVersion=0&resourceVersionMatch=NotOlderThan&limit=2"]
    {
        let list = read(&sandbox, &format!("/api/v1/pods?{query}")).await;
        assert_eq!((names(&list).len(), token(&list)), (5, ""), "{query}");
    }
}

#[tokio::test]
async fn not_older_than_is_paged_and_shows_the_newest_state() {
    let sandbox = pods();
    let query = "resourceVersion=1&resourceVersionMatch=NotOlderThan&limit=2";
    let list = read(&sandbox, &format!("/api/v1/pods?{query}")).await;
    assert_eq!(names(&list), ["1", "2"]);
    assert_ne!(token(&list), "");
    assert_eq!(version(&list), sandbox.version());
}

#[tokio::test]
async fn exact_shows_a_state_of_the_past_while_it_is_remembered() {
    let sandbox = pods();
    let before = sandbox.version();
    sandbox.delete("", "pods", Some("a"), "1");
    let path = format!("/api/v1/pods?resourceVersion={before}&resourceVersionMatch=Exact");
    let list = read(&sandbox, &path).await;
    assert_eq!((names(&list).len(), version(&list)), (5, before));
    // Without a rule, a page at a version is exact, and a whole list is not.
    let paged = read(&sandbox, &format!("/api/v1/pods?resourceVersion={before}&limit=9")).await;
    assert_eq!(names(&paged).len(), 5);
    let whole = read(&sandbox, &format!("/api/v1/pods?resourceVersion={before}")).await;
    assert_eq!(names(&whole).len(), 4);
    sandbox.compact();
    assert_eq!(get(&sandbox, &path).await.code, 410);
}

#[tokio::test]
async fn a_version_that_is_yet_to_come_is_a_timeout_that_says_why() {
    let sandbox = pods();
    let ahead = sandbox.version() + 1;
    let answer = get(&sandbox, &format!("/api/v1/pods?resourceVersion={ahead}")).await;
    assert_eq!(answer.code, 504);
    assert_eq!(answer.headers["retry-after"], "1");
    let status = answer.json().await;
    assert_eq!(status["reason"], "Timeout");
    assert_eq!(status["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
}

#[tokio::test]
async fn options_that_contradict_each_other_are_refused() {
    let sandbox = pods();
    let first = read(&sandbox, "/api/v1/pods?limit=2").await;
    let next = format!("continue={}", token(&first));
    let check = async |query: &str, expected: u16| {
        let answer = get(&sandbox, &format!("/api/v1/pods?{query}")).await;
        assert_eq!(answer.code, expected, "{query}");
    };
    check("resourceVersionMatch=Exact", 422).await;
    check("resourceVersionMatch=Exact&resourceVersion=0", 422).await;
    check("resourceVersionMatch=Nonsense&resourceVersion=1", 422).await;
    check(&format!("{next}&resourceVersionMatch=NotOlderThan"), 422).await;
    check(&format!("{next}&resourceVersion=3"), 400).await;
    check(&format!("{next}&resourceVersion=0"), 200).await;
    check("continue=nonsense", 400).await;
    check("resourceVersion=nonsense", 400).await;
    check("limit=nonsense", 400).await;
    check("sendInitialEvents=true", 422).await;
}
