//! A point in time, from year 1 to year 9999, to the nanosecond.
//!
//! The calendar is the proleptic Gregorian one, counted in days; of the time
//! library only the rules of time zones are used, since its own range ends a
//! day too early.

use std::fmt;

use super::convert::no_such;
use crate::eval::Reason;

const DAY: i64 = 86_400;
const BILLION: i128 = 1_000_000_000;

/// The first second of year 1 and the last of year 9999.
const FIRST: i64 = -62_135_596_800;
const LAST: i64 = 253_402_300_799;

/// Seconds and nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant {
    seconds: i64,
    nanoseconds: u32,
}

/// What a calendar and a clock show.
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// From 1.
    pub(crate) month: i64,
    pub(crate) day: i64,
    /// From 0.
    pub(crate) day_of_year: i64,
    /// From Sunday, which is 0.
    pub(crate) weekday: i64,
    /// Since midnight.
    pub(crate) second: i64,
}

impl Instant {
    /// So many nanoseconds after 1970 began, if a year has four digits then.
    pub fn from_nanoseconds(nanoseconds: i128) -> Option<Self> {
        let seconds = i64::try_from(nanoseconds.div_euclid(BILLION)).ok()?;
        let nanoseconds = u32::try_from(nanoseconds.rem_euclid(BILLION)).ok()?;
        (FIRST..=LAST).contains(&seconds).then_some(Self { seconds, nanoseconds })
    }

    pub(crate) fn nanoseconds(self) -> i128 {
        i128::from(self.seconds) * BILLION + i128::from(self.nanoseconds)
    }

    pub(crate) fn seconds(self) -> i64 {
        self.seconds
    }

    pub(crate) fn milliseconds(self) -> i64 {
        i64::from(self.nanoseconds / 1_000_000)
    }

    /// What a calendar shows where clocks are so many seconds ahead.
    pub(crate) fn civil(self, ahead: i64) -> Civil {
        let local = self.seconds + ahead;
        let days = local.div_euclid(DAY);
        let (year, month, day) = date(days);
        Civil {
            year,
            month,
            day,
            day_of_year: days - day_number(year, 1, 1),
            weekday: (days + 4).rem_euclid(7),
            second: local.rem_euclid(DAY),
        }
    }

    /// Reads RFC 3339.
    pub(crate) fn read(text: &str) -> Result<Self, Reason> {
        let read = read(text).ok_or_else(|| no_such("timestamp", text))?;
        Self::from_nanoseconds(read).ok_or(Reason::Overflow)
    }
}

/// RFC 3339 in UTC, with as many digits behind the second as are needed.
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Civil { year, month, day, second, .. } = self.civil(0);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if self.nanoseconds > 0 {
            let digits = format!("{:09}", self.nanoseconds);
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        f.write_str("Z")
    }
}

/// The number of a day, with 1970 beginning at 0. Years are counted from
/// March, so that the odd day of a leap year is their last.
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

fn digits(text: &str, from: usize, count: usize) -> Option<i64> {
    let part = text.get(from..from + count)?;
    part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten()
}

/// The nanoseconds since 1970 that a text names.
fn read(text: &str) -> Option<i128> {
    let sign = |at: usize, sign: &str| (text.get(at..=at)? == sign).then_some(());
    let (year, month, day) = (digits(text, 0, 4)?, digits(text, 5, 2)?, digits(text, 8, 2)?);
    let (hour, minute, second) = (digits(text, 11, 2)?, digits(text, 14, 2)?, digits(text, 17, 2)?);
    for (at, expected) in [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")] {
        sign(at, expected)?;
    }
    let days = day_number(year, month, day);
    if date(days) != (year, month, day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let rest = text.get(19..)?;
    let (fraction, zone) = match rest.strip_prefix('.') {
        Some(after) => {
            let end = after.find(|c: char| !c.is_ascii_digit())?;
            after.split_at(end)
        }
        None => ("", rest),
    };
    if rest.starts_with('.') && fraction.is_empty() {
        return None;
    }
    let mut nanoseconds: String = fraction.chars().take(9).collect();
    nanoseconds.extend(std::iter::repeat_n('0', 9 - nanoseconds.len()));
    let seconds = days * DAY + hour * 3600 + minute * 60 + second - ahead(zone)?;
    Some(i128::from(seconds) * BILLION + nanoseconds.parse::<i128>().ok()?)
}

/// How many seconds a zone such as `Z` or `+02:00` is ahead.
fn ahead(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let sign = match zone.get(..1)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let (hours, minutes) = (digits(zone, 1, 2)?, digits(zone, 4, 2)?);
    let sound = zone.len() == 6 && zone.get(3..4)? == ":" && hours < 24 && minutes < 60;
    sound.then_some(sign * (hours * 3600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_spelled_again() {
        for text in [
            "0001-01-01T00:00:00Z",
            "1970-01-01T00:00:00Z",
            "2000-02-29T12:30:45.123456789Z",
            "2024-12-31T23:59:59.5Z",
            "9999-12-31T23:59:59.999999999Z",
        ] {
            assert_eq!(Instant::read(text).unwrap().to_string(), text);
        }
        let away = Instant::read("2026-03-01T08:30:00+02:00").unwrap();
        assert_eq!(away.to_string(), "2026-03-01T06:30:00Z");
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "2026-03-01",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-03-01 08:30:00Z",
            "2026-03-01T08:30:00",
            "2026-03-01T08:30:00.Z",
            "2026-03-01T24:00:00Z",
            "2026-03-01T08:30:00+2:00",
            "0000-12-31T23:59:59Z",
            "9999-12-31T23:59:59-01:00",
        ] {
            assert!(Instant::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_day_has_its_number() {
        for days in -719_162..2_932_896 {
            let (year, month, day) = date(days);
            assert_eq!(day_number(year, month, day), days);
        }
    }
}
