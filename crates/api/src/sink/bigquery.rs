use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reference::SecretReference;

/// A table in BigQuery.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Bigquery {
    /// Google Cloud project.
    #[schemars(length(min = 1, max = 255))]
    pub project: String,
    /// Dataset; it must exist.
    #[schemars(length(min = 1, max = 1024))]
    pub dataset: String,
    /// Table that holds the rows.
    #[schemars(length(min = 1, max = 1024))]
    pub table: String,
    /// Where jobs run, such as `EU`. Default: where the dataset is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub location: Option<String>,
    /// Secret with a service-account key under `credentials.json`.
    /// Default: the identity of the pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretReference>,
}
