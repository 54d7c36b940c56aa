//! What has to change for a directory to hold what is wanted.

use std::collections::{BTreeMap, BTreeSet};

use kollect_inventory::Place;

use super::{
    ground::Named,
    work::{Because, Plan, Unwritten, Work},
};
use crate::{
    layout::{
        manifest::same_but_for_time,
        ownership::{Line, Ownership, Shard, naming},
    },
    sink::SinkError,
};

/// So many files are compared before anybody is asked whether to go on.
const AT_ONCE: usize = 1000;

/// Everything that should be there.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub(super) files: Vec<WantedFile>,
    pub(super) lines: BTreeSet<Line>,
}

#[derive(Debug)]
pub(super) struct WantedFile {
    pub(super) file: Named,
    pub(super) sameness: Sameness,
}

/// When a file counts as unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sameness {
    /// When every byte is the same.
    Exact,
    /// When only the time of its export differs.
    ButForTime,
}

/// The outcome of a comparison.
#[derive(Debug, Default)]
pub(super) struct Difference {
    pub(super) plan: Plan,
    /// Lines that are not wanted and may not be deleted.
    pub(super) kept: Vec<Line>,
    /// Files whose path belongs to another inventory.
    pub(super) contested: BTreeMap<String, Unwritten>,
}

/// Compares the directory with what is wanted in it.
pub(super) fn difference(
    work: &mut Work<'_>,
    wanted: Wanted,
    (owned, broken): (&Ownership, Vec<Shard>),
    deletable: impl Fn(&Line) -> bool,
) -> Result<Difference, SinkError> {
    let Wanted { files, lines } = wanted;
    let ours: BTreeSet<&Line> = owned.lines().collect();
    let our_paths: BTreeSet<&str> = ours.iter().map(|line| line.path.as_str()).collect();
    let new: BTreeSet<_> = files
        .iter()
        .map(|wanted| wanted.file.0.as_str())
        .filter(|path| !our_paths.contains(path))
        .collect();
    let owners = owners(work, new)?;
    let mut found = Difference::default();
    for (at, wanted) in files.into_iter().enumerate() {
        if at % AT_ONCE == 0 {
            work.go_on(AT_ONCE)?;
        }
        let (path, _) = &wanted.file;
        if let Some(owner) = owners.get(path) {
            let lines = naming(&lines, path).cloned().collect();
            let unwritten = contested(work, owner, (&wanted.file, lines));
            found.contested.insert(path.clone(), unwritten);
        } else if !is_same(work, &wanted)? {
            found.plan.writes.push(wanted.file);
        }
    }
    for line in ours.iter().copied().filter(|line| !lines.contains(*line)).cloned() {
        if deletable(&line) {
            found.plan.lost.insert(line);
        } else {
            found.kept.push(line);
        }
    }
    let gained =
        lines.iter().filter(|line| !ours.contains(line) && !owners.contains_key(&line.path));
    found.plan.gained = gained.cloned().collect();
    found.plan.broken = broken;
    Ok(found)
}

/// Who owns each of the paths that are not free.
pub(super) fn owners<'a>(
    work: &mut Work<'_>,
    paths: impl IntoIterator<Item = &'a str>,
) -> Result<BTreeMap<String, String>, SinkError> {
    let Work { ground, neighbours, home, .. } = work;
    neighbours.owners(*ground, home, paths)
}

/// A file whose path another inventory has.
pub(super) fn contested(
    work: &Work<'_>,
    owner: &str,
    ((path, content), lines): (&Named, BTreeSet<Line>),
) -> Unwritten {
    let inventory = &work.export.inventory;
    let reason = format!("the path {path:?} of {inventory} belongs to {owner}");
    Unwritten { content: content.clone(), lines, because: Because::Owned, reason }
}

/// Whether a file need not be written.
pub(super) fn is_same(work: &mut Work<'_>, wanted: &WantedFile) -> Result<bool, SinkError> {
    let (path, content) = &wanted.file;
    match wanted.sameness {
        Sameness::Exact => work.ground.holds(path, content),
        Sameness::ButForTime => {
            let found = work.ground.present(path)?;
            Ok(found.is_some_and(|found| same_but_for_time(&found, content)))
        }
    }
}

/// The line of a file that holds no rows of single partitions: a document, or
/// an index. The targets of partitions always have a slash.
pub(super) fn whole(path: &str) -> Line {
    Line { path: path.to_owned(), target: String::new(), namespace: String::new() }
}

/// Where the rows of a line are; nowhere for a whole file.
pub(super) fn place(line: &Line) -> Option<Place<'_>> {
    let (namespace, name) = line.target.split_once('/')?;
    Some((namespace, name, &line.namespace))
}
