//! What errors of the file system mean.

use std::{io, sync::Arc};

use kollect_inventory::Effect;
use rustix::io::Errno;

use crate::sink::SinkError;

/// Sorts errors of the file system into ours; `effect` is whether something
/// may have been written before.
pub(super) fn during(action: &'static str, effect: Effect) -> impl Fn(io::Error) -> SinkError {
    move |error| match (error.kind(), effect) {
        (io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem, Effect::None) => {
            SinkError::Refused { action, source: Arc::new(error) }
        }
        (io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem, effect) => {
            SinkError::Rejected { detail: format!("could not {action}: {error}"), effect }
        }
        _ => SinkError::Unreachable { action, effect, source: Arc::new(error) },
    }
}

/// Whether an error is about one path and not about the directory: something
/// else is there, the name is too long, or a link leads out.
pub(super) fn is_about_path(error: &io::Error) -> bool {
    match Errno::from_io_error(error) {
        Some(code) => matches!(
            code,
            Errno::NOTDIR
                | Errno::ISDIR
                | Errno::EXIST
                | Errno::NOTEMPTY
                | Errno::NAMETOOLONG
                | Errno::LOOP
                | Errno::ILSEQ
                | Errno::INVAL
        ),
        // The refusal to leave the directory has no number.
        None => matches!(
            error.kind(),
            io::ErrorKind::PermissionDenied
                | io::ErrorKind::AlreadyExists
                | io::ErrorKind::InvalidInput
                | io::ErrorKind::NotADirectory
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_to_is_refused_and_what_is_full_is_tried_again() {
        let sorted = |code: Errno, effect| during("write files", effect)(code.into());
        for code in [Errno::ACCESS, Errno::PERM, Errno::ROFS] {
            assert!(matches!(sorted(code, Effect::None), SinkError::Refused { .. }), "{code}");
            let late = sorted(code, Effect::Unknown);
            assert!(matches!(late, SinkError::Rejected { effect: Effect::Unknown, .. }), "{code}");
        }
        for code in [Errno::NOSPC, Errno::IO, Errno::DQUOT, Errno::XDEV] {
            for effect in [Effect::None, Effect::Unknown] {
                let error = sorted(code, effect);
                assert!(matches!(error, SinkError::Unreachable { .. }), "{code}");
                assert_eq!(error.effect(), effect);
            }
        }
    }

    #[test]
    fn only_what_a_path_is_to_blame_for_is_about_a_path() {
        for code in [Errno::NAMETOOLONG, Errno::ISDIR, Errno::NOTDIR, Errno::EXIST, Errno::LOOP] {
            assert!(is_about_path(&code.into()), "{code}");
        }
        for code in [Errno::ACCESS, Errno::NOSPC, Errno::NOENT, Errno::IO] {
            assert!(!is_about_path(&code.into()), "{code}");
        }
    }
}
