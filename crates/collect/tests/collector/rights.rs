//! What may not be read is named, and read as soon as it may.

use std::time::Duration;

use kollect_collect::{Habits, Pace, Reason, TargetReport};
use kollect_inventory::Coverage;
use kollect_sandbox::{Denial, DenialScope};
use serde_json::json;

use super::support::{Scene, delete, eager, put, target};

fn in_namespace(name: &str) -> Denial {
    Denial::read("shop.example", "widgets", DenialScope::Namespace(name.to_owned()))
}

fn is_forbidden(report: &TargetReport, namespace: &str) -> bool {
    report.gaps.get(namespace).is_some_and(|gap| gap.reason == Reason::Forbidden)
}

#[tokio::test]
async fn who_may_read_some_namespaces_reads_those_and_names_the_others() {
    let scene = Scene::with(eager(), |sandbox| sandbox.deny(in_namespace("mall"))).await;
    for name in ["mall", "shop"] {
        put(&scene.sandbox, name, "web", "red");
    }
    scene.order(&[target("t", json!({}))]);
    scene.reports("t", |report| report.gaps.len() == 1 && is_forbidden(report, "mall")).await;
    scene.has(&["t shop/web: red"]).await;
    let in_vain = scene.asked(|one| matches!(one.namespace(), None | Some("mall")));
    assert_eq!(in_vain, 0, "whether it may be asked was asked before");
    scene.sandbox.allow(&in_namespace("mall"));
    scene.covers("t").await;
    scene.has(&["t mall/web: red", "t shop/web: red"]).await;
}

#[tokio::test]
async fn rights_that_are_taken_away_delete_nothing_and_what_happened_meanwhile_is_seen() {
    // Like a real server, this one lets streams go on that are open; the next
    // one is refused.
    let second = Duration::from_secs(1);
    let habits = eager();
    let pace = Pace { session: (second, second), ..habits.pace };
    let scene = Scene::with(Habits { pace, ..habits }, |_| {}).await;
    for name in ["mall", "shop"] {
        put(&scene.sandbox, name, "web", "red");
    }
    scene.order(&[target("t", json!({}))]);
    scene.covers("t").await;
    scene.sandbox.deny(in_namespace("mall"));
    scene.reports("t", |report| is_forbidden(report, "mall") && report.gaps.len() == 1).await;
    assert_eq!(scene.coverage("t", "mall"), Some(Coverage::Uncovered));
    assert_eq!(scene.coverage("t", "shop"), Some(Coverage::Covered));
    assert_eq!(scene.rows(), ["t mall/web: red", "t shop/web: red"]);
    delete(&scene.sandbox, "mall", "web");
    put(&scene.sandbox, "mall", "cart", "blue");
    put(&scene.sandbox, "shop", "cart", "blue");
    scene.has(&["t mall/web: red", "t shop/cart: blue", "t shop/web: red"]).await;
    scene.sandbox.allow(&in_namespace("mall"));
    scene.covers("t").await;
    scene.has(&["t mall/cart: blue", "t shop/cart: blue", "t shop/web: red"]).await;
}
