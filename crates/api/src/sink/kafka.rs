use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reference::SecretReference;

/// A topic in Apache Kafka.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Kafka {
    /// Brokers to begin with, `host:port` each. 1 to 100.
    #[schemars(length(min = 1, max = 100), extend("x-kubernetes-list-type" = "atomic"))]
    pub brokers: Vec<String>,
    /// Topic to write to; it must exist.
    #[schemars(length(min = 1, max = 249))]
    pub topic: String,
    /// Secret with `username` and `password` or `token`; with a user name the
    /// login is SCRAM-SHA-256. Default: `spec.secretRef`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretReference>,
}
