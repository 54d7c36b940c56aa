//! Which resources there are, in the new form and in the old.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use serde_json::{Value, json};

use crate::{
    definition::{Served, priority},
    request::Request,
};

/// The media type of the form that says everything at once.
pub(crate) const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// How well the server behind a group does, which need not be the one that is
/// asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupHealth {
    #[default]
    Current,
    /// What is said of the group is old, and says so.
    Stale,
    /// The group is there, its resources are not known, and whoever asks for
    /// them is answered with 503.
    Failing,
}

#[derive(Debug, Default)]
pub(crate) struct Health(Mutex<BTreeMap<String, GroupHealth>>);

impl Health {
    pub(crate) fn set(&self, group: &str, health: GroupHealth) {
        let mut groups = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        groups.insert(group.to_owned(), health);
    }

    pub(crate) fn of(&self, group: &str) -> GroupHealth {
        let groups = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        groups.get(group).copied().unwrap_or_default()
    }
}

/// Resources by group and version; the core group first, the best version of
/// each first.
pub(crate) struct Catalogue(BTreeMap<String, Vec<(String, Vec<Served>)>>);

impl Catalogue {
    pub(crate) fn new(served: Vec<Served>) -> Self {
        let mut groups: BTreeMap<String, Vec<(String, Vec<Served>)>> = BTreeMap::new();
        for served in served {
            let versions = groups.entry(served.definition.group.clone()).or_default();
            match versions.iter_mut().find(|(version, _)| *version == served.definition.version) {
                Some((_, resources)) => resources.push(served),
                None => versions.push((served.definition.version.clone(), vec![served])),
            }
        }
        for versions in groups.values_mut() {
            versions.sort_by_key(|(version, _)| priority(version));
        }
        Self(groups)
    }

    /// Whether the group is the server's own, and not of custom resources.
    pub(crate) fn is_built_in(&self, group: &str) -> bool {
        let versions = self.0.get(group).into_iter().flatten();
        versions.flat_map(|(_, resources)| resources).any(|served| served.built_in)
    }

    /// Everything about the core group, or about all others.
    pub(crate) fn aggregated(&self, core: bool, health: &Health) -> Value {
        let groups = self.0.iter().filter(|(group, _)| group.is_empty() == core);
        let items: Vec<Value> = groups
            .map(|(group, versions)| {
                let health = health.of(group);
                let versions: Vec<Value> = versions
                    .iter()
                    .map(|(version, resources)| aggregated_version(version, resources, health))
                    .collect();
                let metadata = match group.as_str() {
                    "" => json!({}),
                    group => json!({"name": group}),
                };
                json!({"metadata": metadata, "versions": versions})
            })
            .collect();
        json!({
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": items,
        })
    }

    /// `/api` in the old form.
    pub(crate) fn core_versions(&self) -> Value {
        let versions = self.0.get("").map(Vec::as_slice).unwrap_or_default();
        let versions: Vec<&String> = versions.iter().map(|(version, _)| version).collect();
        json!({
            "kind": "APIVersions",
            "versions": versions,
            "serverAddressByClientCIDRs": [],
        })
    }

    /// `/apis` in the old form.
    pub(crate) fn groups(&self) -> Value {
        let names = self.0.keys().filter(|group| !group.is_empty());
        let groups: Vec<Value> = names.filter_map(|group| self.described(group)).collect();
        json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    }

    /// `/apis/apps`
    pub(crate) fn group(&self, group: &str) -> Option<Value> {
        let mut described = self.described(group)?;
        if let Value::Object(fields) = &mut described {
            fields.insert("kind".to_owned(), json!("APIGroup"));
            fields.insert("apiVersion".to_owned(), json!("v1"));
        }
        Some(described)
    }

    fn described(&self, group: &str) -> Option<Value> {
        let versions: Vec<Value> = self
            .0
            .get(group)?
            .iter()
            .map(|(version, _)| {
                json!({"groupVersion": format!("{group}/{version}"), "version": version})
            })
            .collect();
        let preferred = versions.first().cloned().unwrap_or_default();
        Some(json!({"name": group, "versions": versions, "preferredVersion": preferred}))
    }

    /// `/apis/apps/v1`
    pub(crate) fn resources(&self, group: &str, version: &str) -> Option<Value> {
        let versions = self.0.get(group)?;
        let (_, resources) = versions.iter().find(|(other, _)| other == version)?;
        let group_version = resources.first()?.definition.api_version();
        let resources: Vec<Value> = resources.iter().flat_map(described_old).collect();
        Some(json!({
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": group_version,
            "resources": resources,
        }))
    }
}

fn aggregated_version(version: &str, resources: &[Served], health: GroupHealth) -> Value {
    let freshness = match health {
        GroupHealth::Current => "Current",
        GroupHealth::Stale | GroupHealth::Failing => "Stale",
    };
    // A group that was never reached has no resources; it is not left out.
    let known = if health == GroupHealth::Failing { &[] } else { resources };
    let resources: Vec<Value> = known.iter().map(described_new).collect();
    json!({"version": version, "resources": resources, "freshness": freshness})
}

fn described_new(served: &Served) -> Value {
    let Served { definition, built_in, about, .. } = served;
    // Of built-in kinds real servers leave these empty: what is not said is as
    // in the item and version around it.
    let said = |text: &str| if *built_in { String::new() } else { text.to_owned() };
    let kind = json!({
        "group": said(&definition.group),
        "version": said(&definition.version),
        "kind": definition.kind,
    });
    let mut described = json!({
        "resource": definition.plural,
        "responseKind": kind,
        "scope": if definition.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": about.singular,
        "verbs": about.verbs,
    });
    let Value::Object(fields) = &mut described else { return described };
    if !about.short_names.is_empty() {
        fields.insert("shortNames".to_owned(), json!(about.short_names));
    }
    if !about.categories.is_empty() {
        fields.insert("categories".to_owned(), json!(about.categories));
    }
    let part = |name: &str, kind: &Value| json!({"subresource": name, "responseKind": kind, "verbs": ["get", "patch", "update"]});
    let scale_kind = json!({"group": "autoscaling", "version": "v1", "kind": "Scale"});
    let scale = about.scale.as_ref().map(|_| part("scale", &scale_kind));
    let status = about.has_status.then(|| part("status", &kind));
    let parts: Vec<Value> = [scale, status].into_iter().flatten().collect();
    if !parts.is_empty() {
        fields.insert("subresources".to_owned(), Value::Array(parts));
    }
    described
}

fn described_old(served: &Served) -> Vec<Value> {
    let Served { definition, about, .. } = served;
    let mut described = json!({
        "name": definition.plural,
        "singularName": about.singular,
        "namespaced": definition.namespaced,
        "kind": definition.kind,
        "verbs": about.verbs,
    });
    let Value::Object(fields) = &mut described else { return Vec::new() };
    if !about.short_names.is_empty() {
        fields.insert("shortNames".to_owned(), json!(about.short_names));
    }
    if !about.categories.is_empty() {
        fields.insert("categories".to_owned(), json!(about.categories));
    }
    let status = about.has_status.then(|| {
        json!({
            "name": format!("{}/status", definition.plural),
            "singularName": "",
            "namespaced": definition.namespaced,
            "kind": definition.kind,
            "verbs": ["get", "patch", "update"],
        })
    });
    let scale = about.scale.as_ref().map(|_| {
        json!({
            "name": format!("{}/scale", definition.plural),
            "singularName": "",
            "namespaced": definition.namespaced,
            "group": "autoscaling",
            "version": "v1",
            "kind": "Scale",
            "verbs": ["get", "patch", "update"],
        })
    });
    [Some(described), scale, status].into_iter().flatten().collect()
}

/// Whether the new form is among those that the client takes.
pub(crate) fn wants_aggregated(request: &Request) -> bool {
    let accept = request.headers.get("accept").map_or("", String::as_str);
    accept.split(',').any(|range| {
        let parts: Vec<&str> = range.split(';').map(str::trim).collect();
        ["g=apidiscovery.k8s.io", "v=v2", "as=APIGroupDiscoveryList"]
            .iter()
            .all(|part| parts.contains(part))
    })
}
