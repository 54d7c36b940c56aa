//! The loop while writing: formats, lints, runs the unit tests of what changed.

use std::{collections::BTreeSet, path::Path};

use anyhow::Result;

use crate::{
    metadata::{self, Package},
    run, say,
    steps::{self, Outcome, step},
};

/// Formats, lints and tests what differs from the last commit.
pub(crate) fn run(root: &Path) -> Result<()> {
    step("fmt", || steps::fmt(root, &[]))?;
    step("clippy", || steps::clippy(root, &[]))?;
    step("unit tests", || unit_tests(root))
}

fn unit_tests(root: &Path) -> Result<Outcome> {
    let packages = metadata::packages(root)?;
    let changed = changed_crates(root, &changed_paths(root)?, &packages);
    if changed.is_empty() {
        return Ok(Outcome::Skipped("no crate differs from the last commit"));
    }
    let names: Vec<&str> = changed.iter().map(|package| package.name.as_str()).collect();
    say::progress(&format!("changed: {}", names.join(", ")));
    run::check(run::cargo(root)?.args(arguments(&changed)))?;
    Ok(Outcome::Done)
}

/// The files that differ from the last commit, and those git does not know yet.
fn changed_paths(root: &Path) -> Result<String> {
    let git = |args: &[&str]| run::capture(run::program(root, "git").args(args));
    let changed = git(&["diff", "--name-only", "-z", "HEAD"])?;
    let unknown = git(&["ls-files", "--others", "--exclude-standard", "-z"])?;
    Ok(changed + &unknown)
}

/// The crates that hold one of the files, in the order of `packages`.
fn changed_crates<'a>(root: &Path, paths: &str, packages: &'a [Package]) -> Vec<&'a Package> {
    let owner = |path: &str| {
        let path = root.join(path);
        packages
            .iter()
            .filter(|package| path.starts_with(&package.directory))
            .max_by_key(|package| package.directory.components().count())
    };
    let names: BTreeSet<&str> = paths
        .split_terminator('\0')
        .filter_map(owner)
        .map(|package| package.name.as_str())
        .collect();
    packages.iter().filter(|package| names.contains(package.name.as_str())).collect()
}

/// The arguments of cargo that run the unit tests of some crates.
fn arguments<'a>(packages: &[&'a Package]) -> Vec<&'a str> {
    let mut arguments = vec!["test", "--bins"];
    // Cargo refuses it where there is none.
    if packages.iter().any(|package| package.has_library) {
        arguments.push("--lib");
    }
    for package in packages {
        arguments.extend(["-p", &package.name]);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, directory: &str, has_library: bool) -> Package {
        Package {
            name: name.into(),
            id: name.into(),
            directory: directory.into(),
            uses: Vec::new(),
            has_library,
        }
    }

    #[track_caller]
    fn check(paths: &str, expected: &[&str]) {
        let packages = [
            package("kollect-api", "/clone/crates/api", true),
            package("kollect", "/clone/crates/kollect", false),
            package("nested", "/clone/crates/api/nested", true),
        ];
        let found = changed_crates(Path::new("/clone"), paths, &packages);
        let names: Vec<&str> = found.iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn a_file_belongs_to_the_innermost_crate_around_it() {
        check("crates/api/src/lib.rs\0", &["kollect-api"]);
        check("crates/api/nested/src/lib.rs\0", &["nested"]);
    }

    #[test]
    fn a_crate_with_two_changes_is_tested_once() {
        check(
            "crates/kollect/src/main.rs\0crates/api/a.rs\0crates/api/b.rs\0",
            &["kollect-api", "kollect"],
        );
    }

    #[test]
    fn a_change_outside_the_crates_tests_nothing() {
        check("README.md\0crates/apis/x.rs\0", &[]);
        check("", &[]);
    }

    #[test]
    fn the_library_is_asked_for_only_where_there_is_one() {
        let (api, kollect) = (package("api", "/api", true), package("kollect", "/k", false));
        assert_eq!(arguments(&[&kollect]), ["test", "--bins", "-p", "kollect"]);
        assert_eq!(
            arguments(&[&api, &kollect]),
            ["test", "--bins", "--lib", "-p", "api", "-p", "kollect"]
        );
    }
}
