//! Which words a YAML 1.1 reader takes for something else than a text.

/// Whether a text without quotes would be read as a text.
pub(super) fn is_text(text: &str) -> bool {
    match text.bytes().next() {
        None => false,
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => {
            !WORDS.contains(&text)
        }
        Some(b'.') => !(NUMBERS.contains(&text) || is_fraction(text)),
        Some(b'+' | b'-' | b'0'..=b'9') => {
            !(NUMBERS.contains(&text)
                || is_timestamp(text)
                || is_number(&text.replace('_', ""))
                || is_sexagesimal(text))
        }
        Some(_) => true,
    }
}

const WORDS: [&str; 26] = [
    "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON", "n", "N", "no", "No",
    "NO", "false", "False", "FALSE", "off", "Off", "OFF", "~", "null", "Null", "NULL",
];

const NUMBERS: [&str; 12] = [
    ".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf",
    "-.INF",
];

/// An integer in any base, or a float; underscores are already gone.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let integer = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => fits(unsigned.get(2..), 16, text),
        [b'0', b'o' | b'O', ..] => fits(unsigned.get(2..), 8, text),
        // Binary digits may carry a sign of their own.
        [b'0', b'b', b'+' | b'-', ..] if unsigned == text => fits(text.get(3..), 2, "-"),
        [b'0', b'b' | b'B', ..] => fits(unsigned.get(2..), 2, text),
        [b'0', _, ..] => fits(unsigned.get(1..), 8, text),
        _ => fits(Some(unsigned), 10, text),
    };
    integer || (is_float(text) && is_finite(text))
}

/// Whether digits are an integer of 64 bits; with a sign one bit is gone.
fn fits(digits: Option<&str>, base: u32, signed: &str) -> bool {
    let value = match digits {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            u64::from_str_radix(digits, base)
        }
        _ => return false,
    };
    match signed.as_bytes().first() {
        Some(b'-') => value.is_ok_and(|value| value <= i64::MIN.unsigned_abs()),
        Some(b'+') => value.is_ok_and(|value| value <= i64::MAX.unsigned_abs()),
        _ => value.is_ok(),
    }
}

/// Decimal digits with an optional sign, point and exponent.
fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let exponent_fits = exponent
        .map(|exponent| exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
        .is_none_or(|digits| !digits.is_empty() && all_digits(digits));
    let mantissa_fits = match mantissa.split_once('.') {
        Some(("", fraction)) => !fraction.is_empty() && all_digits(fraction),
        Some((whole, fraction)) => all_digits(whole) && all_digits(fraction),
        None => !mantissa.is_empty() && all_digits(mantissa),
    };
    mantissa_fits && exponent_fits
}

/// A number that begins with a point; here underscores may stand between
/// digits only.
fn is_fraction(text: &str) -> bool {
    let between_digits = text.split('_').collect::<Vec<_>>().windows(2).all(|pair| match pair {
        [left, right] => {
            left.ends_with(|last: char| last.is_ascii_digit())
                && right.starts_with(|first: char| first.is_ascii_digit())
        }
        _ => false,
    });
    let plain = text.replace('_', "");
    between_digits && is_float(&plain) && is_finite(&plain)
}

fn is_finite(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Base 60, such as `1:30`: no reader should know it, some do.
fn is_sexagesimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (places, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut places = places.split(':');
    let loose = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let first = places.next().is_some_and(|first| {
        first.starts_with(|first: char| first.is_ascii_digit()) && loose(first)
    });
    let mut rest = places.peekable();
    first
        && loose(fraction)
        && rest.peek().is_some()
        && rest.all(|place| matches!(place.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']))
}

/// A date, or a date and a time, with one or two digits in each field.
fn is_timestamp(text: &str) -> bool {
    let mut reader = Reader(text);
    reader.timestamp().is_some()
}

/// Takes a text apart from its front.
struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn timestamp(&mut self) -> Option<()> {
        let year = self.year()?;
        self.expect("-")?;
        let month = self.number()?;
        self.expect("-")?;
        let day = self.number()?;
        if !(1..=12).contains(&month) || day < 1 || day > days(month, year) {
            return None;
        }
        let zoned = match self.0.chars().next() {
            None => return Some(()),
            Some('T' | 't') => {
                self.0 = self.0.get(1..)?;
                true
            }
            Some(' ') => {
                self.0 = self.0.trim_start_matches(' ');
                false
            }
            Some(_) => return None,
        };
        self.time()?;
        if zoned {
            self.zone()?;
        }
        self.0.is_empty().then_some(())
    }

    fn time(&mut self) -> Option<()> {
        let hour = self.number()?;
        self.expect(":")?;
        let minute = self.number()?;
        self.expect(":")?;
        let second = self.number()?;
        if let Some(fraction) = self.0.strip_prefix(['.', ',']) {
            let rest = fraction.trim_start_matches(|digit: char| digit.is_ascii_digit());
            if rest.len() < fraction.len() {
                self.0 = rest;
            }
        }
        (hour < 24 && minute < 60 && second < 60).then_some(())
    }

    fn zone(&mut self) -> Option<()> {
        if let Some(rest) = self.0.strip_prefix('Z') {
            self.0 = rest;
            return Some(());
        }
        self.0 = self.0.strip_prefix(['+', '-'])?;
        let hour = self.two_digits()?;
        self.expect(":")?;
        let minute = self.two_digits()?;
        // People do write an offset of 24 hours or 60 minutes.
        (hour <= 24 && minute <= 60).then_some(())
    }

    fn year(&mut self) -> Option<u32> {
        let (digits, rest) = self.0.split_at_checked(4)?;
        self.0 = rest;
        all_digits(digits).then(|| digits.parse().ok())?
    }

    /// One or two digits.
    fn number(&mut self) -> Option<u32> {
        let rest = self.0.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let length = (self.0.len() - rest.len()).min(2);
        let (digits, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        digits.parse().ok()
    }

    fn two_digits(&mut self) -> Option<u32> {
        let (digits, rest) = self.0.split_at_checked(2)?;
        self.0 = rest;
        all_digits(digits).then(|| digits.parse().ok())?
    }

    fn expect(&mut self, text: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }
}

fn days(month: u32, year: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
