//! Git, GitLab, buckets and directories.

use kollect_validate::{Kind, Rule};
use serde_json::{Value, json};

use super::support::{Case, accepted, object, refused};

fn sink(sink_type: &str, endpoint: &str, fields: Value) -> Value {
    let mut spec = json!({ "type": sink_type, "endpoint": endpoint });
    for (name, value) in fields.as_object().into_iter().flatten() {
        spec[name] = value.clone();
    }
    object(Kind::SnapshotSink, "audit", spec)
}

fn git(fields: Value) -> Value {
    sink("git", "https://git.example.org/shop/audit.git", fields)
}

fn gitlab(request: Value) -> Value {
    let block = json!({ "gitlab": { "mergeRequest": request } });
    sink("gitlab", "https://gitlab.example.org/shop/audit.git", block)
}

pub(crate) fn cases() -> Vec<Case> {
    [branches(), other_branches(), logins(), blocks(), columns()].concat()
}

fn branches() -> Vec<Case> {
    let of = |branch: &str| git(json!({ "git": { "branch": branch } }));
    let unsound = [
        ("", r#"spec.git.branch: Invalid value: "": must not be blank"#),
        (" ", r#"spec.git.branch: Invalid value: " ": must not be blank"#),
        ("@", r#"spec.git.branch: Invalid value: "@": must not be @"#),
        (
            "refs/heads/main",
            r#"spec.git.branch: Invalid value: "refs/heads/main": must be the short name, without refs/heads/"#,
        ),
        ("-f", r#"spec.git.branch: Invalid value: "-f": must begin with a letter or digit"#),
        (
            ".hidden",
            r#"spec.git.branch: Invalid value: ".hidden": must begin with a letter or digit"#,
        ),
        ("_x", r#"spec.git.branch: Invalid value: "_x": must begin with a letter or digit"#),
        ("/main", r#"spec.git.branch: Invalid value: "/main": must begin with a letter or digit"#),
        ("main.", r#"spec.git.branch: Invalid value: "main.": must not end with a dot or slash"#),
        ("main/", r#"spec.git.branch: Invalid value: "main/": must not end with a dot or slash"#),
        (
            "main.lock",
            r#"spec.git.branch: Invalid value: "main.lock": no part of it may end with .lock"#,
        ),
        (
            "a.lock/b",
            r#"spec.git.branch: Invalid value: "a.lock/b": no part of it may end with .lock"#,
        ),
        ("a/.b", r#"spec.git.branch: Invalid value: "a/.b": no part of it may begin with a dot"#),
        ("a..b", r#"spec.git.branch: Invalid value: "a..b": must not contain .., // or @{"#),
        ("a//b", r#"spec.git.branch: Invalid value: "a//b": must not contain .., // or @{"#),
        ("a@{1}", r#"spec.git.branch: Invalid value: "a@{1}": must not contain .., // or @{"#),
        (
            "two words",
            r#"spec.git.branch: Invalid value: "two words": must consist of letters, digits, dots, underscores, slashes and dashes"#,
        ),
        (
            "größe",
            r#"spec.git.branch: Invalid value: "größe": must consist of letters, digits, dots, underscores, slashes and dashes"#,
        ),
    ];
    let sound = ["main", "inventory/eu-1", "v1.2_x", "lock"];
    let sound = sound.map(|branch| accepted(Rule::Git01, of(branch)));
    let unsound = unsound.map(|(branch, says)| refused(Rule::Git01, of(branch), says));
    sound.into_iter().chain(unsound).collect()
}

fn other_branches() -> Vec<Case> {
    let mode = json!("merge_request");
    vec![
        accepted(
            Rule::Git01,
            sink("git", "https://git.example.org/a.git#branch=inventory", json!({})),
        ),
        refused(
            Rule::Git01,
            sink("git", "https://git.example.org/a.git#branch=", json!({})),
            r#"spec.endpoint: Invalid value: "": must not be blank"#,
        ),
        refused(
            Rule::Git01,
            sink("gitlab", "https://git.example.org/a.git#branch=a..b", json!({})),
            r#"spec.endpoint: Invalid value: "a..b": must not contain .., // or @{"#,
        ),
        accepted(Rule::Git01, gitlab(json!({ "branchPrefix": "/kollect/eu/" }))),
        refused(
            Rule::Git01,
            gitlab(json!({ "branchPrefix": "../x" })),
            r#"spec.gitlab.mergeRequest.branchPrefix: Invalid value: "../x": must begin with a letter or digit"#,
        ),
        refused(
            Rule::Git01,
            gitlab(json!({ "targetBranch": "a b" })),
            r#"spec.gitlab.mergeRequest.targetBranch: Invalid value: "a b": must consist of letters, digits, dots, underscores, slashes and dashes"#,
        ),
        accepted(Rule::Ssk03, gitlab(json!({ "mode": mode, "targetBranch": "main" }))),
        accepted(Rule::Ssk03, gitlab(json!({ "mode": "direct" }))),
        refused(
            Rule::Ssk03,
            gitlab(json!({ "mode": mode })),
            "spec.gitlab.mergeRequest.targetBranch: Required value: needed when mode is merge_request",
        ),
        refused(
            Rule::Ssk03,
            gitlab(json!({ "mode": mode, "targetBranch": " " })),
            "spec.gitlab.mergeRequest.targetBranch: Required value: needed when mode is merge_request",
        ),
    ]
}

fn logins() -> Vec<Case> {
    let by = |endpoint: &str, auth: &str| {
        sink("git", endpoint, json!({ "git": { "auth": { "type": auth } } }))
    };
    vec![
        accepted(Rule::Git02, by("https://git.example.org/a.git", "token")),
        accepted(Rule::Git02, by("ssh://git@git.example.org/a.git", "ssh")),
        accepted(Rule::Git02, by("git@git.example.org:a.git", "ssh")),
        refused(
            Rule::Git02,
            by("https://git.example.org/a.git", "ssh"),
            r#"spec.git.auth.type: Invalid value: "ssh": http and https endpoints need token"#,
        ),
        refused(
            Rule::Git02,
            by("SSH://git@git.example.org/a.git", "token"),
            r#"spec.git.auth.type: Invalid value: "token": ssh endpoints need ssh"#,
        ),
        refused(
            Rule::Git02,
            by("git@git.example.org:a.git", "token"),
            r#"spec.git.auth.type: Invalid value: "token": ssh endpoints need ssh"#,
        ),
    ]
}

fn blocks() -> Vec<Case> {
    let parquet = json!({ "objectStore": { "format": "parquet" } });
    vec![
        accepted(Rule::Ssk01, git(json!({ "git": {} }))),
        accepted(Rule::Ssk01, sink("gcs", "gs://bucket", parquet.clone())),
        refused(
            Rule::Ssk01,
            git(parquet.clone()),
            "spec.objectStore: Forbidden: this block is not for type git",
        ),
        // What a foreign block holds is no mistake of its own.
        accepted(Rule::SnkW2, git(json!({}))),
        refused(
            Rule::Ssk01,
            git(json!({ "http": { "method": "PUT" } })),
            "spec.http: Forbidden: this block is not for type git",
        ),
        refused(
            Rule::Ssk01,
            sink("gitlab", "https://gitlab.example.org/a.git", json!({ "git": {} })),
            "spec.git: Forbidden: this block is not for type gitlab",
        ),
        refused(
            Rule::Ssk01,
            sink("s3", "s3://bucket", json!({ "gitlab": {} })),
            "spec.gitlab: Forbidden: this block is not for type s3",
        ),
        refused(
            Rule::Ssk01,
            object(Kind::SnapshotSink, "disk", json!({ "type": "file" })),
            "spec.file: Required value: type file needs this block",
        ),
    ]
}

fn columns() -> Vec<Case> {
    let hot = |attributes: Value| {
        sink("s3", "s3://bucket", json!({ "objectStore": { "hotAttributes": attributes } }))
    };
    vec![
        accepted(Rule::Ssk02, hot(json!(["image", "version"]))),
        accepted(Rule::Ssk02, hot(json!(["image", "Image", " ", "", "!"]))),
        refused(
            Rule::Ssk02,
            hot(json!(["app.name", "app-name"])),
            r#"spec.objectStore.hotAttributes[1]: Invalid value: "app-name": becomes column attr_app_name, as app.name does"#,
        ),
        refused(
            Rule::Ssk02,
            hot(json!(["größe", "grße", "grosse", "grüße"])),
            r#"spec.objectStore.hotAttributes[1]: Invalid value: "grße": becomes column attr_gre, as größe does"#,
        ),
    ]
}
