//! What the cluster holds.
//!
//! One counter versions everything. Several versions of a resource show the
//! same objects; several groups have nothing in common, whatever their kinds
//! are called.

mod admit;
pub(crate) mod backup;
mod controllers;
mod definitions;
pub(crate) mod events;
mod load;
mod resource;
mod write;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::watch;

use self::resource::Resource;
pub(crate) use self::{
    admit::{Stamp, uid},
    backup::Backup,
    resource::{Event, Feed, Item},
    write::{Mode, NamespaceState, Next, Propagation, Written},
};
use crate::{
    definition::{About, ResourceDefinition, Served},
    object::{Key, Object},
    recorded,
};

/// When the cluster's time begins if it has no clock. It goes on by a second a
/// version: a clock would make each run another one.
const EPOCH: i64 = 1_767_225_600;

/// A namespace as servers make it.
pub(crate) fn namespace(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    })
}

/// Tells the time.
pub(crate) type Clock = fn() -> Timestamp;

/// How many events a new watch may begin behind, unless told otherwise.
const WINDOW: usize = 10_000;

/// Why an object cannot be stored.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// No such kind is defined.
    #[error("no kind {kind} of {api_version} is defined")]
    UnknownKind { api_version: String, kind: String },

    /// No such resource is defined.
    #[error("no resource {resource} of group `{group}` is defined")]
    UnknownResource { group: String, resource: String },

    /// The object has no name.
    #[error("the object has no metadata.name")]
    Nameless,

    /// The object is a synthetic one, which is as it is made.
    #[error("{name} is a synthetic object, and cannot be written")]
    Synthetic { name: String },
}

#[derive(Debug)]
pub(crate) struct Store(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    version: u64,
    /// New watches and old pages must not begin before this version.
    compacted: u64,
    window: usize,
    clock: Option<Clock>,
    served: Vec<Served>,
    /// By group and plural.
    resources: BTreeMap<(String, String), Resource>,
}

/// A part of a resource at one version.
pub(crate) struct Page {
    pub(crate) items: Vec<Item>,
    pub(crate) version: u64,
    /// Where to go on, if there is more, and about how much there is.
    pub(crate) rest: Option<(Key, usize)>,
}

/// What part of a resource is meant.
pub(crate) struct Range<'a> {
    pub(crate) namespace: Option<&'a str>,
    /// The version to look at; the newest if there is none.
    pub(crate) version: Option<u64>,
    pub(crate) from: Option<Key>,
    pub(crate) limit: Option<usize>,
}

/// The version is before what is remembered.
#[derive(Debug)]
pub(crate) struct TooOld;

impl Store {
    pub(crate) fn new(clock: Option<Clock>) -> Self {
        let mut inner = Inner {
            clock,
            version: 1,
            compacted: 0,
            window: WINDOW,
            served: Vec::new(),
            resources: BTreeMap::new(),
        };
        for (definition, about) in recorded::kinds() {
            inner.define(definition, about, true);
        }
        Self(Mutex::new(inner))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn version(&self) -> u64 {
        self.lock().version
    }

    /// The cluster's time, in seconds.
    pub(crate) fn now(&self) -> i64 {
        self.lock().time(0).as_second()
    }

    pub(crate) fn served(&self) -> Vec<Served> {
        self.lock().served.clone()
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<Served> {
        self.lock().find(group, version, plural).cloned()
    }

    pub(crate) fn define(&self, definition: ResourceDefinition) {
        let about = Arc::new(About::bare(&definition));
        self.lock().define(definition, about, false);
    }

    pub(crate) fn undefine(&self, group: &str, version: &str, plural: &str) -> bool {
        self.lock().undefine(group, version, plural)
    }

    pub(crate) fn set_window(&self, events: usize) {
        self.lock().window = events;
    }

    pub(crate) fn compact(&self) {
        let mut inner = self.lock();
        inner.compacted = inner.version;
    }

    pub(crate) fn put(&self, object: Value) -> Result<Value, StoreError> {
        self.lock().put(object)
    }

    pub(crate) fn delete(&self, group: &str, plural: &str, key: &Key) -> bool {
        self.lock().remove(group, plural, key)
    }

    pub(crate) fn get(&self, definition: &ResourceDefinition, key: &Key) -> Option<Arc<Object>> {
        Some(self.lock().resource(definition)?.get(key)?.object())
    }

    /// Fails if the version is no longer remembered. A resource that has gone
    /// is empty.
    pub(crate) fn page(
        &self,
        definition: &ResourceDefinition,
        range: &Range<'_>,
        wanted: impl Fn(&Item) -> bool,
    ) -> Result<Page, TooOld> {
        let inner = self.lock();
        let version = range.version.unwrap_or(inner.version);
        let Some(resource) = inner.resource(definition) else {
            return Ok(Page { items: Vec::new(), version, rest: None });
        };
        if version < inner.floor(resource) {
            return Err(TooOld);
        }
        let begin = range.namespace.unwrap_or_default();
        let begin = range.from.clone().unwrap_or_else(|| (begin.to_owned(), String::new()));
        let mut items = Vec::new();
        let mut rest = None;
        for item in resource.at(version, &begin) {
            // Only what a page might end at needs its key.
            let key = item.key();
            if range.namespace.is_some_and(|namespace| namespace != key.0) {
                break;
            }
            if !wanted(&item) {
                continue;
            }
            if range.limit.is_some_and(|limit| items.len() == limit) {
                let count = resource.count(&key, range.namespace);
                rest = Some((key, count));
                break;
            }
            items.push(item);
        }
        Ok(Page { items, version, rest })
    }

    /// Wakes whoever waits for changes of a resource, if there is one.
    pub(crate) fn changes(&self, definition: &ResourceDefinition) -> Option<watch::Receiver<()>> {
        Some(self.lock().resource(definition)?.changed.subscribe())
    }

    /// The oldest version that a watch may begin at.
    pub(crate) fn floor(&self, definition: &ResourceDefinition) -> u64 {
        let inner = self.lock();
        inner.resource(definition).map_or(0, |resource| inner.floor(resource))
    }

    /// The next events of a resource, and the version that is the newest while
    /// there are no others; nothing if there is no such resource.
    pub(crate) fn after(
        &self,
        definition: &ResourceDefinition,
        version: u64,
    ) -> Option<(Feed, u64)> {
        const AT_ONCE: usize = 256;
        let inner = self.lock();
        let feed = inner.resource(definition)?.after(version, AT_ONCE);
        Some((feed, inner.version))
    }

    /// Whether it is still the definition that it was.
    pub(crate) fn is_current(&self, served: &Served) -> bool {
        let inner = self.lock();
        inner.served.iter().any(|other| other.is(&served.definition) && other.since == served.since)
    }
}

impl Inner {
    fn resource(&self, definition: &ResourceDefinition) -> Option<&Resource> {
        self.resources.get(&events::place(&definition.group, &definition.plural))
    }

    fn floor(&self, resource: &Resource) -> u64 {
        resource.floor(self.window).max(self.compacted)
    }

    fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Served> {
        self.served
            .iter()
            .find(|served| served.is_of(group, plural) && served.definition.version == version)
    }

    fn define(&mut self, definition: ResourceDefinition, about: Arc<About>, built_in: bool) {
        let key = events::place(&definition.group, &definition.plural);
        if !self.served.iter().any(|other| other.is_of(&key.0, &key.1)) {
            self.resources.insert(key.clone(), Resource::new());
        }
        // Watches end with the definition that they began with.
        if let Some(resource) = self.resources.get(&key) {
            resource.changed.send_replace(());
        }
        self.version += 1;
        let served = Served { definition, built_in, since: self.version, about };
        self.served.retain(|other| !other.is(&served.definition));
        self.served.push(served);
    }

    fn undefine(&mut self, group: &str, version: &str, plural: &str) -> bool {
        let Some(served) = self.find(group, version, plural).cloned() else { return false };
        self.served.retain(|other| !other.is(&served.definition));
        let key = (group.to_owned(), plural.to_owned());
        let is_left = self.served.iter().any(|other| other.is_of(group, plural));
        let Some(resource) = self.resources.get_mut(&key) else { return true };
        if is_left {
            resource.changed.send_replace(());
            return true;
        }
        // The objects go first, and watches are told of each before they end.
        let keys: Vec<Key> = resource.objects.keys().cloned().collect();
        resource.synthetic = None;
        resource.changed.send_replace(());
        for key in &keys {
            self.remove(group, plural, key);
        }
        true
    }

    fn put(&mut self, object: Value) -> Result<Value, StoreError> {
        let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
        let (api_version, kind) = (text("apiVersion").to_owned(), text("kind").to_owned());
        let served = self.served.iter().find(|Served { definition, .. }| {
            definition.api_version() == api_version && definition.kind == kind
        });
        let Some(served) = served.cloned() else {
            return Err(StoreError::UnknownKind { api_version, kind });
        };
        let Value::Object(mut fields) = object else { return Err(StoreError::Nameless) };
        let key = admit::identify(&mut fields, &served.definition)?;
        let fresh = self.commit(&served, key, fields)?;
        Ok(admit::shown(&fresh, &served.definition))
    }

    /// Says something else of a kind that is served, without ending its
    /// watches.
    fn redescribe(&mut self, definition: &ResourceDefinition, about: Arc<About>) {
        if let Some(served) = self.served.iter_mut().find(|served| served.is(definition)) {
            served.about = about;
        }
    }

    /// The next change, and when it is.
    fn stamp(&self) -> Stamp {
        Stamp { version: self.version + 1, time: self.time(1).to_string() }
    }

    /// The time, or that of a change to come if there is no clock.
    fn time(&self, ahead: u64) -> Timestamp {
        let seconds = match self.clock {
            Some(clock) => clock().as_second(),
            None => EPOCH.saturating_add_unsigned(self.version + ahead),
        };
        Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}
