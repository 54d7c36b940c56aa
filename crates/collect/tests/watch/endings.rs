//! Streams that end, one way or another.

use std::sync::{Mutex, PoisonError};

use kollect_collect::{Event, Listener, Offers, Question, Watch};
use kollect_sandbox::{Cut, Fault, On};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::support::{Scene, delete, is_watch, millis, put, sandbox, widgets};

/// Three widgets are there; after some events the first stream goes wrong.
async fn resumes(fault: Fault, silence: u64) {
    let sandbox = sandbox();
    for name in ["a", "b", "c"] {
        put(&sandbox, "shop", name, "red");
    }
    sandbox.inject(On::watch("widgets").nth(1), fault.clone());
    let mut scene = Scene::of(&sandbox.url()).await;
    scene.pace.silence = millis(silence);
    scene
        .follows(async {
            scene.hears("end", 1).await;
            for (name, colour) in [("d", "blue"), ("e", "blue"), ("a", "green")] {
                put(&sandbox, "mall", name, colour);
            }
            assert!(delete(&sandbox, "shop", "b"));
            scene.is_like_a_fresh_list().await;
        })
        .await;
    assert_eq!(
        scene.rows(),
        ["mall/a: green", "mall/d: blue", "mall/e: blue", "shop/a: red", "shop/c: red"]
    );
    // Each once, and nothing twice.
    let told = ["list", "item", "item", "item", "end", "changed", "changed", "changed", "gone"];
    assert_eq!(scene.heard(), told, "{fault:?}");
    assert!(scene.is_covered());
    let streams: Vec<_> = sandbox.requests().into_iter().filter(is_watch).collect();
    let from = streams[1].parameter("resourceVersion").parse::<u64>().unwrap_or_default();
    assert!(from > 0 && streams[1].parameter("sendInitialEvents").is_empty(), "{streams:?}");
}

#[tokio::test]
async fn a_watch_that_is_cut_resumes_where_it_was() {
    for how in [Cut::End, Cut::Close, Cut::Reset] {
        for events in [4, 5] {
            resumes(Fault::CutAfterEvents { events, how }, 20_000).await;
        }
    }
}

#[tokio::test]
async fn half_an_event_is_not_believed() {
    for how in [Cut::End, Cut::Close] {
        resumes(Fault::HalfAnEventAfterEvents { events: 4, how }, 20_000).await;
    }
}

#[tokio::test]
async fn a_line_that_is_no_event_is_not_believed() {
    for text in [
        "\u{0}\u{1}\n",
        "<html>busy</html>\n",
        "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"namespace\":\"shop\",\"name\":\"a\"}\n",
        "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"namespace\":\"shop\",\"name\":\"a\"},}}\n",
        "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"namespace\":\"shop\",\"name\":\"a\",\"resourceVersion\":\"999\"},}}\n",
    ] {
        let bytes = text.as_bytes().to_vec();
        resumes(Fault::BytesAfterEvents { events: 4, bytes }, 20_000).await;
    }
}

#[tokio::test]
async fn a_watch_that_falls_silent_is_resumed() {
    resumes(Fault::SilenceAfterEvents(4), 1500).await;
}

#[tokio::test]
async fn an_error_in_the_stream_that_may_pass_is_resumed_from() {
    for code in [429, 500, 503, 504] {
        resumes(Fault::ErrorAfterEvents { events: 4, code }, 20_000).await;
    }
}

#[tokio::test]
async fn what_garbles_every_stream_is_listed_around() {
    let sandbox = sandbox();
    put(&sandbox, "shop", "a", "red");
    let bytes = b"oops\n".to_vec();
    sandbox.inject(On::watch("widgets"), Fault::BytesAfterEvents { events: 0, bytes });
    let scene = Scene::of(&sandbox.url()).await;
    scene
        .follows(async {
            scene.hears("end", 1).await;
            put(&sandbox, "shop", "b", "blue");
            assert!(delete(&sandbox, "shop", "a"));
            scene.is_like_a_fresh_list().await;
        })
        .await;
    assert_eq!(scene.rows(), ["shop/b: blue"]);
}

#[tokio::test]
async fn a_busy_server_and_a_broken_one_are_waited_for() {
    for fault in [Fault::TooManyRequests { retry_after: 1 }, Fault::Status(503), Fault::Refuse] {
        let sandbox = sandbox();
        put(&sandbox, "shop", "a", "red");
        let scene = Scene::of(&sandbox.url()).await;
        scene
            .follows(async {
                scene.hears("end", 1).await;
                sandbox.inject(On::watch("widgets").first(2), fault.clone());
                sandbox.clear_requests();
                // Ends the watch.
                sandbox.define(widgets());
                sandbox.requested(is_watch).await;
                put(&sandbox, "shop", "b", "blue");
                assert!(delete(&sandbox, "shop", "a"));
                scene.is_like_a_fresh_list().await;
            })
            .await;
        assert_eq!(scene.count("list"), 1, "{fault:?}: {:?}", scene.heard());
        assert!(scene.is_covered());
    }
}

#[tokio::test]
async fn an_object_that_is_wanted_no_longer_leaves_no_row() {
    let sandbox = sandbox();
    put(&sandbox, "shop", "a", "red");
    put(&sandbox, "shop", "b", "red");
    let scene = Scene::of(&sandbox.url()).await;
    scene
        .follows(async {
            scene.hears("end", 1).await;
            put(&sandbox, "shop", "a", "");
            scene.until(|| scene.rows() == ["shop/b: red"]).await;
            put(&sandbox, "shop", "a", "blue");
            scene.until(|| scene.rows() == ["shop/a: blue", "shop/b: red"]).await;
            put(&sandbox, "elsewhere", "a", "blue");
            put(&sandbox, "mall", "z", "blue");
            scene.is_like_a_fresh_list().await;
        })
        .await;
    assert_eq!(scene.rows(), ["mall/z: blue", "shop/a: blue", "shop/b: red"]);
}

/// Takes the events of one chunk whenever it is allowed to.
struct Slow<'a> {
    allowed: &'a Semaphore,
    names: &'a Mutex<Vec<String>>,
}

impl Listener for Slow<'_> {
    fn hear(&mut self, event: Event<'_>) {
        if let Event::Item(bytes) | Event::Changed(bytes) = event {
            let object: Value = serde_json::from_slice(bytes).unwrap_or_default();
            let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            self.names.lock().unwrap_or_else(PoisonError::into_inner).push(name);
        }
    }

    async fn ready(&mut self) {
        if let Ok(permit) = self.allowed.acquire().await {
            permit.forget();
        }
    }
}

#[tokio::test]
async fn a_slow_listener_hears_everything_in_order() {
    let sandbox = sandbox();
    let name = |number: usize| format!("w{number:03}");
    for number in 0..100 {
        put(&sandbox, "shop", &name(number), "red");
    }
    let scene = Scene::of(&sandbox.url()).await;
    let (allowed, names) = (Semaphore::new(0), Mutex::default());
    let mut slow = Slow { allowed: &allowed, names: &names };
    let question = Question::all(&scene.resource);
    let watch = Watch::new(scene.client.clone(), question, Offers::default(), scene.pace.clone());
    let expected: Vec<_> = (0..200).map(name).collect();
    let happens = async {
        sandbox.requested(is_watch).await;
        for number in 100..200 {
            put(&sandbox, "shop", &name(number), "red");
        }
        while names.lock().unwrap().len() < expected.len() {
            allowed.add_permits(1);
            tokio::task::yield_now().await;
        }
    };
    watch.run(&mut slow, happens).await;
    assert_eq!(*names.lock().unwrap(), expected);
}
