//! Everything that a change has to pass, step by step.

use std::path::Path;

use anyhow::{Result, bail};

use crate::{
    clock::Stopwatch,
    codegen, layers, say,
    steps::{self, Outcome, step},
    test::{self, Verdict},
    tidy,
};

/// Whether the tests are part of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tests {
    Run,
    LeaveOut,
}

/// Runs the steps and stops at the first that fails.
pub(crate) fn run(root: &Path, tests: Tests) -> Result<()> {
    let done = |()| Outcome::Done;
    let total = Stopwatch::start();
    step("fmt", || steps::fmt(root, &["--check"]))?;
    step("clippy", || steps::clippy(root, &["-D", "warnings"]))?;
    step("layers", || layers::run(root).map(done))?;
    step("tidy", || tidy::run(root).map(done))?;
    step("codegen --check", || codegen::run(root, codegen::Mode::Check).map(done))?;
    if tests == Tests::Run {
        step("test", || match test::run(root, &[])? {
            Verdict::Good => Ok(Outcome::Done),
            Verdict::Bad(reason) => bail!(reason),
        })?;
    }
    say::progress(&format!("all steps passed in {}", total.reading()));
    Ok(())
}
