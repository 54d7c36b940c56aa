use kollect_sinks::Family;
use kollect_validate::Kind;
use serde_json::{Value, json};

use super::*;

fn sink(name: &str) -> SinkKey {
    SinkKey { family: Family::Database, namespace: "a".to_owned(), name: name.to_owned() }
}

/// A plan with some sinks, for an object that says this of itself.
fn plan(kind: Kind, sinks: &[&str], status: Value) -> InventoryPlan {
    let object = json!({
        "metadata": {
            "name": "i", "namespace": "a", "generation": 2,
            "creationTimestamp": "1970-01-01T00:00:00Z",
        },
        "spec": {"namespaces": ["a"]},
        "status": status,
    });
    let missing = || Err(Trouble::new("SinkNotFound", "there is none"));
    let pair = |name: &&str| PairPlan {
        sink: sink(name),
        spec: missing(),
        interval: Duration::ZERO,
        limit: None,
    };
    let object = std::sync::Arc::new(Object::decode(kind, object).unwrap());
    InventoryPlan::bare(object, sinks.iter().map(pair).collect())
}

fn exported() -> PairState {
    PairState {
        phase: kollect_sinks::Phase::Exported,
        last_export: Some(at(50)),
        ..PairState::default()
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn said(status: &InventoryStatus, name: &str) -> String {
    let found = status.conditions.iter().find(|one| one.type_ == name);
    found.map_or_else(String::new, |one| format!("{} {}", one.status, one.reason))
}

#[test]
fn a_copy_that_is_missing_does_not_make_the_others_worse() {
    let plan = plan(Kind::Inventory, &["good", "missing"], json!({}));
    let missing = Err(Trouble::new("SinkNotFound", "there is none"));
    let pairs = BTreeMap::from([(sink("good"), Ok(exported())), (sink("missing"), missing)]);
    let status = status(&plan, &Facts { pairs, ..Facts::default() }, at(100));
    assert_eq!(said(&status, "Ready"), "True PartiallySynced");
    assert_eq!(said(&status, "Synced"), "False PartiallySynced");
    assert_eq!(said(&status, "SinkReachable"), "False SinkNotFound");
    assert_eq!(said(&status, "Degraded"), "");
    let names: Vec<_> = status.sink_exports.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["database/good", "database/missing"]);
}

#[test]
fn counts_stay_until_they_are_known() {
    let before = json!({"itemCount": 7, "observedGeneration": 2});
    let plan = plan(Kind::Inventory, &[], before);
    assert_eq!(status(&plan, &Facts::default(), at(100)).item_count, Some(7));
    let known = Facts { rows: Some(0), ..Facts::default() };
    assert_eq!(status(&plan, &known, at(100)).item_count, Some(0));
}

#[test]
fn a_cluster_inventory_without_targets_says_so_after_a_while() {
    let plan = plan(Kind::ClusterInventory, &["good"], json!({}));
    let facts = || Facts {
        rows: Some(0),
        pairs: BTreeMap::from([(sink("good"), Ok(exported()))]),
        ..Facts::default()
    };
    assert_eq!(said(&status(&plan, &facts(), at(100)), "Degraded"), "");
    let late = status(&plan, &facts(), at(301));
    assert_eq!(said(&late, "Degraded"), "True NoTargets");
    assert_eq!(said(&late, "Ready"), "False NoTargets");
    assert_eq!(said(&late, "Synced"), "True Exported");
}

#[test]
fn a_target_that_is_not_well_is_told_of_and_nothing_is_held_back() {
    // R4.
    let plan = plan(Kind::ClusterInventory, &["good"], json!({}));
    let target = |name: &str, is_well| TargetFacts {
        name: name.to_owned(),
        rows: Some(1),
        is_well: Some(is_well),
    };
    let facts = Facts {
        rows: Some(2),
        targets: vec![target("ill", false), target("well", true)],
        pairs: BTreeMap::from([(sink("good"), Ok(exported()))]),
        ..Facts::default()
    };
    let status = status(&plan, &facts, at(100));
    assert_eq!(said(&status, "Degraded"), "True TargetDegraded");
    assert_eq!(said(&status, "Synced"), "True Exported");
    assert_eq!(said(&status, "ExportSucceeded"), "True Exported");
}

#[test]
fn a_status_stays_small_however_many_targets_there_are() {
    let plan = plan(Kind::Inventory, &["good"], json!({}));
    let target = |n: usize| TargetFacts {
        name: format!("{}-{n}", "t".repeat(200)),
        rows: Some(n),
        is_well: Some(true),
    };
    let facts = Facts { targets: (0..1000).map(target).collect(), ..Facts::default() };
    let bytes = serde_json::to_vec(&status(&plan, &facts, at(100))).unwrap().len();
    assert!(bytes < 100_000, "{bytes}");
}
