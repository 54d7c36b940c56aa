//! A tree in the making: what was there, and what is different from it.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    error::Fault,
    object::{self, Entry, FILE, FOLDER, Id, Kind, Mode},
    objects::{Objects, Tree},
    remote::Remote,
};

/// Where things are read from.
pub(super) struct Reader<'a> {
    pub(super) remote: &'a mut dyn Remote,
    pub(super) objects: &'a mut Objects,
    /// The commit that leads to everything that is read.
    pub(super) commit: Option<Id>,
}

/// Changes to a tree, by path.
#[derive(Debug, Default)]
pub(super) struct Stage {
    changes: Below,
}

type Below = BTreeMap<String, Node>;

#[derive(Debug)]
enum Node {
    File(Id),
    Gone,
    Folder {
        below: Below,
        /// Whether a file of this name has made room for it.
        replaces: bool,
    },
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Nothing,
    File(Id),
    /// A link, or something that we do not know.
    Other,
    Folder,
    /// Something above the path is no folder.
    Blocked,
}

/// Whether what is changed must be as it was when the changes were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Care {
    /// It is as it was.
    None,
    /// Somebody else may have changed it: what is in the way stays.
    Full,
}

/// New trees, by their names.
pub(super) type Made = BTreeMap<Id, Tree>;

/// Why changes do not fit a tree.
#[derive(Debug)]
pub(super) enum Misfit {
    Fault(Fault),
    /// Something else is where our changes go.
    Occupied,
}

impl<E: Into<Fault>> From<E> for Misfit {
    fn from(error: E) -> Self {
        Self::Fault(error.into())
    }
}

impl Reader<'_> {
    /// A tree of the branch.
    pub(super) fn tree(&mut self, id: Id) -> Result<std::sync::Arc<Tree>, Fault> {
        if let Some(tree) = self.objects.tree(id) {
            return Ok(tree);
        }
        self.fetch(&[id])?;
        self.objects.tree(id).ok_or_else(|| Fault::protocol(format!("the tree {id} is missing")))
    }

    /// A file of the branch.
    pub(super) fn file(&mut self, id: Id) -> Result<std::sync::Arc<[u8]>, Fault> {
        if let Some(file) = self.objects.file(id) {
            return Ok(file);
        }
        self.fetch(&[id])?;
        self.objects.file(id).ok_or_else(|| Fault::protocol(format!("the file {id} is missing")))
    }

    /// Reads what is not known yet.
    pub(super) fn fetch(&mut self, ids: &[Id]) -> Result<(), Fault> {
        let missing: BTreeSet<_> = ids.iter().filter(|id| !self.objects.has(**id)).collect();
        let missing: Vec<_> = missing.into_iter().copied().collect();
        match self.commit {
            Some(commit) if !missing.is_empty() => self.remote.read(commit, &missing, self.objects),
            _ => Ok(()),
        }
    }

    /// What a tree has at a path, which may be of a folder.
    pub(super) fn entry(
        &mut self,
        root: Option<Id>,
        path: &str,
    ) -> Result<Option<(Mode, Id)>, Fault> {
        let mut found = root.map(|root| (Mode::Folder, root));
        for name in path.split('/') {
            let Some((Mode::Folder, id)) = found else { return Ok(None) };
            let tree = self.tree(id)?;
            found = tree.get(name.as_bytes()).map(|entry| (entry.kind(), entry.id));
        }
        Ok(found)
    }
}

impl Stage {
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// What is at a path after the changes.
    pub(super) fn look(
        &self,
        root: Option<Id>,
        path: &str,
        reader: &mut Reader<'_>,
    ) -> Result<Seen, Fault> {
        let mut below = Some(&self.changes);
        let mut base = root.map(|root| (Mode::Folder, root));
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            let is_last = names.peek().is_none();
            let was = match base {
                Some((Mode::Folder, id)) => {
                    let tree = reader.tree(id)?;
                    tree.get(name.as_bytes()).map(|entry| (entry.kind(), entry.id))
                }
                _ => None,
            };
            match below.and_then(|below| below.get(name)) {
                Some(Node::File(id)) if is_last => return Ok(Seen::File(*id)),
                Some(Node::File(_)) => return Ok(Seen::Blocked),
                Some(Node::Gone) => return Ok(Seen::Nothing),
                Some(Node::Folder { below: inner, replaces }) => {
                    base = was.filter(|(mode, _)| *mode == Mode::Folder && !replaces);
                    below = Some(inner);
                    if is_last {
                        return folder(base, Some(inner), reader);
                    }
                }
                None => {
                    (base, below) = (was, None);
                    match base {
                        None => return Ok(Seen::Nothing),
                        Some((Mode::File, id)) if is_last => return Ok(Seen::File(id)),
                        Some((Mode::Link | Mode::Other, _)) if is_last => return Ok(Seen::Other),
                        Some((Mode::Folder, _)) if is_last => return Ok(Seen::Folder),
                        Some((Mode::Folder, _)) => {}
                        Some(_) => return Ok(Seen::Blocked),
                    }
                }
            }
        }
        Ok(Seen::Nothing)
    }

    /// The names in a folder after the changes; those that are no text are not
    /// ours.
    pub(super) fn names(
        &self,
        root: Option<Id>,
        path: &str,
        reader: &mut Reader<'_>,
    ) -> Result<BTreeSet<String>, Fault> {
        let mut below = Some(&self.changes);
        for name in path.split('/') {
            below = match below.and_then(|below| below.get(name)) {
                Some(Node::Folder { below, .. }) => Some(below),
                Some(Node::File(_) | Node::Gone) => return Ok(BTreeSet::new()),
                None => None,
            };
        }
        let mut names = BTreeSet::new();
        if let Some((Mode::Folder, id)) = reader.entry(root, path)? {
            let tree = reader.tree(id)?;
            let texts = tree.entries().filter_map(|entry| str::from_utf8(entry.name).ok());
            names.extend(texts.map(str::to_owned));
        }
        for (name, node) in below.into_iter().flatten() {
            match node {
                Node::Gone => names.remove(name),
                Node::File(_) | Node::Folder { .. } => names.insert(name.clone()),
            };
        }
        Ok(names)
    }

    /// Puts a file at a path, which must be free or a file.
    pub(super) fn put(&mut self, path: &str, id: Id) {
        self.set(path, Node::File(id));
    }

    /// Takes a file away.
    pub(super) fn remove(&mut self, path: &str) {
        self.set(path, Node::Gone);
    }

    fn set(&mut self, path: &str, node: Node) {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut below = &mut self.changes;
        for folder in folders.split('/').filter(|name| !name.is_empty()) {
            let node = below
                .entry(folder.to_owned())
                .or_insert_with(|| Node::Folder { below: Below::new(), replaces: false });
            if !matches!(node, Node::Folder { .. }) {
                *node = Node::Folder { below: Below::new(), replaces: true };
            }
            let Node::Folder { below: inner, .. } = node else { return };
            below = inner;
        }
        below.insert(name.to_owned(), node);
    }

    /// Every path that changes, with what is there from now on.
    pub(super) fn paths(&self) -> Vec<(String, Option<Id>)> {
        fn collect(below: &Below, front: &str, out: &mut Vec<(String, Option<Id>)>) {
            for (name, node) in below {
                let path = format!("{front}{name}");
                match node {
                    Node::File(id) => out.push((path, Some(*id))),
                    Node::Gone => out.push((path, None)),
                    Node::Folder { below, .. } => collect(below, &format!("{path}/"), out),
                }
            }
        }
        let mut paths = Vec::new();
        collect(&self.changes, "", &mut paths);
        paths
    }

    /// Makes the trees that the changes lead to; answers with the uppermost,
    /// or with nothing if nothing is left.
    pub(super) fn build(
        &self,
        root: Option<Id>,
        care: Care,
        reader: &mut Reader<'_>,
    ) -> Result<(Option<Id>, Made), Misfit> {
        let mut made = Made::new();
        let root = build(&self.changes, root, care, (reader, &mut made))?;
        Ok((root, made))
    }
}

/// Whether anything is in a folder.
fn folder(
    base: Option<(Mode, Id)>,
    below: Option<&Below>,
    reader: &mut Reader<'_>,
) -> Result<Seen, Fault> {
    let is_there = |node: &Node| !matches!(node, Node::Gone);
    let tree = match base {
        Some((_, id)) => Some(reader.tree(id)?),
        None => None,
    };
    for (name, node) in below.into_iter().flatten().filter(|(_, node)| is_there(node)) {
        let Node::Folder { below, replaces } = node else { return Ok(Seen::Folder) };
        let base = tree.as_ref().and_then(|tree| tree.get(name.as_bytes()));
        let base = base.map(|entry| (entry.kind(), entry.id));
        let base = base.filter(|(mode, _)| *mode == Mode::Folder && !replaces);
        if folder(base, Some(below), reader)? == Seen::Folder {
            return Ok(Seen::Folder);
        }
    }
    let changed = |entry: &Entry<'_>| {
        let name = str::from_utf8(entry.name).ok();
        name.zip(below).is_some_and(|(name, below)| below.contains_key(name))
    };
    let stays = tree.is_some_and(|tree| tree.entries().any(|entry| !changed(&entry)));
    Ok(if stays { Seen::Folder } else { Seen::Nothing })
}

fn build(
    below: &Below,
    base: Option<Id>,
    care: Care,
    (reader, made): (&mut Reader<'_>, &mut Made),
) -> Result<Option<Id>, Misfit> {
    let tree = match base {
        Some(id) => Some(reader.tree(id)?),
        None => None,
    };
    let is_changed =
        |entry: &Entry<'_>| str::from_utf8(entry.name).is_ok_and(|name| below.contains_key(name));
    let was = |name: &str| tree.as_ref().and_then(|tree| tree.get(name.as_bytes()));
    let mut entries: Vec<Entry<'_>> = Vec::new();
    entries.extend(tree.iter().flat_map(|tree| tree.entries()).filter(|one| !is_changed(one)));
    for (name, node) in below {
        let was = was(name);
        let of_folder = was.filter(|entry| entry.kind() == Mode::Folder);
        match node {
            Node::File(_) if care == Care::Full && of_folder.is_some() => {
                return Err(Misfit::Occupied);
            }
            Node::File(id) => entries.push(Entry { mode: FILE, name: name.as_bytes(), id: *id }),
            // A folder that somebody has put in the place of a file is not ours.
            Node::Gone => entries.extend(of_folder.filter(|_| care == Care::Full)),
            Node::Folder { below, replaces } => {
                let inner = of_folder.map(|entry| entry.id);
                match (build(below, inner, care, (&mut *reader, &mut *made))?, was) {
                    (Some(_), Some(_)) if of_folder.is_none() && !replaces => {
                        return Err(Misfit::Occupied);
                    }
                    (Some(id), _) => {
                        entries.push(Entry { mode: FOLDER, name: name.as_bytes(), id });
                    }
                    (None, Some(other)) if of_folder.is_none() && !replaces => entries.push(other),
                    (None, _) => {}
                }
            }
        }
    }
    if entries.is_empty() {
        return Ok(None);
    }
    entries.sort_by(Entry::order);
    let bytes = object::tree(entries);
    let id = object::name(Kind::Tree, &bytes);
    if base != Some(id) {
        made.insert(id, Tree::new(bytes)?);
    }
    Ok(Some(id))
}
