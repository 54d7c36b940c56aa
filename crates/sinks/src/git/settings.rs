//! What users write about a Git sink, checked.

use std::{path::PathBuf, sync::Arc};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use kollect_api::{Git, GitAuthType, PushPolicy, SnapshotSinkSpec};

use super::{
    http::{Login, tls::Trust},
    message::Message,
    ssh::{self, SshSettings, known_hosts::KnownHosts},
};
use crate::{credentials::Credentials, guard::Guard};

/// Where a repository is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// A bare repository on this machine, as it was written.
    Local(String),
    Http(HttpAddress),
    Ssh(SshAddress),
}

/// A repository behind http or https.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HttpAddress {
    pub(super) encrypted: bool,
    pub(super) host: String,
    pub(super) port: u16,
    /// With its first slash, without the last.
    pub(super) path: String,
}

/// A repository behind ssh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SshAddress {
    pub(super) user: Option<String>,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) path: String,
}

/// How a branch is written to.
#[derive(Clone, Debug)]
pub(super) struct GitSettings {
    pub(super) branch: String,
    pub(super) push: PushPolicy,
    /// Name and address of whoever commits.
    pub(super) author: (String, String),
    pub(super) message: Message,
    /// How many commits of history are read.
    pub(super) depth: u32,
    /// Whether the probe asks for the right to write.
    pub(super) probe_writes: bool,
}

/// Why the settings cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    #[error("endpoint: {0}")]
    Endpoint(&'static str),
    #[error("git.branch: {0:?} cannot be the name of a branch")]
    Branch(String),
    #[error("git.auth.type: {0}")]
    Login(&'static str),
    #[error("tls: {0}")]
    Tls(String),
    #[error("the Secret's {key}: {reason}")]
    Secret { key: &'static str, reason: String },
}

/// The address and the branch that an endpoint names.
pub(super) fn location(endpoint: &str) -> Result<(Location, Option<String>), GitError> {
    let (address, fragment) = match endpoint.trim().split_once('#') {
        Some((address, fragment)) => (address, Some(fragment)),
        None => (endpoint.trim(), None),
    };
    let branch = fragment.and_then(|fragment| fragment.strip_prefix("branch="));
    let branch = branch.filter(|branch| !branch.is_empty()).map(str::to_owned);
    let odd = |c: char| c == '\\' || c.is_whitespace() || c.is_control();
    if address.contains(odd) {
        return Err(GitError::Endpoint("holds backslashes, blanks or control characters"));
    }
    let location = match address.split_once("://") {
        Some((scheme, rest)) => of_url(&scheme.to_ascii_lowercase(), rest)?,
        None => of_scp(address)?,
    };
    Ok((location, branch))
}

fn of_url(scheme: &str, rest: &str) -> Result<Location, GitError> {
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = path.trim_end_matches('/');
    if path.is_empty() {
        return Err(GitError::Endpoint("names no repository"));
    }
    let (user, host_port) = match authority.rsplit_once('@') {
        Some((user, host_port)) => (Some(user), host_port),
        None => (None, authority),
    };
    let standard = match scheme {
        "https" => 443,
        "http" => 80,
        "ssh" => 22,
        "file" if authority.is_empty() => return Ok(Location::Local(path.to_owned())),
        "file" => return Err(GitError::Endpoint("must name a repository by its whole path")),
        _ => return Err(GitError::Endpoint("must be https://, http://, ssh:// or user@host:path")),
    };
    let (host, port) = host_and_port(host_port, standard)?;
    if scheme == "ssh" {
        let user = user.and_then(|user| user.split(':').next()).filter(|user| !user.is_empty());
        let user = user.map(str::to_owned);
        return Ok(Location::Ssh(SshAddress { user, host, port, path: path.to_owned() }));
    }
    if path.contains('?') {
        return Err(GitError::Endpoint("must have no query"));
    }
    // Names and passwords come from the Secret alone.
    let encrypted = scheme == "https";
    Ok(Location::Http(HttpAddress { encrypted, host, port, path: path.to_owned() }))
}

/// `user@host:path`, which is relative to the user's home.
fn of_scp(address: &str) -> Result<Location, GitError> {
    let neither = GitError::Endpoint("is neither a URL nor user@host:path");
    let (user, rest) = match address.split_once('@') {
        Some((user, rest)) => (Some(user.to_owned()), rest),
        None => (None, address),
    };
    let bracketed = rest.strip_prefix('[').and_then(|rest| rest.split_once("]:"));
    let bracketed = bracketed.map(|(host, path)| (format!("[{host}]"), path));
    let plain = || rest.split_once(':').map(|(host, path)| (host.to_owned(), path));
    let (host, path) = bracketed.or_else(plain).ok_or(neither)?;
    let path = path.trim_end_matches('/');
    if path.is_empty() {
        return Err(GitError::Endpoint("names no repository"));
    }
    let (host, port) = host_and_port(&host, 22)?;
    Ok(Location::Ssh(SshAddress { user, host, port, path: path.to_owned() }))
}

fn host_and_port(text: &str, standard: u16) -> Result<(String, u16), GitError> {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, "")) => (host, None),
        Some((host, rest)) => (host, rest.strip_prefix(':')),
        None => match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    if host.is_empty() {
        return Err(GitError::Endpoint("names no host"));
    }
    let port = match port {
        None | Some("") => standard,
        Some(port) => port.parse().map_err(|_| GitError::Endpoint("has no usable port"))?,
    };
    Ok((host.to_owned(), port))
}

impl GitSettings {
    pub(super) fn new(
        spec: &SnapshotSinkSpec,
        sink: &str,
        (location, of_endpoint): (&Location, Option<String>),
    ) -> Result<Self, GitError> {
        let git = spec.git.clone().unwrap_or_default();
        fits(&git, location)?;
        let written = git.branch.clone().filter(|branch| !branch.is_empty());
        let branch = written.or(of_endpoint).unwrap_or_else(|| "main".to_owned());
        if !is_branch(&branch) {
            return Err(GitError::Branch(branch));
        }
        let author = git.author.clone().unwrap_or_default();
        let or = |text: Option<String>, other: &str| {
            text.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| other.to_owned())
        };
        let cluster = spec.common.cluster.as_deref().map(str::trim).unwrap_or_default();
        let depth = git.clone_depth.and_then(|depth| u32::try_from(depth).ok());
        let probe = spec.common.options.get("probe");
        Ok(Self {
            branch,
            push: git.push_policy.unwrap_or(PushPolicy::Commit),
            author: (or(author.name, "kollect"), or(author.email, "kollect@kollect.dev")),
            message: Message::new(&git, sink, cluster),
            depth: depth.unwrap_or(1).max(1),
            probe_writes: probe.is_some_and(|probe| probe == "write"),
        })
    }
}

fn fits(git: &Git, location: &Location) -> Result<(), GitError> {
    let wanted = git.auth.as_ref().and_then(|auth| auth.auth_type);
    match (wanted, location) {
        (Some(GitAuthType::Ssh), Location::Http(_)) => {
            Err(GitError::Login("http and https endpoints log in with token"))
        }
        (Some(GitAuthType::Token), Location::Ssh(_)) => {
            Err(GitError::Login("ssh endpoints log in with ssh"))
        }
        _ => Ok(()),
    }
}

/// Whether a name can be that of a branch, and leads nowhere else as a path.
fn is_branch(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(inner)
        && !name.starts_with("refs/")
        && !name.contains("..")
        && name.split('/').all(|part| {
            let ends = part.ends_with('.') || part.strip_suffix(".lock").is_some();
            !part.is_empty() && !part.starts_with('.') && !ends
        })
}

/// As whom to log in over http, if as anybody: a token counts more than a
/// password.
pub(super) fn login(credentials: &Credentials) -> Option<Login> {
    let token = credentials.get(&["token"]);
    let password = token.or_else(|| credentials.get(&["password"]))?.to_owned();
    let user = credentials.get(&["username"]);
    let user = user.unwrap_or(if token.is_some() { "x-access-token" } else { "git" }).to_owned();
    Some(Login { user, password })
}

/// How to log in over ssh, and whom to believe.
pub(super) fn ssh(
    spec: &SnapshotSinkSpec,
    address: &SshAddress,
    (guard, credentials): (&Guard, &Credentials),
) -> Result<SshSettings, GitError> {
    let wrong = |key, reason: String| GitError::Secret { key, reason };
    let missing = |key| wrong(key, "it is missing, and ssh needs it".to_owned());
    let key = credentials.get(&["ssh-privatekey", "identity", "id_rsa"]);
    let key = ssh::key(key.ok_or_else(|| missing("ssh-privatekey"))?)
        .map_err(|reason| wrong("ssh-privatekey", reason))?;
    let tls = spec.common.tls.as_ref();
    let known = if tls.and_then(|tls| tls.insecure_skip_verify).unwrap_or_default() {
        None
    } else {
        let text = credentials.get(&["known_hosts"]).ok_or_else(|| missing("known_hosts"))?;
        Some(KnownHosts::read(text).map_err(|reason| wrong("known_hosts", reason))?)
    };
    let user = credentials.get(&["username"]).or(address.user.as_deref()).unwrap_or("git");
    Ok(SshSettings {
        address: address.clone(),
        user: user.to_owned(),
        key: Arc::new(key),
        known,
        guard: guard.clone(),
    })
}

/// Who may answer for the server.
pub(super) fn trust(spec: &SnapshotSinkSpec, credentials: &Credentials) -> Result<Trust, GitError> {
    let Some(tls) = &spec.common.tls else { return Ok(Trust::System) };
    if tls.insecure_skip_verify == Some(true) {
        return Ok(Trust::Anybody);
    }
    if let Some(bundle) = &tls.ca_bundle {
        let unusable = |error: String| GitError::Tls(format!("caBundle: {error}"));
        let joined: String = bundle.split_whitespace().collect();
        let pem = BASE64_STANDARD.decode(joined).map_err(|error| unusable(error.to_string()))?;
        let pem = String::from_utf8(pem).map_err(|error| unusable(error.to_string()))?;
        return Ok(Trust::Also(pem));
    }
    if tls.ca_secret_ref.is_none() {
        return Ok(Trust::System);
    }
    let missing = || GitError::Tls("the certificates of caSecretRef were not given".to_owned());
    Ok(Trust::Also(credentials.ca().ok_or_else(missing)?.to_owned()))
}

/// What tells one branch from all others, for those who share it.
pub(super) fn identity(location: &Location, branch: &str, local: Option<&PathBuf>) -> String {
    let place = match (location, local) {
        (Location::Local(path), None) => format!("file://{path}"),
        (Location::Local(_), Some(path)) => format!("file://{}", path.display()),
        (Location::Http(HttpAddress { encrypted, host, port, path }), _) => {
            format!("http {encrypted} {}:{port}{path}", host.to_ascii_lowercase())
        }
        (Location::Ssh(SshAddress { host, port, path, user }), _) => {
            format!("ssh {user:?} {}:{port} {path}", host.to_ascii_lowercase())
        }
    };
    format!("{place}#{branch}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn http(encrypted: bool, host: &str, port: u16, path: &str) -> Location {
        Location::Http(HttpAddress { encrypted, host: host.into(), port, path: path.into() })
    }

    fn ssh(user: Option<&str>, host: &str, port: u16, path: &str) -> Location {
        let user = user.map(str::to_owned);
        Location::Ssh(SshAddress { user, host: host.into(), port, path: path.into() })
    }

    #[test]
    fn an_endpoint_is_taken_apart() {
        let check = |endpoint, expected: Location, branch: Option<&str>| {
            assert_eq!(location(endpoint).unwrap(), (expected, branch.map(str::to_owned)));
        };
        check("https://git.example/a/b.git/", http(true, "git.example", 443, "/a/b.git"), None);
        check("HTTP://u:p@h:81/x#branch=a/b", http(false, "h", 81, "/x"), Some("a/b"));
        check("https://[::1]:9/x", http(true, "::1", 9, "/x"), None);
        check("ssh://git@h:2222/srv/x.git", ssh(Some("git"), "h", 2222, "/srv/x.git"), None);
        check("git@h:team/x.git#branch=m", ssh(Some("git"), "h", 22, "team/x.git"), Some("m"));
        check("git@[::1]:x", ssh(Some("git"), "::1", 22, "x"), None);
        check("file:///srv/x.git", Location::Local("/srv/x.git".into()), None);
    }

    #[test]
    fn what_is_no_endpoint_is_refused() {
        for wrong in [
            "",
            "https://h",
            "https://",
            "https:///x",
            "ftp://h/x",
            "file://h/x",
            "/srv/x",
            "https://h:x/y",
            "https://h/x?y",
            "https://h/a b",
            "git@h:",
            "https://h\\@i/x",
        ] {
            assert!(matches!(location(wrong), Err(GitError::Endpoint(_))), "{wrong}");
        }
    }

    #[test]
    fn a_branch_is_no_path_that_leads_elsewhere() {
        for name in ["main", "a/b", "v1.2", "a-b_c"] {
            assert!(is_branch(name), "{name}");
        }
        for name in [
            "", "-a", "a..b", "a/", "/a", "a//b", "a/.b", "a.lock", "a.lock/b", "a.", "refs/x",
            "a b", "a~1",
        ] {
            assert!(!is_branch(name), "{name}");
        }
    }
}
