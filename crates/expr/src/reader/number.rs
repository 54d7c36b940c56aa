//! The numbers of JSON.

use super::error::{Problem, ReadError};
use crate::json::Number;

/// The number that begins here, and where it has ended. What is spelled as an
/// integer is one if 64 bits hold it; only `-0` is none, for its sign.
pub(super) fn number(bytes: &[u8], from: usize) -> Result<(Number, usize), ReadError> {
    let (end, is_integer) = end(bytes, from)?;
    let spelled = bytes.get(from..end).and_then(|digits| str::from_utf8(digits).ok());
    let spelled = spelled.unwrap_or_default();
    if is_integer && spelled != "-0" {
        if let Ok(int) = spelled.parse() {
            return Ok((Number::Int(int), end));
        }
        if let Ok(uint) = spelled.parse() {
            return Ok((Number::Uint(uint), end));
        }
    }
    match spelled.parse::<f64>() {
        Ok(float) if float.is_finite() => Ok((Number::Float(float), end)),
        _ => Err(Problem::TooLarge.at(from, bytes)),
    }
}

/// Where the number has ended that begins here, and whether it is spelled as an
/// integer.
#[inline]
pub(super) fn end(bytes: &[u8], from: usize) -> Result<(usize, bool), ReadError> {
    let digits = |from: usize| {
        let mut at = from;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        if at > from { Ok(at) } else { Err(Problem::NoDigit.at(at, bytes)) }
    };
    let mut at = from + usize::from(bytes.get(from) == Some(&b'-'));
    // No other digit follows a zero at the start.
    at = if bytes.get(at) == Some(&b'0') { at + 1 } else { digits(at)? };
    let integer = at;
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at = digits(at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-'))))?;
    }
    Ok((at, at == integer))
}
