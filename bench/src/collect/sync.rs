//! A collector with one target, from nothing until everything is known.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::anyhow;
use kollect_api::{Profile, Target};
use kollect_collect::{
    Assignment, Collector, Habits, Keeper, Order, Place, Report, TargetReport, connect,
};
use kollect_inventory::{Dedupe, Store, ViewId};
use serde_json::{Value, json};

use super::{
    reading::{Clocks, Reading},
    stock::Stock,
};

/// Whatever is given back to the system has been given back after it.
const SETTLED: Duration = Duration::from_secs(3);

/// The store, with an inventory that nobody copies yet.
pub(super) struct Kept(Mutex<Store>);

impl Keeper for Kept {
    fn with(&self, operation: &mut dyn FnMut(&mut Store)) {
        operation(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Kept {
    pub(super) fn sequence(&self) -> i64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).sequence()
    }

    fn rows(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).rows()
    }
}

/// A collector at work.
pub(super) struct Work {
    pub(super) store: Arc<Kept>,
    collector: Collector<Arc<Kept>>,
    view: ViewId,
}

impl Work {
    pub(super) async fn start(kubeconfig: &Path) -> anyhow::Result<Self> {
        let client = connect(&Place::Files(vec![kubeconfig.to_owned()]), None).await?;
        let mut store = Store::new(0);
        let view = store.add_view(Dedupe::KeepAll);
        store.open_cursor(view);
        let store = Arc::new(Kept(Mutex::new(store)));
        let collector = Collector::start(client, Arc::clone(&store), Habits::default());
        Ok(Self { store, collector, view })
    }

    /// Orders this, and waits until everything of it is known.
    pub(super) async fn covers(&self, assignment: Assignment) -> anyhow::Result<()> {
        let (target, view) = (assignment.target().clone(), self.view);
        let feeds = Arc::new(move |_: &_, _: &_, _: Option<&_>| vec![view]);
        let order = Order::new(vec![Arc::new(assignment)], feeds);
        let number = self.collector.order(order);
        let is_covered = |report: &Arc<Report>| {
            let of_target = report.targets.get(&target);
            report.order == number && of_target.is_some_and(TargetReport::is_covered)
        };
        self.collector.report().wait_for(is_covered).await?;
        Ok(())
    }
}

/// Syncs once, and stays for a while.
pub(super) async fn run(kubeconfig: &Path, stock: Stock) -> anyhow::Result<Reading> {
    let clocks = Clocks::start();
    let work = Work::start(kubeconfig).await?;
    // Targets of one namespace read that alone; the others read all of them.
    let included = match stock {
        Stock::Pods | Stock::Fleet => Vec::new(),
        Stock::Small | Stock::Large => stock.namespaces(),
    };
    work.covers(assignment(stock.kind(), stock.attributes(), &included)?).await?;
    let spent = clocks.seconds();
    tokio::time::sleep(SETTLED).await;
    Ok(Reading::new(spent, 0, work.store.rows()))
}

/// A target that reads attributes of a core kind.
pub(super) fn assignment(
    kind: &str,
    attributes: Vec<Value>,
    included: &[String],
) -> anyhow::Result<Assignment> {
    let profile = json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectProfile", "metadata": {"name": "p"},
        "spec": {"targetGVK": {"group": "", "version": "v1", "kind": kind}, "attributes": attributes},
    });
    let target = json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectTarget",
        "metadata": {"name": "bench", "namespace": "default"},
        "spec": {"profileRef": "p", "includedNamespaces": included},
    });
    let profile: Profile = serde_json::from_value(profile)?;
    let target: Target = serde_json::from_value(target)?;
    Assignment::of_target(&target, &profile, None, &[])
        .map_err(|errors| anyhow!("the profile makes no plan: {errors:?}"))
}
