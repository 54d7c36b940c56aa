//! The cluster that a case copies.

use std::collections::BTreeMap;

use kollect_inventory::{Identity, PartitionKey, Row, TargetKey, json, sort};

/// Objects by namespace and name, each with a value and a number that makes
/// its uid another when it is created again.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    objects: BTreeMap<(String, String), (String, u32)>,
    created: u32,
}

impl Cluster {
    /// So many objects in the namespace `shop`.
    pub fn of(count: usize) -> Self {
        let mut cluster = Self::default();
        for number in 0..count {
            cluster.put("shop", &format!("object-{number}"), "1");
        }
        cluster
    }

    /// Creates or changes an object.
    pub fn put(&mut self, namespace: &str, name: &str, value: &str) {
        self.created += 1;
        let number = self.created;
        let object = self.objects.entry((namespace.to_owned(), name.to_owned()));
        value.clone_into(&mut object.or_insert_with(|| (String::new(), number)).0);
    }

    pub fn remove(&mut self, namespace: &str, name: &str) {
        self.objects.remove(&(namespace.to_owned(), name.to_owned()));
    }

    /// Deletes every object of a namespace.
    pub fn clear(&mut self, namespace: &str) {
        self.objects.retain(|(of, _), _| of != namespace);
    }

    /// What a complete copy holds, in canonical order.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<_> =
            self.objects.keys().filter_map(|(ns, name)| self.row(ns, name)).collect();
        sort(&mut rows);
        rows
    }

    pub(super) fn row(&self, namespace: &str, name: &str) -> Option<Row> {
        let (value, number) = self.objects.get(&(namespace.to_owned(), name.to_owned()))?;
        let identity = Identity {
            target_namespace: "shop".into(),
            target_name: "things".into(),
            namespace: namespace.into(),
            name: name.into(),
            uid: format!("00000000-0000-4000-8000-{number:012}").into(),
            group: "example.com".into(),
            version: "v1".into(),
            kind: "Thing".into(),
        };
        let mut attributes = b"{\"value\":".to_vec();
        json::write_text(value, &mut attributes);
        attributes.push(b'}');
        Some(Row::new(&identity, &attributes))
    }

    pub(super) fn in_namespace(&self, namespace: &str) -> Vec<Row> {
        let names = self.objects.keys().filter(|(of, _)| of == namespace);
        names.filter_map(|(ns, name)| self.row(ns, name)).collect()
    }

    pub(super) fn namespaces(&self) -> Vec<String> {
        let mut namespaces: Vec<_> = self.objects.keys().map(|(of, _)| of.clone()).collect();
        namespaces.push("shop".to_owned());
        namespaces.sort();
        namespaces.dedup();
        namespaces
    }

    pub(super) fn names(&self, namespace: &str) -> Vec<String> {
        let names = self.objects.keys().filter(|(of, _)| of == namespace);
        names.map(|(_, name)| name.clone()).collect()
    }
}

pub(super) fn target() -> TargetKey {
    TargetKey { namespace: Some("shop".to_owned()), name: "things".to_owned() }
}

pub(super) fn partition(namespace: &str) -> PartitionKey {
    PartitionKey { target: target(), namespace: namespace.to_owned() }
}
