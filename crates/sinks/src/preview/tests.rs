use serde_json::{Value, json};

use super::*;
use crate::deliver::state::Family;

fn of(family: Family, spec: Value) -> Result<Value, OpenError> {
    let sink = SinkKey { family, namespace: "team-a".to_owned(), name: "audit-git".to_owned() };
    let spec = match family {
        Family::Snapshot => SinkSpec::Snapshot(serde_json::from_value(spec).unwrap()),
        Family::Database => SinkSpec::Database(serde_json::from_value(spec).unwrap()),
        Family::Event => SinkSpec::Event(serde_json::from_value(spec).unwrap()),
    };
    preview(&sink, &spec).map(|preview| serde_json::to_value(preview).unwrap())
}

fn git(more: Value) -> Value {
    let mut spec = json!({"type": "git", "endpoint": "https://git.example/audit.git"});
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    of(Family::Snapshot, spec).unwrap()
}

/// The specification has `prune` false here, by a default that ours does not
/// have: a document that moves takes its old file along.
#[test]
fn a_plain_git_sink_writes_one_document() {
    let path = "inventory/team-a/api.yaml";
    assert_eq!(
        git(json!({})),
        json!({
            "inputSampleSource": "synthetic",
            "provisioningMode": "ensure",
            "serializationFormat": "yaml",
            "objectPath": path,
            "git": {
                "sampleCommitSubject": "chore(default/team-a/api): export 42 items @ a1b2c3d4e5f6",
            },
            "layout": {
                "mode": "document", "content": "item", "prune": true, "samplePaths": [path],
            },
        })
    );
    let keeps = git(json!({"git": {"prune": false}}));
    assert_eq!(keeps["layout"]["prune"], false);
}

#[test]
fn a_tree_shows_its_index_and_its_first_files() {
    let file = |name: &str| format!("default/team-a/deployment/{name}.yaml");
    let each = git(json!({"layout": {"mode": "perResource"}}));
    assert_eq!(each["layout"]["samplePaths"], json!([file("api"), file("web"), file("cache")]));
    assert_eq!(each["layout"]["prune"], true);
    let split = git(json!({"layout": {"mode": "split", "content": "manifest"}}));
    let index = "inventory/team-a/api.yaml";
    assert_eq!(split["layout"]["samplePaths"], json!([index, file("api"), file("web")]));
    assert_eq!(split["layout"]["content"], "manifest");
}

#[test]
fn a_commit_is_shown_as_it_would_be_written() {
    let preview = git(json!({
        "cluster": "eu-1",
        "serialization": {"format": "json"},
        "git": {
            "commitMessage": "{sink} {cluster} {generation}",
            "commitBody": "Source {path}",
            "commitTrailers": ["Kollect-Checksum: {checksumShort}", "At: {exportedAt}"],
        },
    }));
    assert_eq!(preview["serializationFormat"], "json");
    assert_eq!(preview["git"]["sampleCommitSubject"], "audit-git eu-1 1");
    assert_eq!(
        preview["git"]["sampleCommitBody"],
        "Source inventory/team-a/api.json\n\nKollect-Checksum: a1b2c3d4e5f6\n\nAt: 2026-01-01T00:00:00Z"
    );
}

#[test]
fn a_directory_has_files_and_no_commits() {
    let spec = json!({"type": "file", "file": {"path": "x"}, "layout": {"mode": "perResource"}});
    let preview = of(Family::Snapshot, spec).unwrap();
    assert_eq!(preview["git"], Value::Null);
    assert_eq!(preview["layout"]["mode"], "perResource");
}

#[test]
fn a_table_is_shown_by_the_statements_that_make_it() {
    let spec = json!({
        "type": "postgres", "provisioning": {"mode": "existing"},
        "postgres": {"databaseRef": {"name": "s"}, "schema": "audit", "table": "items"},
    });
    let preview = of(Family::Database, spec).unwrap();
    let ddl = preview["postgres"]["expectedDDL"].as_str().unwrap();
    assert!(ddl.starts_with("CREATE TABLE IF NOT EXISTS \"audit\".\"items\" ("), "{ddl}");
    assert!(ddl.contains("CREATE TABLE IF NOT EXISTS \"audit\".\"items_kollect\" ("), "{ddl}");
    assert_eq!(preview["provisioningMode"], "existing");
    assert_eq!(preview["serializationFormat"], "json");
    assert_eq!(preview["objectPath"], Value::Null);
}

#[test]
fn what_cannot_be_written_has_no_preview() {
    let foreign = of(Family::Snapshot, json!({"type": "s3", "endpoint": "s3://b"}));
    assert!(matches!(foreign, Err(OpenError::NotInThisBuild { backend: "s3" })), "{foreign:?}");
    let reserved = json!({
        "type": "file", "file": {"path": "x"}, "pathTemplate": ".git/{namespace}/{name}",
    });
    assert!(matches!(of(Family::Snapshot, reserved), Err(OpenError::Place(_))));
}
