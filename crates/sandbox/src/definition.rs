//! What kinds the API serves.

use std::{cmp::Reverse, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One resource in one version, as a CRD would define it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceDefinition {
    /// Empty for the core group.
    pub group: String,
    pub version: String,
    pub kind: String,
    /// The name in paths.
    pub plural: String,
    pub namespaced: bool,
}

/// A definition and where it comes from.
///
/// Real servers write built-in kinds from Go structs and custom ones from
/// sorted maps, and clients see the difference in the order of keys.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    pub(crate) definition: ResourceDefinition,
    pub(crate) built_in: bool,
    /// The version at which it was defined: a definition that went and came
    /// back is another one.
    pub(crate) since: u64,
    pub(crate) about: Arc<About>,
}

/// What a server knows of a kind beside its names in paths.
#[derive(Clone, Debug)]
pub(crate) struct About {
    pub(crate) singular: String,
    pub(crate) list_kind: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) verbs: Vec<String>,
    /// Whether the status is written apart from the rest.
    pub(crate) has_status: bool,
    pub(crate) has_generation: bool,
    /// Where the number of replicas stands, if it can be changed by itself.
    pub(crate) scale: Option<ScalePaths>,
    /// Those of tables; nothing but name and age if there are none.
    pub(crate) columns: Vec<Column>,
    /// What objects may say; anything if there is none.
    pub(crate) schema: Option<Value>,
    /// Of built-in kinds: under which name the schema is recorded.
    pub(crate) schema_name: Option<String>,
}

/// Where an object says how many of something there are, as JSON pointers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScalePaths {
    pub(crate) wanted: String,
    pub(crate) actual: String,
    /// Of the selector, which is a text in custom kinds.
    pub(crate) selector: String,
}

impl ScalePaths {
    pub(crate) fn built_in() -> Self {
        Self {
            wanted: "/spec/replicas".to_owned(),
            actual: "/status/replicas".to_owned(),
            selector: "/spec/selector".to_owned(),
        }
    }
}

/// A column of a table.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Column {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) format: String,
    pub(crate) description: String,
    pub(crate) priority: i64,
    /// Where custom kinds have it.
    #[serde(skip_serializing)]
    pub(crate) json_path: String,
}

/// What can be done with objects of custom kinds.
const VERBS: [&str; 8] =
    ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

impl About {
    /// A kind of which only the names are known.
    pub(crate) fn bare(definition: &ResourceDefinition) -> Self {
        Self {
            singular: definition.kind.to_lowercase(),
            list_kind: format!("{}List", definition.kind),
            short_names: Vec::new(),
            categories: Vec::new(),
            verbs: VERBS.map(str::to_owned).to_vec(),
            has_status: false,
            has_generation: true,
            scale: None,
            columns: Vec::new(),
            schema: None,
            schema_name: None,
        }
    }
}

impl Served {
    pub(crate) fn is_of(&self, group: &str, plural: &str) -> bool {
        self.definition.group == group && self.definition.plural == plural
    }

    pub(crate) fn is(&self, other: &ResourceDefinition) -> bool {
        self.is_of(&other.group, &other.plural) && self.definition.version == other.version
    }
}

impl ResourceDefinition {
    /// The `apiVersion` of its objects.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// How messages name it: `deployments.apps`, `pods`.
    pub(crate) fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }
}

/// Sorts versions as discovery does: stable ones first, then beta, then alpha,
/// the newest first among each; what is no such version comes last, by name.
pub(crate) fn priority(version: &str) -> impl Ord + use<> {
    (Reverse(parts(version)), version.to_owned())
}

fn parts(version: &str) -> Option<(u8, u32, u32)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len());
    let (major, suffix) = rest.split_at(digits);
    let major = major.parse().ok()?;
    if suffix.is_empty() {
        return Some((2, major, 0));
    }
    let (stability, minor) = match suffix.strip_prefix("beta") {
        Some(minor) => (1, minor),
        None => (0, suffix.strip_prefix("alpha")?),
    };
    Some((stability, major, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_versions_come_before_beta_and_alpha_and_new_before_old() {
        let mut versions = ["v1alpha1", "v1", "next", "v2beta1", "v1beta2", "v2", "v10"];
        versions.sort_by_key(|version| priority(version));
        assert_eq!(versions, ["v10", "v2", "v1", "v2beta1", "v1beta2", "v1alpha1", "next"]);
    }
}
