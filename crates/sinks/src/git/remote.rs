//! What a repository can do for us, wherever it is.

use super::{error::Fault, object::Id, objects::Objects, pack::Finished};
use crate::progress::Progress;

/// A repository, and the branch in it that we write to.
pub(super) trait Remote {
    /// Where the branch is now, if it is there.
    fn tip(&mut self) -> Result<Option<Id>, Fault>;

    /// Learns a commit that the branch is or was at; answers with its tree.
    /// What `known` leads to has been learnt before.
    fn learn(&mut self, commit: Id, known: Option<Id>, objects: &mut Objects) -> Result<Id, Fault>;

    /// Reads trees and files that the commit leads to.
    fn read(&mut self, commit: Id, ids: &[Id], objects: &mut Objects) -> Result<(), Fault>;

    /// Moves the branch, if it is still where it was.
    fn push(&mut self, push: &Push<'_>) -> Result<Pushed, PushFault>;

    /// Checks that we are let in; says what it saw.
    fn probe(&mut self, thoroughly: bool) -> Result<String, Fault>;

    /// Says for whom the next calls are made.
    fn attend(&mut self, progress: &Progress);
}

/// What the branch is to become.
pub(super) struct Push<'a> {
    pub(super) old: Option<Id>,
    pub(super) new: Id,
    pub(super) pack: &'a Finished,
    /// Who asks for it.
    pub(super) writer: &'a str,
}

/// How a push ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pushed {
    Done,
    /// The branch has been moved by somebody else.
    Moved,
}

/// A push that did not end well.
#[derive(Debug)]
pub(super) struct PushFault {
    pub(super) fault: Fault,
    pub(super) effect: kollect_inventory::Effect,
}

impl PushFault {
    /// The branch is where it was.
    pub(super) fn before(fault: impl Into<Fault>) -> Self {
        Self { fault: fault.into(), effect: kollect_inventory::Effect::None }
    }

    /// The branch may have moved.
    pub(super) fn unknown(fault: impl Into<Fault>) -> Self {
        Self { fault: fault.into(), effect: kollect_inventory::Effect::Unknown }
    }
}
