//! Copies on a branch: what is special about Git.
//!
//! Traces and rules are those of the rules of change.

#![cfg(feature = "git")]

#[cfg(test)]
#[path = "conformance/reach.rs"]
mod reach;

#[cfg(test)]
mod git {
    mod contention;
    mod foreign;
    mod look;
    mod refusals;
    mod servers;
    mod support;
    mod texts;
    mod trees;
}
