//! Where a sink is, and whether it may be dialled.
//!
//! Clients do not agree on how an odd address is read, so the guard refuses
//! what two of them could read differently.

use std::net::Ipv6Addr;

use kollect_api::{AddressPolicy, Nats, SinkCommon};

use super::{Sink, backend::Backend};
use crate::{
    report::{FieldPath, Report},
    rule::Rule,
    surroundings::{LocalPaths, Policy},
};

/// An address as it was written, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Address<'a> {
    /// `https`, `ssh`, `s3`…; absent for bare buckets, `host:port` and scp style.
    pub(super) scheme: Option<&'a str>,
    /// What stands before the `@`.
    pub(super) user_info: Option<&'a str>,
    /// Host, without port and brackets.
    pub(super) host: &'a str,
    /// Everything after host and port.
    pub(super) path: &'a str,
    /// Whether it is `host:path`, as ssh and Git take it.
    scp: bool,
}

/// Takes apart `scheme://user@host:port/path`, and `user@host:path`.
pub(super) fn parse(text: &str) -> Address<'_> {
    let text = text.trim();
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
        _ => (None, text),
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (user_info, host_port) = match authority.rsplit_once('@') {
        Some((user_info, host)) => (Some(user_info), host),
        None => (None, authority),
    };
    let (host, after_host) = host_and_rest(host_port);
    let is_port = |text: &str| text.parse::<u16>().is_ok() && path.is_empty();
    let scp_path = after_host
        .filter(|rest| scheme.is_none() && !is_port(rest))
        .map(|rest| if rest.is_empty() { path } else { rest });
    Address {
        scheme,
        user_info,
        host,
        path: scp_path.unwrap_or(path),
        scp: scp_path.is_some_and(|path| !path.is_empty()),
    }
}

fn is_scheme(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(inner)
}

/// Splits off the host; the rest is what follows its colon, if there is one.
fn host_and_rest(text: &str) -> (&str, Option<&str>) {
    if let Some(bracketed) = text.strip_prefix('[') {
        // Git takes `[host:port]:path` beside `[::1]:path`.
        let (inside, after) = bracketed.split_once(']').unwrap_or((bracketed, ""));
        return (host_and_rest(inside).0, after.strip_prefix(':'));
    }
    match text.split_once(':') {
        Some((host, rest)) if !is_v6(text) => (host, Some(rest)),
        _ => (text, None),
    }
}

/// Whether the text is an IPv6 address, with or without its zone.
fn is_v6(text: &str) -> bool {
    text.split('%').next().is_some_and(|bare| bare.parse::<Ipv6Addr>().is_ok())
}

impl<'a> Address<'a> {
    fn has_scheme(&self, schemes: &[&str]) -> bool {
        self.scheme.is_some_and(|own| schemes.iter().any(|one| one.eq_ignore_ascii_case(own)))
    }

    /// Whether a Git client would reach it by ssh.
    pub(super) fn is_ssh(&self) -> bool {
        self.scp || self.has_scheme(&["ssh"])
    }

    /// The path alone, without its slashes, query and fragment.
    fn bare_path(&self) -> &'a str {
        self.path.split(['?', '#']).next().unwrap_or_default().trim_matches('/')
    }

    /// The host, and the one that scp style would see in `a:b@c`.
    fn hosts(&self) -> impl Iterator<Item = &'a str> {
        let user_info = self.user_info.filter(|text| self.scheme.is_none() && text.contains(':'));
        let of_scp = user_info.map(|text| match text.split_once('@') {
            Some((user, rest)) if !user.contains(':') => host_and_rest(rest).0,
            _ => host_and_rest(text).0,
        });
        of_scp.into_iter().chain([self.host])
    }
}

/// SNK-05 for `spec.endpoint`: nothing on this machine, in its neighbourhood,
/// or in a metadata service.
pub(super) fn may_be_dialled(sink: &Sink<'_>, policy: &Policy, report: &mut Report) {
    let path = FieldPath::of("spec.endpoint");
    let text = sink.common.endpoint.as_deref().unwrap_or_default();
    let address = parse(text);
    let is_bucket = address.scheme.is_none() || address.has_scheme(&["s3", "gs"]);
    match sink.backend {
        Backend::S3 | Backend::Gcs if is_bucket => {}
        Backend::Git if address.has_scheme(&["file"]) => {
            repository_may_be_used(&address, sink.namespace, &policy.local_paths, report);
        }
        // SNK-12 has more to say about a bare path.
        _ if address.scheme.is_none() && address.host.is_empty() => {}
        _ => dialled(path, text, &policy.addresses, report),
    }
    let api = sink.common.options.get("apiBaseURL").filter(|_| sink.backend == Backend::Gitlab);
    if let Some(api) = api {
        let path = FieldPath::of("spec.options").key("apiBaseURL");
        dialled(path, api, &policy.addresses, report);
    }
}

fn dialled(path: FieldPath, text: &str, policy: &AddressPolicy, report: &mut Report) {
    let address = parse(text);
    if text.trim().is_empty() {
        return;
    }
    let odd = |c: char| c == '\\' || c.is_whitespace() || c.is_control();
    if text.trim().contains(odd) {
        let detail = "must not contain backslashes, blanks or control characters";
        report.invalid(Rule::Snk05, path, &without_credentials(text), detail);
    } else if address.has_scheme(&["file"]) {
        let detail = "the scheme file is not allowed here; for a directory use a sink of type file";
        report.invalid(Rule::Snk05, path, &without_credentials(text), detail);
    } else if let Some(reason) = address.hosts().find_map(|host| refusal(host, policy)) {
        report.invalid(Rule::Snk05, path, &without_credentials(text), reason);
    }
}

/// Why a host may not be dialled, if so.
fn refusal(host: &str, policy: &AddressPolicy) -> Option<String> {
    let inner = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let plain = !host.starts_with('-') && host.chars().all(inner);
    if host.is_empty() {
        Some("names no host".to_owned())
    } else if !plain && !is_v6(host) {
        Some(format!(
            "{host:?} is no host name: write letters, digits, dashes and dots, in ASCII and \
             without escapes"
        ))
    } else {
        policy.host(host).err().map(|denied| format!("{host}: {denied}"))
    }
}

/// SNK-15 for `file://`, which names a bare repository on this machine.
fn repository_may_be_used(
    address: &Address<'_>,
    namespace: &str,
    paths: &LocalPaths,
    report: &mut Report,
) {
    let path = address.path.split(['?', '#']).next().unwrap_or_default();
    let reason = if !address.host.is_empty() || path.trim_matches('/').is_empty() {
        Some("must name a repository by its whole path, such as file:///srv/inventory.git".into())
    } else if path.contains(['%', '\0']) {
        Some("must be written without escapes".to_owned())
    } else {
        paths.refusal(namespace, path)
    };
    if let Some(reason) = reason {
        let found = format!("file://{}{path}", address.host);
        report.invalid(Rule::Snk15, FieldPath::of("spec.endpoint"), &found, reason);
    }
}

/// SNK-12: a type that needs an endpoint has one that it can use.
pub(super) fn is_given(sink: &Sink<'_>, report: &mut Report) {
    let path = FieldPath::of("spec.endpoint");
    let endpoint = sink.common.endpoint.as_deref().unwrap_or_default().trim();
    let example = match sink.backend {
        Backend::Git => "https://git.example.org/team/inventory.git",
        Backend::Gitlab => "https://gitlab.example.org/team/inventory.git",
        Backend::S3 => "s3://bucket/prefix",
        Backend::Gcs => "gs://bucket/prefix",
        _ => return,
    };
    if endpoint.is_empty() {
        report.required(
            Rule::Snk12,
            path,
            format!("the address of the destination, such as {example}"),
        );
        return;
    }
    let address = parse(endpoint);
    let problem = match sink.backend {
        Backend::Git => of_git(&address),
        Backend::Gitlab => of_gitlab(&address),
        _ => of_bucket(sink.backend, &address, endpoint),
    };
    if let Some(problem) = problem {
        let detail = format!("{problem}; write something such as {example}");
        report.invalid(Rule::Snk12, path, &without_credentials(endpoint), detail);
    }
}

fn of_git(address: &Address<'_>) -> Option<&'static str> {
    let a_scheme = ["http", "https", "ssh", "git", "file"];
    match address.scheme {
        Some(_) if address.has_scheme(&["file"]) => None,
        Some(_) if !address.has_scheme(&["http", "https", "ssh"]) => {
            Some("must be https://, http://, ssh:// or user@host:path")
        }
        None if !address.scp || address.path.starts_with(':') => {
            Some("is neither a URL nor user@host:path")
        }
        None if a_scheme.contains(&address.host.to_ascii_lowercase().as_str()) => {
            Some("lacks // after its scheme")
        }
        _ => address.bare_path().is_empty().then_some("names no repository"),
    }
}

fn of_gitlab(address: &Address<'_>) -> Option<&'static str> {
    if address.has_scheme(&["http", "https"]) {
        address.bare_path().is_empty().then_some("names no repository")
    } else {
        Some("must be https:// or http://")
    }
}

fn of_bucket(backend: Backend, address: &Address<'_>, text: &str) -> Option<&'static str> {
    let inner = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let bucket = match address.scheme {
        None => text.split(['/', '?', '#']).next().unwrap_or_default(),
        Some(_) if address.has_scheme(&["http", "https"]) => {
            address.bare_path().split('/').next().unwrap_or_default()
        }
        Some(_) if address.has_scheme(&["s3"]) => address.host,
        Some(_) if address.has_scheme(&["gs"]) && backend == Backend::Gcs => address.host,
        Some(_) if backend == Backend::Gcs => {
            return Some("must be gs://, s3://, https:// or the name of a bucket");
        }
        Some(_) => return Some("must be s3://, https:// or the name of a bucket"),
    };
    let named = !bucket.is_empty() && bucket.chars().all(inner);
    (!named).then_some("names no bucket")
}

/// SNK-05, SNK-12 and ESK-04 for NATS.
pub(super) fn nats(common: &SinkCommon, nats: &Nats, policy: &AddressPolicy, report: &mut Report) {
    let url = nats.url.as_deref().filter(|url| !url.trim().is_empty());
    let (path, text) = match (url, common.endpoint.as_deref()) {
        (Some(url), _) => ("spec.nats.url", url),
        (None, Some(endpoint)) if !endpoint.trim().is_empty() => ("spec.endpoint", endpoint),
        _ => {
            let detail = "nats.url or endpoint is needed, such as nats://nats.example.org:4222";
            report.required(Rule::Snk12, FieldPath::of("spec.nats.url"), detail);
            return;
        }
    };
    for server in text.split(',') {
        dialled(FieldPath::of(path), server, policy, report);
        if parse(server).user_info.is_some() {
            let detail = "carries credentials; put them into a Secret and name that in secretRef";
            report.forbidden(Rule::Esk04, FieldPath::of(path), detail);
        }
    }
}

/// SNK-05 and ESK-03 for the brokers of Kafka.
pub(super) fn kafka(brokers: &[String], policy: &AddressPolicy, report: &mut Report) {
    let path = FieldPath::of("spec.kafka.brokers");
    if brokers.iter().all(|broker| broker.trim().is_empty()) {
        report.required(Rule::Esk03, path, "at least one broker, such as kafka.example.org:9092");
        return;
    }
    for (at, broker) in brokers.iter().enumerate() {
        // Clients take a comma list for several brokers.
        for one in broker.split(',') {
            dialled(path.index(at), one, policy, report);
        }
    }
}

/// The text with its user-info hidden, so that no message repeats a password.
fn without_credentials(text: &str) -> String {
    let Address { scheme, user_info, .. } = parse(text);
    let Some(user_info) = user_info else { return text.trim().to_owned() };
    let scheme = scheme.map(|scheme| format!("{scheme}://")).unwrap_or_default();
    let hidden = text.trim().get(scheme.len() + user_info.len()..).unwrap_or_default();
    format!("{scheme}***{hidden}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn host(text: &str, expected: &str) {
        assert_eq!(parse(text).host, expected, "{text}");
    }

    #[test]
    fn the_host_is_found_in_every_form() {
        host("https://git.example.org/a/b.git", "git.example.org");
        host("https://user:pw@git.example.org:8443/a.git#branch=x", "git.example.org");
        host("https://good.example@127.0.0.1/a", "127.0.0.1");
        host("ssh://git@[::1]:22/a", "::1");
        host("git@git.example.org:team/a.git", "git.example.org");
        host("[fe80::1]:9092", "fe80::1");
        host("::1", "::1");
        host("kafka.example.org:9092", "kafka.example.org");
        host("kafka.example.org", "kafka.example.org");
        host("https://host?x=@other", "host");
        host("nats.example.org?x", "nats.example.org");
        host("git@[::1]:team/a.git", "::1");
        host("git@[127.0.0.1:22]:team/a.git", "127.0.0.1");
        host("git@127.0.0.1:team:a.git", "127.0.0.1");
        host("git@127.0.0.1:a/://x", "127.0.0.1");
    }

    #[test]
    fn scp_style_is_ssh_and_a_port_is_none() {
        assert!(parse("git@git.example.org:team/a.git").is_ssh());
        assert!(parse("ssh://git.example.org/a").is_ssh());
        assert!(!parse("https://git.example.org/a").is_ssh());
        assert!(parse("git@git.example.org:/srv/a.git").is_ssh());
        assert!(!parse("git.example.org/a").is_ssh());
        assert_eq!(parse("git.example.org:9092").path, "");
    }

    #[test]
    fn no_message_repeats_a_password() {
        assert_eq!(without_credentials("https://u:geheim@h/x"), "https://***@h/x");
        assert_eq!(without_credentials("https://http@h/x"), "https://***@h/x");
        assert_eq!(without_credentials(" u:geheim@h "), "***@h");
        assert_eq!(without_credentials("https://h/x"), "https://h/x");
    }
}
