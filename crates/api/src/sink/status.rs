//! What sinks report.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the destination answers, and what an export would look like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SinkStatus {
    /// ConnectionVerified, TLSInsecure and, while something is wrong, Degraded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend(
        "x-kubernetes-list-type" = "map",
        "x-kubernetes-list-map-keys" = ["type"]
    ))]
    pub conditions: Vec<Condition>,
    /// What an export would look like; present while the annotation
    /// `kollect.dev/preview` is `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
}

/// What an export of a sample inventory would look like. The destination is
/// not touched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// When the content of this preview last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered_at: Option<Time>,
    /// Where the sample comes from: `synthetic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_sample_source: Option<String>,
    /// Provisioning mode in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioning_mode: Option<String>,
    /// Format in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serialization_format: Option<String>,
    /// Path of the document or key of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_path: Option<String>,
    /// A sample commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitPreview>,
    /// Sample files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<LayoutPreview>,
    /// The table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub postgres: Option<PostgresPreview>,
    /// The collection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mongodb: Option<MongodbPreview>,
    /// The topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kafka: Option<KafkaPreview>,
    /// The same texts as admission warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub warnings: Vec<String>,
}

/// A sample commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitPreview {
    /// First line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_commit_subject: Option<String>,
    /// The rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_commit_body: Option<String>,
}

/// Sample files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LayoutPreview {
    /// Mode in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Content in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Whether files that are no longer written are deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prune: Option<bool>,
    /// Up to 3 paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 3), extend("x-kubernetes-list-type" = "atomic"))]
    pub sample_paths: Vec<String>,
}

/// The table that an export would need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PostgresPreview {
    /// Statement that provisioning mode `ensure` would run.
    #[serde(rename = "expectedDDL", default, skip_serializing_if = "Option::is_none")]
    pub expected_ddl: Option<String>,
}

/// The collection that an export would need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MongodbPreview {
    /// Fields of the unique index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub expected_index_keys: Vec<String>,
}

/// The topic that an export would write to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KafkaPreview {
    /// Name of the topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
}
