//! The lock of a branch, as stock Git respects it.
//!
//! Git locks a branch by a file beside it and never looks who made one, so a
//! lock that was left behind blocks everybody. Ours says who made it. Our own
//! processes take turns by a lock that the kernel releases when its holder
//! dies; so whoever has that one knows that a lock of ours was left behind by
//! a process that is gone, and takes it over. One of somebody else is
//! respected for ten minutes.

use std::{
    fs::{File, TryLockError},
    io,
    time::Duration,
};

use cap_std::fs::OpenOptions;

use super::repository::Repository;

/// The kernel's lock. Git does not look at it.
const TURN: &str = "kollect.lock";

/// A lock in the making. Only whoever has the turn makes one.
const DRAFT: &str = "kollect.lock.new";

/// What our locks begin with.
const MARK: &str = "kollect ";

/// No push takes so long: whoever made such a lock is gone.
const OLD: Duration = Duration::from_mins(10);

/// A branch that nobody else moves.
#[derive(Debug)]
pub(super) struct Lock<'a> {
    repository: &'a Repository,
    path: String,
    is_held: bool,
    _turn: File,
}

impl<'a> Lock<'a> {
    /// Locks a branch; nothing if somebody else has.
    pub(super) fn take(
        repository: &'a Repository,
        branch: &str,
        writer: &str,
    ) -> io::Result<Option<Self>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true);
        let turn = repository.dir().open_with(TURN, &options)?.into_std();
        match turn.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let path = format!("{branch}.lock");
        if let Some((folder, _)) = path.rsplit_once('/') {
            repository.dir().create_dir_all(folder)?;
        }
        if !make(repository, &path, writer)? {
            if !is_left_behind(repository, &path)? {
                return Ok(None);
            }
            absent_is_fine(repository.dir().remove_file(&path))?;
            if !make(repository, &path, writer)? {
                return Ok(None);
            }
        }
        Ok(Some(Self { repository, path, is_held: true, _turn: turn }))
    }

    pub(super) fn release(mut self) -> io::Result<()> {
        self.is_held = false;
        self.repository.dir().remove_file(&self.path)
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        if self.is_held {
            // What cannot be removed now is taken over by the next.
            drop(self.repository.dir().remove_file(&self.path));
        }
    }
}

/// Makes the lock with all that it says, or not at all: a lock that says
/// nothing, because its maker was killed before it could, would be nobody's.
fn make(repository: &Repository, path: &str, writer: &str) -> io::Result<bool> {
    let dir = repository.dir();
    let (process, boot) = (std::process::id(), boot());
    // One that was left behind may be a lock by now, and must not be emptied.
    absent_is_fine(dir.remove_file(DRAFT))?;
    dir.write(DRAFT, format!("{MARK}{writer} {process} {boot}\n"))?;
    let made = dir.hard_link(DRAFT, dir, path);
    absent_is_fine(dir.remove_file(DRAFT))?;
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        made => made.map(|()| true),
    }
}

fn is_left_behind(repository: &Repository, path: &str) -> io::Result<bool> {
    let (content, about) = match repository.dir().open(path) {
        // It has been released meanwhile.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        file => {
            let mut file = file?;
            let mut content = Vec::new();
            io::Read::read_to_end(&mut io::Read::take(&mut file, 1024), &mut content)?;
            (content, file.metadata()?)
        }
    };
    if content.starts_with(MARK.as_bytes()) {
        return Ok(true);
    }
    let age = about.modified()?.into_std().elapsed().unwrap_or_default();
    Ok(age >= OLD)
}

/// What tells this run of the machine from all others.
fn boot() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}

fn absent_is_fine(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, time::SystemTime};

    use super::*;

    fn bare(path: &Path) -> Repository {
        for folder in ["objects", "refs/heads"] {
            fs::create_dir_all(path.join(folder)).unwrap();
        }
        fs::write(path.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        Repository::open(path).unwrap()
    }

    #[test]
    fn a_lock_of_somebody_else_is_respected_for_ten_minutes() {
        let directory = tempfile::tempdir().unwrap();
        let repository = bare(directory.path());
        let path = directory.path().join("refs/heads/main.lock");
        fs::write(&path, "").unwrap();
        let take = || Lock::take(&repository, "refs/heads/main", "one").unwrap();
        assert!(take().is_none());
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let lock = take().unwrap();
        let said = fs::read_to_string(&path).unwrap();
        assert!(said.starts_with(&format!("kollect one {} ", std::process::id())), "{said}");
        lock.release().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn our_own_take_turns_and_leave_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let repository = bare(directory.path());
        let path = directory.path().join("refs/heads/main.lock");
        let take = || Lock::take(&repository, "refs/heads/main", "one").unwrap();
        let first = take().unwrap();
        assert!(take().is_none(), "the first is still there");
        drop(first);
        assert!(!path.exists() && !directory.path().join(DRAFT).exists());
        fs::write(&path, "kollect two 1 another\n").unwrap();
        // Whoever was killed in between leaves both, as one file.
        fs::hard_link(&path, directory.path().join(DRAFT)).unwrap();
        assert!(take().is_some(), "whoever made it is gone");
    }
}
