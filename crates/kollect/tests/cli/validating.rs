//! Mistakes are shown with their rule and place.

use std::fs;

use serde_json::Value;

use super::support::{TARGET, kollect, validate, with_input};

#[test]
fn a_mistake_is_shown_with_its_rule_and_place() {
    let bad = TARGET.replace("images", "team/images");
    let run = validate("target.yaml", format!("a: 1\n---\n{bad}"));
    assert_eq!(run.code, Some(1));
    assert_eq!(
        run.stdout,
        "error[TGT-01]: spec.profileRef: Invalid value: \"team/images\": must be a name in the \
             same namespace, without a slash\n  \
             --> target.yaml:7:3 (document 2, KollectTarget shop/web)\n\n\
             1 object checked: 1 error, 0 warnings (1 object of other kinds passed over)\n"
    );
}

#[test]
fn an_unknown_field_is_an_error_with_the_name_that_was_meant() {
    let run = validate("target.yaml", TARGET.replace("profileRef", "profileref"));
    assert_eq!(run.code, Some(1));
    assert!(
        run.stdout.contains(
            "error[STR-01]: spec.profileref: Forbidden: unknown field; did you mean profileRef?"
        ),
        "{}",
        run.stdout
    );
}

#[test]
fn a_reference_that_leads_nowhere_is_a_warning_and_with_strict_an_error() {
    let lax = with_input(&["validate", "-"], TARGET);
    assert_eq!(lax.code, Some(0), "{}", lax.stdout);
    assert!(lax.stdout.contains("warning[SET-01]"), "{}", lax.stdout);
    let strict = with_input(&["validate", "--strict", "-"], TARGET);
    assert_eq!(strict.code, Some(1));
    assert!(strict.stdout.contains("error[SET-01]"), "{}", strict.stdout);
}

#[test]
fn rules_look_at_the_whole_set() {
    let scope = "apiVersion: kollect.dev/v1alpha1
kind: KollectScope
metadata: {name: ceiling, namespace: shop}
spec: {allowedGVKs: [{version: v1, kind: Pod}]}
---
apiVersion: kollect.dev/v1alpha1
kind: KollectProfile
metadata: {name: images, namespace: shop}
spec:
  targetGVK: {group: apps, version: v1, kind: Deployment}
  attributes: [{name: image, path: '$.spec'}]
";
    let run = with_input(&["validate", "-"], &format!("{TARGET}---\n{scope}"));
    assert_eq!(run.code, Some(1));
    let expected = "error[TGT-06]: spec.profileRef: Forbidden: apps/v1 Deployment is not in \
                        allowedGVKs of KollectScope ceiling";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
}

#[test]
fn expressions_are_compiled() {
    let profile = "apiVersion: kollect.dev/v1alpha1
kind: KollectProfile
metadata: {name: images}
spec:
  targetGVK: {version: v1, kind: Pod}
  attributes:
  - {name: a, path: '$.spec'}
  - {name: b, path: 'cel:object.spec.size('}
  - {name: c, path: 'helm:release.chartVersion'}
";
    let run = with_input(&["validate", "-"], profile);
    let expected = "error[PRO-05]: spec.attributes[1].path: Invalid value: \
                        \"cel:object.spec.size(\": expected a value, not the end (character 22)";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
    let run = with_input(&["validate", "-"], &profile.replace(".size(", ""));
    assert_eq!(run.stdout, "1 object checked: 0 errors, 0 warnings\n");
}

#[test]
fn two_objects_of_one_name_are_an_error() {
    let run = validate("twice.yaml", format!("{TARGET}---\n{TARGET}"));
    assert_eq!(run.code, Some(1));
    let expected = "error[SET-02]: metadata.name: Duplicate value: \"web\": the object stands \
                        in twice.yaml, document 1, already";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
}

#[test]
fn programs_get_everything_in_one_object() {
    let run = with_input(&["validate", "-o", "json", "-"], TARGET);
    let verdict: Value = serde_json::from_str(&run.stdout).unwrap();
    let expected = serde_json::json!({
        "checked": 1,
        "passedOver": 0,
        "findings": [{
            "severity": "warning",
            "rule": "SET-01",
            "file": "-",
            "document": 1,
            "line": 5,
            "column": 3,
            "kind": "KollectTarget",
            "namespace": "shop",
            "name": "web",
            "field": "spec.profileRef",
            "message": "spec.profileRef: there is no KollectProfile shop/images among what was given"
        }],
        "failures": []
    });
    assert_eq!(verdict, expected);
}

#[test]
fn what_kubectl_prints_can_be_read_back() {
    let list = format!(
        "apiVersion: v1\nkind: List\nitems:\n- {}",
        TARGET.trim_end().replace('\n', "\n  ")
    );
    let run = with_input(&["validate", "-"], &list);
    assert!(run.stdout.contains("1 object checked: 0 errors"), "{}", run.stdout);
}

#[test]
fn directories_are_searched_and_other_kinds_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir_all(at("a/b")).unwrap();
    fs::create_dir_all(at(".hidden")).unwrap();
    fs::write(at("a/b/target.yml"), TARGET).unwrap();
    fs::write(at("a/config.json"), r#"{"apiVersion": "v1", "kind": "ConfigMap"}"#).unwrap();
    fs::write(at("a/notes.txt"), "not a manifest").unwrap();
    fs::write(at("a/empty.yaml"), "# nothing\n").unwrap();
    fs::write(at(".hidden/broken.yaml"), "[").unwrap();
    let run = kollect(&["validate", directory.path().to_str().unwrap()]);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    let expected = "1 object checked: 0 errors, 1 warning (1 object of other kinds passed over)\n";
    assert!(run.stdout.ends_with(expected), "{}", run.stdout);
}
