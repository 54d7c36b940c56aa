//! Timestamps and durations.

use std::sync::LazyLock;

use jiff::{
    Timestamp,
    tz::{TimeZone, TimeZoneDatabase},
};

use super::{
    convert::no_such,
    functions::{Function, method, unfit},
    instant::{Civil, Instant},
    value::Value,
};
use crate::{budget::Budget, eval::Reason};

type Computed<'v, 'a> = Result<Value<'v, 'a>, Reason>;

pub(crate) const FUNCTIONS: &[Function] = &[
    method("getFullYear", "timestamp -> int", year),
    method("getFullYear", "timestamp, string -> int", year),
    method("getMonth", "timestamp -> int", month),
    method("getMonth", "timestamp, string -> int", month),
    method("getDate", "timestamp -> int", date),
    method("getDate", "timestamp, string -> int", date),
    method("getDayOfMonth", "timestamp -> int", day_of_month),
    method("getDayOfMonth", "timestamp, string -> int", day_of_month),
    method("getDayOfWeek", "timestamp -> int", day_of_week),
    method("getDayOfWeek", "timestamp, string -> int", day_of_week),
    method("getDayOfYear", "timestamp -> int", day_of_year),
    method("getDayOfYear", "timestamp, string -> int", day_of_year),
    method("getHours", "timestamp -> int", hours),
    method("getHours", "duration -> int", hours),
    method("getHours", "timestamp, string -> int", hours),
    method("getMinutes", "timestamp -> int", minutes),
    method("getMinutes", "duration -> int", minutes),
    method("getMinutes", "timestamp, string -> int", minutes),
    method("getSeconds", "timestamp -> int", seconds_of),
    method("getSeconds", "duration -> int", seconds_of),
    method("getSeconds", "timestamp, string -> int", seconds_of),
    method("getMilliseconds", "timestamp -> int", milliseconds),
    method("getMilliseconds", "duration -> int", milliseconds),
    method("getMilliseconds", "timestamp, string -> int", milliseconds),
];

/// Seconds with their fraction, such as `90.5s`.
pub(crate) fn seconds(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let all = nanoseconds.unsigned_abs();
    let (seconds, fraction) = (all / 1_000_000_000, all % 1_000_000_000);
    if fraction == 0 {
        return format!("{sign}{seconds}s");
    }
    let digits = format!("{fraction:09}");
    format!("{sign}{seconds}.{}s", digits.trim_end_matches('0'))
}

/// Reads `1h30m`, `-1.5s`, `250ms`.
pub(crate) fn read_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total = 0_i128;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(end);
        let units = [
            ("ns", 1),
            ("us", 1_000),
            ("µs", 1_000),
            ("μs", 1_000),
            ("ms", 1_000_000),
            ("s", 1_000_000_000),
            ("m", 60_000_000_000),
            ("h", 3_600_000_000_000_i128),
        ];
        let (unit, worth) = units.into_iter().find(|(unit, _)| after.starts_with(unit))?;
        rest = after.strip_prefix(unit)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return None;
        }
        let digits: String = fraction.chars().take(18).collect();
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let scale = 10_i128.pow(u32::try_from(digits.len()).ok()?);
        let fraction: i128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
        total = total.checked_add(whole.checked_mul(worth)?)?;
        total = total.checked_add(fraction.checked_mul(worth)? / scale)?;
    }
    if text.trim_start_matches(['-', '+']).is_empty() {
        return None;
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

/// The zones that are part of the program: a result must not depend on the
/// files of the machine.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// What a clock in the zone shows; the zone is UTC if none is named.
fn clock(
    budget: &mut Budget,
    args: &[Value<'_, '_>],
    name: &'static str,
) -> Result<(Instant, Civil), Reason> {
    /// A zone is looked up among six hundred, and its rules are read.
    const LOOKUP: usize = 2_000;
    match args {
        [Value::Timestamp(at)] => Ok((*at, at.civil(0))),
        [Value::Timestamp(at), Value::Text(zone)] => {
            budget.take(LOOKUP)?;
            Ok((*at, at.civil(ahead(zone.as_str(), *at)?)))
        }
        _ => Err(unfit(name, args)),
    }
}

/// How many seconds clocks are ahead in a zone, which is a name or an offset
/// such as `+02:00` or `02:00`.
fn ahead(zone: &str, at: Instant) -> Result<i64, Reason> {
    let unknown = || no_such("time zone", zone);
    let (sign, digits) = match zone.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, zone.strip_prefix('+').unwrap_or(zone)),
    };
    if let Some((hours, minutes)) = digits.split_once(':') {
        let read = |text: &str| text.parse::<u8>().ok().filter(|_| text.len() == 2);
        let hours = read(hours).filter(|hours| *hours < 24).ok_or_else(unknown)?;
        let minutes = read(minutes).filter(|minutes| *minutes < 60).ok_or_else(unknown)?;
        return Ok(sign * (i64::from(hours) * 3600 + i64::from(minutes) * 60));
    }
    let zone = match zone {
        "UTC" | "" => TimeZone::UTC,
        _ => ZONES.get(zone).map_err(|_| unknown())?,
    };
    // Rules do not change on the last day that the library does not know.
    let bounds = (Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
    let near = Timestamp::from_second(at.seconds().clamp(bounds.0, bounds.1));
    let near = near.map_err(|_| Reason::Overflow)?;
    Ok(i64::from(zone.to_offset(near).seconds()))
}

fn year<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    clock(budget, args, "getFullYear").map(|(_, civil)| Value::Int(civil.year))
}

fn month<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    clock(budget, args, "getMonth").map(|(_, civil)| Value::Int(civil.month - 1))
}

fn date<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    clock(budget, args, "getDate").map(|(_, civil)| Value::Int(civil.day))
}

fn day_of_month<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    clock(budget, args, "getDayOfMonth").map(|(_, civil)| Value::Int(civil.day - 1))
}

fn day_of_week<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    clock(budget, args, "getDayOfWeek").map(|(_, civil)| Value::Int(civil.weekday))
}

fn day_of_year<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    clock(budget, args, "getDayOfYear").map(|(_, civil)| Value::Int(civil.day_of_year))
}

fn hours<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Duration(nanoseconds)] => Ok(Value::Int(nanoseconds / 3_600_000_000_000)),
        _ => clock(budget, args, "getHours").map(|(_, civil)| Value::Int(civil.second / 3600)),
    }
}

fn minutes<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Duration(nanoseconds)] => Ok(Value::Int(nanoseconds / 60_000_000_000)),
        _ => clock(budget, args, "getMinutes").map(|(_, civil)| Value::Int(civil.second / 60 % 60)),
    }
}

fn seconds_of<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Duration(nanoseconds)] => Ok(Value::Int(nanoseconds / 1_000_000_000)),
        _ => clock(budget, args, "getSeconds").map(|(_, civil)| Value::Int(civil.second % 60)),
    }
}

/// Of a duration those behind the last full second.
fn milliseconds<'v, 'a>(budget: &mut Budget, args: &[Value<'v, 'a>]) -> Computed<'v, 'a> {
    match args {
        [Value::Duration(nanoseconds)] => Ok(Value::Int(nanoseconds % 1_000_000_000 / 1_000_000)),
        _ => clock(budget, args, "getMilliseconds").map(|(at, _)| Value::Int(at.milliseconds())),
    }
}
