//! Where in a text a secret can begin.
//!
//! Nearly all places are passed over by a look at one byte in a table, and
//! nearly all words by their first three. What is passed over here is never
//! asked about, so everything that `text` looks for has to be known here; a
//! test holds both against each other.

use super::shapes::SHAPES;

/// What a byte can begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nothing.
    Other,
    /// Something, wherever it stands.
    Sign,
    /// Something, unless it stands within a word.
    Dash,
    /// A word, or more of one.
    Word,
    /// A hash of a password.
    Dollar,
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Other; 256];
    let mut byte = 0_u8;
    while byte < u8::MAX {
        kinds[byte as usize] = match byte {
            b':' | b'=' | b'>' | b'@' => Kind::Sign,
            b'-' => Kind::Dash,
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => Kind::Word,
            b'$' => Kind::Dollar,
            _ => Kind::Other,
        };
        byte += 1;
    }
    kinds
};

/// How words begin that are looked at.
struct Beginnings {
    /// By the first byte the second ones, a bit each.
    seconds: [u128; 128],
    /// By the first byte the third ones.
    thirds: [u128; 128],
}

const BEGINNINGS: Beginnings = {
    let mut beginnings = Beginnings { seconds: [0; 128], thirds: [0; 128] };
    let mut at = 0;
    while at < SHAPES.len() {
        beginnings = beginnings.and(SHAPES[at].prefix.as_bytes());
        at += 1;
    }
    beginnings
        // Web tokens, SendGrid, keys in base64, PuTTY.
        .and(b"eyJ")
        .and(b"ewo")
        .and(b"SG.")
        .and(b"LS0")
        .and(b"PuT")
        // Directives.
        .and(b"req")
        .and(b"mas")
        .and(b"pas")
        .and_headers()
        .and_numbers()
};

impl Beginnings {
    const fn and(mut self, word: &[u8]) -> Self {
        let first = word[0] as usize;
        self.seconds[first] |= 1 << word[1];
        self.thirds[first] |= if word.len() > 2 { 1 << word[2] } else { u128::MAX };
        self
    }

    /// `Bearer` and `Basic`, in any case.
    const fn and_headers(self) -> Self {
        self.and(b"bea")
            .and(b"bAS")
            .and(b"bEA")
            .and(b"bas")
            .and(b"Bea")
            .and(b"BAS")
            .and(b"BEA")
            .and(b"Bas")
    }

    /// The number of a bot.
    const fn and_numbers(mut self) -> Self {
        const DIGITS: u128 = ((1 << 10) - 1) << b'0';
        let mut first = b'0' as usize;
        while first <= b'9' as usize {
            self.seconds[first] |= DIGITS;
            self.thirds[first] |= DIGITS;
            first += 1;
        }
        self
    }

    /// Whether a word that begins so may be looked at. The second and the
    /// third byte are not held against each other.
    #[inline]
    fn hold(&self, first: u8, rest: &[u8]) -> bool {
        let first = usize::from(first);
        let [second, third, ..] = *rest else { return false };
        let is_in = |bytes: u128, byte: u8| byte.is_ascii() && bytes >> byte & 1 == 1;
        self.seconds.get(first).is_some_and(|seconds| is_in(*seconds, second))
            && self.thirds.get(first).is_some_and(|thirds| is_in(*thirds, third))
    }
}

/// The first place from here on at which a secret can begin.
#[inline]
pub(super) fn next(bytes: &[u8], from: usize) -> Option<usize> {
    let before = from.checked_sub(1).and_then(|at| bytes.get(at));
    let in_word = before.is_some_and(u8::is_ascii_alphanumeric);
    let mut at = if in_word { after_word(bytes, from) } else { from };
    loop {
        let byte = *bytes.get(at)?;
        let can_begin = match KINDS[usize::from(byte)] {
            Kind::Other => false,
            Kind::Sign | Kind::Dash => true,
            Kind::Word | Kind::Dollar => {
                BEGINNINGS.hold(byte, bytes.get(at + 1..).unwrap_or_default())
            }
        };
        if can_begin {
            return Some(at);
        }
        at = if byte.is_ascii_alphanumeric() { after_word(bytes, at + 1) } else { at + 1 };
    }
}

/// The place after the word that goes on here, and after a dash that ends it.
#[inline]
fn after_word(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let length = rest.iter().position(|byte| KINDS[usize::from(*byte)] != Kind::Word);
    let end = from + length.unwrap_or(rest.len());
    if bytes.get(end) == Some(&b'-') { end + 1 } else { end }
}
