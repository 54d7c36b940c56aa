//! Copies on a branch: what is special about Git.
//!
//! Traces and rules are those of the rules of change.

#[cfg(all(test, feature = "git"))]
#[path = "conformance/reach.rs"]
mod reach;

#[cfg(all(test, feature = "git"))]
mod git {
    mod contention;
    mod foreign;
    mod refusals;
    mod servers;
    mod support;
    mod texts;
    mod trees;
}
