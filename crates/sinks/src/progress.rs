//! How an export shows that it is alive.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use tokio::sync::Notify;

/// Where a sink says that something has been accepted, and reads whether
/// anybody still waits for the outcome; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    accepted: AtomicU64,
    abandoned: AtomicBool,
    moved: Notify,
}

impl Progress {
    /// Bytes or rows were accepted.
    pub fn accepted(&self, count: u64) {
        self.0.accepted.fetch_add(count, Ordering::Relaxed);
        self.0.moved.notify_one();
    }

    /// Nothing was accepted here, but nothing hangs either.
    pub(crate) fn alive(&self) {
        self.0.moved.notify_one();
    }

    /// How much has been accepted.
    pub(crate) fn count(&self) -> u64 {
        self.0.accepted.load(Ordering::Relaxed)
    }

    /// Whether both are about the same export.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether nobody waits for the outcome: what has not been made durable
    /// should not be.
    pub fn is_abandoned(&self) -> bool {
        self.0.abandoned.load(Ordering::Acquire)
    }

    /// Says that nobody waits for the outcome any more.
    pub fn abandon(&self) {
        self.0.abandoned.store(true, Ordering::Release);
    }

    /// Waits until something is accepted.
    pub async fn moved(&self) {
        self.0.moved.notified().await;
    }
}
