//! Looks for inputs that break a promise.
//!
//! Needs what the rest of the repository does not: a nightly compiler, for its
//! instrumentation, and `cargo-fuzz`, which is installed when it is missing.
//! What the fuzzer finds interesting stays under `target/`; `fuzz/corpus` is
//! written by people.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result, bail};

use crate::{run, say};

/// When a target has been fuzzed for long enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    Runs(u64),
    Seconds(u64),
}

/// Fuzzes one target, or one after the other.
pub(crate) fn run(root: &Path, target: Option<&str>, until: Until) -> Result<()> {
    let known = targets(root)?;
    let chosen = choose(&known, target)?;
    require_tools(root)?;
    for target in chosen {
        say::progress(&format!("== {target}"));
        let found = format!("target/fuzz/{target}");
        fs::create_dir_all(root.join(&found)).with_context(|| format!("cannot make {found}"))?;
        run::check(nightly(root).args(["cargo", "fuzz"]).args(arguments(target, &found, until)))?;
    }
    Ok(())
}

/// The targets, each of which has a corpus of its name.
fn targets(root: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for folder in fs::read_dir(root.join("fuzz/corpus")).context("there is no fuzz/corpus")? {
        names.push(folder?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn choose<'a>(known: &'a [String], target: Option<&str>) -> Result<Vec<&'a str>> {
    let wanted = |name: &&str| target.is_none_or(|target| target == *name);
    let chosen: Vec<&str> = known.iter().map(String::as_str).filter(wanted).collect();
    match target {
        Some(target) if chosen.is_empty() => {
            bail!("there is no target {target}; there are {}", known.join(", "))
        }
        _ => Ok(chosen),
    }
}

fn require_tools(root: &Path) -> Result<()> {
    if !run::succeeds(nightly(root).args(["rustc", "--version"])) {
        bail!("fuzzing needs a nightly compiler: rustup toolchain install nightly");
    }
    if !run::succeeds(nightly(root).args(["cargo", "fuzz", "--version"])) {
        say::progress("cargo-fuzz is missing; installing it");
        run::check(run::cargo(root)?.args(["install", "--locked", "cargo-fuzz"]))?;
    }
    Ok(())
}

/// A program of the nightly toolchain, which ours is not.
fn nightly(root: &Path) -> Command {
    let mut command = run::program(root, "rustup");
    command.args(["run", "nightly"]);
    command
}

/// The arguments of `cargo fuzz`. New inputs go into the first folder.
fn arguments(target: &str, found: &str, until: Until) -> Vec<String> {
    let seeds = format!("fuzz/corpus/{target}");
    let bound = match until {
        Until::Runs(runs) => format!("-runs={runs}"),
        Until::Seconds(seconds) => format!("-max_total_time={seconds}"),
    };
    let words = ["run", "--features", "libfuzzer", target, found, &seeds, "--", &bound];
    // What takes more than a process of ours may have, or hangs, is a find too.
    let limits = ["-rss_limit_mb=2048", "-timeout=10", "-print_final_stats=1"];
    words.iter().chain(&limits).map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_inputs_do_not_go_into_the_corpus() {
        let arguments = arguments("helm", "target/fuzz/helm", Until::Seconds(5));
        assert_eq!(
            arguments.join(" "),
            "run --features libfuzzer helm target/fuzz/helm fuzz/corpus/helm -- \
             -max_total_time=5 -rss_limit_mb=2048 -timeout=10 -print_final_stats=1"
        );
    }

    #[test]
    fn a_number_of_runs_bounds_it_as_well() {
        let arguments = arguments("helm", "found", Until::Runs(7));
        assert!(arguments.contains(&"-runs=7".to_owned()), "{arguments:?}");
    }

    #[test]
    fn all_targets_are_fuzzed_unless_one_is_named() {
        let known = ["helm".to_owned(), "object".to_owned()];
        assert_eq!(choose(&known, None).unwrap(), ["helm", "object"]);
        assert_eq!(choose(&known, Some("object")).unwrap(), ["object"]);
        let error = choose(&known, Some("hlem")).unwrap_err().to_string();
        assert_eq!(error, "there is no target hlem; there are helm, object");
    }
}
