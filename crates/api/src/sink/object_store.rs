use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectStore {
    /// `json` or `parquet`; `serialization.format` wins over it.
    /// Default: `json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<ObjectFormat>,
    /// Attributes that get a Parquet column of their own. Default: `image`
    /// and `version`. At most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub hot_attributes: Vec<String>,
}

/// Formats of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ObjectFormat {
    Json,
    Parquet,
}

/// Reserved for a type that does not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Http {
    /// Reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
}
