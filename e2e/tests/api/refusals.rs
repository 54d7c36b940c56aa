//! What the server refuses by itself, without any webhook.

use std::collections::BTreeSet;

use e2e::cluster;
use serde_json::{Value, json};

/// Each entry is the spec of an object that breaks one limit or embedded rule,
/// and what the server must say about it.
fn cases() -> Vec<Value> {
    let text = include_str!("../../../fixtures/refused-by-the-server.json");
    serde_json::from_str(text).unwrap_or_default()
}

#[test]
fn the_server_refuses_what_breaks_an_embedded_rule() {
    let Some(cluster) = cluster() else { return };
    let namespace = cluster.namespace("refusals");
    let cases = cases();
    assert!(cases.len() > 40, "only {} cases were read", cases.len());
    for case in cases {
        let object = json!({
            "apiVersion": "kollect.dev/v1alpha1",
            "kind": case["kind"],
            "metadata": {"name": "bad"},
            "spec": case["spec"],
        });
        let create = cluster.kubectl(["create", "--dry-run=server", "-n", &namespace, "-f", "-"]);
        let outcome = create.stdin(object.to_string()).run();
        let outcome = outcome.unwrap_or_else(|error| panic!("kubectl did not run: {error}"));
        let says = case["says"].as_str().unwrap_or_else(|| panic!("{case} says nothing"));
        assert!(!outcome.success, "{object} was accepted");
        assert!(outcome.stderr.contains(says), "{object}\n{says}\n{}", outcome.stderr);
    }
}

/// A rule without a case could be one that the server never applies.
#[test]
fn no_embedded_rule_is_without_its_bad_object() {
    let proven: BTreeSet<_> = cases()
        .iter()
        .map(|case| [&case["kind"], &case["says"]].map(|text| text.as_str().map(str::to_owned)))
        .collect();
    let mut rules = 0;
    for crd in kollect_api::crds() {
        let mut embedded = BTreeSet::new();
        messages(&serde_json::to_value(&crd).unwrap_or_default(), &mut embedded);
        rules += embedded.len();
        for message in embedded {
            let rule = [Some(crd.spec.names.kind.clone()), Some(message)];
            assert!(proven.contains(&rule), "{rule:?}");
        }
    }
    assert!(rules > 20, "only {rules} embedded rules were found");
}

fn messages(value: &Value, found: &mut BTreeSet<String>) {
    if let Some(rules) = value.get("x-kubernetes-validations").and_then(Value::as_array) {
        found.extend(rules.iter().filter_map(|rule| rule["message"].as_str().map(str::to_owned)));
    }
    match value {
        Value::Object(fields) => fields.values().for_each(|value| messages(value, found)),
        Value::Array(items) => items.iter().for_each(|value| messages(value, found)),
        _ => {}
    }
}
