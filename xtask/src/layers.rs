//! Keeps the dependencies between crates as the architecture has them.
//!
//! Two questions are asked of every crate of the workspace: which of ours it
//! uses, by its manifest; and what it can reach at all, by the tree that cargo
//! resolves for this crate alone. The graph in `cargo metadata` would answer
//! the second one wrongly, because it joins the features that all crates of
//! the workspace ask for: as soon as one of them wants the client of `kube`,
//! everybody who uses `kube` seems to have it.

mod table;
mod tree;

use std::path::Path;

use anyhow::{Context, Result, bail};

use self::table::{FOR_ALL, Layer, MayUse, Never, TABLE};
use crate::{
    metadata::{self, Package},
    run, say,
};

/// Fails on any edge that the table does not allow.
pub(crate) fn run(root: &Path) -> Result<()> {
    let packages = metadata::packages(root)?;
    let mut violations = wrong_edges(&packages, TABLE);
    for package in &packages {
        let tree = resolve(root, &package.name)?;
        violations.extend(forbidden(&package.name, &tree, TABLE)?);
    }
    for violation in &violations {
        say::result(violation);
    }
    if !violations.is_empty() {
        bail!("dependencies against the architecture: {}", violations.len());
    }
    say::progress(&format!("{} crates keep to their layers", packages.len()));
    Ok(())
}

/// What a crate reaches by normal dependencies, with all of its features.
fn resolve(root: &Path, package: &str) -> Result<String> {
    let mut command = run::cargo(root)?;
    command.args(["tree", "--package", package, "--edges", "normal", "--all-features"]);
    run::capture(command.args(["--prefix", "depth", "--format", "{p}"]))
}

/// Crates that are not in the table, and uses that it does not allow.
fn wrong_edges(packages: &[Package], table: &[Layer]) -> Vec<String> {
    let mut found = Vec::new();
    for Package { name, uses, .. } in packages {
        let Some(layer) = layer(table, name) else {
            found.push(format!(
                "{name} has no place in the house: give it one in xtask/src/layers/table.rs"
            ));
            continue;
        };
        let ours = uses.iter().filter(|used| packages.iter().any(|other| other.name == **used));
        for used in ours.filter(|used| !layer.may_use.allows(used)) {
            found.push(format!("{name} may not use {used}: {}", layer.reason));
        }
    }
    found
}

/// Crates in a tree that the crate at its root must never reach, each with
/// the way to it.
fn forbidden(name: &str, tree: &str, table: &[Layer]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let own = layer(table, name).map(|layer| layer.never).unwrap_or_default();
    for Never { krate, reason } in own.iter().chain(FOR_ALL) {
        let way = tree::way_to(tree, krate)
            .with_context(|| format!("could not read the tree of {name}"))?;
        if let Some(way) = way {
            found.push(format!("{name} must never reach {krate}: {reason} ({})", way.join(" → ")));
        }
    }
    Ok(found)
}

fn layer<'a>(table: &'a [Layer], name: &str) -> Option<&'a Layer> {
    table.iter().find(|layer| layer.krate == name)
}

impl MayUse {
    fn allows(&self, name: &str) -> bool {
        match self {
            Self::Anything => true,
            Self::Only(names) => names.contains(&name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, uses: &[&str]) -> Package {
        Package {
            name: name.into(),
            id: name.into(),
            directory: name.into(),
            uses: uses.iter().map(|used| (*used).to_owned()).collect(),
            has_library: true,
        }
    }

    #[track_caller]
    fn check(packages: &[Package], expected: &[&str]) {
        let found = wrong_edges(packages, TABLE);
        let subjects: Vec<&str> =
            found.iter().map(|text| text.split_once(':').unwrap().0).collect();
        assert_eq!(subjects, expected);
    }

    #[test]
    fn edges_of_the_table_are_allowed() {
        check(
            &[
                package("kollect-api", &["serde"]),
                package("kollect-validate", &["kollect-api", "serde"]),
                package("kollect", &["kollect-api", "kollect-validate"]),
                package("e2e", &["kollect-testenv", "kollect"]),
                package("kollect-testenv", &["rcgen"]),
                package("xtask", &["anyhow"]),
            ],
            &[],
        );
    }

    #[test]
    fn any_other_edge_is_reported() {
        check(
            &[
                package("kollect-api", &["kollect-validate"]),
                package("kollect-validate", &["kollect-testenv"]),
                package("kollect-testenv", &["kollect-api"]),
            ],
            &[
                "kollect-api may not use kollect-validate",
                "kollect-validate may not use kollect-testenv",
                "kollect-testenv may not use kollect-api",
            ],
        );
    }

    #[test]
    fn a_crate_without_a_place_in_the_table_is_reported() {
        check(&[package("kollect-shed", &[])], &["kollect-shed has no place in the house"]);
    }

    #[test]
    fn a_forbidden_crate_is_reported_with_the_way_to_it() {
        let tree = "0kollect-api v0.1.0 (/clone/crates/api)\n\
            1kube v5.0.0\n2kube-client v5.0.0\n3tokio v1.50.0\n";
        let found = forbidden("kollect-api", tree, TABLE).unwrap();
        let ways: Vec<&str> = found.iter().map(|text| text.rsplit_once('(').unwrap().1).collect();
        assert_eq!(
            ways,
            ["kollect-api → kube → kube-client → tokio)", "kollect-api → kube → kube-client)"]
        );
    }

    #[test]
    fn what_is_forbidden_to_one_layer_is_free_to_another() {
        let tree = "0kollect-collect v0.1.0 (/clone)\n1kube-client v5.0.0\n2tokio v1.50.0\n";
        assert!(forbidden("kollect-collect", tree, TABLE).unwrap().is_empty());
    }

    #[test]
    fn some_crates_are_forbidden_to_all() {
        let tree = "0e2e v0.1.0 (/clone/e2e)\n1aws-lc-sys v0.40.0\n";
        assert_eq!(forbidden("e2e", tree, TABLE).unwrap().len(), 1);
    }
}
