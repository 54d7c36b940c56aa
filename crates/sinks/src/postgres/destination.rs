//! Open connections to one table, which the pairs that write there share.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use kollect_inventory::watermark::Recorded;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::{connect::Session, error::Fault, settings::PostgresSettings};
use crate::{guard::Guard, progress::Progress, sink::SinkError};

/// Whoever waits for a connection says so often that it is alive: those who
/// have one are watched by themselves.
const PATIENCE: Duration = Duration::from_secs(5);

/// A table in a database.
///
/// Connections are opened when they are needed, and kept.
#[derive(Debug)]
pub struct PostgresDestination {
    pub(super) settings: PostgresSettings,
    guard: Guard,
    idle: Mutex<Vec<Session>>,
    permits: Arc<Semaphore>,
    /// What was written of each inventory and cluster, where the database has
    /// no place for it.
    remembered: Mutex<BTreeMap<[String; 3], Recorded>>,
    /// Views that this process has tried to make; one that could not be made
    /// is not tried at every export.
    tried: Mutex<BTreeMap<[String; 3], String>>,
}

impl PostgresDestination {
    pub fn new(settings: PostgresSettings, guard: Guard) -> Self {
        let permits = Arc::new(Semaphore::new(settings.most_connections));
        Self {
            settings,
            guard,
            idle: Mutex::default(),
            permits,
            remembered: Mutex::default(),
            tried: Mutex::default(),
        }
    }

    /// Whether these are the settings that it was made for.
    pub(crate) fn has(&self, settings: &PostgresSettings) -> bool {
        self.settings == *settings
    }

    /// Works with a connection that nobody else has.
    pub(super) async fn turn<T>(
        &self,
        action: &'static str,
        progress: &Progress,
        work: impl AsyncFnOnce(&mut Session) -> Result<T, Fault>,
    ) -> Result<T, SinkError> {
        let outcome = self.work(progress, work).await;
        outcome.map_err(|fault| fault.during(action))
    }

    /// Works with a connection of its own, however busy the others are; it is
    /// closed afterwards. What was let in long ago says nothing about now.
    pub(super) async fn apart<T>(
        &self,
        action: &'static str,
        work: impl AsyncFnOnce(&mut Session) -> Result<T, Fault>,
    ) -> Result<T, SinkError> {
        let outcome = async { work(&mut Session::open(&self.settings, &self.guard).await?).await };
        outcome.await.map_err(|fault| fault.during(action))
    }

    async fn work<T>(
        &self,
        progress: &Progress,
        work: impl AsyncFnOnce(&mut Session) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        // Given back when this ends, or when nobody waits for the end.
        let _permit = self.permit(progress).await?;
        let mut session = match self.idle() {
            Some(session) => session,
            None => Session::open(&self.settings, &self.guard).await?,
        };
        let outcome = work(&mut session).await;
        let is_good = outcome.as_ref().err().is_none_or(Fault::spares_the_connection);
        if is_good && !session.is_closed() {
            self.lock(|idle| idle.push(session));
        }
        outcome
    }

    async fn permit(&self, progress: &Progress) -> Result<OwnedSemaphorePermit, Fault> {
        loop {
            if progress.is_abandoned() {
                return Err(Fault::abandoned());
            }
            match timeout(PATIENCE, Arc::clone(&self.permits).acquire_owned()).await {
                Ok(Ok(permit)) => return Ok(permit),
                Ok(Err(_closed)) => return Err(Fault::abandoned()),
                Err(_) => progress.alive(),
            }
        }
    }

    /// A connection that is not in use and, as far as we know, still stands.
    fn idle(&self) -> Option<Session> {
        self.lock(|idle| {
            idle.retain(|session| !session.is_closed());
            idle.pop()
        })
    }

    fn lock<T>(&self, work: impl FnOnce(&mut Vec<Session>) -> T) -> T {
        work(&mut self.idle.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn remembered(&self, owner: [&str; 3]) -> Option<Recorded> {
        let all = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&owner.map(str::to_owned)).cloned()
    }

    pub(super) fn remember(&self, owner: [&str; 3], recorded: Option<Recorded>) {
        let mut all = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = owner.map(str::to_owned);
        match recorded {
            Some(recorded) => drop(all.insert(owner, recorded)),
            None => drop(all.remove(&owner)),
        }
    }

    /// Whether the views of this schema have not been tried yet; now they have.
    pub(super) fn tries(&self, owner: [&str; 3], schema: &str) -> bool {
        let mut all = self.tried.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(owner.map(str::to_owned), schema.to_owned()).as_deref() != Some(schema)
    }
}
