//! A collector at work on a real server, and what it has collected.

use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use kollect_collect::{
    Assignment, Backoff, Collector, Gap, Habits, Keeper, Order, Pace, Reason, Report, Survey,
    TargetReport,
};
use kollect_inventory::{Coverage, Dedupe, PartitionKey, Store, TargetKey, ViewId};
use kube::Client;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::support::{client, gvk};

/// Nothing takes so long, except that of which it is said that it takes no longer.
pub(super) const LIMIT: Duration = Duration::from_mins(1);

pub(super) struct Kept {
    store: Mutex<Store>,
    view: ViewId,
}

impl Keeper for Kept {
    fn with(&self, operation: &mut dyn FnMut(&mut Store)) {
        operation(&mut self.store.lock().unwrap());
    }
}

impl Kept {
    fn new() -> Self {
        let mut store = Store::new(0);
        let view = store.add_view(Dedupe::KeepAll);
        Self { store: Mutex::new(store), view }
    }

    /// Every row as it would be sent, sorted.
    fn rows(&self) -> Vec<String> {
        let rows = self.store.lock().unwrap().view_rows(self.view);
        let text = rows.iter().map(|row| String::from_utf8(row.as_json().to_vec()).unwrap());
        let mut rows: Vec<_> = text.collect();
        rows.sort();
        rows
    }
}

/// Somebody who asks again soon, and whose streams last for a second or two.
pub(super) fn eager() -> Habits {
    let millis = Duration::from_millis;
    Habits {
        pace: Pace {
            retry: Backoff { first: millis(20), longest: millis(500) },
            refused: Backoff { first: millis(100), longest: millis(1000) },
            healthy_after: millis(500),
            session: (millis(1000), millis(2000)),
            ..Pace::default()
        },
        review: millis(300),
        definite: millis(1500),
        roll_call: millis(300),
        look_up: (millis(1000), LIMIT),
        ..Habits::default()
    }
}

pub(super) struct Scene {
    pub(super) collector: Collector<Arc<Kept>>,
    kept: Arc<Kept>,
    ordered: AtomicU64,
    assignments: Mutex<Vec<Arc<Assignment>>>,
}

impl Scene {
    /// A collector of whom a kubeconfig names.
    pub(super) async fn new(kubeconfig: &Path, habits: Habits) -> Self {
        let kept = Arc::new(Kept::new());
        let collector = Collector::start(client(kubeconfig).await, Arc::clone(&kept), habits);
        Self { collector, kept, ordered: AtomicU64::new(0), assignments: Mutex::default() }
    }

    /// Orders this, and nothing else.
    pub(super) fn order(&self, assignments: &[Assignment]) {
        let assignments: Vec<_> = assignments.iter().cloned().map(Arc::new).collect();
        self.assignments.lock().unwrap().clone_from(&assignments);
        let view = self.kept.view;
        let feeds = Arc::new(move |_: &_, _: &_, _: Option<&_>| vec![view]);
        let number = self.collector.order(Order::new(assignments, feeds));
        self.ordered.store(number, Ordering::Relaxed);
    }

    /// Waits until the report on a target is such.
    pub(super) async fn reports(&self, target: &str, holds: impl Fn(&TargetReport) -> bool) {
        let ordered = self.ordered.load(Ordering::Relaxed);
        let is_so = |report: &Arc<Report>| {
            let mut targets = report.targets.iter().filter(|(key, _)| key.name == target);
            report.order == ordered && targets.next().is_some_and(|(_, report)| holds(report))
        };
        let mut reports = self.collector.report();
        let waited = timeout(LIMIT, reports.wait_for(is_so)).await.is_ok();
        assert!(waited, "the report on {target} stayed {:#?}", self.collector.report().borrow());
    }

    /// Waits until everything that a target wants is known.
    pub(super) async fn covers(&self, target: &str) {
        self.reports(target, TargetReport::is_covered).await;
    }

    /// Waits until a target is in want of these, for a reason and no other.
    pub(super) async fn misses(&self, target: &str, namespaces: &[&str], reason: Reason) {
        let is_such = |report: &TargetReport| {
            report.gaps.keys().eq(namespaces)
                && report.gaps.values().all(|gap| gap.reason == reason)
        };
        self.reports(target, is_such).await;
    }

    /// What is in the way of a target in a namespace now.
    pub(super) fn gap(&self, target: &str, namespace: &str) -> Option<Gap> {
        let report = self.collector.report().borrow().clone();
        let (_, report) = report.targets.iter().find(|(key, _)| key.name == target)?;
        report.gaps.get(namespace).cloned()
    }

    /// Waits until the rows are these, as `t shop/web: red`.
    pub(super) async fn has(&self, rows: &[String]) {
        let mut rows = rows.to_vec();
        rows.sort();
        let waited = timeout(LIMIT, async {
            while self.rows() != rows {
                sleep(Duration::from_millis(25)).await;
            }
        });
        assert!(waited.await.is_ok(), "wanted {rows:#?}, there is {:#?}", self.rows());
    }

    /// The rows in short, as `t shop/web: red`, sorted.
    pub(super) fn rows(&self) -> Vec<String> {
        let mut rows: Vec<_> = self.kept.rows().iter().map(|row| short(row)).collect();
        rows.sort();
        rows
    }

    /// Waits until the rows are those of a list that is read now, byte by byte;
    /// says how many there are.
    pub(super) async fn agrees(&self, reader: &Client) -> usize {
        let assignments = self.assignments.lock().unwrap().clone();
        let mut fresh = None;
        let agreed = timeout(LIMIT, async {
            loop {
                fresh = listed(reader, &assignments).await;
                if fresh.as_ref() == Some(&self.kept.rows()) {
                    return;
                }
                sleep(Duration::from_millis(100)).await;
            }
        });
        let agreed = agreed.await.is_ok();
        let rows = self.kept.rows();
        if !agreed {
            let fresh = fresh.unwrap_or_default();
            let missing: Vec<_> = fresh.iter().filter(|row| !rows.contains(row)).collect();
            let wrong: Vec<_> = rows.iter().filter(|row| !fresh.contains(row)).collect();
            panic!("missing: {missing:#?}\nwrong: {wrong:#?}");
        }
        rows.len()
    }

    /// Whether a partition is covered; nothing if there is none.
    pub(super) fn coverage(&self, target: &str, namespace: &str) -> Option<Coverage> {
        let store = self.kept.store.lock().unwrap();
        let target = TargetKey { namespace: Some("default".to_owned()), name: target.to_owned() };
        let key = PartitionKey { target, namespace: namespace.to_owned() };
        store.partition(&key).map(|partition| store.coverage(partition))
    }
}

/// The rows that one listing gives; nothing if the server cannot say now.
async fn listed(reader: &Client, assignments: &[Arc<Assignment>]) -> Option<Vec<String>> {
    let survey = Survey::begin(reader.clone()).await.ok()?;
    let kept = Kept::new();
    for assignment in assignments {
        let (_, unlisted) = survey.list(assignment, &kept, |_| vec![kept.view]).await;
        if !unlisted.is_empty() {
            return None;
        }
    }
    Some(kept.rows())
}

fn short(row: &str) -> String {
    let row: Value = serde_json::from_str(row).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let [target, namespace, name] =
        ["targetName", "namespace", "name"].map(|field| text(&row[field]));
    format!("{target} {namespace}/{name}: {}", text(&row["attributes"]["value"]))
}

/// A profile of a kind, as in `apps v1 Deployment`, that reads one value.
fn profile(kind: &str, path: &str) -> Value {
    json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectProfile",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"targetGVK": gvk(kind), "attributes": [{"name": "value", "path": path}]},
    })
}

/// A target that reads one value of a kind; `spec` says what else it asks for.
pub(super) fn target(name: &str, kind: &str, path: &str, spec: Value) -> Assignment {
    let mut target = json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectTarget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"profileRef": "p"},
    });
    let fields = target["spec"].as_object_mut().unwrap();
    fields.extend(spec.as_object().cloned().unwrap_or_default());
    let target = serde_json::from_value(target).unwrap();
    let profile = serde_json::from_value(profile(kind, path)).unwrap();
    Assignment::of_target(&target, &profile, None, &[]).unwrap()
}

/// The same for a target of the cluster, which takes what has a label.
pub(super) fn cluster_target(name: &str, kind: &str, path: &str, labels: Value) -> Assignment {
    let target = json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectClusterTarget",
        "metadata": {"name": name},
        "spec": {
            "profileRef": {"name": "p", "namespace": "default"},
            "resourceRules": [{"gvk": gvk(kind), "matchLabels": labels}],
        },
    });
    let target = serde_json::from_value(target).unwrap();
    let profile = serde_json::from_value(profile(kind, path)).unwrap();
    Assignment::of_cluster_target(&target, &profile, None, &[]).unwrap()
}
