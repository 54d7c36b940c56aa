//! Everything that answers depend on.

use std::sync::{Arc, Mutex, atomic::AtomicU64};

use tokio::sync::watch;

use crate::{
    access::Access,
    discovery::Health,
    faults::Faults,
    log::Log,
    sandbox::Memory,
    storage::{Backup, Store},
    synthetic::Changes,
};

/// One cluster: what it holds, what goes wrong, and who asked.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) store: Arc<Store>,
    pub(crate) faults: Faults,
    pub(crate) access: Access,
    pub(crate) log: Log,
    pub(crate) health: Health,
    pub(crate) bookmark_millis: AtomicU64,
    /// Closes every connection.
    pub(crate) cut: watch::Sender<()>,
    /// The cluster as it began.
    pub(crate) first: Backup,
    /// What was put aside from outside.
    pub(crate) saved: Mutex<Option<Backup>>,
    /// Wakes the maker of changes when there is a new rate.
    pub(crate) rates: watch::Sender<()>,
}

impl World {
    pub(crate) fn restart(&self, memory: Memory) {
        match memory {
            Memory::Kept => self.store.compact(),
            Memory::Lost => self.store.restore(&self.first),
        }
        self.cut.send_replace(());
    }

    pub(crate) fn set_changes(&self, group: &str, plural: &str, changes: Changes) -> bool {
        let found = self.store.set_changes(group, plural, changes);
        self.rates.send_replace(());
        found
    }

    pub(crate) fn restore(&self, backup: &Backup) {
        self.store.restore(backup);
        self.cut.send_replace(());
    }
}
