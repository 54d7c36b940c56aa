//! What follows from other settings.

use kollect_inventory::watermark::Expected;

use super::{Pair, PairSettings};

impl Pair {
    /// R13: a cursor belongs to one inventory and one destination.
    pub(crate) fn configure(&mut self, settings: PairSettings) {
        let old = std::mem::replace(&mut self.settings, settings);
        let other_view = old.view != self.settings.view;
        if other_view {
            self.context.ledger.unfollow(self.cursor);
            (self.cursor, self.bell) = self.context.ledger.follow(self.settings.view);
        }
        let other_source = other_view
            || old.source != self.settings.source
            || old.schema != self.settings.schema
            || old.generation != self.settings.generation;
        let other_destination = old.destination != self.settings.destination;
        if other_destination {
            self.meet();
        }
        if other_source || other_destination {
            self.start_over();
            (self.history.failure, self.trouble) = (None, None);
            self.hold = None;
        }
        self.publish();
    }

    /// What is known about one destination says nothing about another.
    fn meet(&mut self) {
        self.expected = Expected::Unread;
        self.conflicts.clear();
        self.refused.clear();
        (self.acknowledged, self.fresh, self.history.compared) = (None, None, None);
        self.context.breakers().forget(&self.key.sink);
    }
}
