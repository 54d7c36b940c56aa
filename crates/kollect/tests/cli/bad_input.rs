//! What cannot be read is said, and nothing else stops.

use std::fs;

use super::support::{Run, TARGET, kollect, validate, with_input};

#[track_caller]
fn unreadable(run: &Run, reason: &str) {
    assert_eq!(run.code, Some(2), "{}", run.stdout);
    assert!(run.stdout.contains(reason), "{}", run.stdout);
}

#[test]
fn an_empty_file_holds_no_object() {
    unreadable(&validate("empty.yaml", ""), "error: empty.yaml: holds no object");
    unreadable(&with_input(&["validate", "-"], ""), "error: -: holds no object");
}

#[test]
fn a_tab_is_pointed_at() {
    let run = validate("tabs.yaml", TARGET.replace("  profileRef", "\tprofileRef"));
    unreadable(&run, "--> tabs.yaml:5:");
    assert!(run.stdout.contains("tab"), "{}", run.stdout);
}

#[test]
fn a_binary_file_is_called_one() {
    let run = validate("logo.yaml", [0x89, b'P', b'N', b'G', 0, 0]);
    unreadable(&run, "error: logo.yaml: is not text: there is a NUL at byte 4");
    let run = validate("latin1.yaml", [b'a', b':', b' ', 0xe9]);
    unreadable(&run, "is not text in UTF-8: byte 3 cannot be read");
}

#[test]
fn a_directory_without_manifests_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let run = kollect(&["validate", directory.path().to_str().unwrap()]);
    unreadable(&run, "holds no .yaml, .yml or .json file");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let run = kollect(&["validate", "not/there.yaml"]);
    unreadable(&run, "error: not/there.yaml: No such file or directory");
}

#[test]
fn a_wrong_version_or_kind_is_told_apart_from_a_foreign_one() {
    let run = validate("v1.yaml", TARGET.replace("v1alpha1", "v1"));
    assert_eq!(run.code, Some(1));
    let expected = "error[OBJ-01]: apiVersion: Unsupported value: \"kollect.dev/v1\": must be \
                    kollect.dev/v1alpha1";
    assert!(run.stdout.contains(expected), "{}", run.stdout);
    let run = validate("kind.yaml", TARGET.replace("KollectTarget", "KollectTargt"));
    assert!(run.stdout.contains("did you mean KollectTarget?"), "{}", run.stdout);
    let run = validate("removed.yaml", TARGET.replace("KollectTarget", "KollectSink"));
    assert!(run.stdout.contains("use KollectSnapshotSink"), "{}", run.stdout);
}

#[test]
fn ten_megabytes_are_read_and_every_document_judged() {
    let mut text = String::new();
    let padding = "x".repeat(900);
    for at in 0..10_000 {
        let name = format!("name: web-{at}, annotations: {{padding: {padding}}}");
        text.push_str(&TARGET.replace("name: web", &name));
        text.push_str("---\n");
    }
    assert!(text.len() > 10_000_000);
    let run = validate("large.yaml", text);
    assert_eq!(run.code, Some(0));
    let expected = "10000 objects checked: 0 errors, 10000 warnings\n";
    assert!(run.stdout.ends_with(expected));
}

#[test]
fn a_bomb_of_anchors_does_not_go_off() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..20 {
        let below = vec![format!("*a{}", level - 1); 9].join(", ");
        bomb = format!("{bomb}a{level}: &a{level} [{below}]\n");
    }
    unreadable(&validate("bomb.yaml", bomb), "aliases unfold to more than 50000 values");
}

#[test]
fn one_broken_file_does_not_hide_the_others() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a.yaml"), "a: [").unwrap();
    fs::write(directory.path().join("b.yaml"), TARGET.replace("images", "a/b")).unwrap();
    let run = kollect(&["validate", directory.path().to_str().unwrap()]);
    unreadable(&run, "error[TGT-01]");
    assert!(run.stdout.contains("a.yaml:"), "{}", run.stdout);
}
