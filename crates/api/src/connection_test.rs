//! A probe on demand.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One probe of one sink.
#[derive(CustomResource, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "kollect.dev",
    version = "v1alpha1",
    kind = "KollectConnectionTest",
    root = "ConnectionTest",
    namespaced,
    status = "ConnectionTestStatus",
    shortname = "kconntest",
    derive = "PartialEq",
    doc = "Probes one sink of its namespace once, records the outcome, and deletes itself after a while. An edit of the spec probes again.",
    printcolumn(name = "Snapshot", type_ = "string", json_path = ".spec.sinkRef.snapshotSinkRef"),
    printcolumn(name = "Database", type_ = "string", json_path = ".spec.sinkRef.databaseSinkRef"),
    printcolumn(name = "Event", type_ = "string", json_path = ".spec.sinkRef.eventSinkRef"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(
        name = "Verified",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"ConnectionVerified\")].status"
    ),
    printcolumn(name = "Completed", type_ = "boolean", json_path = ".status.completed"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionTestSpec {
    /// The sink to probe. Exactly one member.
    pub sink_ref: ConnectionTestSinkRef,
    /// Reserved. Checked, and otherwise without effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253), regex(pattern = r"^[^/]+$"))]
    pub profile_ref: Option<String>,
    /// Make the sink the owner of this test, so that deleting the sink deletes
    /// the test. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_sink: Option<bool>,
    /// Seconds until the test is deleted after it has finished; 0: at once.
    /// Default: 300.
    #[serde(default = "ConnectionTestSpec::default_ttl")]
    #[schemars(range(min = 0))]
    pub ttl_seconds_after_finished: i32,
}

impl ConnectionTestSpec {
    const fn default_ttl() -> i32 {
        300
    }
}

impl Default for ConnectionTestSpec {
    fn default() -> Self {
        Self {
            sink_ref: ConnectionTestSinkRef::default(),
            profile_ref: None,
            owner_sink: None,
            ttl_seconds_after_finished: Self::default_ttl(),
        }
    }
}

/// The sink to probe.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "[has(self.snapshotSinkRef) && self.snapshotSinkRef != '', has(self.databaseSinkRef) && self.databaseSinkRef != '', has(self.eventSinkRef) && self.eventSinkRef != ''].filter(given, given).size() == 1",
    "message": "exactly one of snapshotSinkRef, databaseSinkRef and eventSinkRef is needed"
}]))]
pub struct ConnectionTestSinkRef {
    /// Name of a KollectSnapshotSink in this namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253), regex(pattern = r"^[^/]*$"))]
    pub snapshot_sink_ref: Option<String>,
    /// Name of a KollectDatabaseSink in this namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253), regex(pattern = r"^[^/]*$"))]
    pub database_sink_ref: Option<String>,
    /// Name of a KollectEventSink in this namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253), regex(pattern = r"^[^/]*$"))]
    pub event_sink_ref: Option<String>,
}

/// What the probe found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionTestStatus {
    /// ConnectionVerified and Ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend(
        "x-kubernetes-list-type" = "map",
        "x-kubernetes-list-map-keys" = ["type"]
    ))]
    pub conditions: Vec<Condition>,
    /// Generation of the spec that was probed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How long the probe took, in milliseconds. Absent when it never started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<i64>,
    /// Whether the probe has finished, either way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed: Option<bool>,
    /// When it finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Time>,
}
