//! What the operator says of its work, as far as the demo shows it.

use std::collections::BTreeMap;

/// How the inventory and what belongs to it are doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    /// Rows of the inventory.
    pub(super) rows: Option<usize>,
    /// Whether every sink has acknowledged everything.
    pub(super) is_synced: bool,
    pub(super) reason: String,
    pub(super) sinks: Vec<SinkState>,
    pub(super) targets: BTreeMap<String, TargetState>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SinkState {
    pub(super) name: String,
    pub(super) is_synced: bool,
    pub(super) reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TargetState {
    pub(super) rows: Option<i64>,
    /// Why it cannot collect.
    pub(super) trouble: Option<String>,
}
