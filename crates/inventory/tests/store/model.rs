//! What the store should hold, in maps and lists.

use std::collections::{BTreeMap, BTreeSet};

use kollect_inventory::{Content, Digest, PartitionKey, Row, Shard};

/// List number, then version.
pub(crate) type Freshness = (u32, u64);

#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) partitions: BTreeMap<PartitionKey, Partition>,
    pub(crate) views: Vec<View>,
    lists: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Partition {
    pub(crate) rows: BTreeMap<String, (Freshness, Row)>,
    pub(crate) covered: bool,
    too_early: u32,
    running: Option<(u32, BTreeMap<String, Freshness>)>,
}

#[derive(Debug, Default)]
pub(crate) struct View {
    pub(crate) partitions: BTreeSet<PartitionKey>,
    pub(crate) by_uid: bool,
}

impl Model {
    pub(crate) fn join(&mut self, key: &PartitionKey) {
        let too_early = self.lists;
        let new = || Partition { too_early, ..Partition::default() };
        self.partitions.entry(key.clone()).or_insert_with(new);
    }

    pub(crate) fn withdraw(&mut self, key: &PartitionKey) {
        self.partitions.remove(key);
        for view in &mut self.views {
            view.partitions.remove(key);
        }
    }

    pub(crate) fn begin_list(&mut self, key: &PartitionKey) -> u32 {
        self.lists += 1;
        if let Some(partition) = self.partitions.get_mut(key) {
            partition.running = Some((self.lists, BTreeMap::new()));
        }
        self.lists
    }

    pub(crate) fn plan_changed(&mut self, key: &PartitionKey) {
        if let Some(partition) = self.partitions.get_mut(key) {
            partition.too_early = self.lists;
            partition.covered = false;
        }
    }

    pub(crate) fn upsert(
        &mut self,
        key: &PartitionKey,
        freshness: Freshness,
        name: &str,
        row: &Row,
    ) {
        let Some(partition) = self.partitions.get_mut(key) else { return };
        let deleted = partition.running.as_ref().and_then(|(_, markers)| markers.get(name));
        let known = partition.rows.get(name).map(|(freshness, _)| *freshness);
        if deleted.is_some_and(|one| *one > freshness) || known.is_some_and(|one| one > freshness) {
            return;
        }
        partition.rows.insert(name.to_owned(), (freshness, row.clone()));
    }

    pub(crate) fn delete(&mut self, key: &PartitionKey, freshness: Freshness, name: &str) {
        let Some(partition) = self.partitions.get_mut(key) else { return };
        if let Some((_, markers)) = &mut partition.running {
            let marker = markers.entry(name.to_owned()).or_default();
            *marker = freshness.max(*marker);
        }
        let known = partition.rows.get(name).map(|(freshness, _)| *freshness);
        if partition.covered && known.is_some_and(|one| one <= freshness) {
            partition.rows.remove(name);
        }
    }

    pub(crate) fn end_list(&mut self, key: &PartitionKey, number: u32, sweep: bool) {
        let Some(partition) = self.partitions.get_mut(key) else { return };
        if !sweep || partition.running.as_ref().is_none_or(|(running, _)| *running != number) {
            return;
        }
        let (_, markers) = partition.running.take().unwrap_or_default();
        if number <= partition.too_early && !partition.covered {
            return;
        }
        partition.rows.retain(|name, (freshness, _)| {
            let deleted = markers.get(name).is_some_and(|marker| *marker >= *freshness);
            freshness.0 >= number && !deleted
        });
        partition.covered = true;
    }

    /// What a view shows.
    pub(crate) fn rows(&self, view: usize) -> Vec<Row> {
        let view = &self.views[view];
        let held = view.partitions.iter().filter_map(|key| self.partitions.get(key));
        let all = held.flat_map(|partition| partition.rows.values().map(|(_, row)| row.clone()));
        if !view.by_uid {
            return all.collect();
        }
        let mut winners: BTreeMap<(String, String), Row> = BTreeMap::new();
        for row in all {
            let identity = row.identity();
            let key = (identity.namespace.to_string(), identity.uid.to_string());
            let beaten = winners
                .get(&key)
                .is_some_and(|winner| winner.identity().target_name > identity.target_name);
            if !beaten {
                winners.insert(key, row.clone());
            }
        }
        winners.into_values().collect()
    }
}

/// Number and digest of rows.
pub(crate) fn content(rows: &[Row]) -> Content {
    let sum = |digest: Digest, row: &Row| digest.with(row.hash());
    Content { rows: rows.len(), digest: rows.iter().fold(Digest::default(), sum) }
}

/// The same, namespace by namespace.
pub(crate) fn shards(rows: &[Row]) -> Vec<Shard> {
    let mut namespaces = BTreeMap::<String, Vec<Row>>::new();
    for row in rows {
        namespaces.entry(row.identity().namespace.into_owned()).or_default().push(row.clone());
    }
    let shard = |(namespace, rows): (String, Vec<Row>)| {
        let targets: BTreeSet<_> =
            rows.iter().map(|row| row.identity().target_name.into_owned()).collect();
        Shard { namespace, content: content(&rows), targets: targets.len() }
    };
    namespaces.into_iter().map(shard).collect()
}
