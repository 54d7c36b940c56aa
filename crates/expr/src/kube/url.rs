//! URLs as Go's `net/url` reads them.
//!
//! Not the URLs of browsers: a path alone is one, nothing is normalised but the
//! scheme, and what is escaped stays so. The server reads a text twice, once
//! strictly, to decide whether it is a URL at all, and once with an eye on the
//! fragment; the second reading may refuse what the first let pass.

mod escape;
mod parse;

use std::{collections::BTreeMap, fmt, str::FromStr};

use super::{address::AddressError, quote::quote};
use escape::{Part, escape, is_escaped, unescape};
use parse::Reading;

/// Go drops a query with more parameters than this.
const MOST_PARAMETERS: usize = 10_000;

/// Why a text is no URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parse {}: {problem}", quote(text.as_bytes()))]
pub struct UrlError {
    text: String,
    problem: UrlProblem,
}

impl UrlError {
    /// What is wrong with the text.
    pub fn problem(&self) -> &UrlProblem {
        &self.problem
    }
}

/// What is wrong with a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlProblem {
    #[error("net/url: invalid control character in URL")]
    ControlCharacter,
    #[error("empty url")]
    Empty,
    #[error("missing protocol scheme")]
    NoScheme,
    /// It has neither a scheme nor a path from the root.
    #[error("invalid URI for request")]
    Relative,
    #[error("first path segment in URL cannot contain colon")]
    ColonInFirstSegment,
    /// A percent sign is not followed by two hexadecimal digits, or by some
    /// that may not stand there.
    #[error("invalid URL escape {}", quote(.0))]
    Escape(Vec<u8>),
    #[error("invalid character {} in host name", quote(&[*.0]))]
    HostCharacter(u8),
    #[error("invalid port {} after host", quote(.0.as_bytes()))]
    Port(String),
    #[error("invalid IP-literal")]
    IpLiteral,
    #[error("missing ']' in host")]
    OpenBracket,
    #[error("invalid host: {0}")]
    Address(AddressError),
    #[error("net/url: invalid userinfo")]
    Userinfo,
}

/// A URL, taken apart.
///
/// Parts whose escapes stand for bytes that are no UTF-8 are returned with
/// replacement characters. Two URLs are equal if they are written alike.
///
/// ```
/// # use kollect_expr::kube::url::Url;
/// let url: Url = "https://[::1]:80/a%20b?x=1&x=2#top".parse()?;
/// assert_eq!((url.hostname().as_str(), url.port().as_str()), ("::1", "80"));
/// assert_eq!(url.escaped_path(), "/a%20b");
/// assert_eq!(url.query()["x"], ["1", "2"]);
/// # Ok::<(), kollect_expr::kube::url::UrlError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Url {
    scheme: String,
    /// What follows the scheme of a URL like `mailto:me`.
    opaque: String,
    user: Option<User>,
    host: Vec<u8>,
    /// Whether a scheme is followed by a path at once.
    no_authority: bool,
    path: Vec<u8>,
    /// The path as it was written.
    raw_path: String,
    query: Option<String>,
    fragment: String,
}

#[derive(Clone, Debug)]
struct User {
    name: Vec<u8>,
    password: Option<Vec<u8>>,
}

impl Url {
    /// Whether the text is a URL.
    ///
    /// Reads it once, so there are texts of which this holds and which are an
    /// error nevertheless: those with a bad fragment behind a query.
    pub fn check(text: &str) -> Result<(), UrlError> {
        let error = |problem| UrlError { text: text.to_owned(), problem };
        parse::parse(text, Reading::Request).map(drop).map_err(error)
    }

    /// The scheme, in lower case; empty if there is none.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The host, with its port if there is one.
    pub fn host(&self) -> String {
        lossy(&self.host)
    }

    /// The host without port and brackets.
    pub fn hostname(&self) -> String {
        let host = self.split_host().0;
        let bare = host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]"));
        lossy(bare.unwrap_or(host))
    }

    /// The port; empty if there is none.
    pub fn port(&self) -> String {
        lossy(self.split_host().1)
    }

    /// The path, escaped as it was written where that is well-formed.
    pub fn escaped_path(&self) -> String {
        if self.path == b"*" {
            return "*".to_owned();
        }
        if is_escaped(&self.raw_path, Part::Path) {
            return self.raw_path.clone();
        }
        escape(&self.path, Part::Path)
    }

    /// The parameters of the query, in the order of their names; those that are
    /// malformed are left out.
    pub fn query(&self) -> BTreeMap<String, Vec<String>> {
        let mut parameters = BTreeMap::<_, Vec<_>>::new();
        let query = self.query.as_deref().unwrap_or_default();
        if query.bytes().filter(|&byte| byte == b'&').count() >= MOST_PARAMETERS {
            return parameters;
        }
        for parameter in query.split('&') {
            if parameter.is_empty() || parameter.contains(';') {
                continue;
            }
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let name = unescape(name, Part::Query);
            if let (Ok(name), Ok(value)) = (name, unescape(value, Part::Query)) {
                parameters.entry(lossy(&name)).or_default().push(lossy(&value));
            }
        }
        parameters
    }

    fn split_host(&self) -> (&[u8], &[u8]) {
        let colon = self.host.iter().rposition(|&byte| byte == b':');
        let split = colon.and_then(|colon| self.host.split_at_checked(colon));
        match split {
            Some((host, [_, port @ ..])) if port.iter().all(u8::is_ascii_digit) => (host, port),
            _ => (&self.host, b""),
        }
    }
}

impl FromStr for Url {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        Self::check(text)?;
        let (main, fragment) = text.split_once('#').unwrap_or((text, ""));
        let error = |text: &str, problem| UrlError { text: text.to_owned(), problem };
        let mut url = parse::parse(main, Reading::Reference).map_err(|bad| error(main, bad))?;
        let bytes = unescape(fragment, Part::Fragment).map_err(|bad| error(text, bad))?;
        url.fragment = if is_escaped(fragment, Part::Fragment) {
            fragment.to_owned()
        } else {
            escape(&bytes, Part::Fragment)
        };
        Ok(url)
    }
}

impl PartialEq for Url {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Url {}

impl fmt::Display for Url {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(out, "{}:", self.scheme)?;
        }
        if self.opaque.is_empty() {
            self.write_authority(out)?;
            out.write_str(&self.escaped_path())?;
        } else {
            out.write_str(&self.opaque)?;
        }
        if let Some(query) = &self.query {
            write!(out, "?{query}")?;
        }
        if self.fragment.is_empty() { Ok(()) } else { write!(out, "#{}", self.fragment) }
    }
}

impl Url {
    fn write_authority(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = !self.host.is_empty() || self.user.is_some();
        if named || (!self.scheme.is_empty() && !self.no_authority && !self.path.is_empty()) {
            out.write_str("//")?;
        }
        if let Some(User { name, password }) = &self.user {
            out.write_str(&escape(name, Part::User))?;
            if let Some(password) = password {
                write!(out, ":{}", escape(password, Part::User))?;
            }
            out.write_str("@")?;
        }
        out.write_str(&escape(&self.host, Part::Host))
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests;
