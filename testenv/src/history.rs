//! Ends a control plane and starts it again in the same place, with what it
//! knew, with nothing, or with what it knew earlier.
//!
//! Clients cannot tell the three apart by looking at the address or at the
//! certificates: what an API server looks like after it was killed, after its
//! etcd was lost and after its etcd was restored from a backup.

use std::{fs, io, path::Path};

use crate::{control_plane::ControlPlane, launch::DATA, ready::WaitError};

/// What etcd knows when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History<'a> {
    /// What it knew when it was killed.
    Same,
    /// Nothing; its numbers begin again.
    Empty,
    /// What it knew when [`ControlPlane::save`] wrote this directory; its
    /// numbers continue from there.
    Saved(&'a Path),
}

/// Why a control plane could not be ended, saved or started again.
#[derive(Debug, thiserror::Error)]
pub enum RestartError {
    #[error("could not make the shell that keeps the servers {action} them")]
    Keeper { action: &'static str, source: io::Error },

    #[error("could not copy etcd's data")]
    Data(#[source] io::Error),

    #[error("the servers did not become ready again")]
    Wait(#[source] WaitError),
}

impl ControlPlane {
    /// Kills both servers; until [`Self::restart`] nobody answers.
    ///
    /// Their address, their certificates and every kubeconfig stay valid.
    pub fn pause(&mut self) -> Result<(), RestartError> {
        self.keeper.stop().map_err(|source| RestartError::Keeper { action: "stop", source })
    }

    /// Kills both servers, starts them again, and returns when they can be used.
    ///
    /// They come back at the same address and with the same certificates.
    pub fn restart(&mut self, history: History<'_>) -> Result<(), RestartError> {
        self.pause()?;
        put_in_place(history, self.directory()).map_err(RestartError::Data)?;
        self.keeper
            .start_again()
            .map_err(|source| RestartError::Keeper { action: "start", source })?;
        self.wait_until_ready().map(drop).map_err(RestartError::Wait)
    }

    /// Writes what etcd knows now into a directory, and goes on.
    ///
    /// The directory must not exist yet. etcd's data can only be copied while
    /// etcd does not run, so both servers are killed and started again.
    pub fn save(&mut self, to: &Path) -> Result<(), RestartError> {
        self.pause()?;
        let copied = copy(&self.directory().join(DATA), to);
        self.restart(History::Same)?;
        copied.map_err(RestartError::Data)
    }
}

/// Prepares the data of an etcd that does not run, below a control plane's directory.
pub(crate) fn put_in_place(history: History<'_>, directory: &Path) -> io::Result<()> {
    let data = directory.join(DATA);
    match history {
        History::Same => Ok(()),
        History::Empty => remove(&data),
        History::Saved(saved) => {
            remove(&data)?;
            copy(saved, &data)
        }
    }
}

fn remove(data: &Path) -> io::Result<()> {
    match fs::remove_dir_all(data) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Copies a directory of files and directories to a place where there is nothing.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    // Before the first directory is made, so that nothing is left where nothing could be read.
    let entries = fs::read_dir(from)?;
    fs::create_dir(to)?;
    // etcd refuses data that others can read.
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    for entry in entries {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_holds_what_the_original_holds_and_replaces_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        fs::create_dir_all(from.join("member/wal")).unwrap();
        fs::write(from.join("member/wal/one"), "1").unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("member/wal/one")).unwrap(), "1");
        assert_eq!(copy(&from, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn what_cannot_be_read_leaves_no_copy() {
        let directory = tempfile::tempdir().unwrap();
        let to = directory.path().join("to");
        copy(&directory.path().join("absent"), &to).unwrap_err();
        assert!(!to.exists());
    }

    #[test]
    fn a_history_decides_what_the_next_start_finds() {
        let directory = tempfile::tempdir().unwrap();
        let saved = directory.path().join("saved");
        fs::create_dir(&saved).unwrap();
        fs::write(saved.join("old"), "").unwrap();
        let data = directory.path().join(DATA);
        fs::create_dir(&data).unwrap();
        fs::write(data.join("new"), "").unwrap();

        put_in_place(History::Same, directory.path()).unwrap();
        assert!(data.join("new").exists());
        put_in_place(History::Saved(&saved), directory.path()).unwrap();
        assert!(data.join("old").exists() && !data.join("new").exists());
        put_in_place(History::Empty, directory.path()).unwrap();
        assert!(!data.exists());
        put_in_place(History::Empty, directory.path()).unwrap();
    }
}
