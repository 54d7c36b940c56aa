//! What becomes of files that are not as they should be.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, sync::Arc};

use kollect_inventory::{Effect, schedule::ErrorClass, watermark::Conflict};
use serde_json::json;

use super::support::{File, row, wrote};
use crate::{Farewell, Sink as _, SinkError, SqliteDestination, SqliteSink, Wrote};

/// A sink for a file that no helper knows.
fn sink(path: &Path) -> SqliteSink {
    SqliteSink::new(Arc::new(SqliteDestination::new(path)), "eu-1")
}

#[tokio::test]
async fn a_probe_says_what_it_saw() {
    let file = File::new();
    let mut pair = file.pair("shop", "eu-1");
    pair.all(&[]).await.unwrap();
    let before = file.bytes();
    let said = pair.sink.probe().await.unwrap();
    let version = rusqlite::version();
    assert_eq!(said, format!("SQLite {version}, 57344 bytes, inventories recorded: 1"));
    assert_eq!(file.bytes(), before);
}

#[tokio::test]
async fn a_probe_makes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a/b.db");
    let destination = SqliteDestination::new(&path).with_directory();
    let said = SqliteSink::new(Arc::new(destination), "eu-1").probe().await.unwrap();
    assert!(said.ends_with("b.db is not there yet"), "{said}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    let file = File::new();
    file.reader().execute_batch("CREATE TABLE mine (id)").unwrap();
    let said = sink(&file.path()).probe().await.unwrap();
    assert!(said.ends_with("the tables are not there yet"), "{said}");
    assert_eq!(file.query("SELECT name FROM sqlite_master"), [["mine"]]);
}

#[tokio::test]
async fn a_probe_does_not_wait_for_whoever_writes() {
    let file = File::new();
    let mut pair = file.pair("shop", "eu-1");
    pair.all(&[]).await.unwrap();
    let writer = file.reader();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    pair.sink.probe().await.unwrap();
    writer.execute_batch("ROLLBACK").unwrap();
}

#[tokio::test]
async fn commits_are_synchronised_and_readers_do_not_wait() {
    let file = File::new();
    file.pair("shop", "eu-1").all(&[]).await.unwrap();
    assert_eq!(file.query("PRAGMA journal_mode"), [["wal"]]);
    let level = file.destination.turn("look", &crate::Progress::default(), |connection| {
        Ok(connection.query_row("PRAGMA synchronous", [], |row| row.get::<_, i64>(0))?)
    });
    assert_eq!(level.unwrap(), 2);
}

#[tokio::test]
async fn a_table_of_somebody_else_is_left_alone() {
    let file = File::new();
    let theirs = "CREATE TABLE inventory_items (id INTEGER PRIMARY KEY, payload BLOB)";
    file.reader().execute_batch(theirs).unwrap();
    let before = file.bytes();
    let error = file.pair("shop", "eu-1").all(&[]).await.unwrap_err();
    let text = error.to_string();
    assert_eq!(error.class(), ErrorClass::Terminal);
    assert!(text.contains("table inventory_items"), "{text}");
    assert!(text.contains("column target_name is missing"), "{text}");
    assert!(text.contains("column payload is BLOB and not TEXT not null"), "{text}");
    assert!(text.contains("column id is not known"), "{text}");
    assert_eq!(file.bytes(), before);
}

#[tokio::test]
async fn other_tables_in_the_file_do_not_matter() {
    let file = File::new();
    file.reader().execute_batch("CREATE TABLE mine (id); INSERT INTO mine VALUES (1)").unwrap();
    file.pair("shop", "eu-1").all(&[]).await.unwrap();
    assert_eq!(file.query("SELECT id FROM mine"), [["1"]]);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_named() {
    let file = File::new();
    fs::write(file.path(), "no database ".repeat(1000)).unwrap();
    let error = file.pair("shop", "eu-1").all(&[]).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains(&file.path().display().to_string()), "{text}");
    assert_eq!(error.class(), ErrorClass::Terminal);
}

#[tokio::test]
async fn a_damaged_database_is_named() {
    let file = File::new();
    let mut pair = file.pair("shop", "eu-1");
    let rows: Vec<_> =
        (0..500).map(|at| row("shop", &format!("web-{at}"), &json!("x".repeat(200)))).collect();
    pair.all(&rows).await.unwrap();
    drop(pair);
    let copy = file.path().with_file_name("damaged.db");
    file.reader().execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    let mut bytes = fs::read(&copy).unwrap();
    // The first page, which lists the tables, stays.
    bytes.iter_mut().skip(4096).for_each(|byte| *byte = 0xa5);
    fs::write(&copy, bytes).unwrap();
    let error = sink(&copy).probe().await.unwrap_err();
    assert!(matches!(&error, SinkError::Unusable(text) if text.contains("damaged.db")), "{error}");
}

#[tokio::test]
async fn a_missing_directory_is_named() {
    let error = sink(Path::new("/nowhere/at/all.db")).probe().await.unwrap_err();
    assert_eq!(error.to_string(), "there is no directory /nowhere/at");
    let error = sink(Path::new("..")).probe().await.unwrap_err();
    assert_eq!(error.to_string(), ".. names no file");
}

#[tokio::test]
async fn what_cannot_be_opened_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    fs::create_dir(&path).unwrap();
    let error = sink(&path).probe().await.unwrap_err();
    assert!(matches!(error, SinkError::Refused { .. }), "{error}");
}

#[tokio::test]
async fn a_file_that_may_only_be_read_is_refused() {
    let file = File::new();
    file.pair("shop", "eu-1").all(&[]).await.unwrap();
    let copy = file.path().with_file_name("copy.db");
    file.reader().execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o444)).unwrap();
    if fs::OpenOptions::new().write(true).open(&copy).is_ok() {
        println!("skipped: we may write to every file");
        return;
    }
    let error = sink(&copy).probe().await.unwrap_err();
    assert!(matches!(error, SinkError::Refused { .. }), "{error}");
}

#[tokio::test]
async fn a_writer_that_does_not_end_is_waited_for_and_then_reported() {
    let file = File::new();
    let mut pair = file.pair("shop", "eu-1");
    pair.all(&[]).await.unwrap();
    let other = file.reader();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let rows = [row("shop", "web", &json!(null))];
    let error = pair.all(&rows).await.unwrap_err();
    assert_eq!((error.class(), error.effect()), (ErrorClass::Transient, Effect::None));
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(pair.all(&rows).await.unwrap().wrote, wrote(1, 0));
}

#[tokio::test]
async fn nothing_is_acknowledged_for_a_file_that_was_removed() {
    let file = File::new();
    let mut pair = file.pair("shop", "eu-1");
    let rows = [row("shop", "web", &json!(null))];
    pair.all(&rows).await.unwrap();
    fs::remove_file(file.path()).unwrap();
    let error = pair.upsert(&rows).await.unwrap_err();
    let gone = matches!(error, SinkError::Conflict { cause: Conflict::Foreign, found: None });
    assert!(gone, "{error}");
    let mut again = file.pair("shop", "eu-1");
    assert_eq!(again.all(&rows).await.unwrap().wrote, wrote(1, 0));
    assert_eq!(file.query("SELECT count(*) FROM inventory_items"), [["1"]]);
}

#[tokio::test]
async fn a_record_of_rows_that_were_dropped_is_not_believed() {
    let file = File::new();
    let mut pair = file.pair("shop", "eu-1");
    let rows = [row("shop", "web", &json!(null))];
    pair.all(&rows).await.unwrap();
    file.reader().execute_batch("DROP TABLE inventory_items").unwrap();
    let error = pair.upsert(&rows).await.unwrap_err();
    assert!(error.to_string().contains("no such table"), "{error}");
    assert_eq!(file.pair("shop", "eu-1").all(&rows).await.unwrap().wrote, wrote(1, 0));
}

#[tokio::test]
async fn a_file_that_is_gone_needs_no_farewell() {
    let file = File::new();
    let pair = file.pair("shop", "eu-1");
    let receipt = pair.sink.retire(&pair.inventory, Farewell::Deleted).await.unwrap();
    assert_eq!(receipt.wrote, Wrote::Nothing);
    assert!(!file.path().exists());
}
