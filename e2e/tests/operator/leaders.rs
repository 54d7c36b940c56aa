//! A leader that slept while another one led.

use serde_json::json;

use super::{
    places::{Database, HERE},
    support::{Scene, until},
};

const INVENTORY: (&str, &str) = ("kollectinventory", "i");

#[test]
fn an_old_leader_that_wakes_up_changes_nothing() {
    // Trace 10: R14, R23.
    let Some(scene) = Scene::new("slept") else { return };
    let Some(database) = Database::start() else { return };
    scene.basics();
    database.sink(&scene, database.server.password());
    let refs = json!({"databaseSinkRefs": [{"name": "rows"}, {"name": "pg"}]});
    scene.apply("KollectInventory", "i", refs);
    let election = scene.election("4s", "3s");
    let mut arguments: Vec<_> = election.iter().map(String::as_str).collect();
    arguments.push(HERE);
    let old = scene.operator_with(&arguments);
    scene.put("a", "1");
    database.has(&scene, &["a=1"]);
    let _new = scene.operator_with(&arguments);
    old.pause();
    scene.put("a", "2");
    database.has(&scene, &["a=2"]);
    scene.says(INVENTORY, "Synced", "True Exported");
    let writer = "select writer from inventory_items_kollect";
    let before = database.server.query(&database.name, writer);
    old.wake();
    assert_eq!(old.ended(), Some(1), "it has lost its lease");
    scene.put("a", "3");
    database.has(&scene, &["a=3"]);
    scene.has("t", &["a=3"]);
    assert_eq!(database.server.query(&database.name, writer), before, "one writer since");
    scene.says(INVENTORY, "Synced", "True Exported");
}

#[test]
fn a_copy_that_hangs_while_one_row_changes_is_not_in_sync() {
    // Trace 13: R22.
    let Some(scene) = Scene::new("hangs") else { return };
    let Some(database) = Database::start() else { return };
    scene.basics();
    database.sink(&scene, database.server.password());
    scene.apply("KollectInventory", "i", json!({"databaseSinkRefs": [{"name": "pg"}]}));
    let _operator = scene.operator_with(&[HERE]);
    scene.put("hot", "0");
    database.has(&scene, &["hot=0"]);
    scene.says(INVENTORY, "Synced", "True Exported");
    std::thread::scope(|scope| {
        let (server, name) = (&database.server, &database.name);
        let held = scope.spawn(move || {
            let lock = "begin; lock table inventory_items in access exclusive mode; \
                        select pg_sleep(600)";
            // It ends when somebody ends it.
            drop(server.ask(name, lock));
        });
        let mut round = 0;
        let is_late = until(|| {
            round += 1;
            scene.put("hot", &round.to_string());
            let said = scene.condition(INVENTORY.0, INVENTORY.1, "Synced");
            said.starts_with("False").then_some(said)
        });
        let ended = "select pg_terminate_backend(pid) from pg_stat_activity \
                     where query like '%pg_sleep(600)%' and pid <> pg_backend_pid()";
        server.execute(name, ended);
        held.join().unwrap();
        assert!(is_late.is_some(), "{}", scene.state());
        database.has(&scene, &[&format!("hot={round}")]);
    });
    scene.says(INVENTORY, "Synced", "True Exported");
}
