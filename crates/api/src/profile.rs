//! Which kind of object to read, and which attributes.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reference::GroupVersionKind;

/// What to read from each object.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "kollect.dev",
    version = "v1alpha1",
    kind = "KollectProfile",
    root = "Profile",
    namespaced,
    status = "ProfileStatus",
    shortname = "kprof",
    derive = "PartialEq",
    doc = "Says which kind of object to read and which of its attributes become a row. Targets refer to it by name.",
    printcolumn(name = "Group", type_ = "string", json_path = ".spec.targetGVK.group"),
    printcolumn(name = "Kind", type_ = "string", json_path = ".spec.targetGVK.kind"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {
        "rule": "!has(self.export) || self.export.mode == 'Resource' || (has(self.attributes) && size(self.attributes) > 0)",
        "message": "attributes are required when export.mode is Attributes",
        "fieldPath": ".attributes",
        "reason": "FieldValueRequired"
    },
    {
        "rule": "!has(self.export) || self.export.mode != 'Resource' || !has(self.attributes) || !self.attributes.exists(a, a.name == self.export.__as__)",
        "message": "export.as must not be the name of an attribute",
        "fieldPath": ".export.as"
    }
]))]
pub struct ProfileSpec {
    /// The kind of object to collect.
    #[serde(rename = "targetGVK")]
    pub target_gvk: GroupVersionKind,
    /// What to read from each object. Each entry becomes one key of the row.
    /// May be left out when `export.mode` is `Resource`. At most 1000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000), extend(
        "x-kubernetes-list-type" = "map",
        "x-kubernetes-list-map-keys" = ["name"]
    ))]
    pub attributes: Vec<Attribute>,
    /// How much of the object a row holds. Absent: the attributes only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub export: Option<ResourceExport>,
    /// Series on the operator's metrics endpoint, made from attributes.
    /// Absent: every numeric attribute is summed under its own name. At most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), extend(
        "x-kubernetes-list-type" = "map",
        "x-kubernetes-list-map-keys" = ["name"]
    ))]
    pub metrics: Vec<Metric>,
}

/// One value to read from an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attribute {
    /// Key in the row. Unique within the profile.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Where the value is. One of three forms: kubectl JSONPath
    /// (`$.spec.replicas`, `{.spec.containers[*].image}`), CEL over `object`
    /// (`cel:object.metadata.name`), or a field of a Helm release
    /// (`helm:release.chartVersion`).
    #[schemars(length(min = 1, max = 16384))]
    pub path: String,
    /// Type of the value, for readers: `string`, `int`, `bool`, `list`, `map`.
    /// It documents; it never converts.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub value_type: Option<String>,
    /// Leave the key out of the row when the value is absent or cannot be read.
    /// Default: false. A required CEL path that fails drops the whole row; a
    /// required JSONPath or Helm path that finds nothing gives `null`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
}

/// How much of the object a row holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceExport {
    /// `Attributes`: only the attributes. `Resource`: a trimmed copy of the
    /// object as well. Default: `Attributes`.
    #[serde(default)]
    pub mode: ExportMode,
    /// Key under which the row holds the copy. Must not be the name of an
    /// attribute. Default: `resource`.
    #[serde(rename = "as", default = "ResourceExport::default_key")]
    #[schemars(length(min = 1, max = 253))]
    pub key: String,
    /// Which top-level sections the copy keeps; `apiVersion` and `kind` always
    /// stay. Only `All` keeps sections beside metadata, spec and status, such
    /// as the `data` of a ConfigMap. Default: `SpecAndStatus`.
    #[serde(default)]
    pub include: Include,
    /// Drop `metadata.name`, `metadata.namespace` and `metadata.uid` from the
    /// copy, because the row already names them. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe_identity: Option<bool>,
    /// What else to leave out of the copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prune: Option<Prune>,
}

impl ResourceExport {
    fn default_key() -> String {
        "resource".to_owned()
    }
}

impl Default for ResourceExport {
    fn default() -> Self {
        Self {
            mode: ExportMode::default(),
            key: Self::default_key(),
            include: Include::default(),
            dedupe_identity: None,
            prune: None,
        }
    }
}

/// Whether rows embed a copy of the object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ExportMode {
    #[default]
    Attributes,
    Resource,
}

/// Top-level sections of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Include {
    MetadataOnly,
    SpecOnly,
    StatusOnly,
    #[default]
    SpecAndStatus,
    All,
}

/// What to leave out of the copy of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Prune {
    /// Drop what changes without meaning: managedFields, resourceVersion,
    /// generation, and the last-applied and Argo CD tracking annotations.
    /// Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defaults: Option<bool>,
    /// Places to drop, as RFC 6901 pointers: `/status/conditions`,
    /// `/metadata/annotations/example.org~1build`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub json_pointers: Vec<String>,
    /// Places to drop, as plain paths of dots, quoted brackets and indices:
    /// `$.spec.template.metadata`, `$.metadata.annotations['a/b']`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub json_paths: Vec<String>,
    /// Further key names whose values are redacted wherever they appear,
    /// in any case. The built-in list (password, token, secret and such)
    /// always applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub scrub_keys: Vec<String>,
    /// CEL expressions over `object`; each returns a list of RFC 6901
    /// pointers to drop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub cel: Vec<String>,
}

/// One series made from an attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Metric {
    /// Value of the `series` label. Unique within the profile.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Name of the attribute whose numeric values are summed.
    #[schemars(length(min = 1, max = 253))]
    pub path: String,
    /// Attributes whose values split the sum. At most 5; each must be an
    /// attribute and a legal Prometheus label name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 5), extend("x-kubernetes-list-type" = "set"))]
    pub labels: Vec<String>,
}

/// Profiles are static: nothing writes their status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileStatus {
    /// Unused; a profile is judged by the targets that refer to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend(
        "x-kubernetes-list-type" = "map",
        "x-kubernetes-list-map-keys" = ["type"]
    ))]
    pub conditions: Vec<Condition>,
}

/// Lets a field that is off by default stay out of what we write.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
pub(crate) fn is_false(value: &bool) -> bool {
    !value
}
