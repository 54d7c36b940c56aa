//! A repository behind a connection: what is asked, and what the answers mean.
//!
//! The tip is asked for by the second version of the protocol, which sends one
//! branch and not all of them. A commit is fetched with its trees alone where
//! the server can leave files out; files are then fetched by their names when
//! somebody wants to look into them. Servers that speak the first version
//! only, or send everything, are understood too.

pub(super) mod packet;
mod capabilities;
mod fetch;
mod push;
pub(super) mod wire;

use kollect_inventory::Effect;

use self::{
    capabilities::{Advertisement, Reading, Writing},
    fetch::{Files, Wanted},
    packet::{FLUSH, PART, Packets, write},
    wire::{Service, Wire},
};
use super::{
    error::Fault,
    object::{self, Id, Kind},
    objects::Objects,
    pack::received::Received,
    remote::{Push, PushFault, Pushed, Remote},
};
use crate::progress::Progress;

const AGENT: &str = concat!("agent=kollect/", env!("CARGO_PKG_VERSION"));

/// A repository and a branch of it.
pub(super) struct NetworkRemote {
    wire: Box<dyn Wire + Send>,
    branch: String,
    depth: u32,
    /// What the server said about itself, where it need not say it again.
    reading: Option<Reading>,
    writing: Option<Writing>,
    /// What it sent last, if that holds files too.
    received: Option<Received>,
    progress: Progress,
}

/// What a server says about the branch before a push.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Old {
    Untold,
    Stands,
    Moved,
}

impl NetworkRemote {
    pub(super) fn new(wire: Box<dyn Wire + Send>, branch: &str, depth: u32) -> Self {
        Self {
            wire,
            branch: branch.to_owned(),
            depth,
            reading: None,
            writing: None,
            received: None,
            progress: Progress::default(),
        }
    }

    /// Begins to read, and answers with what the server is able to, and with
    /// the tip if it has told it already.
    fn begin_reading(&mut self) -> Result<(Reading, Option<Id>), Fault> {
        if self.wire.is_stateless()
            && let Some(reading) = self.reading.clone().filter(|reading| reading.is_v2)
        {
            return Ok((reading, None));
        }
        self.wire.begin(Service::Upload)?;
        let said = Advertisement::read(&mut Packets::new(&mut *self.wire), &self.branch)?;
        let reading = said.reading();
        self.reading = Some(reading.clone());
        Ok((reading, said.tip))
    }

    fn find_tip(&mut self) -> Result<Option<Id>, Fault> {
        let (reading, tip) = self.begin_reading()?;
        if !reading.is_v2 {
            self.wire.end();
            return Ok(tip);
        }
        let wanted = format!("refs/heads/{}", self.branch);
        let mut words = Vec::new();
        write(b"command=ls-refs\n", &mut words);
        write(format!("{AGENT}\n").as_bytes(), &mut words);
        words.extend_from_slice(PART);
        write(format!("ref-prefix {wanted}\n").as_bytes(), &mut words);
        words.extend_from_slice(FLUSH);
        self.wire.say(Service::Upload, &[words.into()])?;
        let mut packets = Packets::new(&mut *self.wire);
        let mut tip = None;
        while let Some(line) = packets.line()? {
            let name = line.get(41..).unwrap_or_default();
            if name.split(|byte| *byte == b' ').next() == Some(wanted.as_bytes()) {
                let id = line.get(..40).and_then(Id::from_hex);
                tip = Some(id.ok_or_else(|| Fault::protocol("the branch is at no commit"))?);
            }
        }
        self.wire.end();
        Ok(tip)
    }

    fn fetch(&mut self, wanted: &Wanted<'_>) -> Result<Received, Fault> {
        let (reading, _) = self.begin_reading()?;
        self.wire.say(Service::Upload, &[fetch::words(wanted, &reading).into()])?;
        let mut packets = Packets::new(&mut *self.wire);
        fetch::skip_to_pack(&mut packets, wanted, &reading)?;
        let spool = packets.pack()?;
        self.wire.end();
        Ok(Received::read(spool)?)
    }

    /// Everything that a commit leads to, without a look at what is known.
    fn fetch_whole(&mut self, commit: Id) -> Result<Received, Fault> {
        let ids = [commit];
        self.fetch(&Wanted { ids: &ids, known: None, depth: Some(1), files: Files::Sent })
    }

    /// Reads from what was sent last, and answers with what is not in it.
    fn take_received(&mut self, ids: &[Id], objects: &mut Objects) -> Result<Vec<Id>, Fault> {
        let mut missing = Vec::new();
        for id in ids {
            let found = match &mut self.received {
                Some(received) => received.object(*id)?,
                None => None,
            };
            match found {
                Some((kind, content)) => objects.add(*id, kind, content)?,
                None => missing.push(*id),
            }
        }
        Ok(missing)
    }

    fn begin_writing(&mut self, old: Option<Id>) -> Result<(Writing, Old), Fault> {
        if self.wire.is_stateless()
            && let Some(writing) = self.writing.clone()
        {
            return Ok((writing, Old::Untold));
        }
        self.wire.begin(Service::Receive)?;
        let said = Advertisement::read(&mut Packets::new(&mut *self.wire), &self.branch)?;
        let writing = said.writing()?;
        self.writing = Some(writing.clone());
        Ok((writing, if said.tip == old { Old::Stands } else { Old::Moved }))
    }

    fn try_push(&mut self, push: &Push<'_>) -> Result<Pushed, PushFault> {
        let (writing, old) = self.begin_writing(push.old).map_err(PushFault::before)?;
        if old == Old::Moved {
            self.wire.end();
            return Ok(Pushed::Moved);
        }
        if self.progress.is_abandoned() {
            self.wire.end();
            return Err(PushFault::before(Fault::Abandoned));
        }
        let command = push::command(push, &self.branch, &writing);
        let words = [command.into(), push.pack.bytes.clone()];
        self.wire.say(Service::Receive, &words).map_err(|fault| match fault {
            Fault::Refused(_) | Fault::Rejected(_) | Fault::Unusable(_) | Fault::Dial(_) => {
                PushFault::before(fault)
            }
            fault => PushFault::unknown(fault),
        })?;
        let mut packets = Packets::new(&mut *self.wire);
        let report = push::report(&mut packets, &writing).map_err(PushFault::unknown)?;
        self.wire.end();
        report.judge(&self.branch)
    }
}

impl Remote for NetworkRemote {
    fn tip(&mut self) -> Result<Option<Id>, Fault> {
        self.received = None;
        let is_first = self.reading.is_none();
        match self.find_tip() {
            // The server may be another one than the one that spoke last.
            Err(Fault::Protocol(_) | Fault::Rejected(_) | Fault::Unusable(_)) if !is_first => {
                self.wire.end();
                self.reading = None;
                self.find_tip()
            }
            found => found,
        }
    }

    fn learn(&mut self, commit: Id, known: Option<Id>, objects: &mut Objects) -> Result<Id, Fault> {
        let (ids, depth) = ([commit], Some(self.depth));
        let mut received =
            self.fetch(&Wanted { ids: &ids, known, depth, files: Files::LeftOut })?;
        let root = match received.object(commit)? {
            Some((Kind::Commit, content)) => object::tree_of(&content)?,
            Some(_) => return Err(Fault::Unusable("the branch leads to no commit".to_owned())),
            None => return Err(Fault::protocol(format!("the commit {commit} was not sent"))),
        };
        for id in received.ids(Kind::Tree) {
            if let Some((kind, content)) = received.object(id)? {
                objects.add(id, kind, content)?;
            }
            self.progress.alive();
        }
        self.received = Some(received);
        Ok(root)
    }

    fn read(&mut self, commit: Id, ids: &[Id], objects: &mut Objects) -> Result<(), Fault> {
        let missing = self.take_received(ids, objects)?;
        if missing.is_empty() {
            return Ok(());
        }
        let single = self.reading.as_ref().is_some_and(|reading| reading.single_objects);
        if single {
            let wanted = Wanted { ids: &missing, known: None, depth: None, files: Files::LeftOut };
            match self.fetch(&wanted) {
                Ok(received) => {
                    let before = self.received.replace(received);
                    let missing = self.take_received(&missing, objects)?;
                    // What was sent before may be asked for again.
                    self.received = before.or(self.received.take());
                    if missing.is_empty() {
                        return Ok(());
                    }
                }
                // The server does not give single objects after all.
                Err(Fault::Refused(_) | Fault::Protocol(_)) => self.wire.end(),
                Err(other) => return Err(other),
            }
        }
        self.received = Some(self.fetch_whole(commit)?);
        self.take_received(&missing, objects)?;
        Ok(())
    }

    fn push(&mut self, push: &Push<'_>) -> Result<Pushed, PushFault> {
        let pushed = self.try_push(push);
        let Err(error) = pushed else { return pushed };
        self.wire.end();
        self.writing = None;
        // Servers have many words for a branch that somebody else has moved.
        if matches!(error.fault, Fault::Rejected(_))
            && error.effect == Effect::None
            && self.tip().is_ok_and(|tip| tip != push.old)
        {
            return Ok(Pushed::Moved);
        }
        Err(error)
    }

    fn probe(&mut self, thoroughly: bool) -> Result<String, Fault> {
        let tip = self.tip()?;
        let branch = self.branch.clone();
        if thoroughly {
            self.writing = None;
            self.begin_writing(tip)?;
            self.wire.end();
        }
        let rights = if thoroughly { ", and may be pushed to" } else { "" };
        Ok(match tip {
            Some(tip) => format!("the branch {branch} is at {tip}{rights}"),
            None => format!("the repository has no branch {branch} yet{rights}"),
        })
    }

    fn attend(&mut self, progress: &Progress) {
        self.progress = progress.clone();
        self.wire.attend(progress);
    }
}
