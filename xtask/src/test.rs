//! Runs every test on the real servers, and says at the end how many ran.

mod tally;

use std::{
    collections::BTreeSet,
    io::{self, IsTerminal, Read},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};

use anyhow::{Context, Result};
use serde_json::Value;

use self::tally::{Lines, Tally, Totals};
use crate::{env, metadata, run, say};

/// The variable that fixes the random inputs of property tests.
const SEED: &str = "PROPTEST_RNG_SEED";

/// The crates whose integration tests talk to the API server.
const ON_API_SERVER: [&str; 2] = ["e2e", "kollect-testenv"];

/// Runs the tests of the workspace, doc tests included.
///
/// It ends badly when one fails, and when none of them ran against the API
/// server: a run that proved nothing must not look green.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<Verdict> {
    let servers = env::ensure(root)?;
    let version = env::server_version(&servers)?;
    let on_api_server = build(root, args)?;

    let mut command = test_command(root)?;
    command.arg("--no-fail-fast").args(args);
    command.env(env::ASSETS, &servers).env("KOLLECT_TEST_REQUIRE", "all");
    // A red run should mean the change, not the luck of the draw; whoever wants
    // other histories sets another seed, or runs more cases.
    if run::setting(SEED)?.is_none() {
        command.env(SEED, "20261115");
    }
    let mut tally = Tally::new(on_api_server);
    let mut lines = Lines::default();
    let status = stream(&mut command, |bytes| {
        lines.add(bytes, |line| tally.read(line));
        say::pass_on(bytes).context("could not show the output of the tests")
    })?;
    lines.finish(|line| tally.read(line));
    let totals = tally.finish();
    let verdict = verdict(&totals, status.success());
    report(&totals, &version, verdict);
    Ok(verdict)
}

/// How a run ended whose tests could be built and started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Good,
    /// Why it is not; this has been said.
    Bad(&'static str),
}

/// Says how it went. The counts come last, so that they are the last line of
/// a log whatever happened.
fn report(totals: &Totals, version: &str, verdict: Verdict) {
    let Totals { passed, failed, ignored, on_api_server } = totals;
    say::result("");
    if let Verdict::Bad(reason) = verdict {
        say::progress(&format!("error: {reason}"));
    }
    if *ignored > 0 {
        say::result(&format!("{ignored} more tests are marked as ignored and did not run"));
    }
    say::result(&format!(
        "of these, {on_api_server} tests ran against a real API server \
         (etcd, kube-apiserver {version})"
    ));
    say::result(&format!("{passed} passed, {failed} failed"));
}

fn verdict(totals: &Totals, cargo_is_content: bool) -> Verdict {
    if totals.failed > 0 {
        Verdict::Bad("tests failed")
    } else if !cargo_is_content {
        Verdict::Bad("`cargo test` failed")
    } else if totals.on_api_server == 0 {
        Verdict::Bad("no test ran against a real API server")
    } else {
        Verdict::Good
    }
}

/// Builds the tests; returns the executables that talk to the API server.
///
/// The lines that `cargo test` prints do not name the crate of a test, so it
/// is asked beforehand. Building takes place here, with cargo's own progress.
fn build(root: &Path, args: &[String]) -> Result<BTreeSet<String>> {
    let packages = metadata::packages(root)?;
    let ids: Vec<&str> = packages
        .iter()
        .filter(|package| ON_API_SERVER.contains(&package.name.as_str()))
        .map(|package| package.id.as_str())
        .collect();
    let mut command = test_command(root)?;
    command.args(["--no-run", "--message-format=json-render-diagnostics"]).args(args);
    let messages = run::capture(&mut command)?;
    integration_tests(&messages, &ids).context("could not read the build messages of cargo")
}

fn test_command(root: &Path) -> Result<Command> {
    let mut command = run::cargo(root)?;
    command.args(["test", "--workspace"]);
    Ok(command)
}

/// The file names of the integration tests of some crates, from cargo's messages.
fn integration_tests(messages: &str, packages: &[&str]) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Value = serde_json::from_str(line)?;
        let package = message.get("package_id").and_then(Value::as_str).unwrap_or_default();
        let kinds = message.pointer("/target/kind").and_then(Value::as_array);
        let is_test = kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "test"));
        let executable = message.get("executable").and_then(Value::as_str);
        if let (true, true, Some(path)) = (packages.contains(&package), is_test, executable) {
            let name = PathBuf::from(path);
            let name = name.file_name().context("an executable without a name")?;
            found.insert(name.to_string_lossy().into_owned());
        }
    }
    Ok(found)
}

/// Runs a command and hands on what it prints, as it comes.
///
/// Both of its outputs go through one pipe, because their order matters: cargo
/// says on one which test runs, and the test says on the other how it went.
fn stream(
    command: &mut Command,
    mut hand_on: impl FnMut(&[u8]) -> Result<()>,
) -> Result<ExitStatus> {
    if io::stdout().is_terminal() && run::setting("CARGO_TERM_COLOR")?.is_none() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let (mut output, input) = io::pipe()?;
    command.stdout(input.try_clone()?).stderr(input);
    let mut child = command.spawn().map_err(|error| run::not_started(command, error))?;
    // Our copies of the writing end would keep the pipe open for ever.
    command.stdout(Stdio::null()).stderr(Stdio::null());

    let mut buffer = vec![0; 16 * 1024];
    loop {
        let count = output.read(&mut buffer).context("could not read the output of the tests")?;
        let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
        hand_on(bytes)?;
    }
    child.wait().context("could not wait for the tests")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_integration_tests_of_the_named_crates_are_found() {
        let messages = r#"
{"reason":"compiler-artifact","package_id":"e2e-id","target":{"kind":["test"]},"executable":"/t/deps/install-1"}
{"reason":"compiler-artifact","package_id":"e2e-id","target":{"kind":["lib"]},"executable":"/t/deps/e2e-2"}
{"reason":"compiler-artifact","package_id":"api-id","target":{"kind":["test"]},"executable":"/t/deps/install-3"}
{"reason":"compiler-artifact","package_id":"e2e-id","target":{"kind":["lib"]},"executable":null}
{"reason":"build-finished","success":true}
"#;
        let found = integration_tests(messages, &["e2e-id"]).unwrap();
        assert_eq!(found, BTreeSet::from(["install-1".to_owned()]));
    }

    #[track_caller]
    fn check([passed, failed, on_api_server]: [u64; 3], cargo_is_content: bool, expected: Verdict) {
        let totals = Totals { passed, failed, on_api_server, ignored: 0 };
        assert_eq!(verdict(&totals, cargo_is_content), expected);
    }

    #[test]
    fn a_run_is_good_when_nothing_failed_and_the_api_server_was_asked() {
        check([7, 0, 3], true, Verdict::Good);
        check([7, 1, 3], false, Verdict::Bad("tests failed"));
        check([7, 0, 0], true, Verdict::Bad("no test ran against a real API server"));
    }

    #[test]
    fn a_failure_of_cargo_counts_even_if_every_test_passed() {
        check([7, 0, 3], false, Verdict::Bad("`cargo test` failed"));
    }

    #[test]
    fn both_outputs_are_read_in_the_order_they_were_written() {
        let mut command = run::program(Path::new("."), "sh");
        command.args(["-c", "echo one >&2; echo two; echo three >&2; exit 4"]);
        let mut output = Vec::new();
        let status = stream(&mut command, |bytes| {
            output.extend_from_slice(bytes);
            Ok(())
        });
        assert_eq!(output, b"one\ntwo\nthree\n");
        assert_eq!(status.unwrap().code(), Some(4));
    }
}
