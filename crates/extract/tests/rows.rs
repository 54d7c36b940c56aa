//! Objects and the rows that are made of them.

use base64::{Engine, engine::general_purpose::STANDARD};
use kollect_api::{ClusterTarget, Profile, Target};
use kollect_extract::{Failure, Plan, PlanError, Skip, Verdict, Wanted, select::Namespace};
use serde_json::{Value, json};

use support::{failure, plan, plan_errors, row, target};

#[cfg(test)]
mod rows {
    mod expressions;
}

#[cfg(test)]
mod support {
    use super::*;

    /// A namespaced target called `workloads` in `shop`.
    pub(super) fn target(spec: Value) -> Wanted {
        let mut object = json!({
            "apiVersion": "kollect.dev/v1alpha1",
            "kind": "KollectTarget",
            "metadata": {"name": "workloads", "namespace": "shop"},
            "spec": {"profileRef": "profile"},
        });
        for (name, value) in spec.as_object().unwrap() {
            object["spec"][name] = value.clone();
        }
        Wanted::from(&serde_json::from_value::<Target>(object).unwrap())
    }

    fn profile(spec: Value, annotations: Value) -> Profile {
        serde_json::from_value(json!({
            "apiVersion": "kollect.dev/v1alpha1",
            "kind": "KollectProfile",
            "metadata": {"name": "profile", "namespace": "shop", "annotations": annotations},
            "spec": spec,
        }))
        .unwrap()
    }

    pub(super) fn plan(spec: Value) -> Plan {
        Plan::compile(&profile(spec, json!({})), target(json!({})), &[]).unwrap()
    }

    pub(super) fn allowed(spec: Value, annotation: &str) -> Result<Plan, Vec<PlanError>> {
        Plan::compile(&profile(spec, json!({ annotation: "true" })), target(json!({})), &[])
    }

    /// A plan for another target, and other annotations of the profile.
    pub(super) fn plan_for(
        spec: Value,
        wanted: Wanted,
        annotations: Value,
    ) -> Result<Plan, Vec<PlanError>> {
        Plan::compile(&profile(spec, annotations), wanted, &[])
    }

    pub(super) fn plan_errors(spec: Value) -> Vec<String> {
        let errors = Plan::compile(&profile(spec, json!({})), target(json!({})), &[]).unwrap_err();
        errors.iter().map(ToString::to_string).collect()
    }

    /// The row as JSON; the bytes are canonical, so the text is compared too.
    #[track_caller]
    pub(super) fn row(plan: &Plan, object: &Value) -> String {
        let bytes = serde_json::to_vec(object).unwrap();
        match plan.row(&bytes, Some(&Namespace::default())) {
            Verdict::Keep { row, .. } => format!("{row:?}"),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub(super) fn failure(plan: &Plan, object: &Value) -> String {
        let bytes = serde_json::to_vec(object).unwrap();
        match plan.row(&bytes, None) {
            Verdict::Fail(failure) => failure.to_string(),
            other => panic!("{other:?}"),
        }
    }
}

fn deployment(name: &str, uid: &str, rest: Value) -> Value {
    let mut object = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", "uid": uid, "resourceVersion": "7"},
    });
    for (key, value) in rest.as_object().into_iter().flatten() {
        object[key] = value.clone();
    }
    object
}

/// The attributes of the reference's first example, without those in CEL.
fn images() -> Value {
    json!({
        "targetGVK": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "attributes": [
            {"name": "image", "path": "$.spec.template.spec.containers[0].image"},
            {"name": "images", "path": "{.spec.template.spec.containers[*].image}"},
            {"name": "replicas", "path": "$.spec.replicas"},
            {"name": "owner", "path": "$.metadata.labels.owner"},
            {"name": "tier", "path": "$.metadata.labels.tier", "optional": true},
            {"name": "note", "path": "$.metadata.annotations.slo", "optional": true},
        ],
    })
}

/// All of them.
fn reference() -> Value {
    let mut spec = images();
    let attributes = spec["attributes"].as_array_mut().into_iter();
    attributes.for_each(|attributes| {
        attributes.extend([
            json!({"name": "fq", "path": "cel:object.metadata.namespace + \"/\" + object.metadata.name"}),
            json!({"name": "containers", "path": "cel:size(object.spec.template.spec.containers)"}),
            json!({"name": "ha", "path": "cel:object.spec.replicas > 1"}),
        ]);
    });
    spec
}

#[test]
fn a_row_holds_what_the_profile_reads() {
    let mut checkout = deployment(
        "checkout",
        "0a1b",
        json!({"spec": {"replicas": 3, "template": {"spec": {"containers": [
            {"image": "registry.example/checkout:1.4.2"}, {"image": "registry.example/envoy:v1.31"},
        ]}}}}),
    );
    checkout["metadata"]["annotations"] = json!({"slo": "p99<250ms & rising"});
    let cart = deployment(
        "cart",
        "0c2d",
        json!({"spec": {"replicas": 1, "template": {"spec": {"containers": [
            {"image": "registry.example/cart:2.0.0"},
        ]}}}}),
    );
    let plan = plan(reference());
    assert_eq!(
        row(&plan, &checkout),
        r#"{"targetNamespace":"shop","targetName":"workloads","namespace":"shop","name":"checkout","group":"apps","version":"v1","kind":"Deployment","uid":"0a1b","attributes":{"containers":2,"fq":"shop/checkout","ha":true,"image":"registry.example/checkout:1.4.2","images":["registry.example/checkout:1.4.2","registry.example/envoy:v1.31"],"note":"p99\u003c250ms \u0026 rising","owner":null,"replicas":3}}"#
    );
    assert_eq!(
        row(&plan, &cart),
        r#"{"targetNamespace":"shop","targetName":"workloads","namespace":"shop","name":"cart","group":"apps","version":"v1","kind":"Deployment","uid":"0c2d","attributes":{"containers":1,"fq":"shop/cart","ha":false,"image":"registry.example/cart:2.0.0","images":"registry.example/cart:2.0.0","owner":null,"replicas":1}}"#
    );
}

#[test]
fn a_required_attribute_that_cannot_be_read_fails_the_row() {
    let spec = json!({
        "targetGVK": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "attributes": [{"name": "image", "path": "$.spec.containers[3]"}],
    });
    let object = deployment("web", "u", json!({"spec": {"containers": []}}));
    assert_eq!(
        failure(&plan(spec.clone()), &object),
        "attribute image: there is no element 3 in a list of 0"
    );
    let mut optional = spec;
    optional["attributes"][0]["optional"] = json!(true);
    assert!(row(&plan(optional), &object).ends_with(r#""attributes":{}}"#));
}

#[test]
fn bytes_that_are_no_object_fail() {
    let verdict = plan(images()).row(b"{\"metadata\":", None);
    assert!(matches!(verdict, Verdict::Fail(Failure::Object(_))), "{verdict:?}");
}

#[test]
fn a_row_of_a_cluster_target_is_in_the_namespace_of_its_object() {
    let cluster: ClusterTarget = serde_json::from_value(json!({
        "apiVersion": "kollect.dev/v1alpha1",
        "kind": "KollectClusterTarget",
        "metadata": {"name": "all"},
        "spec": {"profileRef": {"name": "p", "namespace": "n"}},
    }))
    .unwrap();
    let profile: Profile = serde_json::from_value(json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectProfile", "metadata": {}, "spec": images(),
    }))
    .unwrap();
    let plan = Plan::compile(&profile, Wanted::from(&cluster), &[]).unwrap();
    let found = row(
        &plan,
        &deployment(
            "web",
            "u",
            json!({"spec": {"template": {"spec": {"containers": [{"image": "i"}]}}}}),
        ),
    );
    assert!(
        found.starts_with(r#"{"targetNamespace":"shop","targetName":"all","namespace":"shop""#),
        "{found}"
    );
}

#[test]
fn an_object_that_is_not_wanted_is_skipped() {
    let profile: Profile = serde_json::from_value(json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectProfile", "metadata": {}, "spec": images(),
    }))
    .unwrap();
    let wanted = target(json!({"labelSelector": {"matchLabels": {"app": "web"}}}));
    let plan = Plan::compile(&profile, wanted, &[]).unwrap();
    let bytes = serde_json::to_vec(&deployment("web", "u", json!({}))).unwrap();
    assert_eq!(plan.row(&bytes, None), Verdict::Skip(Skip::Labels));
}

#[test]
fn only_what_is_needed_is_read() {
    let paths = plan(images()).projection().paths();
    assert_eq!(
        paths,
        [
            "$.metadata.annotations.slo",
            "$.metadata.labels",
            "$.metadata.name",
            "$.metadata.namespace",
            "$.metadata.resourceVersion",
            "$.metadata.uid",
            "$.spec.replicas",
            "$.spec.template.spec.containers[*].image",
        ]
    );
}

#[test]
fn a_copy_of_the_object_is_trimmed() {
    let copy = |export: Value| {
        let spec = json!({
            "targetGVK": {"group": "apps", "version": "v1", "kind": "Deployment"},
            "export": export,
        });
        let mut object = deployment(
            "web",
            "u",
            json!({
                "spec": {"replicas": 2, "list": [1, 2, 3], "env": [{"name": "a", "drop": 1}, {"name": "b"}]},
                "status": {"ready": 2},
                "data": {"k": "v"},
            }),
        );
        object["metadata"]["labels"] = json!({"app": "web"});
        let found: Value = serde_json::from_str(&row(&plan(spec), &object)).unwrap();
        found["attributes"]["resource"].clone()
    };
    let kind = json!({"apiVersion": "apps/v1", "kind": "Deployment"});
    let with = |fields: Value| {
        let mut all = kind.clone();
        for (name, value) in fields.as_object().into_iter().flatten() {
            all[name] = value.clone();
        }
        all
    };
    assert_eq!(
        copy(json!({"mode": "Resource", "include": "MetadataOnly"})),
        with(json!({"metadata": {"labels": {"app": "web"}}}))
    );
    assert_eq!(
        copy(
            json!({"mode": "Resource", "include": "MetadataOnly", "dedupeIdentity": false, "prune": {"defaults": false}})
        )["metadata"]["name"],
        json!("web")
    );
    assert_eq!(
        copy(json!({"mode": "Resource", "include": "StatusOnly"})),
        with(json!({"status": {"ready": 2}}))
    );
    assert_eq!(copy(json!({"mode": "Resource", "include": "All"}))["data"], json!({"k": "v"}));
    let pruned = copy(json!({"mode": "Resource", "include": "SpecOnly", "prune": {
        "jsonPointers": ["/spec/list/0", "/spec/list/2", "/spec/nothing"],
        "jsonPaths": ["$.spec.env[?(@.name==\"b\")]", "spec.env[*].drop", "$.spec.missing[4]"],
    }}));
    assert_eq!(pruned, with(json!({"spec": {"replicas": 2, "list": [2], "env": [{"name": "a"}]}})));
}

/// Servers leave it out of the items of a list.
#[test]
fn the_kind_is_there_even_if_the_object_does_not_say_it() {
    let spec = json!({
        "targetGVK": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "attributes": [{"name": "kind", "path": "$.kind"}, {"name": "api", "path": "$.apiVersion"}],
        "export": {"mode": "Resource"},
    });
    let whole = deployment("web", "u", json!({"spec": {"replicas": 2}}));
    let mut item = whole.clone();
    item.as_object_mut().unwrap().retain(|name, _| name != "kind" && name != "apiVersion");
    let plan = plan(spec);
    assert_eq!(row(&plan, &item), row(&plan, &whole));
    assert!(
        row(&plan, &item).contains(r#""resource":{"apiVersion":"apps/v1","kind":"Deployment""#)
    );
}

/// The reference's example of a copy with secrets in it; the literal value is
/// hidden too.
#[test]
fn a_copy_of_the_object_shows_no_secret() {
    let spec = json!({
        "targetGVK": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "export": {"mode": "Resource"},
    });
    let object = deployment(
        "cart",
        "0c2d",
        json!({
            "spec": {"replicas": 2, "template": {"spec": {"containers": [{
                "name": "cart",
                "image": "registry.example/cart:2.0.0",
                "env": [
                    {"name": "DB_URL", "valueFrom": {"secretKeyRef": {"name": "db", "key": "url"}}},
                    {"name": "DB_PASSWORD", "value": "hunter2"},
                ],
            }]}}},
            "status": {"readyReplicas": 2},
        }),
    );
    assert_eq!(
        row(&plan(spec), &object),
        r#"{"targetNamespace":"shop","targetName":"workloads","namespace":"shop","name":"cart","group":"apps","version":"v1","kind":"Deployment","uid":"0c2d","attributes":{"resource":{"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":2,"template":{"spec":{"containers":[{"env":[{"name":"DB_URL","valueFrom":{"reason":"sensitive-key","redacted":true}},{"name":"DB_PASSWORD","value":{"reason":"sensitive-key","redacted":true}}],"image":"registry.example/cart:2.0.0","name":"cart"}]}}},"status":{"readyReplicas":2}}}}"#
    );
}

/// The release of the reference's example.
const RELEASE: &str = include_str!("../../../fixtures/helm-release.txt");

fn release() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "sh.helm.release.v1.web.v7", "namespace": "shop", "uid": "u"},
        "data": {"release": RELEASE.trim()},
    })
}

fn reads(fields: &[&str]) -> Value {
    let attribute = |field: &&str| json!({"name": field, "path": format!("helm:release.{field}")});
    let attributes: Vec<_> = fields.iter().map(attribute).collect();
    json!({"targetGVK": {"version": "v1", "kind": "Secret"}, "attributes": attributes})
}

#[test]
fn helm_releases_are_unpacked() {
    let fields = [
        "releaseName",
        "revision",
        "chartVersion",
        "appVersion",
        "chartName",
        "status",
        "lastDeployed",
        "chart.metadata.icon",
    ];
    let found: Value = serde_json::from_str(&row(&plan(reads(&fields)), &release())).unwrap();
    assert_eq!(
        found["attributes"],
        json!({
            "releaseName": "shop-web", "revision": 7, "chartVersion": "3.2.1", "appVersion": "9.9",
            "chartName": "web", "status": "deployed", "lastDeployed": "2026-02-11T09:00:00Z",
            "chart.metadata.icon": null,
        })
    );
}

#[test]
fn a_release_that_cannot_be_unpacked_says_why() {
    let plan = plan(reads(&["releaseName"]));
    for (data, expected) in [
        (json!({}), "attribute releaseName: the object has no data.release"),
        (json!({"release": "%%"}), "attribute releaseName: data.release is not base64"),
        (json!({"release": "H4sIAAAA"}), "attribute releaseName: the release cannot be unpacked"),
        (json!({"release": "eA=="}), "attribute releaseName: the release is not JSON"),
    ] {
        let mut object = release();
        object["data"] = data;
        assert_eq!(failure(&plan, &object), expected);
    }
}

#[test]
fn a_release_that_would_unfold_to_millions_of_values_is_refused() {
    let of = |values: usize| {
        let unfolded = json!({"name": "a", "x": vec![0; values]}).to_string();
        let mut object = release();
        object["data"]["release"] = json!(STANDARD.encode(unfolded));
        object
    };
    let plan = plan(reads(&["releaseName"]));
    assert_eq!(
        failure(&plan, &of(1 << 20)),
        "attribute releaseName: the release holds more than 1048576 values"
    );
    let commas = json!({"name": ",[\"{".repeat(1 << 20)}).to_string();
    let mut object = release();
    object["data"]["release"] = json!(STANDARD.encode(commas));
    assert!(row(&plan, &object).contains("releaseName"), "what stands in a text is no value");
}

#[test]
fn what_is_not_exportable_makes_no_plan() {
    let say = |fields: &[&str]| plan_errors(reads(fields));
    for field in ["manifest", "hooks", "chart", "chart.templates", "chart.values.db", "Chart.Files"]
    {
        let errors = say(&[field]);
        assert!(errors[0].contains("never exported"), "{errors:?}");
    }
    let permit = "reads the data of Secrets; the annotation kollect.dev/allow-secret-extraction: \"true\" would permit it";
    assert_eq!(say(&["config"]), [format!("attribute config: {permit}")]);
    let data = json!({
        "targetGVK": {"version": "v1", "kind": "Secret"},
        "attributes": [{"name": "all", "path": "$.*"}],
    });
    assert_eq!(plan_errors(data.clone()), [format!("attribute all: {permit}")]);
    assert!(support::allowed(data, "kollect.dev/allow-secret-extraction").is_ok());
    let whole =
        json!({"targetGVK": {"version": "v1", "kind": "Secret"}, "export": {"mode": "Resource"}});
    assert_eq!(
        plan_errors(whole.clone()),
        [
            "spec.export.mode: exports whole Secrets; the annotation kollect.dev/allow-full-resource-export: \"true\" would permit it"
        ]
    );
    let plan = support::allowed(whole, "kollect.dev/allow-full-resource-export").unwrap();
    assert!(!row(&plan, &release()).contains(RELEASE.trim()));
}

#[test]
fn the_data_of_a_secret_never_leaves_in_a_copy() {
    let whole = json!({
        "targetGVK": {"version": "v1", "kind": "Secret"},
        "export": {"mode": "Resource", "include": "All"},
    });
    let plan = support::allowed(whole, "kollect.dev/allow-full-resource-export").unwrap();
    let found: Value = serde_json::from_str(&row(&plan, &release())).unwrap();
    assert_eq!(
        found["attributes"]["resource"]["data"],
        json!({"reason": "secret-data", "redacted": true})
    );
}

/// What no copy holds is not even read, unless something else looks at it.
#[test]
fn what_a_copy_drops_can_still_be_an_attribute() {
    let object = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "managedFields": [{"manager": "m"}]},
        "data": {"manager": "d"},
    });
    let export = |prune: Value| {
        let plan = plan(json!({
            "targetGVK": {"version": "v1", "kind": "ConfigMap"},
            "attributes": [{"name": "manager", "path": "$.metadata.managedFields[0].manager", "optional": true}],
            "export": {"mode": "Resource", "include": "All", "prune": prune},
        }));
        let row: Value = serde_json::from_str(&row(&plan, &object)).unwrap();
        row["attributes"].clone()
    };
    let with = |data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": data});
    let copy = with(json!({"manager": "d"}));
    assert_eq!(export(json!({})), json!({"manager": "m", "resource": copy}));
    let copy = with(json!({}));
    let everywhere = json!({"jsonPaths": ["$..manager"]});
    assert_eq!(export(everywhere), json!({"manager": "m", "resource": copy}));
}

#[test]
fn what_does_not_compile_is_named() {
    let errors = plan_errors(json!({
        "targetGVK": {"version": "v1", "kind": "Pod"},
        "attributes": [{"name": "a", "path": "cel:objekt.x"}, {"name": "b", "path": "$.["}],
        "export": {"mode": "Resource", "prune": {"cel": ["1"]}},
    }));
    assert_eq!(
        errors,
        [
            "spec.attributes[0].path: objekt.x\n^ there is no variable objekt",
            "spec.attributes[1].path: $.[\n   ^ an index, a slice, a name in quotes, * or a filter is missing here",
            "spec.export.prune: export.prune.cel: 1\n^ a list of strings is needed, and this is int",
        ]
    );
}
