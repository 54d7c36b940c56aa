//! Paths and what they lead to.

use kollect_expr::{Budget, EvalError, Program, Projection, Reason, json_path, read};
use proptest::prelude::*;
use serde_json::{Value, json};

use support::{check, evaluate, fails};

/// The object of the reference's table, with a few more corners.
fn object() -> Value {
    json!({"a": {
        "b": 1, "f": 1.5, "txt": "s", "nul": null, "big": 12_345_678_901_234_567_890_u64,
        "list": [{"k": "x", "n": 1}, {"n": 2}],
        "one": ["z"], "none": [], "nest": [[1, 2], [], [3]],
        "m": {"y": {"q": 2}, "x": {"q": 1}},
        "app.kubernetes.io/name": "web",
    }})
}

#[cfg(test)]
mod support {
    use super::*;

    /// Evaluates on what the program can touch, and on everything; both agree.
    pub(super) fn evaluate(program: &Program, object: &Value) -> Result<Value, EvalError> {
        let bytes = serde_json::to_vec(object).unwrap();
        let mut projection = Projection::default();
        projection.add(program);
        let on = |projection: &Projection| {
            let json = read(&bytes, projection).unwrap();
            program.value(&json, &mut Budget::DEFAULT.clone()).map(|value| value.to_value())
        };
        let outcome = on(&projection);
        assert_eq!(outcome, on(&Projection::everything()), "{}", program.source());
        outcome
    }

    #[track_caller]
    pub(super) fn check(path: &str, expected: Value) {
        let program = json_path::compile(path).unwrap();
        assert_eq!(evaluate(&program, &object()), Ok(expected), "{path}");
    }

    #[track_caller]
    pub(super) fn fails(path: &str, expected: Reason) {
        let program = json_path::compile(path).unwrap();
        let reason = evaluate(&program, &object()).map_err(|error| error.reason);
        assert_eq!(reason, Err(expected), "{path}");
    }
}

#[test]
fn fields_lead_to_values_or_to_nothing() {
    check("$.a.b", json!(1));
    check("{.a.b}", json!(1));
    check("{ .a.b }", json!(1));
    check("{$.a.b}", json!(1));
    check("{@.a.b}", json!(1));
    check("$['a']['b']", json!(1));
    check("{.a[\"b\"]}", json!(1));
    check("$.a.zz", json!(null));
    check("$.a.txt.q", json!(null));
    check("$.a.nul", json!(null));
    check("$.a.nul.x", json!(null));
    check("$.a.list.n", json!(null));
    check("$.a.f", json!(1.5));
    check("$.a.big", json!(12_345_678_901_234_567_890_u64));
    check(r"$.a.app\.kubernetes\.io/name", json!("web"));
    check(r"$.a['app\.kubernetes\.io/name']", json!("web"));
    check("$.a['app.kubernetes.io/name']", json!("web"));
    check("$", object());
}

#[test]
fn one_match_stands_for_itself_and_several_are_a_list() {
    check("$.a.list[*].n", json!([1, 2]));
    check("$.a.list[*].k", json!("x"));
    check("$.a.one[*]", json!("z"));
    check("$.a.none[*]", json!(null));
    check("$.a.list", json!([{"k": "x", "n": 1}, {"n": 2}]));
}

#[test]
fn lists_are_indexed_from_both_ends() {
    check("$.a.list[0].n", json!(1));
    check("$.a.list[-1].n", json!(2));
    check("$.a.nul[0]", json!(null));
    fails("$.a.list[5].n", Reason::OutOfBounds { index: 5, length: 2 });
    fails("$.a.list[-3].n", Reason::OutOfBounds { index: -3, length: 2 });
    fails("$.a.none[0]", Reason::OutOfBounds { index: 0, length: 0 });
    fails("$.a.b[0]", Reason::NotAList("a number"));
    fails("$.a.m[*].q", Reason::NotAList("a map"));
}

#[test]
fn slices_and_unions_take_several() {
    check("$.a.list[0:1].n", json!(1));
    check("$.a.list[-2:-1].n", json!(1));
    check("$.a.list[::2].n", json!(1));
    check("$.a.list[1:1].n", json!(null));
    check("$.a.list[0,1].n", json!([1, 2]));
    check("$.a['b','txt']", json!([1, "s"]));
    fails("$.a.list[0:5].n", Reason::OutOfBounds { index: 4, length: 2 });
    fails("$.a.list[1:0].n", Reason::BackwardSlice);
}

#[test]
fn wildcards_follow_the_order_of_the_keys_and_visit_every_sibling() {
    check("$.a.m.*.q", json!([1, 2]));
    check("$.a.nest[*][*]", json!([1, 2, 3]));
    check("$..q", json!([1, 2]));
    check("$..n", json!([1, 2]));
    check("$.a.m..q", json!([1, 2]));
}

#[test]
fn filters_compare_what_is_there() {
    check("$.a.list[?(@.n==2)].n", json!(2));
    check("$.a.list[?(@.n!=1)].n", json!(2));
    check("$.a.list[?(@.n>1)].n", json!(2));
    check("$.a.list[?(@.n>=1)].n", json!([1, 2]));
    check("$.a.list[?(@.k==\"x\")].n", json!(1));
    check("$.a.list[?(@.k=='x')].n", json!(1));
    check("$.a.list[?(@.k)].n", json!(1));
    check("$.a.list[?( @.n == 1 )]", json!({"k": "x", "n": 1}));
    check("$.a.one[?(@==\"z\")]", json!("z"));
    check("$.a.list[?($.n==1)].k", json!("x"));
    fails("$.a.nul[?(@.n==1)]", Reason::NotAList("null"));
    fails("$.a.list[?(@.n==\"x\")].n", Reason::Incomparable("a number", "a text"));
}

#[test]
fn an_expression_that_costs_too_much_stops() {
    let program = json_path::compile("$..*").unwrap();
    let bytes = serde_json::to_vec(&object()).unwrap();
    let json = read(&bytes, &Projection::everything()).unwrap();
    let outcome = program.value(&json, &mut Budget::new(5));
    assert_eq!(outcome.map_err(|error| error.reason), Err(Reason::TooCostly));
}

#[test]
fn copies_cost_what_they_hold() {
    // Each step leads ninety times to the same value.
    let step = format!("[{}]", ["'a'"; 90].join(","));
    let program = json_path::compile(&format!("${step}{step}{step}")).unwrap();
    let bytes = serde_json::to_vec(&json!({"a": {"a": {"a": "x".repeat(1_000)}}})).unwrap();
    let json = read(&bytes, &Projection::everything()).unwrap();
    assert_eq!(program.evaluate(&json, &mut Budget::DEFAULT.clone()).unwrap().len(), 90 * 90 * 90);
    let outcome = program.value(&json, &mut Budget::DEFAULT.clone());
    assert_eq!(outcome.map_err(|error| error.reason), Err(Reason::TooCostly));
}

#[test]
fn a_path_that_branches_at_every_step_asks_for_everything_far_down() {
    for step in [".*", "['a','b']"] {
        let program = json_path::compile(&format!("$.c{}", step.repeat(300))).unwrap();
        let mut projection = Projection::default();
        projection.add(&program);
        assert!(projection.paths().len() < 10_000);
        assert!(!projection.reaches(&["d"]));
        let object = json!({"c": {"a": {"a": {"b": [1]}}}, "d": 1});
        assert_eq!(evaluate(&program, &object), Ok(Value::Null));
    }
}

#[test]
fn long_texts_cost_more_to_compare() {
    let program = json_path::compile("$[?(@.t==@.t)]").unwrap();
    let spent = |length: usize| {
        let bytes = serde_json::to_vec(&json!([{"t": "x".repeat(length)}])).unwrap();
        let json = read(&bytes, &Projection::everything()).unwrap();
        program.evaluate(&json, &mut Budget::new(100)).map(|found| found.len())
    };
    assert_eq!(spent(10), Ok(1));
    assert_eq!(spent(10_000).map_err(|error| error.reason), Err(Reason::TooCostly));
}

#[test]
fn what_is_no_path_is_pointed_at() {
    for (path, expected) in [
        ("a.b", "a.b\n^ a path begins with $ or stands in braces, such as $.spec or {.spec}"),
        ("", "\n^ a path begins with $ or stands in braces, such as $.spec or {.spec}"),
        ("{.a", "{.a\n   ^ the closing brace is missing here"),
        ("{}", "{}\n ^ a field is missing, such as .spec"),
        ("{.a}{.b}", "{.a}{.b}\n    ^ nothing may stand after the path"),
        ("$.a.", "$.a.\n    ^ a field name is missing here"),
        (
            "$.a[x]",
            "$.a[x]\n    ^ an index, a slice, a name in quotes, * or a filter is missing here",
        ),
        ("$.a['x]", "$.a['x]\n    ^ the closing quote is missing"),
        ("$.ä[1", "$.ä[1\n     ^ a comma or the closing bracket is missing here"),
        ("$.a[0:2:0]", "$.a[0:2:0]\n       ^ the step of a slice must be 1 or more"),
        (
            "$.a[?(@.b=1)]",
            "$.a[?(@.b=1)]\n         ^ a comparison or the closing parenthesis is missing here",
        ),
        (
            "$.a[99999999999999999999]",
            "$.a[99999999999999999999]\n    ^ 99999999999999999999 is no index",
        ),
        (
            "{range .a[*]}",
            "{range .a[*]}\n ^ range and end are for printing; [*] takes every element",
        ),
    ] {
        let error = json_path::compile(path).unwrap_err();
        assert_eq!(error.point_at(path), expected);
    }
}

#[test]
fn a_program_knows_what_it_reads() {
    for (path, expected) in [
        ("$.spec.containers[*].image", vec!["$.spec.containers[*].image"]),
        ("$.a['b','c.d'].e", vec!["$.a.b.e", "$.a['c.d'].e"]),
        ("$.list[?(@.k=='x')].n", vec!["$.list[*].k", "$.list[*].n"]),
        ("$.list[?(@.k==@.want)].n", vec!["$.list[*].k", "$.list[*].n", "$.list[*].want"]),
        ("$.a.*.q", vec!["$.a.*.q", "$.a[*].q"]),
        ("$.a..q", vec!["$.a"]),
        ("$", vec!["$"]),
    ] {
        let mut projection = Projection::default();
        projection.add(&json_path::compile(path).unwrap());
        assert_eq!(projection.paths(), expected, "{path}");
    }
}

#[test]
fn only_what_is_asked_for_is_kept() {
    let mut projection = Projection::default();
    projection.add(&json_path::compile("$.spec.containers[*].image").unwrap());
    projection.add_fields(&["metadata", "labels"]);
    let bytes = br#"{"kind":"Pod","metadata":{"name":"x","labels":{"a":"b"}},"spec":{"node":"n","containers":[{"image":"i","env":[1,2]}]}}"#;
    let json = read(bytes, &projection).unwrap();
    let expected =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"image": "i"}]}});
    assert_eq!(json.to_value(), expected);
    assert!(read(b"{\"kind\":", &projection).is_err());
    assert!(read(b"{} x", &projection).is_err());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..4).prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_path() -> impl Strategy<Value = String> {
    let step = prop_oneof![
        4 => "\\.[a-c]",
        2 => Just("[*]".to_owned()),
        1 => "\\['[a-c]'\\]",
        1 => "\\[-?[0-2]\\]",
        1 => "\\[[0-1]:[0-2]\\]",
        1 => "\\['[a-c]','[a-c]'\\]",
        1 => "\\.\\*",
        1 => "\\.\\.[a-c]",
        1 => "\\[\\?\\(@\\.[a-c](==|!=|<)('[a-c]'|1|true)\\)\\]",
        1 => "\\[\\?\\(@\\.[a-c]\\)\\]",
        1 => "\\[\\?\\(@\\.[a-c]==\\$\\.[a-c]\\)\\]",
    ];
    prop::collection::vec(step, 0..6).prop_map(|steps| format!("${}", steps.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn on_the_projection_is_as_on_the_whole(object in any_json(), path in any_path()) {
        let program = json_path::compile(&path).map_err(|error| TestCaseError::fail(error.point_at(&path)))?;
        // The comparison is inside.
        drop(evaluate(&program, &object));
    }

    #[test]
    fn no_text_makes_the_compiler_panic(text in "\\PC{0,40}|[\\$\\{\\}\\[\\]().@?*'\":,=<>!a0-]{0,40}") {
        if let Err(error) = json_path::compile(&text) {
            prop_assert!(error.at <= text.len());
            prop_assert!(!error.point_at(&text).is_empty());
        }
    }
}
