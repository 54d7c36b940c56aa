//! Every rule with what it accepts and what it refuses.
//!
//! A case is an object, what stands around it, and the exact words of the
//! rule. The last test proves that no rule is without its cases.

mod rules {
    pub(crate) mod support;
    pub(crate) mod metadata;
    pub(crate) mod structure;
    pub(crate) mod profile;
    pub(crate) mod secrets;
    pub(crate) mod target;
    pub(crate) mod cluster_target;
    pub(crate) mod scope;
    pub(crate) mod inventory;
    pub(crate) mod cluster_inventory;
    pub(crate) mod sink;
    pub(crate) mod sink_remarks;
    pub(crate) mod endpoint;
    pub(crate) mod snapshot_sink;
    pub(crate) mod database_sink;
    pub(crate) mod event_sink;
    pub(crate) mod connection_test;
}

use kollect_validate::{Kind, LocalPaths, Object, Policy, Report, Rule, Surroundings, review};
use proptest::{prelude::*, sample::select};
use serde_json::{Value, json};

use rules::support::{Case, kind_of, object, policy, surroundings};

fn cases() -> Vec<Case> {
    [
        rules::metadata::cases(),
        rules::structure::cases(),
        rules::profile::cases(),
        rules::secrets::cases(),
        rules::target::cases(),
        rules::cluster_target::cases(),
        rules::scope::cases(),
        rules::inventory::cases(),
        rules::cluster_inventory::cases(),
        rules::sink::cases(),
        rules::sink_remarks::cases(),
        rules::endpoint::cases(),
        rules::snapshot_sink::cases(),
        rules::database_sink::cases(),
        rules::event_sink::cases(),
        rules::connection_test::cases(),
    ]
    .concat()
}

#[test]
fn every_rule_accepts_and_refuses_what_it_should() {
    for case in cases() {
        case.check();
    }
}

#[test]
fn every_rule_has_a_case_on_either_side() {
    let cases = cases();
    let missing: Vec<_> = Rule::ALL
        .iter()
        .filter(|rule| !matches!(rule, Rule::Set01 | Rule::Set02 | Rule::Obj01))
        .filter(|rule| {
            let of_rule = || cases.iter().filter(|case| case.rule == **rule);
            !of_rule().any(Case::is_refused) || !of_rule().any(|case| !case.is_refused())
        })
        .collect();
    assert!(missing.is_empty(), "rules without a case on either side: {missing:?}");
}

#[test]
fn a_rule_speaks_only_of_kinds_that_it_concerns() {
    for case in cases() {
        let report = case.report();
        let said = report.violations.iter().map(|one| one.rule);
        for rule in said.chain(report.warnings.iter().map(|one| one.rule)) {
            let kind = kind_of(case.object());
            assert!(rule.concerns(kind), "{rule} speaks of a {}: {}", kind.name(), case.object());
        }
    }
    for rule in Rule::ALL {
        assert!(Kind::ALL.iter().any(|kind| rule.concerns(*kind)), "{rule} concerns nothing");
    }
}

/// What the rules say about an object that stands alone.
fn judged(object: &Value) -> Report {
    review(kind_of(object), object.clone(), &surroundings(&[], policy())).report
}

#[track_caller]
fn check(object: &Value, says: &[&str]) {
    let said: Vec<_> = judged(object).violations.iter().map(ToString::to_string).collect();
    assert_eq!(said, says, "{object}");
}

/// The example at the end of the reference.
fn example() -> [Value; 6] {
    let gvk = json!({ "group": "apps", "version": "v1", "kind": "StatefulSet" });
    let replicas = "cel:has(object.spec.replicas) ? object.spec.replicas : 1";
    [
        object(
            Kind::Scope,
            "ceiling",
            json!({
                "allowedGVKs": [gvk],
                "allowedNamespaces": ["shop", "shop-batch"],
                "databaseSinkRefs": ["ledger"],
                "minExportInterval": "10s",
            }),
        ),
        object(
            Kind::Profile,
            "sts-summary",
            json!({
                "targetGVK": gvk,
                "attributes": [
                    { "name": "service", "path": "$.spec.serviceName", "type": "string" },
                    { "name": "replicas", "path": replicas, "type": "int" },
                ],
                "metrics": [{ "name": "wanted_replicas", "path": "replicas" }],
            }),
        ),
        object(
            Kind::Target,
            "stateful",
            json!({ "profileRef": "sts-summary", "includedNamespaces": ["shop", "shop-batch"] }),
        ),
        object(
            Kind::DatabaseSink,
            "ledger",
            json!({
                "type": "postgres",
                "cluster": "eu-1",
                "postgres": { "databaseRef": { "name": "ledger-dsn" }, "table": "inventory_rows" },
            }),
        ),
        object(
            Kind::SnapshotSink,
            "audit",
            json!({
                "type": "git",
                "endpoint": "ssh://git@git.example.org/shop/audit.git#branch=inventory",
                "secretRef": { "name": "audit-key" },
                "layout": { "mode": "perResource" },
            }),
        ),
        object(
            Kind::Inventory,
            "shop",
            json!({
                "databaseSinkRefs": ["ledger"],
                "snapshotSinkRefs": [
                    { "name": "audit", "exportMinInterval": "1h", "maxExportBytes": 524_288 },
                ],
            }),
        ),
    ]
}

#[test]
fn the_example_of_the_reference_passes_whole() {
    let objects = example();
    let [scope, profile, ..] = &objects;
    let around = surroundings(&[scope.clone(), profile.clone()], policy());
    for object in &objects {
        let report = review(kind_of(object), object.clone(), &around).report;
        assert_eq!(report.violations, [], "{object}");
    }
}

#[test]
fn all_violations_are_reported_at_once() {
    let mut target = object(
        Kind::Target,
        "Web",
        json!({
            "profileRef": "team/images",
            "includedNamespaces": ["a", "a", "B"],
            "labelSelector": { "matchExpressions": [{ "key": "x", "operator": "In" }] },
            "suspended": true,
        }),
    );
    target["metadata"]["namespace"] = json!("shop.eu");
    check(
        &target,
        &[
            "spec.suspended: Forbidden: unknown field; did you mean suspend?",
            r#"metadata.name: Invalid value: "Web": must be an object name: at most 253 small letters, digits, dashes and dots"#,
            r#"metadata.namespace: Invalid value: "shop.eu": must be a namespace name: at most 63 small letters, digits and dashes, such as team-a"#,
            r#"spec.profileRef: Invalid value: "team/images": must be a name in the same namespace, without a slash"#,
            "spec.labelSelector.matchExpressions[0].values: Required value: In needs at least one value",
            r#"spec.includedNamespaces[1]: Duplicate value: "a": it stands earlier in the list"#,
            r#"spec.includedNamespaces[2]: Invalid value: "B": must be a namespace name: at most 63 small letters, digits and dashes, such as team-a"#,
        ],
    );
}

#[test]
fn an_unknown_sink_type_is_reported_alone() {
    let spec = json!({ "type": "http", "endpoint": 7, "tls": { "caBundle": "?" }, "nonsense": 1 });
    check(
        &object(Kind::SnapshotSink, "Audit", spec),
        &[
            r#"spec.type: Unsupported value: "http": supported values: "git", "gitlab", "s3", "gcs", "file""#,
        ],
    );
}

#[test]
fn too_many_sinks_are_reported_alone() {
    let many = vec!["a/b"; 21];
    check(
        &object(Kind::Inventory, "shop", json!({ "eventSinkRefs": many })),
        &["spec.eventSinkRefs: Too many: 21: at most 20 sinks are allowed over the three lists"],
    );
}

#[test]
fn scopes_are_asked_only_about_objects_that_are_clean() {
    let spec = json!({ "type": "git", "exportMinInterval": "1s" });
    let sink = object(Kind::SnapshotSink, "audit", spec);
    let floor = object(Kind::Scope, "ceiling", json!({ "minExportInterval": "1m" }));
    let report = review(Kind::SnapshotSink, sink, &surroundings(&[floor], policy())).report;
    let rules: Vec<_> = report.violations.iter().map(|found| found.rule).collect();
    assert_eq!(rules, [Rule::Snk12]);
}

/// An object of a kind with nothing but what is required.
fn least(kind: Kind) -> Value {
    let gvk = json!({ "version": "v1", "kind": "Pod" });
    let labels = json!({ "matchLabels": { "team": "shop" } });
    let spec = match kind {
        Kind::Profile => json!({ "targetGVK": gvk }),
        Kind::Target => json!({ "profileRef": "images" }),
        Kind::Scope | Kind::ClusterScope | Kind::Inventory => json!({}),
        Kind::SnapshotSink => json!({ "type": "s3", "endpoint": "bucket" }),
        Kind::DatabaseSink => json!({ "type": "sqlite", "sqlite": { "path": "rows.db" } }),
        Kind::EventSink => {
            json!({ "type": "nats", "nats": { "subject": "x", "url": "nats.example.org" } })
        }
        Kind::ConnectionTest => json!({ "sinkRef": { "eventSinkRef": "bus" } }),
        Kind::ClusterTarget => json!({
            "profileRef": { "name": "images", "namespace": "platform" },
            "namespaceSelector": labels,
        }),
        Kind::ClusterInventory => json!({ "namespaces": ["shop"] }),
    };
    let mut object = object(kind, "least", spec);
    object["metadata"] = json!({ "name": "least" });
    object
}

#[test]
fn what_is_required_is_enough() {
    for kind in Kind::ALL {
        check(&least(*kind), &[]);
    }
}

#[test]
fn defaults_come_in_as_on_an_api_server() {
    let stored = |object: Value| {
        let kind = kind_of(&object);
        let spec = match review(kind, object, &Surroundings::default()).object.unwrap() {
            Object::Target(target) => serde_json::to_value(target.spec),
            Object::Inventory(inventory) => serde_json::to_value(inventory.spec),
            Object::ClusterInventory(inventory) => serde_json::to_value(inventory.spec),
            Object::ConnectionTest(test) => serde_json::to_value(test.spec),
            Object::Profile(profile) => serde_json::to_value(profile.spec.export),
            other => panic!("{} has no defaults", other.kind().name()),
        };
        spec.unwrap()
    };
    let mut target = least(Kind::Target);
    target["spec"]["watchMode"] = json!(null);
    assert_eq!(stored(target), json!({ "profileRef": "images", "watchMode": "All" }));
    assert_eq!(stored(least(Kind::Inventory)), json!({ "exportMinInterval": "30s" }));
    assert_eq!(
        stored(least(Kind::ClusterInventory)),
        json!({
            "namespaces": ["shop"],
            "exportMinInterval": "30s",
            "sinkNamespace": "kollect-system",
            "dedupe": "keepAll",
        })
    );
    let mut test = least(Kind::ConnectionTest);
    assert_eq!(stored(test.clone())["ttlSecondsAfterFinished"], 300);
    test["spec"]["ttlSecondsAfterFinished"] = json!(60.0);
    assert_eq!(stored(test)["ttlSecondsAfterFinished"], 60);
    let mut profile = least(Kind::Profile);
    profile["spec"]["export"] = json!({ "mode": "Resource" });
    assert_eq!(
        stored(profile),
        json!({ "mode": "Resource", "as": "resource", "include": "SpecAndStatus" })
    );
}

#[test]
fn a_null_is_nothing() {
    let mut inventory = least(Kind::Inventory);
    inventory["metadata"]["labels"] = json!(null);
    inventory["spec"] = json!({ "exportMinInterval": null });
    check(&inventory, &[]);
    inventory["spec"] = json!({ "maxExportBytes": null });
    check(&inventory, &[]);
}

#[test]
fn only_our_kinds_are_ours_to_judge() {
    let found = |api_version: &str, kind: &str| {
        Kind::of(api_version, kind).map(|kind| kind.map_err(|violation| violation.to_string()))
    };
    assert_eq!(found("kollect.dev/v1alpha1", "KollectTarget"), Some(Ok(Kind::Target)));
    assert_eq!(found("apps/v1", "Deployment"), None);
    assert_eq!(found("v1", "Secret"), None);
    let refused = |api_version: &str, kind: &str, says: &str| {
        assert_eq!(found(api_version, kind), Some(Err(says.to_owned())));
    };
    refused(
        "kollect.dev/v1",
        "KollectTarget",
        r#"apiVersion: Unsupported value: "kollect.dev/v1": must be kollect.dev/v1alpha1"#,
    );
    refused(
        "kolect.dev/v1alpha1",
        "KollectTarget",
        r#"apiVersion: Unsupported value: "kolect.dev/v1alpha1": must be kollect.dev/v1alpha1"#,
    );
    refused(
        "kollect.dev/v1alpha1",
        "KollectTargt",
        r#"kind: Unsupported value: "KollectTargt": there is no such kind; did you mean KollectTarget?"#,
    );
    refused(
        "kollect.dev/v1alpha1",
        "KollectSink",
        r#"kind: Unsupported value: "KollectSink": use KollectSnapshotSink, KollectDatabaseSink or KollectEventSink"#,
    );
}

/// Texts at which a careless rule stumbles.
const ODD: [&str; 24] = [
    "",
    " ",
    "..",
    "{",
    "}",
    "}{",
    "{'",
    "$",
    "$.",
    "cel:",
    "cel:object[",
    "helm:release.",
    "object.",
    "://",
    "a://",
    "[",
    "[]:",
    "@",
    ":@:",
    "ü:ß@[",
    "#branch=",
    "/~",
    "\\",
    "9999999999h",
];

/// Names of fields that several kinds have.
const NAMES: [&str; 9] =
    ["metadata", "spec", "name", "namespace", "type", "path", "attributes", "git", "gvk"];

/// Any JSON value, with field names that mean something.
fn any_value() -> impl Strategy<Value = Value> {
    let text =
        prop_oneof![select(&ODD[..]).prop_map(str::to_owned), ".{0,12}", "[a-z$.{}:/@]{0,9}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let object = proptest::collection::btree_map(select(&NAMES[..]), inner.clone(), 0..4);
        prop_oneof![
            proptest::collection::vec(inner, 0..4).prop_map(Value::from),
            object.prop_map(|all| {
                all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }),
        ]
    })
}

/// Where values stand in an object, as JSON pointers.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(all) => {
            for (name, value) in all {
                let name = name.replace('~', "~0").replace('/', "~1");
                places(value, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(index, value)| {
                places(value, &format!("{at}/{index}"), found);
            });
        }
        _ => {}
    }
}

/// No rule panics, and what passes the structure check can be decoded.
fn judges(kind: Kind, object: &Value) {
    let strict =
        Policy { tenant_mode: false, local_paths: LocalPaths::Below("/srv".into()), ..policy() };
    let review = review(kind, object.clone(), &surroundings(&example()[..2], strict));
    for found in &review.report.violations {
        let said = found.to_string();
        assert!(!said.contains("it cannot be read"), "{said} on {object}");
    }
    assert!(review.object.is_some() || !review.report.is_clean(), "{object}");
}

proptest! {
    #[test]
    fn no_value_makes_the_rules_panic(value in any_value()) {
        for kind in Kind::ALL {
            judges(*kind, &value);
            let mut object = least(*kind);
            object["spec"] = value.clone();
            judges(*kind, &object);
        }
    }

    #[test]
    fn no_change_of_an_object_makes_the_rules_panic(
        case in select(cases()),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any_value()), 1..4),
    ) {
        let mut object = case.object().clone();
        let kind = kind_of(&object);
        for (index, value) in changes {
            let mut found = Vec::new();
            places(&object, "", &mut found);
            if let Some(place) = object.pointer_mut(index.get::<String>(&found)) {
                *place = value;
            }
        }
        judges(kind, &object);
    }
}
