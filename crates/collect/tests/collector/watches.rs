//! What is asked of the server is no more than somebody wants.

use kollect_sandbox::{Fault, On, Request};
use serde_json::json;

use super::support::{
    Scene, assignment, is_list, is_watch, millis, namespace, put, target, widgets,
};

fn selects(request: &Request) -> bool {
    !request.parameter("labelSelector").is_empty()
}

#[tokio::test]
async fn a_selector_that_all_agree_on_is_sent_and_another_takes_it_back() {
    let red = json!({"labelSelector": {"matchLabels": {"colour": "red"}}});
    let scene = Scene::new().await;
    put(&scene.sandbox, "shop", "web", "red");
    put(&scene.sandbox, "shop", "cart", "blue");
    scene.order(&[target("a", red.clone())]);
    scene.covers("a").await;
    assert_eq!(scene.rows(), ["a shop/web: red"]);
    assert_eq!(scene.asked(|one| is_watch(one) && selects(one)), 1);
    // Who no longer matches is gone, as the server tells it.
    put(&scene.sandbox, "shop", "web", "green");
    scene.has(&[]).await;
    put(&scene.sandbox, "shop", "web", "red");
    scene.order(&[target("a", red), target("b", json!({}))]);
    scene.covers("b").await;
    scene.has(&["a shop/web: red", "b shop/cart: blue", "b shop/web: red"]).await;
    assert_eq!(scene.asked(|one| is_watch(one) && !selects(one)), 1);
}

#[tokio::test]
async fn who_reads_nothing_but_metadata_is_sent_nothing_else() {
    let scene = Scene::new().await;
    put(&scene.sandbox, "shop", "web", "red");
    scene.order(&[assignment("t", "Widget", "$.metadata.labels.colour", json!({}))]);
    scene.has(&["t shop/web: red"]).await;
    scene.covers("t").await;
    let is_partial = |one: &Request| one.headers["accept"].contains("PartialObjectMetadata");
    assert_eq!(scene.asked(|one| is_list(one) && !is_partial(one)), 0);
    put(&scene.sandbox, "shop", "web", "blue");
    scene.has(&["t shop/web: blue"]).await;
    assert_eq!(scene.asked(|one| is_watch(one) && !is_partial(one)), 0);
}

#[tokio::test]
async fn more_than_twenty_namespaces_take_one_watch() {
    let scene = Scene::new().await;
    let names: Vec<_> = (0..25).map(|number| format!("n{number:02}")).collect();
    for name in &names {
        namespace(&scene.sandbox, name, json!({}));
        put(&scene.sandbox, name, "web", "red");
    }
    scene.order(&[target("t", json!({"includedNamespaces": &names[..3]}))]);
    scene.covers("t").await;
    assert_eq!(scene.asked(|one| is_watch(one) && one.namespace().is_some()), 3);
    scene.order(&[target("t", json!({"includedNamespaces": names}))]);
    scene.covers("t").await;
    assert_eq!(scene.rows().len(), 25);
    assert_eq!(scene.asked(|one| is_watch(one) && one.namespace().is_none()), 1);
    put(&scene.sandbox, "n01", "web", "blue");
    scene
        .has(
            &names
                .iter()
                .map(|name| format!("t {name}/web: {}", if name == "n01" { "blue" } else { "red" }))
                .collect::<Vec<_>>()
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
        )
        .await;
}

#[tokio::test]
async fn a_change_that_is_garbled_is_not_believed_and_the_watch_goes_on_before_it() {
    for kind in ["ADDED", "MODIFIED", "DELETED"] {
        let scene = Scene::new().await;
        put(&scene.sandbox, "shop", "web", "red");
        scene.order(&[target("t", json!({}))]);
        scene.covers("t").await;
        // Whoever reads no further than the version takes it for an event.
        let object =
            r#"{"metadata":{"namespace":"shop","name":"web","resourceVersion":"999"},"spec":oops}"#;
        let bytes = format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n").into_bytes();
        scene
            .sandbox
            .inject(On::watch("widgets").nth(1), Fault::BytesAfterEvents { events: 0, bytes });
        // Ends the watch that is open.
        scene.sandbox.define(widgets("Widget", "widgets"));
        while scene.asked(is_watch) < 3 {
            tokio::time::sleep(millis(2)).await;
        }
        assert_eq!(scene.rows(), ["t shop/web: red"], "{kind}");
        let goes_on = |one: &Request| is_watch(one) && one.parameter("resourceVersion") == "999";
        assert_eq!(scene.asked(goes_on), 0, "{kind}");
        put(&scene.sandbox, "shop", "web", "blue");
        scene.has(&["t shop/web: blue"]).await;
    }
}
