//! Reads what is summed from a row's attributes, and nothing else of it.
//!
//! Attributes are canonical JSON that we wrote ourselves: no white space, and
//! the same text for the same name. So a name is found by its bytes, and what
//! is not wanted is passed over without being understood.

use memchr::memchr2;

use super::sum::Number;

/// Values of labels are cut at so many bytes: a label that holds a whole
/// document helps nobody, and costs everybody.
const LONGEST: usize = 512;

/// The attributes of a row: each name and value as JSON.
#[derive(Debug)]
pub(super) struct Attributes<'a> {
    rest: &'a [u8],
}

impl<'a> Attributes<'a> {
    /// Reads an object; what is none has no attributes.
    pub(super) fn of(json: &'a [u8]) -> Self {
        Self { rest: json.strip_prefix(b"{").unwrap_or_default() }
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, rest) = self.rest.split_at_checked(text_length(self.rest)?)?;
        let rest = rest.strip_prefix(b":")?;
        let (value, rest) = rest.split_at_checked(value_length(rest)?)?;
        // A comma, or the brace at the end, after which nothing is found.
        self.rest = rest.get(1..).unwrap_or_default();
        Some((name, value))
    }
}

/// Length of a text with its quotes, if one stands here.
fn text_length(json: &[u8]) -> Option<usize> {
    if json.first() != Some(&b'"') {
        return None;
    }
    let mut at = 1;
    loop {
        let found = at + memchr2(b'"', b'\\', json.get(at..)?)?;
        if json.get(found) == Some(&b'"') {
            return Some(found + 1);
        }
        at = found + 2;
    }
}

/// Length of a value, if one stands here.
fn value_length(json: &[u8]) -> Option<usize> {
    match json.first()? {
        b'"' => text_length(json),
        b'{' | b'[' => {
            let (mut depth, mut at) = (0_usize, 0);
            loop {
                match json.get(at)? {
                    b'"' => {
                        at += text_length(json.get(at..)?)?;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
        }
        _ => json.iter().position(|byte| [b',', b'}'].contains(byte)),
    }
}

/// The number that a value is, or that it is the text of.
pub(super) fn number(value: &[u8]) -> Option<Number> {
    let inner = match value {
        // No number needs to be escaped.
        [b'"', inner @ .., b'"'] => inner,
        [b'-' | b'0'..=b'9', ..] => value,
        _ => return None,
    };
    Number::parse(std::str::from_utf8(inner).ok()?)
}

/// A value as the text of a label; nothing if it is null or not there.
pub(super) fn label(value: Option<&[u8]>) -> String {
    let mut text = match value {
        None | Some(b"null") => String::new(),
        Some(json @ [b'"', ..]) => plain(json),
        Some(json) => String::from_utf8_lossy(json).into_owned(),
    };
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
    text
}

/// What a text of JSON says.
pub(super) fn plain(json: &[u8]) -> String {
    serde_json::from_slice(json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kollect_inventory::json::write_value;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn canonical(value: &Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_value(value, &mut bytes);
        bytes
    }

    #[test]
    fn what_is_no_object_has_no_attributes() {
        for json in ["null", "{}", "", "[1,2]", "\"{\""] {
            assert_eq!(Attributes::of(json.as_bytes()).count(), 0, "{json}");
        }
    }

    #[test]
    fn numbers_and_their_texts_are_numbers() {
        let read = |text: &str| number(text.as_bytes());
        assert_eq!(read("3"), Some(Number::Whole(3)));
        assert_eq!(read("\"-3\""), Some(Number::Whole(-3)));
        assert_eq!(read("0.5"), Some(Number::Float(0.5)));
        for text in ["true", "null", "\"\"", "\"web\"", "[1]", "{\"a\":1}", "\"\\u0031\"", "\""] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn labels_are_texts_as_they_are_and_everything_else_plainly() {
        let said = |value: Value| label(Some(&canonical(&value)));
        assert_eq!(label(None), "");
        assert_eq!(said(Value::Null), "");
        assert_eq!(said(json!("a \"b\" <c>")), "a \"b\" <c>");
        assert_eq!(said(json!(true)), "true");
        assert_eq!(said(json!(2.5)), "2.5");
        assert_eq!(said(json!(["a", 1])), r#"["a",1]"#);
        let long = said(json!("ä".repeat(2000)));
        assert_eq!(long, format!("{}…", "ä".repeat(256)));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_filter("a number", |one| one.is_finite()).prop_map(Value::from),
            "[\\PC\"\\\\{}\\[\\],:]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[\\PC\"\\\\]{0,6}", inner, 0..5)
                    .prop_map(Value::from_iter),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_attribute_is_found_with_its_value(
            map in prop::collection::btree_map("[\\PC\"\\\\,:{}]{0,8}", value(), 0..8),
        ) {
            let bytes = canonical(&Value::from_iter(map.clone()));
            let found: Vec<_> = Attributes::of(&bytes)
                .map(|(name, value)| (plain(name), value.to_vec()))
                .collect();
            let expected: Vec<_> =
                map.iter().map(|(name, value)| (name.clone(), canonical(value))).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn whatever_the_bytes_are_reading_ends(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let open = [b"{\"".as_slice(), &bytes].concat();
            prop_assert!(Attributes::of(&bytes).count() + Attributes::of(&open).count() < 200);
        }
    }
}
