//! Expressions that must be stopped.
