//! Measures a budget, built for speed.

use std::path::Path;

use anyhow::{Context, Result};

use crate::{env, run};

/// Builds the benchmarks in release mode and runs one of them on our terminal.
pub(crate) fn run(root: &Path, what: &str) -> Result<()> {
    let mut command = run::cargo(root)?;
    command.args(["run", "--quiet", "--release", "--package", "bench", "--", what]);
    // These run on the real servers, and keep what they put into them.
    match what {
        "collect" => drop(command.arg(env::ensure(root)?).arg(env::cache()?)),
        "operator" => {
            let servers = env::ensure(root)?;
            let mut program = run::cargo(root)?;
            program.args(["build", "--quiet", "--profile", "dist", "--package", "kollect"]);
            run::check(&mut program)?;
            // It stands beside the directory of this program.
            let own = std::env::current_exe().context("cannot find this program")?;
            let target = own.ancestors().nth(2).context("this program is nowhere")?;
            command.arg(target.join("dist/kollect")).arg(servers).arg(env::cache()?);
        }
        _ => {}
    }
    run::check(&mut command)
}
