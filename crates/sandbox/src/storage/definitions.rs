//! Definitions that go: not before their objects have gone.

use serde_json::{Value, json};

use super::{
    Inner, Store,
    write::{Mode, Propagation},
};
use crate::{
    crd,
    definition::{ResourceDefinition, Served},
    object::Key,
};

pub(super) const DEFINITIONS: (&str, &str) = ("apiextensions.k8s.io", "customresourcedefinitions");

/// Holds a definition while there are objects of it.
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

impl Store {
    /// Whether a kind is served only until its objects have gone.
    pub(crate) fn is_ending(&self, definition: &ResourceDefinition) -> bool {
        self.lock().is_ending_definition(&definition.group, &definition.plural)
    }
}

impl Inner {
    /// Whether there are objects of what a definition defines.
    pub(super) fn is_used(&self, served: &Served, key: &Key) -> bool {
        if !served.is_of(DEFINITIONS.0, DEFINITIONS.1) {
            return false;
        }
        let Some((plural, group)) = key.1.split_once('.') else { return false };
        let resource = self.resources.get(&(group.to_owned(), plural.to_owned()));
        resource.is_some_and(|resource| !resource.objects.is_empty())
    }

    fn definition(&self, group: &str, plural: &str) -> Option<(Key, Value)> {
        let place = (DEFINITIONS.0.to_owned(), DEFINITIONS.1.to_owned());
        let key = (String::new(), format!("{plural}.{group}"));
        let object = self.resources.get(&place)?.objects.get(&key)?;
        Some((key, Value::Object(object.fields())))
    }

    fn is_ending_definition(&self, group: &str, plural: &str) -> bool {
        let definition = self.definition(group, plural);
        definition.is_some_and(|(_, crd)| crd.pointer("/metadata/deletionTimestamp").is_some())
    }

    /// Says in a definition what it waits for.
    pub(super) fn note_ending(crd: &mut Value, time: &str) {
        let Some(Value::Object(metadata)) = crd.get_mut("metadata") else { return };
        metadata.remove("deletionGracePeriodSeconds");
        let finalizers = metadata.entry("finalizers").or_insert_with(|| json!([]));
        if let Value::Array(finalizers) = finalizers
            && !finalizers.contains(&json!(CLEANUP))
        {
            finalizers.push(json!(CLEANUP));
        }
        if let Some(Value::Array(conditions)) = crd.pointer_mut("/status/conditions") {
            conditions.push(json!({
                "type": "Terminating", "status": "True", "reason": "InstanceDeletionInProgress",
                "message": "CustomResource deletion is in progress", "lastTransitionTime": time,
            }));
        }
    }

    /// Asks every object of a definition to go.
    pub(super) fn clear_definition(&mut self, key: &Key) {
        let Some((plural, group)) = key.1.split_once('.') else { return };
        let served = self.served.iter().find(|served| served.is_of(group, plural)).cloned();
        let resource = self.resources.get(&(group.to_owned(), plural.to_owned()));
        let keys: Vec<Key> =
            resource.into_iter().flat_map(|resource| resource.objects.keys().cloned()).collect();
        if let Some(served) = served {
            for key in keys {
                self.retire(&served, &key, Propagation::Follow, Mode::Real);
            }
        }
        self.finish_definition(group, plural);
    }

    /// Removes a definition that goes and has no objects any more.
    pub(super) fn finish_definition(&mut self, group: &str, plural: &str) {
        let Some((key, crd)) = self.definition(group, plural) else { return };
        let is_ending = crd.pointer("/metadata/deletionTimestamp").is_some();
        let holders = crd.pointer("/metadata/finalizers").and_then(Value::as_array);
        let is_held = holders.into_iter().flatten().any(|holder| *holder != json!(CLEANUP));
        let place = (group.to_owned(), plural.to_owned());
        let is_used = self.resources.get(&place).is_some_and(|it| !it.objects.is_empty());
        if is_ending && !is_held && !is_used {
            self.remove(DEFINITIONS.0, DEFINITIONS.1, &key);
        }
    }

    /// Serves what a definition defines no longer.
    pub(super) fn undefine_all(&mut self, crd: &Value) {
        let (kinds, group, plural) = crd::kinds(crd);
        for (definition, _) in kinds {
            self.undefine(&group, &definition.version, &plural);
        }
    }
}
