//! Who asked for what.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::watch;

use crate::request::Request;

/// Under load nobody reads the log, and it must not grow for ever.
const KEPT: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Log {
    requests: Mutex<VecDeque<Request>>,
    changed: watch::Sender<()>,
    open_watches: Arc<AtomicUsize>,
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Request>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, request: Request) {
        let mut requests = self.lock();
        if requests.len() == KEPT {
            requests.pop_front();
        }
        requests.push_back(request);
        drop(requests);
        self.changed.send_replace(());
    }

    pub(crate) fn all(&self) -> Vec<Request> {
        self.lock().iter().cloned().collect()
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    /// Waits until a request is in the log.
    pub(crate) async fn find(&self, wanted: impl Fn(&Request) -> bool) -> Request {
        let mut changed = self.changed.subscribe();
        loop {
            changed.borrow_and_update();
            let found = self.lock().iter().find(|request| wanted(request)).cloned();
            if let Some(request) = found {
                return request;
            }
            if changed.changed().await.is_err() {
                // The sender is ours, and lives as long as we do.
                std::future::pending::<()>().await;
            }
        }
    }

    pub(crate) fn open_watches(&self) -> usize {
        self.open_watches.load(Ordering::Relaxed)
    }

    /// Counts a watch as open until the ticket is dropped.
    pub(crate) fn watch_opened(&self) -> Ticket {
        self.open_watches.fetch_add(1, Ordering::Relaxed);
        Ticket(Arc::clone(&self.open_watches))
    }
}

/// An open watch.
pub(crate) struct Ticket(Arc<AtomicUsize>);

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
