use super::*;
use serde_json::{Value, json};

fn values(text: &str) -> Vec<Result<Option<Value>, SyntaxError>> {
    documents(text).into_iter().map(|one| one.map(|node| node.map(|node| node.value()))).collect()
}

#[track_caller]
fn check(text: &str, expected: Value) {
    assert_eq!(values(text), [Ok(Some(expected))], "{text}");
}

#[track_caller]
fn fails(text: &str, line: usize, reason: &str) {
    match &values(text)[..] {
        [Err(error)] => {
            assert_eq!(error.at.line, line, "{error:?}");
            assert!(error.reason.contains(reason), "{error:?}");
        }
        other => panic!("{text:?} gave {other:?}"),
    }
}

#[test]
fn plain_texts_mean_what_they_mean_to_kubectl() {
    check(
        "[yes, off, 0644, 0x1f, 1_000, -5, 1.5, 1e3, ~, '5', \"yes\", 2026-01-01, 30s, 1.2.3]",
        json!([
            true,
            false,
            420,
            31,
            1000,
            -5,
            1.5,
            1000.0,
            null,
            "5",
            "yes",
            "2026-01-01",
            "30s",
            "1.2.3"
        ]),
    );
}

#[test]
fn json_is_read_as_well() {
    check(
        "{\n\t\"a\": [1, {\"b\": null}],\n\t\"c\": \"x\\u00e9\"\n}\n",
        json!({"a": [1, {"b": null}], "c": "xé"}),
    );
}

#[test]
fn several_documents_stand_for_themselves() {
    assert_eq!(
        values("a: 1\n---\n# nothing here\n---\nb: 2\n"),
        [Ok(Some(json!({"a": 1}))), Ok(None), Ok(Some(json!({"b": 2})))]
    );
    assert_eq!(values(""), []);
    assert_eq!(values("# only a remark\n"), []);
}

#[test]
fn a_broken_document_does_not_hide_the_next() {
    let found = values("a: [1\n---\nb: 2\n");
    assert!(found[0].is_err());
    assert_eq!(found[1], Ok(Some(json!({"b": 2}))));
}

#[test]
fn anchors_and_merge_keys_are_resolved() {
    check(
        "base: &b {x: 1, y: 2}\nuse: {<<: *b, y: 3}\n",
        json!({"base": {"x": 1, "y": 2}, "use": {"x": 1, "y": 3}}),
    );
}

#[test]
fn a_bomb_of_aliases_does_not_go_off() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let below = level - 1;
        let ten = vec![format!("*a{below}"); 10].join(", ");
        bomb = format!("{bomb}a{level}: &a{level} [{ten}]\n");
    }
    fails(&bomb, 5, "unfold to more than 50000 values");
}

#[test]
fn a_well_without_ground_is_refused() {
    fails(&"[".repeat(100_000), 1, "recursion limit exceeded");
    fails(&"- ".repeat(100_000), 1, "deeper than 200 levels");
}

#[test]
fn what_cannot_be_meant_is_refused_with_its_place() {
    fails("a: 1\nb: 2\na: 3\n", 3, "the key a stands twice, first in line 1");
    fails("? [x]\n: 1\n", 1, "a key must be a text");
    fails("a: .nan\n", 1, "no counterpart in JSON");
    fails("spec:\n\ttype: git\n", 2, "tab");
}
