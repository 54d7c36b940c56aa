//! Takes secrets out of what is said about errors.

use std::error::Error;

use crate::{credentials::Credentials, sink::Receipt};

/// Shorter values would blot out half of every text.
const SHORTEST: usize = 4;
/// What stands in status and logs is cut after so many bytes.
const LONGEST_TEXT: usize = 1024;
const MARK: &str = "***";

/// Knows what must not be said about one sink.
#[derive(Clone, Default)]
pub struct Scrub {
    /// Longest first, so that what holds another goes as a whole.
    secrets: Vec<String>,
}

impl Scrub {
    /// Learns every value of the credentials, and what can be told from them:
    /// their lines, the password inside an address, and how they look in one.
    pub fn new(credentials: &Credentials) -> Self {
        let mut secrets = Vec::new();
        for value in credentials.values() {
            secrets.push(value.to_owned());
            secrets.extend(value.lines().map(|line| line.trim().to_owned()));
            secrets.extend(password_of_url(value).map(str::to_owned));
            secrets.extend(passwords_of_settings(value).map(str::to_owned));
        }
        let encoded: Vec<_> = secrets.iter().map(|value| percent_encoded(value)).collect();
        secrets.extend(encoded);
        secrets.retain(|secret| secret.trim().len() >= SHORTEST);
        secrets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        secrets.dedup();
        Self { secrets }
    }

    /// An error and its causes in one line that may be shown to anybody.
    pub fn error(&self, error: &dyn Error) -> String {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let said = cause.to_string();
            // Many errors repeat their cause; once is enough.
            if !text.ends_with(&said) {
                text.push_str(": ");
                text.push_str(&said);
            }
            source = cause.source();
        }
        self.text(&text)
    }

    /// What a sink says although nothing failed.
    pub(super) fn receipt(&self, mut receipt: Receipt) -> Receipt {
        let reasons = receipt.refused.iter_mut().map(|row| &mut row.reason);
        for text in reasons.chain(&mut receipt.warnings) {
            *text = self.text(text);
        }
        receipt
    }

    /// A text without what is known to be secret.
    pub fn text(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for secret in &self.secrets {
            clean = clean.replace(secret.as_str(), MARK);
        }
        let clean = without_user_info(&clean);
        let one_line: String =
            clean.chars().map(|one| if one.is_control() { ' ' } else { one }).collect();
        let end = one_line.floor_char_boundary(LONGEST_TEXT);
        match one_line.get(..end) {
            Some(front) if end < one_line.len() => format!("{front}…"),
            _ => one_line,
        }
    }
}

impl std::fmt::Debug for Scrub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scrub({} secrets)", self.secrets.len())
    }
}

/// The password in `scheme://user:password@host`.
fn password_of_url(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user_info, _) = authority.rsplit_once('@')?;
    user_info.split_once(':').map(|(_, password)| password)
}

/// The values of `password=…` in a text of settings.
fn passwords_of_settings(value: &str) -> impl Iterator<Item = &str> {
    value.split([' ', '&', ';', '?', '\n']).filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let name = name.to_ascii_lowercase();
        let tells = ["password", "pwd", "secret", "token", "key"].iter();
        tells.clone().any(|word| name.contains(word)).then_some(value.trim_matches(['\'', '"']))
    })
}

fn percent_encoded(value: &str) -> String {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    value.bytes().map(byte).collect()
}

/// A text in which addresses name no user.
fn without_user_info(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((front, back)) = rest.split_once("://") {
        clean.push_str(front);
        clean.push_str("://");
        let end = back.find(|one: char| one.is_whitespace() || "/?#\"'<>`)".contains(one));
        let (authority, after) =
            back.split_at_checked(end.unwrap_or(back.len())).unwrap_or((back, ""));
        match authority.rsplit_once('@') {
            Some((_, host)) => {
                clean.push_str(MARK);
                clean.push('@');
                clean.push_str(host);
            }
            None => clean.push_str(authority),
        }
        rest = after;
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrub(values: &[(&str, &str)]) -> Scrub {
        let values = values.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Scrub::new(&Credentials::new(values.collect(), "1"))
    }

    #[track_caller]
    fn check(values: &[(&str, &str)], text: &str, expected: &str) {
        assert_eq!(scrub(values).text(text), expected);
    }

    #[test]
    fn values_go_wherever_they_stand() {
        let token = [("token", "ghp_abc/d+e")];
        check(&token, "bad token ghp_abc/d+e: ghp_abc/d+e", "bad token ***: ***");
        check(&token, "GET /?t=ghp_abc%2Fd%2Be failed", "GET /?t=*** failed");
        check(
            &[("pin", "abc")],
            "abc is too short to be taken out",
            "abc is too short to be taken out",
        );
    }

    #[test]
    fn what_holds_another_goes_as_a_whole() {
        check(&[("a", "hunter"), ("b", "hunter22")], "hunter22 and hunter", "*** and ***");
    }

    #[test]
    fn a_password_inside_an_address_is_known_by_itself() {
        let dsn = [("dsn", "postgres://app:p4ss%21word@db.example/inventory")];
        check(&dsn, "password p4ss%21word is wrong", "password *** is wrong");
        check(
            &[("dsn", "host=db user=app password='s3cr3t'")],
            "no entry for s3cr3t",
            "no entry for ***",
        );
    }

    #[test]
    fn a_key_is_not_shown_line_by_line() {
        let key = [("key", "-----BEGIN KEY-----\nMIIBVgIBADANBg\nkqhkiG9w0BAQEFAASC\n")];
        check(&key, "cannot parse kqhkiG9w0BAQEFAASC here", "cannot parse *** here");
    }

    #[test]
    fn addresses_name_no_user_even_if_nobody_knew_it() {
        check(
            &[],
            "GET https://bob:x@git.example/a and http://c@d.example, not mailto:x@y",
            "GET https://***@git.example/a and http://***@d.example, not mailto:x@y",
        );
    }

    #[test]
    fn an_error_is_told_with_its_causes_in_one_line() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot log in")]
        struct Outer(#[source] std::io::Error);
        let error = Outer(std::io::Error::other("password hunter22\nwas refused"));
        let scrub = scrub(&[("password", "hunter22")]);
        assert_eq!(scrub.error(&error), "cannot log in: password *** was refused");
        assert!(scrub.text(&"é".repeat(2_000)).len() <= LONGEST_TEXT + '…'.len_utf8());
    }
}
