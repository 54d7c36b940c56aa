//! Looks for what the house does not want to grow.
//!
//! Every check is a pure function from paths and text to findings; this file
//! reads the files that git knows or would add, and prints.

mod comments;
mod lexer;
mod links;
mod names;
mod orphans;
mod size;
mod whitespace;
mod yaml;

use std::{collections::BTreeSet, fmt, fs, io::ErrorKind, path::Path};

use anyhow::{Context, Result, bail};

use crate::{run, say};

/// A text file of the repository.
struct Source {
    /// From the root, with slashes.
    path: String,
    text: String,
}

/// Something to put right.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    text: String,
}

impl Finding {
    fn new(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, text: text.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

/// Prints what is to be put right, and fails if there is anything.
pub(crate) fn run(root: &Path) -> Result<()> {
    let paths = paths(root)?;
    let mut sources = Vec::new();
    let mut findings = Vec::new();
    for path in &paths {
        match read(root, path)? {
            Content::Text(text) => sources.push(Source { path: path.clone(), text }),
            Content::NoText if kind(path) != Kind::Other => {
                findings.push(Finding::new(path, 1, "is not UTF-8"));
            }
            Content::NoText | Content::Gone => {}
        }
    }
    findings.extend(check(&sources));
    findings.sort();
    for finding in &findings {
        say::result(&finding.to_string());
    }
    if !findings.is_empty() {
        bail!("findings: {} (in {} files)", findings.len(), sources.len());
    }
    say::progress(&format!("{} files are tidy", sources.len()));
    Ok(())
}

/// What a file is to us, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rust,
    Markdown,
    Other,
}

fn kind(path: &str) -> Kind {
    match Path::new(path).extension().and_then(|extension| extension.to_str()) {
        Some("rs") => Kind::Rust,
        Some("md") => Kind::Markdown,
        _ => Kind::Other,
    }
}

/// Every finding about these files.
fn check(sources: &[Source]) -> Vec<Finding> {
    let mut findings = orphans::check(sources);
    findings.extend(links::check(sources));
    let own_codes = comments::own_codes(sources);
    for Source { path, text } in sources {
        findings.extend(names::check(path));
        findings.extend(yaml::check(path, text));
        match kind(path) {
            Kind::Rust => {
                findings.extend(size::check(path, text));
                findings.extend(comments::check_rust(path, text, &own_codes));
                findings.extend(whitespace::check(path, text));
            }
            Kind::Markdown => {
                findings.extend(comments::check_markdown(path, text));
                findings.extend(whitespace::check(path, text));
            }
            Kind::Other => {}
        }
    }
    findings
}

/// The files that git knows, and those it would add.
fn paths(root: &Path) -> Result<BTreeSet<String>> {
    let mut command = run::program(root, "git");
    let listed = run::capture(command.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]))?;
    Ok(listed.split_terminator('\0').map(str::to_owned).collect())
}

enum Content {
    Text(String),
    NoText,
    /// Removed since the last commit, or no file: a link to a directory.
    Gone,
}

fn read(root: &Path, path: &str) -> Result<Content> {
    match fs::read(root.join(path)) {
        Ok(bytes) => Ok(String::from_utf8(bytes).map_or(Content::NoText, Content::Text)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory) => {
            Ok(Content::Gone)
        }
        Err(error) => Err(error).with_context(|| format!("could not read {path}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_printed_as_a_place_that_editors_understand() {
        let finding = Finding::new("crates/api/src/lib.rs", 7, "ends in white space");
        assert_eq!(finding.to_string(), "crates/api/src/lib.rs:7: ends in white space");
    }

    #[test]
    fn each_kind_of_file_gets_its_checks() {
        let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
        let found = check(&[
            source("a/Cargo.toml", "[package]\nname = \"a\" \n"),
            source("a/src/lib.rs", "// AR-10 \n"),
            source("README.md", "one \n"),
            source("deploy/crds/a.yaml", "kind: A\n"),
        ]);
        let places: Vec<String> =
            found.iter().map(|finding| format!("{}:{}", finding.path, finding.line)).collect();
        assert_eq!(
            places,
            ["a/src/lib.rs:1", "a/src/lib.rs:1", "README.md:1", "deploy/crds/a.yaml:1"]
        );
    }
}
