//! Whatever is written while it is collected, the rows are those of a fresh list.

use e2e::{Server, servers};
use serde_json::json;
use tokio::task::yield_now;

use super::{
    scene::{Scene, eager, target},
    support::definition,
    writing::{Hand, Sort, numbered},
};

/// Installs a kind of this file, and returns it.
fn custom(cluster: &Server, kind: &str, plural: &str) -> Sort {
    let name = format!("{plural}.storm.kollect.test");
    cluster.apply(&definition(&name, kind, "Namespaced", &["v1"]));
    cluster.established(&[&name]);
    Sort::new(&format!("storm.kollect.test v1 {kind} {plural}"), json!({}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn storms_on_several_kinds_end_in_what_a_fresh_list_says() {
    for cluster in servers() {
        let barrels = custom(cluster, "Barrel", "barrels");
        let hand = Hand::of(cluster.kubeconfig()).await;
        let namespaces = numbered("storm", 4);
        for name in &namespaces {
            hand.namespace(name, json!({"test": "storm"})).await;
        }
        let everywhere = json!({"namespaceSelector": {"matchLabels": {"test": "storm"}}});
        let by = json!({"namespaceSelector": {"matchLabels": {"test": "storm"}},
        "labelSelector": {"matchLabels": {"value": "v1"}}});
        let (maps, barrel) = ("- v1 ConfigMap", "storm.kollect.test v1 Barrel");
        let scene = Scene::new(cluster.kubeconfig(), eager()).await;
        scene.order(&[
            target("maps", maps, "$.data.value", everywhere),
            target("few", maps, "$.data.value", json!({"includedNamespaces": &namespaces[..2]})),
            // A watch in each namespace, of metadata alone, of those that match.
            target("labels", barrel, "$.metadata.labels.value", by),
            target("barrels", barrel, "$.spec.value", json!({"includedNamespaces": namespaces})),
        ]);
        for name in ["maps", "few", "labels", "barrels"] {
            scene.covers(name).await;
        }
        let sorts = [Sort::config_maps(), barrels];
        for _ in 0..3 {
            hand.storm(&sorts, &namespaces, 500).await;
            let rows = scene.agrees(&hand.client).await;
            assert!(rows > 100, "a storm leaves something behind: {rows}");
        }
        for name in ["maps", "few", "labels", "barrels"] {
            scene.covers(name).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_profile_that_is_edited_under_load_loses_no_row() {
    for cluster in servers() {
        let casks = custom(cluster, "Cask", "casks");
        let hand = Hand::of(cluster.kubeconfig()).await;
        let namespaces = numbered("edited", 2);
        for name in &namespaces {
            hand.namespace(name, json!({})).await;
        }
        // These stand through the storm, which has other names.
        let standing = numbered("standing", 50);
        hand.each(100, |hand, number| {
            let (sort, namespace) = (casks.clone(), namespaces[number % 2].clone());
            let name = standing[number / 2].clone();
            async move { hand.create(&sort, &namespace, &name, "v0").await }
        })
        .await;
        let scene = Scene::new(cluster.kubeconfig(), eager()).await;
        let order = |path: &str| {
            let spec = json!({"includedNamespaces": namespaces});
            scene.order(&[target("t", "storm.kollect.test v1 Cask", path, spec)]);
        };
        order("$.spec.value");
        scene.covers("t").await;

        let storm = hand.storm(std::slice::from_ref(&casks), &namespaces, 800);
        let edits = async {
            for number in 0..10 {
                order(["$.spec.size", "$.spec.value"][number % 2]);
                let is_standing = |row: &&String| row.contains("/standing-");
                for _ in 0..20 {
                    let rows = scene.rows();
                    assert_eq!(rows.iter().filter(is_standing).count(), 100, "{rows:#?}");
                    yield_now().await;
                }
                scene.covers("t").await;
            }
            order("$.spec.size");
        };
        tokio::join!(storm, edits);
        scene.covers("t").await;
        scene.agrees(&hand.client).await;
        assert!(scene.rows().iter().all(|row| row.ends_with(": large")), "{:#?}", scene.rows());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_ordered_again_unchanged_is_not_listed_again() {
    // The first is the real one.
    let Some(cluster) = servers().next() else { return };
    let kegs = custom(cluster, "Keg", "kegs");
    let hand = Hand::of(cluster.kubeconfig()).await;
    hand.namespace("unchanged", json!({})).await;
    hand.put(&kegs, "unchanged", "one", "red").await;
    let scene = Scene::new(cluster.kubeconfig(), kollect_collect::Habits::default()).await;
    let keg = "storm.kollect.test v1 Keg";
    let spec = || json!({"includedNamespaces": ["unchanged"]});
    scene.order(&[target("t", keg, "$.spec.value", spec())]);
    scene.covers("t").await;
    let lists = || {
        let metrics = cluster.kubectl(["get", "--raw", "/metrics"]).stdout();
        let is_list = |line: &&str| {
            line.starts_with("apiserver_request_total{")
                && line.contains("resource=\"kegs\"")
                && (line.contains("verb=\"LIST\"") || line.contains("verb=\"WATCH\""))
        };
        metrics.lines().filter(is_list).map(str::to_owned).collect::<Vec<_>>()
    };
    let before = lists();
    // A profile that is replaced by force comes back as it was; of one that is
    // broken by a typo, the last that was good stays ordered (R3).
    for number in 0..5 {
        scene.order(&[target("t", keg, "$.spec.value", spec())]);
        scene.covers("t").await;
        let value = format!("v{number}");
        hand.put(&kegs, "unchanged", "one", &value).await;
        scene.has(&[format!("t unchanged/one: {value}")]).await;
    }
    assert_eq!(lists(), before, "the watch that was there has told it all");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_thousand_objects_in_fifty_namespaces_are_all_collected() {
    // The first is the real one.
    let Some(cluster) = servers().next() else { return };
    let hand = Hand::of(cluster.kubeconfig()).await;
    let namespaces = numbered("crowd", 50);
    hand.each(50, |hand, number| {
        let name = namespaces[number].clone();
        async move { hand.namespace(&name, json!({"test": "crowd"})).await }
    })
    .await;
    let maps = Sort::config_maps();
    hand.each(5000, |hand, number| {
        let (sort, namespace) = (maps.clone(), namespaces[number % 50].clone());
        async move { hand.create(&sort, &namespace, &format!("one-{}", number / 50), "red").await }
    })
    .await;
    let scene = Scene::new(cluster.kubeconfig(), eager()).await;
    let by = json!({"namespaceSelector": {"matchLabels": {"test": "crowd"}}});
    scene.order(&[target("t", "- v1 ConfigMap", "$.data.value", by)]);
    scene.covers("t").await;
    let mut expected: Vec<_> = namespaces
        .iter()
        .flat_map(|namespace| {
            (0..100).map(move |number| format!("t {namespace}/one-{number}: red"))
        })
        .collect();
    scene.has(&expected).await;
    hand.put(&maps, "crowd-31", "one-77", "blue").await;
    for row in &mut expected {
        if row.contains("crowd-31/one-77:") {
            *row = row.replace("red", "blue");
        }
    }
    scene.has(&expected).await;
    assert_eq!(scene.agrees(&hand.client).await, 5000);
}
