//! A bare repository on this machine, without a git binary.

mod repository;
mod objects;
mod lock;

use std::{
    io::{self, Write as _},
    path::PathBuf,
    time::Duration,
};

use cap_std::fs::{OpenOptions, OpenOptionsExt as _};
use kollect_inventory::digest::hexadecimal;

use self::{lock::Lock, objects::Store, repository::Repository};
use super::{
    error::Fault,
    object::{self, Id, Kind},
    objects::Objects,
    pack::{Finished, index},
    remote::{Push, PushFault, Pushed, Remote},
};
use crate::progress::Progress;

/// How often a branch that somebody else has locked is tried, and how long
/// apart.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

/// A repository and a branch of it.
#[derive(Debug)]
pub(super) struct LocalRemote {
    path: PathBuf,
    branch: String,
    /// Opened anew for every look at the branch, so that it may be unmounted,
    /// packed and moved in between.
    open: Option<(Repository, Store)>,
    progress: Progress,
}

impl LocalRemote {
    pub(super) fn new(path: PathBuf, branch: &str) -> Self {
        Self { path, branch: branch.to_owned(), open: None, progress: Progress::default() }
    }

    /// An object, if the repository has it.
    pub(super) fn object(&mut self, id: Id) -> Result<Option<(Kind, Vec<u8>)>, Fault> {
        let (repository, store) = self.opened()?;
        Ok(store.read(repository, id)?)
    }

    fn opened(&mut self) -> Result<&mut (Repository, Store), Fault> {
        if self.open.is_none() {
            let repository = Repository::open(&self.path)?;
            self.open = Some((repository, Store::default()));
        }
        self.open.as_mut().ok_or_else(|| Fault::protocol("the repository is not open"))
    }

    /// Moves the branch while it is locked.
    fn move_branch(&mut self, push: &Push<'_>) -> Result<Pushed, PushFault> {
        let (branch, progress) = (self.branch.clone(), self.progress.clone());
        let (repository, _) = self.opened().map_err(PushFault::before)?;
        let path = format!("refs/heads/{branch}");
        let Some(lock) = wait_for_lock(repository, &path, push.writer, &progress)? else {
            return Ok(Pushed::Moved);
        };
        let now = repository.branch(&branch).map_err(PushFault::before)?;
        if now != push.old {
            lock.release().map_err(PushFault::before)?;
            return Ok(Pushed::Moved);
        }
        let moved = repository.set(&path, push.new);
        let released = lock.release();
        moved.and(released).map_err(PushFault::unknown)?;
        Ok(Pushed::Done)
    }
}

impl Remote for LocalRemote {
    fn tip(&mut self) -> Result<Option<Id>, Fault> {
        self.open = None;
        let branch = self.branch.clone();
        self.opened()?.0.branch(&branch)
    }

    fn learn(
        &mut self,
        commit: Id,
        _known: Option<Id>,
        _objects: &mut Objects,
    ) -> Result<Id, Fault> {
        let (repository, store) = self.opened()?;
        match store.read(repository, commit)? {
            Some((Kind::Commit, content)) => Ok(object::tree_of(&content)?),
            Some(_) => Err(Fault::Unusable("the branch does not lead to a commit".to_owned())),
            None => Err(Fault::protocol(format!("the commit {commit} is missing"))),
        }
    }

    fn read(&mut self, _commit: Id, ids: &[Id], objects: &mut Objects) -> Result<(), Fault> {
        let (repository, store) = self.opened()?;
        for id in ids {
            if let Some((kind, content)) = store.read(repository, *id)? {
                objects.add(*id, kind, content)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, push: &Push<'_>) -> Result<Pushed, PushFault> {
        let (repository, _) = self.opened().map_err(PushFault::before)?;
        // Without a branch that leads to it, a pack is nothing: `git gc` removes it.
        write_pack(repository, push.pack).map_err(PushFault::before)?;
        self.progress.accepted(push.pack.bytes.len() as u64);
        self.move_branch(push)
    }

    fn probe(&mut self, thoroughly: bool) -> Result<String, Fault> {
        let tip = self.tip()?;
        let (path, branch) = (self.path.display().to_string(), self.branch.clone());
        let (repository, _) = self.opened()?;
        if thoroughly {
            repository.try_out()?;
        }
        Ok(match tip {
            Some(tip) => format!("the branch {branch} of {path} is at {tip}"),
            None => format!("{path} has no branch {branch} yet"),
        })
    }

    fn attend(&mut self, progress: &Progress) {
        self.progress = progress.clone();
    }
}

/// Locks a branch; nothing if somebody else holds it for too long.
fn wait_for_lock<'a>(
    repository: &'a Repository,
    path: &str,
    writer: &str,
    progress: &Progress,
) -> Result<Option<Lock<'a>>, PushFault> {
    for _ in 0..TRIES {
        if progress.is_abandoned() {
            return Err(PushFault::before(Fault::Abandoned));
        }
        match Lock::take(repository, path, writer).map_err(PushFault::before)? {
            Some(lock) => return Ok(Some(lock)),
            None => std::thread::sleep(PAUSE),
        }
    }
    Ok(None)
}

/// Writes a pack and its index, durably; only both together are seen.
fn write_pack(repository: &Repository, pack: &Finished) -> io::Result<()> {
    let name = hexadecimal(&pack.checksum);
    let index = index::encode(&pack.objects, pack.checksum)?;
    let folder = "objects/pack";
    repository.dir().create_dir_all(folder)?;
    for (bytes, end) in [(&pack.bytes[..], "pack"), (&index, "idx")] {
        // Git removes what is called so when it is old.
        let aside = format!("{folder}/tmp_{end}_{name}_{}", std::process::id());
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o444);
        match repository.dir().remove_file(&aside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = repository.dir().open_with(&aside, &options)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        repository.dir().rename(&aside, repository.dir(), format!("{folder}/pack-{name}.{end}"))?;
    }
    repository.sync(folder)
}
