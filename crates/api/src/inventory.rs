//! Which rows go to which sinks, and how that is going.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    interval::ExportInterval,
    profile::is_false,
    reference::{NamespacedRef, SinkRefEntry},
};

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
    /// At most the operator's `--max-export-bytes` (1572864). Default: that limit.
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

/// How an inventory's copies are doing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InventoryStatus {
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
    /// Rows in the inventory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_count: Option<i64>,
    /// Newest of the sinks' export times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_export_time: Option<Time>,
    /// One entry for each sink. At most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20), extend(
        "x-kubernetes-list-type" = "map",
        "x-kubernetes-list-map-keys" = ["name"]
    ))]
    pub sink_exports: Vec<SinkExport>,
    /// One entry for each target that feeds the inventory. At most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend(
        "x-kubernetes-list-type" = "map",
        "x-kubernetes-list-map-keys" = ["name"]
    ))]
    pub targets: Vec<TargetSummary>,
    /// What every sink has acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watermark: Option<Watermark>,
    /// What is denied, absent or failing. At most 50 entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), extend("x-kubernetes-list-type" = "atomic"))]
    pub coverage: Vec<Coverage>,
    /// Number of coverage entries in all, listed or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage_total: Option<i64>,
}

/// How one target feeds an inventory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetSummary {
    /// Name of the target.
    pub name: String,
    /// Rows that it contributes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_count: Option<i64>,
    /// Whether it is collecting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
}

/// The copy in one sink.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SinkExport {
    /// Family and name of the sink: `snapshot/…`, `database/…` or `event/…`.
    pub name: String,
    /// Namespace of the sink (cluster inventories only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Time of the last export that the sink accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_export_time: Option<Time>,
    /// Fingerprint of that export: a checksum of the document, or
    /// `sum128:` and the digest of the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_checksum: Option<String>,
    /// What that export left behind: a commit, an object key, a position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_export_ref: Option<String>,
    /// Synced: whether the sink holds everything up to now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend(
        "x-kubernetes-list-type" = "map",
        "x-kubernetes-list-map-keys" = ["type"]
    ))]
    pub conditions: Vec<Condition>,
    /// What the sink has acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watermark: Option<Watermark>,
    /// What the copy in this sink lacks. At most 50 entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), extend("x-kubernetes-list-type" = "atomic"))]
    pub coverage: Vec<Coverage>,
    /// Number of coverage entries in all, listed or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage_total: Option<i64>,
}

/// How far a copy has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Watermark {
    /// Number of the newest change that was acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<i64>,
    /// Rows at that point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<i64>,
    /// Digest of those rows, 32 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// When it was acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
}

/// Something that could not be read, and whose rows are therefore old or missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Coverage {
    /// Name of the target.
    pub target: String,
    /// Namespaces concerned, sorted; empty for cluster-scoped kinds. At most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20), extend("x-kubernetes-list-type" = "atomic"))]
    pub namespaces: Vec<String>,
    /// Number of namespaces in all, listed or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace_total: Option<i64>,
    /// Why, in one word, such as `Forbidden` or `KindNotServed`.
    pub reason: String,
    /// Why, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
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

/// How a cluster inventory's copies are doing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterInventoryStatus {
    #[serde(flatten)]
    pub inventory: InventoryStatus,
    /// Cluster targets in the rollup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_count: Option<i64>,
    /// Number of namespaces in the rollup, listed or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace_shard_count: Option<i64>,
    /// One entry for each namespace in the rollup. At most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend(
        "x-kubernetes-list-type" = "map",
        "x-kubernetes-list-map-keys" = ["namespace"]
    ))]
    pub namespace_shards: Vec<NamespaceShard>,
}

/// The rows of one namespace in a rollup.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamespaceShard {
    /// The namespace.
    pub namespace: String,
    /// Its rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_count: Option<i64>,
    /// Targets that contribute to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_count: Option<i64>,
    /// Digest of its rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
}
