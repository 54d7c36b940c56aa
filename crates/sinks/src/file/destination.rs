//! One directory, written by one export at a time.

use std::{
    fs::{File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::MutexGuard,
    thread,
    time::Duration,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
use kollect_inventory::Effect;

use super::{fault::during, folder::Folder};
use crate::{
    files::{abandoned, ground::OURS, neighbours::Neighbours},
    progress::Progress,
    sink::SinkError,
    turn::Turns,
};

/// Locked while an export runs; the kernel unlocks it when the process dies.
/// No cluster is called like it.
const LOCK: &str = ".kollect/.lock";

/// How often a lock that another process holds is tried, and how long apart.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

/// A directory for copies. Sinks that write to the same one share it and take
/// turns; other processes are kept out by a lock.
#[derive(Debug)]
pub struct FileDestination {
    path: PathBuf,
    /// Held by the export that runs.
    turn: Turns<Neighbours>,
}

/// A turn in the directory.
#[derive(Debug)]
pub(super) struct Session<'a> {
    pub(super) folder: Folder,
    pub(super) neighbours: MutexGuard<'a, Neighbours>,
    _lock: File,
}

#[derive(Debug, thiserror::Error)]
#[error("another process is writing to {}", .0.display())]
struct Occupied(PathBuf);

impl FileDestination {
    /// Names a directory. It is opened, and made if it is missing, whenever an
    /// export begins, so that it may be unmounted and mounted in between.
    pub fn new(path: PathBuf) -> Self {
        Self { path, turn: Turns::default() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for a turn.
    pub(super) fn enter(&self, progress: &Progress) -> Result<Session<'_>, SinkError> {
        // What a panic elsewhere leaves behind is a cache of whole entries.
        let neighbours = self.turn.enter(progress).ok_or_else(|| abandoned(Effect::None))?;
        let dir = self.open().map_err(during("open the directory", Effect::None))?;
        let lock = lock_file(&dir).map_err(during("open the lock", Effect::None))?;
        self.wait_for(&lock).map_err(during("lock the directory", Effect::None))?;
        Ok(Session { folder: Folder::new(dir), neighbours, _lock: lock })
    }

    fn open(&self) -> io::Result<Dir> {
        match Dir::open_ambient_dir(&self.path, ambient_authority()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Dir::create_ambient_dir_all(&self.path, ambient_authority())?;
                Dir::open_ambient_dir(&self.path, ambient_authority())
            }
            opened => opened,
        }
    }

    fn wait_for(&self, lock: &File) -> io::Result<()> {
        for _ in 0..TRIES {
            match lock.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::WouldBlock, Occupied(self.path.clone())))
    }
}

fn lock_file(dir: &Dir) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    let opened = match dir.open_with(LOCK, &options) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            dir.create_dir_all(OURS)?;
            dir.open_with(LOCK, &options)?
        }
        opened => opened?,
    };
    Ok(opened.into_std())
}
