//! What is ordered changes while it is collected.

use kollect_collect::Reason;
use kollect_inventory::Coverage;
use serde_json::json;

use super::support::{Scene, assignment, is_list, is_watch, of_kind, put, target, widgets};

#[tokio::test]
async fn a_target_that_is_no_longer_ordered_takes_its_rows_along() {
    let scene = Scene::new().await;
    put(&scene.sandbox, "shop", "web", "red");
    scene.order(&[target("a", json!({})), target("b", json!({}))]);
    scene.has(&["a shop/web: red", "b shop/web: red"]).await;
    scene.order(&[target("b", json!({}))]);
    scene.has(&["b shop/web: red"]).await;
    scene.order(&[]);
    scene.has(&[]).await;
    while scene.sandbox.open_watches() > 2 {
        // Those of namespaces and definitions stay.
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn two_targets_of_a_kind_share_a_watch_and_one_that_comes_later_is_listed_beside_it() {
    let scene = Scene::new().await;
    put(&scene.sandbox, "shop", "web", "red");
    scene.order(&[target("a", json!({})), target("b", json!({}))]);
    scene.covers("a").await;
    scene.covers("b").await;
    assert_eq!(scene.asked(is_watch), 1);
    scene.order(&[
        target("a", json!({})),
        target("b", json!({})),
        target("c", json!({"includedNamespaces": ["shop"]})),
    ]);
    scene.covers("c").await;
    scene.has(&["a shop/web: red", "b shop/web: red", "c shop/web: red"]).await;
    assert_eq!(scene.asked(is_watch), 1, "the watch goes on");
    put(&scene.sandbox, "shop", "web", "blue");
    scene.has(&["a shop/web: blue", "b shop/web: blue", "c shop/web: blue"]).await;
}

#[tokio::test]
async fn a_profile_that_is_edited_reads_everything_again_and_nothing_is_lost() {
    let scene = Scene::new().await;
    for number in 0..50 {
        put(&scene.sandbox, "shop", &format!("w{number:02}"), "red");
    }
    scene.order(&[target("t", json!({})), target("other", json!({}))]);
    scene.covers("t").await;
    scene.covers("other").await;
    let lists = scene.asked(is_list);
    scene.order(&[assignment("t", "Widget", "$.spec.size", json!({})), target("other", json!({}))]);
    put(&scene.sandbox, "shop", "w00", "blue");
    let mut expected: Vec<_> = (0..50)
        .map(|number| {
            format!("other shop/w{number:02}: {}", if number == 0 { "blue" } else { "red" })
        })
        .collect();
    expected.extend((0..50).map(|number| format!("t shop/w{number:02}: large")));
    expected.sort();
    scene.has(&expected.iter().map(String::as_str).collect::<Vec<_>>()).await;
    scene.covers("t").await;
    assert!(scene.asked(is_list) > lists);
    assert_eq!(scene.asked(is_watch), 1, "the watch goes on");
    assert_eq!(scene.coverage("other", "shop"), Some(Coverage::Covered));
}

/// R3, trace 12: a profile that is replaced by force comes back as it was.
#[tokio::test]
async fn what_is_ordered_again_unchanged_is_not_listed_again() {
    let scene = Scene::new().await;
    put(&scene.sandbox, "shop", "web", "red");
    scene.order(&[target("t", json!({}))]);
    scene.covers("t").await;
    let asked = scene.asked(|_| true);
    for colour in ["blue", "green"] {
        scene.order(&[target("t", json!({}))]);
        scene.covers("t").await;
        assert_eq!(scene.coverage("t", "shop"), Some(Coverage::Covered));
        put(&scene.sandbox, "shop", "web", colour);
        scene.has(&[&format!("t shop/web: {colour}")]).await;
    }
    assert_eq!(scene.asked(|_| true), asked);
}

#[tokio::test]
async fn a_profile_of_another_kind_leaves_nothing_of_the_former_behind() {
    let scene = Scene::with(super::support::eager(), |sandbox| {
        sandbox.define(widgets("Gadget", "gadgets"));
    })
    .await;
    put(&scene.sandbox, "shop", "web", "red");
    put(&scene.sandbox, "shop", "both", "red");
    of_kind(&scene.sandbox, "Gadget", "shop", "phone", "blue");
    of_kind(&scene.sandbox, "Gadget", "shop", "both", "blue");
    scene.order(&[target("t", json!({}))]);
    scene.has(&["t shop/both: red", "t shop/web: red"]).await;
    scene.order(&[assignment("t", "Gadget", "$.spec.colour", json!({}))]);
    scene.has(&["t shop/both: blue", "t shop/phone: blue"]).await;
    scene.covers("t").await;
}

#[tokio::test]
async fn what_is_in_doubt_goes_on_and_deletes_nothing_until_it_is_understood() {
    let scene = Scene::new().await;
    put(&scene.sandbox, "shop", "web", "red");
    scene.order(&[target("t", json!({}))]);
    scene.covers("t").await;
    scene.doubt(&[target("t", json!({}))]);
    scene
        .reports("t", |report| report.gaps.get("").is_some_and(|gap| gap.reason == Reason::Doubted))
        .await;
    assert_eq!(scene.coverage("t", "shop"), Some(Coverage::Uncovered));
    put(&scene.sandbox, "shop", "cart", "blue");
    scene.has(&["t shop/cart: blue", "t shop/web: red"]).await;
    super::support::delete(&scene.sandbox, "shop", "web");
    scene.order(&[target("t", json!({}))]);
    scene.covers("t").await;
    scene.has(&["t shop/cart: blue"]).await;
}

#[tokio::test]
async fn objects_that_give_no_row_are_counted_and_named_until_they_do() {
    let scene = Scene::new().await;
    put(&scene.sandbox, "shop", "web", "red");
    // An index into what is no list fails the row.
    scene.order(&[assignment("t", "Widget", "$.spec.colour[0]", json!({}))]);
    scene.covers("t").await;
    let key = kollect_inventory::TargetKey {
        namespace: Some("default".to_owned()),
        name: "t".to_owned(),
    };
    let (count, objects) = scene.collector.failed(&key);
    assert_eq!((count, objects[0].name.as_str()), (1, "web"));
    assert!(objects[0].reason.contains("colour"), "{}", objects[0].reason);
    scene.order(&[target("t", json!({}))]);
    scene.has(&["t shop/web: red"]).await;
    scene.covers("t").await;
    assert_eq!(scene.collector.failed(&key).0, 0);
}
