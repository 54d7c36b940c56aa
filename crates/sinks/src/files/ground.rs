//! Where copies that consist of files are written to.

use crate::{
    layout::Layout,
    sink::{Export, SinkError, Wrote},
};

/// The folder of our own files. No content can have a path in it.
pub(crate) const OURS: &str = ".kollect";

/// A file and what it holds.
pub(crate) type Named = (String, Vec<u8>);

/// A place for files that one export at a time works on: a directory, or the
/// tip of a branch.
///
/// Whoever cannot change all files at once changes each of them durably, in
/// the order of the calls. Whoever can does so in `conclude`, and nothing is
/// seen of the export before.
pub(crate) trait Ground {
    /// Whether nothing is seen before `conclude`.
    fn is_atomic(&self) -> bool;

    /// What a file of ours holds, if it is there.
    fn read(&mut self, action: &'static str, path: &str) -> Result<Option<Vec<u8>>, SinkError>;

    /// What stands in the place of a file, if it can be compared with one. A
    /// link is never followed to its file: it is replaced.
    fn present(&mut self, path: &str) -> Result<Option<Vec<u8>>, SinkError>;

    /// Whether a file holds exactly this.
    fn holds(&mut self, path: &str, content: &[u8]) -> Result<bool, SinkError>;

    /// What tells whether a file of ours has been replaced.
    fn stamp(&mut self, path: &str) -> Result<Option<Stamp>, SinkError>;

    /// The names in a folder of ours, in order; none if it is not there.
    fn names(&mut self, action: &'static str, path: &str) -> Result<Vec<String>, SinkError>;

    /// Says which files are about to be read, so that they come at once.
    fn foresee(&mut self, _paths: &[String]) -> Result<(), SinkError> {
        Ok(())
    }

    /// Says that files change from here on: what fails later may have left
    /// something behind.
    fn begin(&mut self) {}

    /// Removes what an export that was killed has left behind.
    fn clear(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    /// Writes files, and answers with those whose path cannot be used and why.
    fn write(
        &mut self,
        action: &'static str,
        files: Vec<Named>,
    ) -> Result<Vec<(Named, SinkError)>, SinkError>;

    /// Removes files, and the folders that become empty by it; answers how
    /// many were there.
    fn remove(&mut self, action: &'static str, paths: &[String]) -> Result<u64, SinkError>;

    /// Ends the export: everything is durable afterwards.
    fn conclude(&mut self, summary: Summary<'_>) -> Result<Concluded, SinkError>;
}

/// What tells a file from one that has replaced it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(pub(crate) Vec<u64>);

/// What an export has come to.
#[derive(Clone, Copy)]
pub(crate) struct Summary<'a> {
    pub(crate) export: &'a Export,
    pub(crate) layout: &'a Layout,
    /// How many rows the copy holds, and what tells them from others.
    pub(crate) rows: usize,
    pub(crate) checksum: &'a dyn Fn() -> String,
    /// How many files of content were written and removed.
    pub(crate) written: u64,
    pub(crate) removed: u64,
    /// What all of them took, with those of our own.
    pub(crate) bytes: u64,
    pub(crate) files: u64,
}

/// What was made durable, and what that took.
#[derive(Debug)]
pub(crate) struct Concluded {
    pub(crate) wrote: Wrote,
    pub(crate) bytes: u64,
    pub(crate) statements: u64,
}

impl Summary<'_> {
    /// Everything was durable before.
    pub(crate) fn as_files(&self) -> Concluded {
        let Self { written, removed, bytes, files, .. } = *self;
        Concluded { wrote: Wrote::Files { written, removed }, bytes, statements: files }
    }
}
