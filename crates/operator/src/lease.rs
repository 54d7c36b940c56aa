//! Who of several operators may write: the holder of one Lease.
//!
//! The name of the Lease is upstream's, so that the two exclude each other. A
//! clock that is not ours is never believed: a holder is gone when its record
//! has not changed for as long as it asked for, by our own time.

mod record;

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use jiff::Timestamp;
use kollect_sinks::Clock;
use kube::Client;
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};

use self::record::{Record, Seen, Step};

/// The name that upstream's lease has.
pub const NAME: &str = "3274ac8a.kollect.dev";

/// How long things take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// A holder who says nothing for so long is gone.
    pub lease: Duration,
    /// A holder who could not say so for so long gives up.
    pub renew: Duration,
    /// Between two tries.
    pub retry: Duration,
}

impl Default for Terms {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { lease: seconds(60), renew: seconds(40), retry: seconds(5) }
    }
}

impl Terms {
    /// Whether they make sense together.
    pub fn are_sound(&self) -> bool {
        !self.retry.is_zero() && self.retry < self.renew && self.renew < self.lease
    }
}

/// A Lease that several compete for.
pub struct Contest {
    client: Client,
    clock: Arc<dyn Clock>,
    namespace: String,
    identity: String,
    terms: Terms,
    held: watch::Sender<bool>,
    standing: watch::Sender<Standing>,
}

/// Where one of several stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is not known who holds it; and why, if something is in the way.
    Asking(Option<String>),
    /// Somebody else holds it.
    Following { holder: String },
    /// It is ours.
    Leading,
}

impl fmt::Debug for Contest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contest")
            .field("namespace", &self.namespace)
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

impl Contest {
    /// Not held yet. The identity must be another for each process.
    pub fn new(
        client: Client,
        clock: Arc<dyn Clock>,
        namespace: &str,
        identity: &str,
        terms: Terms,
    ) -> Self {
        Self {
            client,
            clock,
            namespace: namespace.to_owned(),
            identity: identity.to_owned(),
            terms,
            held: watch::Sender::new(false),
            standing: watch::Sender::new(Standing::Asking(None)),
        }
    }

    /// Where it stands, and a bell that rings when that changes.
    pub fn standing(&self) -> watch::Receiver<Standing> {
        self.standing.subscribe()
    }

    /// Competes, holds, and ends when what was held is lost.
    pub async fn compete(&self) {
        let mut seen = None;
        let mut renewed = Instant::now();
        loop {
            let is_held = *self.held.borrow();
            match self.try_once(&mut seen).await {
                Ok(true) => {
                    renewed = Instant::now();
                    self.held.send_if_modified(|held| !std::mem::replace(held, true));
                    self.stand(Standing::Leading);
                }
                Ok(false) => {
                    let holder = seen.as_ref().map(|seen| seen.holder.clone()).unwrap_or_default();
                    self.stand(Standing::Following { holder });
                    // Somebody else has it, for sure.
                    if is_held {
                        break;
                    }
                }
                // Nobody knows; what we have is ours for a while.
                Err(_) if is_held && renewed.elapsed() < self.terms.renew => {}
                Err(why) => {
                    self.stand(Standing::Asking(Some(why)));
                    if is_held {
                        break;
                    }
                }
            }
            sleep(self.terms.retry).await;
        }
        self.held.send_replace(false);
    }

    /// Tells where we stand, and says so if that is new.
    fn stand(&self, now: Standing) {
        let (namespace, identity) = (self.namespace.as_str(), self.identity.as_str());
        let before = self.standing.send_replace(now.clone());
        if before == now {
            return;
        }
        match now {
            Standing::Leading => {
                tracing::info!(lease = NAME, namespace, identity, "lease acquired");
            }
            Standing::Following { holder } if before == Standing::Leading => {
                tracing::error!(lease = NAME, namespace, identity, holder, "lease lost");
            }
            Standing::Following { holder } => {
                tracing::info!(lease = NAME, namespace, identity, holder, "waiting for the lease");
            }
            Standing::Asking(error) if before == Standing::Leading => {
                tracing::error!(lease = NAME, namespace, identity, error, "lease lost");
            }
            // It may be for many reasons in a row; the first is enough.
            Standing::Asking(_) if matches!(before, Standing::Asking(Some(_))) => {}
            Standing::Asking(error) => {
                tracing::warn!(
                    lease = NAME,
                    namespace,
                    identity,
                    error,
                    "cannot ask for the lease"
                );
            }
        }
    }

    /// Whether it is ours now.
    async fn try_once(&self, seen: &mut Option<Seen>) -> Result<bool, String> {
        let record = self.in_time(record::read(&self.client, &self.namespace, NAME)).await?;
        let now = Instant::now();
        let step = record::decide(record.as_ref(), seen, &self.identity, now);
        let transitions = match step {
            Step::Wait => return Ok(false),
            Step::Take { transitions } => transitions,
            Step::Renew => record.as_ref().map_or(0, |record| record.transitions),
        };
        let wanted = self.claim(record.as_ref(), transitions, self.clock.timestamp());
        let written = record::write(&self.client, &self.namespace, NAME, &wanted);
        if !self.in_time(written).await? {
            // Who it was shows at the next look.
            return Err("somebody was quicker".to_owned());
        }
        *seen = Some(Seen { holder: wanted.holder, renewed: wanted.renewed, at: now });
        Ok(true)
    }

    /// An answer that comes later is none.
    async fn in_time<T>(
        &self,
        asked: impl Future<Output = Result<T, String>>,
    ) -> Result<T, String> {
        let answered = timeout(self.terms.retry, asked).await;
        answered.unwrap_or_else(|_| Err("the server does not answer".to_owned()))
    }

    fn claim(&self, record: Option<&Record>, transitions: i64, now: Timestamp) -> Record {
        let is_ours = record.is_some_and(|record| record.holder == self.identity);
        let acquired = record.filter(|_| is_ours).and_then(|record| record.acquired);
        Record {
            holder: self.identity.clone(),
            acquired: acquired.or(Some(now)),
            renewed: Some(now),
            lease: self.terms.lease,
            transitions,
            version: record.and_then(|record| record.version.clone()),
        }
    }

    /// Gives it back, so that nobody has to wait.
    pub async fn release(&self) {
        if !self.held.send_replace(false) {
            return;
        }
        let read = self.in_time(record::read(&self.client, &self.namespace, NAME)).await;
        if let Ok(Some(record)) = read
            && record.holder == self.identity
        {
            let free = Record { holder: String::new(), lease: Duration::from_secs(1), ..record };
            let written = record::write(&self.client, &self.namespace, NAME, &free);
            match self.in_time(written).await {
                Ok(_) => tracing::info!(lease = NAME, "lease released"),
                // Who comes next waits a little longer.
                Err(error) => tracing::warn!(lease = NAME, error, "the lease was not released"),
            }
        }
    }
}

#[async_trait]
impl kollect_sinks::Lease for Contest {
    fn held(&self) -> watch::Receiver<bool> {
        self.held.subscribe()
    }

    async fn confirm(&self) -> bool {
        let read = self.in_time(record::read(&self.client, &self.namespace, NAME)).await;
        read.is_ok_and(|record| record.is_some_and(|record| record.holder == self.identity))
    }
}
