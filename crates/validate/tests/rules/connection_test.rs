use kollect_validate::{Kind, Rule};
use serde_json::{Value, json};

use super::support::{Case, accepted, object, refused};

fn test(spec: Value) -> Value {
    object(Kind::ConnectionTest, "probe", spec)
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        accepted(Rule::Cnt01, test(json!({ "sinkRef": { "eventSinkRef": "bus" } }))),
        refused(
            Rule::Cnt01,
            test(json!({ "sinkRef": {} })),
            r#"spec.sinkRef: Invalid value: "0 sinks": exactly one of snapshotSinkRef, databaseSinkRef and eventSinkRef is needed"#,
        ),
        refused(
            Rule::Cnt01,
            test(json!({ "sinkRef": { "eventSinkRef": "bus", "databaseSinkRef": "pg" } })),
            r#"spec.sinkRef: Invalid value: "2 sinks": exactly one of snapshotSinkRef, databaseSinkRef and eventSinkRef is needed"#,
        ),
        accepted(
            Rule::Cnt02,
            test(json!({ "sinkRef": { "snapshotSinkRef": "audit" }, "profileRef": "images" })),
        ),
        refused(
            Rule::Cnt02,
            test(json!({ "sinkRef": { "snapshotSinkRef": "team/audit" } })),
            r#"spec.sinkRef.snapshotSinkRef: Invalid value: "team/audit": must be a name in the same namespace, without a slash"#,
        ),
    ]
}
