//! How far targets and inventories may reach.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{interval::ExportInterval, reference::GroupVersionKind};

/// The ceiling for one namespace.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "kollect.dev",
    version = "v1alpha1",
    kind = "KollectScope",
    root = "Scope",
    namespaced,
    shortname = "kscope",
    derive = "PartialEq",
    doc = "Limits what the targets and inventories of its namespace may collect and where they may export to. With several scopes in a namespace, the one whose name sorts first is in force."
)]
#[serde(rename_all = "camelCase")]
pub struct ScopeSpec {
    #[serde(flatten)]
    pub ceiling: ScopeCeiling,
}

/// Limits that both kinds of scope share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScopeCeiling {
    /// Kinds that may be collected. Empty: all.
    #[serde(rename = "allowedGVKs", default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000), extend("x-kubernetes-list-type" = "atomic"))]
    pub allowed_gvks: Vec<GroupVersionKind>,
    /// Namespaces that may be collected from. Empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10000), extend("x-kubernetes-list-type" = "set"))]
    pub allowed_namespaces: Vec<String>,
    /// Namespaces never collected from; no target can override it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10000), extend("x-kubernetes-list-type" = "set"))]
    pub denied_namespaces: Vec<String>,
    /// Shortest export interval that may be asked for, 0s to 24h. Example: `1m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_export_interval: Option<ExportInterval>,
    /// Names of KollectSnapshotSinks that may be used. Empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000), extend("x-kubernetes-list-type" = "set"))]
    pub snapshot_sink_refs: Vec<String>,
    /// Names of KollectDatabaseSinks that may be used. Empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000), extend("x-kubernetes-list-type" = "set"))]
    pub database_sink_refs: Vec<String>,
    /// Names of KollectEventSinks that may be used. Empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000), extend("x-kubernetes-list-type" = "set"))]
    pub event_sink_refs: Vec<String>,
}

/// The ceiling for the cluster kinds.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "kollect.dev",
    version = "v1alpha1",
    kind = "KollectClusterScope",
    root = "ClusterScope",
    shortname = "kcscope",
    derive = "PartialEq",
    doc = "Limits what cluster targets and cluster inventories may collect and where they may export to. With several cluster scopes, the one whose name sorts first is in force."
)]
#[serde(rename_all = "camelCase")]
pub struct ClusterScopeSpec {
    #[serde(flatten)]
    pub ceiling: ScopeCeiling,
    /// Namespaces in which cluster kinds may refer to profiles and sinks. Empty: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10000), extend("x-kubernetes-list-type" = "set"))]
    pub allowed_static_ref_namespaces: Vec<String>,
}
