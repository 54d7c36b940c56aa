//! Which rows go to which sinks, and how that is going.

pub(crate) mod status;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    interval::ExportInterval,
    profile::is_false,
    reference::{NamespacedRef, SinkRefEntry},
};

use self::status::{ClusterInventoryStatus, InventoryStatus};

/// The rows of one namespace's targets, and where copies of them are kept.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "kollect.dev",
    version = "v1alpha1",
    kind = "KollectInventory",
    root = "Inventory",
    plural = "kollectinventories",
    namespaced,
    status = "InventoryStatus",
    shortname = "kinv",
    derive = "PartialEq",
    doc = "Keeps copies of the rows of all targets of its namespace current in the sinks that it names, each independent of the others.",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(
        name = "Synced",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Synced\")].status"
    ),
    printcolumn(name = "Items", type_ = "integer", json_path = ".status.itemCount"),
    printcolumn(name = "Last Export", type_ = "date", json_path = ".status.lastExportTime"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct InventorySpec {
    /// KollectSnapshotSinks of this namespace to copy to. At most 20 over the
    /// three lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub snapshot_sink_refs: Vec<SinkRefEntry>,
    /// KollectDatabaseSinks of this namespace to copy to. At most 20 over the
    /// three lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub database_sink_refs: Vec<SinkRefEntry>,
    /// KollectEventSinks of this namespace to copy to. At most 20 over the
    /// three lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub event_sink_refs: Vec<SinkRefEntry>,
    /// How long to wait before an unchanged copy is verified again, 0s to 24h.
    /// A change never waits for it. `0s`: no timer. Default: `30s`.
    #[serde(default = "ExportInterval::inventory_default")]
    pub export_min_interval: ExportInterval,
    /// Size limit of one document or event in bytes; larger ones are split.
    /// At most the operator's `--max-export-bytes` (1572864). Default: the operator's limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_export_bytes: Option<i64>,
    /// Pause exports; rows are still collected. Default: false.
    #[serde(default, skip_serializing_if = "is_false")]
    pub suspend: bool,
    /// Whether this inventory may be read through the operator's HTTP endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_endpoint: Option<HttpEndpoint>,
}

impl Default for InventorySpec {
    fn default() -> Self {
        Self {
            snapshot_sink_refs: Vec::new(),
            database_sink_refs: Vec::new(),
            event_sink_refs: Vec::new(),
            export_min_interval: ExportInterval::inventory_default(),
            max_export_bytes: None,
            suspend: false,
            http_endpoint: None,
        }
    }
}

/// Access through the operator's HTTP endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HttpEndpoint {
    /// Let readers of the operator's HTTP endpoint see this inventory. Has
    /// effect when the operator runs with `--inventory-http-enabled`.
    /// Default: false.
    #[serde(default, skip_serializing_if = "is_false")]
    pub enabled: bool,
    /// Has no effect: one port, set by `--inventory-http-port`, serves all
    /// inventories. 1 to 65535.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub port: Option<i32>,
}

/// A rollup of cluster targets, and where copies of it are kept.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "kollect.dev",
    version = "v1alpha1",
    kind = "KollectClusterInventory",
    root = "ClusterInventory",
    plural = "kollectclusterinventories",
    status = "ClusterInventoryStatus",
    shortname = "kcinv",
    derive = "PartialEq",
    doc = "Keeps copies of the rows of cluster targets current in sinks that live in namespaces. Say with namespaceSelector or namespaces which namespaces count.",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(
        name = "Synced",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Synced\")].status"
    ),
    printcolumn(name = "Items", type_ = "integer", json_path = ".status.itemCount"),
    printcolumn(name = "Targets", type_ = "integer", json_path = ".status.targetCount"),
    printcolumn(name = "Last Export", type_ = "date", json_path = ".status.lastExportTime"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "(has(self.namespaces) && size(self.namespaces) > 0) || (has(self.namespaceSelector) && ((has(self.namespaceSelector.matchLabels) && size(self.namespaceSelector.matchLabels) > 0) || (has(self.namespaceSelector.matchExpressions) && size(self.namespaceSelector.matchExpressions) > 0)))",
    "message": "namespaceSelector or namespaces is required; without either the whole cluster would be rolled up"
}]))]
pub struct ClusterInventorySpec {
    /// Reserved. Checked, and otherwise without effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_ref: Option<NamespacedRef>,
    /// KollectClusterTargets to roll up, by name. Absent: all that
    /// `targetSelector` matches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000), inner(length(min = 1, max = 253), regex(pattern = r"^[^/]+$")))]
    pub target_refs: Vec<String>,
    /// KollectClusterTargets to roll up, by label. Absent: all. Ignored when
    /// `targetRefs` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-map-type" = "atomic"))]
    pub target_selector: Option<LabelSelector>,
    /// Namespaces whose rows count, by label. This or `namespaces` is
    /// required; with both, a namespace must satisfy both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-map-type" = "atomic"))]
    pub namespace_selector: Option<LabelSelector>,
    /// Namespaces whose rows count, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 10000),
        inner(length(max = 63), regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub namespaces: Vec<String>,
    /// KollectSnapshotSinks to copy to. At most 20 over the three lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub snapshot_sink_refs: Vec<SinkRefEntry>,
    /// KollectDatabaseSinks to copy to. At most 20 over the three lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub database_sink_refs: Vec<SinkRefEntry>,
    /// KollectEventSinks to copy to. At most 20 over the three lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub event_sink_refs: Vec<SinkRefEntry>,
    /// Namespace of the sinks whose entry names none. Default: `kollect-system`.
    #[serde(default = "ClusterInventorySpec::default_sink_namespace")]
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[^/]+$"))]
    pub sink_namespace: String,
    /// How long to wait before an unchanged copy is verified again, 0s to 24h.
    /// A change never waits for it. `0s`: no timer. Default: `30s`.
    #[serde(default = "ExportInterval::inventory_default")]
    pub export_min_interval: ExportInterval,
    /// What to do when several targets collect one object. `keepAll`: a row
    /// for each. `byResourceUID`: one row, from the target whose name sorts
    /// last. Default: `keepAll`.
    #[serde(default)]
    pub dedupe: Dedupe,
    /// Pause exports; rows are still collected. Default: false.
    #[serde(default, skip_serializing_if = "is_false")]
    pub suspend: bool,
}

impl ClusterInventorySpec {
    fn default_sink_namespace() -> String {
        "kollect-system".to_owned()
    }
}

impl Default for ClusterInventorySpec {
    fn default() -> Self {
        Self {
            profile_ref: None,
            target_refs: Vec::new(),
            target_selector: None,
            namespace_selector: None,
            namespaces: Vec::new(),
            snapshot_sink_refs: Vec::new(),
            database_sink_refs: Vec::new(),
            event_sink_refs: Vec::new(),
            sink_namespace: Self::default_sink_namespace(),
            export_min_interval: ExportInterval::inventory_default(),
            dedupe: Dedupe::default(),
            suspend: false,
        }
    }
}

/// What to do when several targets collect one object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Dedupe {
    #[default]
    #[serde(rename = "keepAll")]
    KeepAll,
    #[serde(rename = "byResourceUID")]
    ByResourceUid,
}
