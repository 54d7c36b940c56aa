//! What goes wrong with a repository, and what that means to a sink.

use std::{io, sync::Arc};

use kollect_inventory::{Effect, schedule::ErrorClass};

use super::object::Malformed;
use crate::{guard::DialError, sink::SinkError};

/// Why something could not be done at a repository.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// The connection or the disk failed, or somebody wants us to come back.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// There was no connection.
    #[error(transparent)]
    Dial(#[from] DialError),
    /// Our credentials, or our rights, are not enough.
    #[error("{0}")]
    Refused(String),
    /// The repository does not take what we bring, and says why.
    #[error("{0}")]
    Rejected(String),
    /// The repository is not one that we can use, or the settings are not.
    #[error("{0}")]
    Unusable(String),
    /// The other side does not speak as it should.
    #[error("{0}")]
    Protocol(String),
    /// Nobody waits for the outcome any more.
    #[error("nobody waits for it")]
    Abandoned,
}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Self {
        Self::Protocol(malformed.to_string())
    }
}

impl Fault {
    pub(super) fn protocol(text: impl Into<String>) -> Self {
        Self::Protocol(text.into())
    }

    /// What it means while something was being done; `effect` is whether that
    /// may have succeeded all the same.
    pub(super) fn during(self, action: &'static str, effect: Effect) -> SinkError {
        let unreachable = |source| SinkError::Unreachable { action, effect, source };
        match self {
            Self::Io(error)
                if effect == Effect::None
                    && matches!(
                        error.kind(),
                        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                    ) =>
            {
                SinkError::Refused { action, source: Arc::new(error) }
            }
            Self::Dial(error) if error.class() == ErrorClass::Terminal => {
                SinkError::Refused { action, source: Arc::new(error) }
            }
            Self::Refused(_) => SinkError::Refused { action, source: Arc::new(self) },
            Self::Rejected(detail) => SinkError::Rejected { detail, effect },
            Self::Unusable(text) => SinkError::Unusable(text),
            Self::Abandoned => crate::files::abandoned(effect),
            Self::Io(_) | Self::Dial(_) | Self::Protocol(_) => unreachable(Arc::new(self)),
        }
    }
}
