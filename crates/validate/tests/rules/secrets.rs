//! What a profile may read of Secrets.

use kollect_validate::{Kind, Rule};
use serde_json::{Value, json};

use super::support::{Case, accepted, object, refused};

const EXTRACTION: &str = "kollect.dev/allow-secret-extraction";
const FULL_EXPORT: &str = "kollect.dev/allow-full-resource-export";

/// A profile of Secrets with further fields.
fn secrets(mut spec: Value) -> Value {
    spec["targetGVK"] = json!({ "version": "v1", "kind": "Secret" });
    object(Kind::Profile, "keys", spec)
}

fn reads(path: &str) -> Value {
    secrets(json!({ "attributes": [{ "name": "value", "path": path }] }))
}

fn annotated(mut profile: Value, key: &str, value: &str) -> Value {
    profile["metadata"]["annotations"] = json!({ key: value });
    profile
}

pub(crate) fn cases() -> Vec<Case> {
    [harmless(), data(), consent(), whole()].concat()
}

fn harmless() -> Vec<Case> {
    let paths = [
        "$.metadata.name",
        "$.type",
        "{.metadata.labels['data']}",
        "$.metadata.annotations['example.org/owner']",
        "cel:object.metadata.labels.size()",
        "helm:release.chartVersion",
    ];
    paths.map(|path| accepted(Rule::Pro08, reads(path))).into()
}

/// Paths that reach what is secret, and what is said about them.
const CLOSED: [(&str, &str); 15] = [
    (
        "$.data.password",
        r#"spec.attributes[0].path: Forbidden: reads the data of Secrets; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
    ),
    (
        "$.DATA",
        r#"spec.attributes[0].path: Forbidden: reads the data of Secrets; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
    ),
    (
        "$.stringData.x",
        r#"spec.attributes[0].path: Forbidden: reads the data of Secrets; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
    ),
    (
        "{.data}",
        r#"spec.attributes[0].path: Forbidden: reads the data of Secrets; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
    ),
    (
        "{['data']}",
        r#"spec.attributes[0].path: Forbidden: reads the data of Secrets; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
    ),
    (
        "$.*",
        r#"spec.attributes[0].path: Forbidden: reads the data of Secrets; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
    ),
    (
        "$..password",
        r#"spec.attributes[0].path: Forbidden: can read the whole Secret; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
    ),
    (
        "$['metadata','data']",
        r#"spec.attributes[0].path: Forbidden: reads the data of Secrets; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
    ),
    (
        "{$}",
        r#"spec.attributes[0].path: Forbidden: can read the whole Secret; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
    ),
    (
        "cel:object",
        r#"spec.attributes[0].path: Forbidden: can read the whole Secret; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
    ),
    (
        "cel:object[\"data\"]",
        r#"spec.attributes[0].path: Forbidden: reads the data of Secrets; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
    ),
    (
        "cel:.object.data",
        r#"spec.attributes[0].path: Forbidden: reads the data of Secrets; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
    ),
    (
        "cel:object['metadata' == '' ? 'kind' : 'data']",
        r#"spec.attributes[0].path: Forbidden: reads the data of Secrets; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
    ),
    (
        "$.metadata.annotations",
        r#"spec.attributes[0].path: Forbidden: can read the annotation in which kubectl keeps a copy of the Secret; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
    ),
    (
        "helm:release.config",
        r#"spec.attributes[0].path: Forbidden: reads the values of a Helm release; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
    ),
];
fn data() -> Vec<Case> {
    CLOSED.map(|(path, says)| refused(Rule::Pro08, reads(path), says)).into()
}

fn consent() -> Vec<Case> {
    let mut core = reads("$.data.tls");
    core["spec"]["targetGVK"] = json!({ "group": "core", "version": "v1", "kind": "secret" });
    let mut other = reads("$.data.tls");
    other["spec"]["targetGVK"] = json!({ "group": "x.io", "version": "v1", "kind": "Secret" });
    vec![
        accepted(Rule::Pro08, annotated(reads("$.data.tls"), EXTRACTION, "true")),
        accepted(Rule::Pro08, other),
        refused(
            Rule::Pro08,
            core,
            r#"spec.attributes[0].path: Forbidden: reads the data of Secrets; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
        ),
        refused(
            Rule::Pro08,
            annotated(reads("$.data.tls"), EXTRACTION, "True"),
            r#"spec.attributes[0].path: Forbidden: reads the data of Secrets; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
        ),
        refused(
            Rule::Pro08,
            annotated(reads("$.data.tls"), FULL_EXPORT, "true"),
            r#"spec.attributes[0].path: Forbidden: reads the data of Secrets; the annotation kollect.dev/allow-secret-extraction: "true" on the profile would permit it"#,
        ),
    ]
}

fn whole() -> Vec<Case> {
    let copies = || secrets(json!({ "export": { "mode": "Resource" } }));
    vec![
        accepted(Rule::Pro12, annotated(copies(), FULL_EXPORT, "true")),
        refused(
            Rule::Pro12,
            copies(),
            r#"spec.export.mode: Forbidden: exports whole Secrets; the annotation kollect.dev/allow-full-resource-export: "true" on the profile would permit it"#,
        ),
        refused(
            Rule::Pro12,
            annotated(copies(), FULL_EXPORT, "yes"),
            r#"spec.export.mode: Forbidden: exports whole Secrets; the annotation kollect.dev/allow-full-resource-export: "true" on the profile would permit it"#,
        ),
        refused(
            Rule::Pro12,
            annotated(copies(), EXTRACTION, "true"),
            r#"spec.export.mode: Forbidden: exports whole Secrets; the annotation kollect.dev/allow-full-resource-export: "true" on the profile would permit it"#,
        ),
    ]
}
