//! The definitions, printed.

use std::fs;

use super::support::{kollect, repository};

#[test]
fn eleven_are_printed_and_are_those_of_the_repository() {
    let run = kollect(&["crds"]);
    assert_eq!(run.code, Some(0));
    let printed: Vec<_> = run.stdout.split("---\n").map(str::to_owned).collect();
    assert_eq!(printed.len(), 11);
    let mut files = Vec::new();
    for entry in fs::read_dir(repository().join("deploy/crds")).unwrap() {
        files.push(fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    let sorted = |mut texts: Vec<String>| {
        texts.sort();
        texts
    };
    assert_eq!(sorted(printed), sorted(files));
}

#[test]
fn a_directory_is_made_for_them() {
    let directory = tempfile::tempdir().unwrap();
    let inside = directory.path().join("not/there/yet");
    assert_eq!(kollect(&["crds", "--out", inside.to_str().unwrap()]).code, Some(0));
    assert_eq!(fs::read_dir(inside).unwrap().count(), 11);
}
