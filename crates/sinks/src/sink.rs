//! What a sink is: the trait, what it is handed, what it answers.

use std::{error::Error, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use jiff::Timestamp;
use kollect_inventory::{
    Change, Confines, Effect, Identity, PartitionKey, Row, Watermark,
    schedule::ErrorClass,
    watermark::{self, Conflict, Expected, Recorded, Refusal, Step, Terms, Token, Trust},
};

use crate::{progress::Progress, schema::Schema};

/// Keeps copies of inventories at one destination.
///
/// What surrounds an export, such as deadlines, retries and the redaction of
/// errors, is in [`crate::Delivery`], once for all sinks.
#[async_trait]
pub trait Sink: fmt::Debug + Send + Sync {
    /// Checks that the destination takes our credentials; says what it saw.
    ///
    /// Nothing is written, unless an option of the sink asks for that, and no
    /// export waits for it.
    async fn probe(&self) -> Result<String, SinkError>;

    /// Brings the destination from the cursor to the export's watermark.
    ///
    /// Returns only when the destination has acknowledged it durably. An
    /// export without a change looks whether the record is still the one that
    /// we know, and writes nothing.
    async fn export(&self, export: &Export) -> Result<Receipt, SinkError>;

    /// Whether every receipt names all rows of the view that are refused, and
    /// not only those of its change.
    fn lists_refusals(&self) -> bool {
        false
    }

    /// Takes leave of an inventory: removes what is ours about it, and its
    /// rows too where `farewell` asks for it.
    async fn retire(
        &self,
        inventory: &InventoryKey,
        farewell: Farewell,
    ) -> Result<Receipt, SinkError>;
}

/// Names an inventory; cluster inventories are in the namespace `cluster`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InventoryKey {
    pub namespace: String,
    pub name: String,
}

impl fmt::Display for InventoryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// Why a sink takes leave of an inventory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Farewell {
    /// The inventory was deleted. Databases delete its rows; others keep their
    /// copies unless they were told to prune.
    Deleted,
    /// The inventory no longer names the sink. Its copies stay.
    Released,
}

/// One export of one inventory; cheap to clone.
#[derive(Clone, Debug)]
pub struct Export {
    pub inventory: InventoryKey,
    /// Generation of the inventory.
    pub generation: i64,
    /// What the rows look like.
    pub schema: Arc<Schema>,
    pub change: Arc<Change>,
    /// How far the destination is afterwards.
    pub watermark: Watermark,
    /// Everything in the view, for sinks whose unit is a document; none for
    /// those that are content with the change.
    pub document: Option<Arc<Document>>,
    /// Most bytes that one document may have, if it is to be cut at all.
    pub limit: Option<usize>,
    /// What the destination must have recorded.
    pub expected: Expected,
    /// Random for each process.
    pub writer: Arc<str>,
    /// Whether a record that says that the copy is current is believed.
    pub trust: Trust,
    /// Whether to write a document without a partition that it held before and
    /// that cannot be read yet.
    pub patience: Patience,
    /// When the export was gathered.
    pub at: Timestamp,
    /// Where the sink says that something has been accepted.
    pub progress: Progress,
}

/// Everything in a view at one moment.
#[derive(Clone, Debug)]
pub struct Document {
    /// Every row, in canonical order.
    pub rows: Vec<Row>,
    /// Which partitions the rows are from, and which are missing.
    pub confines: Confines,
}

/// Whether what a document held before is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// It may still be read.
    Waits,
    /// The time for that is over.
    IsOver,
}

impl Export {
    /// Decides what to do at a destination that has recorded this.
    pub fn judge(&self, recorded: Option<&Recorded>, projection: &str) -> Result<Step, SinkError> {
        let terms = Terms {
            writer: &self.writer,
            expected: &self.expected,
            trust: self.trust,
            now: self.at.as_microsecond(),
        };
        watermark::judge(recorded, &terms, (&self.change, &self.watermark), projection)
            .map_err(SinkError::from)
    }

    /// What to record once everything but `refused` rows has been written.
    pub fn record(&self, projection: &str, refused: &[RefusedRow]) -> Recorded {
        let covered = self.document.as_ref().map(|document| document.confines.covered.clone());
        Recorded {
            token: Token { writer: self.writer.to_string(), sequence: self.watermark.sequence },
            content: self.watermark.content.filter(|_| refused.is_empty()),
            projection: projection.to_owned(),
            dirty: false,
            covered: covered.unwrap_or_default(),
            missing: Vec::new(),
        }
    }
}

/// What an export left at the destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// What was written.
    pub wrote: Wrote,
    /// What the destination has recorded now.
    pub token: Option<Token>,
    /// The contract checksum of what was written, if that was a document.
    pub checksum: Option<String>,
    /// How many bytes of rows and records were sent.
    pub bytes: u64,
    /// How many requests, statements or files that took.
    pub statements: u64,
    /// Rows that the destination does not take, for what they hold.
    pub refused: Vec<RefusedRow>,
    /// What the user should know although nothing failed.
    pub warnings: Vec<String>,
}

/// What an export wrote, in the destination's own terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrote {
    /// Nothing: the destination was current.
    Nothing,
    /// Rows of a table.
    Rows { upserted: u64, deleted: u64 },
    /// Files of a directory.
    Files { written: u64, removed: u64 },
    /// A commit, and files of its tree.
    Commit { id: String, written: u64, removed: u64 },
}

impl Receipt {
    /// Says that nothing had to be written.
    pub fn unchanged(recorded: Option<&Recorded>) -> Self {
        Self {
            wrote: Wrote::Nothing,
            token: recorded.map(|recorded| recorded.token.clone()),
            checksum: None,
            bytes: 0,
            statements: 0,
            refused: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// A row that a destination does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedRow {
    pub identity: Identity<'static>,
    /// In words, without a full stop.
    pub reason: String,
}

/// The cause of an error of a backend.
pub type Cause = Arc<dyn Error + Send + Sync>;

/// Why a sink could not do what it was asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SinkError {
    /// The destination did not answer, or asked us to come back later.
    #[error("could not reach the destination to {action}")]
    Unreachable { action: &'static str, effect: Effect, source: Cause },
    /// The destination refused our credentials, or our right to do this.
    #[error("the destination did not let us {action}")]
    Refused { action: &'static str, source: Cause },
    /// The destination will not take the export however often it is sent.
    #[error("the destination rejected the export: {detail}")]
    Rejected { detail: String, effect: Effect },
    /// The settings cannot be used with the destination as it is.
    #[error("{0}")]
    Unusable(String),
    /// Somebody else has written there since we last did.
    #[error("the destination was written by {}", found.as_ref().map_or("nobody we know", |one| &one.writer))]
    Conflict { cause: Conflict, found: Option<Token> },
    /// The destination has recorded a higher number than ours.
    #[error("the destination has recorded the number {0}, which is above ours")]
    Behind(i64),
    /// The destination is not what a partial change is for.
    #[error("the destination is not as the last export left it")]
    OutOfStep,
    /// The destination moved under us time and again.
    #[error("the destination kept changing while it was written")]
    Unsteady,
    /// Nothing was accepted for too long.
    #[error("nothing was accepted for {} s", .0.as_secs())]
    Stalled(Duration),
    /// The sink has a bug.
    #[error("the sink panicked: {0}")]
    Panicked(String),
    /// A document holds rows that cannot be read yet, and is left as it is.
    #[error("the document holds rows that have not been read yet: {}", list(.0))]
    Waiting(Vec<PartitionKey>),
}

impl SinkError {
    /// Says what can be done about it; a new variant has to choose.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Refused { .. } | Self::Rejected { .. } | Self::Unusable(_) => {
                ErrorClass::Terminal
            }
            Self::Unreachable { .. }
            | Self::Conflict { .. }
            | Self::Behind(_)
            | Self::OutOfStep
            | Self::Unsteady
            | Self::Stalled(_)
            | Self::Panicked(_)
            | Self::Waiting(_) => ErrorClass::Transient,
        }
    }

    /// Whether the destination is as it was before.
    pub fn effect(&self) -> Effect {
        match self {
            Self::Unreachable { effect, .. } | Self::Rejected { effect, .. } => *effect,
            Self::Stalled(_) | Self::Panicked(_) => Effect::Unknown,
            Self::Refused { .. }
            | Self::Unusable(_)
            | Self::Conflict { .. }
            | Self::Behind(_)
            | Self::OutOfStep
            | Self::Unsteady
            | Self::Waiting(_) => Effect::None,
        }
    }
}

impl From<Refusal> for SinkError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Conflict { cause, found } => Self::Conflict { cause, found },
            Refusal::Behind(recorded) => Self::Behind(recorded),
            Refusal::OutOfStep => Self::OutOfStep,
        }
    }
}

fn list(partitions: &[PartitionKey]) -> String {
    let mut names: Vec<_> = partitions.iter().take(5).map(ToString::to_string).collect();
    if partitions.len() > names.len() {
        names.push(format!("and {} more", partitions.len() - names.len()));
    }
    names.join(", ")
}
