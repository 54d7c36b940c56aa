//! Servers that say no.

use kollect_sandbox::{Denial, DenialScope, Fault, On, Sandbox};

use super::support::{Scene, delete, is_watch, millis, put, sandbox, widgets};

fn asked_for_streamed_lists(sandbox: &Sandbox) -> usize {
    let requests = sandbox.requests().into_iter().filter(is_watch);
    requests.filter(|request| request.parameter("sendInitialEvents") == "true").count()
}

#[tokio::test]
async fn a_server_that_offers_it_is_listed_by_the_watch_itself() {
    let sandbox = sandbox();
    put(&sandbox, "shop", "a", "red");
    let scene = Scene::of(&sandbox.url()).await;
    scene
        .follows(async {
            scene.hears("end", 1).await;
            put(&sandbox, "shop", "b", "blue");
            scene.hears("changed", 1).await;
        })
        .await;
    assert_eq!(scene.heard(), ["list", "item", "end", "changed"]);
    assert_eq!(scene.rows(), ["shop/a: red", "shop/b: blue"]);
    let requests: Vec<_> = sandbox.requests().into_iter().filter(is_watch).collect();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].parameter("allowWatchBookmarks"), "true");
    assert_eq!(requests[0].headers.get("accept-encoding").map(String::as_str), Some("identity"));
    let seconds = requests[0].parameter("timeoutSeconds").parse().unwrap();
    assert!((240..=480).contains(&seconds), "{seconds}");
}

#[tokio::test]
async fn a_server_that_refuses_to_is_listed_in_pages_and_asked_no_second_time() {
    for fault in [Fault::RefuseWatchList, Fault::Status(400), Fault::Status(422)] {
        let sandbox = sandbox();
        put(&sandbox, "shop", "a", "red");
        sandbox.inject(On::watch("widgets").nth(1), fault.clone());
        let scene = Scene::of(&sandbox.url()).await;
        for round in 1..3 {
            scene
                .follows(async {
                    scene.hears("end", round).await;
                    put(&sandbox, "shop", &format!("b{round}"), "blue");
                    scene.is_like_a_fresh_list().await;
                })
                .await;
        }
        assert_eq!(scene.rows(), ["shop/a: red", "shop/b1: blue", "shop/b2: blue"]);
        assert_eq!(asked_for_streamed_lists(&sandbox), 1, "{fault:?}");
        assert!(!scene.offers.watch_list());
    }
}

#[tokio::test]
async fn a_server_that_never_says_that_a_list_is_complete_is_listed_in_pages() {
    let sandbox = sandbox();
    put(&sandbox, "shop", "a", "red");
    sandbox.inject(On::watch("widgets").nth(1), Fault::WithholdBookmarks);
    let mut scene = Scene::of(&sandbox.url()).await;
    scene.pace.silence = millis(300);
    scene
        .follows(async {
            scene.hears("end", 1).await;
            put(&sandbox, "shop", "b", "blue");
            scene.is_like_a_fresh_list().await;
        })
        .await;
    assert!(!scene.offers.watch_list());
}

#[tokio::test]
async fn a_streamed_list_that_is_cut_is_read_in_pages_without_believing_the_server_cannot() {
    let sandbox = sandbox();
    for name in ["a", "b", "c"] {
        put(&sandbox, "shop", name, "red");
    }
    let how = kollect_sandbox::Cut::Close;
    sandbox.inject(On::watch("widgets").nth(1), Fault::CutAfterEvents { events: 2, how });
    let scene = Scene::of(&sandbox.url()).await;
    scene.follows(scene.is_like_a_fresh_list()).await;
    scene.follows(scene.hears("end", 2)).await;
    assert!(scene.offers.watch_list());
    assert!(scene.is_covered());
}

#[tokio::test]
async fn a_right_that_is_taken_uncovers_and_one_that_is_given_back_recovers() {
    let sandbox = sandbox();
    put(&sandbox, "shop", "a", "red");
    put(&sandbox, "shop", "b", "red");
    let scene = Scene::of(&sandbox.url()).await;
    let denial = Denial::read("shop.example", "widgets", DenialScope::Everywhere);
    scene
        .follows(async {
            scene.hears("end", 1).await;
            sandbox.deny(denial.clone());
            sandbox.define(widgets());
            scene.hears("Forbidden", 1).await;
            assert!(!scene.is_covered());
            assert!(delete(&sandbox, "shop", "a"));
            assert_eq!(scene.rows(), ["shop/a: red", "shop/b: red"]);
            sandbox.allow(&denial);
            scene.hears("recovered", 1).await;
        })
        .await;
    assert_eq!(scene.rows(), ["shop/b: red"]);
    assert!(scene.is_covered());
    assert_eq!(scene.count("Forbidden"), 1);
    // Other watches of the server go on as they did.
    assert!(scene.offers.watch_list());
}

#[tokio::test]
async fn credentials_that_expire_uncover_until_there_are_new_ones() {
    let sandbox = sandbox();
    put(&sandbox, "shop", "a", "red");
    let scene = Scene::of(&sandbox.url()).await;
    scene
        .follows(async {
            scene.hears("end", 1).await;
            let fault = sandbox.inject(On::any().resource("widgets"), Fault::Status(401));
            sandbox.define(widgets());
            scene.hears("Unauthorized", 1).await;
            assert_eq!(scene.rows(), ["shop/a: red"]);
            sandbox.lift(fault);
            scene.hears("recovered", 1).await;
        })
        .await;
    assert!(scene.is_covered());
}

#[tokio::test]
async fn a_kind_that_goes_is_waited_for() {
    let sandbox = sandbox();
    put(&sandbox, "shop", "a", "red");
    let scene = Scene::of(&sandbox.url()).await;
    scene
        .follows(async {
            scene.hears("end", 1).await;
            assert!(sandbox.remove_definition("shop.example", "v1", "widgets"));
            scene.hears("NotServed", 1).await;
            assert!(!scene.is_covered());
            sandbox.define(widgets());
            put(&sandbox, "shop", "b", "blue");
            scene.hears("recovered", 1).await;
            scene.is_like_a_fresh_list().await;
        })
        .await;
    assert_eq!(scene.rows(), ["shop/b: blue"]);
    assert!(scene.is_covered());
}

#[tokio::test]
async fn a_first_list_that_fails_is_told_and_tried_again() {
    let sandbox = sandbox();
    put(&sandbox, "shop", "a", "red");
    let scene = Scene::of(&sandbox.url()).await;
    let fault = sandbox.inject(On::any().resource("widgets"), Fault::Status(503));
    scene
        .follows(async {
            scene.hears("Unreachable", 1).await;
            sandbox.lift(fault);
            scene.hears("recovered", 1).await;
        })
        .await;
    assert_eq!(scene.rows(), ["shop/a: red"]);
}
