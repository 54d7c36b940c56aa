use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::date;

use super::*;

fn script() -> Script {
    Script::new(date(2026, 3, 4), 7)
}

fn told(many: usize) -> Vec<Change> {
    let mut script = script();
    (0..many).map(|_| script.next()).collect()
}

#[test]
fn every_run_tells_the_same_story() {
    assert_eq!(told(100), told(100));
    let mut other = Script::new(date(2026, 3, 4), 8);
    assert_ne!(told(10), (0..10).map(|_| other.next()).collect::<Vec<_>>());
}

#[test]
fn all_kinds_change_before_anybody_is_bored() {
    let kinds: BTreeSet<_> = told(60).into_iter().map(|change| change.row.kind).collect();
    for kind in [
        "application",
        "certificate",
        "deployment",
        "helmrelease",
        "kustomization",
        "secret",
        "service",
    ] {
        assert!(kinds.contains(kind), "{kind} of {kinds:?}");
    }
}

#[test]
fn what_goes_out_of_sync_comes_back_at_the_same_commit() {
    let mut out: BTreeMap<String, String> = BTreeMap::new();
    for change in told(400) {
        if change.row.kind != "application" {
            continue;
        }
        match change.what.split_once(" at ").unwrap() {
            ("OutOfSync", commit) => {
                assert_eq!(out.insert(change.row.name, commit.to_owned()), None);
            }
            ("Synced", commit) => {
                assert_eq!(out.remove(&change.row.name).as_deref(), Some(commit));
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(out.len() < 4, "{out:?}");
}

#[test]
fn what_is_created_is_deleted_and_nothing_else_is() {
    let mut there = BTreeSet::new();
    let mut most = 0;
    for change in told(400) {
        match change.proof {
            Proof::Gone => assert!(there.remove(&change.row.name), "{change:?}"),
            _ if change.what == "created" => assert!(there.insert(change.row.name)),
            _ => {}
        }
        most = most.max(there.len());
    }
    assert!((1..10).contains(&most), "{most}");
}

#[test]
fn no_row_shows_a_change_before_it_was_made() {
    let mut last: BTreeMap<RowKey, Proof> = BTreeMap::new();
    for change in told(400) {
        let proof = change.proof.clone();
        assert_ne!(last.insert(change.row.clone(), proof), Some(change.proof), "{:?}", change.row);
    }
}

#[test]
fn a_helm_upgrade_leaves_the_old_revision_superseded() {
    let change = script().upgrade();
    let [Step::Create(new), Step::Merge { object, patch, .. }] = &change.steps[..] else {
        panic!("{change:?}");
    };
    let old = object.name.strip_suffix('1').unwrap();
    assert_eq!(new["metadata"]["name"], format!("{old}2"));
    assert_eq!(patch["metadata"]["labels"]["status"], "superseded");
    assert_eq!(change.aside, Some(RowKey::new("Secret", &object.namespace, &object.name)));
}

#[test]
fn versions_grow_as_versions_do() {
    assert_eq!(next_patch("3.2.9"), "3.2.10");
    assert_eq!(next_minor("3.2.9"), "3.3.0");
    assert_eq!(next_patch("7"), "7.1");
}
