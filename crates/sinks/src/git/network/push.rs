//! How a branch is moved, and what the server says to that.

use bytes::Bytes;

use super::{
    AGENT,
    capabilities::Writing,
    packet::{FLUSH, Packets, words_of, write},
    wire::{Service, Wire},
};
use crate::{
    git::{
        error::Fault,
        object::Id,
        remote::{Push, PushFault, Pushed},
    },
    progress::Progress,
};

/// What a server answers that has moved the branch for somebody else, or is
/// about to.
const FASTER: [&str; 4] =
    ["failed to update ref", "failed to lock", "incorrect old value provided", "fetch first"];
const FASTER_FRONT: [&str; 2] = ["cannot lock ref", "failed to update ref"];

/// How a push went, as the server tells it.
#[derive(Debug, Default)]
pub(super) struct Report {
    unpacked: Option<String>,
    /// What it says about the branch: nothing if it has moved.
    refusals: Vec<String>,
    moved: bool,
    /// What it says to people.
    words: String,
}

impl Report {
    pub(super) fn judge(self, branch: &str) -> Result<Pushed, PushFault> {
        let words = |reason: &str| match self.words.as_str() {
            "" => reason.to_owned(),
            words => format!("{reason}: {words}"),
        };
        match (self.unpacked.as_deref(), self.refusals.first()) {
            (Some("ok"), None) if self.moved => Ok(Pushed::Done),
            (Some("ok"), Some(reason))
                if FASTER.contains(&reason.as_str())
                    || FASTER_FRONT.iter().any(|front| reason.starts_with(front)) =>
            {
                Ok(Pushed::Moved)
            }
            (Some("ok"), Some(reason)) => Err(PushFault::before(Fault::Rejected(format!(
                "the branch {branch} was not moved: {}",
                words(reason)
            )))),
            (Some("ok") | None, None) => Err(PushFault::unknown(Fault::protocol(words(
                "the server did not say how it went",
            )))),
            (None, Some(reason)) => Err(PushFault::before(Fault::protocol(words(reason)))),
            (Some(reason), _) => Err(PushFault::before(Fault::protocol(words(&format!(
                "the server could not unpack: {reason}"
            ))))),
        }
    }
}

/// Reads how a push went.
pub(super) fn report(packets: &mut Packets<'_>, writing: &Writing) -> Result<Report, Fault> {
    let mut report = Report::default();
    if writing.bands {
        let mut status = Vec::new();
        report.words = packets.demultiplexed(|data| {
            status.extend_from_slice(data);
            Ok(())
        })?;
        let mut inner = Inner(Some(status.into()));
        read_report(&mut Packets::new(&mut inner), &mut report)?;
    } else {
        read_report(packets, &mut report)?;
    }
    Ok(report)
}

fn read_report(packets: &mut Packets<'_>, report: &mut Report) -> Result<(), Fault> {
    while let Some(line) = packets.line()? {
        let text = String::from_utf8_lossy(&line);
        match text.split_once(' ') {
            Some(("unpack", how)) => report.unpacked = Some(how.to_owned()),
            Some(("ok", _)) => report.moved = true,
            Some(("ng", rest)) => {
                let reason = rest.split_once(' ').map_or("", |(_, reason)| reason);
                report.refusals.push(words_of(reason.as_bytes()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Packets inside packets.
struct Inner(Option<Bytes>);

impl Wire for Inner {
    fn begin(&mut self, _service: Service) -> Result<(), Fault> {
        Ok(())
    }

    fn is_stateless(&self) -> bool {
        true
    }

    fn say(&mut self, _service: Service, _words: &[Bytes]) -> Result<(), Fault> {
        Ok(())
    }

    fn chunk(&mut self) -> Result<Option<Bytes>, Fault> {
        Ok(self.0.take())
    }

    fn end(&mut self) {}

    fn attend(&mut self, _progress: &Progress) {}
}

/// The command of a push. The pack follows it.
pub(super) fn command(push: &Push<'_>, branch: &str, writing: &Writing) -> Vec<u8> {
    let old = push.old.unwrap_or(Id::NONE);
    let mut line = format!("{old} {} refs/heads/{branch}\0 report-status", push.new);
    for (is_there, capability) in
        [(writing.bands, "side-band-64k"), (writing.format, "object-format=sha1"), (true, AGENT)]
    {
        if is_there {
            line.push(' ');
            line.push_str(capability);
        }
    }
    let mut words = Vec::new();
    write(line.as_bytes(), &mut words);
    words.extend_from_slice(FLUSH);
    words
}
