use std::{convert::Infallible, sync::atomic::AtomicU64};

use http::Response;
use http_body_util::{BodyExt as _, Full};
use jiff::Timestamp;

use super::*;

/// A clock that goes when it is told to.
#[derive(Debug, Default)]
struct Clockwork(AtomicU64);

impl Clock for Clockwork {
    fn moment(&self) -> Moment {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }

    fn timestamp(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn chance(&self) -> f64 {
        0.0
    }
}

/// A server that knows the tokens of Ann, who may, and of Bob, who may not.
#[derive(Clone, Default)]
struct Server {
    asked: Arc<Mutex<Vec<Value>>>,
    is_down: Arc<AtomicBool>,
}

impl Server {
    fn client(&self) -> Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let server = server.clone();
            async move {
                let path = request.uri().path().to_owned();
                let body = request.into_body().collect().await.unwrap().to_bytes();
                let question: Value = serde_json::from_slice(&body).unwrap();
                let answer = answer(&path, &question);
                server.asked.lock().unwrap().push(question);
                let code = if server.is_down.load(Ordering::Relaxed) { 503 } else { 201 };
                let body = Full::new(bytes::Bytes::from(answer.to_string()));
                Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap())
            }
        });
        Client::new(service, "default")
    }

    fn questions(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

fn answer(path: &str, question: &Value) -> Value {
    if path == TOKENS {
        let name = question.pointer("/spec/token").and_then(Value::as_str).unwrap();
        let is_known = ["ann", "bob"].contains(&name);
        let user = json!({"username": name, "groups": ["people"], "extra": {"a": ["b"]}});
        return json!({"status": {"authenticated": is_known, "user": user}});
    }
    assert_eq!(path, ACCESS);
    json!({"status": {"allowed": question.pointer("/spec/user") == Some(&json!("ann"))}})
}

fn scene() -> (Server, Arc<Clockwork>, Reviews) {
    let (server, clock) = (Server::default(), Arc::new(Clockwork::default()));
    let reviews = Reviews::new(server.client(), Arc::clone(&clock) as Arc<dyn Clock>);
    (server, clock, reviews)
}

#[tokio::test]
async fn somebody_who_may_is_told_from_somebody_who_may_not_and_from_nobody() {
    let (server, _, reviews) = scene();
    assert_eq!(reviews.judge("ann").await, Ok(Verdict::Welcome));
    assert_eq!(reviews.judge("bob").await, Ok(Verdict::Forbidden));
    assert_eq!(reviews.judge("eve").await, Ok(Verdict::Unknown));
    let asked = server.asked.lock().unwrap();
    let expected = json!({
        "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
        "user": "ann", "uid": null, "groups": ["people"], "extra": {"a": ["b"]},
    });
    assert_eq!(asked[1]["spec"], expected, "everything that is known of her counts");
}

#[tokio::test]
async fn an_answer_holds_for_half_a_minute() {
    let (server, clock, reviews) = scene();
    for token in ["ann", "eve", "ann", "eve"] {
        reviews.judge(token).await.unwrap();
    }
    assert_eq!(server.questions(), 3);
    clock.0.store(30, Ordering::Relaxed);
    reviews.judge("ann").await.unwrap();
    assert_eq!(server.questions(), 5);
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_asked_again() {
    let (server, _, reviews) = scene();
    server.is_down.store(true, Ordering::Relaxed);
    let error = reviews.judge("ann").await.unwrap_err();
    assert_eq!(error, format!("{TOKENS}: the server answered 503 Service Unavailable"));
    server.is_down.store(false, Ordering::Relaxed);
    assert_eq!(reviews.judge("ann").await, Ok(Verdict::Welcome));
}

#[tokio::test]
async fn no_more_is_remembered_than_there_is_room_for() {
    let (_, _, reviews) = scene();
    for number in 0..=MOST {
        assert_eq!(reviews.judge(&format!("eve{number}")).await, Ok(Verdict::Unknown));
    }
    assert_eq!(reviews.known.lock().unwrap().len(), MOST);
}
