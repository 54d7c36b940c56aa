//! Assignments inside a text: `password=…`, `token: …`, `"secret": "…"`.

use std::ops::Range;

use super::{
    keys::{Judgement, is_naming},
    shapes::is_mixed,
    text::{MASK, Scan},
};

/// Longer than any name.
const NAME: usize = 128;

/// Whether a name was assigned whose value comes next, as in
/// `name: DB_PASSWORD`, `value: …`.
#[derive(Default)]
pub(super) struct Pair {
    /// Until here the value is waited for.
    until: Option<usize>,
}

/// The secret that the operator at this place assigns.
pub(super) fn secret(scan: Scan<'_>, at: usize, pair: &mut Pair) -> Option<Range<usize>> {
    let operator_end = operator(scan, at)?;
    let name = Name::before(scan, at)?;
    let text = scan.slice(&name.at);
    let mut judged =
        if name.in_query(scan) { judge_query(scan, text) } else { scan.keys.judge(text) };
    if judged == Judgement::Harmless {
        if is_any(text, &["value", "default"]) && pair.until.take().is_some_and(|end| at < end) {
            judged = Judgement::Texts;
        } else {
            if is_any(text, &["name", "key"]) {
                pair.note(scan, operator_end);
            }
            return None;
        }
    }
    if !name.is_assigned(scan, at, operator_end) {
        return None;
    }
    let value = Value::new(scan, &name, judged).after(operator_end)?;
    (!stays(scan.slice(&value))).then_some(value)
}

/// The value of a directive whose name begins here, in the files of programs
/// that write no operator.
pub(super) fn directive(scan: Scan<'_>, at: usize) -> Option<Range<usize>> {
    let name = ["requirepass ", "masterauth "].into_iter().find(|name| scan.begins(name, at));
    let netrc = || {
        let before = scan.slice(&(scan.find_back(at, 2 * NAME, |byte| byte == b'\n')..at));
        let mut words = before.split_ascii_whitespace().rev();
        let login = words.next().is_some() && words.next() == Some("login");
        login.then_some("password ")
    };
    let name = match name {
        Some(name) => name,
        None if scan.begins("password ", at) => netrc()?,
        None => return None,
    };
    let start = at + name.len();
    let value = start..scan.find(start, |byte| byte.is_ascii_whitespace());
    (!stays(scan.slice(&value))).then_some(value)
}

/// Whether a value shows no secret: it is empty, masked, a switch, or says only
/// where the secret comes from.
pub(super) fn stays(value: &str) -> bool {
    const SWITCHES: [&str; 14] = [
        "true", "false", "yes", "no", "on", "off", "null", "nil", "none", "~", "enabled",
        "disabled", "required", "optional",
    ];
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.".contains(&b))
    };
    let variable = || {
        let braced = [("$(", ")"), ("${", "}")]
            .into_iter()
            .find_map(|(open, close)| value.strip_prefix(open)?.strip_suffix(close));
        let template = value.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
        let capital = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        braced.is_some_and(is_name)
            || template
                .is_some_and(|inner| inner.len() <= NAME && !inner.contains(['"', '\'', '`']))
            || value.strip_prefix('$').is_some_and(|v| !v.is_empty() && v.bytes().all(capital))
    };
    value.is_empty() || value == MASK || is_any(value, &SWITCHES) || variable()
}

/// Where the operator at this place ends; none for a comparison.
fn operator(scan: Scan<'_>, at: usize) -> Option<usize> {
    if matches!(scan.before(at), Some(b'=' | b'!' | b'<' | b'>' | b':' | b'~')) {
        return None;
    }
    match (scan.byte(at)?, scan.byte(at + 1)) {
        (b'=', Some(b'=' | b'~')) | (b':', Some(b':')) => None,
        (b'=', Some(b'>')) | (b':', Some(b'=')) => Some(at + 2),
        (_, _) => Some(at + 1),
    }
}

/// In a query the signature of a URL is a secret too.
fn judge_query(scan: Scan<'_>, name: &str) -> Judgement {
    let signature = ["sig", "signature", "hmac", "pass", "key"];
    let last = name.rsplit(['-', '_', '.']).next().unwrap_or(name);
    match scan.keys.judge(name) {
        Judgement::Harmless if is_any(last, &signature) => Judgement::Texts,
        judged => judged,
    }
}

fn is_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

impl Pair {
    /// Remembers that the name of a pair gives its value away.
    fn note(&mut self, scan: Scan<'_>, from: usize) {
        /// How far apart the two may be.
        const APART: usize = 256;
        let start = scan.find(from, |byte| !is_blank(byte) && !is_quote(byte) && byte != b'\\');
        let value = start..scan.find_within(start, NAME, |byte| !is_name_byte(byte));
        let given_away = scan.keys.judge(scan.slice(&value)) != Judgement::Harmless;
        self.until = given_away.then_some(from + APART);
    }
}

/// The name before an operator.
struct Name {
    at: Range<usize>,
    /// It stands in quotes, as in JSON.
    quoted: bool,
}

impl Name {
    fn before(scan: Scan<'_>, operator: usize) -> Option<Self> {
        let mut end = scan.find_back(operator, NAME, |byte| !is_blank(byte));
        let closed = scan.before(end).filter(|byte| is_quote(*byte) || *byte == b']');
        if closed.is_some() {
            end = scan.find_back(end - 1, NAME, |byte| !matches!(byte, b'\\' | b'"' | b'\''));
        }
        let start = scan.find_back(end, NAME, |byte| !is_name_byte(byte));
        (start < end).then_some(Self { at: start..end, quoted: closed.is_some() })
    }

    fn in_query(&self, scan: Scan<'_>) -> bool {
        matches!(scan.before(self.at.start), Some(b'?' | b'&'))
    }

    /// Whether the operator assigns. A colon without a blank after it also
    /// stands before a tag or a port.
    fn is_assigned(&self, scan: Scan<'_>, operator: usize, end: usize) -> bool {
        let next = scan.byte(end);
        let tight = next.is_some_and(|byte| !byte.is_ascii_whitespace() && !is_quote(byte));
        if scan.byte(operator) != Some(b':') || end > operator + 1 || self.quoted || !tight {
            return true;
        }
        if matches!(scan.before(self.at.start), Some(b'/' | b':')) || scan.begins("//", end) {
            return false;
        }
        let name = scan.bytes.get(self.at.clone()).unwrap_or_default();
        let plain = [&b"password"[..], b"passwd", b"pwd", b"passphrase"].iter().any(|word| {
            let at = name.len().checked_sub(word.len());
            at.and_then(|at| name.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(word))
        });
        let value = scan.find_within(end, NAME, |byte| !is_name_byte(byte));
        plain || scan.bytes.get(end..value).is_some_and(|v| v.len() >= 12 && is_mixed(v))
    }
}

/// What is assigned to a name.
struct Value<'s> {
    scan: Scan<'s>,
    name: &'s Name,
    judged: Judgement,
    /// The quote that was opened before the name and is still open after it.
    within: Option<u8>,
    /// Nothing stands before the name on its line.
    begins_line: bool,
}

impl<'s> Value<'s> {
    fn new(scan: Scan<'s>, name: &'s Name, judged: Judgement) -> Self {
        let start = name.at.start;
        let within = scan.before(start).filter(|byte| !name.quoted && is_quote(*byte));
        let around = |byte: u8| !(is_blank(byte) || is_quote(byte) || byte == b'-');
        let line = scan.find_back(start, NAME, around);
        let begins_line = line == 0 || scan.before(line) == Some(b'\n');
        Self { scan, name, judged, within, begins_line }
    }

    fn after(&self, operator_end: usize) -> Option<Range<usize>> {
        let scan = self.scan;
        let start = scan.find(operator_end, |byte| !is_blank(byte));
        match scan.byte(start) {
            None | Some(b'\n' | b'\r') => self.block(start),
            Some(b'|' | b'>') if self.opens_block(start) => {
                self.block(scan.find(start, |byte| byte == b'\n'))
            }
            Some(b'{' | b'[') if !scan.begins("{{", start) => self.bracketed(start),
            Some(b'"' | b'\'' | b'`' | b'\\') => self.quoted(start),
            Some(_) => Some(self.bare(start)),
        }
    }

    /// Between quotes, each of which may be escaped as often as the first.
    fn quoted(&self, start: usize) -> Option<Range<usize>> {
        let scan = self.scan;
        let quote_at = scan.find(start, |byte| byte != b'\\');
        let Some(quote) = scan.byte(quote_at).filter(|byte| is_quote(*byte)) else {
            return Some(self.bare(start));
        };
        let escapes = quote_at - start;
        let inner = quote_at + 1;
        let mut backslashes = 0;
        for (byte, at) in scan.bytes.get(inner..)?.iter().zip(inner..) {
            if *byte == quote && backslashes <= escapes && (escapes > 0 || backslashes == 0) {
                return Some(inner..at - backslashes);
            }
            backslashes = if *byte == b'\\' { backslashes + 1 } else { 0 };
            // An escaped backslash escapes nothing.
            if escapes == 0 && backslashes == 2 {
                backslashes = 0;
            }
        }
        Some(inner..scan.bytes.len())
    }

    /// Up to the bracket that closes the first one, or the end of the text.
    fn bracketed(&self, start: usize) -> Option<Range<usize>> {
        /// How far a map is looked for in a list.
        const FAR: usize = 4096;
        let mut open = 0_usize;
        let mut end = self.scan.bytes.len();
        let maps = self.judged != Judgement::Whole && self.scan.before(start) != Some(b'=');
        for (byte, at) in self.scan.bytes.get(start..)?.iter().zip(start..) {
            match byte {
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            // What is in a map is found by its own name; after `=` stands no map.
            if *byte == b'{' && maps && at < start + FAR {
                return None;
            }
            if open == 0 {
                end = at + 1;
                break;
            }
        }
        Some(start..end)
    }

    fn opens_block(&self, start: usize) -> bool {
        let end = self.scan.find(start + 1, |byte| !matches!(byte, b'+' | b'-' | b'0'..=b'9'));
        matches!(self.scan.byte(end), None | Some(b'\n' | b'\r'))
    }

    /// The lines after this one that are indented deeper than the name, or are
    /// items of its list.
    fn block(&self, line_end: usize) -> Option<Range<usize>> {
        let scan = self.scan;
        if !self.begins_line {
            return None;
        }
        let line = scan.find_back(self.name.at.start, NAME, |byte| byte == b'\n');
        let indent = self.name.at.start - line;
        let mut from = scan.find(line_end, |byte| byte == b'\n') + 1;
        let start = scan.find(from, |byte| !byte.is_ascii_whitespace());
        let mut end = start;
        // Whether it holds more than references.
        let mut telling = self.judged == Judgement::Whole;
        while from < scan.bytes.len() {
            let line_end = scan.find(from, |byte| byte == b'\n');
            let content = scan.find(from, |byte| !is_blank(byte));
            let blank = content >= line_end;
            let item = content - from == indent && scan.byte(content) == Some(b'-');
            let deeper = content - from > indent || item;
            if !blank && !deeper {
                break;
            }
            if !blank {
                end = line_end;
                let line = scan.slice(&(content..line_end));
                match line.split_once(": ").map(|(key, _)| key.trim_start_matches(['-', ' '])) {
                    Some(_) if self.judged == Judgement::Texts => return None,
                    key => telling |= !key.is_some_and(is_naming),
                }
            }
            from = line_end + 1;
        }
        let value = start..start + scan.slice(&(start..end)).trim_end().len();
        (telling && value.start < value.end).then_some(value)
    }

    /// A value without quotes.
    fn bare(&self, start: usize) -> Range<usize> {
        let scan = self.scan;
        let mut at = start;
        while let Some(byte) = scan.byte(at) {
            if self.ends(byte, at, start) {
                break;
            }
            at += 1;
        }
        let value = scan.slice(&(start..at)).trim_end();
        if stays(value) {
            return start..start + value.len();
        }
        let closers = [' ', '\t', '\r', '}', ']', ')', '"', '\'', '`', ',', ';'];
        start..start + value.trim_end_matches(closers).len()
    }

    /// Whether a value without quotes ends before this byte.
    fn ends(&self, byte: u8, at: usize, start: usize) -> bool {
        let name = self.name;
        if byte == b'\n' || self.within == Some(byte) {
            return true;
        }
        if name.in_query(self.scan) {
            return byte.is_ascii_whitespace() || is_quote(byte) || matches!(byte, b'&' | b'#');
        }
        if name.quoted && matches!(byte, b',' | b'}' | b']') {
            return true;
        }
        match byte {
            _ if is_blank(byte) && self.within.is_none() && !self.begins_line => {
                !is_scheme(self.scan.slice(&(start..at)))
            }
            _ if is_quote(byte) => self.within.is_none() && !self.begins_line,
            // Of several blanks the first has been asked about.
            b' ' | b'\t' if self.scan.before(at).is_some_and(is_blank) => false,
            b' ' | b'\t' | b';' | b',' | b'&' => self.goes_on_elsewhere(byte, at + 1),
            _ => false,
        }
    }

    /// Whether another assignment, a flag or nothing follows a separator.
    fn goes_on_elsewhere(&self, separator: u8, from: usize) -> bool {
        let scan = self.scan;
        let next = scan.find(from, |byte| !is_blank(byte));
        let blank = is_blank(separator);
        match scan.byte(next) {
            None | Some(b'\n' | b'\r') => return !blank,
            Some(b'-' | b'#') if blank => return true,
            Some(_) if !blank && next > from => return true,
            Some(_) => {}
        }
        let word = scan.find_within(next, NAME, |byte| !(is_name_byte(byte) || is_quote(byte)));
        let operator = scan.find_within(word, NAME, |byte| !is_blank(byte));
        word > next && matches!(scan.byte(operator), Some(b'=' | b':'))
    }
}

/// A scheme before the value of an authorization header.
fn is_scheme(value: &str) -> bool {
    is_any(value.trim(), &["bearer", "basic", "token", "digest", "apikey", "negotiate"])
}
