//! Rust files that no `mod` names: they look like code and are never compiled.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Finding, Kind, Source, kind,
    lexer::{self, is_word},
};

/// Folders of a crate whose files are compiled on their own.
const TARGET_FOLDERS: [&str; 4] = ["benches", "examples", "src/bin", "tests"];

/// Findings about the files of all crates.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let files: BTreeMap<&str, &str> = sources
        .iter()
        .filter(|source| kind(&source.path) == Kind::Rust)
        .map(|source| (source.path.as_str(), source.text.as_str()))
        .collect();
    let crates: Vec<&str> = sources
        .iter()
        .filter(|source| source.text.lines().any(|line| line.trim() == "[package]"))
        .filter_map(|source| source.path.strip_suffix("Cargo.toml"))
        .collect();

    let mut named = BTreeSet::new();
    let is_root = |path: &&str| crates.iter().any(|directory| is_crate_root(path, directory));
    let mut open: Vec<String> = files.keys().copied().filter(is_root).map(str::to_owned).collect();
    let roots: BTreeSet<String> = open.iter().cloned().collect();
    while let Some(path) = open.pop() {
        let Some(text) = files.get(path.as_str()) else { continue };
        if named.insert(path.clone()) {
            open.extend(modules(&path, text, roots.contains(&path)));
        }
    }

    let belongs = |path: &&str| crates.iter().any(|directory| path.starts_with(directory));
    files
        .keys()
        .copied()
        .filter(belongs)
        .filter(|path| !named.contains(*path))
        .map(|path| Finding::new(path, 1, "is an orphan: no `mod` names it"))
        .collect()
}

/// Whether cargo compiles a file on its own.
fn is_crate_root(path: &str, directory: &str) -> bool {
    let Some(inside) = path.strip_prefix(directory) else { return false };
    if matches!(inside, "build.rs" | "src/lib.rs" | "src/main.rs") {
        return true;
    }
    TARGET_FOLDERS.iter().any(|folder| {
        let rest = inside.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
        rest.is_some_and(|rest| match rest.split_once('/') {
            None => true,
            Some((_, file)) => file == "main.rs",
        })
    })
}

/// Every path at which a module that a file declares may stand.
fn modules(path: &str, text: &str, is_root: bool) -> Vec<String> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.trim_end_matches(".rs");
    let below = if is_root || stem == "mod" { folder } else { path.trim_end_matches(".rs") };
    let mut paths = Vec::new();
    for Declared { name, at, inside } in declared(text) {
        if let Some(at) = at {
            paths.push(format!("{folder}/{at}"));
            continue;
        }
        let place = [below].into_iter().chain(inside.iter().map(String::as_str));
        let place = place.collect::<Vec<_>>().join("/");
        paths.push(format!("{place}/{name}.rs"));
        paths.push(format!("{place}/{name}/mod.rs"));
    }
    paths
}

/// A `mod name;`.
#[derive(Debug, PartialEq, Eq)]
struct Declared {
    name: String,
    /// The path it is given by an attribute.
    at: Option<String>,
    /// The inline modules around it, outermost first.
    inside: Vec<String>,
}

/// The modules that a file declares to stand in files of their own.
fn declared(text: &str) -> Vec<Declared> {
    let mut found = Vec::new();
    // For each open brace the module it belongs to, if it is one's.
    let mut open: Vec<Option<String>> = Vec::new();
    let mut attribute = None;
    let mut words: Vec<String> = Vec::new();
    for (line, written) in lexer::lines(text).iter().zip(text.lines()) {
        if line.code.trim_start().starts_with("#[path") {
            attribute = written.split('"').nth(1).map(str::to_owned);
        }
        // A name that is a keyword is written with a prefix that its file lacks.
        for token in tokens(&line.code.replace("r#", "")) {
            let name = match words.as_slice() {
                [.., keyword, name] if keyword == "mod" => Some(name.clone()),
                _ => None,
            };
            match (token.as_str(), name) {
                (";", Some(name)) => {
                    let inside = open.iter().flatten().cloned().collect();
                    found.push(Declared { name, at: attribute.take(), inside });
                }
                ("{", name) => open.push(name),
                ("}", _) => drop(open.pop()),
                _ => {}
            }
            words.push(token);
        }
    }
    found
}

/// The words of a line, and its other characters one by one.
fn tokens(code: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut in_word = false;
    for char in code.chars() {
        match tokens.last_mut() {
            Some(word) if in_word && is_word(char) => word.push(char),
            _ if char.is_whitespace() => {}
            _ => tokens.push(char.to_string()),
        }
        in_word = is_word(char);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_files(files: &[(&str, &str)], expected: &[&str]) {
        let manifest = Source { path: "a/Cargo.toml".into(), text: "[package]\n".into() };
        let mut sources = vec![manifest];
        for (path, text) in files {
            sources.push(Source { path: (*path).into(), text: (*text).into() });
        }
        let found = check(&sources);
        let paths: Vec<&str> = found.iter().map(|finding| finding.path.as_str()).collect();
        assert_eq!(paths, expected);
    }

    #[test]
    fn modules_are_followed_from_the_root_of_the_crate() {
        check_files(
            &[
                ("a/src/lib.rs", "pub mod sink;\n#[cfg(test)]\nmod tests;\n"),
                ("a/src/sink.rs", "pub(crate) mod git;\n"),
                ("a/src/sink/git.rs", ""),
                ("a/src/tests.rs", ""),
            ],
            &[],
        );
    }

    #[test]
    fn a_file_that_nobody_names_is_found_and_so_is_what_it_names() {
        check_files(
            &[
                ("a/src/main.rs", "mod args;\n// mod old;\nconst A: &str = \"mod old;\";\n"),
                ("a/src/args.rs", ""),
                ("a/src/old.rs", "mod older;\n"),
                ("a/src/old/older.rs", ""),
            ],
            &["a/src/old.rs", "a/src/old/older.rs"],
        );
    }

    #[test]
    fn a_module_of_the_same_name_elsewhere_does_not_count() {
        check_files(
            &[("a/src/lib.rs", "mod sink;\n"), ("a/src/sink.rs", ""), ("a/src/git/sink.rs", "")],
            &["a/src/git/sink.rs"],
        );
    }

    #[test]
    fn inline_modules_are_folders_and_attributes_are_paths() {
        check_files(
            &[
                ("a/src/lib.rs", "mod one {\n    fn f() {}\n    mod two;\n}\nmod r#type;\n"),
                ("a/src/one/two.rs", "#[path = \"odd.rs\"]\nmod even;\n"),
                ("a/src/one/odd.rs", ""),
                ("a/src/type.rs", ""),
            ],
            &[],
        );
    }

    #[test]
    fn targets_of_cargo_need_no_name_but_what_is_beside_them_does() {
        check_files(
            &[
                ("a/build.rs", ""),
                ("a/src/bin/tool.rs", ""),
                ("a/tests/install.rs", "mod support;\n"),
                ("a/tests/support/mod.rs", ""),
                ("a/tests/support/old.rs", ""),
                ("a/tests/upgrade/main.rs", ""),
                ("b/loose.rs", ""),
            ],
            &["a/tests/support/old.rs"],
        );
    }

    #[test]
    fn two_crates_do_not_mix() {
        let manifest = |path: &str| Source { path: path.into(), text: "[package]\n".into() };
        let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
        let found = check(&[
            manifest("a/Cargo.toml"),
            manifest("b/Cargo.toml"),
            source("a/src/lib.rs", "mod x;\n"),
            source("b/src/lib.rs", ""),
            source("b/src/x.rs", ""),
        ]);
        assert_eq!(found, [Finding::new("b/src/x.rs", 1, "is an orphan: no `mod` names it")]);
    }
}
