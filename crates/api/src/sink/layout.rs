//! Which files a copy consists of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which files are written.
///
/// Mode and content have no schema default: one that the server writes cannot
/// be told from an author's choice, and what is right depends on the profiles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(description = "Which files are written.")]
pub struct Layout {
    /// `document`: one file for the inventory. `perResource`: one for each
    /// object. `split`: one for each object, and an index. Default:
    /// `perResource` when all profiles embed the object, else `document`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<LayoutMode>,
    /// What a file for one object holds. `item`: the row. `attributes`: its
    /// attributes. `manifest`: the embedded object. Default: `manifest` when
    /// all profiles embed the object, else `item`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<LayoutContent>,
    /// Path of the file for one object. Placeholders: `{cluster}`,
    /// `{namespace}`, `{name}` (the inventory), `{targetNamespace}`,
    /// `{targetName}`, `{sourceNamespace}`, `{sourceName}`, `{group}`,
    /// `{kind}`, `{uid}` (the object), `{generation}`, `{extension}`. Must
    /// hold `{sourceName}` or `{uid}`. Default:
    /// `{cluster}/{sourceNamespace}/{kind}/{sourceName}{extension}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub path_template: Option<String>,
    /// The file that lists all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<Index>,
    /// How the parts of a path are spelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<Filename>,
}

/// How many files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LayoutMode {
    Document,
    PerResource,
    Split,
}

/// What a file for one object holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LayoutContent {
    Item,
    Attributes,
    Manifest,
}

/// The file that lists all others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Index {
    /// Whether it is written. Default: true with mode `split`, else false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Its path, with the placeholders of `spec.pathTemplate`. Default:
    /// `inventory/{namespace}/{name}{extension}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub path_template: Option<String>,
}

/// How the parts of a path are spelled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Filename {
    /// What `{group}` becomes. `auto` and `always`: the API group, dropped
    /// when it is empty. `never`: nothing. Default: `auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_in_path: Option<GroupInPath>,
    /// Write `{kind}` in small letters. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowercase_kind: Option<bool>,
    /// Longest part of a path in bytes. Default: 63.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_segment_length: Option<i32>,
}

/// What becomes of the API group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GroupInPath {
    Auto,
    Always,
    Never,
}
