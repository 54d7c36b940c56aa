//! Tables that others made, rights that are missing, and rows that are refused.

use std::sync::Arc;

use kollect_sinks::{Phase, Receipt, SinkError, Wrote, conformance::Cluster};
use kollect_testenv::Postgres;
use serde_json::json;

use super::{Database, Role, guard, open, process};
use crate::support::copy_in_part;

/// Upstream's table, as its own statement makes it.
const UPSTREAM: &str = r#"CREATE TABLE IF NOT EXISTS "public"."inventory_items" (
  inventory_namespace TEXT NOT NULL,
  inventory_name TEXT NOT NULL,
  target_name TEXT NOT NULL,
  source_uid TEXT NOT NULL,
  cluster TEXT NOT NULL DEFAULT '',
  resource_namespace TEXT NOT NULL DEFAULT '',
  payload JSONB NOT NULL,
  exported_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (inventory_namespace, inventory_name, target_name, source_uid)
)"#;

/// Puts rows there as upstream would, one of them out of date and one too many.
fn fill(database: &Database, cluster: &Cluster, name: &str) {
    for row in cluster.rows() {
        let identity = row.identity();
        let payload = String::from_utf8_lossy(row.as_json()).replace('\'', "''");
        let uid = &identity.uid;
        database
            .ask(&format!(
                "INSERT INTO inventory_items VALUES ('shop', 'web', 'things', '{uid}', '{name}', \
                '{}', '{payload}', '2024-01-01')",
                identity.namespace
            ))
            .unwrap();
    }
}

fn touched(database: &Database) -> Vec<Vec<String>> {
    let query = "SELECT payload->>'name' FROM inventory_items \
        WHERE exported_at > '2024-01-02' ORDER BY 1";
    database.ask(query).unwrap()
}

#[tokio::test]
async fn upstreams_table_is_taken_over_as_it_is() {
    let Some(server) = Postgres::shared() else { return };
    let database = Database::owned(server);
    database.ask(UPSTREAM).unwrap();
    let mut cluster = Cluster::of(20);
    let mut before = cluster.clone();
    before.put("shop", "object-3", "old");
    before.put("shop", "surplus", "1");
    fill(&database, &before, "eu-1");
    let mut process = process(database.sink("eu-1", server.password()).unwrap(), &cluster);
    process.copy().await.unwrap();
    // What was right has not been touched, so its time is upstream's.
    assert_eq!(touched(&database), [["object-3"]]);
    let count = "SELECT count(*), count(*) FILTER (WHERE payload->>'name' = 'surplus') \
        FROM inventory_items";
    assert_eq!(database.ask(count).unwrap(), [["20", "0"]]);
    cluster.put("shop", "object-5", "2");
    process.watch(&cluster, "shop", "object-5");
    process.copy().await.unwrap();
    assert_eq!(touched(&database), [["object-3"], ["object-5"]]);
    assert_eq!(process.receipt().unwrap().statements, 1);
    // No view stands beside a table that is not ours, and its key is upstream's.
    let views = "SELECT count(*) FROM pg_views WHERE schemaname = 'public'";
    assert_eq!(database.ask(views).unwrap(), [["0"]]);
    let key = "SELECT count(*) FROM information_schema.key_column_usage \
        WHERE table_name = 'inventory_items'";
    assert_eq!(database.ask(key).unwrap(), [["4"]]);
}

#[tokio::test]
async fn a_key_without_the_cluster_keeps_clusters_from_overwriting_each_other() {
    let Some(server) = Postgres::shared() else { return };
    let database = Database::owned(server);
    database.ask(UPSTREAM).unwrap();
    let mut theirs = Cluster::default();
    theirs.put("shop", "object-0", "theirs");
    fill(&database, &theirs, "us-1");
    let mut ours = Cluster::of(3);
    let mut process = process(database.sink("eu-1", server.password()).unwrap(), &ours);
    let refused = copy_in_part(&mut process).await;
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].identity.name, "object-0");
    assert!(refused[0].reason.contains("cluster \"us-1\" has this row"), "{}", refused[0].reason);
    let rows =
        "SELECT cluster, payload->'attributes'->>'value' FROM inventory_items ORDER BY source_uid";
    assert_eq!(database.ask(rows).unwrap(), [["us-1", "theirs"], ["eu-1", "1"], ["eu-1", "1"]]);
    // A later change of that row is refused as well, by the small statement too.
    ours.put("shop", "object-0", "2");
    process.watch(&ours, "shop", "object-0");
    assert_eq!(copy_in_part(&mut process).await.len(), 1);
    assert_eq!(database.ask(rows).unwrap()[0], ["us-1", "theirs"]);
}

#[tokio::test]
async fn without_a_place_for_records_it_works_and_says_what_that_costs() {
    let Some(server) = Postgres::shared() else { return };
    let database = Database::granted(server);
    database.ask("DROP TABLE inventory_items_kollect").unwrap();
    let mut cluster = Cluster::of(10);
    let sink = database.sink("eu-1", server.password()).unwrap();
    let mut one = process(Arc::clone(&sink), &cluster);
    one.copy().await.unwrap();
    let receipt = one.receipt().unwrap();
    assert!(receipt.warnings.iter().any(|text| text.contains("every start compares all rows")));
    cluster.put("shop", "object-1", "2");
    cluster.remove("shop", "object-2");
    one.watch(&cluster, "shop", "object-1");
    one.watch(&cluster, "shop", "object-2");
    one.copy().await.unwrap();
    let receipt = one.receipt().unwrap();
    assert_eq!(receipt.wrote, Wrote::Rows { upserted: 1, deleted: 1 });
    assert_eq!((receipt.statements, receipt.warnings.len()), (1, 0));
    // Another process knows nothing, compares, and finds nothing to write.
    let mut two = process(database.sink("eu-1", server.password()).unwrap(), &cluster);
    two.copy().await.unwrap();
    assert_eq!(two.receipt().unwrap().wrote, Wrote::Rows { upserted: 0, deleted: 0 });
    let made = "SELECT count(*) FROM pg_class WHERE relname LIKE 'inventory_items_%kollect%'";
    assert_eq!(database.ask(made).unwrap(), [["0"]]);
}

#[tokio::test]
async fn what_is_missing_is_named_and_nothing_is_made_where_that_is_not_wanted() {
    let Some(server) = Postgres::shared() else { return };
    let name = server.database("bare");
    let role = server.role("guest");
    let dsn = server.dsn_of(&role, &name);
    let tls = json!({"caSecretRef": {"name": "ca"}});
    let said = async |mode: &str| {
        let more = json!({"tls": tls, "provisioning": {"mode": mode}});
        let sink = open((&dsn, &server.ca_pem()), more, guard(&["127.0.0.0/8"])).unwrap();
        let mut process = process(sink, &Cluster::of(1));
        process.copy().await.unwrap_err()
    };
    let existing = said("existing").await;
    assert!(existing.contains("there is no table") && existing.contains("Terminal"), "{existing}");
    let ensure = said("ensure").await;
    assert!(ensure.contains("permission denied for schema public"), "{ensure}");
    assert!(ensure.contains("Terminal"), "{ensure}");
    server.execute(&name, &UPSTREAM.replace("payload JSONB", "payload JSON"));
    let wrong = said("existing").await;
    assert!(wrong.contains("column payload is json and not jsonb"), "{wrong}");
    server.execute(&name, "DROP TABLE inventory_items");
    server.execute(&name, UPSTREAM);
    let rights = said("existing").await;
    assert!(rights.contains("GRANT SELECT, INSERT, UPDATE, DELETE ON"), "{rights}");
}

#[tokio::test]
async fn a_table_that_somebody_drops_is_made_and_filled_again() {
    let Some(server) = Postgres::shared() else { return };
    let database = Database::owned(server);
    let mut cluster = Cluster::of(5);
    let mut process = process(database.sink("eu-1", server.password()).unwrap(), &cluster);
    process.copy().await.unwrap();
    database.ask("DROP TABLE inventory_items CASCADE").unwrap();
    cluster.put("shop", "object-1", "2");
    process.watch(&cluster, "shop", "object-1");
    process.copy().await.unwrap_err();
    process.copy().await.unwrap();
    assert_eq!(database.ask("SELECT count(*) FROM inventory_items").unwrap(), [["5"]]);
}

/// Trace 15.
#[tokio::test]
async fn one_row_among_ten_thousand_is_refused_and_named() {
    let Some(server) = Postgres::shared() else { return };
    let database = Database::owned(server);
    let mut cluster = Cluster::of(9_999);
    cluster.put("shop", "bad", "a\0b");
    let mut process = process(database.sink("eu-1", server.password()).unwrap(), &cluster);
    let refused = copy_in_part(&mut process).await;
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].identity.name, "bad");
    assert_eq!(database.ask("SELECT count(*) FROM inventory_items").unwrap(), [["9999"]]);
    let digest = "SELECT digest IS NULL, rows IS NULL FROM inventory_items_kollect";
    assert_eq!(database.ask(digest).unwrap(), [["t", "t"]]);
    cluster.put("shop", "bad", "good");
    process.watch(&cluster, "shop", "bad");
    process.copy().await.unwrap();
    assert_eq!(database.ask("SELECT count(*) FROM inventory_items").unwrap(), [["10000"]]);
}

#[tokio::test]
async fn what_a_rule_of_the_table_refuses_is_found_among_the_rest() {
    let Some(server) = Postgres::shared() else { return };
    let database = Database::owned(server);
    let mut cluster = Cluster::of(6_000);
    let mut process = process(database.sink("eu-1", server.password()).unwrap(), &cluster);
    process.copy().await.unwrap();
    let rule = "ALTER TABLE inventory_items ADD CHECK (payload->'attributes'->>'value' <> 'bad')";
    database.ask(rule).unwrap();
    // Among few, by the small statement, and among many, by staging.
    for (count, value) in [(20, "2"), (5_500, "3")] {
        for number in 0..count {
            let value = if number == 7 { "bad" } else { value };
            cluster.put("shop", &format!("object-{number}"), value);
            process.watch(&cluster, "shop", &format!("object-{number}"));
        }
        let refused = copy_in_part(&mut process).await;
        assert_eq!(refused.len(), 1);
        assert_eq!(refused[0].identity.name, "object-7");
        assert!(refused[0].reason.contains("violates check constraint"), "{}", refused[0].reason);
        let written = format!(
            "SELECT count(*) FROM inventory_items WHERE payload->'attributes'->>'value' = '{value}'"
        );
        assert_eq!(database.ask(&written).unwrap(), [[(count - 1).to_string()]]);
    }
}

#[tokio::test]
async fn a_small_change_is_one_statement_whatever_it_holds() {
    let Some(server) = Postgres::shared() else { return };
    let database = Database::owned(server);
    let mut cluster = Cluster::of(50);
    let mut process = process(database.sink("eu-1", server.password()).unwrap(), &cluster);
    process.copy().await.unwrap();
    // The first sends the text of the statement too.
    cluster.put("shop", "object-49", "2");
    process.watch(&cluster, "shop", "object-49");
    process.copy().await.unwrap();
    for number in 0..10 {
        cluster.put("shop", &format!("object-{number}"), "2");
        cluster.put("shop", &format!("new-{number}"), "1");
        cluster.remove("shop", &format!("object-{}", number + 10));
        for name in ["object", "new"] {
            process.watch(&cluster, "shop", &format!("{name}-{number}"));
        }
        process.watch(&cluster, "shop", &format!("object-{}", number + 10));
    }
    process.copy().await.unwrap();
    let Receipt { wrote, statements, bytes, .. } = process.receipt().unwrap();
    assert_eq!((wrote, statements), (Wrote::Rows { upserted: 20, deleted: 10 }, 1));
    assert!(bytes > 20 * 200 && bytes < 20 * 400, "{bytes}");
    assert!(matches!(process.verify().await, Phase::Exported));
}

/// A server that knows nothing of a table yet thinks little of reading all of it.
#[tokio::test]
async fn a_small_change_reads_the_rows_that_it_changes_and_no_others() {
    let Some(server) = Postgres::shared() else { return };
    let database = Database::owned(server);
    let mut cluster = Cluster::of(2_000);
    let mut process = process(database.sink("eu-1", server.password()).unwrap(), &cluster);
    process.copy().await.unwrap();
    database.ask("ALTER TABLE inventory_items SET (autovacuum_enabled = false)").unwrap();
    for number in 0..20 {
        let (changed, gone) = (format!("object-{number}"), format!("object-{}", number + 100));
        cluster.put("shop", &changed, "2");
        cluster.remove("shop", &gone);
        process.watch(&cluster, "shop", &changed);
        process.watch(&cluster, "shop", &gone);
        process.copy().await.unwrap();
    }
    // A session tells what it has read at the latest when it ends.
    drop(process);
    let others = "SELECT count(*) FROM pg_stat_activity \
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    while database.ask(others).unwrap() != [["0"]] {
        tokio::task::yield_now().await;
    }
    let read = "SELECT seq_tup_read + idx_tup_fetch, n_tup_upd, n_tup_del \
        FROM pg_stat_user_tables WHERE relname = 'inventory_items'";
    let [read, updated, deleted] = &database.ask(read).unwrap()[0][..] else { panic!("columns") };
    assert_eq!((updated.as_str(), deleted.as_str()), ("20", "20"));
    assert!(read.parse::<u64>().unwrap() < 200, "{read} rows were read to change 40");
}

#[tokio::test]
async fn a_role_that_may_not_write_is_told_so_by_the_probe() {
    let Some(server) = Postgres::shared() else { return };
    let database = Database::granted(server);
    let Role::Writer(role) = &database.role else { return };
    let sink = database.sink("eu-1", server.password()).unwrap();
    let said = sink.probe().await.unwrap();
    assert!(said.contains("inventories recorded: 0"), "{said}");
    database.ask(&format!("REVOKE DELETE ON inventory_items FROM {role}")).unwrap();
    let error = sink.probe().await.unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("GRANT DELETE ON"), "{cause}");
}

/// What was let in long ago says nothing about now.
#[tokio::test]
async fn a_probe_logs_in_anew() {
    let Some(server) = Postgres::shared() else { return };
    let database = Database::granted(server);
    let Role::Writer(role) = &database.role else { return };
    let sink = database.sink("eu-1", server.password()).unwrap();
    sink.probe().await.unwrap();
    database.ask(&format!("ALTER ROLE {role} PASSWORD 'another'")).unwrap();
    let error = sink.probe().await.unwrap_err();
    assert!(matches!(error, SinkError::Refused { .. }), "{error}");
}
