//! One open file, which the pairs that write to it share.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, ffi};

use super::{error::Fault, layout, shown};
use crate::{local::may_write, progress::Progress, sink::SinkError, turn::Turns};

/// An SQLite file.
///
/// It is opened, and created if need be, when it is first used, so that a
/// directory that is mounted late costs a retry and not the sink.
#[derive(Debug)]
pub struct SqliteDestination {
    path: PathBuf,
    patience: Duration,
    makes_directory: bool,
    open: Turns<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    connection: Connection,
    file: FileId,
}

/// KiB of the file that are kept in memory, while much is written and else.
const LARGE_CACHE: i64 = 16_384;
const SMALL_CACHE: i64 = 1_024;

/// Tells a file from another one that has taken its place.
type FileId = Option<(u64, u64)>;

impl SqliteDestination {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            patience: Duration::from_secs(5),
            makes_directory: false,
            open: Turns::default(),
        }
    }

    /// The same, and the directory is made too when it is missing.
    #[must_use]
    pub fn with_directory(self) -> Self {
        Self { makes_directory: true, ..self }
    }

    /// The same, with another limit for waiting on writers that are no part of
    /// this process.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Whether there is such a file.
    pub(super) fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Works on the file while nobody else in this process does.
    pub(super) fn turn<T>(
        &self,
        action: &'static str,
        progress: &Progress,
        work: impl FnOnce(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T, SinkError> {
        // A panic elsewhere has rolled its transaction back.
        let Some(mut open) = self.open.enter(progress) else {
            return Err(Fault::abandoned().during(action, &self.path));
        };
        // What is written to a file that was removed would be acknowledged and lost.
        if open.as_ref().is_some_and(|open| open.file != file_id(&self.path)) {
            *open = None;
        }
        let connection = match &mut *open {
            Some(open) => Ok(&mut open.connection),
            none => self.open().map(|new| &mut none.insert(new).connection),
        };
        let outcome = connection.and_then(work).map_err(|fault| fault.during(action, &self.path));
        if let Err(
            SinkError::Unreachable { .. } | SinkError::Refused { .. } | SinkError::Unusable(_),
        ) = outcome
        {
            // The next turn looks at the file afresh.
            *open = None;
        }
        outcome
    }

    /// Looks at the file beside whoever has the turn, if there is one. Nothing
    /// is made.
    pub(super) fn look<T>(
        &self,
        action: &'static str,
        work: impl FnOnce(Option<&Connection>, &Path) -> Result<T, Fault>,
    ) -> Result<T, SinkError> {
        let look = || {
            let (directory, name) = self.place()?;
            if !self.makes_directory {
                is_there(directory)?;
            }
            if self.exists() {
                let connection = self.connect(&directory.join(name), OpenFlags::empty())?;
                return work(Some(&connection), &self.path);
            }
            let refused = |error: io::Error| {
                unusable(format!("no file can be made in {}: {error}", shown(directory)))
            };
            may_write(directory).map_err(refused)?;
            work(None, &self.path)
        };
        look().map_err(|fault| fault.during(action, &self.path))
    }

    fn open(&self) -> Result<Open, Fault> {
        let (directory, name) = self.place()?;
        if self.makes_directory {
            let refused = |error: io::Error| {
                unusable(format!("cannot make the directory {}: {error}", shown(directory)))
            };
            fs::create_dir_all(directory).map_err(refused)?;
        }
        is_there(directory)?;
        let path = directory.join(name);
        let mut connection = self.connect(&path, OpenFlags::SQLITE_OPEN_CREATE)?;
        prepare(&mut connection, &self.path)?;
        Ok(Open { connection, file: file_id(&self.path) })
    }

    /// The directory and the name of the file.
    fn place(&self) -> Result<(&Path, &OsStr), Fault> {
        let Some(name) = self.path.file_name() else {
            return Err(unusable(format!("{} names no file", shown(&self.path))));
        };
        // With a directory in front, no name has a meaning of its own to SQLite.
        let parent = self.path.parent().unwrap_or(Path::new(""));
        let directory = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        Ok((directory, name))
    }

    fn connect(&self, path: &Path, more: OpenFlags) -> Result<Connection, Fault> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(self.patience)?;
        if connection.is_readonly("main")? {
            let error = ffi::Error::new(ffi::SQLITE_READONLY);
            return Err(rusqlite::Error::SqliteFailure(error, None).into());
        }
        Ok(connection)
    }
}

fn unusable(text: String) -> Fault {
    Fault::Ours(SinkError::Unusable(text))
}

fn is_there(directory: &Path) -> Result<(), Fault> {
    if directory.is_dir() {
        return Ok(());
    }
    Err(unusable(format!("there is no directory {}", shown(directory))))
}

/// Sets the connection up, and the tables where they are missing.
///
/// Tables that are not ours are found before anything is written.
fn prepare(connection: &mut Connection, path: &Path) -> Result<(), Fault> {
    let missing = layout::check(connection, path)?;
    // New files only: rows of a kilobyte sit better in larger pages.
    connection.pragma_update(None, "page_size", 8192)?;
    // Readers do not wait for us, nor we for them. Where a file system cannot
    // do it the old mode stays, which is as safe.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    // An acknowledgement survives a power cut.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "cache_size", -SMALL_CACHE)?;
    // The log of a first export is not kept at its full size for ever.
    connection.query_row("PRAGMA journal_size_limit = 16777216", [], |_| Ok(()))?;
    if !missing.is_empty() {
        layout::create(connection, &missing)?;
    }
    Ok(())
}

/// Does something with much memory if need be, and gives it back: the system
/// has the file in its own, and a small change needs few pages.
pub(super) fn with_room<T>(
    connection: &mut Connection,
    is_large: bool,
    work: impl FnOnce(&mut Connection) -> Result<T, Fault>,
) -> Result<T, Fault> {
    if !is_large {
        return work(connection);
    }
    connection.pragma_update(None, "cache_size", -LARGE_CACHE)?;
    let outcome = work(connection);
    // Who keeps memory is no worse off.
    drop(connection.pragma_update(None, "cache_size", -SMALL_CACHE));
    drop(connection.execute_batch("PRAGMA shrink_memory"));
    outcome
}

#[cfg(unix)]
fn file_id(path: &Path) -> FileId {
    use std::os::unix::fs::MetadataExt as _;

    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn file_id(path: &Path) -> FileId {
    fs::metadata(path).ok().map(|_| (0, 0))
}
