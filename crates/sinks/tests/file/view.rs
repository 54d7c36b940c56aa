//! A view that changes at random.

use std::{collections::BTreeMap, slice};

use kollect_inventory::{Change, PartitionChange, Row};
use proptest::prelude::*;

use super::support::{partition, row, tombstones};

/// What happens to a view.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Rows come, change, or go without a value.
    Rows(Vec<(Name, Option<i64>)>),
    Replace(&'static str, Vec<(Name, Option<i64>)>),
    Drop(&'static str),
    Restart,
}

/// Namespace and name.
type Name = (&'static str, &'static str);

pub(super) fn step() -> impl Strategy<Value = Step> {
    let namespace = || proptest::sample::select(vec!["shop", "mail"]);
    let name = proptest::sample::select(vec!["a", "b", "c", "A:", "a."]);
    let change = ((namespace(), name), proptest::option::weighted(0.7, 0_i64..3));
    let changes = proptest::collection::vec(change, 0..5);
    prop_oneof![
        4 => changes.clone().prop_map(Step::Rows),
        1 => (namespace(), changes).prop_map(|(namespace, rows)| Step::Replace(namespace, rows)),
        1 => namespace().prop_map(Step::Drop),
        1 => Just(Step::Restart),
    ]
}

/// The rows that should be there.
#[derive(Debug, Default)]
pub(super) struct View(BTreeMap<Name, Row>);

impl View {
    pub(super) fn rows(&self) -> Vec<Row> {
        self.0.values().cloned().collect()
    }

    /// The change that a step is; none for a restart.
    pub(super) fn take(&mut self, step: Step) -> Option<Change> {
        let (upserts, deletes, partitions) = match step {
            Step::Rows(changes) => {
                let gone: Vec<_> = changes
                    .iter()
                    .filter(|(_, value)| value.is_none())
                    .filter_map(|(name, _)| self.0.remove(name))
                    .collect();
                let upserts = self.put(&changes);
                (
                    upserts,
                    gone.iter().flat_map(|row| tombstones(slice::from_ref(row))).collect(),
                    vec![],
                )
            }
            Step::Replace(namespace, changes) => {
                self.0.retain(|name, _| name.0 != namespace);
                let inside =
                    changes.into_iter().map(|((_, name), value)| ((namespace, name), value));
                self.put(&inside.collect::<Vec<_>>());
                let rows = self.0.iter().filter(|(name, _)| name.0 == namespace);
                let rows = rows.map(|(_, row)| row.clone()).collect();
                (vec![], vec![], vec![(partition(namespace), PartitionChange::Replace(rows))])
            }
            Step::Drop(namespace) => {
                self.0.retain(|name, _| name.0 != namespace);
                (vec![], vec![], vec![(partition(namespace), PartitionChange::Drop)])
            }
            Step::Restart => return None,
        };
        Some(Change::Since { upserts, deletes, partitions })
    }

    fn put(&mut self, changes: &[(Name, Option<i64>)]) -> Vec<Row> {
        let mut put = Vec::new();
        for ((namespace, name), value) in changes {
            let Some(value) = value else { continue };
            let row = row(namespace, name, *value);
            self.0.insert((namespace, name), row.clone());
            put.push(row);
        }
        put
    }
}
