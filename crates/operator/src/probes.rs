//! Asks sinks whether they are there.
//!
//! When that is done is decided in `course` and `trial`, which are pure; here
//! probes are begun, bounded and listened to. A probe is dialled as an export
//! is, writes nothing, and is in nobody's way: exports neither wait for one
//! nor for what it found.

mod course;
pub(crate) mod trial;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use kollect_sinks::{Clock, Credentials, Opener, Scrub, SinkKey, SinkSpec};
use tokio::{
    task::{Id, JoinSet},
    time::timeout,
};

use self::{
    course::{Course, Wish},
    trial::{Obstacle, Step, Trial, Verdict},
};
use crate::{
    metrics::Metrics,
    objects::Name,
    plan::{
        Plan, Trouble,
        connection_test::TestPlan,
        sink::{Probing, SinkPlan},
    },
    secrets::Secrets,
};

/// No sink is waited for longer.
const BUDGET: Duration = Duration::from_secs(15);
/// So many are asked at the same time.
const AT_ONCE: usize = 32;

/// What a probe found, in words; or what is wrong.
pub(crate) type Outcome = Result<String, Trouble>;
/// Tells one probe from another.
type Ticket = u64;

/// What is known of the way to a sink.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Nothing yet: what was said before stands.
    #[default]
    Pending,
    /// Nobody wants to know.
    Unasked,
    Known(Outcome),
}

/// What is known of a sink beside its plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Insight {
    pub(crate) finding: Finding,
    /// Whether somebody else could answer in its place; nobody may know yet.
    pub(crate) is_insecure: Option<bool>,
}

/// The probes that run, and what came of others.
#[derive(Debug)]
pub(crate) struct Probes {
    opener: Arc<Opener>,
    clock: Arc<dyn Clock>,
    metrics: Metrics,
    running: JoinSet<(Outcome, Duration)>,
    whose: HashMap<Id, (Whose, Ticket)>,
    last: Ticket,
    courses: BTreeMap<SinkKey, Course>,
    known: BTreeMap<SinkKey, Insight>,
    trials: BTreeMap<Name, Trial>,
    /// Sinks of which a probe has failed since this was asked last.
    refusing: BTreeSet<SinkKey>,
}

/// Who wants to know.
#[derive(Clone, Debug)]
enum Whose {
    Sink(SinkKey),
    Test(Name),
}

impl Probes {
    pub(crate) fn new(opener: Arc<Opener>, clock: Arc<dyn Clock>, metrics: Metrics) -> Self {
        Self {
            opener,
            clock,
            metrics,
            running: JoinSet::new(),
            whose: HashMap::new(),
            last: 0,
            courses: BTreeMap::new(),
            known: BTreeMap::new(),
            trials: BTreeMap::new(),
            refusing: BTreeSet::new(),
        }
    }

    /// Waits until a probe has ended; none if none runs.
    pub(crate) async fn heard(&mut self) -> Option<()> {
        let (id, (outcome, latency)) = match self.running.join_next_with_id().await? {
            Ok(ended) => ended,
            Err(error) => {
                let trouble = Trouble::new("ConnectionTestFailed", "the probe has a bug");
                (error.id(), (Err(trouble), Duration::ZERO))
            }
        };
        match self.whose.remove(&id) {
            Some((Whose::Sink(key), ticket)) => {
                if outcome.is_err() {
                    self.refusing.insert(key.clone());
                }
                let when = (self.clock.moment(), self.clock.chance());
                if let Some(course) = self.courses.get_mut(&key) {
                    course.end(ticket, outcome, when);
                }
            }
            Some((Whose::Test(name), ticket)) => {
                let (latency, at) = (Some(latency), self.clock.timestamp());
                if let Some(trial) = self.trials.get_mut(&name) {
                    trial.end(ticket, Verdict { outcome, latency, at });
                }
            }
            None => {}
        }
        Some(())
    }

    /// Sinks of which a probe has failed since this was asked last.
    pub(crate) fn refusing(&mut self) -> BTreeSet<SinkKey> {
        std::mem::take(&mut self.refusing)
    }

    /// Begins what is due.
    pub(crate) fn change_to(&mut self, plan: &Plan, secrets: &Secrets) {
        self.courses.retain(|key, _| plan.sinks.contains_key(key));
        self.known.retain(|key, _| plan.sinks.contains_key(key));
        self.trials.retain(|name, _| plan.tests.contains_key(name));
        for (key, sink) in &plan.sinks {
            let credentials = secrets.credentials(&key.namespace, &sink.spec);
            let finding = self.look_at(key, sink, &credentials);
            let is_insecure = is_insecure(sink, &credentials);
            self.known.insert(key.clone(), Insight { finding, is_insecure });
        }
        for (name, test) in plan.tests.iter().filter(|(_, test)| !test.is_done()) {
            self.run(name, test, (plan, secrets));
        }
    }

    pub(crate) fn of_sink(&self, key: &SinkKey) -> Insight {
        self.known.get(key).cloned().unwrap_or_default()
    }

    /// What came of a test as it stands now, if it has been run by us.
    pub(crate) fn of_test(&self, name: &Name, test: &TestPlan) -> Option<&Verdict> {
        let trial = self.trials.get(name).filter(|trial| trial.is_about(&test.edition()));
        trial.and_then(Trial::verdict)
    }

    /// Probes a sink if that is due, and says what is known.
    fn look_at(
        &mut self,
        key: &SinkKey,
        sink: &SinkPlan,
        credentials: &Result<Credentials, Trouble>,
    ) -> Finding {
        let is_asked = match sink.probing {
            Probing::Always { is_asked } => is_asked,
            Probing::UntilGood => true,
            Probing::Never => {
                self.courses.remove(key);
                return Finding::Unasked;
            }
        };
        if sink.trouble.is_some() {
            return Finding::Unasked;
        }
        let credentials = match credentials {
            Ok(credentials) => credentials,
            Err(trouble) if trouble.is_pending() => return Finding::Pending,
            Err(trouble) => return Finding::Known(Err(trouble.clone())),
        };
        let about = format!("{} {}", sink.edition(), credentials.version());
        let wish = Wish { about: &about, is_asked };
        let course = self.courses.entry(key.clone()).or_default();
        course.note(&wish);
        if course.is_due(&wish, self.clock.moment()) && self.running.len() < AT_ONCE {
            self.last += 1;
            course.begin(&wish, self.last);
            self.begin(Whose::Sink(key.clone()), key, (&sink.spec, credentials));
        }
        let outcome = self.courses.get(key).and_then(|course| course.outcome(&about));
        outcome.cloned().map_or(Finding::Pending, Finding::Known)
    }

    /// Runs a test that has not been run, as far as it can be.
    fn run(&mut self, name: &Name, test: &TestPlan, around: (&Plan, &Secrets)) {
        let (about, now) = (test.edition(), self.clock.moment());
        let trial = self.trials.entry(name.clone());
        let trial = trial.or_insert_with(|| Trial::new(about.clone(), now));
        if !trial.is_about(&about) {
            *trial = Trial::new(about, now);
        }
        let (obstacle, ready) = match way(test, around) {
            Ok(ready) => (None, Some(ready)),
            Err(obstacle) => (Some(obstacle), None),
        };
        match (trial.step(obstacle, now), ready) {
            (Step::Probe, Some((key, sink, credentials))) if self.running.len() < AT_ONCE => {
                self.last += 1;
                trial.begin(self.last);
                self.begin(Whose::Test(name.clone()), key, (&sink.spec, &credentials));
            }
            (Step::Fail(trouble), _) => trial.fail(trouble, self.clock.timestamp()),
            (Step::Wait | Step::Probe, _) => {}
        }
    }

    fn begin(
        &mut self,
        whose: Whose,
        key: &SinkKey,
        (spec, credentials): (&SinkSpec, &Credentials),
    ) {
        let (opener, clock) = (Arc::clone(&self.opener), Arc::clone(&self.clock));
        let metrics = self.metrics.clone();
        let (key, spec, credentials) = (key.clone(), spec.clone(), credentials.clone());
        let task = self.running.spawn(async move {
            let since = clock.moment();
            let outcome = probe(&opener, &key, &spec, &credentials).await;
            metrics.probed(spec.backend(), outcome.is_ok());
            (outcome, clock.moment().saturating_sub(since))
        });
        self.whose.insert(task.id(), (whose, self.last));
    }
}

/// Asks a sink, and says what it answered without what is secret.
async fn probe(
    opener: &Opener,
    key: &SinkKey,
    spec: &SinkSpec,
    credentials: &Credentials,
) -> Outcome {
    let scrub = Scrub::new(credentials);
    let failed = |text: String| Trouble::new("ConnectionTestFailed", text);
    let sink = opener.open(key, spec, credentials).map_err(|error| {
        let text = scrub.error(&error);
        if error.blames_a_secret() {
            Trouble::new("SecretResolveFailed", text)
        } else {
            failed(text)
        }
    })?;
    match timeout(BUDGET, sink.probe()).await {
        Ok(Ok(text)) => Ok(scrub.text(&text)),
        Ok(Err(error)) => Err(failed(scrub.error(&error))),
        Err(_) => Err(failed(format!("it did not answer within {} s", BUDGET.as_secs()))),
    }
}

/// Whether somebody else could answer in a sink's place. What a Secret says
/// about that is not known before it has been read, and those of a sink that
/// is not admitted are not read.
fn is_insecure(sink: &SinkPlan, credentials: &Result<Credentials, Trouble>) -> Option<bool> {
    let spec = &sink.spec;
    match credentials {
        Ok(credentials) => Some(spec.is_insecure(credentials)),
        Err(trouble) if trouble.is_pending() && sink.trouble.is_none() => None,
        Err(_) => Some(spec.is_insecure(&Credentials::default())),
    }
}

/// The sink that a test is about and how to be let in there, or what is in the
/// way.
fn way<'a>(
    test: &'a TestPlan,
    (plan, secrets): (&'a Plan, &Secrets),
) -> Result<(&'a SinkKey, &'a SinkPlan, Credentials), Obstacle> {
    let key = test.sink.as_ref().map_err(|trouble| Obstacle::Lasting(trouble.clone()))?;
    let Some(sink) = plan.sinks.get(key) else {
        let message = format!("there is no {} sink {}/{}", key.family, key.namespace, key.name);
        return Err(Obstacle::Missing(Trouble::new("SinkNotFound", message)));
    };
    if let Some(trouble) = &sink.trouble {
        let message = format!("the sink is not admitted: {}", trouble.message);
        return Err(Obstacle::Lasting(Trouble::new("ConnectionTestFailed", message)));
    }
    match secrets.credentials(&key.namespace, &sink.spec) {
        Ok(credentials) => Ok((key, sink, credentials)),
        Err(trouble) if trouble.is_pending() => Err(Obstacle::Pending),
        Err(trouble) => Err(Obstacle::Missing(trouble)),
    }
}
