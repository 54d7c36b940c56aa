//! Steps that have a name, a duration and an outcome; what `check` and `ci` share.

use std::path::Path;

use anyhow::{Context, Result};

use crate::{clock::Stopwatch, run, say};

/// How a step ended that did not fail.
pub(crate) enum Outcome {
    Done,
    /// It could not be done here, and why.
    Skipped(&'static str),
}

/// Runs one step under its name, and says how long it took.
pub(crate) fn step(name: &str, run: impl FnOnce() -> Result<Outcome>) -> Result<()> {
    say::progress(&format!("== {name}"));
    let watch = Stopwatch::start();
    let outcome = run().with_context(|| format!("{name} failed after {}", watch.reading()))?;
    match outcome {
        Outcome::Done => say::progress(&format!("== {name}: done in {}", watch.reading())),
        Outcome::Skipped(reason) => say::progress(&format!("== {name}: skipped, {reason}")),
    }
    Ok(())
}

/// Formats the workspace, with arguments such as `--check`.
pub(crate) fn fmt(root: &Path, args: &[&str]) -> Result<Outcome> {
    if !run::succeeds(run::cargo(root)?.args(["fmt", "--version"])) {
        return Ok(Outcome::Skipped("rustfmt is not installed"));
    }
    run::check(run::cargo(root)?.args(["fmt", "--all"]).args(args))?;
    Ok(Outcome::Done)
}

/// Lints the workspace, with arguments for clippy itself.
pub(crate) fn clippy(root: &Path, args: &[&str]) -> Result<Outcome> {
    if !run::succeeds(run::cargo(root)?.args(["clippy", "--version"])) {
        return Ok(Outcome::Skipped("clippy is not installed"));
    }
    let mut command = run::cargo(root)?;
    command.args(["clippy", "--workspace", "--all-targets", "--features", "kollect/jemalloc"]);
    command.arg("--").args(args);
    run::check(&mut command)?;
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn a_failure_names_its_step() {
        let error = step("layers", || bail!("an edge too many")).unwrap_err();
        let text = format!("{error:#}");
        assert!(text.starts_with("layers failed after "), "{text}");
        assert!(text.ends_with(": an edge too many"), "{text}");
    }

    #[test]
    fn what_cannot_be_done_here_is_no_failure() {
        assert!(step("fmt", || Ok(Outcome::Skipped("rustfmt is not installed"))).is_ok());
    }
}
