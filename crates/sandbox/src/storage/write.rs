//! Changes that clients ask for: all or nothing, one after another.

use std::{collections::btree_map::Entry, sync::Arc};

use serde_json::{Map, Value};

use super::{
    Inner, Store, StoreError,
    admit::{self, Stamp},
    definitions::DEFINITIONS,
    events,
    resource::{Event, Item, Resource},
};
use crate::{
    definition::Served,
    object::{Key, Object},
    status::Status,
};

/// What becomes of an object.
#[derive(Debug)]
pub(crate) enum Next {
    Put(Value),
    /// It is asked to go, and goes when its finalizers have.
    Delete(Propagation),
}

/// What becomes of the objects that an object owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    Follow,
    Orphan,
}

/// Whether a change is only tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Real,
    DryRun,
}

/// What a change has led to.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) object: Arc<Object>,
    pub(crate) is_gone: bool,
}

impl Store {
    /// Changes one object; nobody else does so meanwhile.
    ///
    /// `change` is told what the object is now, without its kind, and decides.
    pub(crate) fn write(
        &self,
        served: &Served,
        key: &Key,
        mode: Mode,
        change: impl FnOnce(Option<&Value>, &Stamp) -> Result<Next, Status>,
    ) -> Result<Written, Status> {
        let mut inner = self.lock();
        let known = inner.resource(&served.definition).and_then(|resource| resource.get(key));
        if let Some(Item::Synthetic { .. }) = known {
            let text = format!("{} is a synthetic object, and cannot be written", key.1);
            return Err(Status::bad_request(text));
        }
        let known = known.map(|item| Value::Object(events::shown(served, item.object().fields())));
        let stamp = inner.stamp();
        match change(known.as_ref(), &stamp)? {
            Next::Put(Value::Object(mut fields)) => {
                // When an object was made is for the server to say.
                if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
                    metadata.remove("creationTimestamp");
                }
                inner.replace(served, key, fields, mode)
            }
            Next::Put(_) => Err(Status::bad_request("an object is a map")),
            Next::Delete(propagation) => inner
                .retire(served, key, propagation, mode)
                .ok_or_else(|| Status::not_found(&served.definition, &key.1)),
        }
    }

    /// Whether a namespace is there, and may be written into.
    pub(crate) fn namespace(&self, name: &str) -> Option<NamespaceState> {
        let inner = self.lock();
        let namespaces = inner.resources.get(&(String::new(), "namespaces".to_owned()))?;
        let fields = namespaces.get(&(String::new(), name.to_owned()))?.object().fields();
        let is_ending = has(&fields, "deletionTimestamp");
        Some(if is_ending { NamespaceState::Terminating } else { NamespaceState::Active })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamespaceState {
    Active,
    Terminating,
}

fn has(fields: &Map<String, Value>, name: &str) -> bool {
    fields.get("metadata").and_then(|metadata| metadata.get(name)).is_some()
}

fn has_finalizers(fields: &Map<String, Value>) -> bool {
    let finalizers = fields.get("metadata").and_then(|metadata| metadata.get("finalizers"));
    finalizers.and_then(Value::as_array).is_some_and(|finalizers| !finalizers.is_empty())
}

impl Inner {
    fn replace(
        &mut self,
        served: &Served,
        key: &Key,
        fields: Map<String, Value>,
        mode: Mode,
    ) -> Result<Written, Status> {
        let known = self.resource(&served.definition).and_then(|resource| resource.get(key));
        let is_ending = known.is_some_and(|item| has(&item.object().fields(), "deletionTimestamp"));
        let is_held = has_finalizers(&fields) || self.is_full(served, key);
        let refused = |error: StoreError| Status::bad_request(error.to_string());
        if mode == Mode::DryRun {
            let object = self.tried(served, key, fields);
            return Ok(Written { object, is_gone: false });
        }
        let object = self.commit(served, key.clone(), fields).map_err(refused)?;
        if !is_ending || is_held {
            return Ok(Written { object, is_gone: false });
        }
        self.remove(&served.definition.group, &served.definition.plural, key);
        Ok(Written { object, is_gone: true })
    }

    /// An object as it would be kept.
    fn tried(&self, served: &Served, key: &Key, mut fields: Map<String, Value>) -> Arc<Object> {
        let known = self.resource(&served.definition).and_then(|resource| resource.get(key));
        let known = known.map(|item| item.object());
        let version = known.as_ref().map_or(0, |known| known.version);
        let known = known.map(|known| known.fields());
        fields = events::kept(served, fields);
        admit::inherit(&mut fields, known.as_ref(), &self.stamp(), &served.about);
        Arc::new(Object::new(key.clone(), version, fields, served.built_in))
    }

    /// Keeps a new state of an object, if it is one.
    pub(super) fn commit(
        &mut self,
        served: &Served,
        key: Key,
        mut fields: Map<String, Value>,
    ) -> Result<Arc<Object>, StoreError> {
        let stamp = self.stamp();
        let definition = &served.definition;
        let resource_key = events::place(&definition.group, &definition.plural);
        fields = events::kept(served, fields);
        let resource = self.resources.entry(resource_key).or_insert_with(Resource::new);
        let previous = resource.get(&key);
        if let Some(Item::Synthetic { .. }) = previous {
            return Err(StoreError::Synthetic { name: key.1 });
        }
        let known = previous.as_ref().map(|item| item.object().fields());
        admit::inherit(&mut fields, known.as_ref(), &stamp, &served.about);
        let version = stamp.version;
        let fresh = Object::new(key.clone(), version, fields, served.built_in);
        // An update that changes nothing makes no version, as on a real server.
        if let Some(unchanged) = previous.as_ref().map(Item::object)
            && unchanged.fields() == fresh.at(unchanged.version).fields()
        {
            return Ok(unchanged);
        }
        self.version = version;
        let fresh = Arc::new(fresh);
        resource.objects.insert(key, Arc::clone(&fresh));
        let item = Item::Stored(Arc::clone(&fresh));
        resource.record(Event { version, previous, item, deleted: false }, self.window);
        self.after_commit(served, &fresh);
        Ok(fresh)
    }

    /// Asks an object to go.
    pub(super) fn retire(
        &mut self,
        served: &Served,
        key: &Key,
        propagation: Propagation,
        mode: Mode,
    ) -> Option<Written> {
        let definition = &served.definition;
        let known = self.resource(definition)?.objects.get(key)?;
        let known = Arc::clone(known);
        let mut fields = known.fields();
        let is_held = has_finalizers(&fields) || self.is_full(served, key);
        if mode == Mode::DryRun {
            return Some(Written { object: known, is_gone: !is_held });
        }
        if propagation == Propagation::Orphan {
            self.orphan(&fields);
        }
        if !is_held {
            self.remove(&definition.group, &definition.plural, key);
            return Some(Written { object: known, is_gone: true });
        }
        if has(&fields, "deletionTimestamp") {
            return Some(Written { object: known, is_gone: false });
        }
        let object = self.mark(served, key, &mut fields);
        self.after_mark(served, key);
        let is_gone = self.resource(definition).is_none_or(|it| !it.objects.contains_key(key));
        Some(Written { object, is_gone })
    }

    /// Notes in an object that it is to go.
    fn mark(&mut self, served: &Served, key: &Key, fields: &mut Map<String, Value>) -> Arc<Object> {
        let stamp = self.stamp();
        if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
            metadata.insert("deletionTimestamp".to_owned(), Value::from(stamp.time.clone()));
            metadata.insert("deletionGracePeriodSeconds".to_owned(), Value::from(0));
            if let Some(generation) = metadata.get("generation").and_then(Value::as_u64) {
                metadata.insert("generation".to_owned(), Value::from(generation + 1));
            }
        }
        if is_namespace(served)
            && let Some(Value::Object(status)) = fields.get_mut("status")
        {
            status.insert("phase".to_owned(), Value::from("Terminating"));
        }
        if served.is_of(DEFINITIONS.0, DEFINITIONS.1) {
            let mut crd = Value::Object(std::mem::take(fields));
            Self::note_ending(&mut crd, &stamp.time);
            if let Value::Object(noted) = crd {
                *fields = noted;
            }
        }
        self.version = stamp.version;
        let version = stamp.version;
        let fresh = Object::new(key.clone(), version, fields.clone(), served.built_in);
        let fresh = Arc::new(fresh);
        let definition = &served.definition;
        let resource_key = events::place(&definition.group, &definition.plural);
        let resource = self.resources.entry(resource_key).or_insert_with(Resource::new);
        let previous = resource.objects.insert(key.clone(), Arc::clone(&fresh));
        let previous = previous.map(Item::Stored);
        let item = Item::Stored(Arc::clone(&fresh));
        resource.record(Event { version, previous, item, deleted: false }, self.window);
        fresh
    }

    /// Removes an object at once.
    pub(super) fn remove(&mut self, group: &str, plural: &str, key: &Key) -> bool {
        let resource = self.resources.get_mut(&events::place(group, plural));
        let Some(resource) = resource else { return false };
        let Entry::Occupied(found) = resource.objects.entry(key.clone()) else { return false };
        let object = found.remove();
        self.version += 1;
        let event = Event {
            version: self.version,
            item: Item::Stored(Arc::new(object.at(self.version))),
            previous: Some(Item::Stored(Arc::clone(&object))),
            deleted: true,
        };
        resource.record(event, self.window);
        self.after_remove(group, plural, &object);
        true
    }
}

pub(super) fn is_namespace(served: &Served) -> bool {
    served.is_of("", "namespaces")
}
