//! A destination that does what it is told.

use std::collections::BTreeMap;

use kollect_inventory::{
    Batch, Change, Confines, Content, Digest, Identity, PartitionChange, PartitionKey, Row,
    TargetKey,
};

/// Rows by what names them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Destination {
    pub(crate) rows: BTreeMap<Identity<'static>, Row>,
}

impl Destination {
    pub(crate) fn put(&mut self, row: &Row) {
        self.rows.insert(row.identity().into_owned(), row.clone());
    }

    fn put_all(&mut self, rows: &[Row]) {
        for row in rows {
            self.put(row);
        }
    }

    pub(crate) fn content(&self) -> Content {
        let sum = |digest: Digest, row: &Row| digest.with(row.hash());
        Content { rows: self.rows.len(), digest: self.rows.values().fold(Digest::default(), sum) }
    }

    /// The rows of a partition.
    pub(crate) fn of(&self, partition: &PartitionKey) -> Vec<Row> {
        let of_partition = self.rows.iter().filter(|(identity, _)| belongs(identity, partition));
        of_partition.map(|(_, row)| row.clone()).collect()
    }

    /// Takes a batch whole.
    pub(crate) fn apply(&mut self, batch: &Batch) {
        match &batch.change {
            Change::All { rows, confines } => self.compare(rows, confines),
            Change::Since { upserts, deletes, partitions } => {
                for (partition, change) in partitions {
                    self.rows.retain(|identity, _| !belongs(identity, partition));
                    if let PartitionChange::Replace(rows) = change {
                        self.put_all(rows);
                    }
                }
                for tombstone in deletes {
                    self.rows.remove(&tombstone.identity().into_owned());
                }
                self.put_all(upserts);
            }
        }
        if let Some(content) = batch.watermark.content {
            assert_eq!(self.content(), content, "a digest was recorded for other rows");
        }
    }

    fn compare(&mut self, rows: &[Row], confines: &Confines) {
        let within = |identity: &Identity<'_>, keys: &[PartitionKey]| {
            keys.iter().any(|key| belongs(identity, key))
        };
        self.rows.retain(|identity, _| {
            let known = within(identity, &confines.covered);
            let unknown = within(identity, &confines.uncovered)
                || confines.unknown.iter().any(|target| is_of(identity, target));
            unknown || (!known && !confines.settled)
        });
        self.put_all(rows);
    }
}

/// Whether a row is one of a target.
fn is_of(identity: &Identity<'_>, target: &TargetKey) -> bool {
    identity.target_namespace == target.namespace.as_deref().unwrap_or_default()
        && identity.target_name == target.name
}

/// Whether a row is one of a partition.
pub(crate) fn belongs(identity: &Identity<'_>, partition: &PartitionKey) -> bool {
    identity.target_namespace == partition.target_namespace()
        && identity.target_name == partition.target.name
        && identity.namespace == partition.namespace
}
