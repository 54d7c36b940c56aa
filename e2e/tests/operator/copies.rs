//! One inventory in three places: a file, a database server and a repository.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use kollect_testenv::{Durability, git};
use serde_json::json;

use super::{
    places::{Database, HERE, Repository},
    support::{Scene, until},
};

const INVENTORY: (&str, &str) = ("kollectinventory", "i");

/// The three copies of a scene.
struct Copies {
    scene: Scene,
    database: Database,
    repository: Repository,
}

impl Copies {
    fn new(name: &str) -> Option<Self> {
        let scene = Scene::new(name)?;
        let (database, repository) = (Database::start()?, Repository::start());
        scene.basics();
        database.sink(&scene, database.server.password());
        repository.sink(&scene);
        scene.apply(
            "KollectInventory",
            "i",
            json!({
                "databaseSinkRefs": [{"name": "rows"}, {"name": "pg"}],
                "snapshotSinkRefs": [{"name": "audit"}],
            }),
        );
        Some(Self { scene, database, repository })
    }

    /// Waits until all three hold the same.
    #[track_caller]
    fn have(&self, rows: &[&str]) {
        let namespace = &self.scene.namespace;
        let names = rows.iter().filter_map(|row| row.split('=').next());
        let files: Vec<_> =
            names.map(|name| format!("here/{namespace}/configmap/{name}.yaml")).collect();
        self.scene.has("t", rows);
        self.database.has(&self.scene, rows);
        self.repository.has(&self.scene, &files);
    }
}

#[test]
fn three_copies_follow_every_change_to_the_last_row() {
    let Some(copies) = Copies::new("three") else { return };
    let Copies { scene, database, repository } = &copies;
    let _operator = scene.operator_with(&[HERE]);
    scene.put("a", "1");
    scene.put("b", "1");
    copies.have(&["a=1", "b=1"]);
    scene.says(INVENTORY, "Synced", "True Exported");
    scene.put("a", "2");
    copies.have(&["a=2", "b=1"]);
    scene.delete("configmap", "a");
    scene.delete("configmap", "b");
    copies.have(&[]);
    scene.says(INVENTORY, "Synced", "True Exported");
    // What is said is what there is.
    let reference = "{.status.sinkExports[?(@.name==\"snapshot/audit\")].lastExportRef}";
    let agrees = || {
        let commit = git(repository.path(), &["rev-parse", "main"]).unwrap();
        (scene.field(INVENTORY, reference) == commit.trim()).then_some(())
    };
    assert!(until(agrees).is_some(), "{}", scene.state());
    let digests = scene.field(INVENTORY, "{.status.sinkExports[*].watermark.digest}");
    let mut digests: Vec<_> = digests.split(' ').collect();
    digests.dedup();
    assert_eq!(digests.len(), 1, "the three copies are the same: {digests:?}");
    let recorded = "select digest from inventory_items_kollect";
    assert_eq!(database.server.query(&database.name, recorded), [[digests[0]]]);
    let fsck = git(repository.path(), &["fsck", "--strict"]);
    assert!(fsck.is_ok(), "{fsck:?}");
    // Rows go with the inventory, and the history stays.
    scene.put("c", "1");
    copies.have(&["c=1"]);
    scene.delete("kollectinventory", "i");
    database.has(scene, &[]);
    scene.has("t", &[]);
    assert_eq!(repository.files().len(), 1);
}

/// R15: whoever edited a copy left its record as it was.
#[test]
fn what_somebody_edited_is_repaired_when_somebody_asks() {
    let Some(copies) = Copies::new("asked") else { return };
    let Copies { scene, database, .. } = &copies;
    let operator = scene.operator_with(&[HERE]);
    scene.put("a", "1");
    scene.put("b", "1");
    copies.have(&["a=1", "b=1"]);
    scene.says(INVENTORY, "Synced", "True Exported");
    let lose = |name: &str| {
        let text = format!("delete from inventory_items where payload->>'name' = '{name}'");
        database.server.execute(&database.name, &text);
    };
    let ask = |whom, at: &str| scene.annotate(whom, &format!("kollect.dev/requestedAt={at}"));
    lose("a");
    ask(INVENTORY, "2026-01-01T00:00:00Z");
    database.has(scene, &["a=1", "b=1"]);
    lose("b");
    ask(("kollectdatabasesink", "pg"), "2026-01-01T00:00:00Z");
    database.has(scene, &["a=1", "b=1"]);
    // While nobody was there to hear it.
    drop(operator);
    lose("a");
    ask(INVENTORY, "2999-01-01T00:00:00Z");
    let _operator = scene.operator_with(&[HERE]);
    database.has(scene, &["a=1", "b=1"]);
}

#[test]
fn a_database_that_is_down_delays_nobody_and_comes_back() {
    let Some(copies) = Copies::new("down") else { return };
    let Copies { scene, database, .. } = &copies;
    let _operator = scene.operator_with(&[HERE]);
    scene.put("a", "1");
    copies.have(&["a=1"]);
    scene.says(INVENTORY, "Synced", "True Exported");
    database.server.crash().unwrap();
    scene.put("a", "2");
    scene.has("t", &["a=2"]);
    scene.says(INVENTORY, "Synced", "False PartiallySynced");
    scene.says(INVENTORY, "Ready", "True PartiallySynced");
    scene.put("a", "3");
    scene.has("t", &["a=3"]);
    database.server.run(Durability::Unsynced).unwrap();
    copies.have(&["a=3"]);
    scene.says(INVENTORY, "Synced", "True Exported");
}

#[test]
fn credentials_are_rotated_while_everything_goes_on() {
    let Some(copies) = Copies::new("rotated") else { return };
    let Copies { scene, database, .. } = &copies;
    let _operator = scene.operator_with(&[HERE]);
    scene.put("a", "1");
    copies.have(&["a=1"]);
    let Database { server, name, role } = database;
    server.execute(name, &format!("ALTER ROLE {role} PASSWORD 'another one'"));
    let others =
        format!("select pg_terminate_backend(pid) from pg_stat_activity where usename = '{role}'");
    server.execute(name, &others);
    scene.put("a", "2");
    scene.has("t", &["a=2"]);
    scene.says(INVENTORY, "Synced", "False PartiallySynced");
    let message = scene.field(INVENTORY, "{.status.conditions[?(@.type==\"Synced\")].message}");
    assert!(!message.contains(server.password()), "{message}");
    database.sink(scene, "another%20one");
    copies.have(&["a=2"]);
    scene.says(INVENTORY, "Synced", "True Exported");
    assert!(!scene.log().contains("another one"), "{}", scene.log());
}

#[test]
fn an_operator_that_is_killed_under_churn_leaves_no_trace_of_it() {
    let Some(copies) = Copies::new("churn") else { return };
    let Copies { scene, database, .. } = &copies;
    scene.put("stays", "1");
    let mut operator = scene.operator_with(&[HERE]);
    copies.have(&["stays=1"]);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let rows = database.rows("t");
                assert!(rows.contains(&"stays=1".to_owned()), "a reader saw {rows:?}");
            }
        });
        for round in 0..4 {
            for name in 0..6 {
                scene.put(&format!("n{name}"), &format!("{round}"));
                if name == round {
                    operator.kill();
                    operator = scene.operator_with(&[HERE]);
                }
                // Long enough for an export to be under way, whichever it is.
                thread::sleep(Duration::from_millis(150));
            }
            scene.delete("configmap", &format!("n{round}"));
        }
        copies.have(&["n0=3", "n1=3", "n2=3", "n4=3", "n5=3", "stays=1"]);
        is_over.store(true, Ordering::Relaxed);
        reader.join().unwrap();
    });
    scene.says(INVENTORY, "Synced", "True Exported");
}

#[test]
fn a_namespace_that_ends_is_not_held_whatever_goes_first() {
    let Some(copies) = Copies::new("ended") else { return };
    let Copies { scene, .. } = &copies;
    let _operator = scene.operator_with(&[HERE]);
    scene.put("a", "1");
    copies.have(&["a=1"]);
    let namespace = &scene.namespace;
    scene.cluster.kubectl(["delete", "namespace", namespace, "--wait=false"]).stdout();
    // No controller of namespaces runs here, so its work is done by hand, in
    // the worst order: sinks and Secrets are gone when the inventory goes.
    for kind in ["secret", "kollectdatabasesink", "kollectsnapshotsink", "kollectinventory"] {
        let all = ["delete", kind, "--all", "-n", namespace, "--timeout=50s"];
        scene.cluster.kubectl(all).stdout();
    }
}

#[test]
fn another_inventory_may_take_the_paths_that_one_has_left() {
    // Trace 14, R31.
    let Some(copies) = Copies::new("paths") else { return };
    let Copies { scene, repository, .. } = &copies;
    let _operator = scene.operator_with(&[HERE]);
    scene.put("a", "1");
    copies.have(&["a=1"]);
    scene.delete("kollectinventory", "i");
    scene.apply("KollectInventory", "other", json!({"snapshotSinkRefs": [{"name": "audit"}]}));
    scene.says(("kollectinventory", "other"), "Synced", "True Exported");
    scene.put("a", "2");
    let path = format!("here/{}/configmap/a.yaml", scene.namespace);
    let has_come = || repository.show(&path).contains('2').then_some(());
    assert!(until(has_come).is_some(), "{}", repository.show(&path));
}
