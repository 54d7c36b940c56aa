//! `kollect demo`, as a user runs it, by what is in the copies afterwards.

#[cfg(test)]
#[path = "demo/real.rs"]
mod real;
#[cfg(test)]
#[path = "demo/support.rs"]
mod support;

use std::{net::TcpListener, process::Command};

use support::{Demo, git_rows, is_empty, said_rows, sqlite_rows};

#[test]
fn the_summary_says_what_git_and_sql_say() {
    let place = tempfile::tempdir().unwrap();
    let kept = place.path().join("kept");
    let mut demo =
        Demo::start(place.path(), &["--for", "4s", "--rate", "5", "--dir", kept.to_str().unwrap()]);
    assert_eq!(demo.ended(), Some(0), "{:#?}", demo.said);
    let [inventory, git, sqlite] = said_rows(&demo.said);
    assert!(inventory > 150, "{:#?}", demo.said);
    assert_eq!([git, sqlite], [inventory; 2]);
    assert_eq!(git_rows(&kept), inventory);
    assert_eq!(sqlite_rows(&kept, "inventory_items"), inventory);
    assert_eq!(sqlite_rows(&kept, "deployments"), 48);
    assert!(demo.said[0].contains("simulated"), "{:#?}", demo.said);
    assert!(demo.said.iter().all(|line| !line.contains('\x1b')), "{:#?}", demo.said);
    // A second run goes on where the first one ended.
    let mut again = Demo::start(place.path(), &["--for", "1s", "--dir", kept.to_str().unwrap()]);
    assert_eq!(again.ended(), Some(0), "{:#?}", again.said);
    assert_eq!(git_rows(&kept), said_rows(&again.said)[0]);
}

#[test]
fn changes_are_told_as_they_arrive_and_ctrl_c_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let mut demo = Demo::start(place.path(), &["--rate", "10"]);
    demo.until(|line| line.contains("in SQLite after") && line.contains("in Git ")).unwrap();
    assert!(!is_empty(place.path()));
    demo.interrupt();
    assert_eq!(demo.ended(), Some(0), "{:#?}", demo.said);
    assert!(is_empty(place.path()), "{:#?}", demo.said);
}

#[test]
fn a_port_that_is_taken_is_survived() {
    let place = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let mut demo = Demo::start(place.path(), &["--port", &port.to_string()]);
    let said = format!("Port {port} is taken; another one is used.\n");
    assert!(demo.until(|line| line == said).is_some(), "{:#?}", demo.said);
    assert!(demo.until(|line| line.contains(" rows in Git, ")).is_some(), "{:#?}", demo.said);
    demo.interrupt();
    assert_eq!(demo.ended(), Some(0), "{:#?}", demo.said);
    assert!(is_empty(place.path()));
}

/// The cluster, the kubeconfig and the commands are there for others, too.
#[test]
fn whoever_has_the_kubeconfig_can_use_the_cluster() {
    let place = tempfile::tempdir().unwrap();
    let mut demo = Demo::start(place.path(), &[]);
    let hint = demo.until(|line| line.contains("kubectl --kubeconfig ")).unwrap();
    demo.until(|line| line.contains(" rows in Git, ")).unwrap();
    let kubeconfig = hint.split_whitespace().nth(2).unwrap();
    let collected = Command::new(env!("CARGO_BIN_EXE_kollect"))
        .args(["collect", "deployments", "-A", "-o", "ndjson", "--kubeconfig", kubeconfig])
        .output()
        .unwrap();
    assert!(collected.status.success(), "{collected:?}");
    let documents = String::from_utf8(collected.stdout).unwrap();
    assert!(documents.contains(r#""itemCount":48,"#), "{documents}");
}
