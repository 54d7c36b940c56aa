//! A change of the cluster: what is asked of the API, what a person is told,
//! and by what a copy shows that it has arrived.

use std::fmt;

use serde_json::Value;

use super::row::{Row, RowKey};

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    pub(super) row: RowKey,
    /// What of it changes: `replicas 2 → 3`.
    pub(super) what: String,
    /// Another row that goes because of it.
    pub(super) aside: Option<RowKey>,
    pub(super) steps: Vec<Step>,
    pub(super) proof: Proof,
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Create(Value),
    /// A merge patch of an object, or of its status.
    Merge {
        object: Reference,
        part: Part,
        patch: Value,
    },
    Delete(Reference),
}

/// What of an object is patched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    Status,
}

/// Names an object of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// By what a copy shows that a change has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// An attribute of the row has this value.
    Holds(&'static str, String),
    /// The row is like this.
    Is(Row),
    /// There is no row any more.
    Gone,
}

impl Proof {
    /// Whether a row, or its absence, shows it.
    pub(super) fn is_shown_by(&self, row: Option<&Row>) -> bool {
        match self {
            Self::Holds(attribute, value) => {
                row.and_then(|row| row.get(*attribute)).is_some_and(|found| found == value)
            }
            Self::Is(wanted) => row == Some(wanted),
            Self::Gone => row.is_none(),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { api_version: _, kind, namespace, name } = self;
        write!(f, "{kind} {namespace}/{name}")
    }
}
