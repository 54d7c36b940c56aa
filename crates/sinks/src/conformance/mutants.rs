//! Sinks that misbehave: some as networks do, some as bugs would.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use kollect_inventory::{Change, Effect};

use crate::sink::{Export, Farewell, InventoryKey, Receipt, Sink, SinkError, Wrote};

/// Loses every answer: what was asked is done, and nobody learns of it.
#[derive(Debug)]
pub(super) struct Deaf(pub(super) Arc<dyn Sink>);

/// Delivers everything twice, as a network may.
#[derive(Debug)]
pub(super) struct Twice(pub(super) Arc<dyn Sink>);

/// A bug that the suite must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// Acknowledges before the destination has; writes when it is next called.
    AcknowledgesEarly,
    /// Acknowledges and writes nothing.
    WritesNothing,
    /// Forgets one row of every export.
    LosesARow,
    /// Does not delete.
    KeepsTheDead,
    /// Deletes what it may not.
    IgnoresConfines,
}

impl Mutant {
    /// Every bug.
    pub const ALL: [Self; 5] = [
        Self::AcknowledgesEarly,
        Self::WritesNothing,
        Self::LosesARow,
        Self::KeepsTheDead,
        Self::IgnoresConfines,
    ];

    pub(super) fn of(self, sink: Arc<dyn Sink>) -> Arc<dyn Sink> {
        Arc::new(Mutated { sink, mutant: self, promised: Mutex::default() })
    }
}

#[derive(Debug)]
struct Mutated {
    sink: Arc<dyn Sink>,
    mutant: Mutant,
    /// What was acknowledged and not written.
    promised: Mutex<Option<Export>>,
}

#[async_trait]
impl Sink for Deaf {
    async fn probe(&self) -> Result<String, SinkError> {
        self.0.probe().await
    }

    async fn export(&self, export: &Export) -> Result<Receipt, SinkError> {
        self.0.export(export).await?;
        let source = Arc::new(std::io::Error::other("the answer was lost"));
        Err(SinkError::Unreachable { action: "write", effect: Effect::Unknown, source })
    }

    async fn retire(&self, key: &InventoryKey, farewell: Farewell) -> Result<Receipt, SinkError> {
        self.0.retire(key, farewell).await
    }
}

#[async_trait]
impl Sink for Twice {
    async fn probe(&self) -> Result<String, SinkError> {
        self.0.probe().await
    }

    async fn export(&self, export: &Export) -> Result<Receipt, SinkError> {
        let receipt = self.0.export(export).await?;
        match self.0.export(export).await {
            // The second finds the record of the first.
            Ok(_) | Err(SinkError::Conflict { .. }) => Ok(receipt),
            Err(other) => Err(other),
        }
    }

    async fn retire(&self, key: &InventoryKey, farewell: Farewell) -> Result<Receipt, SinkError> {
        self.0.retire(key, farewell).await
    }
}

#[async_trait]
impl Sink for Mutated {
    async fn probe(&self) -> Result<String, SinkError> {
        self.sink.probe().await
    }

    async fn export(&self, export: &Export) -> Result<Receipt, SinkError> {
        match self.mutant {
            Mutant::AcknowledgesEarly => {
                let earlier = {
                    let mut promised = self.promised.lock().unwrap_or_else(PoisonError::into_inner);
                    promised.replace(export.clone())
                };
                if let Some(earlier) = earlier {
                    drop(self.sink.export(&earlier).await);
                }
                Ok(acknowledged(export))
            }
            Mutant::WritesNothing => Ok(acknowledged(export)),
            Mutant::LosesARow | Mutant::KeepsTheDead | Mutant::IgnoresConfines => {
                let mut export = export.clone();
                export.change = Arc::new(spoilt(&export.change, self.mutant));
                self.sink.export(&export).await
            }
        }
    }

    async fn retire(&self, key: &InventoryKey, farewell: Farewell) -> Result<Receipt, SinkError> {
        self.sink.retire(key, farewell).await
    }
}

fn acknowledged(export: &Export) -> Receipt {
    let recorded = export.record("", &[]);
    Receipt {
        wrote: Wrote::Rows { upserted: 1, deleted: 0 },
        ..Receipt::unchanged(Some(&recorded))
    }
}

fn spoilt(change: &Change, mutant: Mutant) -> Change {
    let mut change = change.clone();
    match &mut change {
        Change::All { rows, confines } => match mutant {
            Mutant::LosesARow => drop(rows.pop()),
            Mutant::KeepsTheDead => {
                confines.covered.clear();
                confines.settled = false;
            }
            _ => {
                confines.uncovered.clear();
                confines.settled = true;
            }
        },
        Change::Since { upserts, deletes, partitions } => match mutant {
            Mutant::LosesARow => drop(upserts.pop()),
            Mutant::KeepsTheDead => {
                deletes.clear();
                partitions.clear();
            }
            _ => {}
        },
    }
    change
}
