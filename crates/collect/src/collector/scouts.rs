//! Those who find out what there is: kinds, namespaces, rights.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use kube::Client;
use tokio::{
    sync::{Notify, mpsc, watch},
    task::JoinSet,
    time::{Instant, sleep, sleep_until},
};

use super::{
    Habits, Input,
    census::{Census, Clerk, Roll, call_roll},
    stand::Common,
};
use crate::{
    ask::chain,
    discovery::{Catalogue, Resource, Scope},
    list::{Content, Question},
    rights::{Right, review::review},
    watch::{Event, Listener, Watch, offers::Offers, pace::Pace},
};

/// Between two looks at what is served there is at least this.
const BREATH: Duration = Duration::from_millis(500);
/// So many reviews run at the same time.
const REVIEWERS: usize = 8;

/// How the others are told what is wanted of them.
#[derive(Debug)]
pub(super) struct Scouts {
    /// Something may have changed about kinds.
    pub(super) look: Arc<Notify>,
    /// Whether a kind is missing.
    pub(super) is_missing: watch::Sender<bool>,
    /// Namespaces that may have to be read by their names.
    pub(super) names: watch::Sender<BTreeSet<String>>,
}

impl Scouts {
    /// Sends them out.
    pub(super) fn start(tasks: &mut JoinSet<()>, common: &Common, habits: &Habits) -> Self {
        let Common { client, offers, pace, inputs } = common;
        let look = Arc::new(Notify::new());
        let (is_missing, missing) = watch::channel(false);
        let (names, wanted) = watch::channel(habits.confined_to.clone());
        let every = habits.look_up;
        tasks.spawn(look_up(client.clone(), Arc::clone(&look), missing, every, inputs.clone()));
        if habits.confined_to.is_empty() {
            tasks.spawn(count(client.clone(), offers.clone(), pace.clone(), inputs.clone()));
            let (offers, pace) = (offers.clone(), pace.clone());
            tasks.spawn(see_definitions(client.clone(), offers, pace, Arc::clone(&look)));
        }
        let (roll, called) = watch::channel(Roll::default());
        tasks.spawn(call_roll(client.clone(), wanted, habits.roll_call, roll));
        tasks.spawn(pass_on(called, inputs.clone(), Input::Roll));
        Self { look, is_missing, names }
    }
}

/// Passes on whatever is published.
async fn pass_on<T: Clone>(
    mut from: watch::Receiver<T>,
    to: mpsc::UnboundedSender<Input>,
    input: fn(T) -> Input,
) {
    while from.changed().await.is_ok() {
        let now = from.borrow_and_update().clone();
        if to.send(input(now)).is_err() {
            return;
        }
    }
}

/// Asks which kinds there are, now and whenever that may have changed.
async fn look_up(
    client: Client,
    look: Arc<Notify>,
    mut missing: watch::Receiver<bool>,
    (often, seldom): (Duration, Duration),
    inputs: mpsc::UnboundedSender<Input>,
) {
    let mut wait = BREATH;
    loop {
        let answer = Catalogue::fetch(&client).await.map_err(|error| chain(&error));
        let is_answer = answer.is_ok();
        let asked = Instant::now();
        if inputs.send(Input::Kinds(answer)).is_err() {
            return;
        }
        sleep(BREATH).await;
        loop {
            let hurry = *missing.borrow_and_update() || !is_answer;
            let next = if hurry { wait.min(often) } else { seldom };
            tokio::select! {
                () = sleep_until(asked + next) => {
                    wait = wait.saturating_mul(2).min(seldom);
                    break;
                }
                () = look.notified() => {
                    wait = BREATH;
                    break;
                }
                changed = missing.changed() => if changed.is_err() { return },
            }
        }
    }
}

/// Watches the namespaces.
async fn count(client: Client, offers: Offers, pace: Pace, inputs: mpsc::UnboundedSender<Input>) {
    let namespaces = known("", "Namespace", "namespaces");
    let (census, counted) = watch::channel(Census::default());
    let mut clerk = Clerk::new(census);
    let question = Question { content: Content::Metadata, ..Question::all(&namespaces) };
    let watch = Watch::new(client, question, offers, pace);
    tokio::join!(
        watch.run(&mut clerk, std::future::pending()),
        pass_on(counted, inputs, Input::Census)
    );
}

/// Watches the definitions of kinds. Where that is refused, the next regular
/// look has to do.
async fn see_definitions(client: Client, offers: Offers, pace: Pace, look: Arc<Notify>) {
    let definitions =
        known("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions");
    let question = Question { content: Content::Metadata, ..Question::all(&definitions) };
    let watch = Watch::new(client, question, offers, pace);
    watch.run(&mut Sentry { look, is_first: true }, std::future::pending()).await;
}

struct Sentry {
    look: Arc<Notify>,
    is_first: bool,
}

impl Listener for Sentry {
    fn hear(&mut self, event: Event<'_>) {
        match event {
            // The first list tells nothing that was not looked up at the start.
            Event::ListEnds { .. } if self.is_first => self.is_first = false,
            Event::ListEnds { .. } | Event::Changed(_) | Event::Gone(_) => self.look.notify_one(),
            _ => {}
        }
    }
}

/// A resource that every server has under these names.
fn known(group: &str, kind: &str, plural: &str) -> Resource {
    Resource::known((group, "v1"), kind, plural, Scope::Cluster)
}

/// Asks for rights, some at a time.
pub(super) fn ask(
    tasks: &mut JoinSet<()>,
    client: &Client,
    rights: &[Right],
    inputs: &mpsc::UnboundedSender<Input>,
) {
    for part in rights.chunks(rights.len().div_ceil(REVIEWERS).max(1)) {
        let (client, part, inputs) = (client.clone(), part.to_vec(), inputs.clone());
        tasks.spawn(async move {
            let mut answers = Vec::new();
            for right in part {
                let answer = review(&client, &right).await;
                answers.push((right, answer));
            }
            drop(inputs.send(Input::Reviewed(answers)));
        });
    }
}
