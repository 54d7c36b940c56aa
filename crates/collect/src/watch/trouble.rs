//! What keeps a watch from knowing, and how a refusal is sorted.

use std::time::Duration;

use crate::{
    ask::{Refusal, chain},
    list::error::ListError,
};

/// Why nothing is known for sure any longer. Each says what the server said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The server knows us, and does not let us.
    #[error("{0}")]
    Forbidden(String),
    /// The server does not know us, or we have nothing to show.
    #[error("{0}")]
    Unauthorized(String),
    /// The server has no such resource, or no longer.
    #[error("{0}")]
    NotServed(String),
    /// The server's history is another, as after a restore from a backup.
    #[error("the server's history was replaced by an older one")]
    Replaced,
    /// The server could not be listed, but may be soon.
    #[error("{0}")]
    Unreachable(String),
    /// The server's answers are of no use.
    #[error("{0}")]
    Unusable(String),
}

/// A failure, as far as the course of a watch depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) sort: Sort,
    /// How long the server asks us to wait.
    pub(super) retry_after: Option<Duration>,
    pub(super) trouble: Trouble,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// It may pass by itself, within seconds or minutes.
    Passing,
    /// The version to go on from is gone.
    Gone,
    /// What came cannot be read.
    Garbled,
    /// It stays until somebody does something.
    Standing,
}

impl From<&Refusal> for Failure {
    fn from(refusal: &Refusal) -> Self {
        let text = chain(&refusal.error);
        let (sort, trouble) = match &refusal.error {
            ListError::Forbidden { .. } => (Sort::Standing, Trouble::Forbidden(text)),
            ListError::Unauthorized { .. } | ListError::NoCredentials { .. } => {
                (Sort::Standing, Trouble::Unauthorized(text))
            }
            ListError::NotServed { .. } => (Sort::Standing, Trouble::NotServed(text)),
            ListError::Server { code, .. } if *code < 500 => {
                (Sort::Standing, Trouble::Unusable(text))
            }
            ListError::TooOld { .. } => (Sort::Gone, Trouble::Unreachable(text)),
            ListError::Malformed { .. } => (Sort::Garbled, Trouble::Unusable(text)),
            ListError::Throttled { .. }
            | ListError::Server { .. }
            | ListError::Unreachable { .. }
            | ListError::Stalled { .. } => (Sort::Passing, Trouble::Unreachable(text)),
        };
        Self { sort, retry_after: refusal.retry_after, trouble }
    }
}

impl Trouble {
    /// Whether it is the same trouble, in whatever words.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}
