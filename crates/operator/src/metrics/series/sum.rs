//! Sums that do not drift: what was added can be taken off again, and leaves
//! nothing behind.
//!
//! Adding floats rounds, so a sum that follows rows for weeks would depend on
//! the order of everything that ever happened. Here nothing is rounded before
//! the sum is shown. A float is a whole number times a power of two; whole
//! numbers of neighbouring powers are added up in one part, exactly, so a sum
//! is the same for the same numbers whatever came and went before.

use std::{collections::BTreeMap, fmt};

use super::super::text::Float;

/// A number to add.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Whole(i128),
    Float(f64),
}

/// Bits of the powers of two that one part stands for. A float has 53 bits of
/// its own, so a part has room for 2^42 floats before it could overflow.
const WIDTH: u64 = 32;
/// The smallest float is this power of two.
const SMALLEST: i32 = -1074;

/// A sum, and how many numbers are in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    numbers: u64,
    whole: i128,
    /// By powers of two, in steps of the width. Parts that are zero are left out.
    parts: BTreeMap<u8, i128>,
}

impl Number {
    /// Reads a number; none if it is not finite.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Ok(whole) = text.parse::<i64>() {
            return Some(Self::Whole(whole.into()));
        }
        // Not `inf`, `nan` and what else is a word that happens to be a number.
        if !text.starts_with(|c: char| c.is_ascii_digit() || ['+', '-', '.'].contains(&c)) {
            return None;
        }
        let float: f64 = text.parse().ok()?;
        float.is_finite().then_some(Self::Float(float))
    }
}

impl Sum {
    /// Whether no number is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.numbers == 0
    }

    pub(super) fn add(&mut self, number: Number) {
        self.numbers += 1;
        self.change(number, 1);
    }

    /// Takes off a number that was added.
    pub(super) fn take(&mut self, number: Number) {
        self.numbers = self.numbers.saturating_sub(1);
        self.change(number, -1);
    }

    fn change(&mut self, number: Number, sign: i128) {
        let float = match number {
            Number::Whole(whole) => {
                self.whole += sign * whole;
                return;
            }
            Number::Float(float) => float,
        };
        let bits = float.abs().to_bits();
        let (power, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
        // The smallest have no leading one, and the same power as those that do.
        let (mantissa, power) =
            if power == 0 { (fraction, 0) } else { (fraction | 1 << 52, power - 1) };
        let amount = i128::from(mantissa) << (power % WIDTH);
        let amount = if float < 0.0 { -amount } else { amount };
        let Ok(part) = u8::try_from(power / WIDTH) else { return };
        let before = self.parts.entry(part).or_default();
        *before += sign * amount;
        if *before == 0 {
            self.parts.remove(&part);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a sum is shown as a float, which rounds it")]
    fn float(&self) -> f64 {
        let part = |(part, amount): (&u8, &i128)| {
            let power = SMALLEST + i32::from(*part) * 32;
            *amount as f64 * two_to_the(power)
        };
        // From the largest on, so that the same parts always give the same float.
        let parts = self.parts.iter().rev().map(part).fold(0.0, |sum, part| sum + part);
        parts + self.whole as f64
    }
}

/// A power of two, exactly, from the smallest that is a float.
fn two_to_the(power: i32) -> f64 {
    let bits = match u64::try_from(power + 1023) {
        Ok(normal) if normal > 0 => normal << 52,
        _ => 1 << u64::try_from(power - SMALLEST).unwrap_or_default(),
    };
    f64::from_bits(bits)
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.parts.is_empty() { self.whole.fmt(f) } else { Float(self.float()).fmt(f) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sum(texts: &[&str]) -> Sum {
        let mut sum = Sum::default();
        for text in texts {
            sum.add(Number::parse(text).unwrap());
        }
        sum
    }

    #[test]
    fn whole_numbers_stay_whole_however_large() {
        assert_eq!(sum(&["9223372036854775807", "1"]).to_string(), "9223372036854775808");
        assert_eq!(sum(&["3", "-5"]).to_string(), "-2");
        assert_eq!(sum(&[]).to_string(), "0");
    }

    #[test]
    fn what_is_small_is_not_lost_beside_what_is_large() {
        let mut sum = sum(&["1e300", "0.25", "1e-300"]);
        sum.take(Number::Float(1e300));
        sum.take(Number::Float(1e-300));
        assert_eq!(sum.to_string(), "0.25");
        sum.take(Number::Float(0.25));
        assert_eq!(sum, Sum::default());
    }

    #[test]
    fn words_are_no_numbers_and_neither_is_what_no_float_can_hold() {
        for text in ["", "inf", "-inf", "NaN", "infinity", "1e999", "1.2.3", "10Mi", " 1", "0x10"] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
        assert_eq!(Number::parse("1e3"), Some(Number::Float(1000.0)));
        assert_eq!(Number::parse(".5"), Some(Number::Float(0.5)));
        assert_eq!(Number::parse("007"), Some(Number::Whole(7)));
    }

    #[test]
    fn every_power_of_two_is_exact() {
        assert_eq!(two_to_the(0).to_bits(), 1_f64.to_bits());
        for power in SMALLEST..1023 {
            let doubled = two_to_the(power) * 2.0;
            assert_eq!(doubled.to_bits(), two_to_the(power + 1).to_bits(), "{power}");
        }
    }

    fn number() -> impl Strategy<Value = Number> {
        let any = any::<f64>().prop_filter("a number", |float| float.is_finite());
        prop_oneof![
            (-1_000_000_i128..1_000_000).prop_map(Number::Whole),
            any.prop_map(Number::Float),
            (-1e3..1e3).prop_map(Number::Float),
        ]
    }

    proptest! {
        #[test]
        fn what_is_taken_off_again_leaves_no_trace(
            kept in prop::collection::vec(number(), 0..20),
            passing in prop::collection::vec(number(), 0..20),
        ) {
            let mut expected = Sum::default();
            for one in &kept {
                expected.add(*one);
            }
            let mut sum = Sum::default();
            for one in passing.iter().chain(kept.iter().rev()) {
                sum.add(*one);
            }
            for one in &passing {
                sum.take(*one);
            }
            prop_assert_eq!(sum, expected);
        }

        #[test]
        fn one_number_is_shown_as_itself(float in any::<f64>()) {
            prop_assume!(float.is_finite());
            let mut sum = Sum::default();
            sum.add(Number::Float(float));
            // There is one zero only.
            prop_assert_eq!(sum.float().to_bits(), (float + 0.0).to_bits());
        }
    }
}
