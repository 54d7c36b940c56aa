//! The trees and files of a branch, as far as they are known here.

use std::{collections::HashMap, sync::Arc};

use super::{
    error::Fault,
    object::{self, Entry, FILE, FOLDER, Id, Kind, Malformed, Mode},
};

/// Trees are swept when there are twice as many as after the last time.
const FEW: usize = 10_000;

/// Files are kept from one export to the next up to so many bytes.
const FILES: usize = 8 << 20;

/// Everything that has been read or written, by its name.
#[derive(Debug, Default)]
pub(super) struct Objects {
    trees: HashMap<Id, Arc<Tree>>,
    files: HashMap<Id, Arc<[u8]>>,
    /// How many trees there were after they were last swept.
    swept: usize,
}

/// A tree, taken apart far enough to find names in it.
#[derive(Debug)]
pub(super) struct Tree {
    bytes: Box<[u8]>,
    /// Where each entry begins.
    starts: Box<[u32]>,
}

impl Objects {
    pub(super) fn tree(&self, id: Id) -> Option<Arc<Tree>> {
        self.trees.get(&id).map(Arc::clone)
    }

    pub(super) fn file(&self, id: Id) -> Option<Arc<[u8]>> {
        self.files.get(&id).map(Arc::clone)
    }

    pub(super) fn has(&self, id: Id) -> bool {
        self.trees.contains_key(&id) || self.files.contains_key(&id)
    }

    pub(super) fn add_tree(&mut self, id: Id, tree: Tree) {
        self.trees.insert(id, Arc::new(tree));
    }

    pub(super) fn add_file(&mut self, id: Id, content: Vec<u8>) {
        self.files.insert(id, content.into());
    }

    /// Takes an object that somebody sent, if it is one that we use and what
    /// it is said to be.
    pub(super) fn add(&mut self, id: Id, kind: Kind, content: Vec<u8>) -> Result<(), Fault> {
        if object::name(kind, &content) != id {
            return Err(Fault::protocol(format!("the {} {id} is damaged", kind.name())));
        }
        match kind {
            Kind::Tree => self.add_tree(id, Tree::new(content)?),
            Kind::Blob => self.add_file(id, content),
            Kind::Commit | Kind::Tag => {}
        }
        Ok(())
    }

    /// Forgets what is not needed for the next export: files that are large,
    /// and trees that the branch no longer leads to.
    pub(super) fn sweep(&mut self, root: Option<Id>) {
        let mut bytes = 0;
        self.files.retain(|_, content| {
            let small = content.len() <= FILES / 64;
            bytes += if small { content.len() } else { 0 };
            small
        });
        if bytes > FILES {
            self.files.clear();
        }
        if self.trees.len() <= FEW.max(self.swept * 2) {
            return;
        }
        let mut kept = HashMap::new();
        let mut waiting: Vec<Id> = root.into_iter().collect();
        while let Some(id) = waiting.pop() {
            let Some(tree) = self.trees.remove(&id) else { continue };
            waiting
                .extend(tree.entries().filter(|one| one.kind() == Mode::Folder).map(|one| one.id));
            kept.insert(id, tree);
        }
        self.swept = kept.len();
        self.trees = kept;
    }
}

impl Tree {
    pub(super) fn new(bytes: Vec<u8>) -> Result<Self, Malformed> {
        let mut starts = Vec::new();
        let mut at = 0_usize;
        for entry in object::entries(&bytes) {
            let entry = entry?;
            starts.push(u32::try_from(at).map_err(|_| Malformed("tree"))?);
            at += entry.mode.len() + entry.name.len() + 2 + Id::LENGTH;
        }
        Ok(Self { bytes: bytes.into(), starts: starts.into() })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        // It was read through when it was made.
        object::entries(&self.bytes).map_while(Result::ok)
    }

    /// The entry of a name.
    pub(super) fn get(&self, name: &[u8]) -> Option<Entry<'_>> {
        [FILE, FOLDER].into_iter().find_map(|mode| {
            let wanted = Entry { mode, name, id: Id::NONE };
            let order = |start: &u32| {
                self.at(*start).map_or(std::cmp::Ordering::Less, |entry| entry.order(&wanted))
            };
            let found = self.starts.binary_search_by(order).ok()?;
            self.at(*self.starts.get(found)?)
        })
    }

    fn at(&self, start: u32) -> Option<Entry<'_>> {
        let rest = self.bytes.get(usize::try_from(start).ok()?..)?;
        object::entries(rest).next()?.ok()
    }
}
