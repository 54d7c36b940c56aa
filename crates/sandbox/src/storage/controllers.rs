//! What the controllers of a cluster do, at once instead of by and by: serve
//! what is defined, empty namespaces that go, and take away what has lost its
//! owner.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    Inner,
    definitions::DEFINITIONS,
    write::{Mode, Propagation, is_namespace},
};
use crate::{
    crd,
    definition::Served,
    object::{Key, Object},
};

impl Inner {
    /// Follows a new state of an object.
    pub(super) fn after_commit(&mut self, served: &Served, object: &Arc<Object>) {
        if !served.is_of(DEFINITIONS.0, DEFINITIONS.1) {
            return;
        }
        let crd = Value::Object(object.fields());
        let (kinds, group, plural) = crd::kinds(&crd);
        let gone: Vec<String> = self
            .served
            .iter()
            .filter(|other| other.is_of(&group, &plural))
            .map(|other| other.definition.version.clone())
            .filter(|version| kinds.iter().all(|(kind, _)| kind.version != *version))
            .collect();
        for (definition, about) in kinds {
            let known = self.find(&definition.group, &definition.version, &definition.plural);
            // Watches go on if nothing that they show has changed.
            let is_known = known.is_some_and(|known| known.definition == definition);
            if is_known {
                self.redescribe(&definition, Arc::new(about));
            } else {
                self.define(definition, Arc::new(about), false);
            }
        }
        for version in gone {
            self.undefine(&group, &version, &plural);
        }
        let time = self.stamp().time;
        if let Some(Value::Object(fields)) = crd::accepted(&crd, &time) {
            // A definition that is accepted already stays as it is.
            drop(self.commit(served, object.key.clone(), fields));
        }
    }

    /// Follows an object that has been asked to go and is held.
    pub(super) fn after_mark(&mut self, served: &Served, key: &Key) {
        if is_namespace(served) {
            self.empty(&key.1);
        } else if served.is_of(DEFINITIONS.0, DEFINITIONS.1) {
            self.clear_definition(key);
        }
    }

    /// Follows an object that has gone.
    pub(super) fn after_remove(&mut self, group: &str, plural: &str, object: &Object) {
        let fields = object.fields();
        if (group, plural) == DEFINITIONS {
            self.undefine_all(&Value::Object(fields.clone()));
        }
        self.finish_definition(group, plural);
        let uid = text(&fields, "uid").to_owned();
        for (served, key) in self.dependents(&uid) {
            self.retire(&served, &key, Propagation::Follow, Mode::Real);
        }
        let namespace = &object.key.0;
        if !namespace.is_empty() && self.is_ending(namespace) {
            self.finish(namespace);
        }
    }

    /// Whether a namespace still holds something, or a definition has objects.
    pub(super) fn is_full(&self, served: &Served, key: &Key) -> bool {
        self.is_used(served, key)
            || (is_namespace(served)
                && self.resources.values().any(|resource| {
                    resource.objects.keys().any(|(namespace, _)| *namespace == key.1)
                }))
    }

    fn is_ending(&self, namespace: &str) -> bool {
        let namespaces = self.resources.get(&(String::new(), "namespaces".to_owned()));
        let key = (String::new(), namespace.to_owned());
        let object = namespaces.and_then(|namespaces| namespaces.objects.get(&key));
        object.is_some_and(|object| !text(&object.fields(), "deletionTimestamp").is_empty())
    }

    /// Asks everything in a namespace to go.
    fn empty(&mut self, namespace: &str) {
        let mut inside = Vec::new();
        for ((group, plural), resource) in &self.resources {
            let served = self.served.iter().find(|served| served.is_of(group, plural));
            let Some(served) = served else { continue };
            let keys = resource.objects.keys().filter(|(other, _)| other == namespace);
            inside.extend(keys.map(|key| (served.clone(), key.clone())));
        }
        for (served, key) in inside {
            self.retire(&served, &key, Propagation::Follow, Mode::Real);
        }
        self.finish(namespace);
    }

    /// Removes a namespace that goes and holds nothing any more.
    fn finish(&mut self, namespace: &str) {
        let key = (String::new(), namespace.to_owned());
        let Some(served) = self.find("", "v1", "namespaces").cloned() else { return };
        let object = self.resource(&served.definition).and_then(|it| it.objects.get(&key));
        let Some(object) = object else { return };
        let held = object.fields().get("metadata").and_then(|it| it.get("finalizers").cloned());
        let held = held.as_ref().and_then(Value::as_array).is_some_and(|held| !held.is_empty());
        if !held && !self.is_full(&served, &key) {
            self.remove("", "namespaces", &key);
        }
    }

    /// Whatever has no owner left when this one goes.
    fn dependents(&self, uid: &str) -> Vec<(Served, Key)> {
        self.owned(uid)
            .into_iter()
            .filter(|(_, _, fields)| {
                !owners(fields).iter().any(|owner| owner != uid && self.lives(owner))
            })
            .map(|(served, key, _)| (served, key))
            .collect()
    }

    fn owned(&self, uid: &str) -> Vec<(Served, Key, Map<String, Value>)> {
        let mut found = Vec::new();
        for ((group, plural), resource) in &self.resources {
            for (key, object) in resource.objects.iter().filter(|(_, object)| object.has_owner) {
                let fields = object.fields();
                let served = self.served.iter().find(|served| served.is_of(group, plural));
                if let (true, Some(served)) = (owners(&fields).iter().any(|it| it == uid), served) {
                    found.push((served.clone(), key.clone(), fields));
                }
            }
        }
        found
    }

    fn lives(&self, uid: &str) -> bool {
        let mut objects = self.resources.values().flat_map(|resource| resource.objects.values());
        objects.any(|object| text(&object.fields(), "uid") == uid)
    }

    /// Makes what an object owns independent of it.
    pub(super) fn orphan(&mut self, owner: &Map<String, Value>) {
        let uid = text(owner, "uid").to_owned();
        for (served, key, mut fields) in self.owned(&uid) {
            if let Some(Value::Object(metadata)) = fields.get_mut("metadata")
                && let Some(Value::Array(references)) = metadata.get_mut("ownerReferences")
            {
                references.retain(|reference| reference.get("uid") != Some(&Value::from(&*uid)));
                if references.is_empty() {
                    metadata.remove("ownerReferences");
                }
            }
            // It is there, and no synthetic one: nothing else can fail.
            drop(self.commit(&served, key, fields));
        }
    }
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    let value = fields.get("metadata").and_then(|metadata| metadata.get(name));
    value.and_then(Value::as_str).unwrap_or_default()
}

fn owners(fields: &Map<String, Value>) -> Vec<String> {
    let references = fields.get("metadata").and_then(|metadata| metadata.get("ownerReferences"));
    let references = references.and_then(Value::as_array).into_iter().flatten();
    references.filter_map(|owner| Some(owner.get("uid")?.as_str()?.to_owned())).collect()
}
