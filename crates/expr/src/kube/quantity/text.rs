//! How a quantity is read and written.

use std::{fmt, str::FromStr};

use super::{Amount, Format, Quantity, QuantityError, decimal::Decimal};

/// The smallest power of ten that an amount can have.
const NANO: i32 = -9;

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Malformed);
        }
        let parts = Parts::split(text)?;
        let suffix = Suffix::read(parts.suffix).ok_or(QuantityError::UnknownSuffix)?;
        match parts.small(suffix) {
            Some(amount) => Ok(Self { amount, format: suffix.format }),
            None => parts.large(suffix),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, _) = self.decimal();
        if self.format == Format::BinarySi
            && let Some(mut value) = number.to_i128()
            && value.unsigned_abs() >= 1024
        {
            let mut unit = "";
            for larger in BINARY_UNITS {
                if value % 1024 != 0 {
                    break;
                }
                (value, unit) = (value / 1024, larger);
            }
            return write!(out, "{value}{unit}");
        }
        if number.is_zero() {
            return out.write_str("0");
        }
        let (digits, exponent, negative) = number.parts();
        if negative {
            out.write_str("-")?;
        }
        let zeros = exponent.rem_euclid(3);
        for digit in digits.iter().copied().chain((0..zeros).map(|_| 0)) {
            write!(out, "{digit}")?;
        }
        let unit = match exponent - zeros {
            0 => return Ok(()),
            _ if self.format == Format::DecimalExponent => None,
            unit => DECIMAL_UNITS.iter().find(|(_, exponent)| i64::from(*exponent) == unit),
        };
        match unit {
            Some((unit, _)) => out.write_str(unit),
            None => write!(out, "e{}", exponent - zeros),
        }
    }
}

/// A text, taken apart.
struct Parts<'a> {
    negative: bool,
    /// The digits before the point, without leading zeros.
    whole: &'a str,
    /// The digits behind the point.
    fraction: &'a str,
    suffix: &'a str,
    /// Whether any digit was written at all; `m` alone is taken for zero.
    written: bool,
}

impl<'a> Parts<'a> {
    fn split(text: &'a str) -> Result<Self, QuantityError> {
        let negative = text.starts_with('-');
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let significant = unsigned.trim_start_matches('0');
        let (whole, rest) = split_digits(significant);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
        let sign = suffix.trim_start_matches(|letter| "eEinumkKMGTP".contains(letter));
        let exponent = sign.strip_prefix(['-', '+']).unwrap_or(sign);
        if !split_digits(exponent).1.is_empty() {
            return Err(QuantityError::Malformed);
        }
        let written =
            significant.len() < unsigned.len() || !whole.is_empty() || !fraction.is_empty();
        Ok(Self { negative, whole, fraction, suffix, written })
    }

    /// The amount as an integer, if the text is short enough for the server to
    /// try that.
    fn small(&self, suffix: Suffix) -> Option<Amount> {
        let whole = self.whole.len().max(1);
        let (spare, scale) = match suffix.format {
            Format::BinarySi if !self.fraction.is_empty() => return None,
            Format::BinarySi => (14 - suffix.exponent * 3 / 10, 0),
            _ => (18, suffix.exponent),
        };
        let length = i32::try_from(whole.checked_add(self.fraction.len())?).ok()?;
        let places = i32::try_from(self.fraction.len()).ok()?;
        let scale = scale.wrapping_sub(places);
        if length > spare || scale < NANO {
            return None;
        }
        let digits = self.whole.bytes().chain(self.fraction.bytes());
        let value = digits.fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
        let value = match suffix.format {
            Format::BinarySi => {
                value.checked_mul(1_i64.checked_shl(suffix.exponent.unsigned_abs())?)?
            }
            _ => value,
        };
        Some(Amount::Small { value: if self.negative { -value } else { value }, scale })
    }

    /// The amount as an exact decimal, rounded up to a whole number of nanos.
    fn large(&self, suffix: Suffix) -> Result<Quantity, QuantityError> {
        if !self.written {
            return Err(QuantityError::NoNumber);
        }
        let binary = suffix.format == Format::BinarySi;
        let (power, doublings) =
            if binary { (0, suffix.exponent.unsigned_abs()) } else { (suffix.exponent, 0) };
        let places = i32::try_from(self.fraction.len()).unwrap_or(i32::MAX);
        let digits = self.whole.bytes().chain(self.fraction.bytes());
        let exponent = i64::from(power) - i64::from(places);
        let number = Decimal::from_text(false, digits, exponent).doubled(doublings);
        let places = places.wrapping_sub(power);
        let places = if number.is_zero() { places } else { -NANO };
        let number = number.rounded_up(i64::from(NANO));
        let largest = Decimal::from_integer(i64::MAX, 0);
        let (number, places) =
            if binary && number > largest { (largest, 0) } else { (number, places) };
        let part = number.sign() > 0 && number < Decimal::from_integer(1, 0);
        let format = if binary && part { Format::DecimalSi } else { suffix.format };
        let number = if self.negative { number.negated() } else { number };
        Ok(Quantity { amount: Amount::Large { number, places }, format })
    }
}

const DECIMAL_UNITS: [(&str, i32); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];

const BINARY_UNITS: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// A unit: a power of ten, or for [`Format::BinarySi`] of two.
#[derive(Clone, Copy)]
struct Suffix {
    format: Format,
    exponent: i32,
}

impl Suffix {
    fn read(text: &str) -> Option<Self> {
        if let Some((_, exponent)) = DECIMAL_UNITS.iter().find(|(unit, _)| *unit == text) {
            return Some(Self { format: Format::DecimalSi, exponent: *exponent });
        }
        if let Some(binary) =
            ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].iter().zip(1..).find(|(unit, _)| **unit == text)
        {
            return Some(Self { format: Format::BinarySi, exponent: 10 * binary.1 });
        }
        let exponent: i64 = text.strip_prefix(['e', 'E'])?.parse().ok()?;
        // The server keeps the lower half of what it reads, so we do.
        #[expect(clippy::cast_possible_truncation, reason = "the server truncates here")]
        Some(Self { format: Format::DecimalExponent, exponent: exponent as i32 })
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    text.split_at(text.len() - rest.len())
}
