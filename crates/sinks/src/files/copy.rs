//! A tree of files, one for each row, and what is known about it here.

use std::collections::{BTreeMap, BTreeSet};

use kollect_api::LayoutMode;
use kollect_inventory::{
    Change, Content, Identity, PartitionChange, Place, Row,
    watermark::{Recorded, Token},
};

use super::{
    chain,
    difference::{
        Difference, Sameness, Wanted, WantedFile, contested, difference, is_same, owners, whole,
    },
    ground::Named,
    work::{Because, Plan, Unwritten, Work},
};
use crate::{
    layout::{
        Layout,
        ownership::{Line, Ownership, naming},
        path::Edition,
        tree::{Applied, FileOp, Refused, Tree},
    },
    sink::{RefusedRow, SinkError},
};

/// One inventory's tree as the last export left it.
#[derive(Debug)]
pub(super) struct Copy {
    /// What it was written by and under.
    token: Token,
    projection: String,
    tree: Tree,
    owned: Ownership,
    /// Lines of rows that the tree does not know, because their partition has
    /// not been read: by target and namespace.
    unread: BTreeMap<(String, String), BTreeSet<Line>>,
    /// Files that are wanted and could not be written.
    unwritten: BTreeMap<String, Unwritten>,
    /// Rows that can have no file.
    refused: BTreeMap<Key, RefusedRow>,
}

/// What tells rows apart: their identity without the kind.
type Key = Identity<'static>;

impl Copy {
    /// A copy that nothing is known about yet.
    pub(super) fn new(work: &Work<'_>) -> Result<Self, SinkError> {
        let edition = Edition {
            inventory: work.export.inventory.clone(),
            generation: work.export.generation,
        };
        let tree = Tree::new(work.layout.clone(), edition)
            .map_err(|error| SinkError::Unusable(chain(&error)))?;
        Ok(Self {
            token: Token { writer: String::new(), sequence: 0 },
            projection: work.projection.clone(),
            tree,
            owned: Ownership::at(&work.home),
            unread: BTreeMap::new(),
            unwritten: BTreeMap::new(),
            refused: BTreeMap::new(),
        })
    }

    /// Whether the copy is what the directory has recorded.
    pub(super) fn is_recorded(&self, work: &Work<'_>) -> bool {
        self.projection == work.projection
            && work.recorded.as_ref().is_some_and(|recorded| recorded.token == self.token)
    }

    /// Learns what a directory holds that is known to be current. Does not
    /// succeed if its list is not what it should be.
    pub(super) fn adopt(
        mut self,
        work: &mut Work<'_>,
        rows: &[Row],
    ) -> Result<Option<Self>, SinkError> {
        let applied = self.tree.apply([], rows.iter().cloned());
        let (owned, broken) = work.owned()?;
        let index = self.index(work)?;
        let mut known: BTreeSet<_> = applied.gained.into_iter().collect();
        known.extend(index.map(|(path, _)| whole(&path)));
        let listed: BTreeSet<_> = owned.lines().cloned().collect();
        if !broken.is_empty() || !known.is_subset(&listed) {
            return Ok(None);
        }
        self.keep_unread(listed.difference(&known).cloned().collect());
        self.owned = owned;
        self.refuse(applied.refused);
        Ok(Some(self))
    }

    /// Compares the directory with all rows.
    pub(super) fn compare(
        &mut self,
        work: &mut Work<'_>,
        rows: &[Row],
        deletable: impl Fn(&Line) -> bool,
    ) -> Result<Plan, SinkError> {
        let applied = self.tree.apply([], rows.iter().cloned());
        let mut wanted = Wanted { files: Vec::new(), lines: applied.gained.into_iter().collect() };
        for file in applied.files.into_iter().filter_map(named) {
            wanted.files.push(WantedFile { file, sameness: Sameness::Exact });
        }
        self.refuse(applied.refused);
        if let Some(file) = self.index(work)? {
            wanted.lines.insert(whole(&file.0));
            wanted.files.push(WantedFile { file, sameness: Sameness::ButForTime });
        }
        let (owned, broken) = work.owned()?;
        let Difference { plan, kept, contested } =
            difference(work, wanted, (&owned, broken), deletable)?;
        self.owned = owned;
        self.unwritten = contested;
        self.keep_unread(kept);
        Ok(plan)
    }

    /// Applies what has changed. Costs what the change costs, unless there is
    /// an index, which lists all rows.
    pub(super) fn since(
        &mut self,
        work: &mut Work<'_>,
        change: &Change,
    ) -> Result<Plan, SinkError> {
        let mut plan = Plan::default();
        let Change::Since { upserts, deletes, partitions } = change else { return Ok(plan) };
        let gone: BTreeSet<_> = deletes.iter().map(|one| key(&one.identity())).collect();
        let mut leaving: Vec<Key> = Vec::new();
        let mut coming: Vec<Row> = Vec::new();
        for (partition, change) in partitions {
            let rows = match change {
                PartitionChange::Replace(rows) => rows.as_slice(),
                PartitionChange::Drop => &[],
            };
            let staying: BTreeSet<_> = rows.iter().map(|row| key(&row.identity())).collect();
            let known = self.tree.rows_in(partition.place());
            let surplus = known.iter().map(|row| key(&row.identity()));
            leaving.extend(surplus.filter(|one| !staying.contains(one)));
            coming.extend(rows.iter().filter(|row| !gone.contains(&key(&row.identity()))).cloned());
            plan.lost.extend(self.forget(partition.place()));
        }
        leaving.extend(gone);
        coming.extend(upserts.iter().cloned());
        for identity in leaving.iter().cloned().chain(coming.iter().map(|row| key(&row.identity())))
        {
            self.refused.remove(&identity);
        }
        let applied = self.tree.apply(&leaving, coming);
        self.plan(work, applied, plan)
    }

    /// Whether a path that another inventory had has become free.
    pub(super) fn has_room(&self, work: &mut Work<'_>) -> Result<bool, SinkError> {
        let waiting = self.unwritten.iter().filter(|(_, one)| one.because == Because::Owned);
        let waiting: Vec<_> = waiting.map(|(path, _)| path.as_str()).collect();
        let owners = owners(work, waiting.iter().copied())?;
        Ok(owners.len() < waiting.len())
    }

    /// Writes what is planned and remembers what could not be written.
    pub(super) fn carry_out(&mut self, work: &mut Work<'_>, plan: Plan) -> Result<(), SinkError> {
        let blocked = work.carry_out(plan, &mut self.owned)?;
        self.unwritten.extend(blocked);
        Ok(())
    }

    /// Remembers under what the copy is recorded.
    pub(super) fn recorded_as(&mut self, recorded: &Recorded) {
        self.token = recorded.token.clone();
    }

    /// Rows that are not in the directory, and what is missing beside them.
    pub(super) fn refusals(&self) -> (Vec<RefusedRow>, Vec<String>) {
        let mut rows: Vec<_> = self.refused.values().cloned().collect();
        let mut others = Vec::new();
        for (path, Unwritten { reason, .. }) in &self.unwritten {
            let at = self.tree.rows_at(path);
            if at.is_empty() {
                others.push(format!("{path} is not written: {reason}"));
            }
            let row = |row: Row| RefusedRow {
                identity: row.identity().into_owned(),
                reason: reason.clone(),
            };
            rows.extend(at.into_iter().map(row));
        }
        (rows, others)
    }

    /// How many rows there are, and how to tell what they add up to.
    pub(super) fn rows(&self, known: Option<Content>) -> (usize, impl Fn() -> String) {
        let digest = move || match known {
            Some(content) => content.digest.to_string(),
            None => self.tree.digest().to_string(),
        };
        (known.map_or(self.tree.len(), |content| content.rows), digest)
    }

    /// Makes a plan of what a change means for the files.
    fn plan(
        &mut self,
        work: &mut Work<'_>,
        applied: Applied,
        mut plan: Plan,
    ) -> Result<Plan, SinkError> {
        self.refuse(applied.refused);
        for line in &applied.gained {
            self.is_read(line);
        }
        plan.gained.extend(applied.gained);
        plan.lost.extend(applied.lost);
        plan.lost.retain(|line| !plan.gained.contains(line));
        let mut writes: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let mut waiting = std::mem::take(&mut self.unwritten);
        for FileOp { path, content } in applied.files {
            match content {
                Some(content) => writes.extend([(path, content)]),
                None => drop(waiting.remove(&path)),
            }
        }
        let index = self.index(work)?;
        let index_path = index.as_ref().map(|(path, _)| path.clone());
        plan.gained.extend(index_path.as_deref().map(whole));
        writes.extend(index);
        for (path, unwritten) in waiting {
            let lines = unwritten.lines.into_iter().filter(|line| !plan.lost.contains(line));
            plan.gained.extend(lines);
            writes.entry(path).or_insert(unwritten.content);
        }
        let owned = &self.owned;
        plan.gained.retain(|line| owned.naming(&line.path).all(|one| one != line));
        self.leave_to_owners(work, &mut plan, &mut writes)?;
        for file in writes {
            let is_index = index_path.as_ref() == Some(&file.0);
            let sameness = if is_index { Sameness::ButForTime } else { Sameness::Exact };
            // A row may change without its file.
            let wanted = WantedFile { file, sameness };
            if !is_same(work, &wanted)? {
                plan.writes.push(wanted.file);
            }
        }
        Ok(plan)
    }

    /// Takes paths out of a plan that another inventory has.
    fn leave_to_owners(
        &mut self,
        work: &mut Work<'_>,
        plan: &mut Plan,
        writes: &mut BTreeMap<String, Vec<u8>>,
    ) -> Result<(), SinkError> {
        let owned = &self.owned;
        let new = plan.gained.iter().filter(|line| owned.naming(&line.path).next().is_none());
        let new: BTreeSet<_> = new.map(|line| line.path.clone()).collect();
        for (path, owner) in owners(work, new.iter().map(String::as_str))? {
            let lines: BTreeSet<_> = naming(&plan.gained, &path).cloned().collect();
            for line in &lines {
                plan.gained.remove(line);
            }
            let content = writes.remove(&path).unwrap_or_default();
            let file = (path, content);
            let unwritten = contested(work, &owner, (&file, lines));
            self.unwritten.insert(file.0, unwritten);
        }
        Ok(())
    }

    /// The index, if the layout has one.
    fn index(&self, work: &Work<'_>) -> Result<Option<Named>, SinkError> {
        let index = self.tree.index(work.export.at);
        let index = index.map_err(|error| SinkError::Unusable(chain(&error)))?;
        Ok(index.and_then(named))
    }

    fn refuse(&mut self, refused: Vec<Refused>) {
        let row = |Refused { identity, reason }| {
            (key(&identity), RefusedRow { identity, reason: chain(&reason) })
        };
        self.refused.extend(refused.into_iter().map(row));
    }

    fn keep_unread(&mut self, lines: Vec<Line>) {
        for line in lines {
            let partition = (line.target.clone(), line.namespace.clone());
            self.unread.entry(partition).or_default().insert(line);
        }
    }

    /// Notes that the tree knows a row of a line.
    fn is_read(&mut self, line: &Line) {
        // Mostly nothing is unread, and then nothing is to be looked up.
        if !self.unread.is_empty()
            && let Some(lines) = self.unread.get_mut(&(line.target.clone(), line.namespace.clone()))
        {
            lines.remove(line);
        }
    }

    /// Forgets a partition of which everything is about to be known.
    fn forget(&mut self, place: Place<'_>) -> BTreeSet<Line> {
        let (target_namespace, target_name, namespace) = place;
        self.refused.retain(|identity, _| identity.place() != place);
        let partition = (format!("{target_namespace}/{target_name}"), namespace.to_owned());
        self.unread.remove(&partition).unwrap_or_default()
    }
}

/// Whether a layout has a file for each row.
pub(super) fn is_tree(layout: &Layout) -> bool {
    layout.mode() != LayoutMode::Document
}

fn key(identity: &Identity<'_>) -> Key {
    let [group, version, kind] = Default::default();
    Identity { group, version, kind, ..identity.clone().into_owned() }
}

fn named(file: FileOp) -> Option<Named> {
    file.content.map(|content| (file.path, content))
}
