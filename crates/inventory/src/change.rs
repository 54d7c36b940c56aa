//! What a sink is handed.

use std::{collections::HashSet, sync::Arc};

use crate::{
    digest::Digest,
    key::{PartitionKey, TargetKey},
    row::{Identity, Row},
};

/// What one export has to bring to a destination.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Under which the batch is acknowledged.
    pub ticket: Ticket,
    /// What has changed.
    pub change: Change,
    /// How far the destination is once it has taken the batch.
    pub watermark: Watermark,
    /// Whether nothing was left behind for a later batch.
    pub is_last: bool,
}

/// Names one batch of one cursor; a later batch makes it void.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(pub(crate) u64);

/// How far a copy has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watermark {
    /// Everything up to this change is in the batch or was before.
    pub sequence: i64,
    /// Number and digest of the rows in the view, if the destination will hold
    /// exactly these: the batch reaches the end of the log, and every
    /// partition is covered.
    pub content: Option<Content>,
}

/// What a destination that is up to date holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Number of rows.
    pub rows: usize,
    /// Their digest.
    pub digest: Digest,
}

/// What has changed.
#[derive(Clone, Debug)]
pub enum Change {
    /// Everything: the destination is compared with the rows. Rows that it has
    /// and the batch has not are deleted where `confines` permits it.
    All {
        /// Every row of the view.
        rows: Vec<Row>,
        /// Where deleting is permitted.
        confines: Confines,
    },
    /// What came after the cursor. The partitions' changes are applied first,
    /// then the deletes, then the upserts.
    Since {
        /// Rows that are new or have changed.
        upserts: Vec<Row>,
        /// Rows that are gone.
        deletes: Vec<Tombstone>,
        /// Partitions that came or went as a whole.
        partitions: Vec<(PartitionKey, PartitionChange)>,
    },
}

impl Default for Change {
    /// Nothing has changed.
    fn default() -> Self {
        Self::Since { upserts: Vec::new(), deletes: Vec::new(), partitions: Vec::new() }
    }
}

impl Change {
    /// Whether the destination is to be compared with all rows.
    pub fn is_everything(&self) -> bool {
        matches!(self, Self::All { .. })
    }

    /// How many rows it names.
    pub fn len(&self) -> usize {
        match self {
            Self::All { rows, .. } => rows.len(),
            Self::Since { upserts, deletes, .. } => upserts.len() + deletes.len(),
        }
    }

    /// Whether there is nothing to write; a comparison always has something
    /// to look for.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::All { .. } => false,
            Self::Since { upserts, deletes, partitions } => {
                upserts.is_empty() && deletes.is_empty() && partitions.is_empty()
            }
        }
    }
}

/// Where a comparison may delete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confines {
    /// Partitions whose rows may be out of date; nothing of theirs is deleted.
    pub uncovered: Vec<PartitionKey>,
    /// Partitions of which every row is known.
    pub covered: Vec<PartitionKey>,
    /// Whether a partition in neither list is known to be gone. Until all that
    /// decides this has been read in this process, it is not.
    pub settled: bool,
    /// Targets whose partitions are not known, whatever else is: nothing of
    /// theirs is known to be gone.
    pub unknown: Vec<TargetKey>,
}

impl Confines {
    /// The same, to be asked row by row.
    pub fn permits(&self) -> Permits<'_> {
        let Self { uncovered, covered, settled, unknown } = self;
        Permits {
            covered: covered.iter().map(PartitionKey::place).collect(),
            uncovered: uncovered.iter().map(PartitionKey::place).collect(),
            settled: *settled,
            unknown: unknown.iter().map(TargetKey::place).collect(),
        }
    }
}

/// Where the rows of a partition say that they are: namespace and name of
/// their target, and the namespace of their object.
pub type Place<'a> = (&'a str, &'a str, &'a str);

/// Says of single rows whether they may be deleted.
#[derive(Debug)]
pub struct Permits<'a> {
    covered: HashSet<Place<'a>>,
    uncovered: HashSet<Place<'a>>,
    settled: bool,
    unknown: HashSet<(&'a str, &'a str)>,
}

impl Permits<'_> {
    /// Whether a row that the destination has there and the view has not is
    /// gone.
    pub fn delete(&self, place: Place<'_>) -> bool {
        let is_unknown =
            self.uncovered.contains(&place) || self.unknown.contains(&(place.0, place.1));
        self.covered.contains(&place) || (self.settled && !is_unknown)
    }
}

/// What happened to a partition as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartitionChange {
    /// These are its rows; what the destination has beside them is deleted.
    Replace(Vec<Row>),
    /// It is gone, with all its rows.
    Drop,
}

/// What is left of a row that is gone: its identity and kind.
#[derive(Clone, PartialEq, Eq)]
pub struct Tombstone(pub(crate) Arc<[u8]>);

impl Tombstone {
    /// What named the row.
    pub fn identity(&self) -> Identity<'_> {
        Identity::read(&self.0)
    }
}

impl std::fmt::Debug for Tombstone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

/// What became of an export that did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The destination is as it was.
    None,
    /// The destination may have taken some of it.
    Unknown,
}
