//! Many objects, and many changes.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use kollect_sandbox::{Sandbox, StoreError};
use serde_json::Value;

use crate::support::{End, brief, get, names, pod, read, sandbox, timed, until, version};

fn pods(count: usize) -> Sandbox {
    let sandbox = sandbox();
    sandbox.synthetic("", "pods", count, 1_000).expect("pods");
    sandbox
}

#[tokio::test]
async fn synthetic_objects_are_listed_like_others_and_with_them() {
    let sandbox = pods(2_500);
    sandbox.put(pod("load-0001", "a-real-one")).expect("a pod");
    let list = read(&sandbox, "/api/v1/pods").await;
    let names = names(&list);
    assert_eq!(names.len(), 2_501);
    assert_eq!((names[0], names[1_000]), ("pods-00000000", "a-real-one"));
    let namespaces = read(&sandbox, "/api/v1/namespaces").await;
    assert_eq!(namespaces["items"].as_array().map(Vec::len), Some(4 + 3));
    let one = read(&sandbox, "/api/v1/namespaces/load-0002/pods/pods-00002001").await;
    assert_eq!(one["metadata"]["name"], "pods-00002001");
    assert_eq!(one["kind"], "Pod");
    assert_eq!(get(&sandbox, "/api/v1/namespaces/load-0001/pods/pods-00002001").await.code, 404);
}

#[tokio::test]
async fn synthetic_objects_come_in_pages_and_by_namespace() {
    let sandbox = pods(2_500);
    let of_one = read(&sandbox, "/api/v1/namespaces/load-0002/pods?limit=100").await;
    assert_eq!(names(&of_one)[0], "pods-00002000");
    assert_eq!(of_one["metadata"]["remainingItemCount"], 400);
    let mut seen = BTreeSet::new();
    let mut token = String::new();
    loop {
        let page = read(&sandbox, &format!("/api/v1/pods?limit=700&continue={token}")).await;
        seen.extend(names(&page).into_iter().map(str::to_owned));
        let next = page["metadata"]["continue"].as_str().unwrap_or_default();
        if next.is_empty() {
            break;
        }
        next.clone_into(&mut token);
    }
    assert_eq!(seen.len(), 2_500);
}

#[tokio::test]
async fn synthetic_objects_can_be_selected() {
    let sandbox = pods(200);
    let all = read(&sandbox, "/api/v1/pods").await;
    let tier = |item: &Value| item["metadata"]["labels"]["tier"].as_str().map(str::to_owned);
    let items = all["items"].as_array().expect("items");
    let wanted = tier(&items[7]).expect("a label");
    let expected = items.iter().filter(|item| tier(item).as_ref() == Some(&wanted)).count();
    let selected = read(&sandbox, &format!("/api/v1/pods?labelSelector=tier%3D{wanted}")).await;
    assert_eq!(names(&selected).len(), expected);
    assert!(expected < 200);
}

#[tokio::test]
async fn the_same_objects_are_made_in_every_run() {
    let path = "/api/v1/pods";
    let (first, second) = (pods(50), pods(50));
    assert_eq!(get(&first, path).await.text().await, get(&second, path).await.text().await);
}

#[tokio::test]
async fn synthetic_objects_change_at_a_rate_and_lists_agree_with_watches() {
    let sandbox = pods(100);
    let at = sandbox.version();
    let mut watch = get(&sandbox, &format!("/api/v1/pods?watch=true&resourceVersion={at}")).await;
    assert!(watch.is_silent().await);
    assert!(sandbox.set_rate("", "pods", 1_000.0));
    until(|| sandbox.version() >= at + 300).await;
    sandbox.set_rate("", "pods", 0.0);
    let mut told = BTreeMap::new();
    let list = read(&sandbox, "/api/v1/pods").await;
    loop {
        let event = watch.event().await;
        assert!(brief(&event).starts_with("MODIFIED pods-"), "{event}");
        told.insert(event["object"]["metadata"]["name"].to_string(), event["object"].clone());
        if version(&event["object"]) == version(&list) {
            break;
        }
    }
    for item in list["items"].as_array().expect("items") {
        if let Some(seen) = told.get(&item["metadata"]["name"].to_string()) {
            assert_eq!(seen["metadata"], item["metadata"]);
            assert_eq!(seen["status"], item["status"]);
        }
    }
    assert!(told.len() > 50, "{} objects changed", told.len());
}

#[tokio::test]
async fn the_rate_is_kept() {
    let sandbox = pods(1_000);
    let at = sandbox.version();
    sandbox.set_rate("", "pods", 2_000.0);
    let ((), duration) = timed(until(|| sandbox.version() >= at + 1_000)).await;
    assert!(duration > Duration::from_millis(400), "{duration:?}");
}

#[tokio::test]
async fn pages_show_one_state_while_synthetic_objects_change() {
    let sandbox = pods(100);
    let first = read(&sandbox, "/api/v1/pods?limit=50").await;
    let at = version(&first);
    sandbox.set_rate("", "pods", 5_000.0);
    until(|| sandbox.version() >= at + 300).await;
    let token = first["metadata"]["continue"].as_str().expect("a token");
    let second = read(&sandbox, &format!("/api/v1/pods?continue={token}")).await;
    assert_eq!((names(&second).len(), version(&second)), (50, at));
    for item in second["items"].as_array().expect("items") {
        assert!(version(item) <= at, "{item}");
    }
}

#[tokio::test]
async fn watches_end_when_the_objects_are_replaced() {
    let sandbox = pods(10);
    let at = sandbox.version();
    let mut watch = get(&sandbox, &format!("/api/v1/pods?watch=true&resourceVersion={at}")).await;
    sandbox.synthetic("", "pods", 20, 1_000).expect("pods");
    assert_eq!(watch.rest().await, (Vec::new(), End::Clean));
    let mut late = get(&sandbox, &format!("/api/v1/pods?watch=true&resourceVersion={at}")).await;
    assert_eq!(late.event().await["object"]["code"], 410);
}

#[tokio::test]
async fn a_synthetic_object_cannot_be_written() {
    let sandbox = pods(10);
    let synthetic = StoreError::Synthetic { name: "pods-00000003".into() };
    assert_eq!(sandbox.put(pod("load-0000", "pods-00000003")), Err(synthetic));
    assert!(!sandbox.delete("", "pods", Some("load-0000"), "pods-00000003"));
}

#[tokio::test]
async fn objects_of_what_is_not_defined_cannot_be_made() {
    let sandbox = sandbox();
    let unknown = StoreError::UnknownResource { group: "x".into(), resource: "y".into() };
    assert_eq!(sandbox.synthetic("x", "y", 1, 1), Err(unknown));
    assert!(!sandbox.set_rate("", "pods", 1.0));
}
