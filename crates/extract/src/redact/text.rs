//! Secrets inside a text.
//!
//! A pass over the bytes, and another while something is found. At every place
//! where a secret can begin (`places`), one question is asked; a secret that is
//! found is skipped as a whole, and a question that finds none looks only a
//! bounded way ahead, or at what no other question looks at. So the work is
//! linear in the length of the text.
//!
//! Every secret begins and ends beside ASCII, so that no character is cut.

use std::ops::Range;

use super::{
    assign::{self, Pair},
    command::Programs,
    keys::Keys,
    places, shapes,
};

/// What stands in for a secret inside a text.
pub(super) const MASK: &str = "***";

/// What a text turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Clean,
    /// A secret as a whole.
    Secret,
    /// The same text with its secrets masked.
    Masked(String),
}

/// Looks for secrets in a text, whatever its name is.
pub(super) fn examine(text: &str, keys: &Keys) -> Outcome {
    /// What is masked can bring what stands beside it to light; that ends soon.
    const ROUNDS: usize = 16;
    let mut outcome = pass(text, keys);
    for _ in 1..ROUNDS {
        let Outcome::Masked(masked) = &outcome else { break };
        match pass(masked, keys) {
            Outcome::Clean => break,
            further => outcome = further,
        }
    }
    outcome
}

/// One pass over a text.
fn pass(text: &str, keys: &Keys) -> Outcome {
    let secrets = Scan { text, bytes: text.as_bytes(), keys }.secrets(places::next);
    let Some(first) = secrets.first() else { return Outcome::Clean };
    let around = |c: char| c.is_whitespace() || matches!(c, '"' | '\'');
    let rest = [text.get(..first.start), text.get(first.end..)];
    if rest.iter().flatten().all(|rest| rest.chars().all(around)) {
        return Outcome::Secret;
    }
    let mut masked = String::with_capacity(text.len());
    let mut from = 0;
    for secret in secrets {
        masked.push_str(text.get(from..secret.start).unwrap_or_default());
        masked.push_str(MASK);
        from = secret.end;
    }
    masked.push_str(text.get(from..).unwrap_or_default());
    Outcome::Masked(masked)
}

/// A text that is searched, and the names that give values away.
#[derive(Clone, Copy)]
pub(super) struct Scan<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) keys: &'t Keys,
}

impl Scan<'_> {
    /// Where the secrets are, in order and apart from each other. `next` is
    /// the first place from another on at which one can begin.
    fn secrets(self, next: impl Fn(&[u8], usize) -> Option<usize>) -> Vec<Range<usize>> {
        let mut secrets = Vec::new();
        let mut pair = Pair::default();
        let mut programs = Programs::default();
        let mut at = 0;
        while let Some(place) = next(self.bytes, at) {
            at = place + 1;
            let Some(mut secret) = self.secret(place, &mut pair, &mut programs) else { continue };
            let taken = secrets.last().map_or(0, |last: &Range<usize>| last.end);
            secret.start = secret.start.max(taken);
            secret.end = self.reach(&secret);
            at = at.max(secret.end);
            if secret.start < secret.end && self.slice(&secret) != MASK {
                secrets.push(secret);
            }
        }
        secrets
    }

    /// The secret that is told by what stands at this place.
    fn secret(self, at: usize, pair: &mut Pair, programs: &mut Programs) -> Option<Range<usize>> {
        match self.byte(at)? {
            b':' => self.user_info(at).or_else(|| assign::secret(self, at, pair)),
            b'=' => assign::secret(self, at, pair),
            b'>' => self.element(at),
            b'@' => self.login(at),
            b'-' if self.begins_word(at) => {
                shapes::private_key(self.text, at).or_else(|| programs.secret(self, at))
            }
            b'$' => shapes::token(self.bytes, at).map(|end| at..end),
            b'P' if self.begins_word(at) && self.begins("PuTTY-User-Key-File", at) => {
                Some(at..self.bytes.len())
            }
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' if self.begins_word(at) => {
                let token = shapes::token(self.bytes, at).map(|end| at..end);
                token.or_else(|| assign::directive(self, at))
            }
            _ => None,
        }
    }

    #[inline]
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    #[inline]
    pub(super) fn before(&self, at: usize) -> Option<u8> {
        at.checked_sub(1).and_then(|at| self.byte(at))
    }

    #[inline]
    pub(super) fn slice(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    #[inline]
    pub(super) fn begins(&self, with: &str, at: usize) -> bool {
        self.bytes.get(at..).is_some_and(|rest| rest.starts_with(with.as_bytes()))
    }

    #[inline]
    fn begins_word(&self, at: usize) -> bool {
        self.before(at).is_none_or(|before| !before.is_ascii_alphanumeric())
    }

    /// The first place from here on whose byte is so, or the end of the text.
    pub(super) fn find(&self, from: usize, is_so: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        rest.iter().position(|byte| is_so(*byte)).map_or(self.bytes.len(), |length| from + length)
    }

    /// The same, but no further than `most` bytes.
    pub(super) fn find_within(
        &self,
        from: usize,
        most: usize,
        is_so: impl Fn(u8) -> bool,
    ) -> usize {
        let end = self.bytes.len().min(from.saturating_add(most));
        let rest = self.bytes.get(from..end).unwrap_or_default();
        rest.iter().position(|byte| is_so(*byte)).map_or(end, |length| from + length)
    }

    /// The place after the nearest byte before here that is so, or the
    /// beginning; but no further than `most` bytes.
    pub(super) fn find_back(&self, to: usize, most: usize, is_so: impl Fn(u8) -> bool) -> usize {
        let least = to.saturating_sub(most);
        let before = self.bytes.get(least..to).unwrap_or_default();
        before.iter().rposition(|byte| is_so(*byte)).map_or(least, |at| least + at + 1)
    }

    /// Where a secret ends together with those that begin in it: a private key
    /// after `auth: ` goes on where the value of an assignment does not.
    fn reach(&self, secret: &Range<usize>) -> usize {
        let mut end = secret.end;
        let mut at = secret.start;
        while at < end {
            let shaped = match self.byte(at).filter(|_| self.begins_word(at)) {
                Some(b'-') => shapes::private_key(self.text, at).map(|key| key.end),
                Some(b'P') if self.begins("PuTTY-User-Key-File", at) => Some(self.bytes.len()),
                Some(byte) if byte.is_ascii_alphanumeric() => shapes::token(self.bytes, at),
                _ => None,
            };
            at = shaped.unwrap_or(at + 1);
            end = end.max(at);
        }
        end
    }

    /// The user-info of the URL whose scheme ends here.
    fn user_info(&self, colon: usize) -> Option<Range<usize>> {
        /// How far an `@` is looked for beyond a slash that a password holds.
        const FAR: usize = 256;
        let named = self.before(colon).is_some_and(|byte| byte.is_ascii_alphanumeric());
        if !named || !self.begins("://", colon) {
            return None;
        }
        let start = colon + 3;
        let end = self.find(start, |byte| ends_url(byte) || matches!(byte, b'/' | b'?' | b'#'));
        let last_at = |end: usize| {
            self.bytes.get(start..end)?.iter().rposition(|byte| *byte == b'@').map(|at| start + at)
        };
        if let Some(at) = last_at(end) {
            return Some(start..at);
        }
        let port = self.slice(&(start..end)).rsplit_once(':').map(|(_, port)| port)?;
        let no_port = !port.is_empty()
            && !port.bytes().all(|byte| byte.is_ascii_digit())
            && !port.contains(['$', '{', ']', '%', '<', '*']);
        let end = self.find_within(start, FAR, ends_url);
        no_port.then(|| last_at(end)).flatten().map(|at| start..at)
    }

    /// A login without a scheme before this `@`: `user:password@tcp(host)`,
    /// `user:password@host:port`, `user/password@//host`.
    fn login(&self, at: usize) -> Option<Range<usize>> {
        const LONGEST: usize = 128;
        let ends = |byte: u8| ends_url(byte) || matches!(byte, b'=' | b',' | b';' | b'(');
        let start = self.find_back(at, LONGEST, ends);
        let login = self.slice(&(start..at));
        if !login.contains(':') {
            return None;
        }
        // In `jdbc:oracle:thin:user/password@//host`.
        let mut colons = (0..login.len()).rev().filter(|at| self.byte(start + at) == Some(b':'));
        let thin = colons.find(|at| login.get(..*at).is_some_and(|login| login.ends_with("thin")));
        if let Some(thin) = thin {
            let start = start + thin + 1;
            return self.slice(&(start..at)).contains('/').then_some(start..at);
        }
        let (user, password) = login.split_once(':')?;
        if user.is_empty() || user.contains('/') || password.is_empty() || login.contains("://") {
            return None;
        }
        let end = self.find_within(at + 1, LONGEST, |byte| ends_url(byte) || byte == b'/');
        let host = self.slice(&(at + 1..end));
        let dialled = ["tcp(", "unix(", "("].iter().any(|dial| host.starts_with(dial));
        let address = host.split_once(':').is_some_and(|(name, port)| {
            !name.is_empty() && !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit())
        });
        let digest = matches!(host.split(':').next(), Some("sha256" | "sha512"));
        (!digest && (dialled || address)).then_some(start..at)
    }

    /// The content of the XML element that is opened here.
    fn element(&self, close: usize) -> Option<Range<usize>> {
        const LONGEST: usize = 128;
        let start = self.find_back(close, LONGEST, |byte| matches!(byte, b'<' | b'>' | b'/'));
        if self.before(start) != Some(b'<') {
            return None;
        }
        let name = self.slice(&(start..close));
        let name = name.split_ascii_whitespace().next()?;
        if self.keys.judge(name) == super::keys::Judgement::Harmless {
            return None;
        }
        let end = self.find(close, |byte| byte == b'<');
        let value = close + 1..end;
        (!assign::stays(self.slice(&value).trim())).then_some(value)
    }
}

/// What is in no URL.
#[inline]
fn ends_url(byte: u8) -> bool {
    ENDS_URL[usize::from(byte)]
}

const ENDS_URL: [bool; 256] = {
    let mut table = [false; 256];
    let ends = b" \t\n\x0C\r\"'`<>\\|";
    let mut at = 0;
    while at < ends.len() {
        table[ends[at] as usize] = true;
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests;
