//! Synthetic objects and their changes.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    Inner, Store, StoreError, namespace as namespace_object,
    resource::{Event, Resource, Synthetic},
};
use crate::{
    definition::Served,
    synthetic::{Changes, Dice, Recipe},
};

impl Store {
    pub(crate) fn synthesize(
        &self,
        (group, plural): (&str, &str),
        count: usize,
        bytes_each: usize,
    ) -> Result<(), StoreError> {
        self.lock().synthesize((group, plural), count, bytes_each)
    }

    pub(crate) fn set_changes(&self, group: &str, plural: &str, changes: Changes) -> bool {
        let mut inner = self.lock();
        let resource = inner.resources.get_mut(&(group.to_owned(), plural.to_owned()));
        let Some(synthetic) = resource.and_then(|resource| resource.synthetic.as_mut()) else {
            return false;
        };
        synthetic.changes = changes;
        true
    }

    /// Makes the changes that are due after a while; says whether there is any
    /// rate to keep.
    pub(crate) fn churn(&self, seconds: f64) -> bool {
        let inner = &mut *self.lock();
        let mut any = false;
        for resource in inner.resources.values_mut() {
            let Some(synthetic) = &mut resource.synthetic else { continue };
            let per_second = synthetic.changes.per_second.max(0.0);
            any |= per_second > 0.0;
            synthetic.due += per_second * seconds;
            while resource.synthetic.as_ref().is_some_and(|synthetic| synthetic.due >= 1.0) {
                inner.version += 1;
                change_any(resource, inner.version, inner.window);
            }
        }
        any
    }
}

impl Inner {
    fn synthesize(
        &mut self,
        (group, plural): (&str, &str),
        count: usize,
        bytes_each: usize,
    ) -> Result<(), StoreError> {
        let served = self.served.iter().find(|Served { definition, .. }| {
            definition.group == group && definition.plural == plural
        });
        let Some(served) = served.cloned() else {
            let (group, resource) = (group.to_owned(), plural.to_owned());
            return Err(StoreError::UnknownResource { group, resource });
        };
        let namespaced = served.definition.namespaced;
        let recipe = Recipe { plural: plural.to_owned(), namespaced, count, bytes_each };
        for namespace in recipe.namespaces() {
            self.put(namespace_object(&namespace))?;
        }
        self.version += 1;
        let versions = vec![self.version; count];
        let key = (group.to_owned(), plural.to_owned());
        // Nobody is told of each object: a watch that is open must list anew.
        let mut resource = Resource::new();
        if let Some(old) = self.resources.remove(&key) {
            resource.objects = old.objects;
        }
        let recipe = Arc::new(recipe);
        resource.synthetic = Some(Synthetic {
            recipe,
            versions,
            gone: BTreeSet::new(),
            born: BTreeMap::new(),
            changes: Changes::default(),
            due: 0.0,
        });
        resource.forget_before(self.version);
        self.resources.insert(key, resource);
        Ok(())
    }
}

/// Changes one of the synthetic objects, scattered over all of them, or makes
/// one that was gone, or lets one go.
fn change_any(resource: &mut Resource, version: u64, window: usize) {
    let Some(synthetic) = &mut resource.synthetic else { return };
    synthetic.due -= 1.0;
    let mut dice = Dice::new(version);
    let share = dice.below(100);
    let Changes { per_cent_new, per_cent_gone, .. } = synthetic.changes;
    let drawn = usize::try_from(dice.below(synthetic.versions.len() as u64)).unwrap_or_default();
    let event = if share < per_cent_new
        && let Some(index) = next(&synthetic.gone, drawn)
    {
        synthetic.gone.remove(&index);
        synthetic.born.insert(index, version);
        let item = synthetic.item(index, version);
        set(&mut synthetic.versions, index, version);
        Event { version, previous: None, item, deleted: false }
    } else {
        let Some(index) = there(&synthetic.versions, drawn) else { return };
        let before = synthetic.versions.get(index).copied().unwrap_or_default();
        let (previous, item) = (synthetic.item(index, before), synthetic.item(index, version));
        // Of those that are to be new some may have found nothing to replace.
        let deleted = (per_cent_new..per_cent_new + per_cent_gone).contains(&share);
        if deleted {
            synthetic.gone.insert(index);
        }
        set(&mut synthetic.versions, index, if deleted { 0 } else { version });
        Event { version, previous: Some(previous), item, deleted }
    };
    resource.record(event, window);
}

fn set(versions: &mut [u64], index: usize, version: u64) {
    if let Some(known) = versions.get_mut(index) {
        *known = version;
    }
}

/// The first that is gone from a number on, or from the beginning.
fn next(gone: &BTreeSet<usize>, from: usize) -> Option<usize> {
    gone.range(from..).next().or_else(|| gone.first()).copied()
}

/// The first that is there from a number on, or from the beginning.
fn there(versions: &[u64], from: usize) -> Option<usize> {
    let is_there = |index: &usize| versions.get(*index).is_some_and(|version| *version > 0);
    (from..versions.len()).find(is_there).or_else(|| (0..from).find(is_there))
}
