//! References between objects, and the kind of an object.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::interval::ExportInterval;

/// The kind of a Kubernetes object, such as `apps/v1 Deployment`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupVersionKind {
    /// API group, such as `apps`. Empty for the core group (Pods, Services, Secrets).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 253))]
    pub group: String,
    /// API version, such as `v1`.
    #[schemars(length(min = 1, max = 63))]
    pub version: String,
    /// Kind as in a manifest, such as `Deployment`. The plural is looked up, never guessed.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
}

impl GroupVersionKind {
    /// Whether both name the same kind; the case of letters does not matter.
    pub fn is(&self, other: &Self) -> bool {
        self.group.eq_ignore_ascii_case(&other.group)
            && self.version.eq_ignore_ascii_case(&other.version)
            && self.kind.eq_ignore_ascii_case(&other.kind)
    }

    /// Whether it is the core Secret, in any version.
    pub fn is_core_secret(&self) -> bool {
        (self.group.is_empty() || self.group.eq_ignore_ascii_case("core"))
            && self.kind.eq_ignore_ascii_case("Secret")
    }
}

impl std::fmt::Display for GroupVersionKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.group.as_str() {
            "" => write!(f, "{} {}", self.version, self.kind),
            group => write!(f, "{group}/{} {}", self.version, self.kind),
        }
    }
}

/// A Secret that holds credentials.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretReference {
    /// Name of the Secret.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Namespace of the Secret. Default: the namespace of this object.
    /// A Secret elsewhere must name this namespace in its annotation
    /// `kollect.dev/allow-sink-namespaces` (a comma list, or `*`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub namespace: Option<String>,
}

/// A namespaced object that a cluster-scoped one refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamespacedRef {
    /// Name of the object.
    #[schemars(length(min = 1, max = 253), regex(pattern = r"^[^/]+$"))]
    pub name: String,
    /// Namespace of the object. Required: there is no default namespace.
    #[schemars(length(min = 1, max = 63))]
    pub namespace: String,
}

/// One sink that an inventory is copied to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SinkRef {
    /// Name of the sink object.
    pub name: String,
    /// Namespace of the sink; only a cluster inventory may set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// How long to wait before an unchanged copy is verified again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub export_min_interval: Option<ExportInterval>,
    /// Size limit of one document or event in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_export_bytes: Option<i64>,
}

/// An entry of a sink-reference list, as it stands in the object.
///
/// The published schema leaves entries open so that both the short and the
/// long form pass, and so any value can be stored there. Decoding keeps what
/// is neither, for admission and status to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SinkRefEntry {
    /// A name, or an object with a name.
    Ref(SinkRef),
    /// Neither of the two, and why.
    Malformed {
        /// The value as it was written.
        value: Value,
        /// What is wrong with it.
        reason: String,
    },
}

impl SinkRefEntry {
    /// The reference, if the entry is one.
    pub fn sink_ref(&self) -> Option<&SinkRef> {
        match self {
            Self::Ref(sink_ref) => Some(sink_ref),
            Self::Malformed { .. } => None,
        }
    }
}

impl From<Value> for SinkRefEntry {
    fn from(value: Value) -> Self {
        match value {
            Value::String(name) => Self::Ref(SinkRef { name, ..SinkRef::default() }),
            Value::Object(_) => match SinkRef::deserialize(&value) {
                Ok(mut sink_ref) => {
                    // An empty namespace is none, as everywhere in Kubernetes.
                    sink_ref.namespace = sink_ref.namespace.filter(|name| !name.is_empty());
                    Self::Ref(sink_ref)
                }
                Err(error) => Self::Malformed { reason: error.to_string(), value },
            },
            other => Self::Malformed {
                reason: "neither a name nor an object with a name".to_owned(),
                value: other,
            },
        }
    }
}

impl<'de> Deserialize<'de> for SinkRefEntry {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

impl Serialize for SinkRefEntry {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Ref(sink_ref) => sink_ref.serialize(serializer),
            Self::Malformed { value, .. } => value.serialize(serializer),
        }
    }
}

impl JsonSchema for SinkRefEntry {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SinkRefEntry".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Either the name of the sink, or an object with `name` (required), \
                `namespace` (cluster inventories only), `exportMinInterval` (0s to 24h) and \
                `maxExportBytes` (bytes, more than 0). Example: `- ledger`, or \
                `- {name: ledger, exportMinInterval: 5m}`.",
            "x-kubernetes-preserve-unknown-fields": true
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_sink_reference_may_be_short_or_long() {
        let short = SinkRefEntry::from(json!("pg"));
        let long = SinkRefEntry::from(json!({"name": "pg"}));
        assert_eq!(short, long);
        assert_eq!(serde_json::to_value(&short).unwrap(), json!({"name": "pg"}));
    }

    #[test]
    fn a_sink_reference_of_another_shape_is_kept_with_the_reason() {
        for (value, part) in [
            (json!(7), "neither"),
            (json!({"nam": "pg"}), "nam"),
            (json!({"name": "pg", "maxExportBytes": "many"}), "many"),
        ] {
            let entry: SinkRefEntry = serde_json::from_value(value.clone()).unwrap();
            let SinkRefEntry::Malformed { value: kept, reason } = &entry else {
                panic!("{value} passed")
            };
            assert_eq!(kept, &value);
            assert!(reason.contains(part), "{reason}");
        }
    }

    #[test]
    fn kinds_are_compared_without_regard_to_case() {
        let kind = |group: &str, kind: &str| GroupVersionKind {
            group: group.into(),
            version: "v1".into(),
            kind: kind.into(),
        };
        assert!(kind("apps", "Deployment").is(&kind("Apps", "deployment")));
        assert!(!kind("apps", "Deployment").is(&kind("", "Deployment")));
        assert!(kind("core", "secret").is_core_secret());
    }
}
