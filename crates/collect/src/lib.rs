//! Objects in: from a live cluster, or from files that hold some.
//!
//! Second stage of the path, after what users ask for and before the store.
//! Whatever the source, there is one way from an object to its rows, and
//! nothing keeps an object once they are made.
//!
//! Start with [`Assignment`], which is what one target collects, and
//! [`Intake`], which makes rows of what is found for it.

mod manifest;
mod assignment;
mod intake;
mod dump;

pub use assignment::Assignment;
pub use dump::Dump;
pub use intake::{FailedObject, Intake, Keeper, Tally};
pub use manifest::{
    Failure, Found, Manifest, Source,
    files::read,
    node::{Position, Step},
};
