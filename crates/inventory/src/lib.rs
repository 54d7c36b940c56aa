//! Rows, the changes between them, and the documents made of them.
//!
//! Fourth stage of the path: extraction puts rows in, sinks take changes out.
//! Everything is pure: no I/O, no clock, no lock; time comes in as an argument.
//!
//! What holds here:
//! - A row is encoded once, in one canonical spelling ([`json`]), and only its
//!   bytes travel further.
//! - Two rows are equal when their bytes are, and a set of rows has a digest
//!   that is kept up to date row by row ([`Digest`]).
//! - Documents ([`envelope`], [`parts`]) are the same bytes for the same rows
//!   and header, whoever writes them.
//!
//! Start with [`Row`].

mod key;
mod store;
mod change;
pub mod digest;
pub mod envelope;
pub mod json;
pub mod parts;
pub mod schedule;
pub mod watermark;
mod row;

pub use change::{
    Batch, Change, Confines, Content, Effect, PartitionChange, Permits, Place, Ticket, Tombstone,
    Watermark,
};
pub use digest::Digest;
pub use key::{CursorId, Freshness, ListNumber, PartitionId, PartitionKey, TargetKey, ViewId};
pub use row::{Identity, Row, RowHash, sort};
pub use store::{Coverage, Dedupe, Delete, Shard, Store, Sweep, Upsert, Witness};
