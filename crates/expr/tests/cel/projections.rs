//! What an expression reads of an object, and that it is enough.

use kollect_expr::{Projection, cel};
use proptest::prelude::*;
use serde_json::Value;

use crate::cel::support::evaluate;

#[track_caller]
fn reads(expression: &str, expected: &[&str]) {
    let program = cel::compile(expression).unwrap();
    let mut projection = Projection::default();
    projection.add(&program);
    assert_eq!(projection.paths(), expected, "{expression}");
}

#[test]
fn only_what_is_needed_is_read() {
    reads("object.metadata.labels['app']", &["$.metadata.labels.app"]);
    reads(
        "object.spec.template.spec.containers.map(c, c.image)",
        &["$.spec.template.spec.containers[*].image"],
    );
    reads(
        "object.spec.containers.filter(c, c.name == 'a').map(c, c.image)",
        &["$.spec.containers[*].image", "$.spec.containers[*].name"],
    );
    reads("object.spec.containers.filter(c, c.name == 'a')", &["$.spec.containers"]);
    reads("size(object.spec.containers)", &["$.spec.containers"]);
    reads("has(object.status.ready) ? object.status.ready : 0", &["$.status.ready"]);
    reads(
        "object.metadata.labels.exists(k, v, v == 'x')",
        &["$.metadata.labels.*", "$.metadata.labels[*]"],
    );
    reads("object.?spec.?replicas.orValue(1)", &["$.spec.replicas"]);
    reads("cel.bind(s, object.spec, s.a + s.b)", &["$.spec.a", "$.spec.b"]);
    reads("(object.a ? object.b : object.c).d", &["$.a", "$.b.d", "$.c.d"]);
    reads("object.a[object.b].c", &["$.a.*.c", "$.a[*].c", "$.b"]);
    reads("'x' in object.metadata.labels", &["$.metadata.labels.x", "$.metadata.labels[*]"]);
    reads("object.spec.a != null", &["$.spec.a"]);
    reads("[object].map(o, o.data)", &["$"]);
    reads("object", &["$"]);
    reads("1 + 1", &[]);
    reads("object.list.map(a, a.list.map(b, b.x))", &["$.list[*].list[*].x"]);
}

/// Expressions from pieces that fit together more often than chance would.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("object".to_owned()),
        Just("object.a".to_owned()),
        Just("object.b".to_owned()),
        Just("object.a.b".to_owned()),
        Just("object['a']".to_owned()),
        Just("object.?a".to_owned()),
        Just("1".to_owned()),
        Just("'a'".to_owned()),
        Just("null".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            inner.clone().prop_map(|e| format!("({e}).a")),
            inner.clone().prop_map(|e| format!("({e})[0]")),
            inner.clone().prop_map(|e| format!("({e}).?b")),
            inner.clone().prop_map(|e| format!("has(dyn({e}).b)")),
            inner.clone().prop_map(|e| format!("size(dyn({e}))")),
            inner.clone().prop_map(|e| format!("type({e})")),
            inner.clone().prop_map(|e| format!("dyn({e}).first()")),
            inner.clone().prop_map(|e| format!("dyn({e}).filter(x, has(x.a))")),
            inner.clone().prop_map(|e| format!("dyn({e}).map(x, x.b)")),
            inner.clone().prop_map(|e| format!("dyn({e}).map(x, dyn(x))")),
            inner.clone().prop_map(|e| format!("dyn({e}).exists(x, x.a == 1)")),
            inner.clone().prop_map(|e| format!("dyn({e}).transformMap(k, v, v)")),
            inner.clone().prop_map(|e| format!("dyn({e}).transformList(k, v, k)")),
            inner.clone().prop_map(|e| format!("dyn({e}).orValue(object.b)")),
            inner.clone().prop_map(|e| format!("optional.ofNonZeroValue({e})")),
            two.clone().prop_map(|(a, b)| format!("dyn({a}) == dyn({b})")),
            two.clone().prop_map(|(a, b)| format!("dyn({a}) in dyn({b})")),
            two.clone().prop_map(|(a, b)| format!("dyn({a})[dyn({b})]")),
            two.clone().prop_map(|(a, b)| format!("[{a}, {b}]")),
            two.clone().prop_map(|(a, b)| format!("cel.bind(v, {a}, [v, {b}][0])")),
            two.prop_map(|(a, b)| format!("(object.b == 1 ? dyn({a}) : dyn({b}))")),
        ]
    })
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn a_part_of_the_object_is_as_good_as_the_whole(expression in expression(), object in json()) {
        if let Ok(program) = cel::compile(&expression) {
            evaluate(&program, &object).ok();
        }
    }
}
