//! A look at what a copy holds, for those who want to see and not to write.

use std::{collections::HashMap, path::PathBuf};

use super::{
    error::Fault,
    local::LocalRemote,
    object::{self, Entry, Id, Kind, Mode},
    remote::Remote as _,
};

/// A branch of a bare repository on this machine, as whoever clones it sees it.
#[derive(Debug)]
pub struct GitBranch(LocalRemote);

/// Why a branch cannot be looked at.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the repository")]
pub struct Unreadable(#[source] Fault);

impl<F: Into<Fault>> From<F> for Unreadable {
    fn from(fault: F) -> Self {
        Self(fault.into())
    }
}

/// A path, and what the file there holds; nothing if it has gone.
type Difference = (String, Option<Vec<u8>>);

/// A name in a tree, and what it stands for.
type Named = (String, (Mode, Id));

impl GitBranch {
    pub fn new(path: PathBuf, branch: &str) -> Self {
        Self(LocalRemote::new(path, branch))
    }

    /// The commit that the branch is at, if there is one.
    pub fn tip(&mut self) -> Result<Option<String>, Unreadable> {
        Ok(self.0.tip()?.map(|id| id.to_string()))
    }

    /// The commit before another one, if there is one.
    pub fn parent(&mut self, commit: &str) -> Result<Option<String>, Unreadable> {
        let content = self.of_kind(commit.parse()?, Kind::Commit)?;
        let mut lines = content.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
        let digits = lines.find_map(|line| line.strip_prefix(b"parent "));
        Ok(digits.and_then(Id::from_hex).map(|id| id.to_string()))
    }

    /// The files of a commit that are not so in an older one, in no order; all
    /// of them if there is no older one.
    pub fn differences(
        &mut self,
        old: Option<&str>,
        new: &str,
    ) -> Result<Vec<Difference>, Unreadable> {
        let old = old.map(|old| self.tree_of(old.parse()?)).transpose()?;
        let new = self.tree_of(new.parse()?)?;
        let mut found = Vec::new();
        let mut waiting = vec![(String::new(), old, Some(new))];
        while let Some((path, old, new)) = waiting.pop() {
            if old == new {
                continue;
            }
            let mut before: HashMap<_, _> = self.entries(old)?.into_iter().collect();
            let after = self.entries(new)?;
            let mut pairs = Vec::new();
            for (name, entry) in after {
                pairs.push((before.remove(&name), name, Some(entry)));
            }
            pairs.extend(before.into_iter().map(|(name, entry)| (Some(entry), name, None)));
            for (before, name, after) in pairs {
                let path = if path.is_empty() { name } else { format!("{path}/{name}") };
                let of = |wanted: Mode, one: Option<(Mode, Id)>| {
                    one.filter(|(mode, _)| *mode == wanted).map(|(_, id)| id)
                };
                let files = (of(Mode::File, before), of(Mode::File, after));
                if files.0 != files.1 {
                    let content = files.1.map(|id| self.of_kind(id, Kind::Blob)).transpose()?;
                    found.push((path.clone(), content));
                }
                waiting.push((path, of(Mode::Folder, before), of(Mode::Folder, after)));
            }
        }
        Ok(found)
    }

    /// What is in a tree; nothing is in none.
    fn entries(&mut self, tree: Option<Id>) -> Result<Vec<Named>, Unreadable> {
        let Some(tree) = tree else { return Ok(Vec::new()) };
        let content = self.of_kind(tree, Kind::Tree)?;
        let mut entries = Vec::new();
        for entry in object::entries(&content) {
            let entry: Entry<'_> = entry?;
            let name = String::from_utf8_lossy(entry.name).into_owned();
            entries.push((name, (entry.kind(), entry.id)));
        }
        Ok(entries)
    }

    fn tree_of(&mut self, commit: Id) -> Result<Id, Unreadable> {
        Ok(object::tree_of(&self.of_kind(commit, Kind::Commit)?)?)
    }

    fn of_kind(&mut self, id: Id, wanted: Kind) -> Result<Vec<u8>, Unreadable> {
        match self.0.object(id)? {
            Some((kind, content)) if kind == wanted => Ok(content),
            Some((kind, _)) => {
                let (kind, wanted) = (kind.name(), wanted.name());
                Err(Fault::protocol(format!("{id} is a {kind} and no {wanted}")).into())
            }
            None => Err(Fault::protocol(format!("the {} {id} is missing", wanted.name())).into()),
        }
    }
}
