//! Namespaces come, go, opt out, and may not be known at all.

use std::collections::BTreeSet;

use kollect_collect::{Habits, Reason};
use kollect_inventory::Coverage;
use kollect_sandbox::{Denial, DenialScope, Request, Verb};
use serde_json::json;

use super::support::{Scene, delete, eager, is_list, namespace, put, target};

#[tokio::test]
async fn a_namespace_that_joins_is_listed_alone_and_one_that_leaves_takes_its_rows_along() {
    let scene = Scene::new().await;
    for name in ["mall", "shop"] {
        put(&scene.sandbox, name, "web", "red");
    }
    namespace(&scene.sandbox, "shop", json!({"team": "a"}));
    scene.order(&[target("t", json!({"namespaceSelector": {"matchLabels": {"team": "a"}}}))]);
    scene.has(&["t shop/web: red"]).await;
    scene.covers("t").await;
    let of_mall = |request: &Request| is_list(request) && request.namespace() == Some("mall");
    assert_eq!(scene.asked(of_mall), 0);
    namespace(&scene.sandbox, "mall", json!({"team": "a"}));
    scene.has(&["t mall/web: red", "t shop/web: red"]).await;
    assert_eq!(scene.asked(of_mall), 1, "nothing else was listed again");
    namespace(&scene.sandbox, "shop", json!({"team": "b"}));
    scene.has(&["t mall/web: red"]).await;
    assert_eq!(scene.coverage("t", "shop"), None);
    // R6, trace 8: what is there when it comes back is what counts.
    delete(&scene.sandbox, "shop", "web");
    put(&scene.sandbox, "shop", "cart", "blue");
    namespace(&scene.sandbox, "shop", json!({"team": "a"}));
    scene.has(&["t mall/web: red", "t shop/cart: blue"]).await;
}

#[tokio::test]
async fn a_namespace_opts_out_and_in() {
    let scene = Scene::new().await;
    for name in ["mall", "shop"] {
        put(&scene.sandbox, name, "web", "red");
    }
    scene.order(&[target("t", json!({}))]);
    scene.covers("t").await;
    namespace(&scene.sandbox, "shop", json!({"kollect.dev/watch": "disabled"}));
    scene.has(&["t mall/web: red"]).await;
    put(&scene.sandbox, "shop", "cart", "blue");
    put(&scene.sandbox, "mall", "cart", "blue");
    scene.has(&["t mall/cart: blue", "t mall/web: red"]).await;
    namespace(&scene.sandbox, "shop", json!({}));
    scene
        .has(&["t mall/cart: blue", "t mall/web: red", "t shop/cart: blue", "t shop/web: red"])
        .await;
}

#[tokio::test]
async fn who_may_not_list_namespaces_collects_from_those_that_are_named() {
    let may_not = Denial {
        verb: "*".to_owned(),
        group: String::new(),
        resource: "namespaces".to_owned(),
        scope: DenialScope::ClusterWide,
    };
    let scene = Scene::with(eager(), |sandbox| sandbox.deny(may_not.clone())).await;
    for name in ["mall", "shop"] {
        put(&scene.sandbox, name, "web", "red");
    }
    scene.order(&[
        target("named", json!({"includedNamespaces": ["shop"]})),
        target("any", json!({})),
    ]);
    scene.covers("named").await;
    scene.has(&["named shop/web: red"]).await;
    let unknown = |reason| reason == Reason::Namespaces;
    scene.reports("any", |report| report.gaps.get("").is_some_and(|gap| unknown(gap.reason))).await;
    assert!(scene.sandbox.allow(&may_not));
    scene.covers("any").await;
    scene.has(&["any mall/web: red", "any shop/web: red", "named shop/web: red"]).await;
}

#[tokio::test]
async fn who_is_confined_reads_nothing_of_the_whole_cluster() {
    let habits = Habits { confined_to: BTreeSet::from(["shop".to_owned()]), ..eager() };
    let scene = Scene::with(habits, |sandbox| {
        for (group, resource) in [("", "namespaces"), ("shop.example", "widgets")] {
            sandbox.deny(Denial::read(group, resource, DenialScope::ClusterWide));
        }
    })
    .await;
    for name in ["mall", "shop"] {
        put(&scene.sandbox, name, "web", "red");
    }
    scene.order(&[target("t", json!({}))]);
    scene.covers("t").await;
    scene.has(&["t shop/web: red"]).await;
    let requests = scene.sandbox.requests();
    let is_wide =
        |one: &&Request| matches!(one.verb, Verb::List | Verb::Watch) && one.namespace().is_none();
    assert_eq!(requests.iter().filter(is_wide).count(), 0, "that would be refused");
    assert_eq!(scene.coverage("t", "shop"), Some(Coverage::Covered));
}
