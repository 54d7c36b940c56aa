//! The rows of one cluster, and the inventories that they make.

use kollect_api::Dedupe;
use kollect_collect::{Dump, Survey, Tally};
use kollect_extract::select::Namespace;
use kollect_inventory::{Row, Store, ViewId, sort};
use kollect_operator::Kept;
use kollect_sinks::{Ledger, Scrub};

use super::config::{Config, InventoryPlan};

/// A store with a view for each inventory.
#[derive(Debug)]
pub(super) struct World {
    ledger: Ledger,
    views: Vec<ViewId>,
}

/// What became of one target.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Namespace and name of the target.
    pub(super) target: String,
    pub(super) tally: Tally,
    /// Why something could not be listed.
    pub(super) skipped: Vec<String>,
}

impl World {
    /// An empty store, whose numbers begin at this time.
    pub(super) fn new(config: &Config, microseconds: i64) -> Self {
        let ledger = Ledger::new(Store::new(microseconds));
        let view = |inventory: &InventoryPlan| {
            let dedupe = match inventory.dedupe {
                Dedupe::KeepAll => kollect_inventory::Dedupe::KeepAll,
                Dedupe::ByResourceUid => kollect_inventory::Dedupe::ByUid,
            };
            ledger.with(|store| store.add_view(dedupe))
        };
        let views = config.inventories.iter().map(view).collect();
        Self { ledger, views }
    }

    /// Lists every target in what files hold.
    pub(super) fn read_dump(&self, config: &Config, dump: &Dump) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for (at, target) in config.targets.iter().enumerate() {
            let feeds = |namespace: &str| {
                self.feeds(config, at, namespace, dump.namespaces().get(namespace))
            };
            let tally = dump.list(&target.assignment, &Kept(self.ledger.clone()), feeds);
            let mut skipped = Vec::new();
            if tally.objects == 0 {
                skipped.push(format!("there is no {}", target.assignment.kind()));
            }
            outcomes.push(Outcome { target: target.to_string(), tally, skipped });
        }
        self.settle(config, &outcomes);
        outcomes
    }

    /// Lists every target in a cluster.
    pub(super) async fn read_cluster(&self, config: &Config, survey: &Survey) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for (at, target) in config.targets.iter().enumerate() {
            let feeds =
                |namespace: &str| self.feeds(config, at, namespace, survey.namespace(namespace));
            let keeper = Kept(self.ledger.clone());
            let (tally, unlisted) = survey.list(&target.assignment, &keeper, feeds).await;
            let skipped = unlisted.iter().map(|one| Scrub::default().error(one)).collect();
            outcomes.push(Outcome { target: target.to_string(), tally, skipped });
        }
        self.settle(config, &outcomes);
        outcomes
    }

    /// The views that rows of a target in a namespace belong to.
    pub(super) fn feeds(
        &self,
        config: &Config,
        target: usize,
        namespace: &str,
        about: Option<&Namespace>,
    ) -> Vec<ViewId> {
        let pairs = config.inventories.iter().zip(&self.views);
        let fed = pairs.filter(|(inventory, _)| {
            inventory.targets.contains(&target) && inventory.holds(namespace, about)
        });
        fed.map(|(_, view)| *view).collect()
    }

    /// Says of every inventory whose targets were all listed that it holds
    /// nothing else. Where one was not, nobody knows in which namespaces it
    /// has rows, and none of the others' are taken for gone.
    fn settle(&self, config: &Config, outcomes: &[Outcome]) {
        let is_listed =
            |at: &usize| outcomes.get(*at).is_some_and(|outcome| outcome.skipped.is_empty());
        self.settle_where(config, |inventory| inventory.targets.iter().all(is_listed));
    }

    /// Says of such inventories that they hold nothing else.
    pub(super) fn settle_where(&self, config: &Config, is_listed: impl Fn(&InventoryPlan) -> bool) {
        for (inventory, view) in config.inventories.iter().zip(&self.views) {
            if is_listed(inventory) {
                self.ledger.with(|store| store.settle(*view));
            }
        }
    }

    pub(super) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(super) fn view(&self, inventory: usize) -> Option<ViewId> {
        self.views.get(inventory).copied()
    }

    /// How many rows an inventory has.
    pub(super) fn count(&self, inventory: usize) -> usize {
        let count = |view| self.ledger.with(|store| store.view_content(view).rows);
        self.view(inventory).map_or(0, count)
    }

    /// The rows of an inventory, in canonical order.
    pub(super) fn rows(&self, inventory: usize) -> Vec<Row> {
        let Some(view) = self.view(inventory) else { return Vec::new() };
        let mut rows = self.ledger.with(|store| store.view_rows(view));
        sort(&mut rows);
        rows
    }
}
