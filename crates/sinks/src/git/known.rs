//! What is known of a branch from one export to the next.

use std::collections::HashMap;

use super::object::Id;

/// What a branch was at when it was last looked at, and what was ours there.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The last commit, and its tree.
    pub(super) at: Option<(Id, Id)>,
    /// The last commit that we made, and its tree.
    pub(super) ours: Option<(Id, Id)>,
    /// The trees of our own folders, as we left them. One that is different
    /// now has been changed by somebody else.
    pub(super) homes: HashMap<String, Option<Id>>,
}

impl Known {
    /// The tree of a commit, if it is one of those.
    pub(super) fn root_of(&self, commit: Id) -> Option<Id> {
        let known = [self.at, self.ours].into_iter().flatten();
        known.filter(|(known, _)| *known == commit).map(|(_, root)| root).next()
    }

    pub(super) fn is_at(&mut self, commit: Id, root: Id) {
        self.at = Some((commit, root));
    }
}
