use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reference::SecretReference;

/// A branch of a Git repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Git {
    /// Branch to commit to. Default: the endpoint's `#branch=`, else `main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub branch: Option<String>,
    /// `Commit`: add commits. `ForcePush`: overwrite the branch's history.
    /// Default: `Commit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_policy: Option<PushPolicy>,
    /// How to log in. Default: by the endpoint's scheme, with `secretRef`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<GitAuth>,
    /// Template of the commit's first line. Placeholders: `{namespace}`,
    /// `{name}`, `{cluster}`, `{generation}`, `{exportGeneration}`,
    /// `{itemCount}`, `{checksum}`, `{checksumShort}`, `{exportedAt}`,
    /// `{sink}`, `{path}`. Default:
    /// `chore({cluster}/{namespace}/{name}): export {itemCount} items @ {checksumShort}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub commit_message: Option<String>,
    /// Template of the commit's body, with the same placeholders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16384))]
    pub commit_body: Option<String>,
    /// Templates of trailers, such as `Inventory: {namespace}/{name}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub commit_trailers: Vec<String>,
    /// Who the commits are from. Default: `kollect <kollect@kollect.dev>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<GitAuthor>,
    /// Commits of history to fetch. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub clone_depth: Option<i32>,
    /// Delete documents that the inventory no longer writes, such as those of
    /// an older `pathTemplate`. Default: true; always on with `layout.mode`
    /// `perResource` or `split`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prune: Option<bool>,
    /// Has no effect: there is one built-in engine. `go-git` and `cli` are
    /// accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<GitEngine>,
    /// Send the Authorization header without being asked for it. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_basic_auth: Option<bool>,
}

/// What happens to the branch's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PushPolicy {
    Commit,
    ForcePush,
}

/// How to log in to the Git server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitAuth {
    /// `token` for http and https endpoints, `ssh` for ssh endpoints.
    /// Default: by the endpoint's scheme.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub auth_type: Option<GitAuthType>,
    /// Secret to use instead of `spec.secretRef`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretReference>,
}

/// Ways to log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GitAuthType {
    Token,
    Ssh,
}

/// Who a commit is from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GitAuthor {
    /// Name. Default: `kollect`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub name: Option<String>,
    /// E-mail address. Default: `kollect@kollect.dev`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub email: Option<String>,
}

/// Engines that other implementations choose between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GitEngine {
    GoGit,
    Cli,
}
