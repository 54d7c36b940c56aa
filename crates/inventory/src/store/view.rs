//! Views: what one inventory exports.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Store,
    cursor::Pending,
    dedupe::Winners,
    partition::{Coverage, Reader},
    slab::NIL,
};
use crate::{
    change::{Confines, Content},
    key::{PartitionId, TargetKey, ViewId},
    row::Row,
};

/// What a view does when several targets have the same object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dedupe {
    /// A row for each.
    KeepAll,
    /// One row: that of the target whose name sorts last.
    ByUid,
}

/// The rows of a view in one namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    pub namespace: String,
    pub content: Content,
    /// How many targets have rows there.
    pub targets: usize,
}

#[derive(Debug)]
pub(super) struct View {
    pub(super) partitions: BTreeSet<PartitionId>,
    pub(super) uncovered: usize,
    pub(super) content: Content,
    /// The hidden partition of the winners, if there can be only one.
    pub(super) hidden: Option<PartitionId>,
    /// Who wins, if there can be only one.
    pub(super) winners: Option<Winners>,
    /// Whether all that decides which partitions there are has been read.
    pub(super) settled: bool,
    /// The targets for which waiting does not help, once all others are known.
    unknown: Option<BTreeSet<TargetKey>>,
}

impl Store {
    /// A view without partitions.
    pub fn add_view(&mut self, dedupe: Dedupe) -> ViewId {
        let winners = match dedupe {
            Dedupe::KeepAll => None,
            Dedupe::ByUid => Some(Winners::new(self)),
        };
        let id = self.next_id();
        let view = View {
            partitions: BTreeSet::new(),
            uncovered: 0,
            content: Content::default(),
            hidden: winners.as_ref().map(|winners| winners.partition),
            winners,
            settled: false,
            unknown: None,
        };
        self.views.insert(id, view);
        ViewId(id)
    }

    /// Removes a view with its cursors; its partitions stay.
    pub fn remove_view(&mut self, view: ViewId) {
        for cursor in self.cursors_of(view) {
            self.close_cursor(cursor);
        }
        let Some(gone) = self.views.remove(&view.0) else { return };
        for partition in gone.partitions {
            if let Some(home) = self.partitions.get_mut(&partition.0) {
                home.views.retain(|held_by| *held_by != view);
            }
        }
        if let Some(winners) = gone.winners {
            self.discard(winners.partition);
        }
    }

    /// Says that targets, inventories, scopes and namespaces have all been
    /// read: what the view does not hold is gone, not unknown.
    pub fn settle(&mut self, view: ViewId) {
        if let Some(holder) = self.views.get_mut(&view.0) {
            holder.settled = true;
        }
        for cursor in self.cursors_of(view) {
            let state = self.cursors.get(&cursor.0);
            if state.is_some_and(|state| state.unsettled && state.flight.is_none()) {
                self.start_over(cursor);
            }
            if self.is_from_scratch(cursor) {
                self.woken.insert(cursor);
            }
        }
    }

    /// Says that it cannot be known what some targets have, because they are
    /// broken, and that everything else is known. Nobody has to wait for them;
    /// what they had stays wherever it was copied to, and what belongs to
    /// nobody any longer goes.
    pub fn settle_but(&mut self, view: ViewId, unknown: &BTreeSet<TargetKey>) {
        let Some(holder) = self.views.get_mut(&view.0) else { return };
        let is_new = holder.unknown.as_ref() != Some(unknown);
        if is_new {
            holder.unknown = Some(unknown.clone());
        }
        for cursor in self.cursors_of(view) {
            let state = self.cursors.get(&cursor.0);
            let is_free = state.is_some_and(|state| state.unsettled && state.flight.is_none());
            if is_new && is_free {
                self.start_over(cursor);
            }
            if self.is_from_scratch(cursor) {
                self.woken.insert(cursor);
            }
        }
    }

    /// Number and digest of a view's rows.
    pub fn view_content(&self, view: ViewId) -> Content {
        self.views.get(&view.0).map(|view| view.content).unwrap_or_default()
    }

    /// The rows of a view, namespace by namespace.
    pub fn shards(&self, view: ViewId) -> Vec<Shard> {
        let Some(holder) = self.views.get(&view.0) else { return Vec::new() };
        let mut shards = BTreeMap::<&str, (Content, usize)>::new();
        let mut add = |namespace, content: Content| {
            let (all, targets) = shards.entry(namespace).or_default();
            *all = all.and(content);
            *targets += usize::from(content.rows > 0);
        };
        match &holder.winners {
            Some(winners) => {
                for (namespace, targets) in &winners.shares {
                    for content in targets.values() {
                        add(namespace, *content);
                    }
                }
            }
            None => {
                for home in holder.partitions.iter().filter_map(|id| self.partitions.get(&id.0)) {
                    add(home.key.namespace.as_str(), home.content);
                }
            }
        }
        let shard = |(namespace, (content, targets)): (&str, _)| Shard {
            namespace: namespace.to_owned(),
            content,
            targets,
        };
        shards.into_iter().filter(|(_, (content, _))| content.rows > 0).map(shard).collect()
    }

    /// How many partitions of a view are not covered.
    pub fn uncovered(&self, view: ViewId) -> usize {
        self.views.get(&view.0).map_or(0, |view| view.uncovered)
    }

    /// Whether it is known what a view holds, or cannot be known, and every
    /// partition of it has been read, or has failed to be.
    pub fn is_warm(&self, view: ViewId) -> bool {
        let is_warm = |holder: &View| {
            (holder.settled || holder.unknown.is_some())
                && holder.partitions.iter().all(|id| self.is_tried(*id))
        };
        self.views.get(&view.0).is_some_and(is_warm)
    }

    /// Which partitions of a view are known in full, and which are not.
    pub fn confines(&self, view: ViewId) -> Option<Confines> {
        let holder = self.views.get(&view.0)?;
        let (covered, uncovered): (Vec<_>, Vec<_>) =
            holder.partitions.iter().copied().partition(|id| self.is_covered(*id));
        let keys = |ids: Vec<PartitionId>| {
            let homes = ids.iter().filter_map(|id| self.partitions.get(&id.0));
            homes.map(|home| home.key.clone()).collect()
        };
        let (covered, uncovered) = (keys(covered), keys(uncovered));
        let unknown = holder.unknown.iter().filter(|_| !holder.settled).flatten().cloned();
        let settled = holder.settled || holder.unknown.is_some();
        Some(Confines { uncovered, covered, settled, unknown: unknown.collect() })
    }

    /// Every row of a view, in no order.
    pub fn view_rows(&self, view: ViewId) -> Vec<Row> {
        match self.views.get(&view.0) {
            None => Vec::new(),
            Some(holder) => match &holder.winners {
                Some(winners) => self.rows_of(winners.partition),
                None => holder.partitions.iter().flat_map(|id| self.rows_of(*id)).collect(),
            },
        }
    }

    /// Brings a partition into a view.
    pub fn attach(&mut self, view: ViewId, partition: PartitionId) {
        let Some(holder) = self.views.get_mut(&view.0) else { return };
        let Some(home) = self.partitions.get_mut(&partition.0) else { return };
        if !holder.partitions.insert(partition) {
            return;
        }
        home.views.push(view);
        let covered = home.is_covered();
        holder.uncovered += usize::from(!covered);
        let key = home.key.clone();
        let (head, is_plain) = (home.log.head, holder.winners.is_none());
        for cursor in self.cursors_of(view) {
            let Some(state) = self.cursors.get_mut(&cursor.0) else { continue };
            let follows = state.follows();
            if follows && covered {
                state.pending.insert(key.clone(), Pending::Replace);
                self.woken.insert(cursor);
            } else if follows {
                // What was to be dropped is back, and not yet known.
                state.pending.remove(&key);
                state.owed.insert(partition);
            }
            if is_plain {
                // The rows of a covered partition travel with its replacement.
                let at = if follows && !covered { head } else { NIL };
                if at != NIL {
                    state.dirty.insert(partition);
                    self.woken.insert(cursor);
                }
                if let Some(home) = self.partitions.get_mut(&partition.0) {
                    home.readers.push(Reader::new(cursor, at));
                }
            }
        }
        // Also without rows, so that no two exports carry one number.
        self.sequence += 1;
        self.count_in(view, partition);
    }

    /// Adds the rows of a partition that has come to what its view shows. Only
    /// a deduplicated view has to look at each of them.
    fn count_in(&mut self, view: ViewId, partition: PartitionId) {
        let content = self.content(partition);
        match self.views.get_mut(&view.0) {
            Some(holder) if holder.winners.is_none() => {
                holder.content = holder.content.and(content);
            }
            _ => {
                for row in self.rows_of(partition) {
                    self.candidate(view, partition, None, Some(&row));
                }
            }
        }
    }

    /// Takes the rows of a partition that has gone out of what its view shows.
    fn count_out(&mut self, view: ViewId, partition: PartitionId) {
        let content = self.content(partition);
        match self.views.get_mut(&view.0) {
            Some(holder) if holder.winners.is_none() => {
                holder.content = holder.content.without(content);
            }
            _ => {
                for row in self.rows_of(partition) {
                    self.candidate(view, partition, Some(&row), None);
                }
            }
        }
    }

    /// Takes a partition out of a view; its rows are deleted where the view
    /// was copied to.
    pub fn detach(&mut self, view: ViewId, partition: PartitionId) {
        let Some(holder) = self.views.get_mut(&view.0) else { return };
        if !holder.partitions.remove(&partition) {
            return;
        }
        let Some(home) = self.partitions.get_mut(&partition.0) else { return };
        home.views.retain(|held_by| *held_by != view);
        holder.uncovered -= usize::from(!home.is_covered());
        let key = home.key.clone();
        self.sequence += 1;
        self.count_out(view, partition);
        for cursor in self.cursors_of(view) {
            if let Some(home) = self.partitions.get_mut(&partition.0) {
                home.readers.retain(|reader| reader.cursor != cursor);
            }
            let Some(state) = self.cursors.get_mut(&cursor.0) else { continue };
            state.dirty.remove(&partition);
            state.owed.remove(&partition);
            if state.follows() {
                state.pending.insert(key.clone(), Pending::Drop);
            }
            // Who has copied nothing yet may have waited for the partition.
            if state.follows() || state.from_scratch {
                self.woken.insert(cursor);
            }
        }
    }

    /// A partition has become covered: cursors that copied it while it was
    /// not owe their destinations a comparison.
    pub(super) fn settle_debts(&mut self, view: ViewId, partition: PartitionId) {
        let Some(key) = self.partitions.get(&partition.0).map(|home| home.key.clone()) else {
            return;
        };
        for cursor in self.cursors_of(view) {
            let Some(state) = self.cursors.get_mut(&cursor.0) else { continue };
            if state.owed.remove(&partition) {
                self.sequence += 1;
                state.pending.insert(key.clone(), Pending::Replace);
                self.woken.insert(cursor);
            }
        }
    }

    pub(super) fn count_uncovered(&mut self, view: ViewId, by: isize) {
        if let Some(view) = self.views.get_mut(&view.0) {
            view.uncovered = view.uncovered.saturating_add_signed(by);
        }
    }

    /// The live rows of a partition.
    pub(super) fn rows_of(&self, partition: PartitionId) -> Vec<Row> {
        let Some(home) = self.partitions.get(&partition.0) else { return Vec::new() };
        let live = home.log.iter(&self.slab).filter(|(_, slot)| !slot.is_gone);
        live.map(|(_, slot)| slot.row()).collect()
    }

    /// Whether a partition may have rows deleted at destinations.
    pub(super) fn is_covered(&self, partition: PartitionId) -> bool {
        self.coverage(partition) == Coverage::Covered
    }
}
