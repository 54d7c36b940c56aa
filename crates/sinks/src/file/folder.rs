//! An open directory: reading, replacing and removing files, durably.

use std::{
    collections::BTreeSet,
    io::{self, Write as _},
};

use cap_std::{
    fs::{Dir, MetadataExt as _},
    time::SystemTime,
};

use super::fault::is_about_path;

/// The folder of our own files. No content can have a path in it.
pub(super) const OURS: &str = ".kollect";

/// Where files are written before they get their names. Nobody but the holder
/// of the lock has files there, so what lies there beforehand was left by a
/// process that died. No cluster is called like it, because their names begin
/// with a letter or a digit.
const UNFINISHED: &str = ".kollect/.unfinished";

/// Up to so many files are made durable one by one. With more, asking for the
/// whole file system at once is faster.
const FEW: usize = 64;

/// A directory out of which no path and no link leads.
#[derive(Debug)]
pub(super) struct Folder(Dir);

/// A file and what it holds.
pub(super) type Named = (String, Vec<u8>);

/// What tells a file from one that has replaced it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    inode: u64,
}

impl Folder {
    pub(super) fn new(dir: Dir) -> Self {
        Self(dir)
    }

    /// What a file holds, if it is there.
    pub(super) fn read(&self, path: &str) -> io::Result<Option<Vec<u8>>> {
        absent_as_none(self.0.read(path))
    }

    /// What stands in the place of a file, if it can be compared with one.
    ///
    /// A link is never followed to its file: it is replaced. `length` spares
    /// reading what cannot be equal.
    pub(super) fn present(&self, path: &str, length: Option<u64>) -> io::Result<Option<Vec<u8>>> {
        let found = match self.0.symlink_metadata(path) {
            Err(error) if is_about_path(&error) => None,
            found => absent_as_none(found)?,
        };
        let is_alike = |found: &cap_std::fs::Metadata| {
            found.is_file() && length.is_none_or(|length| length == found.len())
        };
        match found.filter(is_alike).map(|_| self.0.read(path)) {
            Some(Err(error)) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
            Some(content) => absent_as_none(content),
            None => Ok(None),
        }
    }

    /// What tells whether a file has been replaced.
    pub(super) fn stamp(&self, path: &str) -> io::Result<Option<Stamp>> {
        let found = absent_as_none(self.0.symlink_metadata(path))?;
        Ok(found.map(|found| Stamp {
            modified: found.modified().ok(),
            length: found.len(),
            inode: found.ino(),
        }))
    }

    /// The names in a folder; none if it is not there.
    pub(super) fn names(&self, path: &str) -> io::Result<Vec<String>> {
        let Some(entries) = absent_as_none(self.0.read_dir(path))? else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        for entry in entries {
            // What has a name that is no text is not ours.
            names.extend(entry?.file_name().into_string());
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Replaces files, each of them at once and all of them durably. Answers
    /// with those whose path cannot be used.
    pub(super) fn write(&self, files: &[Named]) -> io::Result<Vec<(usize, io::Error)>> {
        for (at, (_, content)) in files.iter().enumerate() {
            let mut file = self.create(&unfinished(at))?;
            file.write_all(content)?;
            if files.len() <= FEW {
                file.sync_all()?;
            }
        }
        if files.len() > FEW {
            self.sync_everything()?;
        }
        let mut touched = BTreeSet::new();
        let mut blocked = Vec::new();
        for (at, (path, _)) in files.iter().enumerate() {
            match self.name(&unfinished(at), path, &mut touched) {
                Err(error) if is_about_path(&error) => {
                    self.0.remove_file(unfinished(at))?;
                    blocked.push((at, error));
                }
                named => named?,
            }
        }
        self.sync(&touched)?;
        Ok(blocked)
    }

    /// Removes files, and the folders that become empty by it; answers how
    /// many were there.
    pub(super) fn remove<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> io::Result<u64> {
        let mut removed = 0;
        let mut touched = BTreeSet::new();
        for path in paths {
            match self.0.remove_file(path) {
                Ok(()) => removed += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                // Somebody has put something else there; it is not ours.
                Err(error) if is_about_path(&error) => continue,
                Err(error) => return Err(error),
            }
            let mut folder = parent(path);
            while !matches!(folder, "." | OURS) && self.0.remove_dir(folder).is_ok() {
                touched.remove(folder);
                folder = parent(folder);
            }
            touched.insert(folder.to_owned());
        }
        self.sync(&touched)?;
        Ok(removed)
    }

    /// Removes what a process that died has left unfinished.
    pub(super) fn clear(&self) -> io::Result<()> {
        for name in self.names(UNFINISHED)? {
            absent_as_none(self.0.remove_file(format!("{UNFINISHED}/{name}")))?;
        }
        Ok(())
    }

    /// Makes a file and removes it again.
    pub(super) fn try_out(&self) -> io::Result<()> {
        let path = unfinished(0);
        self.create(&path)?.write_all(b"kollect was here\n")?;
        self.0.remove_file(path)
    }

    fn create(&self, path: &str) -> io::Result<cap_std::fs::File> {
        match self.0.create(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.0.create_dir_all(UNFINISHED)?;
                self.0.create(path)
            }
            created => created,
        }
    }

    /// Gives a finished file its name, and remembers the folders that have to
    /// be made durable for it.
    fn name(&self, from: &str, path: &str, touched: &mut BTreeSet<String>) -> io::Result<()> {
        let folder = parent(path);
        match self.0.rename(from, &self.0, path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.0.create_dir_all(folder)?;
                self.0.rename(from, &self.0, path)?;
                let mut above = folder;
                while above != "." {
                    above = parent(above);
                    touched.insert(above.to_owned());
                }
            }
            named => named?,
        }
        touched.insert(folder.to_owned());
        Ok(())
    }

    fn sync(&self, folders: &BTreeSet<String>) -> io::Result<()> {
        if folders.len() > FEW {
            return self.sync_everything();
        }
        for folder in folders {
            // Not as a directory: such a handle cannot be made durable.
            match absent_as_none(self.0.open(folder))?.map(|folder| folder.sync_all()) {
                // There are file systems that do so on their own, and refuse to be asked.
                Some(Err(error)) if error.kind() == io::ErrorKind::InvalidInput => {}
                Some(synced) => synced?,
                None => {}
            }
        }
        Ok(())
    }

    #[cfg(target_os = "linux")]
    fn sync_everything(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(self.0.open(".")?)?)
    }

    #[cfg(not(target_os = "linux"))]
    fn sync_everything(&self) -> io::Result<()> {
        rustix::fs::sync();
        Ok(())
    }
}

fn unfinished(at: usize) -> String {
    format!("{UNFINISHED}/{at}")
}

/// The folder of a path; the directory itself is a dot.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or(".", |(folder, _)| folder)
}

fn absent_as_none<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        found => found.map(Some),
    }
}
