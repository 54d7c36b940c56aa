//! What is known about a pair, for whoever reports it.

use std::{fmt, time::Duration};

use jiff::Timestamp;
use kollect_inventory::{Content, schedule::ErrorClass};

use crate::sink::{InventoryKey, Receipt, RefusedRow};

/// An inventory and one of its sinks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PairKey {
    pub inventory: InventoryKey,
    pub sink: SinkKey,
}

/// Names a sink object. Two families may use the same name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SinkKey {
    pub family: Family,
    pub namespace: String,
    pub name: String,
}

/// The kinds of sink objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    Snapshot,
    Database,
    Event,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Snapshot => "snapshot",
            Self::Database => "database",
            Self::Event => "event",
        })
    }
}

impl fmt::Display for PairKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { inventory, sink: SinkKey { family, namespace, name } } = self;
        write!(f, "{inventory} to {family}/{namespace}/{name}")
    }
}

/// How a pair is doing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairState {
    pub phase: Phase,
    /// Generation of the inventory that this is about.
    pub generation: i64,
    /// When the destination last acknowledged an export.
    pub last_export: Option<Timestamp>,
    /// When it was last known to be good: exported to, or verified.
    pub last_success: Option<Timestamp>,
    /// What it then held, if that was exactly the view.
    pub content: Option<Content>,
    /// What it then held, as a text: the contract checksum of a document, or
    /// else the digest of the rows.
    pub checksum: Option<String>,
    /// What the last export that wrote something left behind.
    pub receipt: Option<Receipt>,
}

/// Whether a copy is current, and if not, why.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Phase {
    /// Nothing has been tried in this process.
    #[default]
    Starting,
    /// Not yet, or no longer; it says why.
    Progressing(String),
    /// The destination has acknowledged everything.
    Exported,
    /// The destination has acknowledged everything but some rows, of which the
    /// first are named.
    Partial { refused: Vec<RefusedRow>, total: usize },
    /// The last attempt has failed.
    Failed {
        class: ErrorClass,
        /// Holds no secret.
        message: String,
        attempts: u32,
        retry_at: Timestamp,
    },
}

impl Phase {
    /// Whether the copy may be called in sync.
    pub fn is_synced(&self) -> bool {
        *self == Self::Exported
    }
}

/// What happened in one turn of a pair, for metrics.
#[derive(Clone, Debug)]
pub struct Turn<'a> {
    pub work: Work,
    pub took: Duration,
    pub outcome: Result<&'a Receipt, Failed<'a>>,
}

/// Why a turn has failed.
#[derive(Clone, Copy, Debug)]
pub struct Failed<'a> {
    pub class: ErrorClass,
    /// Whether the destination refused our credentials, or our right to it.
    pub is_refused: bool,
    /// Holds no secret.
    pub message: &'a str,
}

/// What a pair does at its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Writes what has changed.
    Export,
    /// Compares everything, whatever is recorded.
    Compare,
    /// Looks whether the record is still the one we know.
    Verify,
}
