//! The plans that objects are read with, and what holds for their verdicts.

#![expect(clippy::expect_used, reason = "these profiles are ours, and a check may panic")]

use kollect_api::{Profile, Target, annotation};
use kollect_extract::{Plan, Verdict, Wanted, select::Namespace};
use kollect_inventory::Row;
use serde_json::{Value, json};

/// Profiles that use everything a profile can ask of an object.
pub(crate) fn of_any_object() -> Vec<Plan> {
    let deployment = json!({"group": "apps", "version": "v1", "kind": "Deployment"});
    let secret = json!({"version": "v1", "kind": "Secret"});
    let attributes = json!([
        {"name": "image", "path": "$.spec.template.spec.containers[0].image", "optional": true},
        {"name": "images", "path": "{.spec.template.spec.containers[*].image}", "optional": true},
        {"name": "web", "path": "$.spec.list[?(@.name==\"web\")].value", "optional": true},
        {"name": "password", "path": "$.metadata.annotations", "optional": true},
        {"name": "labels", "path": "$.metadata.labels"},
        {"name": "deep", "path": "$..data", "optional": true},
        {"name": "tags", "path": "cel:object.spec.template.spec.containers.map(c, c.image.split(':').last())", "optional": true},
        {"name": "many", "path": "cel:{'n': size(object.?metadata.?labels.orValue({})), 'l': [object]}"},
    ]);
    let trimmed = json!({
        "mode": "Resource", "include": "All", "key": "copy", "dedupeIdentity": false,
        "prune": {
            "defaults": true,
            "jsonPointers": ["/spec/list/0", "/status", "/metadata/labels/a~1b"],
            "jsonPaths": ["$.spec.env[?(@.name==\"b\")]", "spec.list[*].drop", "$..annotations"],
            "scrubKeys": ["pin"],
            "cel": ["has(object.spec) && type(object.spec) == map ? object.spec.map(k, '/spec/' + k) : []"],
        },
    });
    let untrimmed = json!({"mode": "Resource", "include": "All", "prune": {"defaults": false}});
    vec![
        plan(json!({"targetGVK": deployment, "attributes": attributes})),
        plan(json!({"targetGVK": deployment, "attributes": attributes, "export": trimmed})),
        plan(json!({"targetGVK": deployment, "export": untrimmed})),
        plan(json!({"targetGVK": secret, "export": {"mode": "Resource", "include": "All"}})),
        of_releases(),
    ]
}

/// A profile of Helm releases.
pub(crate) fn of_releases() -> Plan {
    plan(json!({
        "targetGVK": {"version": "v1", "kind": "Secret"},
        "attributes": [
            {"name": "releaseName", "path": "helm:release.releaseName"},
            {"name": "revision", "path": "helm:release.revision"},
            {"name": "info", "path": "helm:release.info"},
            {"name": "metadata", "path": "helm:release.chart.metadata", "optional": true},
            {"name": "config", "path": "helm:release.config", "optional": true},
        ],
    }))
}

fn plan(spec: Value) -> Plan {
    let api = "kollect.dev/v1alpha1";
    let metadata = json!({"name": "any", "namespace": "shop", "annotations": {
        annotation::ALLOW_SECRET_EXTRACTION: "true",
        annotation::ALLOW_FULL_RESOURCE_EXPORT: "true",
    }});
    let profile: Profile = serde_json::from_value(json!({
        "apiVersion": api, "kind": "KollectProfile", "metadata": metadata, "spec": spec,
    }))
    .expect("a profile");
    let target: Target = serde_json::from_value(json!({
        "apiVersion": api, "kind": "KollectTarget", "metadata": metadata,
        "spec": {"profileRef": "any"},
    }))
    .expect("a target");
    let further = ["further".to_owned()];
    Plan::compile(&profile, Wanted::from(&target), &further).expect("a plan")
}

/// The verdict on an object, after a look at its row.
///
/// A row is JSON in its canonical spelling, and the same object gives the same
/// row every time.
pub(crate) fn judge(plan: &Plan, object: &[u8]) -> Verdict {
    let namespace = Namespace::default();
    let verdict = plan.row(object, Some(&namespace));
    if let Verdict::Keep { row, .. } = &verdict {
        examine(row);
    }
    assert_eq!(verdict, plan.row(object, Some(&namespace)), "the second time");
    verdict
}

fn examine(row: &Row) {
    let attributes: Value = match serde_json::from_slice(row.attributes()) {
        Ok(attributes) => attributes,
        // A copy stands two levels deeper than its object, which may be as
        // deep as a reader goes.
        Err(error) if error.to_string().starts_with("recursion limit exceeded") => return,
        Err(error) => panic!("{error} in {row:?}"),
    };
    let again = Row::of_value(&row.identity(), &attributes);
    assert_eq!(&again, row, "what is read back is spelled differently");
    assert_eq!(again.hash(), row.hash());
}
