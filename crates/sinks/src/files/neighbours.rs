//! Which paths other inventories have at the same destination.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::ground::{Ground, OURS, Stamp};
use crate::{
    layout::ownership::{self, Shard},
    sink::SinkError,
};

const READING: &str = "read the ownership lists";

/// The ownership lists of other inventories, as far as they were asked for.
///
/// Of each file of each list the paths are kept until the file is replaced.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    known: HashMap<String, (Stamp, HashSet<String>)>,
}

impl Neighbours {
    /// Who owns each of the paths that are not free; `home` is our own folder.
    pub(super) fn owners<'a>(
        &mut self,
        ground: &mut dyn Ground,
        home: &str,
        paths: impl IntoIterator<Item = &'a str>,
    ) -> Result<BTreeMap<String, String>, SinkError> {
        let mut asked: BTreeMap<Shard, BTreeSet<&str>> = BTreeMap::new();
        for path in paths {
            asked.entry(Shard::of(path)).or_default().insert(path);
        }
        let mut owners = BTreeMap::new();
        if asked.is_empty() {
            return Ok(owners);
        }
        let others: Vec<_> = homes(ground)?.into_iter().filter(|other| other != home).collect();
        self.foresee(ground, &others, asked.keys())?;
        for other in others {
            for (shard, paths) in &asked {
                let theirs = self.paths(ground, &other, *shard)?;
                let taken =
                    paths.iter().filter(|path| theirs.is_some_and(|one| one.contains(**path)));
                owners.extend(taken.map(|path| ((*path).to_owned(), inventory(&other))));
            }
        }
        Ok(owners)
    }

    /// Says which lists are about to be read.
    fn foresee<'a>(
        &self,
        ground: &mut dyn Ground,
        homes: &[String],
        shards: impl Iterator<Item = &'a Shard> + Clone,
    ) -> Result<(), SinkError> {
        let mut wanted = Vec::new();
        for home in homes {
            for shard in shards.clone() {
                let file = format!("{home}/{}", shard.name());
                let stamp = ground.stamp(&file)?;
                let known = self.known.get(&file).map(|(known, _)| known);
                if stamp.is_some() && stamp.as_ref() != known {
                    wanted.push(file);
                }
            }
        }
        ground.foresee(&wanted)
    }

    /// The paths in one file of a list. One that cannot be read lists nothing:
    /// its owner writes it anew.
    fn paths(
        &mut self,
        ground: &mut dyn Ground,
        home: &str,
        shard: Shard,
    ) -> Result<Option<&HashSet<String>>, SinkError> {
        let file = format!("{home}/{}", shard.name());
        let Some(stamp) = ground.stamp(&file)? else {
            self.known.remove(&file);
            return Ok(None);
        };
        if self.known.get(&file).is_none_or(|(known, _)| *known != stamp) {
            let content = ground.read(READING, &file)?.unwrap_or_default();
            let lines = ownership::parse(shard, &content).unwrap_or_default();
            let paths = lines.into_iter().map(|line| line.path).collect();
            self.known.insert(file.clone(), (stamp, paths));
        }
        Ok(self.known.get(&file).map(|(_, paths)| paths))
    }
}

/// The folders of all inventories: cluster, namespace, name.
fn homes(ground: &mut dyn Ground) -> Result<Vec<String>, SinkError> {
    let mut homes = vec![OURS.to_owned()];
    for _ in ["cluster", "namespace", "name"] {
        let mut below = Vec::new();
        for home in homes {
            let names =
                ground.names(READING, &home)?.into_iter().filter(|name| !name.starts_with('.'));
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
