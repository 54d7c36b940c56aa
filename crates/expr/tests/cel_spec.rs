//! The conformance suite of the CEL specification.
//!
//! The cases are not ours and not part of the repository: they are read from
//! the folder beside it, or from the file that `KOLLECT_CEL_SPEC` names.

use std::{fs, path::PathBuf};

use kollect_expr::{
    Budget,
    cel::{self, Environment, value::Value},
};
use serde::Deserialize;
use serde_json::Value as Json;

use support::{same, value};

/// Cases that we answer differently, and why.
const EXCEPTIONS: [(&str, &str); 2] = [
    ("parse/bytes_literals/triple_single_quoted_unescaped_punctuation", LOST),
    ("parse/bytes_literals/triple_double_quoted_unescaped_punctuation", LOST),
];

const LOST: &str = "the expected bytes have a backslash that is not in the expression";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    file: String,
    section: String,
    name: String,
    expr: String,
    bindings: serde_json::Map<String, Json>,
    value: Option<Json>,
    #[serde(default)]
    disable_check: bool,
    #[serde(default)]
    disable_macros: bool,
    #[serde(default)]
    container: String,
}

#[cfg(test)]
mod support {
    use std::sync::Arc;

    use kollect_expr::cel::{
        instant::Instant,
        value::{Key, Map},
    };

    use super::*;

    /// A value of the suite as one of ours.
    pub(super) fn value(tagged: &Json) -> Value<'static, 'static> {
        let inner = &tagged["v"];
        let text = || inner.as_str().unwrap();
        let all = || inner.as_array().unwrap().iter();
        let pair = |at: usize| match &inner[at] {
            Json::String(text) => text.parse::<i64>().unwrap(),
            number => number.as_i64().unwrap(),
        };
        match tagged["k"].as_str().unwrap() {
            "null" => Value::Null,
            "bool" => Value::Bool(inner.as_bool().unwrap()),
            "int" => Value::Int(text().parse().unwrap()),
            "uint" => Value::Uint(text().parse().unwrap()),
            "double" => Value::Double(text().parse().unwrap()),
            "string" => Value::text(text()),
            "bytes" => {
                let byte = |byte: &Json| u8::try_from(byte.as_u64().unwrap()).unwrap();
                Value::Bytes(all().map(byte).collect())
            }
            "type" => Value::Type(text().to_owned().leak()),
            "list" => Value::list(all().map(value).collect()),
            "map" => {
                let key = |tagged: &Json| match value(tagged) {
                    Value::Bool(bool) => Key::Bool(bool),
                    Value::Int(int) => Key::Int(int),
                    Value::Uint(uint) => Key::Uint(uint),
                    Value::Text(text) => Key::Text(text),
                    other => panic!("{other:?} is no key"),
                };
                let entries = all().map(|entry| (key(&entry[0]), value(&entry[1])));
                Value::Map(Arc::new(Map::new(entries.collect()).unwrap()))
            }
            "duration" => Value::Duration(pair(0) * 1_000_000_000 + pair(1)),
            "timestamp" => {
                let nanoseconds = i128::from(pair(0)) * 1_000_000_000 + i128::from(pair(1));
                Value::Timestamp(Instant::from_nanoseconds(nanoseconds).unwrap())
            }
            other => panic!("{other} is no kind of value"),
        }
    }

    /// Whether two values are the same, their types included.
    pub(super) fn same(one: &Value<'_, '_>, other: &Value<'_, '_>) -> bool {
        match (one, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(one), Value::Bool(other)) => one == other,
            (Value::Int(one), Value::Int(other))
            | (Value::Duration(one), Value::Duration(other)) => one == other,
            (Value::Uint(one), Value::Uint(other)) => one == other,
            (Value::Double(one), Value::Double(other)) => {
                one.is_nan() && other.is_nan() || one.to_bits() == other.to_bits()
            }
            (Value::Text(one), Value::Text(other)) => one.as_str() == other.as_str(),
            (Value::Bytes(one), Value::Bytes(other)) => one == other,
            (Value::Type(one), Value::Type(other)) => one == other,
            (Value::Timestamp(one), Value::Timestamp(other)) => one == other,
            (Value::List(one), Value::List(other)) => {
                one.len() == other.len()
                    && one.iter().zip(&**other).all(|(one, other)| same(one, other))
            }
            (Value::Map(one), Value::Map(other)) => {
                let spelled = |key: &Key<'_, '_>| match key {
                    Key::Text(text) => text.as_str().to_owned(),
                    other => format!("{other:?}"),
                };
                one.entries().len() == other.entries().len()
                    && one.entries().iter().zip(other.entries()).all(|(one, other)| {
                        spelled(&one.0) == spelled(&other.0) && same(&one.1, &other.1)
                    })
            }
            _ => false,
        }
    }
}

/// What is wrong with the answer to a case.
fn judge(case: &Case) -> Option<String> {
    let environment = Environment::new(case.bindings.keys()).within(case.container.as_str());
    let environment = if case.disable_check { environment.unchecked() } else { environment };
    let environment = if case.disable_macros { environment.without_macros() } else { environment };
    let program = match environment.compile(&case.expr) {
        Ok(program) => program,
        Err(_) if case.value.is_none() => return None,
        Err(error) => return Some(error.point_at(&case.expr)),
    };
    let values: Vec<_> = case.bindings.values().map(value).collect();
    let found = cel::evaluate(&program, &values, &mut Budget::DEFAULT.clone());
    match (found, &case.value) {
        (Err(_), None) => None,
        (Err(error), Some(_)) => Some(format!("{error} at {}", error.at)),
        (Ok(found), None) => Some(format!("{found:?}, but it is an error")),
        (Ok(found), Some(expected)) => {
            let expected = value(expected);
            (!same(&found, &expected)).then(|| format!("{found:?}, not {expected:?}"))
        }
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the suite is found by the environment")]
fn the_cases_of_the_specification_hold() {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/conformance/cel-spec.jsonl");
    let path = std::env::var("KOLLECT_CEL_SPEC").map_or(beside, PathBuf::from);
    let Ok(text) = fs::read_to_string(&path) else {
        println!("skipped: there is no {}; KOLLECT_CEL_SPEC can name it", path.display());
        return;
    };
    let mut failed = Vec::new();
    let mut count = 0;
    for line in text.lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let name = format!("{}/{}/{}", case.file, case.section, case.name);
        count += 1;
        let wrong = judge(&case);
        let excepted = EXCEPTIONS.iter().any(|(excepted, _)| *excepted == name);
        match wrong {
            Some(wrong) if !excepted => failed.push(format!("{name}: {}\n    {wrong}", case.expr)),
            None if excepted => failed.push(format!("{name} holds and needs no exception")),
            _ => {}
        }
    }
    println!("{count} cases, {} exceptions", EXCEPTIONS.len());
    assert!(failed.is_empty(), "{} of {count} failed:\n{}", failed.len(), failed.join("\n"));
    assert!(count > 1_000, "only {count} cases");
}
