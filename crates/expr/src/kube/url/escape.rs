//! Percent signs: which bytes need one where, and what they stand for.

use super::UrlProblem;

/// The part of a URL that a text stands in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    Path,
    Host,
    /// The network interface behind an address.
    Zone,
    User,
    Query,
    Fragment,
}

impl Part {
    /// Whether a byte may stand in this part as it is.
    fn keeps(self, byte: u8) -> bool {
        let marks: &[u8] = match self {
            Self::Path => b"$&+,/:;=@",
            Self::Host | Self::Zone => b"!\"$&'()*+,:;<=>[]",
            Self::User => b"$&+,;=",
            Self::Query => b"",
            Self::Fragment => b"!$&()*+,/:;=?@",
        };
        byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || marks.contains(&byte)
    }

    fn is_host(self) -> bool {
        matches!(self, Self::Host | Self::Zone)
    }
}

/// The bytes that a text stands for.
pub(super) fn unescape(text: &str, part: Part) -> Result<Vec<u8>, UrlProblem> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        match byte {
            b'%' => {
                let escape = || UrlProblem::Escape([b"%", first(after, 2)].concat());
                let (byte, after) = escaped(after).ok_or_else(escape)?;
                if byte != b'%' && is_refused(byte, part) {
                    return Err(escape());
                }
                bytes.push(byte);
                rest = after;
            }
            b'+' if part == Part::Query => bytes.push(b' '),
            byte if part.is_host() && byte.is_ascii() && !part.keeps(*byte) => {
                return Err(UrlProblem::HostCharacter(*byte));
            }
            byte => bytes.push(*byte),
        }
    }
    Ok(bytes)
}

/// Writes bytes so that they can stand in a part.
pub(super) fn escape(bytes: &[u8], part: Part) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        if part.keeps(*byte) {
            text.push(char::from(*byte));
        } else {
            text.push('%');
            for half in [byte >> 4, byte & 15] {
                let digit = char::from_digit(u32::from(half), 16).unwrap_or('0');
                text.push(digit.to_ascii_uppercase());
            }
        }
    }
    text
}

/// Whether a text needs no further escaping, though it may escape more than it
/// has to.
pub(super) fn is_escaped(text: &str, part: Part) -> bool {
    text.bytes().all(|byte| b"!$&'()*+,;=:@[]%".contains(&byte) || part.keeps(byte))
}

/// The byte that two hexadecimal digits stand for, and what follows them.
fn escaped(text: &[u8]) -> Option<(u8, &[u8])> {
    let [high, low, rest @ ..] = text else { return None };
    let half = |byte: u8| char::from(byte).to_digit(16).and_then(|half| u8::try_from(half).ok());
    Some((half(*high)? << 4 | half(*low)?, rest))
}

/// In a host only what is no ASCII may be escaped; behind it also what could
/// stand there unescaped, and blanks.
fn is_refused(byte: u8, part: Part) -> bool {
    match part {
        Part::Host => byte.is_ascii(),
        Part::Zone => byte != b' ' && !Part::Host.keeps(byte),
        _ => false,
    }
}

fn first(bytes: &[u8], count: usize) -> &[u8] {
    bytes.get(..count).unwrap_or(bytes)
}
