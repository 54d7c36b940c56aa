//! Watches.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    End, deployment, gateway, gateways, get, get_as, pod, sandbox, timed, until, version,
};

#[tokio::test]
async fn a_watch_tells_what_happens_after_its_version() {
    let sandbox = sandbox();
    sandbox.put(deployment("old", 1)).expect("a deployment");
    let path =
        format!("/apis/apps/v1/deployments?watch=true&resourceVersion={}", sandbox.version());
    let mut watch = get(&sandbox, &path).await;
    assert_eq!(watch.code, 200);
    sandbox.put(deployment("web", 1)).expect("a deployment");
    sandbox.put(deployment("web", 2)).expect("a deployment");
    sandbox.delete("apps", "deployments", Some("shop"), "web");
    assert_eq!(watch.brief().await, "ADDED web");
    let modified = watch.event().await;
    assert_eq!(modified["type"], "MODIFIED");
    assert_eq!(modified["object"]["kind"], "Deployment");
    assert_eq!(modified["object"]["spec"]["replicas"], 2);
    let deleted = watch.event().await;
    assert_eq!(deleted["type"], "DELETED");
    assert_eq!(version(&deleted["object"]), sandbox.version());
    assert!(watch.is_silent().await);
}

#[tokio::test]
async fn a_watch_resumes_where_another_was_left() {
    let sandbox = sandbox();
    let before = sandbox.version();
    for name in ["a", "b", "c"] {
        sandbox.put(pod("shop", name)).expect("a pod");
    }
    let path = format!("/api/v1/pods?watch=1&resourceVersion={}", before + 1);
    let mut watch = get(&sandbox, &path).await;
    assert_eq!(watch.brief().await, "ADDED b");
    assert_eq!(watch.brief().await, "ADDED c");
}

#[tokio::test]
async fn a_watch_without_a_version_begins_with_what_is_there() {
    let sandbox = sandbox();
    sandbox.put(pod("shop", "a")).expect("a pod");
    for query in ["watch=true", "watch=true&resourceVersion=0"] {
        let mut watch = get(&sandbox, &format!("/api/v1/pods?{query}")).await;
        assert_eq!(watch.brief().await, "ADDED a", "{query}");
        assert!(watch.is_silent().await);
    }
}

#[tokio::test]
async fn a_watch_that_is_too_old_is_answered_and_then_told_so() {
    let sandbox = sandbox();
    let before = sandbox.version();
    sandbox.put(pod("shop", "a")).expect("a pod");
    sandbox.compact();
    let path = format!("/api/v1/pods?watch=true&resourceVersion={before}");
    let mut watch = get(&sandbox, &path).await;
    assert_eq!(watch.code, 200);
    let error = watch.event().await;
    assert_eq!(error["type"], "ERROR");
    assert_eq!(error["object"]["kind"], "Status");
    assert_eq!(error["object"]["code"], 410);
    assert_eq!(error["object"]["reason"], "Expired");
    assert_eq!(watch.raw_line().await, None);
}

#[tokio::test]
async fn only_so_many_events_are_remembered_for_new_watches() {
    let sandbox = sandbox();
    sandbox.set_history(2);
    let begin = sandbox.version();
    let mut open = get(&sandbox, &format!("/api/v1/pods?watch=true&resourceVersion={begin}")).await;
    for name in ["a", "b", "c", "d"] {
        sandbox.put(pod("shop", name)).expect("a pod");
    }
    let path = |version| format!("/api/v1/pods?watch=true&resourceVersion={version}");
    let mut late = get(&sandbox, &path(begin + 1)).await;
    assert_eq!(late.event().await["object"]["code"], 410);
    let mut in_time = get(&sandbox, &path(begin + 2)).await;
    assert_eq!(in_time.brief().await, "ADDED c");
    // Other resources have a memory of their own, and open watches miss nothing.
    let mut other =
        get(&sandbox, &format!("/api/v1/secrets?watch=true&resourceVersion={begin}")).await;
    assert!(other.is_silent().await);
    for name in ["a", "b", "c", "d"] {
        assert_eq!(open.brief().await, format!("ADDED {name}"));
    }
}

#[tokio::test]
async fn a_watch_ahead_of_the_server_is_answered_with_silence() {
    let sandbox = sandbox();
    sandbox.set_bookmark_interval(Duration::from_millis(10));
    let ahead = sandbox.version() + 3;
    let query = format!("watch=true&allowWatchBookmarks=true&resourceVersion={ahead}");
    let mut watch = get(&sandbox, &format!("/api/v1/pods?{query}")).await;
    assert_eq!(watch.code, 200);
    sandbox.put(pod("shop", "a")).expect("a pod");
    assert!(watch.is_silent().await);
}

#[tokio::test]
async fn a_watch_ends_when_its_time_is_over() {
    let sandbox = sandbox();
    let path = "/api/v1/pods?watch=true&timeoutSeconds=1";
    let mut watch = get(&sandbox, path).await;
    let ((data, end), duration) = timed(watch.rest()).await;
    assert_eq!((data.len(), end), (0, End::Clean));
    assert!(duration > Duration::from_millis(500), "{duration:?}");
}

#[tokio::test]
async fn before_its_time_is_over_a_watch_says_where_to_go_on() {
    let sandbox = sandbox();
    let path = "/api/v1/pods?watch=true&timeoutSeconds=1&allowWatchBookmarks=true";
    let mut watch = get(&sandbox, path).await;
    let bookmark = watch.event().await;
    assert_eq!(bookmark["type"], "BOOKMARK");
    assert_eq!(version(&bookmark["object"]), sandbox.version());
    assert_eq!(watch.rest().await, (Vec::new(), End::Clean));
}

#[tokio::test]
async fn a_watch_of_one_namespace_hears_nothing_of_others() {
    let sandbox = sandbox();
    let path =
        format!("/api/v1/namespaces/a/pods?watch=true&resourceVersion={}", sandbox.version());
    let mut watch = get(&sandbox, &path).await;
    sandbox.put(pod("b", "other")).expect("a pod");
    sandbox.put(pod("a", "own")).expect("a pod");
    assert_eq!(watch.brief().await, "ADDED own");
}

#[tokio::test]
async fn objects_come_and_go_when_they_begin_and_cease_to_match() {
    let sandbox = sandbox();
    let query =
        format!("watch=true&labelSelector=tier%3Dfront&resourceVersion={}", sandbox.version());
    let mut watch = get(&sandbox, &format!("/api/v1/pods?{query}")).await;
    let put = |tier: &str| {
        let mut pod = pod("shop", "a");
        pod["metadata"]["labels"] = json!({"tier": tier});
        sandbox.put(pod).expect("a pod")
    };
    put("back");
    put("front");
    let last = put("back");
    assert_eq!(watch.brief().await, "ADDED a");
    let deleted = watch.event().await;
    assert_eq!(deleted["type"], "DELETED");
    assert_eq!(deleted["object"]["metadata"]["labels"]["tier"], "front");
    assert_eq!(version(&deleted["object"]), version(&last));
}

#[tokio::test]
async fn bookmarks_tell_how_far_the_server_is() {
    let sandbox = sandbox();
    sandbox.set_bookmark_interval(Duration::from_millis(20));
    let path = "/api/v1/pods?watch=true&allowWatchBookmarks=true";
    let mut watch = get(&sandbox, path).await;
    sandbox.put(deployment("of-another-kind", 1)).expect("a deployment");
    let newest = sandbox.version();
    loop {
        let bookmark = watch.event().await;
        assert_eq!(bookmark["type"], "BOOKMARK");
        assert_eq!(bookmark["object"]["kind"], "Pod");
        if version(&bookmark["object"]) == newest {
            break;
        }
    }
    let mut without = get(&sandbox, "/api/v1/pods?watch=true").await;
    assert!(without.is_silent().await);
}

#[tokio::test]
async fn a_watch_list_begins_with_everything_and_says_when_that_is_complete() {
    let sandbox = sandbox();
    sandbox.put(pod("a", "1")).expect("a pod");
    sandbox.put(pod("b", "2")).expect("a pod");
    let at = sandbox.version();
    let query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan\
                 &allowWatchBookmarks=true";
    let mut watch = get(&sandbox, &format!("/api/v1/pods?{query}")).await;
    assert_eq!(watch.brief().await, "ADDED 1");
    assert_eq!(watch.brief().await, "ADDED 2");
    let bookmark = watch.event().await;
    assert_eq!(bookmark["type"], "BOOKMARK");
    assert_eq!(version(&bookmark["object"]), at);
    let annotations = &bookmark["object"]["metadata"]["annotations"];
    assert_eq!(annotations["k8s.io/initial-events-end"], "true");
    sandbox.put(pod("b", "3")).expect("a pod");
    assert_eq!(watch.brief().await, "ADDED 3");
}

#[tokio::test]
async fn initial_events_may_be_declined() {
    let sandbox = sandbox();
    sandbox.put(pod("a", "1")).expect("a pod");
    let query = "watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
    let mut watch = get(&sandbox, &format!("/api/v1/pods?{query}")).await;
    sandbox.put(pod("a", "2")).expect("a pod");
    assert_eq!(watch.brief().await, "ADDED 2");
}

#[tokio::test]
async fn options_that_contradict_each_other_are_refused_before_the_stream() {
    let sandbox = sandbox();
    let check = async |query: &str, expected: u16| {
        let answer = get(&sandbox, &format!("/api/v1/pods?watch=true&{query}")).await;
        assert_eq!(answer.code, expected, "{query}");
    };
    check("sendInitialEvents=true", 422).await;
    check("resourceVersionMatch=NotOlderThan", 422).await;
    // Not what one would expect, and what real servers do.
    check("resourceVersion=nonsense", 500).await;
    check("timeoutSeconds=nonsense", 400).await;
}

#[tokio::test]
async fn metadata_alone_can_be_watched() {
    let sandbox = sandbox();
    sandbox.put(deployment("web", 1)).expect("a deployment");
    let accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let mut watch = get_as(&sandbox, "/apis/apps/v1/deployments?watch=true", accept).await;
    let event = watch.event().await;
    assert_eq!(event["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(event["object"]["spec"], Value::Null);
}

#[tokio::test]
async fn a_watch_in_the_form_of_lists_ends_at_the_first_event() {
    let sandbox = sandbox();
    let accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let mut watch = get_as(&sandbox, "/api/v1/pods?watch=true", accept).await;
    assert_eq!(watch.code, 200);
    assert!(watch.is_silent().await);
    sandbox.put(pod("a", "1")).expect("a pod");
    assert_eq!(watch.rest().await, (Vec::new(), End::Clean));
}

#[tokio::test]
async fn bookmarks_of_custom_kinds_have_sorted_keys() {
    let sandbox = sandbox();
    sandbox.define(gateways("v1"));
    let query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan\
                 &allowWatchBookmarks=true";
    let path = format!("/apis/gateway.networking.k8s.io/v1/gateways?{query}");
    let line = get(&sandbox, &path).await.raw_line().await.expect("a bookmark");
    let expected = format!(
        r#"{{"type":"BOOKMARK","object":{{"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway","metadata":{{"annotations":{{"k8s.io/initial-events-end":"true"}},"resourceVersion":"{}"}}}}}}"#,
        sandbox.version()
    );
    assert_eq!(line.trim_end(), expected);
}

#[tokio::test]
async fn a_watch_ends_with_the_last_objects_when_its_definition_goes() {
    let sandbox = sandbox();
    sandbox.define(gateways("v1"));
    sandbox.put(gateway("a")).expect("a gateway");
    let path = "/apis/gateway.networking.k8s.io/v1/gateways?watch=true";
    let mut watch = get(&sandbox, path).await;
    assert_eq!(watch.brief().await, "ADDED a");
    sandbox.remove_definition("gateway.networking.k8s.io", "v1", "gateways");
    assert_eq!(watch.brief().await, "DELETED a");
    assert_eq!(watch.raw_line().await, None);
    assert_eq!(watch.rest().await.1, End::Clean);
}

#[tokio::test]
async fn a_watch_of_one_version_ends_when_that_version_goes() {
    let sandbox = sandbox();
    sandbox.define(gateways("v1"));
    sandbox.define(gateways("v1beta1"));
    let path = |version| format!("/apis/gateway.networking.k8s.io/{version}/gateways?watch=true");
    let mut old = get(&sandbox, &path("v1beta1")).await;
    let mut new = get(&sandbox, &path("v1")).await;
    sandbox.remove_definition("gateway.networking.k8s.io", "v1beta1", "gateways");
    assert_eq!(old.rest().await.1, End::Clean);
    sandbox.put(gateway("a")).expect("a gateway");
    assert_eq!(new.brief().await, "ADDED a");
}

#[tokio::test]
async fn a_watch_ends_when_its_definition_is_replaced_and_the_objects_stay() {
    let sandbox = sandbox();
    sandbox.define(gateways("v1"));
    sandbox.put(gateway("a")).expect("a gateway");
    let path = "/apis/gateway.networking.k8s.io/v1/gateways?watch=true";
    let mut watch = get(&sandbox, path).await;
    assert_eq!(watch.brief().await, "ADDED a");
    sandbox.define(gateways("v1"));
    assert_eq!(watch.rest().await, (Vec::new(), End::Clean));
    assert_eq!(get(&sandbox, path).await.brief().await, "ADDED a");
}

#[tokio::test]
async fn open_watches_are_counted_until_their_clients_go() {
    let sandbox = sandbox();
    let first = get(&sandbox, "/api/v1/pods?watch=true").await;
    let second = get(&sandbox, "/api/v1/secrets?watch=true").await;
    assert_eq!(sandbox.open_watches(), 2);
    drop(first);
    until(|| sandbox.open_watches() == 1).await;
    drop(second);
    until(|| sandbox.open_watches() == 0).await;
}

#[tokio::test]
async fn everything_ends_with_the_sandbox() {
    let sandbox = sandbox();
    let mut watch = get(&sandbox, "/api/v1/pods?watch=true").await;
    drop(sandbox);
    assert_ne!(watch.rest().await.1, End::Clean);
}
