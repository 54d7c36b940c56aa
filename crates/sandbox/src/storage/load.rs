//! Synthetic objects and their changes.

use std::sync::Arc;

use super::{
    Inner, Store, StoreError, namespace as namespace_object,
    resource::{Event, Item, Resource, Synthetic},
};
use crate::{
    definition::Served,
    synthetic::{Dice, Recipe},
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

    pub(crate) fn set_rate(&self, group: &str, plural: &str, per_second: f64) -> bool {
        let mut inner = self.lock();
        let resource = inner.resources.get_mut(&(group.to_owned(), plural.to_owned()));
        let Some(synthetic) = resource.and_then(|resource| resource.synthetic.as_mut()) else {
            return false;
        };
        synthetic.per_second = per_second.max(0.0);
        true
    }

    /// Makes the changes that are due after a while; says whether there is any
    /// rate to keep.
    pub(crate) fn churn(&self, seconds: f64) -> bool {
        let inner = &mut *self.lock();
        let mut any = false;
        for resource in inner.resources.values_mut() {
            let Some(synthetic) = &mut resource.synthetic else { continue };
            any |= synthetic.per_second > 0.0;
            synthetic.due += synthetic.per_second * seconds;
            while resource.synthetic.as_ref().is_some_and(|synthetic| synthetic.due >= 1.0) {
                inner.version += 1;
                modify_any(resource, inner.version, inner.window);
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
        resource.synthetic = Some(Synthetic { recipe, versions, per_second: 0.0, due: 0.0 });
        resource.forget_before(self.version);
        self.resources.insert(key, resource);
        Ok(())
    }
}

/// Changes one of the synthetic objects, scattered over all of them.
fn modify_any(resource: &mut Resource, version: u64, window: usize) {
    let Some(synthetic) = &mut resource.synthetic else { return };
    synthetic.due -= 1.0;
    let drawn = Dice::new(version).below(synthetic.versions.len() as u64);
    let index = usize::try_from(drawn).unwrap_or_default();
    let Some(current) = synthetic.versions.get_mut(index) else { return };
    let previous = std::mem::replace(current, version);
    let item = |version| Item::Synthetic { recipe: Arc::clone(&synthetic.recipe), index, version };
    let event =
        Event { version, previous: Some(item(previous)), item: item(version), deleted: false };
    resource.record(event, window);
}
