//! What the operator says of its work, as far as the demo shows it.

use std::collections::BTreeMap;

use super::tally::Copy;

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
    /// With its family before it.
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

impl SinkState {
    /// Whether it is the sink of a copy.
    pub(super) fn is_of(&self, copy: Copy) -> bool {
        let family = match copy {
            Copy::Git => "snapshot/",
            Copy::Sqlite => "database/",
        };
        self.name.starts_with(family)
    }
}
