use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A GitLab project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Gitlab {
    /// Whether to push to the branch or to open a merge request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_request: Option<MergeRequest>,
}

/// How changes reach the branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "!has(self.mode) || self.mode != 'merge_request' || (has(self.targetBranch) && self.targetBranch != '')",
    "message": "targetBranch is required when mode is merge_request",
    "fieldPath": ".targetBranch",
    "reason": "FieldValueRequired"
}]))]
pub struct MergeRequest {
    /// `direct`: push to the branch. `merge_request`: push to a branch of our
    /// own and keep one merge request open. Default: `direct`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<MergeRequestMode>,
    /// Branch that merge requests go to. Required with `merge_request`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub target_branch: Option<String>,
    /// Start of our branch's name: `<prefix>/<namespace>/<name>`.
    /// Default: `kollect`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub branch_prefix: Option<String>,
    /// Title of the merge request, with `{namespace}` and `{name}`. Default:
    /// `kollect inventory export: {namespace}/{name}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub title_template: Option<String>,
    /// Merge by itself once the pipeline succeeds. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_merge: Option<bool>,
}

/// How changes reach the branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MergeRequestMode {
    Direct,
    MergeRequest,
}
