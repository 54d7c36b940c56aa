//! Where all that changes comes together.

mod accounts;

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::resume_unwind,
    sync::{Arc, Mutex, PoisonError},
};

use kollect_inventory::{PartitionKey, TargetKey};
use kube::Client;
use tokio::{
    sync::{mpsc, watch},
    task::{JoinError, JoinSet},
    time::{Instant, sleep_until},
};

use super::{
    Habits, Input, Order,
    census::{Census, Roll, Universe},
    holdings::Holdings,
    kinds::{Kinds, Presence},
    placement::{Namespaces, Placement},
    relist::relist,
    report::{Reason, Report},
    scouts::{self, Scouts},
    stand::{Common, News, Shared, Stand, Stop, Told},
};
use crate::{
    assignment::Assignment,
    follow::{Follow, Membership},
    intake::Keeper,
    rights::Rights,
    watch::{offers::Offers, trouble::Trouble},
    watch_set::{Duty, Need, Post, WatchSet},
};

/// Everything that is known, and everything that runs.
pub(super) struct Desk<K> {
    common: Common,
    holdings: Holdings<K>,
    habits: Habits,
    tasks: JoinSet<()>,
    scouts: Scouts,
    order: Option<Order>,
    /// The number of the order.
    ordered: u64,
    /// Targets that were in doubt and no longer are. What is known of them was
    /// taken back all the while, so it has to be read again.
    recovered: BTreeSet<TargetKey>,
    kinds: Kinds,
    census: Census,
    roll: Roll,
    rights: Rights,
    stands: BTreeMap<Post, Stand<K>>,
    /// What was known of namespaces when watches were last told.
    universe: Arc<Universe>,
    report: Arc<Report>,
    shared: Arc<Mutex<Shared<K>>>,
    stood: u64,
}

impl<K: Keeper + Clone + Send + 'static> Desk<K> {
    pub(super) fn new(
        client: Client,
        keeper: K,
        habits: Habits,
        inputs: mpsc::UnboundedSender<Input>,
        shared: Arc<Mutex<Shared<K>>>,
    ) -> Self {
        let mut tasks = JoinSet::new();
        let (offers, pace) = (Offers::default(), habits.pace.clone());
        let common = Common { client, offers, pace, inputs };
        let scouts = Scouts::start(&mut tasks, &common, &habits);
        Self {
            common,
            holdings: Holdings::new(keeper),
            tasks,
            scouts,
            order: None,
            ordered: 0,
            recovered: BTreeSet::new(),
            kinds: Kinds::new(habits.definite),
            census: Census::default(),
            roll: Roll::default(),
            rights: Rights::new(habits.review),
            stands: BTreeMap::new(),
            universe: Arc::default(),
            report: Arc::default(),
            shared,
            stood: 0,
            habits,
        }
    }

    /// Takes in what changes, and does what follows from it. Never ends.
    pub(super) async fn work(
        mut self,
        mut inputs: mpsc::UnboundedReceiver<Input>,
        publish: watch::Sender<Arc<Report>>,
    ) {
        loop {
            let again = self.rights.next();
            let again = async {
                match again {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                input = inputs.recv() => match input {
                    Some(input) => self.takes(input),
                    None => return,
                },
                () = again => {}
                Some(ended) = self.tasks.join_next() => match ended.map_err(JoinError::try_into_panic) {
                    // Nobody may go on as if somebody still looked.
                    Err(Ok(bug)) => resume_unwind(bug),
                    // What has ended has said all it had to say.
                    Ok(()) | Err(Err(_)) => continue,
                },
            }
            while let Ok(input) = inputs.try_recv() {
                self.takes(input);
            }
            if self.order.is_some() {
                self.plan(Instant::now());
                let is_new = |known: &mut Arc<Report>| {
                    let is_new = **known != *self.report;
                    *known = Arc::clone(&self.report);
                    is_new
                };
                publish.send_if_modified(is_new);
            }
        }
    }

    fn takes(&mut self, input: Input) {
        match input {
            Input::Order(number, order) => {
                self.ordered = self.ordered.max(number);
                let is_new = |one: &Arc<Assignment>| self.kinds.is_new(one.kind());
                if order.assignments.iter().any(is_new) {
                    self.scouts.look.notify_one();
                }
                let Habits { defaults, confined_to, .. } = &self.habits;
                let names = if confined_to.is_empty() {
                    order.assignments.iter().flat_map(|one| one.names(defaults)).collect()
                } else {
                    // Of others nothing is asked, whoever names them.
                    confined_to.clone()
                };
                self.scouts.names.send_if_modified(|known| {
                    let is_new = *known != names;
                    *known = names;
                    is_new
                });
                self.plans_change(&order);
                let before = self.order.iter().flat_map(|order| &order.doubted);
                let recovered = before.filter(|target| !order.doubted.contains(*target));
                self.recovered.extend(recovered.cloned());
                self.order = Some(order);
            }
            Input::Kinds(answer) => {
                let order = self.order.iter().flat_map(|order| &order.assignments);
                self.kinds.learn(answer, order.map(|one| one.kind()), Instant::now());
            }
            Input::Census(census) => self.census = census,
            Input::Roll(roll) => self.roll = roll,
            Input::Reviewed(answers) => {
                for (right, answer) in answers {
                    self.rights.learn(right, answer, Instant::now());
                }
            }
            Input::Told(told) => self.hears(told),
        }
    }

    /// What is read from objects changes for some targets: what is known of
    /// them counts no longer.
    fn plans_change(&self, order: &Order) {
        let before = self.order.iter().flat_map(|order| &order.assignments);
        let before: BTreeMap<_, _> = before.map(|one| (one.target(), one)).collect();
        let is_changed = |one: &&Arc<Assignment>| {
            before.get(one.target()).is_some_and(|before| !before.reads_like(one))
        };
        let changed = order.assignments.iter().filter(is_changed);
        let changed: BTreeSet<_> = changed.map(|one| one.target()).collect();
        self.holdings.plan_changed(|key| changed.contains(&key.target));
    }

    fn hears(&mut self, Told { post, number, news }: Told) {
        let Some(stand) = self.stands.get_mut(&post) else { return };
        if stand.number != number {
            return;
        }
        match news {
            News::Listed => stand.is_listed = true,
            News::Relisted => {}
            News::Recovered => stand.trouble = None,
            News::Trouble(trouble) => {
                match trouble {
                    Trouble::Forbidden(_) => self.rights.doubt(&post.right),
                    Trouble::NotServed(_) => self.scouts.look.notify_one(),
                    _ => {}
                }
                stand.trouble = Some(trouble);
            }
        }
    }

    /// Works out what there has to be, and makes the difference.
    fn plan(&mut self, now: Instant) {
        let Some(order) = self.order.clone() else { return };
        let Habits { defaults, confined_to, .. } = &self.habits;
        let namespaces = Namespaces::of(&self.census, &self.roll, confined_to);
        let mut placements = BTreeMap::new();
        for assignment in &order.assignments {
            let kind = self.kinds.find(assignment.kind());
            let mut placement = Placement::of(assignment, kind, &namespaces, defaults, confined_to);
            if order.doubted.contains(assignment.target()) {
                let text = "this goes on as it was understood last".to_owned();
                placement.gaps.insert(String::new(), (Reason::Doubted, text));
            }
            placements.insert(assignment.target().clone(), placement);
        }
        let is_missing =
            placements.values().any(|one| !matches!(one.report.kind, Presence::Served(_)));
        self.scouts
            .is_missing
            .send_if_modified(|known| std::mem::replace(known, is_missing) != is_missing);
        self.hold(&order, &placements, &namespaces.universe);
        let set = self.watch_set(&order, &placements);
        let known = set.matter.iter().filter(|right| self.rights.of(right).is_some()).count();
        let due = self.rights.due(&set.matter, now);
        self.habits.meters.looked_up(known, due.len());
        self.habits.meters.watch(set.posts.keys());
        scouts::ask(&mut self.tasks, &self.common.client, &due, &self.common.inputs);
        self.man(&order, &set, &namespaces.universe);
        self.recovered.clear();
        let all = namespaces.all();
        self.universe = namespaces.universe;
        self.reports(placements, &set, all, now);
    }

    /// Which watches the placements come to.
    fn watch_set(&self, order: &Order, placements: &BTreeMap<TargetKey, Placement>) -> WatchSet {
        let need = |assignment: &Arc<Assignment>| {
            let (target, placement) = placements.get_key_value(assignment.target())?;
            let Presence::Served(resource) = &placement.report.kind else { return None };
            let Habits { defaults, confined_to, .. } = &self.habits;
            Some(Need {
                target,
                resource,
                namespaces: placement.report.effective.clone(),
                is_bounded: assignment.is_bounded(defaults) || !confined_to.is_empty(),
                selector: assignment.label_selector(),
                content: assignment.content(),
            })
        };
        let needs: Vec<_> = order.assignments.iter().filter_map(need).collect();
        let runs = self.stands.keys().cloned().collect();
        WatchSet::of(&needs, |right| self.rights.of(right), &runs)
    }

    /// Brings partitions into the views that they belong to, and withdraws
    /// those that are wanted no longer.
    fn hold(
        &mut self,
        order: &Order,
        placements: &BTreeMap<TargetKey, Placement>,
        universe: &Universe,
    ) {
        let mut wanted = BTreeMap::new();
        for (target, Placement { report, .. }) in placements {
            for namespace in &report.effective {
                let views = (order.feeds)(target, namespace, universe.get(namespace));
                let key = PartitionKey { target: target.clone(), namespace: namespace.clone() };
                wanted.insert(key, views.into_iter().collect::<BTreeSet<_>>());
            }
        }
        // What cannot be said of a target leaves everything as it was.
        let stays = |key: &PartitionKey| {
            let placement = placements.get(&key.target);
            order.unknown.contains(&key.target)
                || placement.is_some_and(|placement| {
                    !placement.is_decided || placement.gaps.contains_key(&key.namespace)
                })
        };
        self.holdings.change_to(wanted, stays);
    }

    /// Starts, changes and ends watches.
    fn man(&mut self, order: &Order, set: &WatchSet, universe: &Arc<Universe>) {
        let mut leaving = BTreeMap::<_, Vec<Stop>>::new();
        let is_kept = |post: &Post, stand: &Stand<K>| {
            set.posts.get(post).is_some_and(|duty| {
                (&duty.selector, duty.content) == (&stand.duty.selector, stand.duty.content)
            })
        };
        let posts: Vec<_> = self.stands.keys().cloned().collect();
        for post in posts {
            let Some(stand) = self.stands.remove(&post) else { continue };
            if is_kept(&post, &stand) {
                self.stands.insert(post, stand);
            } else {
                let everywhere = crate::rights::Right { namespace: None, ..post.right };
                leaving.entry(everywhere).or_default().push(stand.stop);
            }
        }
        for (post, duty) in &set.posts {
            let members = self.members(order, duty, universe);
            if let Some(stand) = self.stands.get_mut(post) {
                stand.follow.knows(universe);
                stand.duty = duty.clone();
                let run = stand.follow.serve(&members);
                if !run.is_empty() {
                    let (common, follow) = (self.common.clone(), stand.follow.clone());
                    let named = (post.clone(), stand.number);
                    self.tasks.spawn(relist(common, named, duty.clone(), follow, run));
                }
            } else {
                let everywhere = crate::rights::Right { namespace: None, ..post.right.clone() };
                let before = leaving.remove(&everywhere).unwrap_or_default();
                let follow = Follow::new(self.holdings.keeper().clone(), Arc::clone(universe));
                follow.counts(self.habits.meters.of(post));
                follow.serve(&members);
                self.stand(post, duty, follow, before);
            }
        }
        let follows = self.stands.iter().map(|(post, stand)| (post.clone(), stand.follow.clone()));
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).follows = follows.collect();
    }

    /// Starts a watch.
    fn stand(&mut self, post: &Post, duty: &Duty, follow: Follow<K>, before: Vec<Stop>) {
        self.stood += 1;
        let number = self.stood;
        let (stop, work) = self.common.watch((post.clone(), number), duty, follow.clone(), before);
        self.tasks.spawn(work);
        let (duty, trouble, is_listed) = (duty.clone(), None, false);
        self.stands.insert(post.clone(), Stand { duty, follow, number, stop, trouble, is_listed });
    }

    /// Who a watch serves, and where something has to be read again.
    fn members(
        &self,
        order: &Order,
        duty: &Duty,
        universe: &Universe,
    ) -> BTreeMap<TargetKey, Membership> {
        let member = |assignment: &Arc<Assignment>| {
            let namespaces = duty.users.get(assignment.target())?.clone();
            let heeds =
                |name: &&String| assignment.heeds(self.universe.get(*name), universe.get(*name));
            let is_again =
                |name: &&String| self.recovered.contains(assignment.target()) || heeds(name);
            let again = namespaces.iter().filter(is_again).cloned().collect();
            let assignment = Arc::clone(assignment);
            Some((assignment.target().clone(), Membership { assignment, namespaces, again }))
        };
        order.assignments.iter().filter_map(member).collect()
    }
}
