//! Where copies of an inventory go, and what they look like there.
//!
//! The last crate on the path: rows come from `kollect-inventory` as canonical
//! bytes, settings from `kollect-api`; nothing here knows Kubernetes.
//!
//! Invariants:
//! - Layouts and encoders are pure: no clock, no I/O. Equal rows and equal
//!   settings give equal paths and equal bytes, whoever computes them.
//! - No path leads out of the place that it is meant for, whatever objects and
//!   their kinds are called.
//! - What a tree costs follows what has changed in it, not what it holds.
//!
//! - Nothing reports success before the destination has acknowledged it.
//! - Every connection is dialled by [`guard::Guard`], which judges its address.
//!
//! Start with [`Sink`], which every backend is; [`Delivery`] is what surrounds
//! it. [`layout::Layout`] says where files go, [`encode`] what they hold.

mod sink;
mod schema;
mod progress;
mod turn;
mod credentials;
mod deliver;
mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "conformance")]
pub mod conformance;
mod local;
mod files;
mod file;
#[cfg(feature = "git")]
mod git;
mod open;
mod preview;
mod secrets;
pub mod layout;
pub mod encode;
pub mod guard;

pub use credentials::Credentials;
pub use deliver::{
    Delivery,
    context::{Alone, Clock, Context, Lease, Observer, Unobserved},
    ledger::{Ledger, Tail},
    pair::{PairSettings, Unit},
    pool::Pool,
    scrub::Scrub,
    state::{Failed, Family, PairKey, PairState, Phase, SinkKey, Turn, Work},
};
pub use file::{FileSink, destination::FileDestination};
#[cfg(feature = "git")]
pub use git::{
    GitSink,
    look::{GitBranch, Unreadable},
    settings::GitError,
};
pub use local::{LocalPathError, LocalPaths};
pub use memory::{MemoryDestination, MemorySink};
pub use open::{BACKENDS, Manner, OpenError, Opener, SinkSpec};
#[cfg(feature = "postgres")]
pub use postgres::{
    PostgresSink,
    destination::PostgresDestination,
    settings::{PostgresSettings, PostgresSettingsError, RootsError},
};
pub use preview::preview;
pub use progress::Progress;
pub use schema::{Column, ColumnType, ProfileSchema, Schema};
pub use secrets::{CA_KEYS, Purpose, SecretUse};
pub use sink::{
    Cause, Document, Export, Farewell, InventoryKey, Patience, Receipt, RefusedRow, Sink,
    SinkError, Wrote,
};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteSink, destination::SqliteDestination};
