//! Whom to believe that it is the server.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use russh::keys::{Algorithm, HashAlg, PublicKey};
use sha1_checked::{Digest as _, Sha1};

/// Keys of hosts, in the form of OpenSSH.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::git) struct KnownHosts(Vec<Line>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    hosts: String,
    key: PublicKey,
    is_revoked: bool,
}

impl KnownHosts {
    /// Reads a file. Lines that we do not understand are an error, because
    /// somebody counts on them.
    pub(in crate::git) fn read(text: &str) -> Result<Self, String> {
        let mut lines = Vec::new();
        for (at, text) in text.lines().map(str::trim).enumerate() {
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let wrong = |reason: &str| format!("line {}: {reason}", at + 1);
            let mut words = text.split_whitespace().peekable();
            let mark = words.next_if(|word| word.starts_with('@'));
            let is_revoked = match mark {
                None => false,
                Some("@revoked") => true,
                Some(other) => return Err(wrong(&format!("{other} is not supported"))),
            };
            let (Some(hosts), Some(kind), Some(key)) = (words.next(), words.next(), words.next())
            else {
                return Err(wrong("needs hosts, the type of a key, and the key"));
            };
            let key = PublicKey::from_openssh(&format!("{kind} {key}"))
                .map_err(|error| wrong(&format!("the key cannot be read: {error}")))?;
            lines.push(Line { hosts: hosts.to_owned(), key, is_revoked });
        }
        if lines.is_empty() {
            return Err("it names no host".to_owned());
        }
        Ok(Self(lines))
    }

    /// The keys that a host may have.
    pub(super) fn of(&self, host: &str, port: u16) -> Vec<PublicKey> {
        let host = host.to_ascii_lowercase();
        let name = if port == 22 { host } else { format!("[{host}]:{port}") };
        let revoked = |key: &PublicKey| {
            self.0.iter().any(|line| line.is_revoked && line.key.key_data() == key.key_data())
        };
        let named = self.0.iter().filter(|line| !line.is_revoked && names(&line.hosts, &name));
        named.map(|line| line.key.clone()).filter(|key| !revoked(key)).collect()
    }
}

/// How a server can prove that it has one of these keys.
pub(super) fn algorithms(keys: &[PublicKey]) -> Vec<Algorithm> {
    let mut algorithms = Vec::new();
    for key in keys {
        match key.algorithm() {
            Algorithm::Rsa { .. } => algorithms.extend(
                [HashAlg::Sha512, HashAlg::Sha256].map(|hash| Algorithm::Rsa { hash: Some(hash) }),
            ),
            other => algorithms.push(other),
        }
    }
    algorithms
}

/// Whether a list of hosts names one.
fn names(hosts: &str, name: &str) -> bool {
    if let Some(hashed) = hosts.strip_prefix("|1|") {
        return is_hash_of(hashed, name).unwrap_or(false);
    }
    let (mut found, mut denied) = (false, false);
    for pattern in hosts.to_ascii_lowercase().split(',') {
        if let Some(pattern) = pattern.strip_prefix('!') {
            denied |= fits(pattern.as_bytes(), name.as_bytes());
        } else {
            found |= fits(pattern.as_bytes(), name.as_bytes());
        }
    }
    found && !denied
}

/// Whether a name fits a pattern in which `*` stands for anything and `?` for
/// any one character.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, rest) => rest.is_none(),
        (Some((b'*', pattern_rest)), rest) => {
            fits(pattern_rest, name) || rest.is_some_and(|(_, rest)| fits(pattern, rest))
        }
        (Some((b'?', pattern)), Some((_, name))) => fits(pattern, name),
        (Some((wanted, pattern)), Some((found, name))) => wanted == found && fits(pattern, name),
        (Some(_), None) => false,
    }
}

/// Whether `salt|hash` hides a name.
fn is_hash_of(hashed: &str, name: &str) -> Option<bool> {
    let (salt, hash) = hashed.split_once('|')?;
    let salt = BASE64_STANDARD.decode(salt).ok()?;
    let hash = BASE64_STANDARD.decode(hash).ok()?;
    Some(keyed_hash(&salt, name.as_bytes()).as_slice() == hash)
}

/// HMAC with SHA-1 (RFC 2104), whose key is shorter than a block.
fn keyed_hash(key: &[u8], text: &[u8]) -> [u8; 20] {
    let padded = |with: u8| {
        let mut block = [with; 64];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let hash = |parts: [&[u8]; 2]| -> [u8; 20] {
        let mut hash = Sha1::new();
        for part in parts {
            hash.update(part);
        }
        hash.finalize().into()
    };
    let inner = hash([&padded(0x36), text]);
    hash([&padded(0x5c), &inner])
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";

    fn count(hosts: &str, host: &str, port: u16) -> usize {
        KnownHosts::read(&format!("# a list\n\n{hosts} {KEY} comment"))
            .unwrap()
            .of(host, port)
            .len()
    }

    #[test]
    fn a_host_is_known_by_its_name_and_port() {
        assert_eq!(count("git.example", "Git.Example", 22), 1);
        assert_eq!(count("git.example", "git.example", 2222), 0);
        assert_eq!(count("[git.example]:2222", "git.example", 2222), 1);
        assert_eq!(count("a,*.example", "git.example", 22), 1);
        assert_eq!(count("*.example,!git.example", "git.example", 22), 0);
        assert_eq!(count("git.exampl?", "git.example", 22), 1);
        assert_eq!(count("git.exampl", "git.example", 22), 0);
    }

    #[test]
    fn a_hidden_name_is_found() {
        assert_eq!(
            keyed_hash(b"Jefe", b"what do ya want for nothing?")
                .map(|byte| format!("{byte:02x}"))
                .concat(),
            "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
        );
        let salt = [7; 20];
        let hash = BASE64_STANDARD.encode(keyed_hash(&salt, b"git.example"));
        let line = format!("|1|{}|{hash}", BASE64_STANDARD.encode(salt));
        assert_eq!(count(&line, "git.example", 22), 1);
        assert_eq!(count(&line, "git.example2", 22), 0);
    }

    #[test]
    fn a_revoked_key_is_nobodys() {
        let text = format!("git.example {KEY}\n@revoked * {KEY}\n");
        assert!(KnownHosts::read(&text).unwrap().of("git.example", 22).is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for (text, reason) in [
            ("", "it names no host"),
            ("git.example", "line 1: needs hosts, the type of a key, and the key"),
            ("@cert-authority * x y", "line 1: @cert-authority is not supported"),
        ] {
            assert_eq!(KnownHosts::read(text).unwrap_err(), reason);
        }
        assert!(KnownHosts::read("a ssh-ed25519 AAAA").unwrap_err().starts_with("line 1: the key"));
    }
}
