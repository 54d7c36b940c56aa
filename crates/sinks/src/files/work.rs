//! What an export does to the directory, and in which order.
//!
//! The order is what makes a killed export harmless. The record says `dirty`
//! before anything else changes; a path is listed before its file is written
//! and until after it is gone; the record is clean only when all is durable.
//! Whenever it ends early, the next comparison finds every file that is ours.

use std::{
    collections::{BTreeSet, HashSet},
    error::Error as _,
};

use kollect_inventory::{
    Confines, Effect,
    watermark::{Missing, Recorded},
};

use super::{
    abandoned, chain,
    ground::{Concluded, Ground, Named, Summary},
    neighbours::Neighbours,
    record,
};
use crate::{
    layout::{
        Layout,
        ownership::{Line, Ownership, Shard, naming},
        tree::FileOp,
    },
    sink::{Export, Receipt, RefusedRow, SinkError},
};

/// So many files are written before they get their names and before anybody is
/// asked whether to go on.
const AT_ONCE: usize = 10_000;

/// An export under way.
pub(super) struct Work<'a> {
    pub(super) ground: &'a mut dyn Ground,
    pub(super) neighbours: &'a mut Neighbours,
    pub(super) export: &'a Export,
    pub(super) layout: &'a Layout,
    /// Our own folder about the inventory.
    pub(super) home: String,
    pub(super) projection: String,
    pub(super) recorded: Option<Recorded>,
    pub(super) warnings: Vec<String>,
    spent: Spent,
    effect: Effect,
}

/// What has been written.
#[derive(Default)]
struct Spent {
    bytes: u64,
    statements: u64,
    written: u64,
    removed: u64,
}

/// What is to be changed.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Files to write.
    pub(super) writes: Vec<Named>,
    /// Which partitions come to name which paths.
    pub(super) gained: BTreeSet<Line>,
    /// Which partitions cease to; a path that none names any more loses its
    /// file.
    pub(super) lost: BTreeSet<Line>,
    /// Files of the ownership list that cannot be read and are replaced.
    pub(super) broken: Vec<Shard>,
    pub(super) unit: Unit,
}

/// What is kept when some file cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Unit {
    /// Each file is for itself: the others are written, and old ones go.
    #[default]
    File,
    /// All files are one document: the old ones stay until it is whole.
    Document,
    /// The same, and old ones stay for ever; they are nobody's then.
    DocumentAmongOthers,
}

/// A file that is not written because of its path.
#[derive(Debug)]
pub(super) struct Unwritten {
    pub(super) content: Vec<u8>,
    /// The lines that name it once it is written.
    pub(super) lines: BTreeSet<Line>,
    pub(super) because: Because,
    pub(super) reason: String,
}

/// Why a path is not written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Because {
    /// Another inventory has it.
    Owned,
    /// The file system does not take it.
    Path,
}

impl<'a> Work<'a> {
    /// Begins an export: reads what is recorded.
    pub(super) fn begin(
        (ground, neighbours): (&'a mut dyn Ground, &'a mut Neighbours),
        (export, layout): (&'a Export, &'a Layout),
        (home, projection): (String, String),
    ) -> Result<Self, SinkError> {
        let path = format!("{home}/{}", record::NAME);
        let found = ground.read("read the watermark", &path)?;
        let recorded = found.as_deref().and_then(record::decode);
        let mut warnings = Vec::new();
        if found.is_some() && recorded.is_none() {
            warnings.push(format!("{path} is no watermark and is written anew"));
        }
        let (spent, effect) = (Spent::default(), Effect::None);
        Ok(Self {
            ground,
            neighbours,
            export,
            layout,
            home,
            projection,
            recorded,
            warnings,
            spent,
            effect,
        })
    }

    /// Ends the export if nobody waits for it.
    pub(super) fn go_on(&self, bytes: usize) -> Result<(), SinkError> {
        if self.export.progress.is_abandoned() {
            return Err(abandoned(self.effect));
        }
        if bytes > 0 {
            self.export.progress.accepted(bytes as u64);
        }
        Ok(())
    }

    /// Reads our own list. What cannot be read of it is named and counts as
    /// empty, so that nothing is removed by it.
    pub(super) fn owned(&mut self) -> Result<(Ownership, Vec<Shard>), SinkError> {
        let reading = "read the ownership list";
        let mut owned = Ownership::at(&self.home);
        let mut broken = Vec::new();
        let names = self.ground.names(reading, &self.home)?;
        let shards: Vec<_> = names.iter().filter_map(|name| Shard::named(name)).collect();
        let paths: Vec<_> = shards.iter().map(|shard| owned.path(*shard)).collect();
        self.ground.foresee(&paths)?;
        for (shard, path) in shards.into_iter().zip(paths) {
            let bytes = self.ground.read(reading, &path)?.unwrap_or_default();
            if let Err(error) = owned.load(shard, &bytes) {
                self.warnings.push(format!("{path} is written anew: {error}"));
                broken.push(shard);
            }
        }
        Ok((owned, broken))
    }

    /// Partitions that the recorded document holds, or held before they went
    /// missing, and that are not known now.
    pub(super) fn missing(&self, confines: &Confines) -> Vec<Missing> {
        let Some(recorded) = &self.recorded else { return Vec::new() };
        let permits = confines.permits();
        let since = self.export.at;
        let covered = recorded.covered.iter().cloned();
        let now = covered.map(|partition| Missing { partition, since });
        let all = recorded.missing.iter().cloned().chain(now);
        let mut seen = HashSet::new();
        all.filter(|Missing { partition, .. }| {
            !permits.delete(partition.place()) && seen.insert(partition.clone())
        })
        .collect()
    }

    /// Writes what is planned, and answers with what could not be written
    /// because of its path.
    pub(super) fn carry_out(
        &mut self,
        plan: Plan,
        owned: &mut Ownership,
    ) -> Result<Vec<(String, Unwritten)>, SinkError> {
        self.ground.clear()?;
        if plan.is_empty() {
            return Ok(Vec::new());
        }
        self.mark()?;
        let Plan { writes, gained, mut lost, broken, unit } = plan;
        lost.retain(|line| !gained.contains(line));
        let listed = owned.update([], gained.iter().cloned());
        let unreadable = broken.into_iter().map(|shard| owned.path(shard));
        let unreadable: Vec<_> =
            unreadable.filter(|path| listed.iter().all(|file| file.path != *path)).collect();
        self.keep_books(listed)?;
        self.discard(&unreadable)?;
        let mut surplus = surplus(&lost, owned);
        let mut blocked = self.write(writes)?;
        if !blocked.is_empty() {
            let in_the_way = |path: &mut String| {
                blocked
                    .iter()
                    .any(|((blocked, _), _)| is_above(path, blocked) || is_above(blocked, path))
            };
            let in_the_way: Vec<_> = surplus.extract_if(.., in_the_way).collect();
            self.remove(&in_the_way)?;
            let again = blocked.into_iter().map(|(file, _)| file).collect();
            blocked = self.write(again)?;
        }
        match unit {
            Unit::Document | Unit::DocumentAmongOthers if !blocked.is_empty() => lost.clear(),
            Unit::File | Unit::Document => self.remove(&surplus)?,
            Unit::DocumentAmongOthers => {}
        }
        lost.extend(blocked.iter().flat_map(|((path, _), _)| naming(&gained, path)).cloned());
        self.keep_books(owned.update(lost, []))?;
        let unwritten = blocked.into_iter().map(|((path, content), reason)| {
            let lines = naming(&gained, &path).cloned().collect();
            (path, Unwritten { content, lines, reason, because: Because::Path })
        });
        Ok(unwritten.collect())
    }

    /// Records that the export has ended, and says what it did.
    pub(super) fn finish(
        mut self,
        recorded: Recorded,
        refused: Vec<RefusedRow>,
        (rows, checksum): (usize, &dyn Fn() -> String),
    ) -> Result<Receipt, SinkError> {
        self.go_on(0)?;
        self.put_record(&recorded)?;
        let Spent { bytes, statements: files, written, removed } = self.spent;
        let (export, layout) = (self.export, self.layout);
        let concluded = self.ground.conclude(Summary {
            export,
            layout,
            rows,
            checksum,
            written,
            removed,
            bytes,
            files,
        })?;
        let Concluded { wrote, bytes, statements } = concluded;
        Ok(Receipt {
            wrote,
            token: Some(recorded.token),
            checksum: None,
            bytes,
            statements,
            refused,
            warnings: self.warnings,
        })
    }

    /// Says in the record that an export is under way. Without a record there
    /// is nothing that could be believed wrongly.
    fn mark(&mut self) -> Result<(), SinkError> {
        self.go_on(0)?;
        if self.ground.is_atomic() {
            return Ok(());
        }
        if let Some(recorded) = self.recorded.clone().filter(|recorded| !recorded.dirty) {
            self.put_record(&Recorded { dirty: true, ..recorded })?;
        }
        self.ground.begin();
        self.effect = Effect::Unknown;
        Ok(())
    }

    fn put_record(&mut self, recorded: &Recorded) -> Result<(), SinkError> {
        let content = record::encode(recorded)
            .map_err(|error| SinkError::Unusable(format!("the watermark: {}", chain(&error))))?;
        let path = format!("{}/{}", self.home, record::NAME);
        self.put("write the watermark", vec![(path, content)])
    }

    /// Writes and removes files of our own list.
    fn keep_books(&mut self, files: Vec<FileOp>) -> Result<(), SinkError> {
        self.go_on(0)?;
        let (mut writes, mut gone) = (Vec::new(), Vec::new());
        for FileOp { path, content } in files {
            match content {
                Some(content) => writes.push((path, content)),
                None => gone.push(path),
            }
        }
        self.put("write the ownership list", writes)?;
        self.discard(&gone)
    }

    fn discard(&mut self, gone: &[String]) -> Result<(), SinkError> {
        self.spent.statements += self.ground.remove("write the ownership list", gone)?;
        Ok(())
    }

    /// Writes files of our own, whose paths are always usable.
    fn put(&mut self, action: &'static str, files: Vec<Named>) -> Result<(), SinkError> {
        if files.is_empty() {
            return Ok(());
        }
        let (count, bytes) = (files.len() as u64, size(&files));
        let blocked = self.ground.write(action, files)?;
        if let Some((_, error)) = blocked.into_iter().next() {
            return Err(error);
        }
        self.spent.statements += count;
        self.spent.bytes += bytes;
        Ok(())
    }

    /// Writes content, and answers with what is blocked and by what.
    fn write(&mut self, files: Vec<Named>) -> Result<Vec<(Named, String)>, SinkError> {
        let mut blocked = Vec::new();
        let mut rest = files.into_iter();
        loop {
            let chunk: Vec<_> = rest.by_ref().take(AT_ONCE).collect();
            if chunk.is_empty() {
                return Ok(blocked);
            }
            let (all, bytes) = (chunk.len() as u64, size(&chunk));
            let refused = self.ground.write("write files", chunk)?;
            let count = all - refused.len() as u64;
            let bytes = bytes - refused.iter().map(|((_, one), _)| one.len() as u64).sum::<u64>();
            blocked.extend(refused.into_iter().map(|(file, error)| (file, why(&error))));
            self.spent.bytes += bytes;
            self.spent.statements += count;
            self.spent.written += count;
            self.go_on(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        }
    }

    /// Removes content.
    fn remove(&mut self, paths: &[String]) -> Result<(), SinkError> {
        self.go_on(0)?;
        for chunk in paths.chunks(AT_ONCE) {
            let removed = self.ground.remove("remove files", chunk)?;
            self.spent.statements += removed;
            self.spent.removed += removed;
            self.go_on(chunk.len())?;
        }
        Ok(())
    }
}

/// The paths of ours that no line names without the lost ones.
fn surplus(lost: &BTreeSet<Line>, owned: &Ownership) -> Vec<String> {
    let ours = lost.iter().filter(|line| owned.naming(&line.path).any(|one| one == *line));
    let mut paths: Vec<_> = ours.map(|line| &line.path).collect();
    paths.dedup();
    paths.retain(|path| owned.naming(path).all(|line| lost.contains(line)));
    paths.into_iter().cloned().collect()
}

/// Whether one path would have to be a folder for the other.
fn is_above(folder: &str, path: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

impl Plan {
    fn is_empty(&self) -> bool {
        let Self { writes, gained, lost, broken, unit: _ } = self;
        writes.is_empty() && gained.is_empty() && lost.is_empty() && broken.is_empty()
    }
}

fn size(files: &[Named]) -> u64 {
    files.iter().map(|(_, content)| content.len() as u64).sum()
}

/// What a path is blocked by, without what was being done.
fn why(error: &SinkError) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}
