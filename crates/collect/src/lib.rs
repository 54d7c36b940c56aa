//! Objects in: from a live cluster, or from files that hold some.
//!
//! Second stage of the path, after what users ask for and before the store.
//! Whatever the source, there is one way from an object to its rows, and
//! nothing keeps an object once they are made.
//!
//! Invariants:
//! - Names of resources come from discovery; nothing guesses a plural.
//! - Only an entry that the server vouches for says that a kind is absent. What
//!   could not be asked is unknown, and unknown deletes nothing.
//! - Nothing holds a page of a list, however large the server makes it.
//! - A deadline is for silence, never for the length of a list.
//! - No error shows a kubeconfig or what a credential plugin printed.
//! - A watch ends when it is told to, and by nothing else; whatever it cannot be
//!   sure of, it says so before anybody deletes because of it.
//! - Only this crate retries what it asks; the client must not do so by itself,
//!   which is why [`connect()`] makes it.
//!
//! The binary calls [`use_ring`] before anything else. Start with
//! [`Assignment`], which is what one target collects, and [`Intake`], which
//! makes rows of what is found for it; [`Survey`] and [`Dump`] find it once,
//! and a [`Watch`] goes on finding it for whom [`Follow`] puts into the store.

mod assignment;
mod places;
mod failed;
mod intake;
mod connect;
mod discovery;
mod rights;
mod watch_set;
mod meters;
mod list;
mod split;
mod ask;
mod survey;
mod watch;
mod follow;
mod collector;
mod manifest;
mod dump;

pub use assignment::Assignment;
pub use collector::{
    Collector, Feeds, Habits, Order,
    kinds::Presence,
    report::{Gap, Reason, Report, TargetReport},
};
pub use connect::{ConnectError, Contexts, Place, cause::Cause, connect, contexts, use_ring};
pub use discovery::{Catalogue, Lookup, Resource, Scope, Verbs, fetch::DiscoveryError};
pub use dump::Dump;
pub use follow::Follow;
pub use intake::{FailedObject, Intake, Keeper, Tally};
pub use list::{AtLeast, Content, Heard, Listed, Question, error::ListError, list};
pub use manifest::{
    Failure, Found, Manifest, Source,
    files::read,
    node::{Position, Step},
};
pub use meters::{DISPATCH_BOUNDS, Dispatches, Meters, WatchCounts, WatchKey};
pub use split::{Frame, ListMeta, SplitError, Splitter};
pub use survey::{Progress, Survey, Unlisted};
pub use watch::{
    Event, Garbled, Listener, Watch,
    offers::Offers,
    pace::{Backoff, Pace},
    trouble::Trouble,
};
