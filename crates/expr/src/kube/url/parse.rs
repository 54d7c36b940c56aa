//! From text to parts.

use super::{
    Url, UrlProblem, User,
    escape::{Part, unescape},
};
use crate::kube::address;

/// How a text is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reading {
    /// Strictly, as what stands in a request: a scheme or a path from the root.
    Request,
    /// As a reference, without its fragment.
    Reference,
}

pub(super) fn parse(text: &str, reading: Reading) -> Result<Url, UrlProblem> {
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(UrlProblem::ControlCharacter);
    }
    if text.is_empty() && reading == Reading::Request {
        return Err(UrlProblem::Empty);
    }
    if text == "*" {
        return Ok(Url { path: b"*".to_vec(), ..Url::default() });
    }
    let (scheme, rest) = split_scheme(text)?;
    let (rest, query) = split_query(rest);
    let mut url = Url { scheme: scheme.to_ascii_lowercase(), query, ..Url::default() };
    if !rest.starts_with('/') {
        if !scheme.is_empty() {
            rest.clone_into(&mut url.opaque);
            return Ok(url);
        }
        if reading == Reading::Request {
            return Err(UrlProblem::Relative);
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err(UrlProblem::ColonInFirstSegment);
        }
    }
    let bare = reading == Reading::Reference && !rest.starts_with("///");
    let path = match rest.strip_prefix("//") {
        Some(rest) if !scheme.is_empty() || bare => {
            let slash = rest.find('/').unwrap_or(rest.len());
            let (authority, path) = rest.split_at(slash);
            (url.user, url.host) = read_authority(&url.scheme, authority)?;
            path
        }
        _ => {
            url.no_authority = !scheme.is_empty();
            rest
        }
    };
    url.path = unescape(path, Part::Path)?;
    path.clone_into(&mut url.raw_path);
    Ok(url)
}

/// The scheme, if there is one, and what follows it.
fn split_scheme(text: &str) -> Result<(&str, &str), UrlProblem> {
    let Some((scheme, rest)) = text.split_once(':') else { return Ok(("", text)) };
    if scheme.is_empty() {
        return Err(UrlProblem::NoScheme);
    }
    let begins = scheme.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_scheme = begins && scheme.bytes().all(fits);
    Ok(if is_scheme { (scheme, rest) } else { ("", text) })
}

/// What stands before the query, and the query, which may be empty.
fn split_query(text: &str) -> (&str, Option<String>) {
    text.split_once('?').map_or((text, None), |(rest, query)| (rest, Some(query.to_owned())))
}

fn read_authority(scheme: &str, text: &str) -> Result<(Option<User>, Vec<u8>), UrlProblem> {
    let Some((user, host)) = text.rsplit_once('@') else {
        return Ok((None, read_host(scheme, text)?));
    };
    let host = read_host(scheme, host)?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    if !user.bytes().all(fits) {
        return Err(UrlProblem::Userinfo);
    }
    let (name, password) =
        user.split_once(':').map_or((user, None), |(name, password)| (name, Some(password)));
    let name = unescape(name, Part::User)?;
    let password = password.map(|password| unescape(password, Part::User)).transpose()?;
    Ok((Some(User { name, password }), host))
}

fn read_host(scheme: &str, text: &str) -> Result<Vec<u8>, UrlProblem> {
    match text.rfind('[') {
        Some(0) => return read_literal(text),
        Some(_) => return Err(UrlProblem::IpLiteral),
        None => {}
    }
    let web = scheme == "http" || scheme == "https";
    let colon = if web { text.find(':') } else { text.rfind(':') };
    check_port(colon.map_or("", |colon| text.split_at(colon).1))?;
    unescape(text, Part::Host)
}

/// An address in brackets, and a port.
fn read_literal(text: &str) -> Result<Vec<u8>, UrlProblem> {
    let (literal, port) = text.rsplit_once(']').ok_or(UrlProblem::OpenBracket)?;
    check_port(port)?;
    let literal = literal.strip_prefix('[').unwrap_or(literal);
    let zone = literal.find("%25").unwrap_or(literal.len());
    let (address, zone) = literal.split_at(zone);
    let bytes = [unescape(address, Part::Host)?, unescape(zone, Part::Zone)?].concat();
    // Where bytes are no UTF-8, there is no address either.
    let address = String::from_utf8_lossy(&bytes);
    match address::parse(&address).map_err(UrlProblem::Address)? {
        (address, _) if address.is_ipv4() => Err(UrlProblem::IpLiteral),
        _ => Ok([b"[", &bytes[..], b"]", port.as_bytes()].concat()),
    }
}

fn check_port(text: &str) -> Result<(), UrlProblem> {
    match text.strip_prefix(':') {
        _ if text.is_empty() => Ok(()),
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => Ok(()),
        _ => Err(UrlProblem::Port(text.to_owned())),
    }
}
