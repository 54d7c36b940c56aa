//! What happens while nobody looks is seen afterwards, and nobody who reads
//! sees less than there is.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use super::support::Scene;

#[test]
fn after_a_kill_everything_is_as_it_should_be_and_nothing_flickers() {
    let Some(scene) = Scene::new("restarts") else { return };
    let operator = scene.operator();
    for name in ["a", "b", "stays"] {
        scene.put(name, "1");
    }
    scene.basics();
    scene.has("t", &["a=1", "b=1", "stays=1"]);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let rows = scene.rows("t");
                assert!(rows.contains(&"stays=1".to_owned()), "a reader saw {rows:?}");
            }
        });
        operator.kill();
        scene.put("a", "2");
        scene.put("c", "1");
        scene.delete("configmap", "b");
        let operator = scene.operator();
        scene.has("t", &["a=2", "c=1", "stays=1"]);
        operator.kill();
        let _operator = scene.operator();
        scene.put("a", "3");
        scene.has("t", &["a=3", "c=1", "stays=1"]);
        is_over.store(true, Ordering::Relaxed);
        reader.join().unwrap();
    });
}

#[test]
fn an_inventory_that_was_deleted_while_nobody_looked_is_cleaned_up() {
    let Some(scene) = Scene::new("deleted") else { return };
    let operator = scene.operator();
    scene.put("a", "1");
    scene.basics();
    scene.has("t", &["a=1"]);
    operator.kill();
    let namespace = scene.namespace.clone();
    scene
        .cluster
        .kubectl(["delete", "kollectinventory", "i", "-n", &namespace, "--wait=false"])
        .stdout();
    scene.cluster.kubectl(["delete", "kollecttarget", "t", "-n", &namespace]).stdout();
    let _operator = scene.operator();
    scene.has("t", &[]);
    scene
        .cluster
        .kubectl(["wait", "--for=delete", "kollectinventory/i", "-n", &namespace, "--timeout=50s"])
        .stdout();
}

#[test]
fn of_two_replicas_one_works_and_the_other_follows() {
    let Some(scene) = Scene::new("replicas") else { return };
    let election = scene.election("4s", "3s");
    let arguments = election.each_ref().map(String::as_str);
    let first = scene.operator_with(&arguments);
    scene.put("a", "1");
    scene.basics();
    scene.has("t", &["a=1"]);
    let second = scene.operator_with(&arguments);
    first.kill();
    scene.put("a", "2");
    scene.has("t", &["a=2"]);
    let third = scene.operator_with(&arguments);
    assert_eq!(second.stop(), Some(0), "it gives the lease back");
    scene.put("a", "3");
    scene.has("t", &["a=3"]);
    drop(third);
}
