//! The named formats that Kubernetes checks names and values with.
//!
//! What a format says about a text is a value that users see, so the words are
//! the server's, to the letter.

use super::url::Url;

/// A format with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    Dns1123Label,
    Dns1123Subdomain,
    Dns1035Label,
    QualifiedName,
    Dns1123LabelPrefix,
    Dns1123SubdomainPrefix,
    Dns1035LabelPrefix,
    LabelValue,
    Uri,
    Uuid,
    Byte,
    Date,
    Datetime,
}

impl Format {
    /// Every format, with the name that `format.named` and `format.<name>()`
    /// know it by.
    pub const ALL: [(&str, Self); 13] = [
        ("dns1123Label", Self::Dns1123Label),
        ("dns1123Subdomain", Self::Dns1123Subdomain),
        ("dns1035Label", Self::Dns1035Label),
        ("qualifiedName", Self::QualifiedName),
        ("dns1123LabelPrefix", Self::Dns1123LabelPrefix),
        ("dns1123SubdomainPrefix", Self::Dns1123SubdomainPrefix),
        ("dns1035LabelPrefix", Self::Dns1035LabelPrefix),
        ("labelValue", Self::LabelValue),
        ("uri", Self::Uri),
        ("uuid", Self::Uuid),
        ("byte", Self::Byte),
        ("date", Self::Date),
        ("datetime", Self::Datetime),
    ];

    /// The format of that name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
    }

    /// What is wrong with the text; nothing if it is right.
    ///
    /// ```
    /// # use kollect_expr::kube::format::Format;
    /// assert_eq!(Format::Dns1123Label.validate("web"), None);
    /// assert_eq!(Format::Byte.validate("?"), Some(vec!["invalid base64".to_owned()]));
    /// ```
    pub fn validate(self, text: &str) -> Option<Vec<String>> {
        let wrong = match self {
            Self::Dns1123Label => label(text.as_bytes()),
            Self::Dns1123LabelPrefix => label(&without_dash(text)),
            Self::Dns1123Subdomain => subdomain(text.as_bytes(), "characters"),
            Self::Dns1123SubdomainPrefix => subdomain(&without_dash(text), "characters"),
            Self::Dns1035Label => old_label(text.as_bytes()),
            Self::Dns1035LabelPrefix => old_label(&without_dash(text)),
            Self::QualifiedName => qualified_name(text),
            Self::LabelValue => label_value(text),
            Self::Uri => {
                Url::check(text).err().map(|error| error.to_string()).into_iter().collect()
            }
            Self::Uuid => unless(is_uuid(text), "does not match the UUID format"),
            Self::Byte => unless(is_base64(text), "invalid base64"),
            Self::Date => unless(is_date(text), "invalid date"),
            Self::Datetime => unless(is_datetime(text), "invalid datetime"),
        };
        (!wrong.is_empty()).then_some(wrong)
    }
}

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const NAME: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

fn unless(right: bool, wrong: &str) -> Vec<String> {
    if right { Vec::new() } else { vec![wrong.to_owned()] }
}

/// The complaint about a length, if the text is longer.
fn longer(text: &[u8], most: usize, unit: &str) -> Vec<String> {
    unless(text.len() <= most, &format!("must be no more than {most} {unit}"))
}

/// A complaint about the form, with examples of the right one.
fn formed(message: &str, examples: &[&str], pattern: &str) -> String {
    let examples = examples.join("',  or '");
    format!("{message} (e.g. '{examples}', regex used for validation is '{pattern}')")
}

fn label(text: &[u8]) -> Vec<String> {
    let mut wrong = longer(text, 63, "characters");
    if is_label(text) {
        return wrong;
    }
    wrong.push(if is_subdomain(text) {
        "must not contain dots".to_owned()
    } else {
        let message = "a lowercase RFC 1123 label must consist of lower case alphanumeric \
             characters or '-', and must start and end with an alphanumeric character";
        formed(message, &["my-name", "123-abc"], LABEL)
    });
    wrong
}

fn old_label(text: &[u8]) -> Vec<String> {
    let mut wrong = longer(text, 63, "characters");
    if !is_label(text) || !text.first().is_some_and(u8::is_ascii_alphabetic) {
        let message = "a DNS-1035 label must consist of lower case alphanumeric characters or \
             '-', start with an alphabetic character, and end with an alphanumeric character";
        wrong.push(formed(message, &["my-name", "abc-123"], "[a-z]([-a-z0-9]*[a-z0-9])?"));
    }
    wrong
}

fn subdomain(text: &[u8], unit: &str) -> Vec<String> {
    let mut wrong = longer(text, 253, unit);
    if !is_subdomain(text) {
        let message = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
             characters, '-' or '.', and must start and end with an alphanumeric character";
        wrong.push(formed(message, &["example.com"], &format!(r"{LABEL}(\.{LABEL})*")));
    }
    wrong
}

fn qualified_name(text: &str) -> Vec<String> {
    let message = "must consist of alphanumeric characters, '-', '_' or '.', and must start and \
         end with an alphanumeric character";
    let misformed = || formed(message, &["MyName", "my.name", "123-abc"], NAME);
    let mut parts = text.split('/');
    let (name, prefix) = match (parts.next(), parts.next(), parts.next()) {
        (Some(prefix), Some(name), None) => (name, Some(prefix)),
        (Some(name), None, None) => (name, None),
        _ => {
            let misformed = misformed();
            let optional =
                "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {misformed} {optional}")];
        }
    };
    let mut wrong = match prefix {
        None => Vec::new(),
        Some("") => vec!["prefix part must be non-empty".to_owned()],
        Some(prefix) => {
            let wrong = subdomain(prefix.as_bytes(), "bytes");
            wrong.into_iter().map(|wrong| format!("prefix part {wrong}")).collect()
        }
    };
    wrong.extend(match name.len() {
        0 => Some("name part must be non-empty".to_owned()),
        1..=63 => None,
        _ => Some("name part must be no more than 63 bytes".to_owned()),
    });
    if !is_name(name) {
        wrong.push(format!("name part {}", misformed()));
    }
    wrong
}

fn label_value(text: &str) -> Vec<String> {
    let mut wrong = longer(text.as_bytes(), 63, "bytes");
    if !text.is_empty() && !is_name(text) {
        let message = "a valid label must be an empty string or consist of alphanumeric \
             characters, '-', '_' or '.', and must start and end with an alphanumeric character";
        let examples = ["MyValue", "my_value", "12345"];
        wrong.push(formed(message, &examples, &format!("({NAME})?")));
    }
    wrong
}

fn is_label(text: &[u8]) -> bool {
    let inner = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    begins_and_ends(text) && text.iter().all(inner)
}

fn is_subdomain(text: &[u8]) -> bool {
    text.split(|&byte| byte == b'.').all(is_label)
}

fn is_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    begins_and_ends(text.as_bytes()) && text.bytes().all(inner)
}

/// Whether the first and the last letter are no punctuation.
fn begins_and_ends(text: &[u8]) -> bool {
    let ends = [text.first(), text.last()];
    ends.into_iter().all(|end| end.is_some_and(u8::is_ascii_alphanumeric))
}

/// A name that something will be appended to, made whole: a dash at its end is
/// replaced, together with the letter before it, by one that may stand there.
fn without_dash(text: &str) -> Vec<u8> {
    match text.as_bytes() {
        [before @ .., _, b'-'] => [before, b"a"].concat(),
        text => text.to_vec(),
    }
}

fn is_uuid(text: &str) -> bool {
    let mut rest = text.as_bytes();
    for (group, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        rest = if group == 0 { rest } else { rest.strip_prefix(b"-").unwrap_or(rest) };
        match rest.split_at_checked(length) {
            Some((digits, after)) if digits.iter().all(u8::is_ascii_hexdigit) => rest = after,
            _ => return false,
        }
    }
    rest.is_empty()
}

fn is_base64(text: &str) -> bool {
    let text = text.as_bytes();
    let unpadded = text.strip_suffix(b"==").or(text.strip_suffix(b"=")).unwrap_or(text);
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
    !text.is_empty() && text.len().is_multiple_of(4) && unpadded.iter().all(fits)
}

fn is_date(text: &str) -> bool {
    let mut fields = text.split('-');
    let mut number = |width| fields.next().and_then(|field| digits(field, width));
    let (Some(year), Some(month), Some(day)) = (number(4), number(2), number(2)) else {
        return false;
    };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        1..=12 => 31,
        _ => 0,
    };
    fields.next().is_none() && (1..=days).contains(&day)
}

/// A date, a `T`, and a time with a zone. What follows a second `T` is not
/// looked at.
fn is_datetime(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut parts = text.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    is_date(date) && is_time(time)
}

fn is_time(text: &str) -> bool {
    let Some((clock, rest)) = text.split_at_checked(8) else { return false };
    let fields: Vec<_> = clock.split(':').map(|field| digits(field, 2)).collect();
    let [Some(0..=23), Some(0..=59), Some(0..=59)] = fields[..] else { return false };
    // Any one letter may stand before the fraction.
    let mut letters = rest.chars();
    let fraction = match letters.next() {
        Some('\n') | None => None,
        Some(_) => Some(letters.as_str()),
    };
    let zone =
        fraction.map(|text| (text, text.trim_start_matches(|digit: char| digit.is_ascii_digit())));
    is_zone(rest)
        || zone.is_some_and(|(fraction, zone)| zone.len() < fraction.len() && is_zone(zone))
}

fn is_zone(text: &str) -> bool {
    let offset = text.strip_prefix(['+', '-']).and_then(|offset| offset.split_once(':'));
    let numbers = |(hours, minutes)| digits(hours, 2).is_some() && digits(minutes, 2).is_some();
    text == "z" || offset.is_some_and(numbers)
}

/// The number that so many digits, and nothing else, stand for.
fn digits(text: &str, width: usize) -> Option<u32> {
    let fits = text.len() == width && text.bytes().all(|byte| byte.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: &str, right: &[&str], wrong: &[&str]) {
        let format = Format::named(format).unwrap();
        for text in right {
            assert_eq!(format.validate(text), None, "{text}");
        }
        for text in wrong {
            assert!(format.validate(text).is_some(), "{text}");
        }
    }

    #[test]
    fn formats_have_names() {
        assert_eq!(Format::named("uuid"), Some(Format::Uuid));
        assert_eq!(Format::named("UUID"), None);
    }

    #[test]
    fn names_are_checked() {
        let long = "a".repeat(63);
        let longer = "a".repeat(64);
        check("dns1123Label", &["a", "0-9", &long], &["", "A", "-a", "a-", "a.b", "é", &longer]);
        check("dns1123LabelPrefix", &["a-", "a--", "--", &format!("{long}-")], &["-", "-a-"]);
        check("dns1123Subdomain", &["a.b-c.0", &longer], &["", ".", "a..b", "a.", "a_b"]);
        check("dns1123SubdomainPrefix", &["a.b-", "a.-"], &["a.", "-"]);
        check("dns1035Label", &["a0-b"], &["0a", "a-", ""]);
        check("dns1035LabelPrefix", &["a-", "--"], &["0ab-", "-"]);
        check("qualifiedName", &["A_b.c", "a.b/C"], &["", "/a", "a/", "a/b/c", "A/b", "-"]);
        check("labelValue", &["", "A_b.c"], &["-a", "a b", &longer]);
    }

    #[test]
    fn complaints_are_those_of_the_server() {
        let text = "a".repeat(254) + "/";
        assert_eq!(
            Format::QualifiedName.validate(&text).unwrap(),
            [
                "prefix part must be no more than 253 bytes",
                "name part must be non-empty",
                "name part must consist of alphanumeric characters, '-', '_' or '.', and must \
                 start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or \
                 '123-abc', regex used for validation is \
                 '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
            ]
        );
        assert_eq!(
            Format::Dns1123Label.validate(&"a.".repeat(40)).unwrap()[0],
            "must be no more than 63 characters"
        );
        assert_eq!(Format::Dns1123Label.validate("a.b").unwrap(), ["must not contain dots"]);
        assert_eq!(Format::Uri.validate("x").unwrap(), [r#"parse "x": invalid URI for request"#]);
    }

    #[test]
    fn values_are_checked() {
        let uuid = "123e4567-e89b-12d3-A456-426614174000";
        check("uuid", &[uuid, &uuid.replace('-', "")], &["", "123", &uuid.replace('e', "g")]);
        check(
            "byte",
            &["aGVsbG8=", "QQ==", "abcd"],
            &["", "a", "abc", "a===", "ab=c", "====", "é=="],
        );
        check(
            "date",
            &["2021-01-01", "2024-02-29", "2000-02-29", "0000-12-31"],
            &[
                "",
                "2021-1-1",
                "2023-02-29",
                "1900-02-29",
                "2021-13-01",
                "2021-00-10",
                "2021-04-31",
                "2021-01-00",
                "2021-01-01-",
                "+021-01-01",
            ],
        );
        check(
            "datetime",
            &[
                "2021-01-01T00:00:00Z",
                "2021-01-01t23:59:59.123+01:00",
                "2021-01-01T00:00:00x5-99:99",
                "2021-01-01T00:00:00ZT whatever",
            ],
            &[
                "",
                "2021-01-01",
                "2021-01-01T24:00:00Z",
                "2021-01-01T00:60:00Z",
                "2021-01-01T00:00:60Z",
                "2021-01-01T00:00:00",
                "2021-01-01T00:00:00.Z",
                "2021-01-01 00:00:00Z",
                "2021-02-30T00:00:00Z",
                "2021-01-01T0:00:00Z",
            ],
        );
    }
}
