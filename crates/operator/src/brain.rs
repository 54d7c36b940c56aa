//! Where all that changes comes together, and what follows is done.

mod copies;
mod count;
mod events;
mod facts;
mod farewell;
mod journal;
mod requests;
mod say;
mod settle;
mod views;
mod write;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use kollect_collect::{Assignment, Collector, Keeper, Order, Report};
use kollect_inventory::{Store, TargetKey};
use kollect_sinks::{Clock, Context, Delivery, Lease, Ledger};
use kube::Client;
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, sleep, sleep_until},
};

use self::{copies::Copies, farewell::Farewells, journal::Journal, say::Speaker, views::Views};
use crate::{
    eyes::{self, Sight},
    metrics::Metrics,
    objects::{Name, News, Objects},
    plan::{self, Knowledge, Plan, Planner, target::Stance},
    probes::Probes,
    secrets::{self, Secrets},
    settings::Settings,
    vitals::{Progress, Vitals},
};

/// What comes within this time is answered together.
const GATHER: Duration = Duration::from_millis(50);
/// So often it is looked whether rows or copies have changed, which nobody
/// tells.
const LOOK: Duration = Duration::from_secs(1);
/// And so often everything is looked at although nothing seems to have.
const SURELY: Duration = Duration::from_secs(10);

/// The ledger, for those who collect.
#[derive(Clone, Debug)]
pub struct Kept(pub Ledger);

impl Keeper for Kept {
    fn with(&self, operation: &mut dyn FnMut(&mut Store)) {
        self.0.with(|store| operation(store));
    }
}

/// What a process brings along.
pub struct Surroundings {
    pub clock: Arc<dyn Clock>,
    pub lease: Arc<dyn Lease>,
    /// Random for each process.
    pub writer: String,
    /// Where it is told how the work goes.
    pub vitals: Arc<Vitals>,
    pub metrics: Metrics,
}

/// Something that must go on has ended, by a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} has ended by a bug in Kollect")]
pub struct Broken(&'static str);

/// Reconciles until it is told to stop.
pub async fn operate(
    client: Client,
    settings: Settings,
    around: Surroundings,
    stop: impl Future<Output = ()>,
) -> Result<(), Broken> {
    let start = around.clock.timestamp().as_microsecond();
    let mut store = Store::new(start);
    store.tell(around.metrics.witness());
    let ledger = Ledger::new(store);
    let mut habits = settings.habits.clone();
    habits.confined_to.clone_from(&settings.watch_namespaces);
    habits.defaults.clone_from(&settings.defaults);
    habits.meters = around.metrics.meters();
    let pace = habits.pace.clone();
    let collector = Collector::start(client.clone(), Kept(ledger.clone()), habits);
    let (told, news) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    let sight = Sight::of(&settings);
    let namespaces: Vec<_> = sight.namespaces.iter().map(String::as_str).collect();
    let namespaces = if namespaces.is_empty() { "*".to_owned() } else { namespaces.join(",") };
    tracing::info!(namespaces, tenant_mode = sight.is_tenant, "watching");
    eyes::open(&mut tasks, (&client, &pace), &sight, &told);
    let mut context = Context::new(ledger.clone(), Arc::clone(&around.clock), &around.writer);
    context.lease = Arc::clone(&around.lease);
    context.observer = Arc::new(around.metrics.clone());
    let (heard, whispers) = mpsc::unbounded_channel();
    let copies = Copies::new(&settings, Delivery::new(context));
    let brain = Brain {
        secrets: Secrets::new(client.clone(), pace, heard),
        probes: Probes::new(copies.opener(), Arc::clone(&around.clock), around.metrics.clone()),
        copies,
        speaker: Speaker::new(client.clone()),
        journal: Journal::default(),
        farewells: Farewells::default(),
        views: Views::default(),
        objects: Objects::default(),
        planner: Planner::default(),
        knowledge: Knowledge::default(),
        absent: BTreeMap::new(),
        plan: None,
        ordered: None,
        seen: Seen::default(),
        started: Instant::now(),
        client,
        settings,
        around,
        ledger,
        collector,
        sight,
    };
    brain.work((news, whispers), tasks, stop).await
}

/// What is heard of objects and of Secrets.
type Ears = (mpsc::UnboundedReceiver<News>, mpsc::UnboundedReceiver<secrets::News>);

struct Brain {
    client: Client,
    settings: Settings,
    around: Surroundings,
    sight: Sight,
    objects: Objects,
    planner: Planner,
    knowledge: Knowledge,
    /// Profiles that targets name and that are not there, since when.
    absent: BTreeMap<Name, Instant>,
    ledger: Ledger,
    collector: Collector<Kept>,
    views: Views,
    secrets: Secrets,
    copies: Copies,
    probes: Probes,
    farewells: Farewells,
    speaker: Speaker,
    /// What there has to be, unless something has changed since.
    plan: Option<Arc<Plan>>,
    journal: Journal,
    ordered: Option<Ordered>,
    seen: Seen,
    started: Instant,
}

/// How things were when everything was looked at last.
#[derive(Debug, Default)]
struct Seen {
    at: Option<Instant>,
    /// The number of the newest change of a row.
    sequence: i64,
    is_moving: bool,
}

/// How things move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pulse {
    Moving,
    /// They have come to rest, or it is time to look whether they really have.
    Rest,
    Idle,
}

/// What was ordered last, as far as another order may differ.
#[derive(PartialEq)]
struct Ordered {
    assignments: Vec<usize>,
    doubted: BTreeSet<TargetKey>,
    unknown: BTreeSet<TargetKey>,
    holdings: String,
}

impl Brain {
    /// Takes in what changes, and does what follows from it.
    async fn work(
        mut self,
        (mut news, mut whispers): Ears,
        mut eyes: JoinSet<()>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), Broken> {
        tokio::pin!(stop);
        let mut report = self.collector.report();
        let mut next = Instant::now() + LOOK;
        loop {
            self.around.vitals.beat(self.around.clock.moment());
            let is_told = tokio::select! {
                () = &mut stop => break,
                // Nobody may go on as if somebody still looked.
                Some(_) = eyes.join_next() => return Err(Broken("a watch of our own objects")),
                Some(one) = news.recv() => {
                    self.take(one);
                    sleep(GATHER).await;
                    true
                }
                Some(one) = whispers.recv() => {
                    self.secrets.take(one);
                    self.plan = None;
                    true
                }
                changed = report.changed() => {
                    changed.map_err(|_| Broken("the collector"))?;
                    true
                }
                () = self.speaker.heard() => true,
                Some(()) = self.probes.heard() => true,
                () = sleep_until(next) => false,
            };
            while let Ok(one) = news.try_recv() {
                self.take(one);
            }
            next = Instant::now() + LOOK;
            let report = report.borrow_and_update().clone();
            let pulse = self.feel();
            if is_told || pulse != Pulse::Idle {
                self.turn(&report, pulse == Pulse::Rest).await;
            }
        }
        self.around.vitals.rest();
        let grace = self.settings.grace;
        tracing::info!(seconds = grace.as_secs(), "stopping, exports that run may end");
        self.copies.shut_down(grace).await;
        Ok(())
    }

    /// What has changed makes another plan.
    fn take(&mut self, news: News) {
        if self.objects.take(news) {
            self.plan = None;
        }
    }

    /// Whether rows or copies have changed, or nobody has looked for long.
    fn feel(&mut self) -> Pulse {
        let sequence = self.ledger.with(|store| store.sequence());
        // Asking the copies marks them as seen.
        let have_changed = self.copies.have_changed();
        let has_changed = have_changed || sequence != self.seen.sequence;
        let (now, seen) = (Instant::now(), &mut self.seen);
        let is_long = seen.at.is_none_or(|at| now >= at + SURELY);
        let pulse = match (has_changed, seen.is_moving) {
            (true, _) => Pulse::Moving,
            (false, true) => Pulse::Rest,
            (false, false) if is_long => Pulse::Rest,
            (false, false) => return Pulse::Idle,
        };
        *seen = Seen { at: Some(now), sequence, is_moving: has_changed };
        pulse
    }

    /// One look at everything.
    async fn turn(&mut self, report: &Report, is_at_rest: bool) {
        let sight = &self.sight;
        let unlisted = self.objects.unlisted(&sight.kinds(), |kind| sight.places(kind));
        if !unlisted.is_empty() {
            self.around.vitals.tell(Progress::Listing(unlisted));
            return;
        }
        let began = Instant::now();
        if self.knowledge.namespaces != report.namespaces {
            self.knowledge.namespaces.clone_from(&report.namespaces);
            self.plan = None;
        }
        if self.look_for_profiles().await {
            self.plan = None;
        }
        let plan = self.planned();
        let mut refusing = self.copies.refusing();
        refusing.extend(self.probes.refusing());
        self.secrets.doubt(&plan.secrets_of(&refusing));
        self.settle(&plan, report);
        self.farewells.take_leave(&plan, &mut self.copies);
        let gone = self.farewells.released();
        if *self.around.lease.held().borrow() {
            self.speaker.finalizers(&plan, &gone);
            self.speaker.release_targets(&self.objects);
            let now = self.around.clock.timestamp();
            self.probes.change_to(&plan, &self.secrets);
            self.speaker.tend(&plan, &self.probes, now);
            let said = facts::statuses(&plan, self, report, now);
            self.count(&plan, report, &said, began.elapsed());
            self.journal.look(&plan, &said, &self.copies);
            self.speaker.say(said, is_at_rest);
        }
        self.around.vitals.tell(Progress::of(&plan, report));
    }

    /// What there has to be; if that is new, the difference is made.
    fn planned(&mut self) -> Arc<Plan> {
        if let Some(plan) = &self.plan {
            return Arc::clone(plan);
        }
        let plan = Arc::new(self.planner.plan(&self.objects, &self.settings, &self.knowledge));
        self.around.metrics.follow(&plan, &self.objects, &self.ledger);
        self.views.change_to(&plan, &self.ledger);
        self.order(&plan);
        self.secrets.want(&plan.secrets());
        self.copies.change_to(&plan, &self.views, (&self.settings, &self.secrets));
        // What could not be opened is tried again, whatever changes.
        self.plan = (!self.copies.are_broken()).then(|| Arc::clone(&plan));
        plan
    }

    /// Tells the collector what is wanted, if that has changed.
    fn order(&mut self, plan: &Plan) {
        let mut order = Order::new(Vec::new(), self.views.feeds(plan));
        for (key, target) in &plan.targets {
            match &target.stance {
                Stance::Collect(assignment) => order.assignments.push(Arc::clone(assignment)),
                Stance::Doubt(Some(assignment)) => {
                    order.assignments.push(Arc::clone(assignment));
                    order.doubted.insert(key.clone());
                }
                Stance::Doubt(None) => drop(order.unknown.insert(key.clone())),
                Stance::Withdraw => {}
            }
        }
        let address = |one: &Arc<Assignment>| Arc::as_ptr(one).addr();
        let ordered = Ordered {
            assignments: order.assignments.iter().map(address).collect(),
            doubted: order.doubted.clone(),
            unknown: order.unknown.clone(),
            holdings: self.views.signature(plan),
        };
        if self.ordered.as_ref() != Some(&ordered) {
            let (collected, unknown) = (ordered.assignments.len(), ordered.unknown.len());
            tracing::info!(collected, unknown, "what is collected has changed");
            self.ordered = Some(ordered);
            self.collector.order(order);
        }
    }

    /// Finds out which profiles are definitely not there: two answers, a minute
    /// apart, the second of them live (R3). Whether that is another than before.
    async fn look_for_profiles(&mut self) -> bool {
        let before = self.knowledge.missing_profiles.len();
        let named = plan::profiles(&self.objects);
        let now = Instant::now();
        let is_there =
            |name: &Name| self.objects.get(kollect_validate::Kind::Profile, name).is_some();
        self.absent.retain(|name, _| named.contains(name) && !is_there(name));
        self.knowledge.missing_profiles.retain(|name| self.absent.contains_key(name));
        let mut is_new = self.knowledge.missing_profiles.len() != before;
        for name in named.into_iter().filter(|name| !is_there(name)) {
            let since = *self.absent.entry(name.clone()).or_insert(now);
            let is_due = now.duration_since(since) >= self.settings.habits.definite;
            if is_due
                && !self.knowledge.missing_profiles.contains(&name)
                && write::is_gone(&self.client, &name).await
            {
                is_new |= self.knowledge.missing_profiles.insert(name);
            }
        }
        is_new
    }
}
