//! Which paths other inventories have at the same destination.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    io,
};

use super::folder::{Folder, OURS, Stamp};
use crate::layout::ownership::{self, Shard};

/// The ownership lists of other inventories, as far as they were asked for.
///
/// Of each file of each list the paths are kept until the file is replaced.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    known: HashMap<String, (Stamp, HashSet<String>)>,
}

impl Neighbours {
    /// Who owns each of the paths that are not free; `home` is our own folder.
    pub(super) fn owners<'a>(
        &mut self,
        folder: &Folder,
        home: &str,
        paths: impl IntoIterator<Item = &'a str>,
    ) -> io::Result<BTreeMap<String, String>> {
        let mut asked: BTreeMap<Shard, BTreeSet<&str>> = BTreeMap::new();
        for path in paths {
            asked.entry(Shard::of(path)).or_default().insert(path);
        }
        let mut owners = BTreeMap::new();
        if asked.is_empty() {
            return Ok(owners);
        }
        for other in homes(folder)?.into_iter().filter(|other| other != home) {
            for (shard, paths) in &asked {
                let theirs = self.paths(folder, &other, *shard)?;
                let taken =
                    paths.iter().filter(|path| theirs.is_some_and(|one| one.contains(**path)));
                owners.extend(taken.map(|path| ((*path).to_owned(), inventory(&other))));
            }
        }
        Ok(owners)
    }

    /// The paths in one file of a list. One that cannot be read lists nothing:
    /// its owner writes it anew.
    fn paths(
        &mut self,
        folder: &Folder,
        home: &str,
        shard: Shard,
    ) -> io::Result<Option<&HashSet<String>>> {
        let file = format!("{home}/{}", shard.name());
        let Some(stamp) = folder.stamp(&file)? else {
            self.known.remove(&file);
            return Ok(None);
        };
        if self.known.get(&file).is_none_or(|(known, _)| *known != stamp) {
            let content = folder.read(&file)?.unwrap_or_default();
            let lines = ownership::parse(shard, &content).unwrap_or_default();
            let paths = lines.into_iter().map(|line| line.path).collect();
            self.known.insert(file.clone(), (stamp, paths));
        }
        Ok(self.known.get(&file).map(|(_, paths)| paths))
    }
}

/// The folders of all inventories: cluster, namespace, name.
fn homes(folder: &Folder) -> io::Result<Vec<String>> {
    let mut homes = vec![OURS.to_owned()];
    for _ in ["cluster", "namespace", "name"] {
        let mut below = Vec::new();
        for home in homes {
            let names = folder.names(&home)?.into_iter().filter(|name| !name.starts_with('.'));
            below.extend(names.map(|name| format!("{home}/{name}")));
        }
        homes = below;
    }
    Ok(homes)
}

/// How people name the inventory of a folder.
fn inventory(home: &str) -> String {
    match home.split('/').collect::<Vec<_>>().as_slice() {
        [_, cluster, namespace, name] => format!("{namespace}/{name} of cluster {cluster}"),
        _ => home.to_owned(),
    }
}
