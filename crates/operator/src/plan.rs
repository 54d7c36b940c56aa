//! What there has to be, by all that is known. Pure.
//!
//! Every change of any object, namespace or Secret leads here, and the whole
//! plan is made anew; what was compiled is kept by its generation, so that
//! costs little. Whoever acts on a plan makes the difference to the last one.

pub(crate) mod connection_test;
pub(crate) mod inventory;
pub(crate) mod sink;
pub(crate) mod target;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use kollect_extract::select::Namespace;
use kollect_inventory::TargetKey;
use kollect_sinks::{InventoryKey, SinkKey, SinkSpec};
use kollect_validate::{Kind, Surroundings};

use self::{
    connection_test::TestPlan,
    inventory::InventoryPlan,
    sink::SinkPlan,
    target::{AnyTarget, Compiled, TargetPlan},
};
use crate::{
    objects::{Name, Objects},
    secrets::named,
    settings::Settings,
};

/// Why something is not as somebody wants it: a reason in one word, and words
/// for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

impl Trouble {
    pub(crate) fn new(reason: &'static str, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }

    /// Whether nothing is wrong, and something is not known yet.
    pub(crate) fn is_pending(&self) -> bool {
        self.reason == "Progressing"
    }
}

/// What was found out beside the objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Knowledge {
    /// The namespaces that there are, if all are known.
    pub(crate) namespaces: Option<Arc<BTreeMap<String, Namespace>>>,
    /// Profiles that are definitely not there (R3).
    pub(crate) missing_profiles: BTreeSet<Name>,
}

/// What there has to be.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) targets: BTreeMap<TargetKey, TargetPlan>,
    pub(crate) inventories: BTreeMap<InventoryKey, InventoryPlan>,
    pub(crate) sinks: BTreeMap<SinkKey, Arc<SinkPlan>>,
    pub(crate) tests: BTreeMap<Name, TestPlan>,
    /// Inventories of which nothing but that can be said, and nothing is done.
    pub(crate) nameless: Vec<InventoryPlan>,
}

impl Plan {
    /// The Secrets that these sinks name.
    pub(crate) fn secrets_of(&self, sinks: &BTreeSet<SinkKey>) -> BTreeSet<Name> {
        let known = sinks.iter().filter_map(|key| Some((key, self.sinks.get(key)?)));
        known.flat_map(|(key, sink)| secrets(key, &sink.spec)).collect()
    }

    /// The Secrets that sinks name, of whatever use they are.
    pub(crate) fn secrets(&self) -> BTreeSet<Name> {
        let pairs = self.inventories.values().flat_map(|inventory| &inventory.pairs);
        let paired = pairs.filter_map(|pair| Some((&pair.sink, &pair.spec.as_ref().ok()?.1)));
        let admitted = self.sinks.iter().filter(|(_, sink)| sink.trouble.is_none());
        let admitted = admitted.map(|(key, sink)| (key, &sink.spec));
        paired.chain(admitted).flat_map(|(key, spec)| secrets(key, spec)).collect()
    }
}

/// The Secrets that a sink names.
fn secrets(key: &SinkKey, spec: &SinkSpec) -> Vec<Name> {
    spec.secrets().iter().map(|one| named(&key.namespace, one.reference)).collect()
}

/// Makes plans, and remembers what was compiled for the last.
#[derive(Debug, Default)]
pub(crate) struct Planner {
    compiled: BTreeMap<TargetKey, Compiled>,
    sinks: BTreeMap<SinkKey, Arc<SinkPlan>>,
}

impl Planner {
    /// What there has to be.
    pub(crate) fn plan(
        &mut self,
        objects: &Objects,
        settings: &Settings,
        knowledge: &Knowledge,
    ) -> Plan {
        let around = surroundings(objects, settings);
        let targets = self.targets(objects, settings, knowledge, &around);
        let (mut inventories, nameless) = inventory::all(objects, &targets, settings, &around);
        let sinks = self.sinks(objects, settings);
        for pair in inventories.values_mut().flat_map(|inventory| &mut inventory.pairs) {
            pair.admit(sinks.get(&pair.sink).map(|sink| &**sink));
        }
        let tests = connection_test::all(objects);
        Plan { targets, inventories, sinks, tests, nameless }
    }
}

/// The profiles that targets name.
pub(crate) fn profiles(objects: &Objects) -> BTreeSet<Name> {
    let both = [Kind::Target, Kind::ClusterTarget].into_iter();
    let both = both.flat_map(|kind| objects.of_kind(kind));
    both.filter_map(|(_, object)| Some(AnyTarget::of(object)?.profile())).collect()
}

/// What the rules of admission look at beside an object.
fn surroundings(objects: &Objects, settings: &Settings) -> Surroundings {
    Surroundings {
        policy: settings.policy.clone(),
        profiles: objects.all().map(|(_, one)| one).cloned().collect(),
        scopes: objects.all().map(|(_, one)| one).cloned().collect(),
        cluster_scopes: objects.all().map(|(_, one)| one).cloned().collect(),
        secrets: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
