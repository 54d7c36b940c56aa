//! The texts of JSON: where they end, and what they say.

use std::borrow::Cow;

use super::error::{Problem, ReadError};

/// A text between its quotes, as it is spelled.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    spelled: &'a [u8],
    is_escaped: bool,
}

/// The text whose first quote stands before `from`, and where it has ended.
#[inline]
pub(super) fn text(bytes: &[u8], from: usize) -> Result<(Text<'_>, usize), ReadError> {
    let (end, is_escaped) = end(bytes, from)?;
    let spelled = bytes.get(from..end).unwrap_or_default();
    Ok((Text { spelled, is_escaped }, end + 1))
}

impl<'a> Text<'a> {
    /// The bytes that the text stands for, which need not be Unicode.
    #[inline]
    pub(super) fn bytes(self) -> Cow<'a, [u8]> {
        if self.is_escaped {
            Cow::Owned(unescaped(self.spelled))
        } else {
            Cow::Borrowed(self.spelled)
        }
    }

    /// What the text says, if it is Unicode.
    #[inline]
    pub(super) fn unicode(self) -> Option<Cow<'a, str>> {
        if self.is_escaped {
            String::from_utf8(unescaped(self.spelled)).ok().map(Cow::Owned)
        } else {
            str::from_utf8(self.spelled).ok().map(Cow::Borrowed)
        }
    }
}

const EACH: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

/// Where the closing quote stands, and whether there is an escape before it.
///
/// Eight bytes are looked at in one step. Most texts of an object are shorter
/// than two steps, so that a search that first has to get going is slower.
#[inline]
fn end(bytes: &[u8], from: usize) -> Result<(usize, bool), ReadError> {
    let (mut at, mut is_escaped) = (from, false);
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let found = stops(u64::from_le_bytes(*word));
        if found == 0 {
            at += 8;
            continue;
        }
        at += found.trailing_zeros() as usize / 8;
        match bytes.get(at) {
            Some(b'"') => return Ok((at, is_escaped)),
            Some(b'\\') => (at, is_escaped) = (escape_end(bytes, at)?, true),
            _ => return Err(Problem::Control.at(at, bytes)),
        }
    }
    end_nearby(bytes, at, is_escaped)
}

/// The same for the last few bytes, which fill no step.
#[cold]
fn end_nearby(bytes: &[u8], from: usize, escaped: bool) -> Result<(usize, bool), ReadError> {
    let (mut at, mut is_escaped) = (from, escaped);
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok((at, is_escaped)),
            Some(b'\\') => (at, is_escaped) = (escape_end(bytes, at)?, true),
            Some(..0x20) | None => return Err(Problem::Control.at(at, bytes)),
            Some(_) => at += 1,
        }
    }
}

/// Marks the first byte that is a quote, a backslash or a control character;
/// marks of bytes behind it may be wrong, since a difference borrows from them.
#[inline]
fn stops(word: u64) -> u64 {
    let (quote, backslash) = (word ^ (EACH * 0x22), word ^ (EACH * 0x5c));
    let below = |word: u64, bound: u64| word.wrapping_sub(EACH * bound) & !word;
    (below(quote, 1) | below(backslash, 1) | below(word, 0x20)) & HIGH
}

/// Where the escape has ended that begins here.
#[cold]
fn escape_end(bytes: &[u8], from: usize) -> Result<usize, ReadError> {
    match bytes.get(from + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(from + 2),
        Some(b'u') => {
            let digits = bytes.iter().skip(from + 2).take(4);
            match digits.take_while(|digit| digit.is_ascii_hexdigit()).count() {
                4 => Ok(from + 6),
                fewer => Err(Problem::Escape.at(from + 2 + fewer, bytes)),
            }
        }
        _ => Err(Problem::Escape.at(from + 1, bytes)),
    }
}

/// Takes the place of half a pair of code units. No text holds this byte, so
/// that the whole becomes none, and no name is equal to it.
const NO_TEXT: u8 = 0xff;

/// What a text stands for whose escapes are known ones.
#[cold]
fn unescaped(spelled: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(spelled.len());
    let mut rest = spelled;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        let (plain, escape) = rest.split_at(at);
        bytes.extend_from_slice(plain);
        rest = escape.get(2..).unwrap_or_default();
        match escape.get(1) {
            Some(b'b') => bytes.push(8),
            Some(b'f') => bytes.push(12),
            Some(b'n') => bytes.push(b'\n'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'u') => {
                let (point, behind) = code_point(escape);
                rest = behind;
                match point {
                    Some(point) => bytes.extend(point.encode_utf8(&mut [0; 4]).bytes()),
                    None => bytes.push(NO_TEXT),
                }
            }
            itself => bytes.extend(itself),
        }
    }
    bytes.extend_from_slice(rest);
    bytes
}

/// The code point of one or two escapes, none if the first is half a pair, and
/// what follows what was read.
fn code_point(escapes: &[u8]) -> (Option<char>, &[u8]) {
    let (first, behind_first) = code_unit(escapes);
    let (second, behind_both) = code_unit(behind_first);
    let alone = char::decode_utf16(first).next().and_then(Result::ok);
    let pair = || char::decode_utf16(first.into_iter().chain(second)).next()?.ok();
    match alone.map(|point| (point, behind_first)).or_else(|| Some((pair()?, behind_both))) {
        Some((point, behind)) => (Some(point), behind),
        None => (None, behind_first),
    }
}

/// The code unit of an escape, if there is one, and what follows it.
fn code_unit(bytes: &[u8]) -> (Option<u16>, &[u8]) {
    let escape = bytes.strip_prefix(br"\u").and_then(|rest| rest.split_at_checked(4));
    let Some((digits, behind)) = escape else { return (None, bytes) };
    let digits = str::from_utf8(digits).ok();
    (digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()), behind)
}
