//! Whoever may not read everything reads what may be read, and says what may not.

use std::collections::BTreeSet;

use e2e::cluster;
use kollect_collect::{Habits, Reason};
use kollect_inventory::Coverage;
use serde_json::json;

use super::{
    scene::{Scene, eager, target},
    writing::{Hand, Sort, numbered},
};

const READS: [&str; 3] = ["get", "list", "watch"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_read_two_namespaces_reads_these_and_rights_may_come_and_go() {
    let Some(cluster) = cluster() else { return };
    let hand = Hand::of(cluster.kubeconfig()).await;
    let maps = Sort::config_maps();
    let user = "two-user";
    let config = cluster.user(user, &[]).unwrap();
    hand.allow(user, "", "namespaces", &READS).await;
    for name in numbered("two", 4) {
        hand.namespace(&name, json!({"test": "two"})).await;
        hand.put(&maps, &name, "one", "red").await;
    }
    for name in ["two-00", "two-01"] {
        hand.allow(user, name, "configmaps", &READS).await;
    }
    // To list is not enough for whoever wants to know what happens then.
    hand.allow(user, "two-02", "configmaps", &["list"]).await;
    let scene = Scene::new(&config, eager()).await;
    let by = json!({"namespaceSelector": {"matchLabels": {"test": "two"}}});
    scene.order(&[target("t", "- v1 ConfigMap", "$.data.value", by)]);
    scene.misses("t", &["two-02", "two-03"], Reason::Forbidden).await;
    let message = |namespace: &str| scene.gap("t", namespace).unwrap().message;
    assert_eq!(message("two-02"), "not allowed to watch configmaps in namespace two-02");
    assert_eq!(message("two-03"), "not allowed to list configmaps in namespace two-03");
    let row = |text: &str| format!("t {text}");
    scene.has(&[row("two-00/one: red"), row("two-01/one: red")]).await;

    hand.forbid(user, "two-01", "configmaps").await;
    scene.misses("t", &["two-01", "two-02", "two-03"], Reason::Forbidden).await;
    assert_eq!(scene.coverage("t", "two-01"), Some(Coverage::Uncovered));
    hand.delete(&maps, "two-01", "one").await;
    hand.put(&maps, "two-01", "two", "blue").await;
    hand.put(&maps, "two-00", "two", "blue").await;
    let kept = [row("two-00/one: red"), row("two-00/two: blue"), row("two-01/one: red")];
    scene.has(&kept).await;

    hand.allow(user, "two-01", "configmaps", &READS).await;
    scene.misses("t", &["two-02", "two-03"], Reason::Forbidden).await;
    let seen = [row("two-00/one: red"), row("two-00/two: blue"), row("two-01/two: blue")];
    scene.has(&seen).await;

    // Whoever may read everything is no longer refused anything.
    hand.allow(user, "", "configmaps", &READS).await;
    scene.covers("t").await;
    assert_eq!(scene.agrees(&hand.client).await, 5);

    // And whoever may no longer keeps what was read, and goes on where it still may.
    hand.forbid(user, "", "configmaps").await;
    scene.misses("t", &["two-02", "two-03"], Reason::Forbidden).await;
    hand.delete(&maps, "two-03", "one").await;
    hand.delete(&maps, "two-00", "one").await;
    let last = ["two-00/two: blue", "two-01/two: blue", "two-02/one: red", "two-03/one: red"];
    scene.has(&last.map(row)).await;
    assert_eq!(scene.coverage("t", "two-00"), Some(Coverage::Covered));
    assert_eq!(scene.coverage("t", "two-03"), Some(Coverage::Uncovered));
}

/// R37.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_who_may_know_nothing_else_collects_from_its_own_namespaces() {
    let Some(cluster) = cluster() else { return };
    let hand = Hand::of(cluster.kubeconfig()).await;
    let maps = Sort::config_maps();
    let user = "tenant-user";
    let config = cluster.user(user, &[]).unwrap();
    for name in ["tenant-00", "tenant-01", "tenant-02"] {
        hand.namespace(name, json!({})).await;
        hand.put(&maps, name, "one", "red").await;
        hand.allow(user, name, "configmaps", &READS).await;
    }
    for name in ["tenant-00", "tenant-01"] {
        hand.allow(user, name, "namespaces", &["get"]).await;
    }
    let own = BTreeSet::from(["tenant-00".to_owned(), "tenant-01".to_owned()]);
    let scene = Scene::new(&config, Habits { confined_to: own, ..eager() }).await;
    scene.order(&[target("t", "- v1 ConfigMap", "$.data.value", json!({}))]);
    scene.covers("t").await;
    scene.has(&["t tenant-00/one: red".to_owned(), "t tenant-01/one: red".to_owned()]).await;
    hand.namespace("tenant-01", json!({"kollect.dev/watch": "disabled"})).await;
    hand.put(&maps, "tenant-00", "one", "blue").await;
    scene.has(&["t tenant-00/one: blue".to_owned()]).await;
}
