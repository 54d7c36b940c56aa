//! Copies as files in a directory, laid out as in a Git repository.
//!
//! Below `.kollect` in the directory are our own files: for each inventory its
//! watermark and the list of the paths that it has. Files that no list names
//! are nobody's: whoever wants their path takes it, and nobody removes them.

pub(crate) mod destination;
mod work;
mod copy;
mod document;
mod difference;
mod neighbours;
mod read_back;
mod record;
mod folder;
mod fault;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use kollect_api::{Format, SnapshotSinkSpec};
use kollect_inventory::{Change, Effect, digest::hexadecimal, watermark::Step};
use sha2::{Digest as _, Sha256};
use tokio::task;

use self::{
    copy::{Copy, is_tree},
    destination::FileDestination,
    difference::place,
    fault::{abandoned, chain, during},
    work::Work,
};
use crate::{
    layout::{
        Layout,
        ownership::{self, Line, Shard},
        path::private_folder,
    },
    progress::Progress,
    sink::{Export, Farewell, InventoryKey, Receipt, Sink, SinkError, Wrote},
};

/// Raised whenever equal rows and settings come to give other bytes.
const ENCODER: u32 = 1;

/// Keeps copies of inventories as files in a directory.
#[derive(Debug)]
pub struct FileSink(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    destination: Arc<FileDestination>,
    spec: SnapshotSinkSpec,
    /// The trees that we have written, as we left them. One that is missing is
    /// learnt by the next comparison.
    copies: Mutex<HashMap<InventoryKey, Copy>>,
}

impl FileSink {
    /// A sink for a directory, laid out as the specification says.
    pub fn new(destination: Arc<FileDestination>, spec: SnapshotSinkSpec) -> Self {
        Self(Arc::new(Shared { destination, spec, copies: Mutex::default() }))
    }

    /// Runs something that waits for the disk.
    async fn blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Shared) -> Result<T, SinkError> + Send + 'static,
    ) -> Result<T, SinkError> {
        let shared = Arc::clone(&self.0);
        let done = task::spawn_blocking(move || job(&shared)).await;
        done.unwrap_or_else(|error| {
            let (action, effect) = ("finish what was begun", Effect::Unknown);
            Err(SinkError::Unreachable { action, effect, source: Arc::new(error) })
        })
    }
}

#[async_trait]
impl Sink for FileSink {
    async fn probe(&self) -> Result<String, SinkError> {
        self.blocking(Shared::probe).await
    }

    async fn export(&self, export: &Export) -> Result<Receipt, SinkError> {
        let export = export.clone();
        self.blocking(move |shared| shared.export(&export)).await
    }

    /// A path may become free without a change of its row.
    fn lists_refusals(&self) -> bool {
        true
    }

    async fn retire(
        &self,
        inventory: &InventoryKey,
        farewell: Farewell,
    ) -> Result<Receipt, SinkError> {
        let inventory = inventory.clone();
        self.blocking(move |shared| shared.retire(&inventory, farewell)).await
    }
}

impl Shared {
    fn probe(&self) -> Result<String, SinkError> {
        let session = self.destination.enter(&Progress::default())?;
        session.folder.try_out().map_err(during("write a file", Effect::None))?;
        Ok(format!("files can be written to {}", self.destination.path().display()))
    }

    fn export(&self, export: &Export) -> Result<Receipt, SinkError> {
        let layout = Layout::resolve(&self.spec, &export.schema)
            .map_err(|error| SinkError::Unusable(chain(&error)))?;
        let home = self.home(&export.inventory)?;
        let projection = self.projection(&layout, export);
        let session = self.destination.enter(&export.progress)?;
        if export.progress.is_abandoned() {
            return Err(abandoned(Effect::None));
        }
        let work = Work::begin(session, export, (home, projection))?;
        let step = export.judge(work.recorded.as_ref(), &work.projection)?;
        if is_tree(&layout) {
            return self.export_tree(work, layout, step);
        }
        self.copies().remove(&export.inventory);
        match step {
            Step::Nothing => Ok(Receipt::unchanged(work.recorded.as_ref())),
            Step::Apply | Step::Compare => document::export(work, &layout, self.cluster()),
        }
    }

    /// Brings a tree up to date. What is known about it is put back only when
    /// all went well: else the next partial change asks for everything.
    fn export_tree(
        &self,
        mut work: Work<'_>,
        layout: Layout,
        step: Step,
    ) -> Result<Receipt, SinkError> {
        let export = work.export;
        let known = self.copies().remove(&export.inventory).filter(|copy| copy.is_recorded(&work));
        let (mut copy, plan, missing) = match (&*export.change, known) {
            (Change::All { rows, .. }, _) if step == Step::Nothing => {
                return Ok(match Copy::new(&work, layout)?.adopt(&mut work, rows)? {
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
                let mut copy = Copy::new(&work, layout)?;
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
        let receipt = work.finish(recorded, refused)?;
        self.copies().insert(export.inventory.clone(), copy);
        Ok(receipt)
    }

    /// Leaves a tree as it is.
    fn unchanged(&self, work: &Work<'_>, mut copy: Copy) -> Receipt {
        let (refused, others) = copy.refusals();
        if let Some(recorded) = &work.recorded {
            copy.recorded_as(recorded);
        }
        self.copies().insert(work.export.inventory.clone(), copy);
        let warnings = work.warnings.iter().cloned().chain(others).collect();
        Receipt { refused, warnings, ..Receipt::unchanged(work.recorded.as_ref()) }
    }

    fn retire(&self, inventory: &InventoryKey, farewell: Farewell) -> Result<Receipt, SinkError> {
        let home = self.home(inventory)?;
        let session = self.destination.enter(&Progress::default())?;
        self.copies().remove(inventory);
        let folder = &session.folder;
        let reading = during("read the ownership list", Effect::None);
        let names = folder.names(&home).map_err(&reading)?;
        let mut receipt = Receipt::unchanged(None);
        // Without its record a half removed copy is not taken for a current one.
        let record = format!("{home}/{}", record::NAME);
        let removing = during("remove files", Effect::Unknown);
        receipt.statements += folder.remove([record.as_str()]).map_err(&removing)?;
        let prune = self.spec.common.options.get("onInventoryDelete");
        if farewell == Farewell::Deleted && prune.is_some_and(|choice| choice == "prune") {
            let mut paths = Vec::new();
            for shard in names.iter().filter_map(|name| Shard::named(name)) {
                let file = format!("{home}/{}", shard.name());
                let bytes = folder.read(&file).map_err(&reading)?.unwrap_or_default();
                match ownership::parse(shard, &bytes) {
                    Ok(lines) => paths.extend(lines.into_iter().map(|line| line.path)),
                    Err(error) => receipt.warnings.push(format!("{file} is given up: {error}")),
                }
            }
            paths.dedup();
            let removed = folder.remove(paths.iter().map(String::as_str)).map_err(&removing)?;
            receipt.statements += removed;
            receipt.wrote = Wrote::Files { written: 0, removed };
        }
        let ours: Vec<_> = names.iter().map(|name| format!("{home}/{name}")).collect();
        receipt.statements += folder.remove(ours.iter().map(String::as_str)).map_err(&removing)?;
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

    fn home(&self, inventory: &InventoryKey) -> Result<String, SinkError> {
        private_folder(self.cluster(), inventory)
            .map_err(|error| SinkError::Unusable(chain(&error)))
    }

    fn cluster(&self) -> &str {
        self.spec.common.cluster.as_deref().map(str::trim).unwrap_or_default()
    }

    fn copies(&self) -> MutexGuard<'_, HashMap<InventoryKey, Copy>> {
        // A copy is taken out while it changes, so that none is half changed.
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
