//! An open directory: reading, replacing and removing files, durably.

use std::{
    collections::BTreeSet,
    io::{self, Write as _},
};

use cap_std::fs::{Dir, MetadataExt as _};

use kollect_inventory::Effect;

use super::fault::{during, is_about_path};
use crate::{
    files::ground::{Concluded, Ground, Named, OURS, Stamp, Summary},
    sink::SinkError,
};

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
pub(super) struct Folder {
    dir: Dir,
    /// Whether files may have changed.
    effect: Effect,
}

impl Folder {
    pub(super) fn new(dir: Dir) -> Self {
        Self { dir, effect: Effect::None }
    }

    /// Replaces files, each of them at once and all of them durably. Answers
    /// with those whose path cannot be used.
    fn replace(&self, files: &[Named]) -> io::Result<Vec<(usize, io::Error)>> {
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
                    self.dir.remove_file(unfinished(at))?;
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
    fn discard<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> io::Result<u64> {
        let mut removed = 0;
        let mut touched = BTreeSet::new();
        for path in paths {
            match self.dir.remove_file(path) {
                Ok(()) => removed += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                // Somebody has put something else there; it is not ours.
                Err(error) if is_about_path(&error) => continue,
                Err(error) => return Err(error),
            }
            let mut folder = parent(path);
            while !matches!(folder, "." | OURS) && self.dir.remove_dir(folder).is_ok() {
                touched.remove(folder);
                folder = parent(folder);
            }
            touched.insert(folder.to_owned());
        }
        self.sync(&touched)?;
        Ok(removed)
    }

    /// What stands in the place of a file. `length` spares reading what cannot
    /// be equal.
    fn compared(&self, path: &str, length: Option<u64>) -> io::Result<Option<Vec<u8>>> {
        let found = match self.dir.symlink_metadata(path) {
            Err(error) if is_about_path(&error) => None,
            found => absent_as_none(found)?,
        };
        let is_alike = |found: &cap_std::fs::Metadata| {
            found.is_file() && length.is_none_or(|length| length == found.len())
        };
        match found.filter(is_alike).map(|_| self.dir.read(path)) {
            Some(Err(error)) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
            Some(content) => absent_as_none(content),
            None => Ok(None),
        }
    }

    fn names_in(&self, path: &str) -> io::Result<Vec<String>> {
        let Some(entries) = absent_as_none(self.dir.read_dir(path))? else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        for entry in entries {
            // What has a name that is no text is not ours.
            names.extend(entry?.file_name().into_string());
        }
        names.sort_unstable();
        Ok(names)
    }

    fn create(&self, path: &str) -> io::Result<cap_std::fs::File> {
        match self.dir.create(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.dir.create_dir_all(UNFINISHED)?;
                self.dir.create(path)
            }
            created => created,
        }
    }

    /// Gives a finished file its name, and remembers the folders that have to
    /// be made durable for it.
    fn name(&self, from: &str, path: &str, touched: &mut BTreeSet<String>) -> io::Result<()> {
        let folder = parent(path);
        match self.dir.rename(from, &self.dir, path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.dir.create_dir_all(folder)?;
                self.dir.rename(from, &self.dir, path)?;
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
            match absent_as_none(self.dir.open(folder))?.map(|folder| folder.sync_all()) {
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
        Ok(rustix::fs::syncfs(self.dir.open(".")?)?)
    }

    #[cfg(not(target_os = "linux"))]
    fn sync_everything(&self) -> io::Result<()> {
        rustix::fs::sync();
        Ok(())
    }
}

impl Ground for Folder {
    fn is_atomic(&self) -> bool {
        false
    }

    fn read(&mut self, action: &'static str, path: &str) -> Result<Option<Vec<u8>>, SinkError> {
        absent_as_none(self.dir.read(path)).map_err(during(action, Effect::None))
    }

    fn present(&mut self, path: &str) -> Result<Option<Vec<u8>>, SinkError> {
        self.compared(path, None).map_err(during("read files", Effect::None))
    }

    fn holds(&mut self, path: &str, content: &[u8]) -> Result<bool, SinkError> {
        let found = self.compared(path, Some(content.len() as u64));
        let found = found.map_err(during("read files", Effect::None))?;
        Ok(found.is_some_and(|found| found == content))
    }

    fn stamp(&mut self, path: &str) -> Result<Option<Stamp>, SinkError> {
        let found = absent_as_none(self.dir.symlink_metadata(path));
        let found = found.map_err(during("read the ownership lists", Effect::None))?;
        Ok(found.map(|found| {
            let times = [found.mtime(), found.mtime_nsec()].map(i64::cast_unsigned);
            Stamp(times.into_iter().chain([found.len(), found.ino()]).collect())
        }))
    }

    fn names(&mut self, action: &'static str, path: &str) -> Result<Vec<String>, SinkError> {
        self.names_in(path).map_err(during(action, Effect::None))
    }

    fn begin(&mut self) {
        self.effect = Effect::Unknown;
    }

    fn clear(&mut self) -> Result<(), SinkError> {
        let clear = || {
            for name in self.names_in(UNFINISHED)? {
                absent_as_none(self.dir.remove_file(format!("{UNFINISHED}/{name}")))?;
            }
            Ok(())
        };
        clear().map_err(during("remove unfinished files", self.effect))
    }

    fn write(
        &mut self,
        action: &'static str,
        files: Vec<Named>,
    ) -> Result<Vec<(Named, SinkError)>, SinkError> {
        let failed = during(action, self.effect);
        let mut blocked = self.replace(&files).map_err(&failed)?.into_iter().peekable();
        let mut unwritten = Vec::new();
        for (at, file) in files.into_iter().enumerate() {
            let blocked = blocked.next_if(|(blocked, _)| *blocked == at);
            unwritten.extend(blocked.map(|(_, error)| (file, failed(error))));
        }
        Ok(unwritten)
    }

    fn remove(&mut self, action: &'static str, paths: &[String]) -> Result<u64, SinkError> {
        self.discard(paths.iter().map(String::as_str)).map_err(during(action, self.effect))
    }

    fn conclude(&mut self, summary: Summary<'_>) -> Result<Concluded, SinkError> {
        Ok(summary.as_files())
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
