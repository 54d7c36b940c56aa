//! Attributes, rules and trimming by CEL.

use kollect_extract::{Skip, Verdict};
use serde_json::{Value, json};

use crate::support::{failure, plan, plan_for, row, target};

/// The object of the reference's table.
fn table() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Thing", "metadata": {"name": "t", "namespace": "shop"},
        "a": {"b": 1, "list": [{"k": "x", "n": 1}, {"n": 2}], "one": ["z"], "none": [], "txt": "s"},
    })
}

fn reading(path: &str, optional: bool) -> Value {
    json!({
        "targetGVK": {"version": "v1", "kind": "Thing"},
        "attributes": [{"name": "x", "path": path, "optional": optional}],
    })
}

#[track_caller]
fn reads(path: &str, expected: &str) {
    let found = row(&plan(reading(path, false)), &table());
    assert!(found.ends_with(&format!(r#""attributes":{{"x":{expected}}}}}"#)), "{path}: {found}");
}

#[test]
fn values_are_those_of_the_table() {
    reads("cel:has(object.a.zz)", "false");
    reads("cel:object.a.list.map(e, e.n)", "[1,2]");
    reads("cel:object.a.list.filter(e, has(e.k)).size()", "1");
    reads(" cel: object.a.b ", "1");
    let missing = plan(reading("cel:object.a.zz", false));
    assert_eq!(failure(&missing, &table()), "attribute x: there is no key zz");
}

#[test]
fn nested_values_keep_their_content() {
    reads("cel:[null, {'m': object.a.list[0]}]", r#"[null,{"m":{"k":"x","n":1}}]"#);
    reads(
        "cel:{'a': [1, [2]], 2: b'x', 'd': duration('1s')}",
        r#"{"2":"eA==","a":[1,[2]],"d":1000000000}"#,
    );
    reads("cel:object.kind + object.apiVersion", r#""Thingv1""#);
    let nan = plan(reading("cel:0.0 / 0.0", false));
    assert_eq!(failure(&nan, &table()), "attribute x: NaN and infinity cannot be stored");
}

#[test]
fn null_and_errors_are_left_out_where_they_may_be() {
    for path in ["cel:null", "cel:object.a.zz", "cel:object.?a.?zz", "cel:0.0 / 0.0", "cel:1 / 0"] {
        let found = row(&plan(reading(path, true)), &table());
        assert!(found.ends_with(r#""attributes":{}}"#), "{path}: {found}");
    }
    reads("cel:null", "null");
    reads("cel:object.?a.?zz", "null");
}

/// What looks like a secret is hidden in what an expression builds, too.
#[test]
fn what_is_built_is_redacted() {
    reads(
        "cel:[{'password': object.a.txt}]",
        r#"[{"password":{"reason":"sensitive-key","redacted":true}}]"#,
    );
}

#[track_caller]
fn matched(policy: &str, expected: bool) {
    let gvk = json!({"version": "v1", "kind": "Thing"});
    let wanted = target(json!({"resourceRules": [{"gvk": gvk, "matchPolicy": policy}]}));
    let plan = plan_for(reading("$.a.b", false), wanted, json!({})).unwrap();
    let verdict = plan.row(&serde_json::to_vec(&table()).unwrap(), None);
    if expected {
        assert!(matches!(verdict, Verdict::Keep { .. }), "{policy}: {verdict:?}");
    } else {
        assert_eq!(verdict, Verdict::Skip(Skip::Rules), "{policy}");
    }
}

#[test]
fn a_policy_says_which_objects_match() {
    matched("object.a.b == 1", true);
    matched("object.a.list.exists(e, e.n == 2)", true);
    matched("object.a.b > 1", false);
    // What fails or is no boolean matches nothing.
    matched("object.a.zz == 1", false);
    matched("object.a.txt", false);
}

#[test]
fn a_policy_that_cannot_be_a_boolean_is_refused() {
    let refused = |policy: &str| {
        let gvk = json!({"version": "v1", "kind": "Thing"});
        let wanted = target(json!({"resourceRules": [{"gvk": gvk, "matchPolicy": policy}]}));
        let errors = plan_for(reading("$.a.b", false), wanted, json!({})).unwrap_err();
        errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        refused("object.a +"),
        [
            "spec.resourceRules[0].matchPolicy: object.a +\n          ^ expected a value, not the end"
        ]
    );
    assert_eq!(
        refused("size(object.a)"),
        ["spec.resourceRules[0].matchPolicy: size(object.a)\n^ a bool is needed, and this is int"]
    );
}

fn trimmed(prune: Value) -> Value {
    json!({
        "targetGVK": {"version": "v1", "kind": "Thing"},
        "export": {"mode": "Resource", "include": "All", "prune": prune},
    })
}

#[track_caller]
fn leaves(prune: Value, expected: Value) {
    let found = row(&plan(trimmed(prune)), &table());
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["attributes"]["resource"]["a"], expected);
}

#[test]
fn expressions_name_what_is_dropped() {
    let cel = |expressions: &[&str]| json!({"cel": expressions});
    leaves(
        cel(&["['/a/txt', '/a/none', '/a/absent']", "object.a.b == 1 ? ['/a/one'] : []"]),
        json!({"b": 1, "list": [{"k": "x", "n": 1}, {"n": 2}]}),
    );
    // All are found before any goes, so that indices mean what they say.
    leaves(
        cel(&["['/a/list/0', '/a/list/1/n', '/a/txt', '/a/one', '/a/none']"]),
        json!({"b": 1, "list": [{}]}),
    );
    // They see what the pointers and the paths have left.
    leaves(
        json!({
            "jsonPaths": ["a.list"], "jsonPointers": ["/a/one"],
            "cel": ["has(object.a.list) || has(object.a.one) ? [] : ['/a/b', '/a/none']"],
        }),
        json!({"txt": "s"}),
    );
    leaves(cel(&["object.a.map(k, k != 'b', '/a/' + jsonpatch.escapeKey(k))"]), json!({"b": 1}));
}

#[test]
fn an_expression_that_names_nothing_fails_the_row() {
    for (expression, expected) in [
        ("object.a.zz", "export.prune.cel: there is no key zz"),
        ("object.a.txt", "export.prune.cel: a list of pointers is needed"),
        ("[object.a.b]", "export.prune.cel: a pointer is a text, and this is a number"),
        ("[object.a.txt]", "export.prune.cel: \"s\" is no pointer: it must start with /"),
    ] {
        let plan = plan(trimmed(json!({"cel": [expression]})));
        assert_eq!(failure(&plan, &table()), expected, "{expression}");
    }
}

const SECRET: &str = "kollect.dev/allow-secret-extraction";

#[test]
fn the_data_of_secrets_is_closed_to_expressions() {
    let gvk = json!({"version": "v1", "kind": "Secret"});
    let reading = |path: &str| {
        json!({
            "targetGVK": gvk, "attributes": [{"name": "x", "path": path}],
        })
    };
    let policy =
        |policy: &str| target(json!({"resourceRules": [{"gvk": gvk, "matchPolicy": policy}]}));
    for path in
        ["cel:object.data.x", "cel:object['da' + 'ta']", "cel:object", "cel:size(object.data)"]
    {
        assert!(plan_for(reading(path), target(json!({})), json!({})).is_err(), "{path}");
        assert!(plan_for(reading(path), target(json!({})), json!({SECRET: "true"})).is_ok());
    }
    let harmless = "cel:object.metadata.name";
    assert!(plan_for(reading(harmless), target(json!({})), json!({})).is_ok());
    // Which rows there are would tell what the data is.
    let asks = policy("object.data.password.startsWith('a')");
    let errors = plan_for(reading(harmless), asks.clone(), json!({})).unwrap_err();
    assert_eq!(
        errors.first().map(ToString::to_string).unwrap_or_default(),
        "spec.resourceRules[0].matchPolicy: asks for the data of Secrets; the annotation \
         kollect.dev/allow-secret-extraction: \"true\" would permit it"
    );
    assert!(plan_for(reading(harmless), asks, json!({SECRET: "true"})).is_ok());
    assert!(plan_for(reading(harmless), policy("object.type == 'Opaque'"), json!({})).is_ok());
}

/// What is dropped depends on what is seen, and the data is not seen.
#[test]
fn what_is_dropped_tells_nothing_of_the_data() {
    let spec = json!({
        "targetGVK": {"version": "v1", "kind": "Secret"},
        "export": {"mode": "Resource", "include": "All", "prune": {"cel": [
            "object.data.?password.orValue('') == 'aHVudGVyMg==' ? ['/type'] : []",
        ]}},
    });
    let allowed = json!({"kollect.dev/allow-full-resource-export": "true"});
    let plan = plan_for(spec, target(json!({})), allowed).unwrap();
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"},
        "type": "Opaque", "data": {"password": "aHVudGVyMg=="},
    });
    let found = row(&plan, &secret);
    assert!(found.contains(r#""type":"Opaque""#) && !found.contains("aHVudGVyMg"), "{found}");
}
