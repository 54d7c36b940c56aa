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
//! Start with [`layout::Layout`], which is resolved once for a sink and the
//! profiles of a view; [`encode`] writes what its paths hold.

pub mod layout;
pub mod encode;
