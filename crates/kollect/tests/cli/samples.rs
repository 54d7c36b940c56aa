//! The sample catalogue passes.

use super::support::{kollect, repository, texts_below};

#[test]
fn all_of_them_pass_together() {
    let run =
        kollect(&["validate", "--strict", repository().join("deploy/samples").to_str().unwrap()]);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    assert!(run.stdout.contains(": 0 errors, "), "{}", run.stdout);
}

#[test]
fn the_ten_minute_start_stands_alone() {
    let path = repository().join("deploy/samples/first");
    let run = kollect(&["validate", "--strict", path.to_str().unwrap()]);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
}

#[test]
fn every_type_of_sink_has_one() {
    let texts = texts_below(&repository().join("deploy/samples"));
    let documents = texts.iter().flat_map(|text| text.split("\n---"));
    let sinks =
        documents.filter(|text| text.contains("\nkind: Kollect") && text.contains("Sink\n"));
    let types =
        sinks.flat_map(|text| text.lines().filter_map(|line| line.strip_prefix("  type: ")));
    let mut types: Vec<_> = types.collect();
    types.sort_unstable();
    types.dedup();
    let expected = [
        "bigquery", "file", "gcs", "git", "gitlab", "kafka", "mongodb", "nats", "postgres", "s3",
        "sqlite",
    ];
    assert_eq!(types, expected);
}
