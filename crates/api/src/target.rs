//! Which objects to collect: in one team's reach, or across the cluster.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    Condition, LabelSelector, LabelSelectorRequirement, Time,
};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    profile::is_false,
    reference::{GroupVersionKind, NamespacedRef},
};

/// Which objects to collect with a profile of the same namespace.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "kollect.dev",
    version = "v1alpha1",
    kind = "KollectTarget",
    root = "Target",
    namespaced,
    status = "TargetStatus",
    shortname = "ktgt",
    derive = "PartialEq",
    doc = "Says which objects a profile is applied to. Their rows feed every KollectInventory of the same namespace.",
    printcolumn(name = "Profile", type_ = "string", json_path = ".spec.profileRef"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Collected", type_ = "integer", json_path = ".status.collectedCount"),
    printcolumn(name = "Updated", type_ = "date", json_path = ".status.collectedCountUpdatedAt"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct TargetSpec {
    /// Name of a KollectProfile in this namespace.
    #[schemars(length(min = 1, max = 253), regex(pattern = r"^[^/]+$"))]
    pub profile_ref: String,
    /// Namespaces to collect from, by label. Absent: all that the scope and
    /// the operator's rights allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-map-type" = "atomic"))]
    pub namespace_selector: Option<LabelSelector>,
    #[serde(flatten)]
    pub filter: CollectionFilter,
    /// Objects to collect, by label. Absent: all. Ignored when
    /// `resourceRules` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-map-type" = "atomic"))]
    pub label_selector: Option<LabelSelector>,
    /// Objects to collect, by name. Absent: all. Ignored when `resourceRules`
    /// is set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10000))]
    pub names: Vec<String>,
    /// Stop collecting and withdraw the rows. Default: false.
    #[serde(default, skip_serializing_if = "is_false")]
    pub suspend: bool,
    /// `All`: everything that matches, except what is labelled
    /// `kollect.dev/watch: disabled`. `OptIn`: only what is labelled
    /// `kollect.dev/watch: enabled`, on the object or its namespace.
    /// Default: `All`.
    #[serde(default)]
    pub watch_mode: WatchMode,
}

/// Filters that both kinds of target share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CollectionFilter {
    /// Namespaces to collect from, by name. Empty: no restriction. Both this
    /// and `namespaceSelector` must match where both are given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10000), extend("x-kubernetes-list-type" = "set"))]
    pub included_namespaces: Vec<String>,
    /// Namespaces never to collect from. Applied after inclusion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10000), extend("x-kubernetes-list-type" = "set"))]
    pub excluded_namespaces: Vec<String>,
    /// Namespaces never to collect from, by label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-map-type" = "atomic"))]
    pub namespace_exclude_selector: Option<LabelSelector>,
    /// Rules for single objects. An object is collected when one rule matches;
    /// within a rule everything must match. At most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub resource_rules: Vec<ResourceRule>,
}

/// One way for an object to be collected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRule {
    /// Kind of the object. It must be the kind of the profile.
    pub gvk: GroupVersionKind,
    /// Namespaces in which this rule holds, by label. Absent: all of the target's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-map-type" = "atomic"))]
    pub namespace_selector: Option<LabelSelector>,
    /// Labels that the object must carry.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub match_labels: BTreeMap<String, String>,
    /// Label expressions that the object must satisfy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub match_expressions: Vec<LabelSelectorRequirement>,
    /// CEL over `object` that must be true, such as
    /// `object.spec.replicas > 1`. No `cel:` prefix here. An expression that
    /// fails on an object does not match it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16384))]
    pub match_policy: Option<String>,
}

/// Whether objects take part unless they object, or only when they ask to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum WatchMode {
    #[default]
    All,
    OptIn,
}

/// What a target is doing; the same for both kinds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetStatus {
    /// Ready, Synced, SinkReachable and, while something is wrong, Degraded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend(
        "x-kubernetes-list-type" = "map",
        "x-kubernetes-list-map-keys" = ["type"]
    ))]
    pub conditions: Vec<Condition>,
    /// Generation of the spec that this status is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Objects that currently cannot be read into a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extraction_failures: Option<i64>,
    /// Newest reason why an object could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_extraction_error: Option<String>,
    /// Rows held. Null: never measured. 0: measured, and there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collected_count: Option<i64>,
    /// When the count last changed. An old time is no sign of staleness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collected_count_updated_at: Option<Time>,
    /// Namespaces that the spec selects, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub matched_namespaces: Vec<String>,
    /// Namespaces that remain after the scope and all exclusions, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub effective_namespaces: Vec<String>,
    /// Number of resource rules in force. 0: `labelSelector` and `names` decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_resource_rules: Option<i64>,
}

/// Which objects to collect across namespaces, for platform teams.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "kollect.dev",
    version = "v1alpha1",
    kind = "KollectClusterTarget",
    root = "ClusterTarget",
    status = "TargetStatus",
    shortname = "kctgt",
    derive = "PartialEq",
    doc = "Says which objects across namespaces a profile is applied to. Their rows feed KollectClusterInventories only.",
    printcolumn(name = "Profile", type_ = "string", json_path = ".spec.profileRef.name"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Collected", type_ = "integer", json_path = ".status.collectedCount"),
    printcolumn(name = "Updated", type_ = "date", json_path = ".status.collectedCountUpdatedAt"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "has(self.namespaceSelector) && ((has(self.namespaceSelector.matchLabels) && size(self.namespaceSelector.matchLabels) > 0) || (has(self.namespaceSelector.matchExpressions) && size(self.namespaceSelector.matchExpressions) > 0))",
    "message": "namespaceSelector needs at least one label or expression; an empty one would collect from the whole cluster",
    "fieldPath": ".namespaceSelector"
}]))]
pub struct ClusterTargetSpec {
    /// The KollectProfile to apply, by name and namespace.
    pub profile_ref: NamespacedRef,
    /// Namespaces to collect from, by label. Must not be empty. Example:
    /// `{matchLabels: {team: shop}}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-map-type" = "atomic"))]
    pub namespace_selector: Option<LabelSelector>,
    #[serde(flatten)]
    pub filter: CollectionFilter,
    /// Stop collecting and withdraw the rows. Default: false.
    #[serde(default, skip_serializing_if = "is_false")]
    pub suspend: bool,
}
