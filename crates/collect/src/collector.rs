//! Collects what is ordered from one server, for as long as it is ordered.
//!
//! A task takes in what changes: orders, kinds, namespaces, rights, and the
//! troubles of watches. After each it works out which watches there have to be
//! ([`crate::watch_set`]), and makes the difference. Nothing waits for anything
//! else: what cannot be read is named in the [`Report`] and tried again.

pub(crate) mod census;
pub(crate) mod kinds;
mod desk;
mod holdings;
mod placement;
mod relist;
pub(crate) mod report;
mod scouts;
mod stand;

use std::{
    collections::BTreeSet,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use kollect_extract::select::{Defaults, Namespace};
use kollect_inventory::{TargetKey, ViewId};
use kube::Client;
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};

use self::{
    desk::Desk,
    report::Report,
    stand::{Shared, Told},
};
use crate::{
    assignment::Assignment,
    collector::census::{Census, Roll},
    discovery::Catalogue,
    intake::{FailedObject, Keeper},
    meters::Meters,
    rights::{Answer, Right},
    watch::pace::Pace,
};

/// To which views the rows of a target in a namespace belong.
pub type Feeds = dyn Fn(&TargetKey, &str, Option<&Namespace>) -> Vec<ViewId> + Send + Sync;

/// What is to be collected from now on.
#[derive(Clone)]
pub struct Order {
    /// What is not among them is withdrawn. Each has a target of its own.
    pub assignments: Vec<Arc<Assignment>>,
    /// Targets whose assignment is not what somebody wants now, but the last
    /// that could be understood. Their rows go on, and nothing is deleted
    /// because of them.
    pub doubted: BTreeSet<TargetKey>,
    /// Targets of which nothing could be understood in this process. What was
    /// copied of them stays.
    pub unknown: BTreeSet<TargetKey>,
    pub feeds: Arc<Feeds>,
}

impl Order {
    /// All of it is what somebody wants.
    pub fn new(assignments: Vec<Arc<Assignment>>, feeds: Arc<Feeds>) -> Self {
        Self { assignments, doubted: BTreeSet::new(), unknown: BTreeSet::new(), feeds }
    }
}

impl fmt::Debug for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Order").field("assignments", &self.assignments).finish_non_exhaustive()
    }
}

/// How a collector goes about it.
#[derive(Clone, Debug)]
pub struct Habits {
    pub pace: Pace,
    /// What the administrator has set for all targets.
    pub defaults: Defaults,
    /// The only namespaces there are, for who may not know of others; all if
    /// it is empty.
    pub confined_to: BTreeSet<String>,
    /// After so long, a right that was denied is asked for again.
    pub review: Duration,
    /// A kind is definitely not served when two answers this far apart say so.
    pub definite: Duration,
    /// How often namespaces that may not be watched are read.
    pub roll_call: Duration,
    /// How often kinds are looked up: at least so often while one is missing,
    /// and so often otherwise.
    pub look_up: (Duration, Duration),
    /// Where it is counted what happens.
    pub meters: Meters,
}

impl Default for Habits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            pace: Pace::default(),
            defaults: Defaults::default(),
            confined_to: BTreeSet::new(),
            review: seconds(30),
            definite: seconds(60),
            roll_call: seconds(30),
            look_up: (seconds(10), seconds(300)),
            meters: Meters::default(),
        }
    }
}

/// Something that changes what is to be done.
enum Input {
    /// Under its number.
    Order(u64, Order),
    Kinds(Result<Catalogue, String>),
    Census(Census),
    Roll(Roll),
    Reviewed(Vec<(Right, Answer)>),
    Told(Told),
}

/// Collects from one server. Whoever drops it ends that.
#[derive(Debug)]
pub struct Collector<K> {
    inputs: mpsc::UnboundedSender<Input>,
    report: watch::Receiver<Arc<Report>>,
    shared: Arc<Mutex<Shared<K>>>,
    ordered: AtomicU64,
    task: JoinHandle<()>,
}

impl<K: Keeper + Clone + Send + 'static> Collector<K> {
    /// Begins, with nothing ordered. Needs a runtime to run in: the one that
    /// this is called from.
    pub fn start(client: Client, keeper: K, habits: Habits) -> Self {
        let (inputs, received) = mpsc::unbounded_channel();
        let (publish, report) = watch::channel(Arc::default());
        let shared = Arc::new(Mutex::new(Shared::default()));
        let desk = Desk::new(client, keeper, habits, inputs.clone(), Arc::clone(&shared));
        let task = tokio::spawn(desk.work(received, publish));
        Self { inputs, report, shared, ordered: AtomicU64::new(0), task }
    }

    /// Collects this from now on, and nothing else. Reports of that number and
    /// higher ones know of it.
    pub fn order(&self, order: Order) -> u64 {
        let number = self.ordered.fetch_add(1, Ordering::Relaxed) + 1;
        // Nobody is there to take it only if the process ends.
        drop(self.inputs.send(Input::Order(number, order)));
        number
    }

    /// How it goes, for each target; and a bell that rings when it changes.
    pub fn report(&self) -> watch::Receiver<Arc<Report>> {
        self.report.clone()
    }

    /// How many objects of a target give no row, and the first of them.
    pub fn failed(&self, target: &TargetKey) -> (u64, Vec<FailedObject>) {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).failed(target)
    }
}

impl<K> Drop for Collector<K> {
    fn drop(&mut self) {
        self.task.abort();
    }
}
