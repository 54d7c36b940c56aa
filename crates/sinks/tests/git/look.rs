//! A look at a branch, compared with what Git itself says.

use std::{collections::BTreeMap, fs, path::Path};

use kollect_sinks::GitBranch;
use kollect_testenv::git;

use super::support::{Repository, clone, tip};

/// More packs than a look keeps open.
const COMMITS: usize = 70;

fn look(repository: &Path) -> GitBranch {
    GitBranch::new(repository.to_owned(), "main")
}

/// Commits of one change each, every one of them in a pack of its own.
fn fill(repository: &Path) {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    git(at, &["init", "--quiet", "--initial-branch", "main", "."]).unwrap();
    git(repository, &["config", "receive.unpackLimit", "1"]).unwrap();
    fs::create_dir_all(at.join("a/b")).unwrap();
    fs::write(at.join("a/stays.txt"), "first").unwrap();
    let to = repository.to_str().unwrap();
    for number in 0..COMMITS {
        fs::write(at.join("a/b/changes.txt"), number.to_string()).unwrap();
        git(at, &["add", "--all"]).unwrap();
        git(at, &["commit", "--quiet", "--message", "one"]).unwrap();
        git(at, &["push", "--quiet", to, "main"]).unwrap();
    }
}

fn text(found: Vec<(String, Option<Vec<u8>>)>) -> BTreeMap<String, Option<String>> {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    found.into_iter().map(|(path, bytes)| (path, bytes.map(text))).collect()
}

#[test]
fn an_empty_repository_has_no_tip() {
    let repository = Repository::new();
    assert_eq!(look(&repository.path).tip().unwrap(), None);
}

#[test]
fn everything_is_found_in_however_many_packs() {
    let repository = Repository::new();
    fill(&repository.path);
    let mut look = look(&repository.path);
    let newest = look.tip().unwrap().unwrap();
    assert_eq!(newest, tip(&repository.path));
    let all = text(look.differences(None, &newest).unwrap());
    let last = (COMMITS - 1).to_string();
    let expected = [("a/b/changes.txt", last), ("a/stays.txt", "first".to_owned())];
    let expected = expected.map(|(path, text)| (path.to_owned(), Some(text)));
    assert_eq!(all, BTreeMap::from(expected));
    let mut history = vec![newest];
    while let Some(parent) = look.parent(history.last().unwrap()).unwrap() {
        history.push(parent);
    }
    assert_eq!(history.len(), COMMITS);
    let known = git(&repository.path, &["rev-list", "main"]).unwrap();
    assert_eq!(history, known.lines().collect::<Vec<_>>());
}

#[test]
fn what_differs_is_found_and_what_has_gone() {
    let repository = Repository::new();
    fill(&repository.path);
    let old = tip(&repository.path);
    let clone = clone(&repository.path);
    let at = clone.path();
    // A file becomes a folder, another one comes, and one stays.
    fs::remove_file(at.join("a/b/changes.txt")).unwrap();
    fs::create_dir(at.join("a/b/changes.txt")).unwrap();
    fs::write(at.join("a/b/changes.txt/inside"), "new").unwrap();
    fs::write(at.join("top"), "high").unwrap();
    git(at, &["add", "--all"]).unwrap();
    git(at, &["commit", "--quiet", "--message", "two"]).unwrap();
    git(at, &["push", "--quiet", "origin", "HEAD:main"]).unwrap();
    let mut look = look(&repository.path);
    let new = look.tip().unwrap().unwrap();
    let found = text(look.differences(Some(&old), &new).unwrap());
    let expected = [
        ("a/b/changes.txt", None),
        ("a/b/changes.txt/inside", Some("new".to_owned())),
        ("top", Some("high".to_owned())),
    ];
    assert_eq!(found, expected.map(|(path, text)| (path.to_owned(), text)).into());
    assert!(look.differences(Some(&new), &new).unwrap().is_empty());
    assert!(look.differences(None, "no commit").is_err());
}
