//! One branch, written by one export at a time.

use std::sync::MutexGuard;

use kollect_inventory::Effect;

use super::{known::Known, objects::Objects};
use crate::{
    files::{abandoned, neighbours::Neighbours},
    progress::Progress,
    sink::SinkError,
    turn::Turns,
};

/// A branch of a repository. Sinks that write to the same one share it and
/// take turns; other processes are kept apart by the expected tip.
#[derive(Debug, Default)]
pub(crate) struct GitDestination {
    turn: Turns<State>,
}

/// What is known at a destination, held by the export that runs.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) objects: Objects,
    pub(super) neighbours: Neighbours,
    pub(super) known: Known,
}

impl GitDestination {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Waits for a turn.
    pub(super) fn enter(&self, progress: &Progress) -> Result<MutexGuard<'_, State>, SinkError> {
        // What a panic elsewhere leaves behind are caches of whole entries,
        // and a tip that is looked up anyway.
        self.turn.enter(progress).ok_or_else(|| abandoned(Effect::None))
    }
}
