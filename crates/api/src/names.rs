//! Names that are part of the contract.

/// The API group of every kind.
pub const GROUP: &str = "kollect.dev";

/// The one served and stored version.
pub const VERSION: &str = "v1alpha1";

/// Annotations that change what is admitted or done.
pub mod annotation {
    /// On a profile: exactly `true` lets its paths read the data of Secrets.
    pub const ALLOW_SECRET_EXTRACTION: &str = "kollect.dev/allow-secret-extraction";
    /// On a profile: exactly `true` lets it embed whole Secrets (their data stays redacted).
    pub const ALLOW_FULL_RESOURCE_EXPORT: &str = "kollect.dev/allow-full-resource-export";
    /// On a sink: `true`, in any case, probes it once.
    pub const TEST_CONNECTION: &str = "kollect.dev/test-connection";
    /// On a sink: `true`, in any case, shows in its status what an export would look like.
    pub const PREVIEW: &str = "kollect.dev/preview";
    /// On an inventory or a sink: every new value has copies compared with the rows, whatever
    /// is recorded; a time in RFC 3339.
    pub const REQUESTED_AT: &str = "kollect.dev/requestedAt";
    /// On a Secret: the namespaces, or `*`, whose sinks may refer to it.
    pub const ALLOW_SINK_NAMESPACES: &str = "kollect.dev/allow-sink-namespaces";
}
