//! The canonical spelling of JSON.
//!
//! Checksums and row hashes are taken over it, and other implementations of
//! the contract spell it the same way: compact, keys in byte order, `<`, `>`
//! and `&` escaped, numbers as short as they can be and still be read back.

use serde_json::{Number, Value};

/// Appends a value.
pub fn write_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_value(item, out);
            }
            out.push(b']');
        }
        Value::Object(fields) => {
            // The map is ordered by key, and strings compare by their bytes.
            out.push(b'{');
            for (at, (name, value)) in fields.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_text(name, out);
                out.push(b':');
                write_value(value, out);
            }
            out.push(b'}');
        }
    }
}

/// Appends a number; integers stay exact.
pub fn write_number(number: &Number, out: &mut Vec<u8>) {
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(integer), _, _) => write_integer(integer, out),
        (None, Some(integer), _) => write_integer(integer, out),
        (None, None, Some(float)) => write_float(float, out),
        (None, None, None) => out.extend_from_slice(b"null"),
    }
}

/// Appends an integer.
pub fn write_integer(integer: impl Into<i128>, out: &mut Vec<u8>) {
    out.extend_from_slice(integer.into().to_string().as_bytes());
}

/// Appends a float: the shortest digits that read back as the same number,
/// in plain notation between a millionth and 10^21, else with an exponent.
///
/// What is no number at all becomes `null`; extraction refuses it before.
pub fn write_float(float: f64, out: &mut Vec<u8>) {
    let magnitude = float.abs();
    if !float.is_finite() {
        out.extend_from_slice(b"null");
    } else if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
        out.extend_from_slice(format!("{float}").as_bytes());
    } else {
        let text = format!("{float:e}");
        match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => {
                out.extend_from_slice(format!("{digits}e+{exponent}").as_bytes());
            }
            _ => out.extend_from_slice(text.as_bytes()),
        }
    }
}

/// Appends a text with its quotes.
pub fn write_text(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut written = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let Some((escape, width)) = escaped(*byte, bytes, at) else {
            at += 1;
            continue;
        };
        out.extend_from_slice(bytes.get(written..at).unwrap_or_default());
        escape.write(out);
        at += width;
        written = at;
    }
    out.extend_from_slice(bytes.get(written..).unwrap_or_default());
    out.push(b'"');
}

/// How a character is spelled when it may not stand for itself.
enum Escape {
    /// A backslash and a letter.
    Letter(u8),
    /// `\u` and four digits.
    Code(u16),
}

impl Escape {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Letter(letter) => out.extend_from_slice(&[b'\\', *letter]),
            Self::Code(code) => out.extend_from_slice(format!("\\u{code:04x}").as_bytes()),
        }
    }
}

/// The escape for what begins at a byte, and how many bytes it stands for.
fn escaped(byte: u8, bytes: &[u8], at: usize) -> Option<(Escape, usize)> {
    let escape = match byte {
        b'"' | b'\\' => Escape::Letter(byte),
        0x08 => Escape::Letter(b'b'),
        0x0c => Escape::Letter(b'f'),
        b'\n' => Escape::Letter(b'n'),
        b'\r' => Escape::Letter(b'r'),
        b'\t' => Escape::Letter(b't'),
        0x00..=0x1f | b'<' | b'>' | b'&' => Escape::Code(byte.into()),
        // The two line separators of Unicode, which end a line in JavaScript.
        0xe2 => match bytes.get(at + 1..at + 3) {
            Some([0x80, 0xa8]) => return Some((Escape::Code(0x2028), 3)),
            Some([0x80, 0xa9]) => return Some((Escape::Code(0x2029), 3)),
            _ => return None,
        },
        _ => return None,
    };
    Some((escape, 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[track_caller]
    fn check(value: Value, expected: &str) {
        let mut out = Vec::new();
        write_value(&value, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn texts_escape_what_html_and_javascript_would_trip_over() {
        check(
            json!("a<b & \"q\" > \\ / ' \u{2028}\u{2029} é \u{7f}"),
            "\"a\\u003cb \\u0026 \\\"q\\\" \\u003e \\\\ / ' \\u2028\\u2029 é \u{7f}\"",
        );
        check(json!("\u{8}\u{c}\n\r\t\u{0}\u{1f}"), r#""\b\f\n\r\t\u0000\u001f""#);
        check(json!("€ … ‐"), "\"€ … ‐\"");
    }

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        for (number, expected) in [
            (3.0, "3"),
            (1_000_000.0, "1000000"),
            (1_234_567.5, "1234567.5"),
            (0.00001, "0.00001"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (1.5e-9, "1.5e-9"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (-2.5e22, "-2.5e+22"),
            (0.1, "0.1"),
            (-0.0, "-0"),
        ] {
            let mut out = Vec::new();
            write_float(number, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn integers_stay_exact() {
        check(
            json!([i64::MIN, u64::MAX, 9_007_199_254_740_993_u64]),
            "[-9223372036854775808,18446744073709551615,9007199254740993]",
        );
    }

    #[test]
    fn keys_stand_in_the_order_of_their_bytes() {
        check(
            json!({"b": 1, "a": {"é": 1, "z": 2}, "B": []}),
            r#"{"B":[],"a":{"z":2,"é":1},"b":1}"#,
        );
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(text in "\\PC*|[\\x00-\\x7f]*", number in any::<f64>(), integer in any::<i64>()) {
            prop_assume!(number.is_finite());
            let value = json!({"text": text, "number": number, "integer": integer});
            let mut out = Vec::new();
            write_value(&value, &mut out);
            let back: Value = serde_json::from_slice(&out).unwrap();
            prop_assert_eq!(&back["text"], &value["text"]);
            prop_assert_eq!(back["number"].as_f64(), Some(number));
            prop_assert_eq!(back["integer"].as_i64(), Some(integer));
        }
    }
}
