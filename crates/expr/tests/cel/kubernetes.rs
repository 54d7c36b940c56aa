//! What the API server answers, asked of our evaluator.
//!
//! The table was put to a real API server; see `e2e/tests/api/cel.rs`.

use std::{fs, path::Path};

use kollect_expr::cel;
use serde::Deserialize;
use serde_json::Value;

use crate::cel::support::evaluate;

#[derive(Deserialize)]
struct Table {
    object: Value,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    expr: String,
    #[serde(default, deserialize_with = "there")]
    value: Option<Value>,
    /// It fails when it is evaluated.
    #[serde(default)]
    error: bool,
    /// It does not compile.
    #[serde(default)]
    refused: bool,
    /// What the server answers where we do not follow it.
    #[serde(default)]
    #[expect(dead_code, reason = "for who asks the server")]
    server: Option<Value>,
}

/// A value that is null is there all the same.
fn there<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

#[test]
fn answers_are_those_of_the_api_server() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/cel/kubernetes.json");
    let table: Table = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for case in &table.cases {
        let program = cel::compile(&case.expr);
        let answer = match &program {
            Ok(program) => evaluate(program, &table.object),
            Err(error) => Err(error.point_at(&case.expr)),
        };
        let right = match (&answer, &case.value) {
            (Ok(answer), Some(value)) => answer == value,
            // Whether it is told now or later does not matter to the answer.
            (Err(_), None) => case.error || case.refused,
            (Ok(_), None) | (Err(_), Some(_)) => false,
        };
        if !right {
            wrong.push(format!("{}: {answer:?}, not {:?}", case.expr, case.value));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), table.cases.len(), wrong.join("\n"));
}
