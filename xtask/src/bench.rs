//! Measures a budget, built for speed.

use std::path::Path;

use anyhow::Result;

use crate::run;

/// Builds the benchmarks in release mode and runs one of them on our terminal.
pub(crate) fn run(root: &Path, what: &str) -> Result<()> {
    run::check(run::cargo(root)?.args([
        "run",
        "--quiet",
        "--release",
        "--package",
        "bench",
        "--",
        what,
    ]))
}
