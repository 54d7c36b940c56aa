//! A server that says what each test tells it to, in time that does not pass.

use std::{
    collections::VecDeque,
    convert::Infallible,
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame as BodyFrame;
use tokio::time::Instant;

use super::*;
use crate::discovery::{Catalogue, Lookup, Scope};

/// What a body does next.
#[derive(Clone, Debug)]
enum Step {
    Send(&'static str),
    /// The connection is cut.
    Cut,
    /// Nothing, for ever.
    Silence,
    Wait(Duration),
}

use Step::{Cut, Send, Silence, Wait};

struct Script {
    steps: VecDeque<Step>,
    waiting: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl http_body::Body for Script {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<BodyFrame<Bytes>, io::Error>>> {
        if let Some(waiting) = &mut self.waiting {
            if waiting.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.waiting = None;
        }
        match self.steps.pop_front() {
            None => Poll::Ready(None),
            Some(Send(text)) => {
                Poll::Ready(Some(Ok(BodyFrame::data(Bytes::from_static(text.as_bytes())))))
            }
            Some(Cut) => Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into()))),
            Some(Silence) => {
                self.steps.push_front(Silence);
                Poll::Pending
            }
            Some(Wait(time)) => {
                self.waiting = Some(Box::pin(tokio::time::sleep(time)));
                self.poll_frame(cx)
            }
        }
    }
}

/// One answer: its code, the seconds of its `Retry-After`, its body.
type Reply = (u16, Option<u64>, Vec<Step>);

fn good(steps: &[Step]) -> Reply {
    (200, None, steps.to_vec())
}

fn bad(code: u16, body: &'static str) -> Reply {
    (code, None, vec![Send(body)])
}

#[derive(Clone, Default)]
struct Server {
    replies: Arc<Mutex<VecDeque<Reply>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies = Arc::new(Mutex::new(replies.into_iter().collect()));
        Self { replies, asked: Arc::default() }
    }

    fn client(&self) -> Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let query = request.uri().to_string();
            server.asked.lock().unwrap().push(query);
            assert_eq!(request.headers()["accept-encoding"], "identity");
            let reply = server.replies.lock().unwrap().pop_front();
            let (code, retry_after, steps) = reply.unwrap_or_else(|| bad(599, "out of replies"));
            let mut response = Response::builder().status(code);
            if let Some(seconds) = retry_after {
                response = response.header("retry-after", seconds);
            }
            let body = Script { steps: steps.into(), waiting: None };
            async move { Ok::<_, Infallible>(response.body(body).unwrap()) }
        });
        Client::new(service, "default")
    }

    /// What was asked after the part that is always the same.
    fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|uri| uri.replace("/api/v1/pods?limit=500", "")).collect()
    }
}

fn pods() -> Resource {
    Resource::known(("", "v1"), "Pod", "pods", Scope::Namespaced)
}

/// What was heard, in short, and what came of it.
async fn hear(server: &Server, at_least: AtLeast<'_>) -> (String, Result<Listed, ListError>) {
    let pods = pods();
    let mut heard = String::new();
    let question = Question { at_least, ..Question::all(&pods) };
    let client = server.client();
    let listed = list(&client, &question, |next| match next {
        Heard::Item(item) => heard.push_str(str::from_utf8(item).unwrap()),
        Heard::Again => heard.push('!'),
    });
    let listed = listed.await;
    (heard.replace(r#"{"n":"#, "").replace('}', ""), listed)
}

const HEAD: &str =
    r#"{"kind":"PodList","metadata":{"resourceVersion":"5","continue":"t"},"items":["#;
const LAST: &str = r#"{"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[{"n":3}]}"#;
const GONE: &str = r#"{"kind":"Status","metadata":{"continue":"rest"},"code":410}"#;

fn first() -> Reply {
    good(&[Send(HEAD), Send(r#"{"n":1},{"n"#), Send(r#"":2}]}"#)])
}

fn last() -> Reply {
    good(&[Send(LAST)])
}

#[tokio::test(start_paused = true)]
async fn a_first_page_that_is_cut_makes_the_list_begin_anew() {
    let cut = good(&[Send(HEAD), Send(r#"{"n":1},"#), Cut]);
    let server = Server::new([cut, first(), last()]);
    let (heard, listed) = hear(&server, AtLeast::Now).await;
    assert_eq!(heard, "1!123");
    let listed = listed.unwrap();
    assert_eq!((listed.items, listed.sweep), (3, Sweep::Yes));
    assert_eq!(server.asked(), ["", "", "&continue=t"]);
}

#[tokio::test(start_paused = true)]
async fn a_later_page_that_is_cut_or_ends_early_is_asked_for_again() {
    let cut = good(&[Send(r#"{"items":[{"n":3},"#), Cut]);
    let short = good(&[Send(r#"{"items":[{"n":3}"#)]);
    let server = Server::new([first(), cut, short, last()]);
    let (heard, listed) = hear(&server, AtLeast::Now).await;
    assert_eq!(heard, "12333");
    assert_eq!(listed.unwrap().items, 3);
    assert_eq!(server.asked(), ["", "&continue=t", "&continue=t", "&continue=t"]);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_leads_back_to_itself_ends_the_list() {
    let server = Server::new([first(), first(), first()]);
    let (_, listed) = hear(&server, AtLeast::Now).await;
    let error = listed.unwrap_err();
    assert!(
        matches!(error, ListError::Malformed { source: SplitError::Circular, .. }),
        "{error:?}"
    );
    assert_eq!(server.asked(), ["", "&continue=t"]);
}

#[tokio::test(start_paused = true)]
async fn a_cache_whose_history_is_lost_is_left_for_the_store() {
    let server = Server::new([first(), bad(410, GONE), first(), last()]);
    let (heard, listed) = hear(&server, AtLeast::Cached).await;
    assert_eq!(heard, "12!123");
    assert_eq!(listed.unwrap().sweep, Sweep::Yes);
    let cached = "&resourceVersion=1&resourceVersionMatch=NotOlderThan";
    assert_eq!(server.asked(), [cached, "&continue=t", "", "&continue=t"]);
}

#[tokio::test(start_paused = true)]
async fn a_history_that_is_always_lost_ends_in_a_list_that_may_not_sweep() {
    let lost = || [first(), bad(410, GONE)];
    let server = Server::new(lost().into_iter().chain(lost()).chain([last()]));
    let (heard, listed) = hear(&server, AtLeast::Now).await;
    assert_eq!(heard, "12!123");
    let listed = listed.unwrap();
    assert_eq!((listed.items, listed.sweep), (3, Sweep::No));
    assert_eq!(server.asked(), ["", "&continue=t", "", "&continue=t", "&continue=rest"]);
}

#[tokio::test(start_paused = true)]
async fn who_asks_us_to_wait_is_waited_for() {
    let busy = || (429, Some(3), vec![Send("{}")]);
    let server = Server::new([busy(), first(), busy(), last()]);
    let start = Instant::now();
    let (heard, listed) = hear(&server, AtLeast::Now).await;
    assert_eq!((heard.as_str(), listed.unwrap().items), ("123", 3));
    assert!((6..8).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
    let server = Server::new((0..9).map(|_| busy()));
    let error = hear(&server, AtLeast::Now).await.1.unwrap_err();
    assert_eq!(error.to_string(), "the server is too busy to list pods in all namespaces");
}

#[tokio::test(start_paused = true)]
async fn a_broken_server_is_tried_again_for_some_seconds() {
    let server = Server::new([bad(503, "no"), bad(500, "no"), bad(502, "no"), last()]);
    assert_eq!(hear(&server, AtLeast::Now).await.0, "3");
    let server = Server::new((0..9).map(|_| bad(503, "down\n")));
    let start = Instant::now();
    let error = hear(&server, AtLeast::Now).await.1.unwrap_err();
    let text = "the server answered 503 when asked to list pods in all namespaces: down";
    assert_eq!(error.to_string(), text);
    assert_eq!(server.asked().len(), 5);
    assert!(start.elapsed() < Duration::from_secs(4));
}

#[tokio::test(start_paused = true)]
async fn silence_ends_a_list_and_slowness_does_not() {
    let wait = Duration::from_secs(25);
    let slow = good(&[
        Wait(wait),
        Send(r#"{"metadata":{"resourceVersion":"5"},"items":["#),
        Wait(wait),
        Send(r#"{"n":1},"#),
        Wait(wait),
        Send(r#"{"n":2}]}"#),
    ]);
    assert_eq!(hear(&Server::new([slow]), AtLeast::Now).await.0, "12");
    let silent = good(&[Send(HEAD), Send(r#"{"n":1},"#), Silence]);
    let server = Server::new([silent]);
    let start = Instant::now();
    let error = hear(&server, AtLeast::Now).await.1.unwrap_err();
    let text = "the server sent nothing for 30 seconds when asked to list pods in all namespaces";
    assert_eq!(error.to_string(), text);
    assert_eq!(start.elapsed().as_secs(), 30);
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_list_is_not_asked_for_again() {
    for body in ["<html>", r#"{"kind":"Status","code":500}"#, r#"{"items":[7]}"#] {
        let server = Server::new([good(&[Send(body)])]);
        let error = hear(&server, AtLeast::Now).await.1.unwrap_err();
        assert!(matches!(error, ListError::Malformed { .. }), "{error:?}");
        assert_eq!(server.asked().len(), 1, "{body}");
    }
}

fn is_send<T: std::marker::Send>(value: T) -> T {
    value
}

#[tokio::test(start_paused = true)]
async fn a_list_may_run_in_a_task() {
    let (pods, client) = (pods(), Server::new([last()]).client());
    let question = Question::all(&pods);
    let mut count = 0;
    let listed = is_send(list(&client, &question, |_| count += 1)).await;
    assert_eq!((listed.unwrap().items, count), (1, 1));
}

const VERSIONS: &str = r#"{"kind":"APIVersions","versions":["v1"]}"#;
const PODS: &str = r#"{"kind":"APIResourceList","resources":[{"name":"pods","singularName":"",
    "namespaced":true,"kind":"Pod","verbs":["list"]},{"name":"pods/log","kind":"Pod"}]}"#;
const NAMES: &str = r#"{"kind":"APIGroupList","groups":[
    {"name":"a.example","versions":[{"version":"v1"}],"preferredVersion":{"version":"v1"}},
    {"name":"b.example","versions":[{"version":"v1"}],"preferredVersion":{"version":"v1"}}]}"#;

#[tokio::test(start_paused = true)]
async fn an_old_server_is_asked_version_by_version_and_may_fail_in_one() {
    let server = Server::new([
        good(&[Send(VERSIONS)]),
        good(&[Send(PODS)]),
        good(&[Send(NAMES)]),
        bad(503, "down"),
        good(&[Send(PODS)]),
    ]);
    let catalogue = is_send(Catalogue::fetch(&server.client())).await.unwrap();
    let asked = ["/api", "/api/v1", "/apis", "/apis/a.example/v1", "/apis/b.example/v1"];
    assert_eq!(server.asked(), asked);
    let kind = |group: &str| kollect_api::GroupVersionKind {
        group: group.to_owned(),
        version: "v1".to_owned(),
        kind: "Pod".to_owned(),
    };
    assert!(matches!(catalogue.find(&kind("")), Lookup::Served(_)));
    assert!(matches!(catalogue.find(&kind("b.example")), Lookup::Served(_)));
    let down = "the server answered 503 when asked to list the kinds at /apis/a.example/v1: down";
    assert_eq!(catalogue.find(&kind("a.example")), Lookup::Unknown(down));
}

#[tokio::test(start_paused = true)]
async fn half_a_discovery_is_better_than_none() {
    let down = || (0..5).map(|_| bad(503, "down"));
    let server =
        Server::new([good(&[Send(VERSIONS)]), good(&[Send(PODS)])].into_iter().chain(down()));
    let catalogue = Catalogue::fetch(&server.client()).await.unwrap();
    assert_eq!(catalogue.resources().count(), 1);
    let down = "the server answered 503 when asked to list the kinds at /apis: down";
    assert_eq!(catalogue.gaps().collect::<Vec<_>>(), [down]);
    let nothing = Server::new(std::iter::empty());
    let error = Catalogue::fetch(&nothing.client()).await.unwrap_err();
    assert_eq!(error.to_string(), "could not learn which kinds the server serves");
}
