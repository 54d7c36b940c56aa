//! What holds for any input.
//!
//! Each check takes arbitrary bytes and panics where a promise is broken. A
//! fuzzer looks for such bytes (`cargo xtask fuzz`), and a plain test replays
//! the inputs that were worth keeping (`fuzz/corpus`).
//!
//! Start with [`CHECKS`].

#![expect(clippy::missing_panics_doc, reason = "panicking is what a check does")]
#![expect(clippy::panic, reason = "panicking is what a check does")]

mod json_path;
mod projection;
mod cel_source;
mod cel_eval;
mod object;
mod helm;
mod redact;
mod plans;

pub use cel_eval::cel_eval;
pub use cel_source::cel_source;
pub use helm::helm;
pub use json_path::json_path;
pub use object::object;
pub use projection::projection;
pub use redact::redact;

/// A check and the name that its target and its corpus share.
pub type Check = (&'static str, fn(&[u8]));

/// Every check.
pub const CHECKS: [Check; 7] = [
    ("json_path", json_path),
    ("projection", projection),
    ("cel_source", cel_source),
    ("cel_eval", cel_eval),
    ("object", object),
    ("helm", helm),
    ("redact", redact),
];
