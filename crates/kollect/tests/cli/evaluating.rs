//! Expressions and profiles tried on objects.

use std::fs;

use serde_json::Value;

use super::support::with_input;

const POD: &str = "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, \
                       spec: {containers: [{image: a}, {image: b}], replicas: 2}}";

#[test]
fn a_path_shows_its_value_its_type_and_what_it_reads() {
    let run = with_input(&["eval", "$.spec.containers[*].image"], POD);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let expected = "Pod shop/web: [\"a\",\"b\"] (a list)\nreads $.spec.containers[*].image\n";
    assert_eq!(run.stdout, expected);
}

#[test]
fn every_object_is_tried_and_an_error_points_at_its_place() {
    let run = with_input(
        &["eval", "$.spec.containers[1].image"],
        &format!("{POD}\n---\n{}", POD.replace(", {image: b}", "")),
    );
    assert_eq!(run.code, Some(1));
    let expected = "Pod shop/web: \"b\" (a text)\n\
                        Pod shop/web: error: there is no element 1 in a list of 1\n  \
                        $.spec.containers[1].image\n                   ^\n\
                        reads $.spec.containers[*].image\n";
    assert_eq!(run.stdout, expected);
}

#[test]
fn a_path_that_does_not_compile_is_shown_with_a_caret() {
    let run = with_input(&["eval", "$.spec[x]"], POD);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("\n$.spec[x]\n       ^ an index"), "{}", run.stderr);
    let run = with_input(&["eval", "cel:object.spec + 'a' * 2"], POD);
    assert_eq!(run.code, Some(2));
    let expected = "\nobject.spec + 'a' * 2\n                  ^ * does not take string, int";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
}

#[test]
fn an_expression_has_a_value_a_cost_and_paths() {
    let run = with_input(&["eval", "cel:object.spec.containers.map(c, c.image)"], POD);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let expected = "Pod shop/web: [\"a\",\"b\"] (a list, 368 steps)\n\
                        reads $.spec.containers[*].image\n";
    assert_eq!(run.stdout, expected);
    let run = with_input(&["eval", "cel:object.spec.nothing"], POD);
    assert_eq!(run.code, Some(1));
    let expected = "Pod shop/web: error: there is no key nothing\n  \
                        object.spec.nothing\n             ^\nreads $.spec.nothing\n";
    assert_eq!(run.stdout, expected);
}

#[test]
fn a_profile_makes_the_rows_of_its_kind() {
    let directory = tempfile::tempdir().unwrap();
    let profile = directory.path().join("profile.yaml");
    let text = "apiVersion: kollect.dev/v1alpha1
kind: KollectProfile
metadata: {name: pods, namespace: shop}
spec:
  targetGVK: {version: v1, kind: Pod}
  attributes:
  - {name: images, path: '$.spec.containers[*].image'}
  - {name: password, path: '$.spec.replicas'}
";
    fs::write(&profile, text).unwrap();
    let objects = format!("{POD}\n---\n{{apiVersion: v1, kind: Service, metadata: {{name: x}}}}\n");
    let profile = profile.to_str().unwrap();
    let run = with_input(&["eval", "--profile", profile], &objects);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let expected = r#"{"targetNamespace":"shop","targetName":"pods","namespace":"shop","name":"web","version":"v1","kind":"Pod","uid":"","attributes":{"images":["a","b"],"password":{"reason":"sensitive-key","redacted":true}}}
  hidden: password (sensitive-key)
"#;
    assert_eq!(run.stdout, expected);
    assert_eq!(run.stderr, "passed over, because they are no v1 Pod: 1\n");
    fs::write(profile, text.replace("$.spec.replicas", "cel:object.x")).unwrap();
    let run = with_input(&["eval", "--profile", profile], POD);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("attribute password: there is no key x"), "{}", run.stderr);
}

#[test]
fn programs_get_results_and_paths() {
    let run = with_input(&["eval", "-o", "json", "$.spec.replicas"], POD);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let expected = serde_json::json!({
        "reads": ["$.spec.replicas"],
        "results": [{"object": "Pod shop/web", "value": 2, "type": "a number"}],
    });
    assert_eq!(found, expected);
}
