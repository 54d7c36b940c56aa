//! Evaluates as collection does, and on the whole object besides.

use kollect_expr::{Budget, Program, Projection, cel, read};
use serde_json::{Value, json};

/// A Deployment with a few corners.
pub(crate) fn object() -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "checkout", "namespace": "shop",
            "labels": {"app": "checkout", "tier": "web", "app.kubernetes.io/name": "checkout"},
            "annotations": {"slo": "p99<250ms & rising"},
            "creationTimestamp": "2026-03-01T08:30:00Z",
        },
        "spec": {
            "replicas": 3, "ratio": 0.5, "big": 12_345_678_901_234_567_890_u64, "nothing": null,
            "template": {"spec": {"containers": [
                {"name": "web", "image": "registry.example/checkout:1.4.2", "ports": [
                    {"containerPort": 80}, {"containerPort": 8080},
                ], "resources": {"limits": {"cpu": "500m", "memory": "128Mi"}}},
                {"name": "proxy", "image": "registry.example/envoy:v1.31"},
            ]}},
        },
        "status": {"readyReplicas": 2, "conditions": [
            {"type": "Available", "status": "True"}, {"type": "Progressing", "status": "False"},
        ]},
    })
}

/// What the program gives on what it can touch, which is what it gives on
/// everything; an error is its text.
pub(crate) fn evaluate(program: &Program, object: &Value) -> Result<Value, String> {
    let bytes = serde_json::to_vec(object).unwrap();
    let mut projection = Projection::default();
    projection.add(program);
    let on = |projection: &Projection| {
        let json = read(&bytes, projection).unwrap();
        let value = program.value(&json, &mut Budget::DEFAULT.clone());
        value.map(|value| value.to_value()).map_err(|error| error.to_string())
    };
    let outcome = on(&projection);
    let whole = on(&Projection::everything());
    assert_eq!(outcome, whole, "{} reads {:?}", program.source(), projection.paths());
    outcome
}

#[track_caller]
pub(crate) fn check(expression: &str, expected: Value) {
    match cel::compile(expression) {
        Ok(program) => assert_eq!(evaluate(&program, &object()), Ok(expected), "{expression}"),
        Err(error) => panic!("{}", error.point_at(expression)),
    }
}

#[track_caller]
pub(crate) fn fails(expression: &str, expected: &str) {
    let program = cel::compile(expression).map_err(|error| error.point_at(expression));
    let found = program.and_then(|program| evaluate(&program, &object()));
    assert_eq!(found, Err(expected.to_owned()), "{expression}");
}

/// It does not compile, and the caret stands where it should.
#[track_caller]
pub(crate) fn refused(expression: &str, at: usize, reason: &str) {
    let error = cel::compile(expression).map(|program| program.source().to_owned()).unwrap_err();
    assert_eq!((error.at, error.reason.as_str()), (at, reason), "{expression}");
}
