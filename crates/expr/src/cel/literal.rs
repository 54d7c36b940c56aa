//! Literals: what their escapes mean.

use std::sync::Arc;

use super::{lexer::Token, value::Value};

/// Where in a literal something is wrong, and what.
type Fault = (usize, &'static str);

/// A number as it is spelled; nothing if it does not fit.
pub(crate) fn number(text: &str, float: bool, unsigned: bool) -> Option<Token<'static>> {
    if float {
        let double: f64 = text.parse().ok()?;
        return double.is_finite().then_some(Token::Literal(Value::Double(double)));
    }
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let int = match hex {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => text.parse().ok()?,
    };
    Some(if unsigned { Token::Literal(Value::Uint(int)) } else { Token::Integer(int) })
}

/// The text or the bytes that a source begins with, and how long the literal
/// is.
pub(crate) fn text(source: &str) -> Result<(Value<'static, 'static>, usize), Fault> {
    let prefix = source.find(['"', '\'']).unwrap_or_default();
    let (flags, rest) = source.split_at(prefix);
    let raw = flags.contains(['r', 'R']);
    let bytes = flags.contains(['b', 'B']);
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| rest.starts_with(quote));
    let quote = quote.ok_or((0, "a text begins with a quote"))?;
    let from = prefix + quote.len();
    let body = source.get(from..).unwrap_or_default();
    let end = end_of(body, quote).ok_or((0, "the text does not end"))?;
    let body = body.get(..end).unwrap_or_default();
    let length = from + end + quote.len();
    let value = if bytes {
        let found = if raw { body.as_bytes().to_vec() } else { unescape(body, from, Kind::Bytes)? };
        Value::Bytes(found.into())
    } else if raw {
        Value::text(body)
    } else {
        let found = unescape(body, from, Kind::Text)?;
        let text = String::from_utf8(found).map_err(|_| (from, "the text is no UTF-8"))?;
        Value::text(Arc::<str>::from(text))
    };
    Ok((value, length))
}

/// Where the closing quote is; a quote after a backslash closes nothing, and
/// only three quotes reach over lines.
fn end_of(body: &str, quote: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(rest) = body.get(at..) {
        let next = rest.chars().next()?;
        if rest.starts_with(quote) {
            return Some(at);
        }
        if quote.len() == 1 && matches!(next, '\n' | '\r') {
            return None;
        }
        at += next.len_utf8();
        if next == '\\' {
            at += rest.chars().nth(1)?.len_utf8();
        }
    }
    None
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Bytes,
}

fn unescape(body: &str, offset: usize, kind: Kind) -> Result<Vec<u8>, Fault> {
    let mut found = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        found.extend_from_slice(plain.as_bytes());
        let place = offset + body.len() - escape.len();
        let used = escaped(escape, kind, &mut found).map_err(|reason| (place, reason))?;
        rest = escape.get(used..).unwrap_or_default();
    }
    found.extend_from_slice(rest.as_bytes());
    Ok(found)
}

/// Adds what an escape stands for, and says how long it is.
fn escaped(escape: &str, kind: Kind, found: &mut Vec<u8>) -> Result<usize, &'static str> {
    const UNKNOWN: &str = "there is no such escape";
    let letter = escape.chars().nth(1).ok_or(UNKNOWN)?;
    let simple = match letter {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' | '\'' | '"' | '`' | '?' => u8::try_from(letter).unwrap_or_default(),
        _ => return coded(escape, letter, kind, found),
    };
    found.push(simple);
    Ok(2)
}

/// An escape that spells a number: `\x41`, `\101`, `\u0041`, `\U00000041`.
fn coded(
    escape: &str,
    letter: char,
    kind: Kind,
    found: &mut Vec<u8>,
) -> Result<usize, &'static str> {
    const UNKNOWN: &str = "there is no such escape";
    let (from, digits, radix) = match letter {
        'x' | 'X' => (2, 2, 16),
        'u' if kind == Kind::Text => (2, 4, 16),
        'U' if kind == Kind::Text => (2, 8, 16),
        '0'..='3' => (1, 3, 8),
        _ => return Err(UNKNOWN),
    };
    let text = escape.get(from..from + digits).ok_or("the escape is too short")?;
    if !text.bytes().all(|byte| char::from(byte).is_digit(radix)) {
        return Err("the escape needs more digits");
    }
    let code = u32::from_str_radix(text, radix).map_err(|_| UNKNOWN)?;
    match kind {
        Kind::Bytes => found.push(u8::try_from(code).map_err(|_| UNKNOWN)?),
        Kind::Text => {
            let c = char::from_u32(code).ok_or("the escape names no character")?;
            found.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    Ok(from + digits)
}
