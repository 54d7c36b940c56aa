//! The views of the store that inventories have.

use std::{collections::BTreeMap, sync::Arc};

use kollect_api::Dedupe;
use kollect_collect::Feeds;
use kollect_extract::select::Namespace;
use kollect_inventory::{TargetKey, ViewId};
use kollect_sinks::{InventoryKey, Ledger};

use crate::plan::{Plan, inventory::InventoryPlan};

/// A view for each inventory.
#[derive(Debug, Default)]
pub(super) struct Views(BTreeMap<InventoryKey, (ViewId, Dedupe)>);

impl Views {
    pub(super) fn get(&self, key: &InventoryKey) -> Option<ViewId> {
        self.0.get(key).map(|(view, _)| *view)
    }

    /// Makes views for inventories that came, and removes those of others.
    pub(super) fn change_to(&mut self, plan: &Plan, ledger: &Ledger) {
        self.0.retain(|key, (view, dedupe)| {
            let stays = plan.inventories.get(key).is_some_and(|one| one.dedupe == *dedupe);
            if !stays {
                ledger.with(|store| store.remove_view(*view));
            }
            stays
        });
        for (key, inventory) in &plan.inventories {
            self.0.entry(key.clone()).or_insert_with(|| {
                let dedupe = match inventory.dedupe {
                    Dedupe::KeepAll => kollect_inventory::Dedupe::KeepAll,
                    Dedupe::ByResourceUid => kollect_inventory::Dedupe::ByUid,
                };
                (ledger.with(|store| store.add_view(dedupe)), inventory.dedupe)
            });
        }
    }

    /// To which views rows belong.
    pub(super) fn feeds(&self, plan: &Plan) -> Arc<Feeds> {
        let inventories: Vec<_> = plan
            .inventories
            .iter()
            .filter_map(|(key, one)| Some((self.get(key)?, one.clone())))
            .collect();
        Arc::new(move |target: &TargetKey, namespace: &str, about: Option<&Namespace>| {
            let holds = inventories.iter().filter(|(_, one)| one.holds(target, namespace, about));
            holds.map(|(view, _)| *view).collect()
        })
    }

    /// A text that changes whenever rows may belong to other views.
    pub(super) fn signature(&self, plan: &Plan) -> String {
        let one = |(key, inventory): (&InventoryKey, &InventoryPlan)| {
            format!("{:?} {}\n", self.get(key), inventory.belonging())
        };
        plan.inventories.iter().map(one).collect()
    }
}
