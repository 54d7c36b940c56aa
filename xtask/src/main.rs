//! Repository chores as code: `cargo xtask <verb>`.
//!
//! One file a verb. What a verb decides is a pure function with tests beside
//! it; what it does goes through `run`, and what it says through `say`.

mod env;
mod test;
mod check;
mod ci;
mod codegen;
mod record;
mod tidy;
mod layers;
mod bench;
mod fuzz;
mod picture;

mod clock;
mod metadata;
mod run;
mod say;
mod scratch;
mod steps;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "Repository chores as code")]
struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Builds and caches the real servers that tests run against; prints their directory
    Env,
    /// Runs every test, on those servers; what a test would skip is a failure
    Test {
        /// Passed on to `cargo test`
        #[arg(last = true)]
        args: Vec<String>,
    },
    /// Formats, lints, and runs the unit tests of the crates that changed
    Check,
    /// Everything a change has to pass: formatting, lints, layers, tidiness, generated files, tests
    Ci {
        /// Leaves the tests out
        #[arg(long)]
        no_test: bool,
    },
    /// Writes the files that are generated from the code
    Codegen {
        /// Writes nothing; fails when a file is not as it would be generated
        #[arg(long)]
        check: bool,
    },
    /// Records what a real API server says of its built-in kinds, for the sandbox
    Record,
    /// Looks for what the house does not want to grow: long files, orphans, ticket codes, …
    Tidy,
    /// Fails on a dependency between crates that the architecture does not allow
    Layers,
    /// Measures a budget of the architecture, built for speed, and prints its figures
    Bench {
        /// What to measure
        what: bench::What,
    },
    /// Looks for inputs that break a promise; needs a nightly compiler
    Fuzz {
        /// Which target; all of them unless it is named
        target: Option<String>,
        /// How long each one is fuzzed
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// How many inputs each one gets, however long that takes
        #[arg(long, conflicts_with = "seconds")]
        runs: Option<u64>,
    },
    /// Runs the demo in a terminal and draws docs/images/demo.svg of it
    Picture,
}

fn main() -> ExitCode {
    match dispatch(Args::parse().verb) {
        Ok(code) => code,
        Err(error) => {
            say::progress(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn dispatch(verb: Verb) -> Result<ExitCode> {
    let root = run::root()?;
    match verb {
        Verb::Env => env::run(&root),
        Verb::Test { args } => {
            return Ok(match test::run(&root, &args)? {
                test::Verdict::Good => ExitCode::SUCCESS,
                test::Verdict::Bad(_) => ExitCode::FAILURE,
            });
        }
        Verb::Check => check::run(&root),
        Verb::Ci { no_test: false } => ci::run(&root, ci::Tests::Run),
        Verb::Ci { no_test: true } => ci::run(&root, ci::Tests::LeaveOut),
        Verb::Codegen { check: false } => codegen::run(&root, codegen::Mode::Write),
        Verb::Codegen { check: true } => codegen::run(&root, codegen::Mode::Check),
        Verb::Record => record::run(&root),
        Verb::Tidy => tidy::run(&root),
        Verb::Layers => layers::run(&root),
        Verb::Bench { what } => bench::run(&root, what),
        Verb::Fuzz { target, seconds, runs } => {
            let until = runs.map_or(fuzz::Until::Seconds(seconds), fuzz::Until::Runs);
            fuzz::run(&root, target.as_deref(), until)
        }
        Verb::Picture => picture::run(&root),
    }?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }
}
