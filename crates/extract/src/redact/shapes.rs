//! Secrets that are known by their shape, wherever they stand.

use std::ops::Range;

use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

/// Texts that begin so, and go on in this alphabet for at least so long, are
/// tokens of a well-known issuer.
pub(super) struct Shape {
    /// At least two ASCII characters.
    pub(super) prefix: &'static str,
    alphabet: fn(u8) -> bool,
    least: usize,
    /// At most so long; what goes on is something else.
    most: usize,
    /// Needs letters of both cases, or letters and digits: the prefix alone
    /// may begin an ordinary name.
    mixed: bool,
}

const fn shape(prefix: &'static str, alphabet: fn(u8) -> bool, least: usize) -> Shape {
    Shape { prefix, alphabet, least, most: usize::MAX, mixed: false }
}

const fn exact(prefix: &'static str, alphabet: fn(u8) -> bool, length: usize) -> Shape {
    Shape { prefix, alphabet, least: length, most: length, mixed: false }
}

const fn mixed(prefix: &'static str, alphabet: fn(u8) -> bool, least: usize) -> Shape {
    Shape { prefix, alphabet, least, most: usize::MAX, mixed: true }
}

fn alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn capital(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn dotted(byte: u8) -> bool {
    word(byte) || matches!(byte, b'.' | b'=')
}

fn base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}

fn crypt(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'$' | b'=' | b',' | b'+')
}

pub(super) const SHAPES: &[Shape] = &[
    // Amazon.
    exact("AKIA", capital, 16),
    exact("ASIA", capital, 16),
    exact("ABIA", capital, 16),
    // GitHub and GitLab.
    shape("ghp_", word, 30),
    shape("gho_", word, 30),
    shape("ghu_", word, 30),
    shape("ghs_", word, 30),
    shape("ghr_", word, 30),
    shape("github_pat_", word, 20),
    shape("glpat-", dotted, 16),
    shape("gldt-", dotted, 16),
    shape("glrt-", dotted, 16),
    shape("glptt-", dotted, 16),
    // Slack.
    shape("xoxa-", word, 10),
    shape("xoxb-", word, 10),
    shape("xoxp-", word, 10),
    shape("xoxr-", word, 10),
    shape("xoxs-", word, 10),
    shape("xapp-", word, 10),
    shape("hooks.slack.com/services/", base64, 16),
    // Google.
    shape("AIza", word, 35),
    shape("ya29.", dotted, 16),
    shape("GOCSPX-", word, 16),
    // Payments and mail.
    shape("sk_live_", word, 10),
    shape("rk_live_", word, 10),
    shape("sk_test_", word, 10),
    shape("rk_test_", word, 10),
    shape("whsec_", base64, 16),
    exact("SK", hex, 32),
    // Registries.
    shape("npm_", alphanumeric, 36),
    mixed("pypi-", word, 16),
    shape("dckr_pat_", word, 16),
    shape("rubygems_", hex, 32),
    // Clouds and tools.
    shape("dop_v1_", hex, 32),
    shape("doo_v1_", hex, 32),
    shape("dor_v1_", hex, 32),
    shape("hvs.", dotted, 16),
    shape("hvb.", dotted, 16),
    shape("hvr.", dotted, 16),
    shape("AGE-SECRET-KEY-1", alphanumeric, 16),
    shape("glsa_", word, 24),
    shape("glc_", base64, 24),
    shape("shpat_", hex, 24),
    shape("shpss_", hex, 24),
    shape("sntrys_", base64, 24),
    shape("tskey-", word, 16),
    shape("lin_api_", alphanumeric, 24),
    exact("dapi", hex, 32),
    mixed("pul-", hex, 40),
    // Models.
    mixed("hf_", alphanumeric, 24),
    shape("sk-ant-", word, 16),
    shape("sk-proj-", word, 16),
    mixed("sk-", word, 24),
    // Hashes of passwords, which can be searched.
    shape("$2a$", crypt, 40),
    shape("$2b$", crypt, 40),
    shape("$2y$", crypt, 40),
    shape("$1$", crypt, 22),
    shape("$5$", crypt, 32),
    shape("$6$", crypt, 40),
    shape("$apr1$", crypt, 20),
    shape("$argon2", crypt, 40),
    // What is a secret in base64: registry logins and service accounts.
    shape("eyJhdXRocyI6", base64, 16),
    shape("ewogICJhdXRocyI6", base64, 16),
    shape("eyJ0eXBlIjoic2VydmljZV9hY2NvdW50", base64, 16),
    shape("eyJ0eXBlIjogInNlcnZpY2VfYWNjb3VudC", base64, 16),
    shape("ewogICJ0eXBlIjogInNlcnZpY2VfYWNjb3VudC", base64, 16),
];

/// The shapes that begin with an ASCII character, a bit each.
const OF_FIRST: [u128; 128] = {
    let mut shapes = [0; 128];
    let mut at = 0;
    while at < SHAPES.len() {
        shapes[SHAPES[at].prefix.as_bytes()[0] as usize] |= 1 << at;
        at += 1;
    }
    shapes
};

/// How far a shape is looked at before it is believed, so that a text without
/// a secret is read a bounded number of times.
const LOOK: usize = 256;

/// The end of the secret that begins here, if one does. `at` is the beginning
/// of a word.
pub(super) fn token(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let first = *rest.first()?;
    let mut shapes = OF_FIRST.get(usize::from(first)).copied().unwrap_or_default();
    let mut found = None;
    while shapes != 0 && found.is_none() {
        let shape = SHAPES.get(shapes.trailing_zeros() as usize);
        found = shape.and_then(|shape| shape.length(rest));
        shapes &= shapes - 1;
    }
    let length = found.or_else(|| match first {
        // Within a longer word it was looked at from its beginning.
        b'e' if at.checked_sub(1).and_then(|at| bytes.get(at)).is_none_or(|b| !word(*b)) => {
            web_token(rest)
        }
        b'S' => sendgrid(rest),
        b'L' => encoded_pem(rest),
        b'b' | b'B' => header(rest),
        b'0'..=b'9' => telegram(rest),
        _ => None,
    });
    length.map(|length| at + length)
}

impl Shape {
    fn length(&self, rest: &[u8]) -> Option<usize> {
        let body = rest.strip_prefix(self.prefix.as_bytes())?;
        let length = run(body, LOOK, self.alphabet);
        if length < self.least || length > self.most {
            return None;
        }
        if self.mixed && !is_mixed(body.get(..length)?) {
            return None;
        }
        // The first look may have been too short.
        let length = run(body, usize::MAX, self.alphabet);
        let trailing = body.get(..length)?.iter().rev().take_while(|byte| **byte == b'.').count();
        Some(self.prefix.len() + length - trailing)
    }
}

fn run(bytes: &[u8], most: usize, alphabet: fn(u8) -> bool) -> usize {
    bytes.iter().take(most).take_while(|byte| alphabet(**byte)).count()
}

/// Letters of both cases, or letters and digits in turn: not an ordinary name.
pub(super) fn is_mixed(bytes: &[u8]) -> bool {
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let capitals = bytes.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let letters = bytes.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    digits > 0 && capitals + letters > 0 && (capitals > 0 && letters > 0 || digits > 3)
}

/// A text that is read as base64 of either alphabet, padded or not.
fn decode(bytes: &[u8]) -> Option<Vec<u8>> {
    const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let alphabet =
        if bytes.iter().any(|byte| matches!(byte, b'_' | b'-')) { &URL_SAFE } else { &STANDARD };
    GeneralPurpose::new(alphabet, CONFIG).decode(bytes).ok()
}

/// A JSON web token: its first part decodes to a header that names an
/// algorithm, and two parts or more follow.
fn web_token(rest: &[u8]) -> Option<usize> {
    /// Headers are short; certificates in them are not.
    const HEADER: usize = 8192;
    if !rest.starts_with(b"eyJ") && !rest.starts_with(b"ewo") {
        return None;
    }
    let header = run(rest, HEADER, word);
    let payload = run(rest.get(header + 1..)?, usize::MAX, word);
    let dotted_twice =
        rest.get(header) == Some(&b'.') && rest.get(header + 1 + payload) == Some(&b'.');
    if !dotted_twice || payload == 0 {
        return None;
    }
    let decoded = decode(rest.get(..header)?)?;
    let names_algorithm = decoded.windows(5).any(|part| part == b"\"alg\"");
    names_algorithm.then(|| run(rest, usize::MAX, |byte| word(byte) || byte == b'.'))
}

fn sendgrid(rest: &[u8]) -> Option<usize> {
    let body = rest.strip_prefix(b"SG.")?;
    let first = run(body, LOOK, word);
    let second = run(body.get(first + 1..)?, LOOK, word);
    (first >= 16 && second >= 16 && body.get(first) == Some(&b'.')).then_some(first + second + 4)
}

/// A bot's token: its number, a colon, and 35 characters.
fn telegram(rest: &[u8]) -> Option<usize> {
    let digits = run(rest, 12, |byte| byte.is_ascii_digit());
    let after = rest.get(digits..)?.strip_prefix(b":AA")?;
    let length = run(after, LOOK, word);
    (digits >= 8 && (30..=40).contains(&length)).then_some(digits + 3 + length)
}

/// A private key in PEM, once more in base64.
fn encoded_pem(rest: &[u8]) -> Option<usize> {
    if !rest.starts_with(b"LS0tLS1CRUdJTi") {
        return None;
    }
    let begin = decode(rest.get(..rest.len().min(64) / 4 * 4)?)?;
    let private = begin.windows(11).any(|part| part == b"PRIVATE KEY");
    // Encoders break long lines.
    private.then(|| run(rest, usize::MAX, |byte| base64(byte) || byte == b'\n' || byte == b'\r'))
}

/// The value of an authorization header, with its scheme.
fn header(rest: &[u8]) -> Option<usize> {
    let scheme = [&b"bearer"[..], b"basic"]
        .into_iter()
        .find(|scheme| rest.get(..scheme.len()).is_some_and(|s| s.eq_ignore_ascii_case(scheme)))?;
    let gap = run(rest.get(scheme.len()..)?, 8, |byte| byte == b' ');
    let body = rest.get(scheme.len() + gap..)?;
    let in_header = |byte: u8| dotted(byte) || matches!(byte, b'~' | b'+' | b'/' | b':');
    let length = run(body, LOOK, in_header);
    let looked_at = body.get(..length)?;
    let secret = length >= 8 && (is_mixed(looked_at) || looked_at.ends_with(b"="));
    let login = || decode(looked_at).is_some_and(|login| login.contains(&b':'));
    if gap == 0 || !(secret || (scheme == b"basic" && length >= 4 && login())) {
        return None;
    }
    Some(scheme.len() + gap + run(body, usize::MAX, in_header))
}

/// The private key that begins here, up to its end or that of the text.
pub(super) fn private_key(text: &str, at: usize) -> Option<Range<usize>> {
    const BEGIN: &str = "-----BEGIN ";
    const END: &str = "-----END ";
    /// Longer than the name of any kind of key.
    const NAME: usize = 64;
    let rest = text.get(at..)?.strip_prefix(BEGIN)?;
    let name = rest.as_bytes().get(..rest.len().min(NAME))?;
    let name = name.split(|byte| *byte == b'\n').next()?;
    let dashes = name.windows(5).position(|part| part == b"-----").unwrap_or(name.len());
    if !name.get(..dashes)?.windows(11).any(|part| part == b"PRIVATE KEY") {
        return None;
    }
    let Some(end) = rest.find(END) else { return Some(at..text.len()) };
    let after = end + END.len();
    let closed = rest.get(after..)?.find("-----").map(|dashes| after + dashes + 5);
    Some(at..closed.map_or(text.len(), |end| at + BEGIN.len() + end))
}
