//! A cluster with widgets, somebody who follows them, and what was heard.

use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use kollect_collect::{
    Assignment, Backoff, Catalogue, Event, Follow, Keeper, Listener, Lookup, Offers, Pace, Place,
    Question, Resource, Survey, Watch, connect, use_ring,
};
use kollect_extract::select::Namespace;
use kollect_inventory::{Coverage, Dedupe, PartitionKey, Store, ViewId};
use kollect_sandbox::{Request, ResourceDefinition, Sandbox, Verb};
use kube::Client;
use serde_json::{Value, json};
use tokio::{sync::watch, time::timeout};

/// Nothing takes so long.
const LIMIT: Duration = Duration::from_mins(1);

pub(super) const NAMESPACES: [&str; 2] = ["mall", "shop"];

/// A store that several may hold.
pub(super) struct Kept(Mutex<Store>);

impl Kept {
    pub(super) fn lock(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap()
    }
}

impl Keeper for Kept {
    fn with(&self, operation: &mut dyn FnMut(&mut Store)) {
        operation(&mut self.lock());
    }
}

/// Somebody who follows the widgets of a server.
pub(super) struct Scene {
    pub(super) client: Client,
    pub(super) resource: Resource,
    pub(super) store: Arc<Kept>,
    pub(super) pace: Pace,
    pub(super) offers: Offers,
    assignment: Arc<Assignment>,
    view: ViewId,
    /// What was heard, in few letters.
    heard: watch::Sender<Vec<String>>,
}

/// Writes down what it hears, and passes it on.
struct Notes<'a> {
    follow: Follow<Arc<Kept>>,
    heard: &'a watch::Sender<Vec<String>>,
}

impl Listener for Notes<'_> {
    fn hear(&mut self, event: Event<'_>) {
        self.follow.hear(event);
        let note = match event {
            Event::ListBegins => "list".to_owned(),
            Event::Item(_) => "item".to_owned(),
            Event::ListEnds { .. } => "end".to_owned(),
            Event::Changed(_) => "changed".to_owned(),
            Event::Gone(_) => "gone".to_owned(),
            Event::Bookmark(_) => "bookmark".to_owned(),
            Event::Uncovered(trouble) => {
                let text = format!("{trouble:?}");
                text.split('(').next().unwrap_or_default().to_owned()
            }
            Event::Recovered => "recovered".to_owned(),
        };
        self.heard.send_modify(|heard| heard.push(note));
    }
}

/// A cluster with two namespaces and a kind of its own.
pub(super) fn sandbox() -> Sandbox {
    let sandbox = Sandbox::start().unwrap();
    sandbox.set_bookmark_interval(Duration::from_millis(50));
    for name in NAMESPACES {
        let metadata = json!({"name": name});
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
        sandbox.put(namespace).unwrap();
    }
    sandbox.define(widgets());
    sandbox
}

pub(super) fn widgets() -> ResourceDefinition {
    ResourceDefinition {
        group: "shop.example".to_owned(),
        version: "v1".to_owned(),
        kind: "Widget".to_owned(),
        plural: "widgets".to_owned(),
        namespaced: true,
    }
}

/// Puts a widget of some colour; one without is not wanted.
pub(super) fn put(sandbox: &Sandbox, namespace: &str, name: &str, colour: &str) {
    let labels = match colour {
        "" => json!({}),
        _ => json!({"coloured": "yes"}),
    };
    let widget = json!({
        "apiVersion": "shop.example/v1", "kind": "Widget",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"colour": colour},
    });
    sandbox.put(widget).unwrap();
}

pub(super) fn delete(sandbox: &Sandbox, namespace: &str, name: &str) -> bool {
    sandbox.delete("shop.example", "widgets", Some(namespace), name)
}

pub(super) fn is_watch(request: &Request) -> bool {
    request.verb == Verb::Watch && request.resource() == "widgets"
}

pub(super) fn is_list(request: &Request) -> bool {
    request.verb == Verb::List && request.resource() == "widgets"
}

fn assignment() -> Assignment {
    let kind = json!({"group": "shop.example", "version": "v1", "kind": "Widget"});
    let profile = json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectProfile", "metadata": {"name": "p"},
        "spec": {
            "targetGVK": kind,
            "attributes": [{"name": "colour", "path": "$.spec.colour"}],
        },
    });
    let target = json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectTarget",
        "metadata": {"name": "t", "namespace": "default"},
        "spec": {
            "profileRef": "p",
            "includedNamespaces": NAMESPACES,
            "resourceRules": [{"gvk": kind, "matchLabels": {"coloured": "yes"}}],
        },
    });
    let (profile, target) = (serde_json::from_value(profile), serde_json::from_value(target));
    Assignment::of_target(&target.unwrap(), &profile.unwrap(), None, &[]).unwrap()
}

/// A client by way of a kubeconfig that leads to an address.
async fn client(url: &str) -> Client {
    use_ring();
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("config");
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "c", "user": {"token": "t"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
    });
    fs::write(&file, config.to_string()).unwrap();
    connect(&Place::Files(vec![file]), None).await.unwrap()
}

impl Scene {
    pub(super) async fn of(url: &str) -> Self {
        let client = client(url).await;
        let assignment = Arc::new(assignment());
        let catalogue = Catalogue::fetch(&client).await.unwrap();
        let Lookup::Served(resource) = catalogue.find(assignment.kind()) else {
            panic!("the server has no widgets");
        };
        let mut store = Store::new(0);
        let view = store.add_view(Dedupe::KeepAll);
        Self {
            resource: resource.clone(),
            client,
            store: Arc::new(Kept(Mutex::new(store))),
            pace: Pace {
                retry: Backoff { first: millis(4), longest: millis(32) },
                refused: Backoff { first: millis(10), longest: millis(40) },
                silence: Duration::from_secs(20),
                ..Pace::default()
            },
            offers: Offers::default(),
            assignment,
            view,
            heard: watch::Sender::default(),
        }
    }

    /// Follows the widgets while something happens.
    pub(super) async fn follows<T>(&self, happens: impl Future<Output = T>) -> T {
        let names = NAMESPACES.map(|name| (name.to_owned(), Namespace::default()));
        let universe = Arc::new(BTreeMap::from(names));
        let mut follow = Follow::new(Arc::clone(&self.store), universe);
        let namespaces = NAMESPACES.map(str::to_owned);
        follow.add(Arc::clone(&self.assignment), namespaces, |_| vec![self.view]);
        let mut notes = Notes { follow, heard: &self.heard };
        let question = Question::all(&self.resource);
        let (client, offers, pace) = (self.client.clone(), self.offers.clone(), self.pace.clone());
        let (over, is_over) = tokio::sync::oneshot::channel::<()>();
        let watch = Watch::new(client, question, offers, pace);
        let run = for_a_task(watch.run(&mut notes, async { drop(is_over.await) }));
        let happens = async {
            let result = timeout(LIMIT, happens).await;
            drop(over);
            result.unwrap_or_else(|_| panic!("it took too long; heard {:?}", self.heard()))
        };
        tokio::join!(run, happens).1
    }

    /// What was heard, bookmarks left out.
    pub(super) fn heard(&self) -> Vec<String> {
        let heard = self.heard.borrow();
        heard.iter().filter(|note| *note != "bookmark").cloned().collect()
    }

    pub(super) fn count(&self, wanted: &str) -> usize {
        self.heard.borrow().iter().filter(|note| *note == wanted).count()
    }

    /// Waits until something was heard so often.
    pub(super) async fn hears(&self, wanted: &str, times: usize) {
        self.until(|| self.count(wanted) >= times).await;
    }

    /// Waits until something holds, which can change only when something is heard.
    pub(super) async fn until(&self, holds: impl Fn() -> bool) {
        let mut heard = self.heard.subscribe();
        while !holds() {
            heard.changed().await.unwrap();
        }
    }

    /// The rows that there are, as `shop/web: red`.
    pub(super) fn rows(&self) -> Vec<String> {
        rows(&self.store.lock(), self.view)
    }

    /// Waits until the rows are those of a fresh list.
    pub(super) async fn is_like_a_fresh_list(&self) {
        let fresh = self.fresh().await;
        self.until(|| self.rows() == fresh).await;
    }

    /// The rows that a list makes, in a store of its own.
    pub(super) async fn fresh(&self) -> Vec<String> {
        let mut store = Store::new(0);
        let view = store.add_view(Dedupe::KeepAll);
        let kept = Kept(Mutex::new(store));
        let survey = Survey::begin(self.client.clone()).await.unwrap();
        let (_, unlisted) = survey.list(&self.assignment, &kept, |_| vec![view]).await;
        assert!(unlisted.is_empty(), "{unlisted:?}");
        rows(&kept.lock(), view)
    }

    /// Whether everything is known.
    pub(super) fn is_covered(&self) -> bool {
        let store = self.store.lock();
        NAMESPACES.iter().all(|name| {
            let target = self.assignment.target().clone();
            let key = PartitionKey { target, namespace: (*name).to_owned() };
            store.partition(&key).is_some_and(|id| store.coverage(id) == Coverage::Covered)
        })
    }
}

/// Whatever watches does so in a task, which may move between threads.
fn for_a_task<T: Send>(work: T) -> T {
    work
}

pub(super) fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn rows(store: &Store, view: ViewId) -> Vec<String> {
    let mut rows: Vec<_> = store
        .view_rows(view)
        .iter()
        .map(|row| {
            let row: Value = serde_json::from_slice(row.as_json()).unwrap();
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let (namespace, name) = (text(&row["namespace"]), text(&row["name"]));
            format!("{namespace}/{name}: {}", text(&row["attributes"]["colour"]))
        })
        .collect();
    rows.sort();
    rows
}
