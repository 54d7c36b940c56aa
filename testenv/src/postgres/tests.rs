//! What a test may rely on: the server answers, and never stays behind.

use std::path::Path;

use super::{Durability, Postgres, postgres_programs};

#[test]
fn it_answers_and_speaks_tls_with_a_certificate_of_its_own() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database("answers");
    server.execute(&database, "CREATE TABLE t (a int, b text)");
    server.execute(&database, "INSERT INTO t VALUES (1, 'x'), (2, NULL)");
    let rows = server.query(&database, "SELECT a, b FROM t ORDER BY a");
    assert_eq!(rows, [["1", "x"], ["2", ""]]);
    assert_eq!(server.query(&database, "SHOW ssl"), [["on"]]);
    assert!(server.query(&database, "SELECT 1 WHERE false").is_empty());
    assert!(server.ca_pem().contains("BEGIN CERTIFICATE") && server.ca_path().is_file());
}

#[test]
fn what_was_committed_is_there_after_a_crash() {
    let Some(programs) = postgres_programs() else { return };
    let server = Postgres::start(&programs, Durability::Unsynced).unwrap();
    server.execute("postgres", "CREATE TABLE t AS SELECT 1 AS a");
    let address = server.address();
    server.crash().unwrap();
    assert!(server.ask("postgres", "SELECT 1").is_err());
    server.run(Durability::Unsynced).unwrap();
    assert_eq!(server.query("postgres", "SELECT a FROM t"), [["1"]]);
    assert_eq!(server.address(), address);
}

#[test]
fn nothing_is_left_when_the_value_is_gone() {
    let Some(programs) = postgres_programs() else { return };
    let server = Postgres::start(&programs, Durability::Synced).unwrap();
    assert_eq!(server.query("postgres", "SHOW fsync"), [["on"]]);
    let id = server.query("postgres", "SELECT pg_backend_pid()")[0][0].clone();
    let directory = server.ca_path().parent().unwrap().to_owned();
    drop(server);
    assert!(!directory.exists());
    assert!(!Path::new("/proc").join(id).exists());
}
