//! From an object's bytes to a row.
//!
//! Third stage of the path: collection hands over bytes, and gets a verdict.
//! Everything is pure: the answer depends on the plan, the bytes and what is
//! known of the namespace, so the operator and the command line cannot
//! disagree about an object.
//!
//! What holds here:
//! - A profile and a target are compiled once, into a [`Plan`]; per object
//!   only the paths that the plan can touch are read.
//! - Nothing that looks like a secret leaves ([`redact`]), and the data of
//!   Secrets only where the profile is allowed to read it ([`guard`]).
//! - A required attribute that cannot be read fails the whole row: a stale
//!   value looks exactly like a fresh one to whoever reads the copy.
//!
//! Start with [`Plan::compile`] and [`Plan::row`].

mod plan;
mod verdict;
pub mod select;
mod attributes;
pub mod helm;
mod prune;
pub mod redact;
pub mod guard;
mod write;

pub use plan::{Plan, PlanError, Wanted};
pub use verdict::{Failure, Header, Skip, Verdict};
