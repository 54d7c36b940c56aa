//! Somebody who knows the rows only by what the store tells.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use kollect_inventory::{PartitionKey, Row, Witness};

type Rows = BTreeMap<PartitionKey, BTreeMap<String, Row>>;

/// What was told so far; all clones are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told(Arc<Mutex<Rows>>);

impl Told {
    /// The rows of a partition, by name.
    pub(crate) fn rows(&self, partition: &PartitionKey) -> BTreeMap<String, Row> {
        self.0.lock().unwrap().get(partition).cloned().unwrap_or_default()
    }

    pub(crate) fn partitions(&self) -> Vec<PartitionKey> {
        let told = self.0.lock().unwrap();
        told.iter().filter(|(_, rows)| !rows.is_empty()).map(|(key, _)| key.clone()).collect()
    }
}

impl Witness for Told {
    fn sees(&mut self, partition: &PartitionKey, old: Option<&Row>, new: Option<&Row>) {
        let mut told = self.0.lock().unwrap();
        let rows = told.entry(partition.clone()).or_default();
        let name = |row: &Row| row.identity().name.into_owned();
        if let Some(old) = old {
            assert_eq!(rows.remove(&name(old)).as_ref(), Some(old), "an old row was another");
        }
        if let Some(new) = new {
            assert_eq!(rows.insert(name(new), new.clone()), None, "a new row was there before");
        }
        assert!(old.is_some() || new.is_some(), "nothing was told");
    }
}
