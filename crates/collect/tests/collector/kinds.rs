//! A kind that is not served is the trouble of its own targets alone.

use kollect_collect::{Presence, Reason};
use kollect_inventory::Coverage;
use serde_json::json;

use super::support::{Scene, assignment, namespace, of_kind, put, target, widgets};

#[tokio::test]
async fn one_missing_kind_stops_nobody_else_and_heals_when_it_arrives() {
    let scene = Scene::new().await;
    put(&scene.sandbox, "shop", "web", "red");
    scene.order(&[
        target("good", json!({})),
        assignment("bad", "Gadget", "$.spec.colour", json!({})),
    ]);
    scene.covers("good").await;
    scene.has(&["good shop/web: red"]).await;
    scene
        .reports("bad", |report| {
            let gap = report.gaps.get("");
            report.is_settled
                && !report.is_covered()
                && gap.is_some_and(|gap| {
                    gap.reason == Reason::NotServed && gap.message.contains("Gadget")
                })
        })
        .await;
    assert!(scene.is_warm(), "the first export waits for nothing else");
    scene.sandbox.define(widgets("Gadget", "gadgets"));
    of_kind(&scene.sandbox, "Gadget", "mall", "phone", "blue");
    scene.covers("bad").await;
    scene.has(&["bad mall/phone: blue", "good shop/web: red"]).await;
}

#[tokio::test]
async fn nobody_waits_for_a_missing_kind_in_a_namespace_that_comes_later() {
    let scene = Scene::new().await;
    scene.order(&[
        target("good", json!({})),
        assignment("bad", "Gadget", "$.spec.colour", json!({})),
    ]);
    scene.covers("good").await;
    scene.reports("bad", |report| report.is_settled && report.gaps.contains_key("")).await;
    namespace(&scene.sandbox, "late", json!({}));
    scene.reports("bad", |report| report.effective.contains("late")).await;
    scene.reports("good", |report| report.effective.contains("late") && report.is_covered()).await;
    assert!(scene.is_warm(), "the kind has been looked for everywhere");
}

#[tokio::test]
async fn a_kind_that_is_gone_is_uncovered_until_that_is_sure_and_then_withdrawn() {
    let scene = Scene::new().await;
    put(&scene.sandbox, "shop", "web", "red");
    scene.order(&[target("t", json!({}))]);
    scene.covers("t").await;
    scene.sandbox.remove_definition("shop.example", "v1", "widgets");
    scene.reports("t", |report| report.gaps.contains_key("")).await;
    // Whoever is slow to look may find it withdrawn.
    assert_ne!(scene.coverage("t", "shop"), Some(Coverage::Covered));
    let is_sure = |kind: &Presence| matches!(kind, Presence::Absent { is_definite: true, .. });
    scene.reports("t", |report| is_sure(&report.kind) && report.is_settled).await;
    assert_eq!(scene.coverage("t", "shop"), None);
    scene.sandbox.define(widgets("Widget", "widgets"));
    put(&scene.sandbox, "shop", "new", "green");
    scene.covers("t").await;
    scene.has(&["t shop/new: green"]).await;
}

#[tokio::test]
async fn a_group_that_cannot_answer_is_no_sign_of_absence() {
    use kollect_sandbox::GroupHealth;

    let scene = Scene::new().await;
    put(&scene.sandbox, "shop", "web", "red");
    scene.order(&[target("t", json!({}))]);
    scene.covers("t").await;
    scene.sandbox.set_group_health("shop.example", GroupHealth::Stale);
    // Another kind makes it look again, and again.
    scene.order(&[
        target("t", json!({})),
        assignment("missing", "Gadget", "$.spec.colour", json!({})),
    ]);
    scene.reports("missing", |report| matches!(report.kind, Presence::Unknown(_))).await;
    put(&scene.sandbox, "shop", "cart", "blue");
    scene.has(&["t shop/cart: blue", "t shop/web: red"]).await;
    scene.covers("t").await;
}
