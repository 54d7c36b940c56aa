//! Exact decimal numbers of any size.
//!
//! A quantity may have a thousand digits, and be `1e1000000000`. Digits and
//! exponent are kept apart, so that neither costs more than its own text: only
//! a sum has to write zeros out, and it is the only operation with a limit.

use std::{cmp::Ordering, iter};

/// How many zeros a sum may write beyond the digits its operands have.
const ZEROS: i64 = 4096;

/// A number of the form `±digits · 10^exponent`.
#[derive(Clone, Debug)]
pub(super) struct Decimal {
    negative: bool,
    /// Most significant first, with no zero at either end; empty for zero.
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    pub(super) fn new(negative: bool, digits: Vec<u8>, exponent: i64) -> Self {
        let mut number = Self { negative, digits, exponent };
        while number.digits.last() == Some(&0) {
            number.digits.pop();
            number.exponent = number.exponent.saturating_add(1);
        }
        let zeros = number.digits.iter().take_while(|&&digit| digit == 0).count();
        number.digits.drain(..zeros);
        number
    }

    /// Reads ASCII digits; whatever else there is counts as nothing.
    pub(super) fn from_text(negative: bool, text: impl Iterator<Item = u8>, exponent: i64) -> Self {
        let digits = text.map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10);
        Self::new(negative, digits.collect(), exponent)
    }

    pub(super) fn from_integer(value: i64, exponent: i64) -> Self {
        let text = value.unsigned_abs().to_string();
        Self::from_text(value < 0, text.bytes(), exponent)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(super) fn sign(&self) -> i64 {
        match (self.is_zero(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    pub(super) fn negated(&self) -> Self {
        Self { negative: !self.negative, ..self.clone() }
    }

    /// The digits, how many zeros follow them, and whether a minus stands before.
    pub(super) fn parts(&self) -> (&[u8], i64, bool) {
        (&self.digits, self.exponent, self.negative && !self.is_zero())
    }

    /// The nearest double of this number, moved `places` to the left.
    pub(super) fn to_f64(&self, places: i64) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        let sign = if self.negative { "-" } else { "" };
        let digits = self.digits.iter().map(|digit| char::from(b'0' + digit));
        let digits: String = digits.collect();
        let exponent = self.exponent.saturating_add(places);
        format!("{sign}{digits}e{exponent}").parse().unwrap_or(f64::NAN)
    }

    /// The number as an integer, if it is one and that wide.
    pub(super) fn to_i128(&self) -> Option<i128> {
        let zeros = u32::try_from(self.exponent).ok()?;
        let mut value = 0_i128;
        for digit in &self.digits {
            value = value.checked_mul(10)?.checked_add(i128::from(*digit))?;
        }
        let value = value.checked_mul(10_i128.checked_pow(zeros)?)?;
        Some(if self.negative { -value } else { value })
    }

    /// Twice itself, `times` times; at most sixty.
    pub(super) fn doubled(&self, times: u32) -> Self {
        let factor = 1_u64 << times.min(60);
        let mut carry = 0;
        let mut digits = Vec::with_capacity(self.digits.len() + 20);
        for digit in self.digits.iter().rev() {
            let product = u64::from(*digit) * factor + carry;
            digits.push((product % 10) as u8);
            carry = product / 10;
        }
        while carry > 0 {
            digits.push((carry % 10) as u8);
            carry /= 10;
        }
        digits.reverse();
        Self::new(self.negative, digits, self.exponent)
    }

    /// Itself without anything below `10^place`, rounded away from zero.
    pub(super) fn rounded_up(mut self, place: i64) -> Self {
        if self.is_zero() || self.exponent >= place {
            return self;
        }
        let below = place.saturating_sub(self.exponent);
        let kept =
            usize::try_from(below).map_or(0, |below| self.digits.len().saturating_sub(below));
        // The last digit is never zero, so something is always cut off.
        self.digits.truncate(kept);
        match self.digits.iter().rposition(|&digit| digit < 9) {
            Some(last) => {
                self.digits.truncate(last + 1);
                self.digits.extend(iter::repeat_n(0, kept - last - 1));
                if let Some(digit) = self.digits.get_mut(last) {
                    *digit += 1;
                }
            }
            None => {
                self.digits = iter::once(1).chain(iter::repeat_n(0, kept)).collect();
            }
        }
        Self::new(self.negative, self.digits, place)
    }

    /// The exact sum, or nothing if writing it down would take too many zeros.
    pub(super) fn sum(&self, other: &Self) -> Option<Self> {
        if self.is_zero() {
            return Some(other.clone());
        }
        if other.is_zero() {
            return Some(self.clone());
        }
        let low = self.exponent.min(other.exponent);
        let high = self.magnitude().max(other.magnitude());
        let own = i64::try_from(self.digits.len() + other.digits.len()).ok()?;
        if high.saturating_sub(low) > own.saturating_add(ZEROS) {
            return None;
        }
        let width = usize::try_from(high - low).ok()?;
        let (ours, theirs) = (self.column(low, width)?, other.column(low, width)?);
        Some(if self.negative == other.negative {
            Self::new(self.negative, added(&ours, &theirs), low)
        } else {
            match ours.cmp(&theirs) {
                Ordering::Less => Self::new(other.negative, subtracted(&theirs, &ours), low),
                _ => Self::new(self.negative, subtracted(&ours, &theirs), low),
            }
        })
    }

    /// The power of ten just above the number.
    fn magnitude(&self) -> i64 {
        let length = i64::try_from(self.digits.len()).unwrap_or(i64::MAX);
        self.exponent.saturating_add(length)
    }

    /// The digits written out from `10^low` up, `width` of them.
    fn column(&self, low: i64, width: usize) -> Option<Vec<u8>> {
        let behind = usize::try_from(self.exponent - low).ok()?;
        let before = width.checked_sub(behind)?.checked_sub(self.digits.len())?;
        let zeros = |count| iter::repeat_n(0, count);
        Some(zeros(before).chain(self.digits.iter().copied()).chain(zeros(behind)).collect())
    }

    fn compare_magnitudes(&self, other: &Self) -> Ordering {
        let magnitudes = self.magnitude().cmp(&other.magnitude());
        // Without zeros at the end, a shorter number with the same beginning is smaller.
        magnitudes.then_with(|| self.digits.cmp(&other.digits))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sign().cmp(&other.sign()).then_with(|| match self.sign() {
            0 => Ordering::Equal,
            1 => self.compare_magnitudes(other),
            _ => other.compare_magnitudes(self),
        })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

/// Adds two columns of the same width.
fn added(ours: &[u8], theirs: &[u8]) -> Vec<u8> {
    let mut carry = 0;
    let mut digits = Vec::with_capacity(ours.len() + 1);
    for (our, their) in ours.iter().zip(theirs).rev() {
        let sum = our + their + carry;
        digits.push(sum % 10);
        carry = sum / 10;
    }
    digits.push(carry);
    digits.reverse();
    digits
}

/// Takes the smaller of two columns of the same width from the larger.
fn subtracted(larger: &[u8], smaller: &[u8]) -> Vec<u8> {
    let mut borrowed = 0;
    let mut digits = Vec::with_capacity(larger.len());
    for (large, small) in larger.iter().zip(smaller).rev() {
        let owed = small + borrowed;
        borrowed = u8::from(*large < owed);
        digits.push(large + 10 * borrowed - owed);
    }
    digits.reverse();
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Decimal {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
        Decimal::from_text(negative, digits.bytes(), exponent.parse().unwrap())
    }

    #[test]
    fn sums_are_exact_and_bounded() {
        for (left, right, sum) in [
            ("1", "2", Some("3")),
            ("999", "1", Some("1000")),
            ("1e20", "-1", Some("99999999999999999999")),
            ("-5e-1", "5e-1", Some("0")),
            ("-7", "2", Some("-5")),
            ("0", "1e1000000000", Some("1e1000000000")),
            ("1", "1e1000000000", None),
            ("1e1000000000", "1e1000000000", Some("2e1000000000")),
        ] {
            assert_eq!(number(left).sum(&number(right)), sum.map(number), "{left} + {right}");
        }
    }

    #[test]
    fn the_order_is_that_of_the_numbers() {
        let ordered =
            ["-1e9", "-20", "-2", "-1e-9", "0", "1e-9", "10e-1", "12e-1", "2", "11", "1e9"];
        for pair in ordered.windows(2) {
            assert!(number(pair[0]) < number(pair[1]), "{pair:?}");
        }
        assert_eq!(number("1000e-3"), number("1"));
        assert_eq!(number("-0"), number("0"));
    }

    #[test]
    fn rounding_goes_away_from_zero() {
        for (text, place, rounded) in [
            ("1e-30", -9, "1e-9"),
            ("-1e-30", -9, "-1e-9"),
            ("1234", 2, "13e2"),
            ("999", 1, "1000"),
            ("9199", 2, "92e2"),
            ("1000", 2, "1000"),
            ("12", 9, "1e9"),
        ] {
            assert_eq!(number(text).rounded_up(place), number(rounded), "{text}");
        }
    }

    #[test]
    fn powers_of_two_are_exact() {
        assert_eq!(number("3").doubled(60), number("3458764513820540928"));
        assert_eq!(number("15e-1").doubled(10), number("1536"));
    }
}
