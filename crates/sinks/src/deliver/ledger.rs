//! The store, shared between those who collect and those who copy.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kollect_inventory::{Change, CursorId, Store, ViewId};
use tokio::sync::watch;

/// The one store of a process; cheap to clone.
///
/// The lock is held for one operation at a time and never across an await.
/// Whoever changes rows wakes the pairs that have something to copy by it.
#[derive(Clone)]
pub struct Ledger(Arc<Shared>);

struct Shared {
    store: Mutex<Store>,
    bells: Mutex<BTreeMap<CursorId, watch::Sender<()>>>,
}

/// Rings when a cursor has something to read.
pub(super) type Bell = watch::Receiver<()>;

impl Ledger {
    pub fn new(store: Store) -> Self {
        Self(Arc::new(Shared { store: Mutex::new(store), bells: Mutex::default() }))
    }

    /// Reads or changes the store.
    pub fn with<T>(&self, operation: impl FnOnce(&mut Store) -> T) -> T {
        self.operate(None, operation)
    }

    /// The same for whoever follows a cursor: what it does to the cursor by
    /// itself is no news to it.
    pub(super) fn quietly<T>(
        &self,
        cursor: CursorId,
        operation: impl FnOnce(&mut Store) -> T,
    ) -> T {
        self.operate(Some(cursor), operation)
    }

    fn operate<T>(&self, deaf: Option<CursorId>, operation: impl FnOnce(&mut Store) -> T) -> T {
        let mut store = unpoisoned(&self.0.store);
        let answer = operation(&mut store);
        let mut woken = store.take_woken();
        drop(store);
        woken.retain(|cursor| Some(*cursor) != deaf);
        if !woken.is_empty() {
            let bells = unpoisoned(&self.0.bells);
            for bell in woken.iter().filter_map(|cursor| bells.get(cursor)) {
                bell.send_replace(());
            }
        }
        answer
    }

    /// A cursor, and the bell that rings for it.
    pub(super) fn follow(&self, view: ViewId) -> (CursorId, Bell) {
        let (ring, bell) = watch::channel(());
        // A new cursor has everything to read; nobody has to be told.
        let cursor = self.with(|store| store.open_cursor(view));
        unpoisoned(&self.0.bells).insert(cursor, ring);
        (cursor, bell)
    }

    /// Gives a cursor up.
    pub(super) fn unfollow(&self, cursor: CursorId) {
        unpoisoned(&self.0.bells).remove(&cursor);
        self.with(|store| store.close_cursor(cursor));
    }
}

/// Reads a view as it changes, for whoever shows it and copies it nowhere.
#[derive(Debug)]
pub struct Tail {
    ledger: Ledger,
    cursor: CursorId,
    bell: Bell,
}

impl Ledger {
    /// Reads a view from its beginning, and on.
    pub fn tail(&self, view: ViewId) -> Tail {
        let (cursor, bell) = self.follow(view);
        Tail { ledger: self.clone(), cursor, bell }
    }
}

impl Tail {
    /// What has changed since the last time; everything at first, and whenever
    /// more was missed than is remembered. Waits until there is something.
    pub async fn next(&mut self) -> Change {
        loop {
            let batch = self.ledger.quietly(self.cursor, |store| {
                let batch = store.gather(self.cursor, usize::MAX)?;
                store.acknowledge(self.cursor, batch.ticket);
                Some(batch)
            });
            if let Some(batch) = batch {
                return batch.change;
            }
            if self.bell.changed().await.is_err() {
                // Who rings is a part of the ledger that is held here.
                std::future::pending::<()>().await;
            }
        }
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        self.ledger.unfollow(self.cursor);
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("rows", &unpoisoned(&self.0.store).rows()).finish()
    }
}

/// A panic while the store was changed is a bug that must not stop every
/// other target and sink; the store's own operations do not panic.
fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
