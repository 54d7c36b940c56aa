//! What is written as YAML reads back as the same value.

use kollect_api::Format;
use kollect_inventory::{Identity, Row};
use kollect_sinks::encode::{self, Content};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Texts with everything that YAML gives a meaning to. The line separators of
/// Unicode are left out: only readers of YAML 1.1 know them as such.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,3}",
        "[-?:,\\[\\]{}#&*!|>'\"%@` \t\n\\\\a~.+0-9e_=<é]{0,8}",
        "[a-f'\":# ]{70,200}",
        "[a-f]{1,30}( [a-f]{1,30}){3,9}",
        "(y|no|on|off|null|true|1e3|0x1f|0o7|1:30|2026-03-04|\\.inf|<<|=)",
        any::<String>().prop_filter("separators", |text| !text.contains(['\u{2028}', '\u{2029}'])),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e30..1e30).prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        texts().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map(texts(), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn every_value_reads_back(value in values()) {
        let row = Row::of_value(&Identity::default(), &json!({"value": value}));
        let content = Content::Manifest { key: "value".into() };
        let yaml = encode::row(&row, &content, Format::Yaml).unwrap();
        let yaml = String::from_utf8(yaml).unwrap();
        let canonical: Value = serde_json::from_slice(row.attributes()).unwrap();
        prop_assert_eq!(support::read(&yaml), support::plain(&canonical["value"]), "{}", yaml);
    }
}

#[cfg(test)]
mod support {
    use granit_parser::{Event, Parser, ScalarStyle};

    use super::*;

    /// A value with every scalar as a text that says what it is: numbers and
    /// words have a mark before them, floats are compared by their bits.
    pub(super) fn plain(value: &Value) -> Value {
        match value {
            Value::Null | Value::Bool(_) => json!(format!("word {value}")),
            Value::Number(number) => scalar(&number.to_string()),
            Value::String(text) => json!(format!("text {text}")),
            Value::Array(items) => items.iter().map(plain).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(key, value)| (format!("text {key}"), plain(value))).collect()
            }
        }
    }

    fn scalar(text: &str) -> Value {
        let number = (text.parse::<i64>(), text.parse::<u64>(), text.parse::<f64>());
        json!(match number {
            (Ok(integer), ..) => format!("integer {integer}"),
            (_, Ok(integer), _) => format!("integer {integer}"),
            (_, _, Ok(0.0)) => "integer 0".to_owned(),
            (_, _, Ok(float)) if !text.contains("in") && !text.contains("an") => {
                format!("float {:x}", float.to_bits())
            }
            _ if matches!(text, "null" | "true" | "false") => format!("word {text}"),
            _ => format!("text {text}"),
        })
    }

    /// Reads a document; collections that are still open stand on a stack.
    pub(super) fn read(yaml: &str) -> Value {
        let mut open = vec![(Vec::new(), false)];
        for event in Parser::new_from_str(yaml) {
            match event.unwrap().0 {
                Event::Scalar(text, ScalarStyle::Plain, ..) => push(&mut open, scalar(&text)),
                Event::Scalar(text, ..) => push(&mut open, json!(format!("text {text}"))),
                Event::SequenceStart(..) => open.push((Vec::new(), false)),
                Event::MappingStart(..) => open.push((Vec::new(), true)),
                Event::SequenceEnd | Event::MappingEnd => {
                    let closed = closed(open.pop().unwrap());
                    push(&mut open, closed);
                }
                _ => {}
            }
        }
        let (mut documents, _) = open.pop().unwrap();
        assert_eq!(documents.len(), 1, "{yaml}");
        documents.pop().unwrap()
    }

    fn push(open: &mut [(Vec<Value>, bool)], value: Value) {
        open.last_mut().unwrap().0.push(value);
    }

    fn closed((values, mapping): (Vec<Value>, bool)) -> Value {
        if !mapping {
            return Value::from(values);
        }
        let pair = |pair: &[Value]| (pair[0].as_str().unwrap().to_owned(), pair[1].clone());
        values.chunks(2).map(pair).collect()
    }
}
