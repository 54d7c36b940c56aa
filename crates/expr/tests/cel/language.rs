//! The language, over an object.

use serde_json::json;

use crate::cel::support::{check, fails, refused};

#[test]
fn fields_and_elements_are_read() {
    check("object.metadata.name", json!("checkout"));
    check("object.metadata.labels['app']", json!("checkout"));
    check("object['metadata']['labels'].tier", json!("web"));
    check("object.metadata.labels.`app.kubernetes.io/name`", json!("checkout"));
    check("object.spec.template.spec.containers[1].name", json!("proxy"));
    check("object.spec.template.spec.containers[1.0].name", json!("proxy"));
    check(
        "object.spec.template.spec.containers.map(c, c.image)",
        json!(["registry.example/checkout:1.4.2", "registry.example/envoy:v1.31",]),
    );
    check("size(object.spec.template.spec.containers)", json!(2));
    check("object.metadata.labels.size()", json!(3));
    check("object.metadata.namespace + \"/\" + object.metadata.name", json!("shop/checkout"));
    check("has(object.status.readyReplicas) ? object.status.readyReplicas : 0", json!(2));
    check("has(object.status.absent) ? object.status.absent : 0", json!(0));
    check("object.spec.nothing", json!(null));
    check("object.spec.nothing == null && object.spec.replicas != null", json!(true));
    check("has(object.spec.nothing)", json!(true));
    check("type(object) == map && type(object.spec.replicas) == int", json!(true));
}

#[test]
fn what_is_missing_is_an_error_that_says_so() {
    fails("object.spec.absent", "there is no key absent");
    fails("object.spec.absent.deeper", "there is no key absent");
    fails("object.spec.replicas.x", "int has no field x");
    fails("object.spec.template.spec.containers[2]", "there is no element 2 in a list of 2");
    fails("object.spec.template.spec.containers[-1]", "there is no element -1 in a list of 2");
    fails("has(object.absent.deeper)", "there is no key absent");
    fails("object.spec.replicas + 'a'", "+ does not take int, string");
    fails(
        "object.metadata.name.matches('(' + object.metadata.name)",
        "\"(checkout\" is no regular expression",
    );
}

#[test]
fn one_side_can_decide_alone() {
    check("object.absent == 1 || true", json!(true));
    check("true || object.absent == 1", json!(true));
    check("object.absent == 1 && false", json!(false));
    fails("object.absent == 1 || false", "there is no key absent");
    check(
        "object.spec.template.spec.containers.exists(c, c.ports[0].containerPort == 80)",
        json!(true),
    );
    check(
        "object.spec.template.spec.containers.all(c, c.ports[0].containerPort == 1)",
        json!(false),
    );
    fails(
        "object.spec.template.spec.containers.all(c, c.ports[0].containerPort == 80)",
        "there is no key ports",
    );
}

#[test]
fn numbers_stay_exact_and_compare_across_types() {
    check("object.spec.big", json!(12_345_678_901_234_567_890_u64));
    check("object.spec.big + 1u", json!(12_345_678_901_234_567_891_u64));
    check("object.spec.replicas > 2.5 && object.spec.ratio < 1", json!(true));
    check("object.spec.replicas == 3.0 || object.spec.replicas == 3u", json!(true));
    check("9223372036854775807 - 1", json!(9_223_372_036_854_775_806_i64));
    check("object.spec.replicas / 2", json!(1));
    fails("object.spec.replicas / 0", "division by zero");
    fails("9223372036854775807 + object.spec.replicas", "the number is out of range");
}

#[test]
fn results_become_plain_json() {
    check("b'\\x00\\xff'", json!("AP8="));
    check(
        "timestamp(object.metadata.creationTimestamp) + duration('1ms')",
        json!("2026-03-01T08:30:00.001Z"),
    );
    check("timestamp(object.metadata.creationTimestamp)", json!("2026-03-01T08:30:00Z"));
    check("duration('1h30m')", json!(5_400_000_000_000_i64));
    check("type(object.spec)", json!("map"));
    check("[null, {'a': [1, {'b': null}]}]", json!([null, {"a": [1, {"b": null}]}]));
    check(
        "{1: 'a', true: 'b', 'c': object.status.conditions[0]}",
        json!({
            "1": "a", "true": "b", "c": {"type": "Available", "status": "True"},
        }),
    );
    check(
        "[object.metadata.labels.app] + object.status.conditions.map(c, c.type)",
        json!(["checkout", "Available", "Progressing",]),
    );
    check("optional.none()", json!(null));
    check("object.?spec.?replicas", json!(3));
    check("[object.?absent, object.?kind]", json!([null, "Deployment"]));
    check("object.spec", crate::cel::support::object()["spec"].clone());
    check("2.0", json!(2.0));
    fails("0.0 / 0.0", "NaN and infinity cannot be stored");
    fails("[1.0 / (object.spec.ratio - 0.5)]", "NaN and infinity cannot be stored");
    fails("{1: 'a', '1': 'b'}", "two keys of a map are spelled alike");
}

#[test]
fn macros_of_one_and_two_variables() {
    check(
        "object.status.conditions.filter(c, c.status == 'True').map(c, c.type)",
        json!(["Available"]),
    );
    check("object.status.conditions.map(c, c.status == 'True', c.type)", json!(["Available"]));
    check("object.status.conditions.exists_one(c, c.type == 'Available')", json!(true));
    check("object.metadata.labels.map(k, k)", json!(["app", "app.kubernetes.io/name", "tier"]));
    check(
        "object.metadata.labels.transformMap(k, v, k != 'tier', v + '!')",
        json!({
            "app": "checkout!", "app.kubernetes.io/name": "checkout!",
        }),
    );
    check("object.metadata.labels.transformList(k, v, k + '=' + v)[0]", json!("app=checkout"));
    check(
        "object.spec.template.spec.containers.transformMapEntry(i, c, {c.name: c.image})",
        json!({"web": "registry.example/checkout:1.4.2", "proxy": "registry.example/envoy:v1.31"}),
    );
    check("object.metadata.labels.exists(k, v, v == 'web')", json!(true));
    check("object.spec.template.spec.containers.all(i, c, i < 2)", json!(true));
    check(
        "object.spec.template.spec.containers.sortBy(c, c.name).map(c, c.name)",
        json!(["proxy", "web"]),
    );
    check(
        "cel.bind(cs, object.spec.template.spec.containers, cs[0].name + cs[1].name)",
        json!("webproxy"),
    );
    fails("object.status.conditions.transformMapEntry(i, c, {'x': i})", "the key x is there twice");
}

#[test]
fn optionals() {
    check("object.?status.?readyReplicas.orValue(0)", json!(2));
    check("object.?status.?absent.orValue(0)", json!(0));
    check("object.metadata.labels[?'tier'].optMap(t, t + '!').orValue('none')", json!("web!"));
    check("object.metadata.?absent.optFlatMap(a, a.?b).hasValue()", json!(false));
    check("[?object.metadata.?absent, ?object.metadata.?name]", json!(["checkout"]));
    check("{?'a': object.?absent, 'b': 1}", json!({"b": 1}));
    check("object.spec.template.spec.containers.first().?name.orValue('')", json!("web"));
    check("object.spec.template.spec.containers.last().value().name", json!("proxy"));
    check("object.?absent.or(object.?kind).value()", json!("Deployment"));
    check("optional.ofNonZeroValue(object.spec.ratio).hasValue()", json!(true));
    fails("object.?absent.value()", "the optional has no value");
}

#[test]
fn strings_lists_sets_and_patterns() {
    check("object.metadata.name.upperAscii().substring(0, 5)", json!("CHECK"));
    check("object.spec.template.spec.containers[0].image.split(':')[1]", json!("1.4.2"));
    check("object.metadata.labels.map(k, k).join(',')", json!("app,app.kubernetes.io/name,tier"));
    check(
        "'%s has %d'.format([object.metadata.name, object.spec.replicas])",
        json!("checkout has 3"),
    );
    check(
        "object.spec.template.spec.containers.all(c, c.image.matches('^registry\\\\.example/'))",
        json!(true),
    );
    check("object.spec.template.spec.containers[0].image.find('[0-9.]+$')", json!("1.4.2"));
    check("'a1b22c333'.findAll('[0-9]+')", json!(["1", "22", "333"]));
    check("'a1b22c333'.findAll('[0-9]+', 2)", json!(["1", "22"]));
    check("regex.extract(object.metadata.annotations.slo, 'p([0-9]+)')", json!("99"));
    check("regex.replace('a-b-c', '(.)-(.)', '\\\\2+\\\\1')", json!("b+a-c"));
    check("sets.contains(object.metadata.labels.map(k, k), ['app'])", json!(true));
    check("sets.intersects([1, 2], [2.0, 3])", json!(true));
    check("[3, 1, 2].sum() + [3, 1, 2].min() * 10 + [3, 1, 2].max() * 100", json!(316));
    check("[1, 2, 2].isSorted() && !['b', 'a'].isSorted()", json!(true));
    check("[1, 2, 3, 2].indexOf(2) + 10 * [1, 2, 3, 2].lastIndexOf(2)", json!(31));
    check("[[1, 2], [3, [4]]].flatten()", json!([1, 2, 3, [4]]));
    check("[1, 2, 1, 3].distinct().reverse()", json!([3, 2, 1]));
    check("lists.range(4).slice(1, 3)", json!([1, 2]));
    check("['c', 'a', 'b'].sort()", json!(["a", "b", "c"]));
    check("math.greatest(1, 2.5, 2u)", json!(2.5));
    check("string(base64.decode(base64.encode(bytes('x'))))", json!("x"));
    check("timestamp('2009-02-13T23:31:30Z').getHours('Europe/Berlin')", json!(0));
    check(
        "[1e21, 0.5, 100000.0, 1234567.0, -0.00001, -2.0].map(x, string(x)).join(' ')",
        json!("1e+21 0.5 100000 1.234567e+06 -1e-05 -2"),
    );
    check("'%s'.format([1234567.5])", json!("1234567.5"));
}

#[test]
fn what_cannot_work_is_found_when_it_is_compiled() {
    refused("1 + 'a'", 2, "+ does not take int, string");
    refused("object.spec + ", 14, "expected a value, not the end");
    refused("objekt.spec", 0, "there is no variable objekt");
    refused("object.name.shout()", 12, "there is no function shout");
    refused("size()", 0, "there is no function size of 0 arguments");
    refused("object.name.startsWith(1)", 12, "startsWith does not take dyn, int");
    refused("'a' && true", 0, "a bool is needed, and this is string");
    refused("[1].map(x, y)", 11, "there is no variable y");
    refused("[1].map(1, 2)", 8, "a simple name is needed, which the rest can use");
    refused("'a'.exists(x, true)", 4, "string has no elements");
    refused("1 == 'a'", 2, "== does not take int, string");
    refused("has(object)", 4, "has() takes a field, such as has(object.spec)");
    refused("'x'.matches('[')", 12, "\"[\" is no regular expression");
    refused("{'a': 1}.b.c", 10, "int has no field c");
    refused("Deployment{a: 1}", 10, "messages cannot be built; a map begins with { alone");
    refused("'a", 0, "the text does not end");
    refused("1 in [1] in", 11, "expected a value, not the end");
    refused("object.spec ? 1", 15, "expected :, not the end");
    refused("99999999999999999999", 0, "99999999999999999999 does not fit into 64 bits");
    refused("object @ 1", 7, "'@' means nothing here");
    refused("package", 0, "package is a reserved word");
}

/// The stack of a thread is enough for what the bounds allow.
#[test]
fn as_deep_as_it_may_be() {
    let nested = |head: &str, body: &str, tail: &str, times: usize| {
        format!("{}{body}{}", head.repeat(times), tail.repeat(times))
    };
    check(&nested("(", "object.spec.replicas", ")", 63), json!(3));
    check(&nested("", "object.spec.replicas", " + 1", 125), json!(128));
    check(&nested("!", "has(object.spec)", "", 124), json!(true));
    check(&nested("object.spec.replicas == 0 ? 1 : ", "2", "", 63), json!(2));
    check(&nested("[object.spec.replicas, ", "1", "].last().value()", 40), json!(1));
    check(&nested("{'a': ", "object.spec.replicas", "}.a", 60), json!(3));
    check(&nested("cel.bind(x, object.spec.replicas, ", "x", ")", 63), json!(3));
    check(&nested("dyn(", "object.spec.replicas", ")", 63), json!(3));
    let deep = nested("optional.of(object.spec.replicas).optMap(x, ", "x", ").value()", 40);
    check(&deep, json!(3));
    let loops = nested("[object.spec.replicas].exists(x, ", "x == 3", ")", 3);
    check(&loops, json!(true));
}
