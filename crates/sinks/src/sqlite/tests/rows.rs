//! What becomes of rows.

use kollect_inventory::{Change, Confines, Identity, PartitionChange, Row, watermark::Trust};
use rusqlite::Connection;
use serde_json::json;

use super::support::{File, partition, row, row_of, wrote};
use crate::{Farewell, Sink as _, SinkError, Wrote};

const NAMES: &str = "SELECT json_extract(payload, '$.name') FROM inventory_items ORDER BY payload";

fn many(count: usize, image: &str) -> Vec<Row> {
    (0..count).map(|at| row("shop", &format!("web-{at}"), &json!({ "image": image }))).collect()
}

#[tokio::test]
async fn a_row_is_stored_as_the_contract_says() {
    let file = File::new();
    let identity = Identity {
        target_namespace: "shop".into(),
        target_name: "workloads".into(),
        namespace: "shop".into(),
        name: "web".into(),
        uid: "11111111-aaaa-4bbb-8ccc-000000000001".into(),
        group: "apps".into(),
        version: "v1".into(),
        kind: "Deployment".into(),
    };
    let attributes = json!({
        "image": "registry.example/web:2.4.1", "note": "a<b & \"q\"", "replicas": 3,
    });
    let row = Row::of_value(&identity, &attributes);
    let mut pair = file.pair("shop", "eu-1");
    pair.all(std::slice::from_ref(&row)).await.unwrap();
    let payload = String::from_utf8(row.as_json().to_vec()).unwrap();
    let expected = [
        "shop",
        "web-stack",
        "workloads",
        "11111111-aaaa-4bbb-8ccc-000000000001",
        "eu-1",
        "shop",
        payload.as_str(),
        "2026-03-04T05:06:07.89Z",
    ];
    assert_eq!(file.query("SELECT * FROM inventory_items"), [expected]);
}

#[tokio::test]
async fn objects_without_namespace_are_stored_in_that_of_the_inventory() {
    let file = File::new();
    let mut pair = file.pair("cluster", "");
    let (node, pod) = (row("", "node", &json!(null)), row("cluster", "pod", &json!(null)));
    pair.all(&[node, pod]).await.unwrap();
    let namespaces = "SELECT DISTINCT resource_namespace FROM inventory_items";
    assert_eq!(file.query(namespaces), [["cluster"]]);
    // The two share a range of the key, and are told apart all the same.
    let gone = vec![(partition(None, ""), PartitionChange::Drop)];
    let change = Change::Since { upserts: Vec::new(), deletes: Vec::new(), partitions: gone };
    assert_eq!(pair.export(change, None).await.unwrap().wrote, wrote(0, 1));
    assert_eq!(file.query(NAMES), [["pod"]]);
}

#[tokio::test]
async fn objects_that_no_server_has_seen_are_told_apart_by_name() {
    let file = File::new();
    let without_uid = |name: &str| {
        let identity = Identity {
            target_name: "workloads".into(),
            name: name.to_owned().into(),
            ..Identity::default()
        };
        Row::of_value(&identity, &json!(null))
    };
    let receipt = file.pair("shop", "").all(&[without_uid("a"), without_uid("b")]).await.unwrap();
    assert_eq!((receipt.wrote, receipt.refused), (wrote(2, 0), Vec::new()));
}

#[tokio::test]
async fn inventories_and_clusters_stand_beside_each_other() {
    let file = File::new();
    let rows = many(3, "a");
    let (mut here, mut there) = (file.pair("shop", "eu-1"), file.pair("shop", "eu-2"));
    let mut other = file.pair("bank", "eu-1");
    for pair in [&mut here, &mut there, &mut other] {
        assert_eq!(pair.all(&rows).await.unwrap().wrote, wrote(3, 0));
    }
    assert_eq!(here.all(&[]).await.unwrap().wrote, wrote(0, 3));
    let gone = other.sink.retire(&other.inventory, Farewell::Deleted).await.unwrap();
    assert_eq!(gone.wrote, wrote(0, 3));
    let left = "SELECT inventory_namespace, cluster, count(*) FROM inventory_items";
    assert_eq!(file.query(left), [["shop", "eu-2", "3"]]);
    there.sink.retire(&there.inventory, Farewell::Released).await.unwrap();
    assert_eq!(file.query(left), [["shop", "eu-2", "3"]]);
    let recorded = "SELECT inventory_namespace, cluster, rows FROM inventory_items_kollect";
    assert_eq!(file.query(recorded), [["shop", "eu-1", "0"]]);
}

#[tokio::test]
async fn a_verify_leaves_file_and_log_untouched() {
    let file = File::new();
    let rows = many(10, "a");
    let mut pair = file.pair("shop", "eu-1");
    pair.all(&rows).await.unwrap();
    let before = file.bytes();
    assert_eq!(pair.upsert(&[]).await.unwrap().wrote, Wrote::Nothing);
    assert_eq!(pair.all(&rows).await.unwrap().wrote, Wrote::Nothing);
    let mut restarted = file.pair("shop", "eu-1");
    assert_eq!(restarted.all(&rows).await.unwrap().wrote, Wrote::Nothing);
    assert_eq!(file.bytes(), before);
}

#[tokio::test]
async fn equal_rows_are_not_rewritten() {
    let file = File::new();
    let mut pair = file.pair("shop", "eu-1");
    pair.all(&many(3, "a")).await.unwrap();
    file.reader().execute("UPDATE inventory_items SET exported_at = 'then'", []).unwrap();
    let mut rows = many(3, "a");
    rows[1] = row("shop", "web-1", &json!({"image": "b"}));
    assert_eq!(pair.all(&rows).await.unwrap().wrote, wrote(1, 0));
    assert_eq!(pair.upsert(&rows).await.unwrap().wrote, wrote(0, 0));
    let untouched = "SELECT count(*) FROM inventory_items WHERE exported_at = 'then'";
    assert_eq!(file.query(untouched), [["2"]]);
}

#[tokio::test]
async fn what_somebody_else_did_to_rows_is_repaired_by_a_comparison() {
    let file = File::new();
    let rows = many(4, "a");
    let mut pair = file.pair("shop", "eu-1");
    pair.all(&rows).await.unwrap();
    let meddling = "
        UPDATE inventory_items SET payload = 'spoiled' WHERE source_uid = 'uid-of-web-0';
        UPDATE inventory_items SET source_uid = x'00ff' WHERE source_uid = 'uid-of-web-1';
        DELETE FROM inventory_items WHERE source_uid = 'uid-of-web-2';
        INSERT INTO inventory_items SELECT inventory_namespace, inventory_name, target_name,
            'new', cluster, resource_namespace, 'spoiled', exported_at
        FROM inventory_items WHERE source_uid = 'uid-of-web-3';";
    file.reader().execute_batch(meddling).unwrap();
    pair.trust = Trust::Nothing;
    assert_eq!(pair.all(&rows).await.unwrap().wrote, wrote(3, 2));
    assert_eq!(file.query(NAMES), [["web-0"], ["web-1"], ["web-2"], ["web-3"]]);
    let before = file.bytes();
    assert_eq!(pair.upsert(&[]).await.unwrap().wrote, Wrote::Nothing);
    assert_eq!(file.bytes(), before);
}

#[tokio::test]
async fn a_comparison_deletes_only_where_it_is_permitted() {
    let file = File::new();
    let mut pair = file.pair("cluster", "eu-1");
    let rows = ["a", "b", "c"].map(|namespace| row(namespace, namespace, &json!(null)));
    pair.all(&rows).await.unwrap();
    let confines = Confines {
        uncovered: vec![partition(None, "a")],
        covered: vec![partition(None, "b")],
        ..Confines::default()
    };
    assert_eq!(pair.within(&[], confines.clone()).await.unwrap().wrote, wrote(0, 1));
    assert_eq!(file.query(NAMES), [["a"], ["c"]]);
    pair.within(&[], Confines { settled: true, ..confines }).await.unwrap();
    assert_eq!(file.query(NAMES), [["a"]]);
}

#[tokio::test]
async fn a_partition_is_replaced_without_its_neighbours() {
    let file = File::new();
    let mut pair = file.pair("cluster", "eu-1");
    let named = |namespace: &str, name: &str| row(namespace, name, &json!(null));
    let other = row_of("others", "a", "other", &json!(null));
    pair.all(&[named("a", "a-1"), named("a", "a-2"), named("b", "b-1"), other]).await.unwrap();
    let replaced = PartitionChange::Replace(vec![named("a", "a-2"), named("a", "a-3")]);
    let change = Change::Since {
        upserts: Vec::new(),
        deletes: Vec::new(),
        partitions: vec![(partition(None, "a"), replaced)],
    };
    assert_eq!(pair.export(change, None).await.unwrap().wrote, wrote(1, 1));
    assert_eq!(file.query(NAMES), [["other"], ["a-2"], ["a-3"], ["b-1"]]);
}

#[tokio::test]
async fn a_row_that_is_refused_is_isolated_and_the_record_says_so() {
    let file = File::new();
    let mut pair = file.pair("shop", "eu-1");
    pair.all(&[]).await.unwrap();
    let guard = "CREATE TRIGGER guard BEFORE INSERT ON inventory_items
        WHEN NEW.payload LIKE '%forbidden%' BEGIN SELECT RAISE(ABORT, 'not that'); END";
    file.reader().execute_batch(guard).unwrap();
    let mut rows = many(3, "a");
    rows[1] = row("shop", "web-1", &json!({"image": "forbidden"}));
    rows.push(row("shop", "nul\0", &json!(null)));
    rows.push(rows[0].clone());
    let receipt = pair.all(&rows).await.unwrap();
    assert_eq!(receipt.wrote, wrote(2, 0));
    let refused: Vec<_> = receipt
        .refused
        .iter()
        .map(|row| (row.identity.name.as_ref(), row.reason.as_str()))
        .collect();
    let expected = [
        ("web-0", "another row has its target, namespace and uid"),
        ("nul\0", "its name holds a NUL character"),
        ("web-1", "not that"),
    ];
    assert_eq!(refused, expected);
    let recorded = "SELECT digest, rows FROM inventory_items_kollect";
    assert_eq!(file.query(recorded), [["null", "null"]]);
}

#[tokio::test]
async fn a_change_costs_the_same_whatever_the_table_holds() {
    let file = File::new();
    let mut costs = Vec::new();
    for (namespace, count) in [("shop", 10), ("bank", 10_000)] {
        let mut pair = file.pair(namespace, "eu-1");
        assert_eq!(pair.all(&many(count, "a")).await.unwrap().wrote, wrote(count as u64, 0));
        let receipt = pair.upsert(&[row("shop", "web-7", &json!({"image": "b"}))]).await.unwrap();
        assert_eq!(receipt.wrote, wrote(1, 0));
        costs.push((receipt.statements, receipt.bytes));
    }
    assert_eq!(costs[0], costs[1]);
    assert_eq!(costs[0].0, 6);
}

#[tokio::test]
async fn an_export_that_nobody_waits_for_is_rolled_back() {
    let file = File::new();
    let mut pair = file.pair("shop", "eu-1");
    pair.all(&many(2, "a")).await.unwrap();
    let before = file.bytes();
    pair.progress.abandon();
    let error = pair.all(&many(20_000, "b")).await.unwrap_err();
    assert!(matches!(error, SinkError::Rejected { .. }), "{error}");
    assert_eq!(error.effect(), kollect_inventory::Effect::None);
    assert_eq!(file.bytes(), before);
}

/// R17: a comparison that finds nothing to write is not given up either.
#[tokio::test]
async fn a_comparison_shows_that_it_is_alive() {
    let file = File::new();
    let mut pair = file.pair("shop", "eu-1");
    let rows = many(10_000, "a");
    pair.all(&rows).await.unwrap();
    pair.progress = crate::Progress::default();
    pair.trust = Trust::Nothing;
    assert_eq!(pair.all(&rows).await.unwrap().wrote, wrote(0, 0));
    assert_eq!(pair.progress.count(), 8_192);
}

/// Counts, images, and what the record says, in one reading.
fn glance(reader: &mut Connection) -> (i64, i64, i64) {
    let text = "SELECT count(*), count(DISTINCT json_extract(payload, '$.attributes.image')), \
        (SELECT max(rows) FROM inventory_items_kollect) FROM inventory_items";
    reader.query_row(text, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_see_whole_states_only() {
    let file = File::new();
    let mut pair = file.pair("shop", "eu-1");
    pair.all(&many(5_000, "a")).await.unwrap();
    let (stop, mut reader) = (std::sync::atomic::AtomicBool::new(false), file.reader());
    let seen = std::thread::scope(|scope| {
        let polling = scope.spawn(|| {
            let mut seen = Vec::new();
            while !stop.load(std::sync::atomic::Ordering::Acquire) {
                seen.push(glance(&mut reader));
            }
            seen
        });
        let exports = async {
            pair.all(&many(8_000, "b")).await.unwrap();
            pair.all(&many(2_000, "c")).await.unwrap();
        };
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(exports));
        stop.store(true, std::sync::atomic::Ordering::Release);
        polling.join().unwrap()
    });
    assert!(seen.len() > 1);
    for state in seen {
        assert!([5_000, 8_000, 2_000].map(|count| (count, 1, count)).contains(&state), "{state:?}");
    }
}
