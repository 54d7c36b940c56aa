//! Passes over a value that is not asked for.
//!
//! A text, a number or a word is checked to be one. Of a map or a list only
//! its frame is checked: that as many brackets of each kind are closed as are
//! opened, and that every text ends and has no control character in it. So it
//! is found where it ends, and what is cut off is noticed; whether commas,
//! colons and words stand where they should is not. Servers write such things
//! correctly or not at all, and manifests were read to the last byte before.
//!
//! What to check is decided by what it costs. Most of an object lies in maps and
//! lists that are skipped, and a byte at a time they take as long as everything
//! else together. So 64 bytes are looked at in one step, in which each becomes a
//! bit, and only brackets outside of texts are looked at alone.

use super::{
    error::{Problem, ReadError},
    number,
    text::text,
    token,
};

/// Where the value has ended that begins here, or behind blanks.
pub(super) fn skip(bytes: &[u8], from: usize) -> Result<usize, ReadError> {
    let (byte, at) = token(bytes, from);
    match byte {
        b'"' => Ok(text(bytes, at + 1)?.1),
        b'{' | b'[' => nested(bytes, at),
        b'-' | b'0'..=b'9' => Ok(number::end(bytes, at)?.0),
        _ => word(bytes, at),
    }
}

/// Where `null`, `true` or `false` has ended.
pub(super) fn word(bytes: &[u8], from: usize) -> Result<usize, ReadError> {
    let rest = bytes.get(from..).unwrap_or_default();
    for word in [&b"true"[..], b"false", b"null"] {
        if rest.starts_with(word) {
            return Ok(from + word.len());
        }
        if word.starts_with(rest) {
            return Err(Problem::Cut.at(bytes.len(), bytes));
        }
    }
    Err(Problem::NoValue.at(from, bytes))
}

/// How many bytes are looked at in one step, as many as a number has bits.
const STEP: usize = 64;

/// Where the map or list has ended whose bracket stands here.
fn nested(bytes: &[u8], from: usize) -> Result<usize, ReadError> {
    let (steps, rest) = bytes.get(from..).unwrap_or_default().as_chunks();
    let mut walk = Walk::default();
    let mut at = from;
    for step in steps {
        match walk.step(step) {
            Ok(None) => at += STEP,
            Ok(Some(end)) => return Ok(at + end),
            Err((problem, place)) => return Err(problem.at(at + place, bytes)),
        }
    }
    let mut last = [b' '; STEP];
    if let Some(start) = last.get_mut(..rest.len()) {
        start.copy_from_slice(rest);
    }
    match walk.step(&last) {
        Ok(Some(end)) => Ok(at + end),
        Ok(None) => Err(Problem::Cut.at(bytes.len(), bytes)),
        Err((problem, place)) => Err(problem.at(at + place, bytes)),
    }
}

/// What is known of the bytes so far.
#[derive(Default)]
struct Walk {
    open: Open,
    /// All bits if the next byte is in a text, otherwise none.
    in_text: u64,
    /// One if a backslash stands before the next byte, and counts.
    escaped: u64,
}

impl Walk {
    /// Goes on by as many bytes; says where among them it has ended, or what is
    /// wrong with which of them.
    #[inline]
    fn step(&mut self, step: &[u8; STEP]) -> Result<Option<usize>, (Problem, usize)> {
        let Marks { quotes, brackets, backslashes, controls } = Marks::of(step);
        let quotes = quotes & !self.escaped(backslashes);
        let in_text = from_odd_to_even(quotes) ^ self.in_text;
        self.in_text = (in_text >> 63).wrapping_neg();
        if controls & in_text != 0 {
            return Err((Problem::Control, (controls & in_text).trailing_zeros() as usize));
        }
        if backslashes & !in_text != 0 {
            return Err((Problem::NoValue, (backslashes & !in_text).trailing_zeros() as usize));
        }
        let mut left = brackets & !in_text;
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            let byte = step.get(at).copied().unwrap_or_default();
            self.open.take(byte);
            if self.open.is_even() {
                let end = Ok(Some(at + 1));
                return if self.open.is_none() { end } else { Err((Problem::Bracket, at)) };
            }
        }
        Ok(None)
    }

    /// Which bytes stand behind a backslash that counts.
    #[inline]
    fn escaped(&mut self, backslashes: u64) -> u64 {
        let mut escaped = std::mem::take(&mut self.escaped);
        let mut left = backslashes & !escaped;
        while left != 0 {
            let lowest = left & left.wrapping_neg();
            escaped |= lowest << 1;
            self.escaped = lowest >> 63;
            left &= !(lowest | lowest << 1);
        }
        escaped
    }
}

/// The bits from each first of two to the one before the second.
#[inline]
fn from_odd_to_even(bits: u64) -> u64 {
    let mut bits = bits;
    for by in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << by;
    }
    bits
}

/// Which of the bytes are what, a bit for each.
struct Marks {
    quotes: u64,
    /// And a few letters, which stand only in texts.
    brackets: u64,
    backslashes: u64,
    controls: u64,
}

impl Marks {
    /// Compares all bytes first, which the compiler does for many at once, and
    /// then gathers the outcomes, a bit of each byte. Written with adapters it
    /// takes up to five times as long, since not all of them are inlined.
    #[inline]
    fn of(step: &[u8; STEP]) -> Self {
        let mut kinds = [0; STEP];
        for at in 0..STEP {
            let byte = step[at];
            kinds[at] = u8::from(byte == b'"')
                | u8::from(byte | 0x26 == 0x7f) << 1
                | u8::from(byte == b'\\') << 2
                | u8::from(byte < b' ') << 3;
        }
        let (words, _) = kinds.as_chunks();
        let gather = |kind: u32| {
            let (mut all, mut place) = (0, 0);
            for word in words {
                all |= bits(u64::from_le_bytes(*word) >> kind) << place;
                place += 8;
            }
            all
        };
        let (quotes, brackets) = (gather(0), gather(1));
        let mut any = 0;
        for word in words {
            any |= u64::from_le_bytes(*word);
        }
        if any & u64::from_ne_bytes([0b1100; 8]) == 0 {
            return Self { quotes, brackets, backslashes: 0, controls: 0 };
        }
        Self { quotes, brackets, backslashes: gather(2), controls: gather(3) }
    }
}

/// The lowest bits of eight bytes, side by side. The factor moves each to its
/// place in the highest byte, and no two to the same place.
#[inline]
fn bits(word: u64) -> u64 {
    (word & u64::from_ne_bytes([1; 8])).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// How many brackets are open: of both kinds in the lower half, of maps in the
/// upper one.
#[derive(Default)]
struct Open(u64);

impl Open {
    const ONE: u64 = 1;
    const MAP: u64 = 1 << 32;

    /// What each byte adds. Which bracket comes next cannot be foreseen, so that
    /// it must not be a branch.
    const ADDS: [u64; 256] = {
        let mut adds = [0; 256];
        adds[b'[' as usize] = Self::ONE;
        adds[b'{' as usize] = Self::ONE + Self::MAP;
        adds[b']' as usize] = Self::ONE.wrapping_neg();
        adds[b'}' as usize] = (Self::ONE + Self::MAP).wrapping_neg();
        adds
    };

    #[inline]
    fn take(&mut self, byte: u8) {
        self.0 = self.0.wrapping_add(Self::ADDS[usize::from(byte)]);
    }

    /// Whether as many were closed as were opened.
    #[inline]
    fn is_even(&self) -> bool {
        self.0 & (Self::MAP - 1) == 0
    }

    /// Whether that holds for each kind.
    fn is_none(&self) -> bool {
        self.0 == 0
    }
}
