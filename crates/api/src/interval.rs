//! Export intervals, spelled as Go durations.

use std::{borrow::Cow, time::Duration};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// An interval between exports as the user spelled it, such as `90s` or `1h30m`.
///
/// The text is kept, because what cannot be parsed has to be reported with its
/// field and must not stop the object from being decoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExportInterval(String);

/// Why a text is no export interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IntervalError {
    /// It is not spelled like a Go duration.
    #[error("must be a duration such as 30s, 5m or 1h30m (units: ns, us, ms, s, m, h)")]
    Malformed,
    /// It is below zero or above a day.
    #[error("must be between 0s and 24h")]
    OutOfRange,
}

impl ExportInterval {
    /// The longest interval that any field accepts.
    pub const MAX: Duration = Duration::from_hours(24);

    /// What the API server stores when an inventory names no interval.
    pub const INVENTORY_DEFAULT: Duration = Duration::from_secs(30);

    /// What the user wrote.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The length of the interval, within zero and a day.
    pub fn duration(&self) -> Result<Duration, IntervalError> {
        let nanoseconds = go_duration(&self.0).ok_or(IntervalError::Malformed)?;
        let length = u64::try_from(nanoseconds).map_err(|_| IntervalError::OutOfRange)?;
        let length = Duration::from_nanos(length);
        if length > Self::MAX { Err(IntervalError::OutOfRange) } else { Ok(length) }
    }

    pub(crate) fn inventory_default() -> Self {
        Self("30s".to_owned())
    }
}

impl From<&str> for ExportInterval {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl JsonSchema for ExportInterval {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ExportInterval".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "maxLength": 64,
            "x-kubernetes-validations": [{
                "rule": "duration(self) >= duration('0s') && duration(self) <= duration('24h')",
                "message": "must be a duration between 0s and 24h, such as 30s or 1h30m"
            }]
        })
    }
}

/// Reads a Go duration into nanoseconds; `None` if it is not spelled like one.
///
/// Fractions below a nanosecond are cut off. What does not fit is saturated,
/// which every caller reports as out of range.
fn go_duration(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if digits == "0" {
        return Some(0);
    }
    let mut rest = digits;
    let mut total: i128 = 0;
    while !rest.is_empty() || digits.is_empty() {
        let (value, after) = component(rest)?;
        total = total.saturating_add(value);
        rest = after;
    }
    Some(if negative { -total } else { total })
}

/// Reads one number with its unit off the front.
fn component(text: &str) -> Option<(i128, &str)> {
    let end_of_number = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, rest) = text.split_at(end_of_number);
    let end_of_unit = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(end_of_unit);
    let nanoseconds: i128 = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<i64>().ok()?.into() };
    Some((nanoseconds.saturating_mul(whole) + part(fraction, nanoseconds), rest))
}

/// The part of `unit` that the digits after the point stand for.
fn part(fraction: &str, unit: i128) -> i128 {
    let digits = fraction.bytes().take(18);
    let (value, scale) = digits.fold((0_i128, 1_i128), |(value, scale), digit| {
        (value * 10 + i128::from(digit - b'0'), scale * 10)
    });
    value * unit / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<Duration, IntervalError>) {
        assert_eq!(ExportInterval::from(text).duration(), expected, "{text}");
    }

    #[test]
    fn reads_what_go_reads() {
        check("30s", Ok(Duration::from_secs(30)));
        check("1h30m", Ok(Duration::from_mins(90)));
        check("1.5h", Ok(Duration::from_mins(90)));
        check(".5m", Ok(Duration::from_secs(30)));
        check("500ms", Ok(Duration::from_millis(500)));
        check("3us", Ok(Duration::from_micros(3)));
        check("3µs", Ok(Duration::from_micros(3)));
        check("+1s", Ok(Duration::from_secs(1)));
    }

    #[test]
    fn a_bare_zero_is_the_only_number_without_a_unit() {
        check("0", Ok(Duration::ZERO));
        check("0s", Ok(Duration::ZERO));
        check("30", Err(IntervalError::Malformed));
    }

    #[test]
    fn refuses_what_go_refuses() {
        for text in ["", "-", "1d", "s", "1 s", " 1s", "1.2.3s", ".s", "1h30", "abc", "1S"] {
            check(text, Err(IntervalError::Malformed));
        }
    }

    #[test]
    fn stays_within_a_day() {
        check("24h", Ok(ExportInterval::MAX));
        check("24h1ns", Err(IntervalError::OutOfRange));
        check("-1s", Err(IntervalError::OutOfRange));
        check("9223372036854775807h", Err(IntervalError::OutOfRange));
    }
}
