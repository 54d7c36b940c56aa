//! The objects of a cluster as files hold them.

use std::collections::BTreeMap;

use kollect_api::GroupVersionKind;
use kollect_extract::select::Namespace;
use kollect_inventory::ViewId;
use serde_json::Value;

use crate::{
    assignment::Assignment,
    intake::{Intake, Keeper, Tally},
    manifest::Manifest,
};

/// What files say is in a cluster.
#[derive(Debug, Default)]
pub struct Dump {
    objects: Vec<(GroupVersionKind, Vec<u8>)>,
    namespaces: BTreeMap<String, Namespace>,
}

impl Dump {
    /// Sorts manifests by what they are. An object whose kind lives in
    /// namespaces and that names none, as templates write it, is in
    /// `namespace`.
    pub fn of<'m>(manifests: impl IntoIterator<Item = &'m Manifest>, namespace: &str) -> Self {
        let mut dump = Self::default();
        for manifest in manifests {
            dump.add(manifest.value(), namespace);
        }
        dump
    }

    fn add(&mut self, mut object: Value, namespace: &str) {
        let text = |pointer: &str| {
            object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let (api_version, kind, name) =
            (text("/apiVersion"), text("/kind"), text("/metadata/name"));
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let kind = GroupVersionKind { group: group.to_owned(), version: version.to_owned(), kind };
        let mut home = text("/metadata/namespace");
        if home.is_empty() && lives_in_namespaces(&kind) {
            namespace.clone_into(&mut home);
            if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
                metadata.insert("namespace".to_owned(), Value::from(namespace));
            }
        }
        if kind.group.is_empty() && kind.kind == "Namespace" {
            let about = Namespace {
                labels: texts(object.pointer("/metadata/labels")),
                annotations: texts(object.pointer("/metadata/annotations")),
            };
            self.namespaces.insert(name, about);
        } else if !home.is_empty() {
            // The Namespace itself may not be in the dump, or come later.
            self.namespaces.entry(home).or_default();
        }
        let mut bytes = Vec::new();
        kollect_inventory::json::write_value(&object, &mut bytes);
        self.objects.push((kind, bytes));
    }

    /// The namespaces that are named, with what is known of them.
    pub fn namespaces(&self) -> &BTreeMap<String, Namespace> {
        &self.namespaces
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Lists what an assignment wants. A kind of which there is no object may
    /// not have been dumped: then nothing is said to be gone.
    pub fn list<S: Keeper + ?Sized>(
        &self,
        assignment: &Assignment,
        keeper: &S,
        views: impl Fn(&str) -> Vec<ViewId>,
    ) -> Tally {
        let kind = assignment.kind();
        let of_kind = self.objects.iter().filter(|(one, _)| is_same(one, kind));
        let mut places: Vec<_> = assignment.namespaces(&self.namespaces).into_iter().collect();
        places.push(String::new());
        let mut intake = Intake::begin(keeper, assignment, &self.namespaces, places, views);
        for (_, bytes) in of_kind {
            intake.object(bytes);
        }
        let is_there = intake.tally().objects > 0;
        for namespace in intake.namespaces() {
            if is_there {
                intake.end(&namespace);
            } else {
                intake.give_up(&namespace);
            }
        }
        intake.finish()
    }
}

/// `core` is another name of the group without one.
fn is_same(one: &GroupVersionKind, other: &GroupVersionKind) -> bool {
    let group = |kind: &GroupVersionKind| match kind.group.as_str() {
        "core" => String::new(),
        group => group.to_owned(),
    };
    one.version == other.version && one.kind == other.kind && group(one) == group(other)
}

fn texts(map: Option<&Value>) -> BTreeMap<String, String> {
    let entries = map.and_then(Value::as_object).into_iter().flatten();
    let text = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    entries.filter_map(text).collect()
}

/// Whether objects of a kind that comes with Kubernetes are in namespaces. Of
/// other kinds nobody knows without a server; those are taken as written.
fn lives_in_namespaces(kind: &GroupVersionKind) -> bool {
    let of_cluster: &[&str] = match kind.group.as_str() {
        "" | "core" => &["Namespace", "Node", "PersistentVolume", "ComponentStatus"],
        "apps"
        | "autoscaling"
        | "batch"
        | "coordination.k8s.io"
        | "discovery.k8s.io"
        | "events.k8s.io"
        | "extensions" => &[],
        "networking.k8s.io" => &["IngressClass", "IPAddress", "ServiceCIDR"],
        "policy" => &["PodSecurityPolicy"],
        "rbac.authorization.k8s.io" => &["ClusterRole", "ClusterRoleBinding"],
        "gateway.networking.k8s.io" => &["GatewayClass"],
        _ => return false,
    };
    !of_cluster.contains(&kind.kind.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(group: &str, kind: &str) -> GroupVersionKind {
        GroupVersionKind { group: group.into(), version: "v1".into(), kind: kind.into() }
    }

    #[test]
    fn kinds_that_come_with_kubernetes_are_known_and_others_taken_as_written() {
        for (group, name) in [
            ("", "Pod"),
            ("core", "Secret"),
            ("apps", "Deployment"),
            ("policy", "PodDisruptionBudget"),
        ] {
            assert!(lives_in_namespaces(&kind(group, name)), "{name}");
        }
        for (group, name) in
            [("", "Node"), ("rbac.authorization.k8s.io", "ClusterRole"), ("example.com", "Thing")]
        {
            assert!(!lives_in_namespaces(&kind(group, name)), "{name}");
        }
    }

    #[test]
    fn a_template_without_a_namespace_is_in_the_one_that_was_asked_for() {
        let mut dump = Dump::default();
        dump.add(serde_json::json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}), "shop");
        dump.add(
            serde_json::json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}),
            "shop",
        );
        dump.add(serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "pay", "labels": {"team": "x"}}}), "shop");
        assert_eq!(dump.namespaces().keys().collect::<Vec<_>>(), ["pay", "shop"]);
        assert_eq!(dump.namespaces()["pay"].labels["team"], "x");
        let (_, bytes) = &dump.objects[0];
        assert_eq!(
            String::from_utf8_lossy(bytes),
            r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"}}"#
        );
        let (_, bytes) = &dump.objects[1];
        assert!(!String::from_utf8_lossy(bytes).contains("namespace"));
    }
}
