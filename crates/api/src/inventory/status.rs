//! How far the copies of an inventory have come.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// What the copy in this sink lacks: the first three entries of what the
    /// inventory lacks.
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
