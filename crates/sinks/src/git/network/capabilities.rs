//! What a server says about itself before anything else.

use bytes::Bytes;

use super::packet::{Packet, Packets};
use crate::git::{error::Fault, object::Id};

/// How to read from a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// Whether it speaks the second version of the protocol.
    pub(super) is_v2: bool,
    /// Whether it can leave files out.
    pub(super) filters: bool,
    /// Whether it gives single objects to whoever knows their names.
    pub(super) single_objects: bool,
}

/// How to write to a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Writing {
    pub(super) bands: bool,
    /// Whether it wants to be told how objects are named.
    pub(super) format: bool,
}

/// What a server said first.
#[derive(Debug)]
pub(super) struct Advertisement {
    /// Its capabilities: a name, and perhaps a value after `=`.
    capabilities: Vec<String>,
    is_v2: bool,
    /// What the branch is at, where the server lists branches at once.
    pub(super) tip: Option<Id>,
}

impl Advertisement {
    /// Reads it up to its end.
    pub(super) fn read(packets: &mut Packets<'_>, branch: &str) -> Result<Self, Fault> {
        let mut found = Self { capabilities: Vec::new(), is_v2: false, tip: None };
        let wanted = format!("refs/heads/{branch}");
        let (mut is_first, mut is_named) = (true, false);
        loop {
            let line = match packets.next()? {
                Packet::Line(line) => line,
                // The name of the service stands in a message of its own.
                Packet::Flush if is_named => {
                    is_named = false;
                    continue;
                }
                Packet::Flush => break,
                Packet::Part => continue,
                Packet::End if is_first => {
                    return Err(Fault::Refused("the server said nothing".to_owned()));
                }
                Packet::End => return Err(Fault::protocol("the answer ends too early")),
            };
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches('\n');
            match text {
                name if is_first && name.starts_with("# service=") => {
                    is_named = true;
                    continue;
                }
                "version 2" if is_first => found.is_v2 = true,
                "version 1" if is_first => continue,
                capability if found.is_v2 => found.capabilities.push(capability.to_owned()),
                of_branch => found.take(of_branch, &wanted, &line),
            }
            is_first = false;
        }
        found.judge()?;
        Ok(found)
    }

    /// Takes a line of the older protocol: an id, a name, and on the first
    /// line the capabilities.
    fn take(&mut self, text: &str, wanted: &str, line: &Bytes) {
        let (of_branch, capabilities) = text.split_once('\0').unwrap_or((text, ""));
        self.capabilities.extend(capabilities.split(' ').map(str::to_owned));
        if let Some((_, name)) = of_branch.split_once(' ')
            && name == wanted
        {
            self.tip = line.get(..40).and_then(Id::from_hex);
        }
    }

    fn judge(&self) -> Result<(), Fault> {
        match self.value("object-format") {
            None | Some("sha1") => Ok(()),
            Some("sha256") => Err(Fault::Unusable(
                "the repository names its objects by SHA-256, which is not supported".to_owned(),
            )),
            Some(other) => Err(Fault::Unusable(format!(
                "the repository names its objects by {other}, which is not supported"
            ))),
        }
    }

    pub(super) fn reading(&self) -> Reading {
        let fetch = self.value("fetch").unwrap_or_default();
        let of_fetch = |word: &str| fetch.split(' ').any(|one| one == word);
        Reading {
            is_v2: self.is_v2,
            filters: if self.is_v2 { of_fetch("filter") } else { self.has("filter") },
            // The second version gives what it is asked for.
            single_objects: self.is_v2
                || self.has("allow-any-sha1-in-want")
                || self.has("allow-reachable-sha1-in-want"),
        }
    }

    pub(super) fn writing(&self) -> Result<Writing, Fault> {
        if !self.has("report-status") {
            return Err(Fault::Unusable("the server does not report how a push went".to_owned()));
        }
        Ok(Writing {
            bands: self.has("side-band-64k"),
            format: self.value("object-format").is_some(),
        })
    }

    fn has(&self, name: &str) -> bool {
        self.capabilities.iter().any(|one| one == name)
    }

    fn value(&self, name: &str) -> Option<&str> {
        let value = |one: &'_ String| -> Option<usize> {
            let rest = one.strip_prefix(name)?.strip_prefix('=')?;
            Some(one.len() - rest.len())
        };
        self.capabilities.iter().find_map(|one| one.get(value(one)?..))
    }
}
