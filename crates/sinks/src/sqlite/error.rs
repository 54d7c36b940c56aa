//! Sorts SQLite's errors into ours; nothing else knows their codes.

use std::{path::Path, sync::Arc};

use kollect_inventory::Effect;
use rusqlite::ErrorCode;

use super::shown;
use crate::sink::SinkError;

/// What ends a turn early.
#[derive(Debug)]
pub(super) enum Fault {
    /// SQLite failed before anything was committed.
    Sqlite(rusqlite::Error),
    /// The commit itself failed: nobody knows whether it counts.
    Commit(rusqlite::Error),
    /// We decided not to go on.
    Ours(SinkError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<SinkError> for Fault {
    fn from(error: SinkError) -> Self {
        Self::Ours(error)
    }
}

impl Fault {
    /// Nobody waits for the outcome; nothing was committed.
    pub(super) fn abandoned() -> Self {
        let detail = "nobody waits for it".to_owned();
        Self::Ours(SinkError::Rejected { detail, effect: Effect::None })
    }

    /// The error of an action on a file.
    pub(super) fn during(self, action: &'static str, path: &Path) -> SinkError {
        match self {
            Self::Ours(error) => error,
            Self::Sqlite(error) => sorted(error, action, path),
            Self::Commit(error) => {
                SinkError::Unreachable { action, effect: Effect::Unknown, source: Arc::new(error) }
            }
        }
    }
}

fn sorted(error: rusqlite::Error, action: &'static str, path: &Path) -> SinkError {
    use ErrorCode as Code;
    match error.sqlite_error_code() {
        Some(
            Code::DatabaseBusy
            | Code::DatabaseLocked
            | Code::DiskFull
            | Code::FileLockingProtocolFailed
            | Code::OperationInterrupted
            | Code::OutOfMemory
            | Code::SystemIoFailure,
        ) => SinkError::Unreachable { action, effect: Effect::None, source: Arc::new(error) },
        Some(
            Code::AuthorizationForStatementDenied
            | Code::CannotOpen
            | Code::PermissionDenied
            | Code::ReadOnly,
        ) => SinkError::Refused { action, source: Arc::new(error) },
        Some(Code::NotADatabase | Code::DatabaseCorrupt) => {
            SinkError::Unusable(format!("{} is no sound SQLite database: {error}", shown(path)))
        }
        // What is left is about tables that are not as we left them.
        _ => SinkError::Unusable(format!("{} cannot be used: {error}", shown(path))),
    }
}

/// Whether SQLite refuses one row for what it holds, and would take others.
pub(super) fn is_about_the_row(error: &rusqlite::Error) -> bool {
    use ErrorCode::{ConstraintViolation, TooBig, TypeMismatch};
    matches!(error.sqlite_error_code(), Some(ConstraintViolation | TooBig | TypeMismatch))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kollect_inventory::schedule::ErrorClass;
    use rusqlite::ffi;

    fn of(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
    }

    #[test]
    fn what_passes_is_transient_and_leaves_nothing_behind() {
        for code in [ffi::SQLITE_BUSY, ffi::SQLITE_LOCKED, ffi::SQLITE_IOERR, ffi::SQLITE_FULL] {
            let error = Fault::from(of(code)).during("write", Path::new("a.db"));
            assert_eq!((error.class(), error.effect()), (ErrorClass::Transient, Effect::None));
        }
    }

    #[test]
    fn a_failed_commit_may_have_counted() {
        let error = Fault::Commit(of(ffi::SQLITE_IOERR)).during("write", Path::new("a.db"));
        assert_eq!((error.class(), error.effect()), (ErrorClass::Transient, Effect::Unknown));
    }

    #[test]
    fn missing_rights_are_told_from_a_broken_file() {
        for code in [ffi::SQLITE_READONLY, ffi::SQLITE_PERM, ffi::SQLITE_AUTH, ffi::SQLITE_CANTOPEN]
        {
            let error = Fault::from(of(code)).during("write", Path::new("a.db"));
            assert!(matches!(error, SinkError::Refused { action: "write", .. }), "{error}");
        }
        for code in [ffi::SQLITE_NOTADB, ffi::SQLITE_CORRUPT, ffi::SQLITE_SCHEMA] {
            let error = Fault::from(of(code)).during("write", Path::new("a.db"));
            assert!(matches!(&error, SinkError::Unusable(text) if text.contains("a.db")));
        }
    }
}
