//! Many objects, and many changes.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use kollect_sandbox::{Changes, Sandbox, StoreError};
use serde_json::Value;

use crate::support::{
    Answer, End, brief, get, names, pod, read, sandbox, send, timed, until, version,
};

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

/// Follows a watch up to a version, and returns what it says there is.
async fn told(watch: &mut Answer, mut known: BTreeMap<String, Value>, until: u64) -> Told {
    let mut kinds = BTreeMap::new();
    loop {
        let event = watch.event().await;
        let kind = event["type"].as_str().expect("a type").to_owned();
        let object = event["object"].clone();
        let name = object["metadata"]["name"].as_str().expect("a name").to_owned();
        let before = match kind.as_str() {
            "DELETED" => known.remove(&name),
            _ => known.insert(name, object.clone()),
        };
        // Nothing is made that is there, and nothing else changes that is not.
        assert_eq!(before.is_none(), kind == "ADDED", "{event}");
        let uid = before.map(|before| before["metadata"]["uid"].clone());
        assert_eq!(
            uid.unwrap_or_else(|| object["metadata"]["uid"].clone()),
            object["metadata"]["uid"]
        );
        *kinds.entry(kind).or_default() += 1;
        if version(&object) >= until {
            return Told { known, kinds };
        }
    }
}

struct Told {
    known: BTreeMap<String, Value>,
    kinds: BTreeMap<String, usize>,
}

fn by_name(list: &Value) -> BTreeMap<String, Value> {
    let items = list["items"].as_array().expect("items");
    let name = |item: &Value| item["metadata"]["name"].as_str().expect("a name").to_owned();
    items.iter().map(|item| (name(item), item.clone())).collect()
}

#[tokio::test]
async fn synthetic_objects_come_and_go_and_lists_agree_with_watches() {
    let sandbox = pods(100);
    let before = read(&sandbox, "/api/v1/pods").await;
    let at = version(&before);
    let mut watch = get(&sandbox, &format!("/api/v1/pods?watch=true&resourceVersion={at}")).await;
    let changes = Changes { per_second: 2_000.0, per_cent_new: 20, per_cent_gone: 30 };
    assert!(sandbox.set_changes("", "pods", changes));
    until(|| sandbox.version() >= at + 1_000).await;
    assert!(sandbox.set_changes("", "pods", Changes::default()));
    let after = read(&sandbox, "/api/v1/pods").await;
    let Told { known, kinds } = told(&mut watch, by_name(&before), version(&after)).await;
    assert!(["ADDED", "DELETED", "MODIFIED"].iter().all(|kind| kinds[*kind] > 50), "{kinds:?}");
    let after = by_name(&after);
    assert_eq!(known.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    for (name, item) in &after {
        assert_eq!(known[name]["metadata"], item["metadata"]);
    }
    assert!(after.len() < 90, "{} are left", after.len());
    let first = read(&sandbox, "/api/v1/pods?limit=1").await;
    assert_eq!(first["metadata"]["remainingItemCount"], after.len() - 1);
    let at_first =
        read(&sandbox, &format!("/api/v1/pods?resourceVersion={at}&resourceVersionMatch=Exact"))
            .await;
    assert_eq!(by_name(&at_first), by_name(&before));
}

#[tokio::test]
async fn a_name_that_comes_back_is_another_object() {
    let sandbox = pods(1);
    let path = "/api/v1/namespaces/load-0000/pods/pods-00000000";
    let first = read(&sandbox, path).await;
    let gone = Changes { per_second: 1_000.0, per_cent_new: 0, per_cent_gone: 100 };
    assert!(sandbox.set_changes("", "pods", gone));
    let at = sandbox.version();
    until(|| sandbox.version() > at).await;
    assert_eq!(get(&sandbox, path).await.code, 404);
    sandbox.set_changes("", "pods", Changes { per_cent_new: 100, per_cent_gone: 0, ..gone });
    while get(&sandbox, path).await.code == 404 {
        tokio::task::yield_now().await;
    }
    let second = read(&sandbox, path).await;
    assert_ne!(first["metadata"]["uid"], second["metadata"]["uid"]);
}

#[tokio::test]
async fn load_and_changes_are_set_from_outside() {
    let sandbox = sandbox();
    let post = async |path: &str, body: &str| {
        let headers = [("content-type", "application/json")];
        send(&sandbox, "POST", path, &headers, body).await.expect("an answer").code
    };
    let load = r#"{"group": "apps", "resource": "deployments", "count": 30}"#;
    assert_eq!(post("/sandbox/load", load).await, 200);
    assert_eq!(names(&read(&sandbox, "/apis/apps/v1/deployments").await).len(), 30);
    let at = sandbox.version();
    let rate = r#"{"group": "apps", "resource": "deployments", "perSecond": 1000, "perCentNew": 5, "perCentGone": 5}"#;
    assert_eq!(post("/sandbox/changes", rate).await, 200);
    until(|| sandbox.version() >= at + 50).await;
    assert_eq!(post("/sandbox/changes", r#"{"resource": "pods", "perSecond": 1}"#).await, 404);
    assert_eq!(post("/sandbox/load", r#"{"resource": "nothings", "count": 1}"#).await, 400);
    let much = r#"{"resource": "pods", "perSecond": 1, "perCentNew": 60, "perCentGone": 60}"#;
    assert_eq!(post("/sandbox/changes", much).await, 400);
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
