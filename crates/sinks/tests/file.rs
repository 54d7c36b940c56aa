//! Copies in a directory: what is special about files.
//!
//! Traces and rules are those of the rules of change.

#[cfg(test)]
mod file {
    mod crashes;
    mod documents;
    mod neighbours;
    mod paths;
    mod support;
    mod trees;
    mod view;
}
