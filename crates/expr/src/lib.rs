//! The expressions that users read objects with.
//!
//! What extraction speaks: a text is compiled once into a [`Program`], and the
//! program is evaluated over borrowed JSON within a [`Budget`]. A program also
//! knows which paths it can touch, so that only those are read from an
//! object's bytes ([`Projection`]). Of Kubernetes the crate knows only what its
//! API server adds to CEL; it does no I/O.
//!
//! What holds here:
//! - A result does not depend on whether the whole object was read or only
//!   what the program can touch.
//! - No text and no object makes it panic, hang, or build without bound.
//! - An error says where in the text it comes from.
//!
//! Start with [`json_path::compile`], [`cel::compile`] and [`Program::value`].

mod json;
mod program;
mod budget;
mod eval;
pub mod json_path;
pub mod cel;
pub mod kube;
mod projection;
mod reader;

pub use budget::Budget;
pub use eval::{EvalError, Reason};
pub use json::{Json, Number};
pub use program::Program;
pub use projection::Projection;
pub use reader::{error::ReadError, read};
