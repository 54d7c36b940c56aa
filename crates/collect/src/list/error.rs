//! Why something could not be listed.

use std::error::Error;

use kollect_inventory::schedule::ErrorClass;

use crate::{connect::cause::Cause, split::SplitError};

/// Why something could not be listed; each says what that was.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The server knows us, and does not let us.
    #[error("not allowed to list {what}: {message}")]
    Forbidden { what: String, message: String },

    /// The server has no such resource, or no longer.
    #[error("the server does not serve {what}")]
    NotServed { what: String },

    /// The server does not know us.
    #[error("the server does not accept our credentials to list {what}: {message}")]
    Unauthorized { what: String, message: String },

    /// There was nothing to show to the server, for instance because a
    /// credential plugin failed.
    #[error("could not get credentials to list {what}")]
    NoCredentials { what: String, source: Cause },

    /// The version that was asked for, or that a list had begun with, is gone.
    #[error("the server no longer has the version to list {what} from")]
    TooOld { what: String },

    /// The server asked us to come back later, more often than we wait.
    #[error("the server is too busy to list {what}")]
    Throttled { what: String },

    /// Any other refusal.
    #[error("the server answered {code} when asked to list {what}: {message}")]
    Server { what: String, code: u16, message: String },

    /// There was no connection, or it was cut more often than we try.
    #[error("could not reach the server to list {what}")]
    Unreachable { what: String, source: Box<dyn Error + Send + Sync> },

    /// The server was silent.
    #[error("the server sent nothing for {seconds} seconds when asked to list {what}")]
    Stalled { what: String, seconds: u64 },

    /// What the server sent is no list.
    #[error("could not read the server's list of {what}")]
    Malformed { what: String, source: SplitError },
}

impl ListError {
    /// Says whether asking again later may help without anybody's doing.
    ///
    /// A right that is missing may be granted, and a kind may be installed: both
    /// are somebody's doing.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Forbidden { .. }
            | Self::NotServed { .. }
            | Self::Unauthorized { .. }
            | Self::NoCredentials { .. }
            | Self::Malformed { .. } => ErrorClass::Terminal,
            Self::Server { code, .. } if *code < 500 => ErrorClass::Terminal,
            Self::TooOld { .. }
            | Self::Throttled { .. }
            | Self::Server { .. }
            | Self::Unreachable { .. }
            | Self::Stalled { .. } => ErrorClass::Transient,
        }
    }

    /// Whether the same request is worth another try within seconds.
    ///
    /// Silence is not: whoever waited for half a minute has waited enough.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Throttled { .. } | Self::Unreachable { .. } => true,
            Self::Server { code, .. } => *code >= 500,
            Self::Malformed { source, .. } => matches!(source, SplitError::Truncated),
            Self::Forbidden { .. }
            | Self::NotServed { .. }
            | Self::Unauthorized { .. }
            | Self::NoCredentials { .. }
            | Self::TooOld { .. }
            | Self::Stalled { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_must_change_is_terminal() {
        let what = || "pods in namespace shop".to_owned();
        let server = |code| ListError::Server { what: what(), code, message: "no".to_owned() };
        for (error, class, again) in [
            (server(400), ErrorClass::Terminal, false),
            (server(405), ErrorClass::Terminal, false),
            (server(500), ErrorClass::Transient, true),
            (server(503), ErrorClass::Transient, true),
            (ListError::NotServed { what: what() }, ErrorClass::Terminal, false),
            (ListError::TooOld { what: what() }, ErrorClass::Transient, false),
            (ListError::Throttled { what: what() }, ErrorClass::Transient, true),
            (ListError::Stalled { what: what(), seconds: 30 }, ErrorClass::Transient, false),
            (
                ListError::Malformed { what: what(), source: SplitError::NotAnObject },
                ErrorClass::Terminal,
                false,
            ),
            (
                ListError::Malformed { what: what(), source: SplitError::Truncated },
                ErrorClass::Terminal,
                true,
            ),
        ] {
            assert_eq!((error.class(), error.may_pass()), (class, again), "{error}");
            assert!(error.to_string().contains("pods in namespace shop"), "{error}");
        }
    }
}
