//! CEL against the real API server.
//!
//! What the fixture says of each expression is put into the validations of one
//! admission policy, so the server itself evaluates it. The fixture is then
//! what our evaluator is held to.

use e2e::cluster;
use kollect_testenv::ControlPlane;
use serde_json::{Value, json};

/// The object that has to satisfy all expressions with a value.
const ALL: &str = "all";
/// The object that the policy denies as soon as it is active.
const MARKER: &str = "marker";

fn fixture() -> Value {
    let text = include_str!("../../../fixtures/cel/kubernetes.json");
    serde_json::from_str(text).unwrap_or_default()
}

/// What the server must make of an expression.
enum Verdict {
    Value(Value),
    Error,
    Refused,
}

/// Every expression with the server's verdict, which stands in `server` where
/// our evaluator differs on purpose.
fn cases(fixture: &Value) -> Vec<(String, Verdict)> {
    let cases = fixture["cases"].as_array().into_iter().flatten();
    let case = |case: &Value| {
        let expr = case["expr"].as_str().unwrap_or_else(|| panic!("{case} has no expression"));
        let theirs = case.get("server").unwrap_or(case);
        let verdict = match theirs.get("value") {
            Some(value) => Verdict::Value(value.clone()),
            None if theirs["error"] == true => Verdict::Error,
            None if theirs["refused"] == true => Verdict::Refused,
            None => panic!("{case} has no verdict"),
        };
        (expr.to_owned(), verdict)
    };
    cases.map(case).collect()
}

/// A JSON value as CEL; every element dynamic, since lists may be mixed.
fn literal(value: &Value) -> String {
    let dynamic = |value: &Value| format!("dyn({})", literal(value));
    match value {
        Value::Number(number) => match (number.as_f64(), number.is_f64()) {
            (Some(double), true) => format!("{double:?}"),
            _ => number.to_string(),
        },
        Value::Array(items) => {
            format!("[{}]", items.iter().map(dynamic).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| format!("{key:?}: {}", dynamic(value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        _ => value.to_string(),
    }
}

/// An expression that holds if the other one has the value, and the type.
fn has_value(expr: &str, value: &Value) -> String {
    let equal = format!("dyn({expr}) == dyn({})", literal(value));
    match value {
        Value::Number(number) if number.is_f64() => {
            format!("{equal} && type(dyn({expr})) == double")
        }
        Value::Number(_) => {
            format!("{equal} && (type(dyn({expr})) == int || type(dyn({expr})) == uint)")
        }
        _ => equal,
    }
}

/// Evaluates a condition with `object` meaning the fixture's object, which the
/// object of the request carries.
fn within(condition: &str) -> String {
    format!("[object.spec].all(object, {condition})")
}

fn thing(name: &str, namespace: &str, object: &Value) -> Value {
    json!({
        "apiVersion": "example.org/v1",
        "kind": "Thing",
        "metadata": {"name": name, "namespace": namespace},
        "spec": object,
    })
}

/// A policy of its own namespace, gone when it is dropped.
struct Policy<'c> {
    cluster: &'c ControlPlane,
    namespace: String,
}

impl<'c> Policy<'c> {
    fn new(cluster: &'c ControlPlane, validations: Vec<Value>) -> Self {
        let namespace = cluster.namespace("cel");
        let policy = manifest(&namespace, validations);
        let binding = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": namespace},
            "spec": {
                "policyName": namespace,
                "validationActions": ["Deny"],
                "matchResources": {
                    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                },
            },
        });
        let made = Self { cluster, namespace };
        let list = json!({"apiVersion": "v1", "kind": "List", "items": [policy, binding]});
        cluster.kubectl(["create", "-f", "-"]).stdin(list.to_string()).stdout();
        let active = || made.complaints(&[MARKER], &json!({})).contains(MARKER);
        assert!((0..600).any(|_| active()), "the policy did not become active");
        made
    }

    /// What the server says about objects with these names.
    fn complaints(&self, names: &[&str], object: &Value) -> String {
        let things: Vec<_> =
            names.iter().map(|name| thing(name, &self.namespace, object)).collect();
        let list = json!({"apiVersion": "v1", "kind": "List", "items": things});
        let create = self.cluster.kubectl(["create", "--dry-run=server", "-f", "-"]);
        let outcome = create.stdin(list.to_string()).run();
        outcome.unwrap_or_else(|error| panic!("kubectl did not run: {error}")).stderr
    }
}

impl Drop for Policy<'_> {
    fn drop(&mut self) {
        for kind in ["validatingadmissionpolicybinding", "validatingadmissionpolicy"] {
            let delete = self.cluster.kubectl(["delete", kind, &self.namespace, "--wait=false"]);
            drop(delete.run());
        }
    }
}

fn manifest(name: &str, validations: Vec<Value>) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [{
                "apiGroups": ["example.org"],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["things"],
            }]},
            "validations": validations,
        },
    })
}

#[test]
fn expressions_have_the_values_that_the_server_gives_them() {
    let Some(cluster) = cluster() else { return };
    cluster.apply(include_str!("../../../fixtures/thing-crd.yaml"));
    cluster.established(&["things.example.org"]);
    let fixture = fixture();
    let cases = cases(&fixture);
    assert!(cases.len() > 250, "only {} cases were read", cases.len());

    let (mut values, mut errors) = (Vec::new(), Vec::new());
    let mut validations =
        vec![json!({"expression": format!("object.metadata.name != {MARKER:?}")})];
    for (index, (expr, verdict)) in cases.iter().enumerate() {
        let name = format!("case-{index}");
        let (names, condition) = match verdict {
            Verdict::Value(value) => {
                values.push((name.clone(), expr));
                (vec![ALL, &name], has_value(expr, value))
            }
            Verdict::Error => {
                errors.push((name.clone(), expr));
                (vec![name.as_str()], format!("dyn({expr}) == null"))
            }
            Verdict::Refused => continue,
        };
        let condition = within(&condition);
        let expression = format!("!(object.metadata.name in {names:?}) || {condition}");
        validations.push(json!({"expression": expression, "message": expr}));
    }
    let policy = Policy::new(cluster, validations);

    let complaint = policy.complaints(&[ALL], &fixture["object"]);
    if !complaint.is_empty() {
        let names: Vec<_> = values.iter().map(|(name, _)| name.as_str()).collect();
        panic!("{complaint}\n{}", policy.complaints(&names, &fixture["object"]));
    }
    let names: Vec<_> = errors.iter().map(|(name, _)| name.as_str()).collect();
    let complaints = policy.complaints(&names, &fixture["object"]);
    for (name, expr) in &errors {
        let name = format!("{name:?}");
        let complaint = complaints.lines().find(|line| line.contains(&name));
        let complaint = complaint.unwrap_or_else(|| panic!("{expr} is no error"));
        assert!(complaint.contains("resulted in error"), "{expr}: {complaint}");
    }
}

#[test]
fn the_server_refuses_what_does_not_compile() {
    let Some(cluster) = cluster() else { return };
    let cases = cases(&fixture());
    let refused = cases.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Refused));
    let refused: Vec<_> = refused.map(|(expr, _)| expr).collect();
    assert!(refused.len() > 30, "only {} cases were read", refused.len());
    let validation =
        |expr: &&String| json!({"expression": within(&format!("dyn({expr}) == null"))});
    let policy = manifest("refused", refused.iter().map(validation).collect());
    let create = cluster.kubectl(["create", "--dry-run=server", "-f", "-"]);
    let outcome = create.stdin(policy.to_string()).run();
    let outcome = outcome.unwrap_or_else(|error| panic!("kubectl did not run: {error}"));
    for (index, expr) in refused.iter().enumerate() {
        let field = format!("spec.validations[{index}].expression");
        assert!(outcome.stderr.contains(&field), "{expr} was accepted\n{}", outcome.stderr);
    }
}
