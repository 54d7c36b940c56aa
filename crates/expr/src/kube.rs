//! What the Kubernetes API server adds to CEL.
//!
//! The values that only Kubernetes has, with their functions, and nothing of
//! the language around them: each takes and gives plain Rust values, and the
//! evaluator wraps them. What they answer is what the API server 1.36 answers,
//! also where that is odd; `fixtures/cel/kubernetes.json` has been put to a
//! real one.
//!
//! What holds here:
//! - No text makes a function panic, and none makes it work longer than in
//!   proportion to the text.
//! - An error has the meaning that the server's has. Its words are the
//!   server's where they can become a value.

pub mod address;
pub mod cidr;
pub mod format;
pub mod ip;
pub mod quantity;
mod quote;
pub mod semver;
pub mod url;
