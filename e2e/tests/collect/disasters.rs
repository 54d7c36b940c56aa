//! The server is killed, loses everything, or is restored from a backup, while it is watched.

use std::path::Path;

use kollect_collect::Habits;
use kollect_testenv::{ControlPlane, History, assets};
use serde_json::json;
use tokio::task::{JoinSet, block_in_place};

use super::{
    scene::{Scene, eager, target},
    writing::{Hand, Sort},
};

/// The namespaces shop and mall with twenty config maps each, and what a user may do.
async fn furnish(hand: &Hand, mark: &str) {
    let maps = Sort::config_maps();
    for namespace in ["shop", "mall"] {
        hand.namespace(namespace, json!({"test": "disaster"})).await;
    }
    hand.each(40, |hand, number| {
        let (sort, namespace) = (maps.clone(), ["shop", "mall"][number % 2]);
        let (name, value) = (format!("{mark}-{number}"), format!("{mark}-red"));
        async move { hand.put(&sort, namespace, &name, &value).await }
    })
    .await;
    hand.allow("hasty", "", "*", &["get", "list", "watch"]).await;
}

/// One with the habits of everybody, and one whose streams end all the time and
/// who may do no more than was allowed.
async fn scenes(admin: &Path, user: &Path) -> [Scene; 2] {
    let scenes = [Scene::new(admin, Habits::default()).await, Scene::new(user, eager()).await];
    for scene in &scenes {
        let wide = json!({"namespaceSelector": {"matchLabels": {"test": "disaster"}}});
        let narrow = json!({"includedNamespaces": ["shop"]});
        scene.order(&[
            target("wide", "- v1 ConfigMap", "$.data.value", wide),
            target("narrow", "- v1 ConfigMap", "$.data.size", narrow),
        ]);
    }
    scenes
}

/// All have the rows of a fresh list within a minute, so many, and are sure of it.
async fn agree(scenes: &[Scene], hand: &Hand, rows: usize) {
    for scene in scenes {
        assert_eq!(scene.agrees(&hand.client).await, rows);
        scene.covers("wide").await;
        scene.covers("narrow").await;
    }
}

/// R6, trace 11.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_happens_to_the_server_the_rows_are_those_of_a_fresh_list_soon_after() {
    let Some(assets) = assets() else { return };
    let mut plane = block_in_place(|| ControlPlane::start(&assets)).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let saved = directory.path().join("saved");
    let maps = Sort::config_maps();
    let hand = Hand::of(plane.kubeconfig()).await;
    furnish(&hand, "first").await;
    hand.each(10, |hand, number| {
        let sort = maps.clone();
        async move { hand.put(&sort, "shop", &format!("busy-{number}"), "red").await }
    })
    .await;
    let scenes = scenes(plane.kubeconfig(), &plane.user("hasty", &[]).unwrap()).await;
    agree(&scenes, &hand, 80).await;

    // Killed in the middle of it and started again. What is saved here is what
    // the backup will have.
    let mut busy = JoinSet::new();
    busy.spawn(hand.clone().insist(maps.clone(), "shop"));
    block_in_place(|| plane.save(&saved)).unwrap();
    busy.shutdown().await;
    let hand = Hand::of(plane.kubeconfig()).await;
    hand.put(&maps, "shop", "first-0", "blue").await;
    hand.delete(&maps, "mall", "first-1").await;
    agree(&scenes, &hand, 79).await;

    // Things that the backup knows nothing of.
    furnish(&hand, "second").await;
    hand.delete(&maps, "shop", "first-2").await;
    agree(&scenes, &hand, 137).await;
    block_in_place(|| plane.restart(History::Saved(&saved))).unwrap();
    let hand = Hand::of(plane.kubeconfig()).await;
    agree(&scenes, &hand, 80).await;
    hand.put(&maps, "shop", "first-0", "green").await;
    agree(&scenes, &hand, 80).await;

    block_in_place(|| plane.restart(History::Empty)).unwrap();
    let hand = Hand::of(plane.kubeconfig()).await;
    furnish(&hand, "third").await;
    hand.delete(&maps, "mall", "third-1").await;
    agree(&scenes, &hand, 59).await;
}
