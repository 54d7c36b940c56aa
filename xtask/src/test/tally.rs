//! Counts tests from what `cargo test` prints.

use std::{collections::BTreeSet, mem, path::Path};

/// How many tests there were.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) ignored: u64,
    /// Those among passed and failed that talked to the API server.
    pub(super) on_api_server: u64,
}

/// Counts while the lines come in.
pub(super) struct Tally {
    /// File names of the executables that talk to the API server.
    on_api_server: BTreeSet<String>,
    totals: Totals,
    server: Server,
    /// How many tests have started of which no result was printed yet.
    unfinished: Option<u64>,
}

/// Whether the executable that runs now talks to the API server.
#[derive(Clone, Copy)]
enum Server {
    Asked,
    NotAsked,
}

impl Tally {
    pub(super) fn new(on_api_server: BTreeSet<String>) -> Self {
        Self {
            on_api_server,
            totals: Totals::default(),
            server: Server::NotAsked,
            unfinished: None,
        }
    }

    /// Takes the next line, colours included.
    pub(super) fn read(&mut self, line: &str) {
        let line = without_colours(line);
        if let Some(executable) = executable(&line) {
            self.give_up();
            let asked = self.on_api_server.contains(executable);
            self.server = if asked { Server::Asked } else { Server::NotAsked };
        } else if line.trim_start().starts_with("Doc-tests ") {
            self.give_up();
            self.server = Server::NotAsked;
        } else if self.unfinished.is_none() {
            self.unfinished = started(&line);
        } else if let Some(result) = result(&line) {
            // A test that fails may print what looks like a result.
            if self.unfinished == Some(result.sum()) {
                self.unfinished = None;
                self.add(&result);
            }
        }
    }

    /// What was counted.
    pub(super) fn finish(mut self) -> Totals {
        self.give_up();
        self.totals
    }

    /// Counts an executable that crashed before its result as failed, every
    /// test of it: nobody knows which of them would have passed.
    fn give_up(&mut self) {
        let failed = self.unfinished.take().unwrap_or_default();
        self.add(&Counts { failed, ..Counts::default() });
    }

    fn add(&mut self, counts: &Counts) {
        self.totals.passed += counts.passed;
        self.totals.failed += counts.failed;
        self.totals.ignored += counts.ignored;
        if let Server::Asked = self.server {
            self.totals.on_api_server += counts.passed + counts.failed;
        }
    }
}

#[derive(Default)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
    measured: u64,
}

impl Counts {
    fn sum(&self) -> u64 {
        self.passed + self.failed + self.ignored + self.measured
    }
}

/// The file name in `Running tests/install.rs (target/debug/deps/install-1f)`.
fn executable(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("Running ")?;
    let (_, path) = rest.trim_end().strip_suffix(')')?.rsplit_once(" (")?;
    Path::new(path).file_name()?.to_str()
}

/// The number in `running 12 tests`.
fn started(line: &str) -> Option<u64> {
    let (count, noun) = line.strip_prefix("running ")?.split_once(' ')?;
    matches!(noun.trim_end(), "test" | "tests").then(|| count.parse().ok()).flatten()
}

/// The numbers in `test result: ok. 12 passed; 0 failed; 1 ignored; …`.
fn result(line: &str) -> Option<Counts> {
    let (_, parts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let count = |word: &str| -> Option<u64> {
        parts.split("; ").find_map(|part| part.trim().strip_suffix(word)?.trim().parse().ok())
    };
    Some(Counts {
        passed: count("passed")?,
        failed: count("failed")?,
        ignored: count("ignored")?,
        measured: count("measured")?,
    })
}

/// The line without the sequences that colour it.
fn without_colours(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // A sequence ends at its first letter.
        let text = part.split_once(|char: char| char.is_ascii_alphabetic());
        plain.push_str(text.map_or("", |(_, text)| text));
    }
    plain
}

/// Cuts a stream of bytes into lines.
#[derive(Default)]
pub(super) struct Lines(Vec<u8>);

impl Lines {
    /// Takes more bytes, and hands on each line that they complete.
    pub(super) fn add(&mut self, bytes: &[u8], mut read: impl FnMut(&str)) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            match part.strip_suffix(b"\n") {
                Some(end) => {
                    self.0.extend(end);
                    read(&String::from_utf8_lossy(&mem::take(&mut self.0)));
                }
                None => self.0.extend(part),
            }
        }
    }

    /// Hands on what came after the last line break.
    pub(super) fn finish(self, mut read: impl FnMut(&str)) {
        if !self.0.is_empty() {
            read(&String::from_utf8_lossy(&self.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, [passed, failed, ignored, on_api_server]: [u64; 4]) {
        let mut tally = Tally::new(BTreeSet::from(["install-1f".to_owned()]));
        output.lines().for_each(|line| tally.read(line));
        assert_eq!(tally.finish(), Totals { passed, failed, ignored, on_api_server });
    }

    const UNIT: &str = "
     Running unittests src/lib.rs (target/debug/deps/kollect_api-aa)

running 2 tests
test names::tests::a_long_name_is_refused ... ok
test names::tests::a_name_is_kept ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    const ON_SERVER: &str = "
     Running tests/install.rs (/elsewhere/debug/deps/install-1f)

running 3 tests
test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 9.12s
";

    const DOC: &str = "
   Doc-tests kollect_api

running 1 test
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
";

    #[test]
    fn results_add_up() {
        check(&format!("{UNIT}{UNIT}"), [4, 0, 0, 0]);
    }

    #[test]
    fn tests_on_the_api_server_are_counted_apart_and_end_with_the_next_header() {
        check(&format!("{UNIT}{ON_SERVER}{DOC}"), [4, 1, 1, 2]);
        check(&format!("{ON_SERVER}{UNIT}"), [3, 1, 1, 2]);
    }

    #[test]
    fn a_test_of_the_same_name_in_another_crate_is_not_on_the_api_server() {
        check(&ON_SERVER.replace("install-1f", "install-2e"), [1, 1, 1, 0]);
    }

    #[test]
    fn tests_of_an_executable_that_crashed_count_as_failed() {
        let crashed = "     Running tests/install.rs (deps/install-1f)\n\nrunning 5 tests\n";
        check(&format!("{crashed}{UNIT}"), [2, 5, 0, 5]);
        check(crashed, [0, 5, 0, 5]);
    }

    #[test]
    fn colours_do_not_matter() {
        let output = "\u{1b}[1m\u{1b}[92m     Running\u{1b}[0m tests/install.rs (deps/install-1f)\n\
            running 1 test\n\
            test result: \u{1b}[32mok\u{1b}[m. 1 passed; 0 failed; 0 ignored; 0 measured\n";
        check(output, [1, 0, 0, 1]);
    }

    #[test]
    fn a_line_that_only_quotes_a_result_is_not_one() {
        let quoted =
            "test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured\nrunning 7 tests\n";
        check(&ON_SERVER.replace("test result", &format!("{quoted}test result")), [1, 1, 1, 2]);
    }

    #[test]
    fn lines_are_whole_however_the_bytes_arrive() {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        for bytes in ["on", "e\ntwo\nth", "ree"] {
            lines.add(bytes.as_bytes(), |line| seen.push(line.to_owned()));
        }
        lines.finish(|line| seen.push(line.to_owned()));
        assert_eq!(seen, ["one", "two", "three"]);
    }
}
