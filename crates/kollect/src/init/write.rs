//! The files of a starting configuration: their text, and writing them.
//!
//! The text is for people who go on with it, so it has comments, and what is
//! left at its default is not there.

mod sinks;
mod text;

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use kollect_api::AddressPolicy;
use kollect_collect::{Found, Scope};
use kollect_validate::{LocalPaths, Policy};

use self::text::{head, item, joined, scalar};
use super::{attributes::Chosen, choose::Kind};
use crate::{
    args::init::SinkChoice,
    validate::{backends, judge, print},
};

/// Everything that a configuration is made of.
#[derive(Debug)]
pub(super) struct Wish {
    /// Kinds with the attributes to read.
    pub(super) kinds: Vec<(Kind, Vec<Chosen>)>,
    /// Namespaces to collect from; none means all.
    pub(super) namespaces: Vec<String>,
    /// Where the configuration itself lives.
    pub(super) home: String,
    pub(super) sinks: Vec<SinkChoice>,
    /// Address of the Git repository, if there is one.
    pub(super) endpoint: String,
}

/// A file to be written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) text: String,
    /// What it holds, for whoever reads about it.
    pub(super) about: String,
}

/// Whether files may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existing {
    Keep,
    Replace,
}

/// One file for each object.
pub(super) fn files(wish: &Wish) -> Vec<File> {
    let names = names(wish);
    let mut files = Vec::new();
    for ((kind, chosen), name) in wish.kinds.iter().zip(&names) {
        files.push(profile(kind, chosen, name, &wish.home));
        files.push(target(kind, name, wish));
    }
    files.push(inventory(wish));
    files.extend(wish.sinks.iter().map(|sink| sinks::file(*sink, wish)));
    files
}

/// Judges files as `kollect validate --strict` would, so that nothing is
/// written that it would refuse.
pub(super) fn check(files: &[File], addresses: AddressPolicy) -> anyhow::Result<()> {
    let mut found = Found::default();
    for file in files {
        found.add(&file.name, &file.text);
    }
    let policy = Policy {
        addresses,
        backends: backends(),
        local_paths: LocalPaths::Anywhere,
        ..Policy::default()
    };
    let verdict = judge::judge(found, policy, true);
    if verdict.is_good() {
        return Ok(());
    }
    let mut text = Vec::new();
    print::human(&verdict, &mut text)?;
    bail!("nothing was written, because it would not be right\n{}", String::from_utf8_lossy(&text));
}

/// Writes all files or, if one is there already, none. Gives their paths.
pub(super) fn write(
    directory: &Path,
    files: &[File],
    existing: Existing,
) -> anyhow::Result<Vec<PathBuf>> {
    let paths: Vec<_> = files.iter().map(|file| directory.join(&file.name)).collect();
    let there: Vec<_> = paths.iter().filter(|path| path.exists()).collect();
    if existing == Existing::Keep && !there.is_empty() {
        let there: Vec<_> = there.iter().map(|path| path.display().to_string()).collect();
        bail!("{} there already; --force replaces", are(&there));
    }
    let about = || format!("cannot make the directory {}", directory.display());
    fs::create_dir_all(directory).with_context(about)?;
    for (path, file) in paths.iter().zip(files) {
        let mut options = OpenOptions::new();
        match existing {
            Existing::Keep => options.create_new(true),
            Existing::Replace => options.create(true).truncate(true),
        };
        let written = options.write(true).open(path).and_then(|mut one| {
            one.write_all(file.text.as_bytes())?;
            one.flush()
        });
        written.with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(paths)
}

/// Manifests of a directory that were not written now, and will be read with
/// those that were.
pub(super) fn others(directory: &Path, files: &[File]) -> anyhow::Result<Vec<String>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(|| format!("cannot read {}", directory.display()))?,
    };
    let mut others = Vec::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let is_manifest = [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end));
        if is_manifest && !files.iter().any(|file| file.name == name) {
            others.push(name);
        }
    }
    others.sort();
    Ok(others)
}

fn are(names: &[String]) -> String {
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", names.join(", "))
}

/// What profiles and targets are called: as their kinds, with the group where
/// two kinds have one name.
fn names(wish: &Wish) -> Vec<String> {
    let mut counts = BTreeMap::<_, usize>::new();
    for (kind, _) in &wish.kinds {
        *counts.entry(&kind.plural).or_default() += 1;
    }
    let name = |(kind, _): &(Kind, _)| match counts.get(&kind.plural) {
        Some(1) => kind.plural.clone(),
        _ => kind.full_name(),
    };
    wish.kinds.iter().map(name).collect()
}

fn profile(kind: &Kind, chosen: &[Chosen], name: &str, home: &str) -> File {
    let full_name = kind.full_name();
    let comment = format!(
        "What to read from each {}; every attribute becomes a field of its row.\n\
         Try a path on what is there:\n  \
         kubectl get {full_name} -A -o yaml | kollect eval '$.metadata.labels'",
        kind.gvk.kind
    );
    let mut text = head(&comment, "KollectProfile", name, home);
    text.extend(["spec:", "  targetGVK:"].map(str::to_owned));
    if !kind.gvk.group.is_empty() {
        text.push(format!("    group: {}", scalar(&kind.gvk.group)));
    }
    text.push(format!("    version: {}", scalar(&kind.gvk.version)));
    text.push(format!("    kind: {}", scalar(&kind.gvk.kind)));
    text.push("  attributes:".to_owned());
    let mut origin = "";
    for one in chosen {
        // Several of one origin stand below one comment.
        if one.origin != origin {
            let stop = if one.origin.ends_with('…') { "" } else { "." };
            text.push(format!("    # From {}{stop}", one.origin));
        }
        origin = &one.origin;
        text.extend(item(one));
    }
    let names: Vec<_> = chosen.iter().map(|one| one.name.as_str()).collect();
    let about = format!("what to read from {full_name}: {}", names.join(", "));
    File { name: format!("profile-{name}.yaml"), text: joined(&text), about }
}

fn target(kind: &Kind, name: &str, wish: &Wish) -> File {
    let (comment, namespaces) = match (kind.scope, wish.namespaces.as_slice()) {
        (Scope::Cluster, _) => ("They are in no namespace.", &[][..]),
        (Scope::Namespaced, []) => {
            ("Name namespaces under includedNamespaces to collect less.", &[][..])
        }
        (Scope::Namespaced, names) => {
            ("Without includedNamespaces, those of all namespaces.", names)
        }
    };
    let comment = format!("Which objects to read by the profile {name}.\n{comment}");
    let mut text = head(&comment, "KollectTarget", name, &wish.home);
    text.push("spec:".to_owned());
    text.push(format!("  profileRef: {}", scalar(name)));
    if !namespaces.is_empty() {
        text.push("  includedNamespaces:".to_owned());
        for namespace in namespaces {
            text.push(format!("    - {}", scalar(namespace)));
        }
    }
    let place = match (kind.scope, namespaces) {
        (Scope::Cluster, _) => "all".to_owned(),
        (Scope::Namespaced, []) => "in all namespaces".to_owned(),
        (Scope::Namespaced, names) => format!("in {}", names.join(", ")),
    };
    File {
        name: format!("target-{name}.yaml"),
        text: joined(&text),
        about: format!("which {}: {place}", kind.full_name()),
    }
}

fn inventory(wish: &Wish) -> File {
    let comment = "Joins the rows of all targets of this namespace, and keeps copies in these sinks.\n\
                   A change in the cluster reaches every sink by itself within seconds.";
    let mut text = head(comment, "KollectInventory", sinks::INVENTORY, &wish.home);
    text.push("spec:".to_owned());
    for list in ["snapshotSinkRefs", "databaseSinkRefs"] {
        let of_list: Vec<_> =
            wish.sinks.iter().filter(|sink| sinks::list(**sink) == list).collect();
        if !of_list.is_empty() {
            text.push(format!("  {list}:"));
            for sink in of_list {
                text.push(format!("    - name: {}", sinks::name(*sink)));
            }
        }
    }
    let names: Vec<_> = wish.sinks.iter().map(|sink| sinks::name(*sink)).collect();
    File {
        name: "inventory.yaml".to_owned(),
        text: joined(&text),
        about: format!("all rows, copied to {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests;
