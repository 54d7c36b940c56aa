use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reference::SecretReference;

/// A subject in NATS JetStream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Nats {
    /// Server, such as `nats://nats.example.org:4222`. Credentials belong into
    /// the Secret, not here. Default: `spec.endpoint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub url: Option<String>,
    /// Subject to publish to.
    #[schemars(length(min = 1, max = 255))]
    pub subject: String,
    /// Stream that keeps the messages; dots become underscores.
    /// Default: `kollect_events`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub stream: Option<String>,
    /// Secret with `token`, or `username` and `password`.
    /// Default: `spec.secretRef`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretReference>,
}
