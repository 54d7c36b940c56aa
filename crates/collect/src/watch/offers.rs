//! What a server turned out to offer.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::watch;

/// What a server turned out to offer; all its watches share one.
#[derive(Clone, Debug, Default)]
pub struct Offers {
    refused_watch_list: Arc<AtomicBool>,
    /// Changes whenever the server's history turns out to be another.
    history: watch::Sender<()>,
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

    /// The history was replaced: versions heard of anything mean nothing now.
    pub(super) fn replace_history(&self) {
        self.history.send_replace(());
    }

    /// Tells when some other watch has found that out.
    pub(super) fn history(&self) -> watch::Receiver<()> {
        self.history.subscribe()
    }
}
