//! Amounts of resources: `100m`, `1.5Gi`, `12e6`.
//!
//! The API server keeps an amount in one of two forms: a 64-bit integer with a
//! power of ten where the text is short, and an exact decimal otherwise. Which
//! one it took can be seen from outside (only the first is ever an integer),
//! so both are here too, with the server's rule of choice between them.
//! What the server would need gigabytes for, such as `1e1000000000` plus one,
//! is an error here.

mod decimal;
mod text;

use std::cmp::Ordering;

use decimal::Decimal;

/// Why a text is no quantity, or an operation on quantities has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// Something stands where no quantity has anything.
    #[error(
        "quantities must match the regular expression \
         '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )]
    Malformed,
    /// There is no digit where one is needed.
    #[error("unable to parse numeric part of quantity")]
    NoNumber,
    /// The unit is none of those that exist.
    #[error("unable to parse quantity's suffix")]
    UnknownSuffix,
    /// The amount is no integer of 64 bits, or was not kept as one.
    #[error("cannot convert value to integer")]
    NotAnInteger,
    /// The sum has more digits than anybody needs.
    #[error("the sum of the quantities has too many digits")]
    TooManyDigits,
}

/// An amount of some resource.
///
/// Two quantities are equal if they are the same amount, however they were
/// written. [`Display`](std::fmt::Display) writes the canonical form: the largest unit of the
/// kind it was written with in which the amount is a whole number.
///
/// ```
/// # use kollect_expr::kube::quantity::Quantity;
/// let memory: Quantity = "1.5Gi".parse()?;
/// assert_eq!(memory, "1536Mi".parse()?);
/// assert_eq!(memory.to_string(), "1536Mi");
/// # Ok::<(), kollect_expr::kube::quantity::QuantityError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Quantity {
    amount: Amount,
    format: Format,
}

#[derive(Clone, Debug)]
enum Amount {
    /// `value · 10^scale`, where the text was short enough.
    Small { value: i64, scale: i32 },
    /// Anything else. `places` is how many decimal places the server writes
    /// out; it only shows in the rounding of the approximate float.
    Large { number: Decimal, places: i32 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    DecimalExponent,
    BinarySi,
    DecimalSi,
}

impl Quantity {
    /// The sign of the amount: -1, 0 or 1.
    pub fn sign(&self) -> i64 {
        match &self.amount {
            Amount::Small { value, .. } => value.signum(),
            Amount::Large { number, .. } => number.sign(),
        }
    }

    /// Whether [`Quantity::as_integer`] has a result.
    pub fn is_integer(&self) -> bool {
        self.as_integer().is_ok()
    }

    /// The amount as an integer.
    ///
    /// Fails where the server fails, which is more often than one would think:
    /// for `2.0`, for anything with more than eighteen digits, and for `1Pi`.
    pub fn as_integer(&self) -> Result<i64, QuantityError> {
        match &self.amount {
            Amount::Small { value, scale } => scaled(*value, *scale),
            Amount::Large { .. } => None,
        }
        .ok_or(QuantityError::NotAnInteger)
    }

    /// The amount as a double, rounded as the server rounds.
    ///
    /// May be infinite or, for `0e400`, not a number.
    pub fn as_approximate_float(&self) -> f64 {
        let (base, exponent) = match &self.amount {
            #[expect(clippy::cast_precision_loss, reason = "the server rounds here too")]
            Amount::Small { value, scale } => (*value as f64, *scale),
            Amount::Large { number, places } => {
                (number.to_f64(i64::from(*places)), places.wrapping_neg())
            }
        };
        if exponent == 0 { base } else { base * power_of_ten(exponent) }
    }

    /// The sum with another quantity.
    pub fn add(&self, other: &Self) -> Result<Self, QuantityError> {
        let small = match other.amount {
            Amount::Small { value, scale } => self.small_sum(value, scale),
            Amount::Large { .. } => None,
        };
        self.sum(small, other, other.decimal())
    }

    /// The difference from another quantity.
    pub fn sub(&self, other: &Self) -> Result<Self, QuantityError> {
        let small = match other.amount {
            // For the server, the negative of the smallest integer is itself.
            Amount::Small { value, scale } => self.small_sum(value.wrapping_neg(), scale),
            Amount::Large { .. } => None,
        };
        let (number, places) = other.decimal();
        self.sum(small, other, (number.negated(), places))
    }

    /// The sum with an integer.
    pub fn add_int(&self, other: i64) -> Result<Self, QuantityError> {
        self.add(&other.into())
    }

    /// The difference from an integer.
    pub fn sub_int(&self, other: i64) -> Result<Self, QuantityError> {
        self.sub(&other.into())
    }

    /// The small sum if there is one, and otherwise the exact one.
    fn sum(
        &self,
        small: Option<Amount>,
        other: &Self,
        (theirs, their_places): (Decimal, i32),
    ) -> Result<Self, QuantityError> {
        let format = if self.sign() == 0 { other.format } else { self.format };
        if let Some(amount) = small {
            return Ok(Self { amount, format });
        }
        let (ours, our_places) = self.decimal();
        let number = ours.sum(&theirs).ok_or(QuantityError::TooManyDigits)?;
        Ok(Self { amount: Amount::Large { number, places: our_places.max(their_places) }, format })
    }

    /// The sum of two small amounts, if it is small.
    fn small_sum(&self, value: i64, scale: i32) -> Option<Amount> {
        let Amount::Small { value: ours, scale: our_scale } = self.amount else { return None };
        if value == 0 {
            return Some(self.amount.clone());
        }
        if ours == 0 {
            return Some(Amount::Small { value, scale });
        }
        let common = our_scale.min(scale);
        let ours = scaled(ours, our_scale.checked_sub(common)?)?;
        let theirs = scaled(value, scale.checked_sub(common)?)?;
        Some(Amount::Small { value: ours.checked_add(theirs)?, scale: common })
    }

    /// The order of two small amounts, unless they are far apart.
    fn small_cmp(&self, other: &Self) -> Option<Ordering> {
        let (
            Amount::Small { value: ours, scale: our_scale },
            Amount::Small { value: theirs, scale: their_scale },
        ) = (&self.amount, &other.amount)
        else {
            return None;
        };
        let common = *our_scale.min(their_scale);
        let wide = |value: i64, scale: i32| {
            let zeros = u32::try_from(i64::from(scale) - i64::from(common)).ok()?;
            i128::from(value).checked_mul(10_i128.checked_pow(zeros)?)
        };
        Some(wide(*ours, *our_scale)?.cmp(&wide(*theirs, *their_scale)?))
    }

    /// The exact number, and the decimal places the server writes it with.
    fn decimal(&self) -> (Decimal, i32) {
        match &self.amount {
            Amount::Small { value, scale } => {
                (Decimal::from_integer(*value, i64::from(*scale)), scale.wrapping_neg())
            }
            Amount::Large { number, places } => (number.clone(), *places),
        }
    }
}

impl From<i64> for Quantity {
    fn from(value: i64) -> Self {
        Self { amount: Amount::Small { value, scale: 0 }, format: Format::DecimalExponent }
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.small_cmp(other).unwrap_or_else(|| self.decimal().0.cmp(&other.decimal().0))
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Quantity {}

/// `value · 10^scale` for a scale that is not negative.
fn scaled(value: i64, scale: i32) -> Option<i64> {
    let scale = u32::try_from(scale).ok()?;
    if value == 0 {
        return Some(0);
    }
    value.checked_mul(10_i64.checked_pow(scale)?)
}

/// The power of ten as the server computes it: from two tables, which is not
/// always the nearest double.
fn power_of_ten(exponent: i32) -> f64 {
    let table = |exponent: i32| format!("1e{exponent}").parse().unwrap_or(f64::NAN);
    match exponent {
        ..-323 => 0.0,
        -323..=0 => {
            let (coarse, fine): (f64, f64) = (table(exponent / 32 * 32), table(-exponent % 32));
            coarse / fine
        }
        1..=308 => {
            let (coarse, fine): (f64, f64) = (table(exponent / 32 * 32), table(exponent % 32));
            coarse * fine
        }
        309.. => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests;
