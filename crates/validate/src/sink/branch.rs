//! Branches, and how to reach them.

use kollect_api::{GitAuthType, MergeRequestMode, SnapshotSinkSpec, SnapshotType};

use super::endpoint;
use crate::{
    report::{FieldPath, Report},
    rule::Rule,
};

/// GIT-01, GIT-02, SSK-03.
pub(super) fn check(spec: &SnapshotSinkSpec, report: &mut Report) {
    let endpoint = spec.common.endpoint.as_deref().unwrap_or_default();
    let of_git = spec.git.as_ref().and_then(|git| git.branch.as_deref());
    let merge_request = spec.gitlab.as_ref().and_then(|gitlab| gitlab.merge_request.as_ref());
    let of_gitlab = merge_request.and_then(|request| request.target_branch.as_deref());
    let by_request =
        merge_request.is_some_and(|request| request.mode == Some(MergeRequestMode::MergeRequest));
    let lacks_target = by_request && of_gitlab.is_none_or(|branch| branch.trim().is_empty());
    let prefix = merge_request.and_then(|request| request.branch_prefix.as_deref());
    let prefix = prefix.map(|prefix| prefix.trim_matches('/')).filter(|prefix| !prefix.is_empty());
    let is_git = matches!(spec.sink_type, SnapshotType::Git | SnapshotType::Gitlab);
    let of_endpoint = endpoint.split_once("#branch=").map(|(_, branch)| branch);
    let branches = [
        ("spec.git.branch", of_git),
        ("spec.gitlab.mergeRequest.targetBranch", of_gitlab.filter(|_| !lacks_target)),
        ("spec.gitlab.mergeRequest.branchPrefix", prefix),
        ("spec.endpoint", of_endpoint.filter(|_| is_git)),
    ];
    for (path, branch) in branches {
        if let Some((branch, reason)) = branch.and_then(|one| Some((one, refusal(one)?))) {
            report.invalid(Rule::Git01, FieldPath::of(path), branch, reason);
        }
    }
    if lacks_target {
        let path = FieldPath::of("spec.gitlab.mergeRequest.targetBranch");
        let detail = "needed when mode is merge_request";
        report.required(Rule::Ssk03, path, detail);
    }
    let auth = spec.git.as_ref().and_then(|git| git.auth.as_ref()).and_then(|auth| auth.auth_type);
    if let Some(auth) = auth.filter(|_| !endpoint.is_empty()) {
        let (fits, found, right) = match (auth, endpoint::parse(endpoint).is_ssh()) {
            (GitAuthType::Ssh, true) | (GitAuthType::Token, false) => return,
            (GitAuthType::Ssh, false) => ("http and https endpoints", "ssh", "token"),
            (GitAuthType::Token, true) => ("ssh endpoints", "token", "ssh"),
        };
        let detail = format!("{fits} need {right}");
        report.invalid(Rule::Git02, FieldPath::of("spec.git.auth.type"), found, detail);
    }
}

/// Why a text is no branch name, if so.
fn refusal(branch: &str) -> Option<&'static str> {
    let legal = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    let is_lock = |part: &str| part.rsplit_once('.').is_some_and(|(_, last)| last == "lock");
    match branch {
        _ if branch.trim().is_empty() => Some("must not be blank"),
        "@" => Some("must not be @"),
        _ if branch.starts_with("refs/") => Some("must be the short name, without refs/heads/"),
        _ if branch.starts_with(['-', '.', '/', '_']) => Some("must begin with a letter or digit"),
        _ if branch.ends_with(['.', '/']) => Some("must not end with a dot or slash"),
        _ if branch.split('/').any(is_lock) => Some("no part of it may end with .lock"),
        _ if branch.contains("/.") => Some("no part of it may begin with a dot"),
        _ if branch.contains("..") || branch.contains("@{") || branch.contains("//") => {
            Some("must not contain .., // or @{")
        }
        _ if !branch.chars().all(legal) => {
            Some("must consist of letters, digits, dots, underscores, slashes and dashes")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branch_names_are_what_git_allows() {
        for good in ["main", "inventory/eu-1", "v1.2_x", "lock", "a/lock"] {
            assert_eq!(refusal(good), None, "{good}");
        }
        for bad in [
            "",
            " ",
            "@",
            "-x",
            ".x",
            "_x",
            "x.",
            "x.lock",
            "x.lock/y",
            "x/.y",
            "a..b",
            "a@{1}",
            "refs/heads/x",
            "a b",
            "ü",
        ] {
            assert!(refusal(bad).is_some(), "{bad}");
        }
    }
}
