//! Measures a budget, built for speed.

use std::path::Path;

use anyhow::Result;

use crate::{env, run};

/// Builds the benchmarks in release mode and runs one of them on our terminal.
pub(crate) fn run(root: &Path, what: &str) -> Result<()> {
    let mut command = run::cargo(root)?;
    command.args(["run", "--quiet", "--release", "--package", "bench", "--", what]);
    if what == "collect" {
        // It runs on the real servers, and keeps what it puts into them.
        command.arg(env::ensure(root)?).arg(env::cache()?);
    }
    run::check(&mut command)
}
