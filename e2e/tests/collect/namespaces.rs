//! Namespaces that opt out, leave, come back, or cannot be known.

use e2e::{cluster, servers};
use kollect_collect::Reason;
use kollect_inventory::Coverage;
use serde_json::{Value, json};

use super::{
    scene::{Scene, eager, target},
    writing::{Hand, Sort, numbered},
};

/// Whose rows are those of namespaces with a label.
fn labelled(label: &str) -> Value {
    json!({"namespaceSelector": {"matchLabels": {"test": label}}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_namespace_opts_out_and_in() {
    for cluster in servers() {
        let hand = Hand::of(cluster.kubeconfig()).await;
        let maps = Sort::config_maps();
        for name in ["opt-a", "opt-b"] {
            hand.namespace(name, json!({"test": "opt"})).await;
            hand.put(&maps, name, "one", "red").await;
        }
        let scene = Scene::new(cluster.kubeconfig(), eager()).await;
        scene.order(&[target("t", "- v1 ConfigMap", "$.data.value", labelled("opt"))]);
        scene.covers("t").await;
        let row = |text: &str| format!("t {text}");
        scene.has(&[row("opt-a/one: red"), row("opt-b/one: red")]).await;
        hand.namespace("opt-b", json!({"test": "opt", "kollect.dev/watch": "disabled"})).await;
        scene.has(&[row("opt-a/one: red")]).await;
        hand.put(&maps, "opt-b", "two", "blue").await;
        hand.delete(&maps, "opt-b", "one").await;
        hand.put(&maps, "opt-a", "two", "blue").await;
        scene.has(&[row("opt-a/one: red"), row("opt-a/two: blue")]).await;
        hand.namespace("opt-b", json!({"test": "opt"})).await;
        scene.has(&[row("opt-a/one: red"), row("opt-a/two: blue"), row("opt-b/two: blue")]).await;
        scene.covers("t").await;
        scene.agrees(&hand.client).await;
    }
}

/// R2, R6, trace 8.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_namespace_that_leaves_and_returns_while_it_is_listed_has_the_rows_of_the_last_list() {
    for cluster in servers() {
        let hand = Hand::of(cluster.kubeconfig()).await;
        let maps = Sort::config_maps();
        for name in ["flip-a", "flip-b"] {
            hand.namespace(name, json!({"test": "flip"})).await;
        }
        hand.each(300, |hand, number| {
            let (sort, namespace) = (maps.clone(), ["flip-a", "flip-b"][number % 2]);
            async move { hand.create(&sort, namespace, &format!("one-{number}"), "red").await }
        })
        .await;
        let scene = Scene::new(cluster.kubeconfig(), eager()).await;
        scene.order(&[target("t", "- v1 ConfigMap", "$.data.value", labelled("flip"))]);
        scene.covers("t").await;
        for number in 0..10 {
            hand.namespace("flip-b", json!({"test": "flop"})).await;
            hand.delete(&maps, "flip-b", &format!("one-{}", 2 * number + 1)).await;
            hand.put(&maps, "flip-b", "last", &format!("v{number}")).await;
            hand.namespace("flip-b", json!({"test": "flip"})).await;
            hand.put(&maps, "flip-b", "later", &format!("v{number}")).await;
        }
        assert_eq!(scene.agrees(&hand.client).await, 292);
        scene.covers("t").await;
        assert_eq!(scene.coverage("t", "flip-b"), Some(Coverage::Covered));
    }
}

/// R2, trace 7.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_cannot_list_namespaces_at_the_start_takes_nothing_for_gone() {
    let Some(cluster) = cluster() else { return };
    let hand = Hand::of(cluster.kubeconfig()).await;
    let maps = Sort::config_maps();
    let names = numbered("down", 2);
    for name in &names {
        hand.namespace(name, json!({"test": "down"})).await;
        hand.put(&maps, name, "one", "red").await;
    }
    let user = "down-user";
    let config = cluster.user(user, &[]).unwrap();
    let reads = ["get", "list", "watch"];
    hand.allow(user, "", "configmaps", &reads).await;
    hand.allow(user, "", "namespaces", &reads).await;
    let order = [
        target("t", "- v1 ConfigMap", "$.data.value", labelled("down")),
        target(
            "named",
            "- v1 ConfigMap",
            "$.data.value",
            json!({"includedNamespaces": [names[0]]}),
        ),
    ];
    let rows =
        |names: &[&str]| names.iter().map(|name| format!("{name}/one: red")).collect::<Vec<_>>();
    let first = Scene::new(&config, eager()).await;
    first.order(&order);
    first.has(&rows(&["named down-00", "t down-00", "t down-01"])).await;
    drop(first);

    // While nobody looks, a namespace leaves; and then namespaces cannot be listed.
    hand.namespace("down-01", json!({"test": "up"})).await;
    hand.forbid(user, "", "namespaces").await;
    let second = Scene::new(&config, eager()).await;
    second.order(&order);
    second.misses("t", &[""], Reason::Namespaces).await;
    second.reports("t", |report| !report.is_settled && report.effective.is_empty()).await;
    // Who names a namespace has its rows, though it cannot be sure of labels.
    second.has(&rows(&["named down-00"])).await;
    second.misses("named", &["down-00"], Reason::Namespaces).await;
    second.reports("named", |report| !report.is_settled).await;

    hand.allow(user, "", "namespaces", &reads).await;
    second.covers("t").await;
    second.covers("named").await;
    second.has(&rows(&["named down-00", "t down-00"])).await;
    second.reports("t", |report| report.effective.iter().eq(["down-00"])).await;
}
