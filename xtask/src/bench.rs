//! Measures a budget, built for speed.

use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::{env, run};

/// What is measured.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum What {
    Collect,
    Extract,
    Inventory,
    Operator,
    Sinks,
}

/// Builds the benchmarks for speed and runs one of them on our terminal.
pub(crate) fn run(root: &Path, what: What) -> Result<()> {
    let mut command = run::cargo(root)?;
    command.args(["run", "--quiet", "--profile", "bench", "--package", "bench", "--"]);
    command.arg(what.to_possible_value().context("it has no name")?.get_name());
    // Two run on the real servers, and keep what they put into them.
    match what {
        What::Collect => drop(command.arg(env::ensure(root)?).arg(env::cache()?)),
        What::Operator => {
            let servers = env::ensure(root)?;
            let mut program = run::cargo(root)?;
            program.args(["build", "--quiet", "--profile", "dist"]);
            program.args(["--package", "kollect", "--features", "jemalloc"]);
            run::check(&mut program)?;
            // It stands beside the directory of this program.
            let own = std::env::current_exe().context("cannot find this program")?;
            let target = own.ancestors().nth(2).context("this program is nowhere")?;
            command.arg(target.join("dist/kollect")).arg(servers).arg(env::cache()?);
        }
        What::Extract | What::Inventory | What::Sinks => {}
    }
    run::check(&mut command)
}
