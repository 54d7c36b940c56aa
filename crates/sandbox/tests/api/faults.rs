//! Everything that can go wrong, on demand.

use std::{io::Read as _, time::Duration};

use flate2::read::GzDecoder;
use kollect_sandbox::{Cut, Fault, On, Sandbox, Verb};

use crate::support::{End, brief, get, names, pod, read, sandbox, send, timed};

/// Twenty pods, which are more than one chunk.
fn pods() -> Sandbox {
    let sandbox = sandbox();
    for number in 10..30 {
        let mut pod = pod("shop", &number.to_string());
        pod["spec"] = serde_json::json!({"filler": "lorem ipsum ".repeat(50)});
        sandbox.put(pod).expect("a pod");
    }
    sandbox
}

/// Three pods, and what each watch begins with.
fn few() -> Sandbox {
    let sandbox = sandbox();
    for name in ["1", "2", "3"] {
        sandbox.put(pod("shop", name)).expect("a pod");
    }
    sandbox
}

/// Longer than anything takes by itself.
const LATE: Duration = Duration::from_millis(300);

const WATCH: &str = "/api/v1/pods?watch=true";
const WATCH_LIST: &str = "/api/v1/pods?watch=true&sendInitialEvents=true\
                          &resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

#[tokio::test]
async fn an_answer_may_be_late() {
    let sandbox = few();
    sandbox.inject(On::list("pods").nth(1), Fault::Latency(Duration::from_millis(300)));
    let (list, late) = timed(read(&sandbox, "/api/v1/pods")).await;
    assert_eq!(names(&list).len(), 3);
    assert!(late >= Duration::from_millis(300), "{late:?}");
    let (_, usual) = timed(read(&sandbox, "/api/v1/pods")).await;
    assert!(usual < Duration::from_millis(300), "{usual:?}");
}

#[tokio::test]
async fn too_many_requests_come_with_a_time_to_wait() {
    let sandbox = few();
    sandbox.inject(On::any().first(2), Fault::TooManyRequests { retry_after: 7 });
    for _ in 0..2 {
        let answer = get(&sandbox, "/api/v1/pods").await;
        assert_eq!((answer.code, answer.headers["retry-after"].as_str()), (429, "7"));
        let status = answer.json().await;
        assert_eq!(status["reason"], "TooManyRequests");
        assert_eq!(status["details"]["retryAfterSeconds"], 7);
    }
    assert_eq!(get(&sandbox, "/api/v1/pods").await.code, 200);
}

#[tokio::test]
async fn a_status_is_answered_until_the_fault_is_lifted() {
    let sandbox = few();
    let expected = [
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (500, "InternalError"),
        (503, "ServiceUnavailable"),
        (504, "Timeout"),
    ];
    for (code, reason) in expected {
        let fault = sandbox.inject(On::any().resource("pods"), Fault::Status(code));
        for path in ["/api/v1/pods", WATCH, "/api/v1/namespaces/shop/pods/1"] {
            let answer = get(&sandbox, path).await;
            assert_eq!(answer.code, code);
            assert_eq!(answer.json().await["reason"], reason);
        }
        assert_eq!(get(&sandbox, "/api/v1/secrets").await.code, 200);
        assert!(sandbox.lift(fault));
        assert!(!sandbox.lift(fault));
        assert_eq!(get(&sandbox, "/api/v1/pods").await.code, 200);
    }
}

#[tokio::test]
async fn a_fault_can_be_for_one_namespace_and_one_request() {
    let sandbox = few();
    sandbox.inject(On::list("pods").namespace("shop").nth(2), Fault::Status(500));
    let mut codes = Vec::new();
    for namespace in ["shop", "other", "shop", "shop"] {
        codes.push(get(&sandbox, &format!("/api/v1/namespaces/{namespace}/pods")).await.code);
    }
    assert_eq!(codes, [200, 200, 500, 200]);
}

#[tokio::test]
async fn single_objects_fail_like_lists_and_alone() {
    let sandbox = sandbox();
    sandbox.put(pod("default", "one")).expect("a pod");
    let (one, all) = ("/api/v1/namespaces/default/pods/one", "/api/v1/pods");
    sandbox.inject(On::get("pods").nth(1), Fault::TooManyRequests { retry_after: 7 });
    sandbox.inject(On::get("pods").nth(2), Fault::Status(500));
    sandbox.inject(On::get("pods").nth(3), Fault::Refuse);
    sandbox.inject(On::get("pods").nth(4), Fault::Latency(LATE));
    let answer = get(&sandbox, one).await;
    assert_eq!((answer.code, answer.headers["retry-after"].as_str()), (429, "7"));
    assert_eq!(get(&sandbox, one).await.code, 500);
    assert!(send(&sandbox, "GET", one, &[], "").await.is_err());
    let (answer, duration) = timed(get(&sandbox, one)).await;
    assert_eq!(answer.code, 200);
    assert!(duration >= LATE, "{duration:?}");
    assert_eq!(get(&sandbox, one).await.code, 200);
    assert_eq!(get(&sandbox, all).await.code, 200);
}

#[tokio::test]
async fn discovery_can_fail_whole() {
    let sandbox = few();
    sandbox.inject(On::any().verb(Verb::Discovery), Fault::Status(503));
    assert_eq!(get(&sandbox, "/apis").await.code, 503);
    assert_eq!(get(&sandbox, "/api/v1/pods").await.code, 200);
    sandbox.lift_all();
    sandbox.inject(On::any().verb(Verb::Discovery).group("apps"), Fault::Status(503));
    assert_eq!(get(&sandbox, "/apis/apps/v1").await.code, 503);
    assert_eq!(get(&sandbox, "/apis/batch/v1").await.code, 200);
}

#[tokio::test]
async fn a_connection_may_be_closed_without_an_answer() {
    let sandbox = few();
    sandbox.inject(On::list("pods"), Fault::Refuse);
    assert!(send(&sandbox, "GET", "/api/v1/pods", &[], "").await.is_err());
}

#[tokio::test]
async fn a_list_may_be_cut_in_the_middle() {
    let sandbox = pods();
    let (whole, _) = get(&sandbox, "/api/v1/pods").await.rest().await;
    for bytes in [0, 1, 5_000, 9_000] {
        for (how, expected) in
            [(Cut::End, End::Clean), (Cut::Close, End::Closed), (Cut::Reset, End::Reset)]
        {
            let fault = sandbox.inject(On::list("pods"), Fault::CutAfterBytes { bytes, how });
            let (data, end) = get(&sandbox, "/api/v1/pods").await.rest().await;
            assert_eq!(end, expected, "after {bytes} bytes");
            assert_eq!(data, whole[..bytes], "{how:?}");
            sandbox.lift(fault);
        }
    }
}

#[tokio::test]
async fn documents_can_be_cut_like_lists() {
    let sandbox = few();
    sandbox.inject(On::any(), Fault::CutAfterBytes { bytes: 10, how: Cut::Reset });
    let (data, end) = get(&sandbox, "/apis").await.rest().await;
    assert_eq!((data.len(), end), (10, End::Reset));
}

#[tokio::test]
async fn a_watch_may_be_cut_at_once_or_after_some_events() {
    let sandbox = few();
    for events in [0, 2] {
        for (how, expected) in
            [(Cut::End, End::Clean), (Cut::Close, End::Closed), (Cut::Reset, End::Reset)]
        {
            let on = On::watch("pods").nth(1);
            sandbox.inject(on, Fault::CutAfterEvents { events, how });
            let (data, end) = get(&sandbox, WATCH).await.rest().await;
            let lines = String::from_utf8(data).expect("text").lines().count();
            assert_eq!((lines, end), (events, expected));
        }
    }
    assert_eq!(get(&sandbox, WATCH).await.brief().await, "ADDED 1");
}

#[tokio::test]
async fn a_watch_may_go_silent_and_stay_open() {
    let sandbox = few();
    sandbox.set_bookmark_interval(Duration::from_millis(10));
    sandbox.inject(On::watch("pods"), Fault::SilenceAfterEvents(2));
    let path = format!("{WATCH}&allowWatchBookmarks=true&timeoutSeconds=1");
    let mut watch = get(&sandbox, &path).await;
    assert_eq!(watch.brief().await, "ADDED 1");
    assert_eq!(watch.brief().await, "ADDED 2");
    sandbox.put(pod("shop", "4")).expect("a pod");
    assert!(watch.is_silent().await);
    assert_eq!(sandbox.open_watches(), 1);
}

#[tokio::test]
async fn a_watch_may_be_told_that_it_is_too_old() {
    let sandbox = few();
    sandbox.inject(On::watch("pods").nth(1), Fault::ExpireWatch);
    let mut watch = get(&sandbox, WATCH).await;
    assert_eq!(watch.code, 200);
    let error = watch.event().await;
    assert_eq!((&error["type"], &error["object"]["code"]), (&"ERROR".into(), &410.into()));
    assert_eq!(watch.rest().await, (Vec::new(), End::Clean));
    assert_eq!(get(&sandbox, WATCH).await.brief().await, "ADDED 1");
}

#[tokio::test]
async fn a_watch_may_end_with_any_error() {
    let sandbox = few();
    for code in [401, 403, 429, 500, 504] {
        let on = On::watch("pods").nth(1);
        sandbox.inject(on, Fault::ErrorAfterEvents { events: 1, code });
        let mut watch = get(&sandbox, WATCH).await;
        assert_eq!(watch.brief().await, "ADDED 1");
        assert_eq!(watch.event().await["object"]["code"], code);
        assert_eq!(watch.rest().await, (Vec::new(), End::Clean));
    }
}

#[tokio::test]
async fn a_page_may_be_forgotten_on_demand() {
    let sandbox = few();
    sandbox.inject(On::list("pods"), Fault::ExpireContinue);
    let first = read(&sandbox, "/api/v1/pods?limit=1").await;
    let token = first["metadata"]["continue"].as_str().expect("a token");
    let answer = get(&sandbox, &format!("/api/v1/pods?limit=1&continue={token}")).await;
    assert_eq!(answer.code, 410);
    let status = answer.json().await;
    sandbox.lift_all();
    let token = status["metadata"]["continue"].as_str().expect("a token");
    let rest = read(&sandbox, &format!("/api/v1/pods?continue={token}")).await;
    assert_eq!(names(&rest), ["2", "3"]);
}

#[tokio::test]
async fn a_watch_list_may_be_refused_after_the_answer_has_begun() {
    let sandbox = few();
    sandbox.inject(On::watch("pods"), Fault::RefuseWatchList);
    let mut watch = get(&sandbox, WATCH_LIST).await;
    assert_eq!(watch.code, 200);
    let error = watch.event().await;
    assert_eq!(error["type"], "ERROR");
    assert_eq!(error["object"]["code"], 500);
    assert_eq!(error["object"]["reason"], "InternalError");
    let message = error["object"]["message"].as_str().expect("a message");
    assert!(message.contains("storage feature RequestWatchProgress is disabled"), "{message}");
    assert_eq!(watch.rest().await, (Vec::new(), End::Clean));
    // Watches of another kind are served as ever.
    assert_eq!(get(&sandbox, WATCH).await.brief().await, "ADDED 1");
    let declined = WATCH_LIST.replace("sendInitialEvents=true", "sendInitialEvents=false");
    let mut watch = get(&sandbox, &declined).await;
    sandbox.put(pod("shop", "4")).expect("a pod");
    assert_eq!(watch.brief().await, "ADDED 4");
}

#[tokio::test]
async fn garbage_may_stand_between_the_events_of_a_watch() {
    let sandbox = few();
    let bytes = b"{\"type\":\"ADDED\",\"obj\xff\n".to_vec();
    sandbox.inject(On::watch("pods"), Fault::BytesAfterEvents { events: 3, bytes: bytes.clone() });
    sandbox.inject(On::watch("pods"), Fault::CutAfterEvents { events: 4, how: Cut::End });
    let mut watch = get(&sandbox, WATCH).await;
    for name in ["1", "2", "3"] {
        assert_eq!(watch.brief().await, format!("ADDED {name}"));
    }
    assert_eq!(watch.rest().await, (bytes, End::Clean));
}

#[tokio::test]
async fn a_watch_may_be_cut_within_an_event() {
    let sandbox = few();
    for (how, expected) in [(Cut::End, End::Clean), (Cut::Reset, End::Reset)] {
        let on = On::watch("pods").nth(1);
        sandbox.inject(on, Fault::HalfAnEventAfterEvents { events: 1, how });
        let mut watch = get(&sandbox, WATCH).await;
        assert_eq!(watch.brief().await, "ADDED 1");
        let (half, end) = watch.rest().await;
        assert!(half.starts_with(b"{\"type\":\"ADDED\""));
        assert!(!half.ends_with(b"\n"));
        assert_eq!(end, expected);
    }
}

#[tokio::test]
async fn an_answer_may_be_compressed_though_nobody_asked() {
    let sandbox = pods();
    let identity = [("accept-encoding", "identity")];
    let plain = send(&sandbox, "GET", "/api/v1/pods", &identity, "").await.expect("an answer");
    let plain = plain.text().await;
    sandbox.inject(On::any(), Fault::Gzip);
    let mut answer = send(&sandbox, "GET", "/api/v1/pods", &identity, "").await.expect("an answer");
    assert_eq!(answer.headers["content-encoding"], "gzip");
    let (data, end) = answer.rest().await;
    assert_eq!(end, End::Clean);
    let mut text = String::new();
    GzDecoder::new(data.as_slice()).read_to_string(&mut text).expect("a gzip stream");
    assert_eq!(text, plain);
}

#[tokio::test]
async fn events_can_be_read_from_a_compressed_watch_when_they_happen() {
    let sandbox = few();
    sandbox.inject(On::watch("pods"), Fault::Gzip);
    let mut watch = get(&sandbox, WATCH).await;
    let mut data = Vec::new();
    let mut text = Vec::new();
    while !text.ends_with(b"\n") || String::from_utf8_lossy(&text).lines().count() < 3 {
        data.extend(watch.some().await);
        text.clear();
        let read = GzDecoder::new(data.as_slice()).read_to_end(&mut text);
        assert!(read.is_err(), "the stream has not ended");
    }
    assert!(watch.is_silent().await);
}

#[tokio::test]
async fn bookmarks_may_be_withheld() {
    let sandbox = few();
    sandbox.set_bookmark_interval(Duration::from_millis(10));
    sandbox.inject(On::watch("pods"), Fault::WithholdBookmarks);
    let mut watch = get(&sandbox, WATCH_LIST).await;
    for name in ["1", "2", "3"] {
        assert_eq!(watch.brief().await, format!("ADDED {name}"));
    }
    assert!(watch.is_silent().await);
    sandbox.lift_all();
    let mut watch = get(&sandbox, WATCH_LIST).await;
    for _ in 0..3 {
        watch.event().await;
    }
    assert_eq!(brief(&watch.event().await), "BOOKMARK -");
}

#[tokio::test]
async fn several_faults_can_meet_in_one_request() {
    let sandbox = few();
    sandbox.inject(On::any(), Fault::Latency(Duration::from_millis(100)));
    sandbox.inject(On::any(), Fault::Status(503));
    let (answer, late) = timed(get(&sandbox, "/api/v1/pods")).await;
    assert_eq!(answer.code, 503);
    assert!(late >= Duration::from_millis(100), "{late:?}");
}

#[tokio::test]
async fn the_log_tells_what_a_client_did() {
    let sandbox = few();
    let headers = [("accept", "application/json"), ("user-agent", "test"), ("x-other", "1")];
    let path = "/apis/apps/v1/namespaces/shop/deployments?watch=true&labelSelector=a%3Db";
    let _watch = send(&sandbox, "GET", path, &headers, "").await.expect("an answer");
    read(&sandbox, "/api").await;
    let requests = sandbox.requests();
    let [watch, api] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(watch.verb, Verb::Watch);
    assert_eq!(watch.path, "/apis/apps/v1/namespaces/shop/deployments");
    assert_eq!((watch.group(), watch.resource()), ("apps", "deployments"));
    assert_eq!(watch.namespace(), Some("shop"));
    assert_eq!(watch.parameter("labelSelector"), "a=b");
    assert_eq!(watch.headers["user-agent"], "test");
    assert_eq!(watch.headers.len(), 2);
    assert_eq!((api.verb, api.method.as_str()), (Verb::Discovery, "GET"));
    assert_ne!(watch.connection, api.connection);
    sandbox.clear_requests();
    assert!(sandbox.requests().is_empty());
}

#[tokio::test]
async fn a_test_can_wait_for_a_request() {
    let sandbox = few();
    let waiting = sandbox.requested(|request| request.verb == Verb::List);
    let asking = async {
        read(&sandbox, "/api").await;
        read(&sandbox, "/api/v1/pods").await;
    };
    let (request, ()) = tokio::join!(waiting, asking);
    assert_eq!(request.resource(), "pods");
}
