//! Copies that consist of files, wherever the files are: in a directory, or on
//! a branch.
//!
//! Below `.kollect` are our own files: for each inventory its watermark and
//! the list of the paths that it has. Files that no list names are nobody's:
//! whoever wants their path takes it, and nobody removes them.

pub(crate) mod ground;
mod work;
mod copy;
mod document;
mod difference;
pub(crate) mod neighbours;
mod read_back;
pub(crate) mod record;

use std::{
    collections::HashMap,
    error::Error,
    sync::{Mutex, MutexGuard, PoisonError},
};

use kollect_api::{Format, SnapshotSinkSpec};
use kollect_inventory::{Change, Effect, digest::hexadecimal, watermark::Step};
use sha2::{Digest as _, Sha256};

use self::{
    copy::{Copy, is_tree},
    difference::place,
    ground::Ground,
    neighbours::Neighbours,
    work::Work,
};
use crate::{
    layout::{
        Layout,
        ownership::{self, Line, Shard},
        path::private_folder,
    },
    sink::{Export, Farewell, InventoryKey, Receipt, SinkError, Wrote},
};

/// Raised whenever equal rows and settings come to give other bytes.
const ENCODER: u32 = 1;

/// What a sink of files knows: what was asked for, and the trees that it has
/// written, as it left them.
#[derive(Debug)]
pub(crate) struct Copies {
    spec: SnapshotSinkSpec,
    /// One that is missing is learnt by the next comparison.
    trees: Mutex<HashMap<InventoryKey, Copy>>,
}

impl Copies {
    pub(crate) fn new(spec: SnapshotSinkSpec) -> Self {
        Self { spec, trees: Mutex::default() }
    }

    /// How the rows of an export are laid out.
    pub(crate) fn layout(&self, export: &Export) -> Result<Layout, SinkError> {
        Layout::resolve(&self.spec, &export.schema)
            .map_err(|error| SinkError::Unusable(chain(&error)))
    }

    /// Forgets what is known about a copy: the next partial change of it asks
    /// for everything.
    pub(crate) fn forget(&self, inventory: &InventoryKey) {
        self.trees().remove(inventory);
    }

    /// Our own folder about an inventory.
    pub(crate) fn home(&self, inventory: &InventoryKey) -> Result<String, SinkError> {
        private_folder(self.cluster(), inventory)
            .map_err(|error| SinkError::Unusable(chain(&error)))
    }

    /// The name of the cluster as it was written, perhaps blank.
    pub(crate) fn cluster(&self) -> &str {
        self.spec.common.cluster.as_deref().map(str::trim).unwrap_or_default()
    }

    /// Brings a copy up to date.
    pub(crate) fn export(
        &self,
        export: &Export,
        layout: &Layout,
        (ground, neighbours): (&mut dyn Ground, &mut Neighbours),
    ) -> Result<Receipt, SinkError> {
        let home = self.home(&export.inventory)?;
        let projection = self.projection(layout, export);
        let work = Work::begin((ground, neighbours), (export, layout), (home, projection))?;
        let step = export.judge(work.recorded.as_ref(), &work.projection)?;
        if is_tree(layout) {
            return self.export_tree(work, step);
        }
        self.forget(&export.inventory);
        match step {
            Step::Nothing => Ok(Receipt::unchanged(work.recorded.as_ref())),
            Step::Apply | Step::Compare => {
                document::export(work, self.cluster(), prunes(&self.spec, layout))
            }
        }
    }

    /// Brings a tree up to date. What is known about it is put back only when
    /// all went well: else the next partial change asks for everything.
    fn export_tree(&self, mut work: Work<'_>, step: Step) -> Result<Receipt, SinkError> {
        let export = work.export;
        let known = self.trees().remove(&export.inventory).filter(|copy| copy.is_recorded(&work));
        let (mut copy, plan, missing) = match (&*export.change, known) {
            (Change::All { rows, .. }, _) if step == Step::Nothing => {
                return Ok(match Copy::new(&work)?.adopt(&mut work, rows)? {
                    Some(copy) => self.unchanged(&work, copy),
                    None => Receipt {
                        warnings: work.warnings,
                        ..Receipt::unchanged(work.recorded.as_ref())
                    },
                });
            }
            (Change::All { rows, confines }, _) => {
                // A document from before may hold what cannot be read now.
                let missing = work.missing(confines);
                let permits = confines.permits();
                let deletable = |line: &Line| match place(line) {
                    Some(place) => permits.delete(place),
                    None => missing.is_empty(),
                };
                let mut copy = Copy::new(&work)?;
                let plan = copy.compare(&mut work, rows, deletable)?;
                (copy, plan, missing)
            }
            (Change::Since { .. }, None) if step == Step::Nothing => {
                return Ok(Receipt::unchanged(work.recorded.as_ref()));
            }
            (Change::Since { .. }, None) => return Err(SinkError::OutOfStep),
            (Change::Since { .. }, Some(mut copy)) => {
                if step == Step::Nothing && !copy.has_room(&mut work)? {
                    return Ok(self.unchanged(&work, copy));
                }
                let plan = copy.since(&mut work, &export.change)?;
                let missing = work.recorded.as_ref().map(|recorded| recorded.missing.clone());
                (copy, plan, missing.unwrap_or_default())
            }
        };
        copy.carry_out(&mut work, plan)?;
        let (refused, others) = copy.refusals();
        let mut recorded = export.record(&work.projection, &refused);
        recorded.content = recorded.content.filter(|_| others.is_empty() && missing.is_empty());
        recorded.covered.clear();
        recorded.missing = missing;
        work.warnings.extend(others);
        copy.recorded_as(&recorded);
        let receipt = {
            let (rows, digest) = copy.rows(export.watermark.content);
            work.finish(recorded, refused, (rows, &digest))?
        };
        self.trees().insert(export.inventory.clone(), copy);
        Ok(receipt)
    }

    /// Leaves a tree as it is.
    fn unchanged(&self, work: &Work<'_>, mut copy: Copy) -> Receipt {
        let (refused, others) = copy.refusals();
        if let Some(recorded) = &work.recorded {
            copy.recorded_as(recorded);
        }
        self.trees().insert(work.export.inventory.clone(), copy);
        let warnings = work.warnings.iter().cloned().chain(others).collect();
        Receipt { refused, warnings, ..Receipt::unchanged(work.recorded.as_ref()) }
    }

    /// Takes leave of an inventory: its record and its list go, and its files
    /// too if that was asked for.
    pub(crate) fn retire(
        &self,
        inventory: &InventoryKey,
        farewell: Farewell,
        ground: &mut dyn Ground,
    ) -> Result<Receipt, SinkError> {
        let home = self.home(inventory)?;
        self.forget(inventory);
        let reading = "read the ownership list";
        let names = ground.names(reading, &home)?;
        ground.begin();
        let mut receipt = Receipt::unchanged(None);
        // Without its record a half removed copy is not taken for a current one.
        let record = format!("{home}/{}", record::NAME);
        let removing = "remove files";
        receipt.statements += ground.remove(removing, &[record])?;
        let prune = self.spec.common.options.get("onInventoryDelete");
        if farewell == Farewell::Deleted && prune.is_some_and(|choice| choice == "prune") {
            let mut paths = Vec::new();
            for shard in names.iter().filter_map(|name| Shard::named(name)) {
                let file = format!("{home}/{}", shard.name());
                let bytes = ground.read(reading, &file)?.unwrap_or_default();
                match ownership::parse(shard, &bytes) {
                    Ok(lines) => paths.extend(lines.into_iter().map(|line| line.path)),
                    Err(error) => receipt.warnings.push(format!("{file} is given up: {error}")),
                }
            }
            paths.dedup();
            let removed = ground.remove(removing, &paths)?;
            receipt.statements += removed;
            receipt.wrote = Wrote::Files { written: 0, removed };
        }
        let ours: Vec<_> = names.iter().map(|name| format!("{home}/{name}")).collect();
        receipt.statements += ground.remove(removing, &ours)?;
        Ok(receipt)
    }

    /// Everything beside the rows that decides what is written.
    ///
    /// The generation is part of it only where it can be seen. The cluster is
    /// as it was written, because documents tell a missing one from `default`.
    fn projection(&self, layout: &Layout, export: &Export) -> String {
        let described = layout.describe();
        let is_document = !is_tree(layout);
        let shows_generation =
            described.contains("{generation}") || (is_document && layout.format() == Format::Json);
        let limit = export.limit.filter(|_| is_document);
        let generation = Some(export.generation).filter(|_| shows_generation);
        let cluster = self.cluster();
        let text = format!("file {ENCODER}\n{described}{cluster:?} {limit:?} {generation:?}\n");
        hexadecimal(&Sha256::digest(text.as_bytes())).chars().take(16).collect()
    }

    fn trees(&self) -> MutexGuard<'_, HashMap<InventoryKey, Copy>> {
        // A copy is taken out while it changes, so that none is half changed.
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether files that are no longer written are removed.
pub(crate) fn prunes(spec: &SnapshotSinkSpec, layout: &Layout) -> bool {
    let of_git = spec.git.as_ref().and_then(|git| git.prune);
    is_tree(layout) || of_git.unwrap_or(true)
}

/// Nobody waits for the outcome.
pub(crate) fn abandoned(effect: Effect) -> SinkError {
    SinkError::Rejected { detail: "nobody waits for it".to_owned(), effect }
}

/// An error and what caused it, in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
