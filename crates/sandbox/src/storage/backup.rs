//! The whole cluster, put aside and brought back.

use std::{collections::BTreeMap, sync::Arc};

use super::{Inner, Store, resource::Resource};
use crate::{
    definition::Served,
    object::{Key, Object},
};

/// A cluster as it was; synthetic objects are not part of it.
#[derive(Clone, Debug)]
pub struct Backup {
    version: u64,
    served: Vec<Served>,
    objects: BTreeMap<(String, String), BTreeMap<Key, Arc<Object>>>,
}

impl Store {
    pub(crate) fn backup(&self) -> Backup {
        let inner = self.lock();
        let objects = inner.resources.iter();
        Backup {
            version: inner.version,
            served: inner.served.clone(),
            objects: objects.map(|(key, it)| (key.clone(), it.objects.clone())).collect(),
        }
    }

    /// Goes back to what was put aside, its versions included; watches end.
    pub(crate) fn restore(&self, backup: &Backup) {
        let mut inner = self.lock();
        let Backup { version, served, objects } = backup.clone();
        let Inner { window, clock, .. } = *inner;
        let resources = objects.into_iter().map(|(key, objects)| {
            let mut resource = Resource::new();
            resource.objects = objects;
            resource.forget_before(version);
            (key, resource)
        });
        let resources = resources.collect();
        *inner = Inner { version, compacted: version, window, clock, served, resources };
    }
}
