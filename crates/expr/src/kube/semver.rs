//! Semantic versions, read strictly or with a little patience.

use std::{borrow::Cow, cmp::Ordering, fmt, str::FromStr};

use super::quote::quote;

/// Why a text is no semantic version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SemverError {
    /// There is no text.
    #[error("Version string empty")]
    Empty,
    /// There are not three numbers.
    #[error("No Major.Minor.Patch elements found")]
    TooFewNumbers,
    /// One of the three has something else than digits.
    #[error("Invalid character(s) found in {number} number {}", quote(text.as_bytes()))]
    InvalidNumber { number: &'static str, text: String },
    /// One of the three begins with a zero.
    #[error("{number} number must not contain leading zeroes {}", quote(text.as_bytes()))]
    LeadingZero { number: &'static str, text: String },
    /// A number has no digits, or more than 64 bits hold.
    #[error("strconv.ParseUint: parsing {}: {}", quote(text.as_bytes()), if text.is_empty() { "invalid syntax" } else { "value out of range" })]
    OutOfRange { text: String },
    /// A part of the pre-release is empty.
    #[error("Prerelease is empty")]
    EmptyPrerelease,
    /// A number in the pre-release begins with a zero.
    #[error("Numeric PreRelease version must not contain leading zeroes {}", quote(text.as_bytes()))]
    PrereleaseLeadingZero { text: String },
    /// A part of the pre-release has a letter it may not have.
    #[error("Invalid character(s) found in prerelease {}", quote(text.as_bytes()))]
    InvalidPrerelease { text: String },
    /// A part of the build metadata is empty.
    #[error("Build meta data is empty")]
    EmptyBuild,
    /// A part of the build metadata has a letter it may not have.
    #[error("Invalid character(s) found in build meta data {}", quote(text.as_bytes()))]
    InvalidBuild { text: String },
    /// A version with fewer than three numbers has more than numbers.
    #[error("short version cannot contain PreRelease/Build meta data")]
    ShortWithMore,
}

/// A semantic version.
///
/// Versions that only differ in their build metadata are equal.
///
/// ```
/// # use kollect_expr::kube::semver::Semver;
/// let version = Semver::normalized("v1.07")?;
/// assert!(version > "1.7.0-rc.1".parse()?);
/// assert_eq!(version.to_string(), "1.7.0");
/// # Ok::<(), kollect_expr::kube::semver::SemverError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Semver {
    numbers: [u64; 3],
    prerelease: Vec<Identifier>,
    build: String,
}

/// A part of a pre-release; numbers come before texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Text(String),
}

impl Semver {
    /// Reads a version that may begin with `v`, have leading zeros, or have
    /// fewer than three numbers.
    pub fn normalized(text: &str) -> Result<Self, SemverError> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts: Vec<_> = text.splitn(3, '.').map(without_zeros).collect();
        if parts.len() < 3 && parts.last().is_some_and(|last| last.contains(['+', '-'])) {
            return Err(SemverError::ShortWithMore);
        }
        parts.resize(3, Cow::Borrowed("0"));
        parts.join(".").parse()
    }

    /// The first number. Beyond 63 bits it wraps, as the server's does.
    pub fn major(&self) -> i64 {
        self.numbers[0].cast_signed()
    }

    /// The second number.
    pub fn minor(&self) -> i64 {
        self.numbers[1].cast_signed()
    }

    /// The third number.
    pub fn patch(&self) -> i64 {
        self.numbers[2].cast_signed()
    }
}

impl FromStr for Semver {
    type Err = SemverError;

    fn from_str(text: &str) -> Result<Self, SemverError> {
        if text.is_empty() {
            return Err(SemverError::Empty);
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(SemverError::TooFewNumbers);
        };
        let (major, minor) = (number("major", "Major", major)?, number("minor", "Minor", minor)?);
        let (rest, build) = split_off(rest, '+');
        let (patch, prerelease) = split_off(rest, '-');
        let patch = number("patch", "Patch", patch)?;
        let prerelease = prerelease.into_iter().flat_map(|text| text.split('.'));
        let prerelease = prerelease.map(identifier).collect::<Result<_, _>>()?;
        build.into_iter().flat_map(|text| text.split('.')).try_for_each(check_build)?;
        let build = build.unwrap_or_default().to_owned();
        Ok(Self { numbers: [major, minor, patch], prerelease, build })
    }
}

impl Ord for Semver {
    fn cmp(&self, other: &Self) -> Ordering {
        // A release comes after all of its pre-releases.
        let released = |version: &Self| version.prerelease.is_empty();
        let numbers = self.numbers.cmp(&other.numbers);
        numbers
            .then_with(|| released(self).cmp(&released(other)))
            .then_with(|| self.prerelease.cmp(&other.prerelease))
    }
}

impl PartialOrd for Semver {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Semver {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Semver {}

impl fmt::Display for Semver {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(out, "{major}.{minor}.{patch}")?;
        for (index, identifier) in self.prerelease.iter().enumerate() {
            out.write_str(if index == 0 { "-" } else { "." })?;
            match identifier {
                Identifier::Number(number) => write!(out, "{number}")?,
                Identifier::Text(text) => out.write_str(text)?,
            }
        }
        if self.build.is_empty() { Ok(()) } else { write!(out, "+{}", self.build) }
    }
}

fn split_off(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// The part with at most the one zero that a number needs.
fn without_zeros(part: &str) -> Cow<'_, str> {
    if part.len() < 2 {
        return Cow::Borrowed(part);
    }
    match part.trim_start_matches('0') {
        rest if rest.starts_with(|letter: char| letter.is_ascii_digit()) => Cow::Borrowed(rest),
        rest => Cow::Owned(format!("0{rest}")),
    }
}

fn number(name: &'static str, title: &'static str, text: &str) -> Result<u64, SemverError> {
    let owned = || text.to_owned();
    if !is_digits(text) {
        return Err(SemverError::InvalidNumber { number: name, text: owned() });
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(SemverError::LeadingZero { number: title, text: owned() });
    }
    text.parse().map_err(|_| SemverError::OutOfRange { text: owned() })
}

fn identifier(text: &str) -> Result<Identifier, SemverError> {
    let owned = || text.to_owned();
    if text.is_empty() {
        return Err(SemverError::EmptyPrerelease);
    }
    if !is_digits(text) {
        let error = SemverError::InvalidPrerelease { text: owned() };
        return is_alphanumeric(text).then(|| Identifier::Text(owned())).ok_or(error);
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(SemverError::PrereleaseLeadingZero { text: owned() });
    }
    let number = text.parse().map_err(|_| SemverError::OutOfRange { text: owned() })?;
    Ok(Identifier::Number(number))
}

fn check_build(text: &str) -> Result<(), SemverError> {
    match text {
        "" => Err(SemverError::EmptyBuild),
        text if is_alphanumeric(text) => Ok(()),
        text => Err(SemverError::InvalidBuild { text: text.to_owned() }),
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_alphanumeric(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Semver {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn versions_are_ordered() {
        let ordered = [
            "0.0.0-0",
            "0.0.0",
            "0.9.0",
            "1.0.0-1",
            "1.0.0-2",
            "1.0.0-10",
            "1.0.0--",
            "1.0.0-a",
            "1.0.0-a.1",
            "1.0.0-a.b",
            "1.0.0-b",
            "1.0.0",
            "1.0.1",
            "1.2.0",
            "1.10.0",
            "2.0.0",
            "18446744073709551615.0.0",
        ];
        for pair in ordered.windows(2) {
            assert!(version(pair[0]) < version(pair[1]), "{pair:?}");
        }
        assert_eq!(version("1.2.3+a"), version("1.2.3+b.c"));
    }

    #[test]
    fn a_version_knows_its_numbers_and_is_written_as_it_was_read() {
        for text in ["1.2.3", "0.0.0-rc.1+build.001", "1.2.3+a-b", "1.0.0--.-"] {
            assert_eq!(version(text).to_string(), text);
        }
        let version = version("18446744073709551615.2.3");
        assert_eq!([version.major(), version.minor(), version.patch()], [-1, 2, 3]);
    }

    #[test]
    fn other_texts_are_refused_in_the_words_of_the_server() {
        for (text, error) in [
            ("", "Version string empty"),
            ("1.2", "No Major.Minor.Patch elements found"),
            ("v1.2.3", r#"Invalid character(s) found in major number "v1""#),
            ("1.2-a.3", r#"Invalid character(s) found in minor number "2-a""#),
            ("1.2.3.4", r#"Invalid character(s) found in patch number "3.4""#),
            ("1.2.3 ", r#"Invalid character(s) found in patch number "3 ""#),
            ("01.2.3", r#"Major number must not contain leading zeroes "01""#),
            ("1.02.3", r#"Minor number must not contain leading zeroes "02""#),
            ("1.2.03", r#"Patch number must not contain leading zeroes "03""#),
            (".1.2", r#"strconv.ParseUint: parsing "": invalid syntax"#),
            (
                "18446744073709551616.0.0",
                r#"strconv.ParseUint: parsing "18446744073709551616": value out of range"#,
            ),
            ("1.2.3-", "Prerelease is empty"),
            ("1.2.3-a..b", "Prerelease is empty"),
            ("1.2.3-01", r#"Numeric PreRelease version must not contain leading zeroes "01""#),
            ("1.2.3-a_b", r#"Invalid character(s) found in prerelease "a_b""#),
            ("1.2.3+", "Build meta data is empty"),
            ("1.2.3+a+b", r#"Invalid character(s) found in build meta data "a+b""#),
        ] {
            let found = text.parse::<Semver>().map_err(|error| error.to_string());
            assert_eq!(found.err().as_deref(), Some(error), "{text}");
        }
    }

    #[test]
    fn patience_fills_in_and_strips() {
        for (text, strict) in [
            ("v1.2.3", Some("1.2.3")),
            ("v1", Some("1.0.0")),
            ("1.2", Some("1.2.0")),
            ("01.002.0003-rc", Some("1.2.3-rc")),
            ("1.2.00-rc", Some("1.2.0-rc")),
            ("000", Some("0.0.0")),
            ("vv1", None),
            ("V1", None),
            (" 1.2.3", None),
            ("1.2-rc", None),
            ("1+b", None),
            ("", None),
        ] {
            let found = Semver::normalized(text).ok();
            assert_eq!(found.map(|version| version.to_string()).as_deref(), strict, "{text}");
        }
    }
}
