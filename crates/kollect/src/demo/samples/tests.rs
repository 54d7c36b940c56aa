use std::collections::BTreeSet;

use super::*;

#[test]
fn every_sample_is_a_profile_and_a_target_of_the_inventory() {
    let objects = objects(&samples(), "eu-1", "/srv/x.git");
    let kinds: Vec<_> = objects.iter().filter_map(|one| one["kind"].as_str()).collect();
    let many = |kind| kinds.iter().filter(|one| **one == kind).count();
    assert_eq!((many("KollectProfile"), many("KollectTarget")), (8, 8));
    assert_eq!((many("KollectSnapshotSink"), many("KollectDatabaseSink")), (1, 1));
    assert_eq!(many("KollectInventory"), 1);
    for object in &objects {
        assert_eq!(object["metadata"]["namespace"], HOME);
        assert_eq!(object["metadata"]["labels"][MARK.0], MARK.1);
    }
}

#[test]
fn the_repository_is_where_it_was_said_to_be() {
    let objects = objects(&samples(), "eu-1", "/srv/x.git");
    let git = objects.iter().find(|one| one["spec"]["type"] == "git").unwrap();
    assert_eq!(git["spec"]["endpoint"], "file:///srv/x.git");
    assert_eq!(git["spec"]["cluster"], "eu-1");
}

#[test]
fn rows_are_told_apart_by_their_kind() {
    let kinds: BTreeSet<_> = samples().iter().map(|one| one.kind).collect();
    assert_eq!(kinds.len(), samples().len());
    let key = RowKey::new("Deployment", "shop", "web");
    assert_eq!(samples().iter().filter(|one| one.is_of(&key)).count(), 1);
}

#[test]
fn pulses_are_looked_for_at_home_alone() {
    let target = PULSES.target();
    assert_eq!(target["spec"]["includedNamespaces"], json!([HOME]));
    assert_eq!(target["spec"]["labelSelector"]["matchLabels"][MARK.0], MARK.1);
}
