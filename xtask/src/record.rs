//! Records what a real server says of its built-in kinds, for the sandbox.

use std::path::Path;

use anyhow::Result;

use crate::{env, run, say};

/// Where the sandbox keeps it.
const DIRECTORY: &str = "crates/sandbox/recorded";

/// Starts a real server, asks it, and writes down the answers.
///
/// A test compares the files with what a server says, and fails when they have
/// to be recorded anew.
pub(crate) fn run(root: &Path) -> Result<()> {
    let servers = env::ensure(root)?;
    let mut command = run::cargo(root)?;
    command.args(["run", "--quiet", "--package", "e2e", "--bin", "record", "--"]);
    command.arg(root.join(DIRECTORY));
    command.env(env::ASSETS, &servers).env("KOLLECT_TEST_REQUIRE", "all");
    run::check(&mut command)?;
    say::result(&format!("{DIRECTORY}: recorded from {}", env::server_version(&servers)?));
    Ok(())
}
