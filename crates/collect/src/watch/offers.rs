//! What a server turned out to offer.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// What a server turned out to offer; all its watches share one.
#[derive(Clone, Debug, Default)]
pub struct Offers {
    refused_watch_list: Arc<AtomicBool>,
}

impl Offers {
    /// Whether a list may be asked for as the beginning of a watch. Nobody
    /// knows before it was tried.
    pub fn watch_list(&self) -> bool {
        !self.refused_watch_list.load(Ordering::Relaxed)
    }

    /// It was tried in vain, and is not tried again.
    pub(super) fn refuse_watch_list(&self) {
        self.refused_watch_list.store(true, Ordering::Relaxed);
    }
}
