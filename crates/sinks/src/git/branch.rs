//! The tip of a branch as a place for files.

use std::{collections::HashMap, time::Duration};

use kollect_api::PushPolicy;
use kollect_inventory::Effect;

use super::{
    error::Fault,
    known::Known,
    object::{self, Commit, Id, Kind, Mode},
    objects::Tree,
    pack::{Finished, Pack},
    remote::{Push, Pushed},
    settings::GitSettings,
    stage::{Care, Made, Misfit, Reader, Seen, Stage},
};
use crate::{
    files::{
        ground::{Concluded, Ground, Named, OURS, Stamp, Summary},
        record,
    },
    progress::Progress,
    sink::{SinkError, Wrote},
};

/// How often a branch that others write to is tried.
const TRIES: u32 = 10;

/// Trees and files of a branch, with changes that are not pushed yet.
pub(super) struct Branch<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) known: &'a mut Known,
    pub(super) settings: &'a GitSettings,
    pub(super) progress: &'a Progress,
    pub(super) writer: &'a str,
    /// Our own folder about the inventory.
    pub(super) home: &'a str,
    /// What the branch is at, and what it is expected to be at when we push.
    pub(super) tip: Option<Id>,
    /// What our commit follows, and its tree.
    pub(super) parent: Option<Id>,
    pub(super) root: Option<Id>,
    pub(super) stage: Stage,
    /// Files that are new.
    pub(super) files: HashMap<Id, Vec<u8>>,
}

/// A commit that has not been pushed.
struct Draft {
    id: Id,
    root: Id,
    made: Made,
    pack: Finished,
}

/// Who commits, when, and why.
pub(super) struct Occasion<'a> {
    pub(super) message: &'a str,
    pub(super) seconds: i64,
}

impl Branch<'_> {
    fn look(&mut self, path: &str) -> Result<Seen, Fault> {
        self.stage.look(self.root, path, &mut self.reader)
    }

    fn content(&mut self, id: Id) -> Result<Vec<u8>, Fault> {
        match self.files.get(&id) {
            Some(content) => Ok(content.clone()),
            None => Ok(self.reader.file(id)?.to_vec()),
        }
    }

    /// Commits the changes and pushes them, however often others are faster;
    /// nothing if nothing is different.
    pub(super) fn commit(
        &mut self,
        occasion: &Occasion<'_>,
    ) -> Result<Option<(Id, u64, u64)>, SinkError> {
        let fault = |fault: Fault| fault.during("make a commit", Effect::None);
        let mut care = Care::None;
        for again in 0..TRIES {
            if again > 0 {
                self.pause(again);
                self.advance()?;
                care = Care::Full;
            }
            let built = self.stage.build(self.root, care, &mut self.reader);
            let (root, made) = built.map_err(|misfit| match misfit {
                Misfit::Fault(error) => fault(error),
                Misfit::Occupied => SinkError::OutOfStep,
            })?;
            if root == self.root && self.parent.is_some() {
                return Ok(None);
            }
            let draft = self.draft((root, made), occasion).map_err(fault)?;
            if self.progress.is_abandoned() {
                return Err(crate::files::abandoned(Effect::None));
            }
            let push =
                Push { old: self.tip, new: draft.id, pack: &draft.pack, writer: self.writer };
            let pushed = self.reader.remote.push(&push);
            match pushed.map_err(|error| error.fault.during("push a commit", error.effect))? {
                Pushed::Done => {
                    let size = (draft.pack.bytes.len() as u64, draft.pack.objects.len() as u64);
                    let id = draft.id;
                    self.arrived(draft);
                    return Ok(Some((id, size.0, size.1)));
                }
                Pushed::Moved => {}
            }
        }
        Err(SinkError::Unsteady)
    }

    /// Waits a little, the longer the more often others were faster.
    fn pause(&self, again: u32) {
        // Nobody else has the same name for the commit that failed.
        let chance = self.files.keys().next().map_or(0, |id| u64::from(id.as_bytes()[7]));
        std::thread::sleep(Duration::from_millis(
            u64::from(again) * 10 + chance * u64::from(again) / 4,
        ));
    }

    /// Follows the branch to where others have moved it. If they have touched
    /// what is ours, the same change is not valid any more.
    fn advance(&mut self) -> Result<(), SinkError> {
        let reading = |fault: Fault| fault.during("read the branch", Effect::None);
        let (before, was) = (self.root, self.reader.commit);
        let tip = self.reader.remote.tip().map_err(reading)?;
        if tip == self.tip {
            return Ok(());
        }
        let root = match tip {
            Some(tip) => {
                Some(self.reader.remote.learn(tip, was, self.reader.objects).map_err(reading)?)
            }
            None => None,
        };
        self.reader.commit = tip;
        if self.is_touched(before, root).map_err(reading)? {
            return Err(SinkError::OutOfStep);
        }
        self.tip = tip;
        if self.settings.push == PushPolicy::Commit {
            (self.parent, self.root) = (tip, root);
        }
        Ok(())
    }

    /// Whether somebody has changed our folder, or a path that we change.
    fn is_touched(&mut self, before: Option<Id>, after: Option<Id>) -> Result<bool, Fault> {
        let paths = self.stage.paths().into_iter().map(|(path, _)| path);
        let outside = paths.filter(|path| !path.starts_with(OURS));
        for path in outside.chain([self.home.to_owned()]) {
            if self.reader.entry(before, &path)? != self.reader.entry(after, &path)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn draft(
        &self,
        (root, mut made): (Option<Id>, Made),
        occasion: &Occasion<'_>,
    ) -> Result<Draft, Fault> {
        let root = if let Some(root) = root {
            root
        } else {
            let empty = object::name(Kind::Tree, &[]);
            made.insert(empty, Tree::new(Vec::new())?);
            empty
        };
        let (name, email) = &self.settings.author;
        let commit = Commit {
            tree: root,
            parent: self.parent,
            author: (name, email),
            seconds: occasion.seconds,
            message: occasion.message,
        };
        let commit = commit.encode();
        let id = object::name(Kind::Commit, &commit);
        let mut pack = Pack::new();
        pack.add(id, Kind::Commit, &commit)?;
        for (id, tree) in &made {
            pack.add(*id, Kind::Tree, tree.bytes())?;
        }
        let mut packed = std::collections::HashSet::new();
        for id in self.stage.paths().into_iter().filter_map(|(_, id)| id) {
            if let Some(content) = self.files.get(&id)
                && packed.insert(id)
            {
                pack.add(id, Kind::Blob, content)?;
            }
        }
        Ok(Draft { id, root, made, pack: pack.finish()? })
    }

    /// Remembers what the branch is now, so that the next commit needs no
    /// look at it.
    fn arrived(&mut self, draft: Draft) {
        let Draft { id, root, made, .. } = draft;
        for (id, tree) in made {
            self.reader.objects.add_tree(id, tree);
        }
        let record = format!("{}/{}", self.home, record::NAME);
        let written = self.stage.paths().into_iter().find(|(path, _)| *path == record);
        if let Some(id) = written.and_then(|(_, id)| id)
            && let Some(content) = self.files.remove(&id)
        {
            self.reader.objects.add_file(id, content);
        }
        self.known.is_at(id, root);
        self.known.ours = Some((id, root));
        self.reader.commit = Some(id);
        // What is read here was written just now.
        let home = self.reader.entry(Some(root), self.home).ok().flatten();
        self.known.homes.insert(self.home.to_owned(), home.map(|(_, id)| id));
        self.reader.objects.sweep(Some(root));
    }
}

impl Ground for Branch<'_> {
    fn is_atomic(&self) -> bool {
        true
    }

    fn read(&mut self, action: &'static str, path: &str) -> Result<Option<Vec<u8>>, SinkError> {
        let mut read = || match self.look(path)? {
            Seen::File(id) => self.content(id).map(Some),
            _ => Ok(None),
        };
        read().map_err(|fault| fault.during(action, Effect::None))
    }

    fn present(&mut self, path: &str) -> Result<Option<Vec<u8>>, SinkError> {
        self.read("read files", path)
    }

    fn holds(&mut self, path: &str, content: &[u8]) -> Result<bool, SinkError> {
        let seen = self.look(path).map_err(|fault| fault.during("read files", Effect::None))?;
        Ok(seen == Seen::File(object::name(Kind::Blob, content)))
    }

    fn stamp(&mut self, path: &str) -> Result<Option<Stamp>, SinkError> {
        let reading = |fault: Fault| fault.during("read the ownership lists", Effect::None);
        Ok(match self.look(path).map_err(reading)? {
            Seen::File(id) => Some(Stamp(id.as_numbers())),
            _ => None,
        })
    }

    fn names(&mut self, action: &'static str, path: &str) -> Result<Vec<String>, SinkError> {
        let names = self.stage.names(self.root, path, &mut self.reader);
        let names = names.map_err(|fault| fault.during(action, Effect::None))?;
        Ok(names.into_iter().collect())
    }

    fn foresee(&mut self, paths: &[String]) -> Result<(), SinkError> {
        let mut foresee = || {
            let mut ids = Vec::new();
            for path in paths {
                if let Some((Mode::File, id)) = self.reader.entry(self.root, path)? {
                    ids.push(id);
                }
            }
            self.reader.fetch(&ids)
        };
        foresee().map_err(|fault: Fault| fault.during("read files", Effect::None))
    }

    fn write(
        &mut self,
        action: &'static str,
        files: Vec<Named>,
    ) -> Result<Vec<(Named, SinkError)>, SinkError> {
        let mut blocked = Vec::new();
        for (path, content) in files {
            let seen = self.look(&path).map_err(|fault| fault.during(action, Effect::None))?;
            let reason = match seen {
                _ if path.split('/').any(is_gits_own) => Some("Git keeps such a name for itself"),
                Seen::Folder => Some("a folder is in its place"),
                Seen::Blocked => Some("a file stands where a folder is needed"),
                Seen::Nothing | Seen::File(_) | Seen::Other => None,
            };
            if let Some(reason) = reason {
                let fault = Fault::Unusable(reason.to_owned());
                blocked.push(((path, content), fault.during(action, Effect::None)));
                continue;
            }
            let id = object::name(Kind::Blob, &content);
            self.stage.put(&path, id);
            self.files.insert(id, content);
        }
        Ok(blocked)
    }

    fn remove(&mut self, action: &'static str, paths: &[String]) -> Result<u64, SinkError> {
        let mut removed = 0;
        for path in paths {
            match self.look(path).map_err(|fault| fault.during(action, Effect::None))? {
                Seen::File(_) | Seen::Other => {
                    self.stage.remove(path);
                    removed += 1;
                }
                Seen::Nothing | Seen::Folder | Seen::Blocked => {}
            }
        }
        Ok(removed)
    }

    fn conclude(&mut self, summary: Summary<'_>) -> Result<Concluded, SinkError> {
        let message = self.settings.message.of_export(&summary);
        let occasion = Occasion { message: &message, seconds: summary.export.at.as_second() };
        Ok(match self.commit(&occasion)? {
            Some((id, bytes, statements)) => {
                let (written, removed) = (summary.written, summary.removed);
                let wrote = Wrote::Commit { id: id.to_string(), written, removed };
                Concluded { wrote, bytes, statements }
            }
            None => Concluded { wrote: Wrote::Nothing, bytes: 0, statements: 0 },
        })
    }
}

/// Whether Git, or the server's check of what is pushed, refuses a name,
/// because some file system takes it for `.git`.
fn is_gits_own(name: &str) -> bool {
    let ignored = |c: &char| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let plain: String = name.chars().filter(ignored).collect::<String>().to_ascii_lowercase();
    let plain = plain.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    matches!(plain, "" | ".git" | "git~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_some_system_reads_as_gits_own_are_known() {
        for name in [".git", ".GIT", "git~1", "GIT~1. ", ".g\u{200c}it", ".git::$INDEX", "", ".."] {
            assert!(is_gits_own(name), "{name:?}");
        }
        for name in [".gitignore", "git", "git~2", "a.git", ".gitx"] {
            assert!(!is_gits_own(name), "{name:?}");
        }
    }
}
