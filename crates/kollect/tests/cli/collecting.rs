//! Objects become rows and copies.

use std::{fs, path::Path};

use kollect_testenv::git;
use serde_json::Value;

use super::support::{Run, TARGET, repository, run_in};

const CONFIG: &str = "deploy/samples/shop/config";
const CLUSTER: &str = "deploy/samples/shop/cluster";

/// Runs in a directory of its own, so that relative sinks go there.
#[track_caller]
fn collect(place: &Path, further: &[&str]) -> Run {
    let path = |name: &str| repository().join(name).display().to_string();
    let (config, cluster) = (path(CONFIG), path(CLUSTER));
    let mut arguments = vec!["collect", "--config", &config, "--from", &cluster];
    arguments.extend(further);
    run_in(place, &arguments, "")
}

#[test]
fn a_dump_becomes_rows_and_a_second_run_writes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let first = collect(place.path(), &[]);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let lines: Vec<_> = first.stderr.lines().collect();
    assert_eq!(lines[0], "90 objects read, 47 rows for 6 targets, 11 values hidden");
    assert_eq!(
        lines[1],
        "platform/shop -> platform/files: 44 rows there (44 files written, 0 removed)"
    );
    assert_eq!(
        lines[2],
        "platform/shop -> platform/rows: 44 rows there (44 rows written, 0 deleted)"
    );
    assert!(place.path().join("inventory/rows.db").exists());
    let file = place.path().join("inventory/files/harbour-eu-1/payments/deployment/checkout.yaml");
    assert!(fs::read_to_string(file).unwrap().contains("payments/checkout:5.6.0"));
    let second = collect(place.path(), &[]);
    assert_eq!(second.stderr.matches("nothing to write, the copy is current").count(), 4);
}

#[test]
fn an_object_that_is_gone_from_the_dump_goes_from_the_copies() {
    let place = tempfile::tempdir().unwrap();
    collect(place.path(), &[]);
    let cluster = place.path().join("cluster");
    fs::create_dir(&cluster).unwrap();
    for entry in fs::read_dir(repository().join(CLUSTER)).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "warehouse.yaml" {
            fs::copy(entry.path(), cluster.join(entry.file_name())).unwrap();
        }
    }
    let config = repository().join(CONFIG).display().to_string();
    let run = run_in(place.path(), &["collect", "--config", &config, "--from", "cluster"], "");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("(0 rows written, 9 deleted)"), "{}", run.stderr);
    let left = place.path().join("inventory/files/harbour-eu-1/warehouse");
    assert!(!left.exists());
}

#[test]
fn a_kind_that_is_not_in_the_dump_is_said_and_its_copies_stay() {
    let place = tempfile::tempdir().unwrap();
    collect(place.path(), &[]);
    let config = repository().join(CONFIG).display().to_string();
    let nodes = repository().join(CLUSTER).join("nodes.yaml").display().to_string();
    let run = run_in(place.path(), &["collect", "--config", &config, "--from", &nodes], "");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("skipped: target platform/cronjobs: there is no batch/v1 CronJob"));
    assert!(
        !run.stderr.contains("0 deleted)") || !run.stderr.contains("44 deleted"),
        "{}",
        run.stderr
    );
    assert!(
        place
            .path()
            .join("inventory/files/harbour-eu-1/payments/deployment/checkout.yaml")
            .exists()
    );
}

#[test]
fn rows_can_be_printed_and_hold_no_secret() {
    let place = tempfile::tempdir().unwrap();
    for format in ["json", "ndjson", "yaml", "table"] {
        let run = collect(place.path(), &["-o", format]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(run.stdout.contains("registry.example/payments/checkout:5.6.0"), "{format}");
        assert!(!run.stdout.contains("not-a-real"), "{format} shows a secret");
    }
    assert!(!place.path().join("inventory").exists());
    let run = collect(place.path(), &["--output", "-", "--format", "ndjson"]);
    let first: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(first["targetName"], "shop");
    assert_eq!(first["envelope"]["itemCount"], 44);
}

#[test]
fn a_directory_takes_the_place_of_the_sinks() {
    let place = tempfile::tempdir().unwrap();
    let run = collect(place.path(), &["--output", "out", "--format", "json"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let document = fs::read(place.path().join("out/inventory/platform/shop.json")).unwrap();
    let document: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(document["itemCount"], 44);
    assert!(!place.path().join("inventory").exists());
    let dry = collect(place.path(), &["--output", "dry", "--dry-run"]);
    assert!(dry.stderr.contains("nothing was written: this was a dry run"));
    assert!(!place.path().join("dry").exists());
}

#[test]
fn a_suspended_inventory_is_not_copied_in_another_way() {
    let place = tempfile::tempdir().unwrap();
    let config = place.path().join("config");
    fs::create_dir(&config).unwrap();
    for entry in fs::read_dir(repository().join(CONFIG)).unwrap() {
        let entry = entry.unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        let documents = text.split("\n---\n").map(|document| {
            let is_inventory = document.contains("Inventory\n");
            if is_inventory {
                document.replace("\nspec:", "\nspec:\n  suspend: true")
            } else {
                document.to_owned()
            }
        });
        let text = documents.collect::<Vec<_>>().join("\n---\n");
        fs::write(config.join(entry.file_name()), text).unwrap();
    }
    let cluster = repository().join(CLUSTER).display().to_string();
    let run = run_in(place.path(), &["collect", "--config", "config", "--from", &cluster], "");
    assert!(!place.path().join("inventory").exists(), "{}", run.stderr);
    assert!(run.stderr.contains("is in no inventory and was left out"), "{}", run.stderr);
}

#[test]
fn a_repository_gets_a_commit_for_each_inventory_and_then_none() {
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["init", "--quiet", "--bare", "copy.git"]).unwrap();
    let config = place.path().join("config");
    fs::create_dir(&config).unwrap();
    for entry in fs::read_dir(repository().join(CONFIG)).unwrap() {
        let entry = entry.unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        let kept = text
            .split("\n---\n")
            .filter(|document| !document.contains("Inventory\n") && !document.contains("Sink\n"));
        let text = kept.collect::<Vec<_>>().join("\n---\n");
        fs::write(config.join(entry.file_name()), text).unwrap();
    }
    let sink = format!(
        "apiVersion: kollect.dev/v1alpha1\nkind: KollectSnapshotSink\n\
         metadata: {{name: audit, namespace: shop}}\n\
         spec: {{type: git, cluster: eu-1, endpoint: 'file://{}/copy.git'}}\n",
        place.path().display()
    );
    fs::write(config.join("git.yaml"), sink).unwrap();
    let cluster = repository().join(CLUSTER).display().to_string();
    let mut commits = Vec::new();
    for _ in 0..2 {
        let run = run_in(place.path(), &["collect", "--config", "config", "--from", &cluster], "");
        assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
        let count = git(&place.path().join("copy.git"), &["rev-list", "--count", "main"]);
        commits.push(count.unwrap().parse::<u32>().unwrap());
    }
    assert!(commits[0] > 0 && commits[0] == commits[1], "{commits:?}");
}

#[test]
fn a_configuration_that_is_wrong_collects_nothing() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("bad.yaml"), TARGET.replace("images", "team/images")).unwrap();
    let cluster = repository().join(CLUSTER).display().to_string();
    let run = run_in(place.path(), &["collect", "--config", "bad.yaml", "--from", &cluster], "");
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.contains("error["), "{}", run.stderr);
    fs::write(place.path().join("lost.yaml"), TARGET).unwrap();
    let run = run_in(place.path(), &["collect", "--config", "lost.yaml", "--from", &cluster], "");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("there is no KollectProfile"), "{}", run.stderr);
}
