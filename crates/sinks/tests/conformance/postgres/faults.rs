//! Servers that end, statements that take too long, connections that are cut.

use std::{
    sync::Arc,
    thread::{self, JoinHandle},
};

use kollect_sinks::conformance::{Cluster, Process};
use kollect_testenv::{Durability, Postgres, postgres_programs};
use serde_json::json;
use tokio::task;

use super::{guard, open, process};

/// A server of our own, and a process that has copied to it.
async fn copied(rows: usize, more: serde_json::Value) -> Option<(Arc<Postgres>, Cluster, Process)> {
    let programs = postgres_programs()?;
    let server = Arc::new(Postgres::start(&programs, Durability::Unsynced).unwrap());
    let sink = open((&server.dsn("postgres"), ""), more, guard(&["127.0.0.0/8"])).unwrap();
    let cluster = Cluster::of(rows);
    let mut process = process(sink, &cluster);
    process.copy().await.unwrap();
    Some((server, cluster, process))
}

/// Changes every object.
fn change(cluster: &mut Cluster, process: &mut Process, value: &str) {
    for row in cluster.clone().rows() {
        let name = row.identity().name.into_owned();
        cluster.put("shop", &name, value);
        process.watch(cluster, "shop", &name);
    }
}

/// Holds the table until the server or the statement is ended.
fn hold(server: &Arc<Postgres>) -> JoinHandle<()> {
    let holder = Arc::clone(server);
    let text = "BEGIN; LOCK TABLE inventory_items IN SHARE MODE; SELECT pg_sleep(600)";
    let thread = thread::spawn(move || drop(holder.ask("postgres", text)));
    wait_for(server, "wait_event = 'PgSleep'");
    thread
}

/// Waits until there is such a session.
fn wait_for(server: &Postgres, condition: &str) {
    let query = format!("SELECT count(*) FROM pg_stat_activity WHERE {condition}");
    while server.query("postgres", &query) == [["0"]] {
        thread::yield_now();
    }
}

fn end(server: &Postgres, condition: &str) {
    let query = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {condition}");
    assert_eq!(server.query("postgres", &query), [["t"]]);
}

fn values(server: &Postgres) -> Vec<Vec<String>> {
    let query = "SELECT payload->'attributes'->>'value', count(*) FROM inventory_items GROUP BY 1";
    server.query("postgres", query)
}

#[tokio::test]
async fn a_server_that_ends_between_exports_costs_a_try() {
    let Some((server, mut cluster, mut process)) = copied(30, json!({})).await else { return };
    for round in 0..3 {
        change(&mut cluster, &mut process, &format!("round {round}"));
        server.crash().unwrap();
        let error = process.copy().await.unwrap_err();
        assert!(error.contains("Transient"), "{error}");
        server.run(Durability::Unsynced).unwrap();
        process.copy().await.unwrap();
        assert_eq!(values(&server), [[format!("round {round}"), "30".to_owned()]]);
    }
}

/// Both by one statement and by many.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_during_an_export_leaves_it_undone() {
    for rows in [50, 3_000] {
        let Some((server, mut cluster, mut process)) = copied(rows, json!({})).await else {
            return;
        };
        change(&mut cluster, &mut process, "2");
        let holder = hold(&server);
        let mut exports = task::JoinSet::new();
        exports.spawn(async move { (process.copy().await, process) });
        wait_for(&server, "wait_event_type = 'Lock' AND application_name = 'kollect'");
        server.crash().unwrap();
        holder.join().unwrap();
        let (outcome, mut process) = exports.join_next().await.unwrap().unwrap();
        let error = outcome.unwrap_err();
        assert!(error.contains("Transient"), "{error}");
        server.run(Durability::Unsynced).unwrap();
        assert_eq!(values(&server), [["1".to_owned(), rows.to_string()]]);
        process.copy().await.unwrap();
        assert_eq!(values(&server), [["2".to_owned(), rows.to_string()]]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_ended_is_not_believed_to_have_done_nothing() {
    let Some((server, mut cluster, mut process)) = copied(50, json!({})).await else { return };
    // The statement is known to the server from here on, and waits where it acts.
    change(&mut cluster, &mut process, "1.5");
    process.copy().await.unwrap();
    change(&mut cluster, &mut process, "2");
    let holder = hold(&server);
    let mut exports = task::JoinSet::new();
    exports.spawn(async move { (process.copy().await, process) });
    let waiting = "wait_event_type = 'Lock' AND application_name = 'kollect'";
    wait_for(&server, waiting);
    end(&server, waiting);
    let (outcome, mut process) = exports.join_next().await.unwrap().unwrap();
    let error = outcome.unwrap_err();
    assert!(error.contains("terminating connection") && error.contains("Transient"), "{error}");
    end(&server, "wait_event = 'PgSleep'");
    holder.join().unwrap();
    process.copy().await.unwrap();
    assert_eq!(values(&server), [["2", "50"]]);
    // Everything was compared, and not only the change sent again.
    assert!(process.receipt().unwrap().statements > 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_takes_too_long_is_ended_and_tried_again() {
    let short = json!({"options": {"statement_timeout": "1s"}});
    let Some((server, mut cluster, mut process)) = copied(50, short).await else { return };
    change(&mut cluster, &mut process, "2");
    let holder = hold(&server);
    let error = process.copy().await.unwrap_err();
    assert!(error.contains("statement timeout") && error.contains("Transient"), "{error}");
    assert_eq!(values(&server), [["1", "50"]]);
    end(&server, "wait_event = 'PgSleep'");
    holder.join().unwrap();
    process.copy().await.unwrap();
    assert_eq!(values(&server), [["2", "50"]]);
}
