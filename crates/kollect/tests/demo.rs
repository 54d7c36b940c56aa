//! `kollect demo`, as a user runs it, by what is in the copies afterwards.

use std::{net::TcpListener, process::Command};

use support::{Demo, git_rows, is_empty, said_rows, sqlite_rows};

#[cfg(test)]
mod support {
    use std::{
        fs,
        io::{BufRead as _, BufReader},
        path::Path,
        process::{Child, ChildStdout, Command, Stdio},
    };

    use rusqlite::Connection;

    /// A demo that runs; ended when it is dropped.
    pub(super) struct Demo {
        child: Child,
        lines: BufReader<ChildStdout>,
        pub(super) said: Vec<String>,
    }

    impl Demo {
        /// Starts one whose temporary directory is below `place`.
        pub(super) fn start(place: &Path, arguments: &[&str]) -> Self {
            let mut child = Command::new(env!("CARGO_BIN_EXE_kollect"))
                .arg("demo")
                .args(arguments)
                .env("TMPDIR", place)
                .env_remove("KUBECONFIG")
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap());
            Self { child, lines, said: Vec::new() }
        }

        /// Reads on until a line is like this; nothing if none is.
        pub(super) fn until(&mut self, is_it: impl Fn(&str) -> bool) -> Option<String> {
            loop {
                let mut line = String::new();
                if self.lines.read_line(&mut line).unwrap() == 0 {
                    return None;
                }
                self.said.push(line.trim_end().to_owned());
                if is_it(&line) {
                    return self.said.last().cloned();
                }
            }
        }

        /// Tells it to end, as Ctrl-C does.
        pub(super) fn interrupt(&self) {
            let process = self.child.id().to_string();
            assert!(Command::new("kill").args(["-INT", &process]).status().unwrap().success());
        }

        /// Waits until it ends; the exit code.
        pub(super) fn ended(&mut self) -> Option<i32> {
            self.until(|_| false);
            self.child.wait().unwrap().code()
        }
    }

    impl Drop for Demo {
        fn drop(&mut self) {
            // One that has ended by itself is no harm.
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }

    /// The rows that the summary says are in the inventory, in Git and in SQLite.
    pub(super) fn said_rows(said: &[String]) -> [usize; 3] {
        let line = said.iter().find(|line| line.contains(" in the inventory, ")).unwrap();
        let numbers = line.split(' ').filter_map(|word| word.parse().ok());
        numbers.collect::<Vec<_>>().try_into().unwrap()
    }

    /// The files of rows that git itself finds.
    pub(super) fn git_rows(place: &Path) -> usize {
        let repository = place.join("kollect-demo/inventory.git");
        let listed = Command::new("git")
            .arg("-C")
            .arg(repository)
            .args(["ls-tree", "-r", "--name-only", "HEAD"])
            .output()
            .unwrap();
        assert!(listed.status.success(), "{listed:?}");
        let listed = String::from_utf8(listed.stdout).unwrap();
        listed.lines().filter(|path| !path.starts_with(".kollect/")).count()
    }

    /// The rows that SQL finds.
    pub(super) fn sqlite_rows(place: &Path, table: &str) -> usize {
        let database = Connection::open(place.join("kollect-demo/rows.db")).unwrap();
        let query = format!("select count(*) from {table}");
        let count: i64 = database.query_row(&query, [], |row| row.get(0)).unwrap();
        count.try_into().unwrap()
    }

    pub(super) fn is_empty(place: &Path) -> bool {
        fs::read_dir(place).unwrap().next().is_none()
    }
}

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
