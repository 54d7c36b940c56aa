//! How a demo is run, and what it left behind.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use rusqlite::Connection;

/// A demo that runs; ended when it is dropped.
pub(crate) struct Demo {
    child: Child,
    lines: BufReader<ChildStdout>,
    pub(crate) said: Vec<String>,
}

impl Demo {
    /// Starts one whose temporary directory is below `place`.
    pub(crate) fn start(place: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kollect"))
            .arg("demo")
            .args(arguments)
            .env("TMPDIR", place)
            .env_remove("KUBECONFIG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines, said: Vec::new() }
    }

    /// Reads on until a line is like this; nothing if none is.
    pub(crate) fn until(&mut self, is_it: impl Fn(&str) -> bool) -> Option<String> {
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

    /// Everything that it says to the end.
    pub(crate) fn all(&mut self) -> String {
        self.until(|_| false);
        let mut text = self.said.join("\n");
        self.child.stderr.as_mut().unwrap().read_to_string(&mut text).unwrap();
        text
    }

    /// Tells it to end, as Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        let process = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &process]).status().unwrap().success());
    }

    /// Waits until it ends; the exit code.
    pub(crate) fn ended(&mut self) -> Option<i32> {
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
pub(crate) fn said_rows(said: &[String]) -> [usize; 3] {
    let line = said.iter().find(|line| line.contains(" in the inventory, ")).unwrap();
    let numbers = line.split(' ').filter_map(|word| word.parse().ok());
    numbers.collect::<Vec<_>>().try_into().unwrap()
}

/// The files of rows that git itself finds.
pub(crate) fn git_rows(place: &Path) -> usize {
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
pub(crate) fn sqlite_rows(place: &Path, table: &str) -> usize {
    let database = Connection::open(place.join("kollect-demo/rows.db")).unwrap();
    let query = format!("select count(*) from {table}");
    let count: i64 = database.query_row(&query, [], |row| row.get(0)).unwrap();
    count.try_into().unwrap()
}

pub(crate) fn is_empty(place: &Path) -> bool {
    fs::read_dir(place).unwrap().next().is_none()
}
