//! A store whose rows are summed.

use std::collections::{BTreeMap, BTreeSet};

use kollect_api::ProfileSpec;
use kollect_inventory::{Freshness, Identity, PartitionKey, Row, Store, Sweep, TargetKey};
use serde_json::{Value, json};

use super::super::{super::text::Page, Recipe, Series, Wanted};
use crate::objects::Name;

pub(super) struct Scene {
    pub(super) store: Store,
    pub(super) series: Series,
    pub(super) wanted: Wanted,
    /// What the store holds, as a test knows it.
    pub(super) rows: BTreeMap<PartitionKey, BTreeMap<String, Value>>,
    version: u64,
}

/// A target of the namespace shop.
pub(super) fn target(name: &str) -> TargetKey {
    TargetKey { namespace: Some("shop".to_owned()), name: name.to_owned() }
}

pub(super) fn profile(name: &str) -> Name {
    Name::new("shop", name)
}

/// The recipe of a profile of deployments with these metrics.
pub(super) fn recipe(metrics: Value) -> Recipe {
    let spec = json!({
        "targetGVK": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "metrics": metrics,
    });
    Recipe::of(&serde_json::from_value::<ProfileSpec>(spec).unwrap())
}

/// Everything that is shown, without the lines about it.
pub(super) fn lines(series: &Series) -> Vec<String> {
    let mut page = Page::default();
    series.write(&mut page);
    let text = page.text();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

pub(super) fn partition(target: &TargetKey, namespace: &str) -> PartitionKey {
    PartitionKey { target: target.clone(), namespace: namespace.to_owned() }
}

pub(super) fn row(key: &PartitionKey, name: &str, attributes: &Value) -> Row {
    let identity = Identity {
        target_namespace: key.target_namespace().to_owned().into(),
        target_name: key.target.name.clone().into(),
        namespace: key.namespace.clone().into(),
        name: name.to_owned().into(),
        uid: name.to_owned().into(),
        group: "apps".into(),
        version: "v1".into(),
        kind: "Deployment".into(),
    };
    Row::of_value(&identity, attributes)
}

impl Scene {
    /// Profiles of the namespace shop, what each asks for, and its targets.
    pub(super) fn of(profiles: &[(&str, Recipe, &[&str])]) -> Self {
        let (mut store, series) = (Store::new(0), Series::default());
        store.tell(Box::new(series.clone()));
        let mut scene =
            Self { store, series, wanted: Wanted::new(), rows: BTreeMap::new(), version: 0 };
        scene.want(profiles);
        scene
    }

    pub(super) fn want(&mut self, profiles: &[(&str, Recipe, &[&str])]) {
        let one = |(name, recipe, targets): &(&str, Recipe, &[&str])| {
            let targets: BTreeSet<_> = targets.iter().map(|name| target(name)).collect();
            (profile(name), (Some(recipe.clone()), targets))
        };
        self.follow(profiles.iter().map(one).collect());
    }

    /// As the operator does it.
    pub(super) fn follow(&mut self, wanted: Wanted) {
        if self.series.differs(&wanted) {
            self.series.follow(wanted.clone(), &self.store);
        }
        self.wanted = wanted;
    }

    pub(super) fn put(&mut self, of: &str, name: &str, attributes: &Value) {
        self.put_in(&partition(&target(of), "shop"), name, attributes);
    }

    pub(super) fn remove(&mut self, of: &str, name: &str) {
        self.remove_from(&partition(&target(of), "shop"), name);
    }

    pub(super) fn put_in(&mut self, key: &PartitionKey, name: &str, attributes: &Value) {
        let freshness = self.next(key);
        let partition = self.store.join(key);
        self.store.upsert(partition, freshness, &row(key, name, attributes));
        let rows = self.rows.entry(key.clone()).or_default();
        rows.insert(name.to_owned(), attributes.clone());
    }

    pub(super) fn remove_from(&mut self, key: &PartitionKey, name: &str) {
        let freshness = self.next(key);
        let partition = self.store.join(key);
        self.store.delete(partition, freshness, name);
        self.rows.entry(key.clone()).or_default().remove(name);
    }

    /// Lists a partition, of which only some names are found.
    pub(super) fn relist(&mut self, key: &PartitionKey, found: &[&str]) {
        self.next(key);
        let partition = self.store.join(key);
        let list = self.store.begin_list(partition);
        let rows = self.rows.entry(key.clone()).or_default();
        rows.retain(|name, _| found.contains(&name.as_str()));
        for (name, attributes) in rows {
            let freshness = Freshness { list, version: self.version };
            self.store.upsert(partition, freshness, &row(key, name, attributes));
        }
        self.store.end_list(partition, list, Sweep::Yes);
    }

    pub(super) fn withdraw(&mut self, key: &PartitionKey) {
        if let Some(partition) = self.store.partition(key) {
            self.store.withdraw(partition);
        }
        self.rows.remove(key);
    }

    /// The next version of a partition that is covered.
    fn next(&mut self, key: &PartitionKey) -> Freshness {
        self.version += 1;
        let partition = self.store.join(key);
        if self.store.coverage(partition) == kollect_inventory::Coverage::Uncovered {
            let list = self.store.begin_list(partition);
            self.store.end_list(partition, list, Sweep::Yes);
        }
        // A list that never ends counts as the newest for whatever comes.
        Freshness { list: self.store.begin_list(partition), version: self.version }
    }
}
