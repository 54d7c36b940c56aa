//! From text to address, with Go's words for what is wrong.
//!
//! Also the part of an address that a URL may have in brackets.

use std::net::{IpAddr, Ipv6Addr};

use super::quote::quote;

/// Why a text is no address: what is wrong, and where that begins.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ParseAddr({}): {problem}{}", quote(text.as_bytes()), place(at))]
pub struct AddressError {
    text: String,
    problem: &'static str,
    at: String,
}

fn place(at: &str) -> String {
    if at.is_empty() { String::new() } else { format!(" (at {})", quote(at.as_bytes())) }
}

/// What is wrong, and the rest of the text from there on.
type Problem<'t> = (&'static str, &'t str);

/// Reads an address and its zone, which only IPv6 addresses can have.
pub(super) fn parse(text: &str) -> Result<(IpAddr, Option<&str>), AddressError> {
    let found = match text.bytes().find(|byte| b".:%".contains(byte)) {
        Some(b'.') => octets(text).map(|octets| (IpAddr::from(octets), None)),
        Some(b':') => with_zone(text),
        Some(_) => Err(("missing IPv6 address", "")),
        None => Err(("unable to parse IP", "")),
    };
    let error = |(problem, at): Problem<'_>| AddressError {
        text: text.to_owned(),
        problem,
        at: at.to_owned(),
    };
    found.map_err(error)
}

fn with_zone(text: &str) -> Result<(IpAddr, Option<&str>), Problem<'_>> {
    let (address, zone) = match text.split_once('%') {
        Some((_, "")) => return Err(("zone must be a non-empty string", "")),
        Some((address, zone)) => (address, Some(zone)),
        None => (text, None),
    };
    let groups = groups(address)?;
    Ok((IpAddr::V6(Ipv6Addr::from(groups)), zone))
}

/// The four numbers of an IPv4 address.
fn octets(text: &str) -> Result<[u8; 4], Problem<'_>> {
    let mut octets = [0_u8; 4];
    let mut fields = octets.iter_mut();
    let mut field = fields.next();
    let mut digits = 0;
    let mut rest = text.as_bytes();
    let from = |rest: &[u8]| text.get(text.len() - rest.len()..).unwrap_or_default();
    while let [byte, after @ ..] = rest {
        match (byte, &mut field) {
            (b'0'..=b'9', Some(value)) => {
                if digits == 1 && **value == 0 {
                    return Err(("IPv4 field has octet with leading zero", ""));
                }
                let wider = value.checked_mul(10).and_then(|value| value.checked_add(byte - b'0'));
                **value = wider.ok_or(("IPv4 field has value >255", ""))?;
                digits += 1;
            }
            (b'.', _) if digits == 0 || after.is_empty() => {
                return Err(("IPv4 field must have at least one digit", from(rest)));
            }
            (b'.', _) => {
                field = fields.next();
                if field.is_none() {
                    return Err(("IPv4 address too long", ""));
                }
                digits = 0;
            }
            _ => return Err(("unexpected character", from(rest))),
        }
        rest = after;
    }
    match fields.next() {
        Some(_) => Err(("IPv4 address too short", "")),
        None => Ok(octets),
    }
}

/// The eight numbers of an IPv6 address.
fn groups(text: &str) -> Result<[u16; 8], Problem<'_>> {
    let mut groups = Vec::with_capacity(8);
    let mut gap = None;
    let mut rest = text;
    if let Some(after) = rest.strip_prefix("::") {
        (gap, rest) = (Some(0), after);
    }
    while groups.len() < 8 && !(rest.is_empty() && gap == Some(groups.len())) {
        let (group, after) = hexadecimal(rest)?;
        if after.starts_with('.') {
            if gap.is_none() && groups.len() != 6 {
                let problem =
                    "embedded IPv4 address must replace the final 2 fields of the address";
                return Err((problem, rest));
            }
            if groups.len() > 6 {
                let problem =
                    "too many hex fields to fit an embedded IPv4 at the end of the address";
                return Err((problem, rest));
            }
            let [a, b, c, d] = octets(rest)?;
            groups.extend([u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])]);
            rest = "";
            break;
        }
        groups.push(group);
        rest = after;
        if rest.is_empty() {
            break;
        }
        rest = match rest.strip_prefix(':') {
            None => return Err(("unexpected character, want colon", rest)),
            Some("") => return Err(("colon must be followed by more characters", rest)),
            Some(after) => after,
        };
        if let Some(after) = rest.strip_prefix(':') {
            if gap.is_some() {
                return Err(("multiple :: in address", rest));
            }
            (gap, rest) = (Some(groups.len()), after);
        }
    }
    if !rest.is_empty() {
        return Err(("trailing garbage after address", rest));
    }
    filled(groups, gap)
}

/// Puts as many zeros into the gap as are missing.
fn filled(mut groups: Vec<u16>, gap: Option<usize>) -> Result<[u16; 8], Problem<'static>> {
    let missing = 8_usize.saturating_sub(groups.len());
    match (missing, gap) {
        (0, Some(_)) => return Err(("the :: must expand to at least one field of zeros", "")),
        (1.., None) => return Err(("address string too short", "")),
        (0, None) => {}
        (_, Some(gap)) => {
            groups.splice(gap..gap, std::iter::repeat_n(0, missing));
        }
    }
    groups.try_into().map_err(|_| ("address string too short", ""))
}

fn hexadecimal(text: &str) -> Result<(u16, &str), Problem<'_>> {
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_hexdigit());
    let digits = text.strip_suffix(rest).unwrap_or_default();
    match digits.len() {
        0 => Err(("each colon-separated field must have at least one digit", text)),
        1..=4 => Ok((u16::from_str_radix(digits, 16).unwrap_or_default(), rest)),
        _ => Err(("each group must have 4 or less digits", text)),
    }
}
