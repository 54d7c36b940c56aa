//! What kinds the API serves.

use std::cmp::Reverse;

/// One resource in one version, as a CRD would define it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceDefinition {
    /// Empty for the core group.
    pub group: String,
    pub version: String,
    pub kind: String,
    /// The name in paths.
    pub plural: String,
    pub namespaced: bool,
}

/// A definition and where it comes from.
///
/// Real servers write built-in kinds from Go structs and custom ones from
/// sorted maps, and clients see the difference in the order of keys.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    pub(crate) definition: ResourceDefinition,
    pub(crate) built_in: bool,
    /// The version at which it was defined: a definition that went and came
    /// back is another one.
    pub(crate) since: u64,
}

impl Served {
    pub(crate) fn is_of(&self, group: &str, plural: &str) -> bool {
        self.definition.group == group && self.definition.plural == plural
    }

    pub(crate) fn is(&self, other: &ResourceDefinition) -> bool {
        self.is_of(&other.group, &other.plural) && self.definition.version == other.version
    }
}

impl ResourceDefinition {
    /// The `apiVersion` of its objects.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// How messages name it: `deployments.apps`, `pods`.
    pub(crate) fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }
}

/// Kinds that every cluster has: group, version, kind, plural, namespaced.
const BUILT_IN: &[(&str, &str, &str, &str, bool)] = &[
    ("", "v1", "ConfigMap", "configmaps", true),
    ("", "v1", "Endpoints", "endpoints", true),
    ("", "v1", "Event", "events", true),
    ("", "v1", "Namespace", "namespaces", false),
    ("", "v1", "Node", "nodes", false),
    ("", "v1", "PersistentVolume", "persistentvolumes", false),
    ("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", true),
    ("", "v1", "Pod", "pods", true),
    ("", "v1", "ReplicationController", "replicationcontrollers", true),
    ("", "v1", "Secret", "secrets", true),
    ("", "v1", "Service", "services", true),
    ("", "v1", "ServiceAccount", "serviceaccounts", true),
    ("apps", "v1", "DaemonSet", "daemonsets", true),
    ("apps", "v1", "Deployment", "deployments", true),
    ("apps", "v1", "ReplicaSet", "replicasets", true),
    ("apps", "v1", "StatefulSet", "statefulsets", true),
    ("batch", "v1", "CronJob", "cronjobs", true),
    ("batch", "v1", "Job", "jobs", true),
    ("networking.k8s.io", "v1", "Ingress", "ingresses", true),
    ("networking.k8s.io", "v1", "IngressClass", "ingressclasses", false),
    ("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", true),
];

/// The kinds that are there from the start.
pub(crate) fn built_in() -> impl Iterator<Item = ResourceDefinition> {
    BUILT_IN.iter().map(|(group, version, kind, plural, namespaced)| ResourceDefinition {
        group: (*group).to_owned(),
        version: (*version).to_owned(),
        kind: (*kind).to_owned(),
        plural: (*plural).to_owned(),
        namespaced: *namespaced,
    })
}

/// Sorts versions as discovery does: stable ones first, then beta, then alpha,
/// the newest first among each; what is no such version comes last, by name.
pub(crate) fn priority(version: &str) -> impl Ord + use<> {
    (Reverse(parts(version)), version.to_owned())
}

fn parts(version: &str) -> Option<(u8, u32, u32)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len());
    let (major, suffix) = rest.split_at(digits);
    let major = major.parse().ok()?;
    if suffix.is_empty() {
        return Some((2, major, 0));
    }
    let (stability, minor) = match suffix.strip_prefix("beta") {
        Some(minor) => (1, minor),
        None => (0, suffix.strip_prefix("alpha")?),
    };
    Some((stability, major, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_versions_come_before_beta_and_alpha_and_new_before_old() {
        let mut versions = ["v1alpha1", "v1", "next", "v2beta1", "v1beta2", "v2", "v10"];
        versions.sort_by_key(|version| priority(version));
        assert_eq!(versions, ["v10", "v2", "v1", "v2beta1", "v1beta2", "v1alpha1", "next"]);
    }
}
