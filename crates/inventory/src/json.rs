//! The canonical spelling of JSON.
//!
//! Checksums and row hashes are taken over it, and other implementations of
//! the contract spell it the same way: compact, keys in byte order, `<`, `>`
//! and `&` escaped, numbers as short as they can be and still be read back.

use std::io::Write;

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
    // Writing into memory cannot fail.
    drop(write!(out, "{}", integer.into()));
}

/// Appends a float: the shortest digits that read back as the same number,
/// in plain notation between a millionth and 10^21, else with an exponent.
///
/// What is no number at all becomes `null`; extraction refuses it before.
pub fn write_float(float: f64, out: &mut Vec<u8>) {
    let magnitude = float.abs();
    let text = if !float.is_finite() {
        "null".to_owned()
    } else if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
        Decimal::of(float).plain()
    } else {
        let decimal = Decimal::of(float);
        let sign = if decimal.exponent < 0 { "-" } else { "+" };
        format!("{}e{sign}{}", decimal.mantissa(), decimal.exponent.unsigned_abs())
    };
    out.extend_from_slice(text.as_bytes());
}

/// The shortest decimal that reads back as the same float.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    is_negative: bool,
    /// At least one, without a point.
    digits: String,
    /// The power of ten of the first digit.
    pub exponent: i32,
}

impl Decimal {
    /// Of two that are equally short and near it is the even one, where the
    /// standard library takes the larger.
    pub fn of(float: f64) -> Self {
        let shortest = format!("{:e}", float.abs());
        let count = shortest.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit);
        let nearest = format!("{:.*e}", count.count().saturating_sub(1), float.abs());
        let text = if nearest.parse() == Ok(float.abs()) { nearest } else { shortest };
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        Self {
            is_negative: float.is_sign_negative(),
            digits: digits.replace('.', ""),
            exponent: exponent.parse().unwrap_or_default(),
        }
    }

    /// Sign and digits, with a point behind the first.
    pub fn mantissa(&self) -> String {
        let (first, rest) = self.digits.split_at_checked(1).unwrap_or((&self.digits, ""));
        let point = if rest.is_empty() { "" } else { "." };
        format!("{}{first}{point}{rest}", self.sign())
    }

    /// The number written out.
    pub fn plain(&self) -> String {
        let sign = self.sign();
        let Ok(whole) = usize::try_from(self.exponent + 1) else {
            let zeros = "0".repeat(self.exponent.unsigned_abs() as usize - 1);
            return format!("{sign}0.{zeros}{}", self.digits);
        };
        match self.digits.split_at_checked(whole) {
            Some(("", fraction)) => format!("{sign}0.{fraction}"),
            Some((whole, "")) => format!("{sign}{whole}"),
            Some((whole, fraction)) => format!("{sign}{whole}.{fraction}"),
            None => format!("{sign}{}{}", self.digits, "0".repeat(whole - self.digits.len())),
        }
    }

    fn sign(&self) -> &'static str {
        if self.is_negative { "-" } else { "" }
    }
}

/// Appends a text with its quotes.
pub fn write_text(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut written = 0;
    let mut at = 0;
    while let Some(rest) = bytes.get(at..) {
        let Some(next) = rest.iter().position(|byte| SUSPECT[usize::from(*byte)]) else { break };
        at += next;
        let Some((escape, width)) = bytes.get(at).and_then(|byte| escaped(*byte, bytes, at)) else {
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

/// The bytes at which something may have to be escaped.
const SUSPECT: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = true;
        byte += 1;
    }
    table[b'"' as usize] = true;
    table[b'\\' as usize] = true;
    table[b'<' as usize] = true;
    table[b'>' as usize] = true;
    table[b'&' as usize] = true;
    table[0xe2] = true;
    table
};

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
            (0.000_123_4, "0.0001234"),
            (-1.5, "-1.5"),
            (f64::MAX, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
        ] {
            let mut out = Vec::new();
            write_float(number, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn of_two_spellings_that_are_equally_near_the_even_one_is_taken() {
        let between: f64 = "1616097723938250.25".parse().unwrap();
        let mut out = Vec::new();
        write_float(between, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "1616097723938250.2");
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
