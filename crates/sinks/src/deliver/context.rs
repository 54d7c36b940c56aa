//! What pairs need from the program around them.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use jiff::Timestamp;
use kollect_inventory::schedule::Moment;
use tokio::sync::watch;

use super::{
    breaker::Breakers,
    ledger::Ledger,
    state::{PairKey, Turn},
};

/// Time and chance, so that tests can decide about both.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Time since the process began; it passes as tokio's timers do.
    fn moment(&self) -> Moment;
    /// The time of day.
    fn timestamp(&self) -> Timestamp;
    /// A random number from zero to one.
    fn chance(&self) -> f64;
}

/// The right to write.
#[async_trait]
pub trait Lease: fmt::Debug + Send + Sync {
    /// Whether it is ours, as far as we know; no export begins without.
    fn held(&self) -> watch::Receiver<bool>;
    /// Asks whoever grants it. Somebody else has written where only one may.
    async fn confirm(&self) -> bool;
}

/// For programs that nobody competes with.
#[derive(Debug)]
pub struct Alone(watch::Sender<bool>);

impl Default for Alone {
    fn default() -> Self {
        Self(watch::Sender::new(true))
    }
}

#[async_trait]
impl Lease for Alone {
    fn held(&self) -> watch::Receiver<bool> {
        self.0.subscribe()
    }

    async fn confirm(&self) -> bool {
        true
    }
}

/// Whoever counts what happens.
pub trait Observer: fmt::Debug + Send + Sync {
    fn turned(&self, pair: &PairKey, turn: &Turn<'_>);
    /// Since when the copy of a pair is behind (R22); none if it is current.
    fn lags(&self, pair: &PairKey, since: Option<Moment>);
}

/// Counts nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn turned(&self, _: &PairKey, _: &Turn<'_>) {}

    fn lags(&self, _: &PairKey, _: Option<Moment>) {}
}

/// What all pairs of a process share.
#[derive(Debug)]
pub struct Context {
    pub ledger: Ledger,
    pub clock: Arc<dyn Clock>,
    pub lease: Arc<dyn Lease>,
    pub observer: Arc<dyn Observer>,
    /// Random for each process.
    pub writer: Arc<str>,
    breakers: Breakers,
}

impl Context {
    pub fn new(ledger: Ledger, clock: Arc<dyn Clock>, writer: &str) -> Self {
        Self {
            ledger,
            clock,
            lease: Arc::new(Alone::default()),
            observer: Arc::new(Unobserved),
            writer: writer.into(),
            breakers: Breakers::default(),
        }
    }

    pub(super) fn breakers(&self) -> &Breakers {
        &self.breakers
    }
}
