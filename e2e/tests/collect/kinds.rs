//! Kinds under odd names, kinds that come and go, and kinds that cannot be watched.

use e2e::{cluster, servers};
use kollect_collect::{Habits, Presence, Reason, TargetReport};
use kollect_inventory::Coverage;
use serde_json::json;

use super::{
    scene::{LIMIT, Scene, cluster_target, eager, target},
    support::definition,
    writing::{Hand, Sort},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kind_that_arrives_late_stops_nobody_else_and_heals_by_itself() {
    for cluster in servers() {
        let hand = Hand::of(cluster.kubeconfig()).await;
        hand.namespace("late", json!({})).await;
        let maps = Sort::config_maps();
        hand.put(&maps, "late", "one", "red").await;
        // The habits of everybody: what is missing is looked for every ten seconds,
        // and at once when a definition comes.
        let scene = Scene::new(cluster.kubeconfig(), Habits::default()).await;
        let spec = || json!({"includedNamespaces": ["late"]});
        let order = [
            target("good", "- v1 ConfigMap", "$.data.value", spec()),
            target("late", "late.kollect.test v1 Letter", "$.spec.value", spec()),
        ];
        scene.order(&order);
        scene.misses("late", &[""], Reason::NotServed).await;
        let says = "the cluster serves no group \"late.kollect.test\"";
        scene.reports("late", |report| report.gaps[""].message == says).await;
        scene.covers("good").await;
        hand.put(&maps, "late", "one", "blue").await;
        scene.has(&["good late/one: blue".to_owned()]).await;

        let name = "letters.late.kollect.test";
        cluster.apply(&definition(name, "Letter", "Namespaced", &["v1"]));
        cluster.established(&[name]);
        let letters = Sort::new("late.kollect.test v1 Letter letters", json!({}));
        hand.put(&letters, "late", "first", "green").await;
        scene.covers("late").await;
        scene.has(&["good late/one: blue".to_owned(), "late late/first: green".to_owned()]).await;
        scene.covers("good").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kind_that_is_gone_takes_its_rows_along_only_when_that_is_sure() {
    for cluster in servers() {
        let hand = Hand::of(cluster.kubeconfig()).await;
        hand.namespace("gone", json!({})).await;
        let name = "stamps.gone.kollect.test";
        let install = |versions: &[&str]| {
            cluster.apply(&definition(name, "Stamp", "Namespaced", versions));
            cluster.established(&[name]);
        };
        install(&["v1"]);
        hand.put(&Sort::config_maps(), "gone", "one", "red").await;
        let stamps = Sort::new("gone.kollect.test v1 Stamp stamps", json!({}));
        hand.put(&stamps, "gone", "blue", "one").await;
        let order = |version: &str| {
            let spec = || json!({"includedNamespaces": ["gone"]});
            let kind = format!("gone.kollect.test {version} Stamp");
            [
                target("good", "- v1 ConfigMap", "$.data.value", spec()),
                target("t", &kind, "$.spec.value", spec()),
            ]
        };
        // One who is never sure, and one who is so after a second or two.
        let patient = Habits { definite: LIMIT * 100, ..eager() };
        let patient = Scene::new(cluster.kubeconfig(), patient).await;
        let brisk = Scene::new(cluster.kubeconfig(), eager()).await;
        let (good, row) = ("good gone/one: red".to_owned(), "t gone/blue: one".to_owned());
        for scene in [&patient, &brisk] {
            scene.order(&order("v1"));
            scene.has(&[good.clone(), row.clone()]).await;
            scene.covers("t").await;
        }

        // The objects are still there, but nobody serves them under that version.
        install(&["v1", "v2"]);
        let unserve = r#"[{"op": "replace", "path": "/spec/versions/0/served", "value": false}]"#;
        cluster.kubectl(["patch", "crd", name, "--type=json", "-p", unserve]).stdout();
        let is_gone = |report: &TargetReport, sure: bool| {
            matches!(&report.kind, Presence::Absent { reason, is_definite }
            if *is_definite == sure && reason.ends_with("it has v2"))
        };
        patient.reports("t", |report| is_gone(report, false)).await;
        brisk.reports("t", |report| is_gone(report, true) && report.is_settled).await;
        assert_eq!(patient.rows(), [good.clone(), row.clone()], "nothing is sure yet");
        assert_eq!(patient.coverage("t", "gone"), Some(Coverage::Uncovered));
        assert_eq!((brisk.rows(), brisk.coverage("t", "gone")), (vec![good.clone()], None));

        // Whoever edits the profile has them back.
        for scene in [&patient, &brisk] {
            scene.order(&order("v2"));
            scene.covers("t").await;
            scene.has(&[good.clone(), row.clone()]).await;
        }

        // Without its definition, the server removes the objects themselves.
        cluster.kubectl(["delete", "crd", name]).stdout();
        for scene in [&patient, &brisk] {
            scene.has(std::slice::from_ref(&good)).await;
            scene.misses("t", &[""], Reason::NotServed).await;
            scene.covers("good").await;
        }
        install(&["v1"]);
        brisk.order(&order("v1"));
        hand.put(&stamps, "gone", "new", "two").await;
        brisk.has(&[good, "t gone/new: two".to_owned()]).await;
        brisk.covers("t").await;
        brisk.agrees(&hand.client).await;
    }
}

/// A kind, its plural, what its objects must have, and whether they are in namespaces.
const KINDS: [(&str, &str, &str, bool); 10] = [
    (
        "networking.k8s.io v1 Ingress",
        "ingresses",
        r#"{"spec":{"defaultBackend":{"service":{"name":"x","port":{"number":80}}}}}"#,
        true,
    ),
    (
        "networking.k8s.io v1 NetworkPolicy",
        "networkpolicies",
        r#"{"spec":{"podSelector":{}}}"#,
        true,
    ),
    ("- v1 Endpoints", "endpoints", "{}", true),
    ("odd.kollect.test v1 Gateway", "gateways", "{}", true),
    ("odd.kollect.test v1 Datum", "data", "{}", true),
    ("odd.kollect.test v1beta1 Lamp", "lamps", "{}", true),
    ("odd.kollect.test v1 Lamp", "lamps", "{}", true),
    ("even.kollect.test v1 Lamp", "lamps", "{}", false),
    ("rbac.authorization.k8s.io v1 ClusterRole", "clusterroles", "{}", false),
    ("- v1 Node", "nodes", "{}", false),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn odd_plurals_several_groups_and_versions_and_kinds_without_namespaces_are_collected() {
    let Some(cluster) = cluster() else { return };
    let hand = Hand::of(cluster.kubeconfig()).await;
    cluster.apply(
        &[
            definition("gateways.odd.kollect.test", "Gateway", "Namespaced", &["v1"]),
            definition("data.odd.kollect.test", "Datum", "Namespaced", &["v1"]),
            definition("lamps.odd.kollect.test", "Lamp", "Namespaced", &["v1beta1", "v1"]),
            definition("lamps.even.kollect.test", "Lamp", "Cluster", &["v1"]),
        ]
        .concat(),
    );
    let installed = ["gateways.odd", "data.odd", "lamps.odd", "lamps.even"];
    let installed = installed.map(|name| format!("{name}.kollect.test"));
    cluster.established(&installed.each_ref().map(String::as_str));
    hand.namespace("odd", json!({})).await;
    let path = "$.metadata.labels.value";
    let assignments = KINDS.iter().enumerate().map(|(number, (kind, _, _, is_namespaced))| {
        let name = format!("t{number}");
        if *is_namespaced {
            target(&name, kind, path, json!({"includedNamespaces": ["odd"]}))
        } else {
            cluster_target(&name, kind, path, json!({"by": "test"}))
        }
    });
    let scene = Scene::new(cluster.kubeconfig(), eager()).await;
    scene.order(&assignments.collect::<Vec<_>>());
    let sorts = KINDS.map(|(kind, plural, body, is_namespaced)| {
        let sort = Sort::new(&format!("{kind} {plural}"), serde_json::from_str(body).unwrap());
        (sort, if is_namespaced { "odd" } else { "" })
    });
    for colour in ["red", "blue"] {
        for (sort, namespace) in &sorts {
            hand.put(sort, namespace, "odd-one", colour).await;
        }
        let rows = (0..KINDS.len()).map(|number| {
            let namespace = sorts[number].1;
            format!("t{number} {namespace}/odd-one: {colour}")
        });
        scene.has(&rows.collect::<Vec<_>>()).await;
    }
    for number in 0..KINDS.len() {
        scene.covers(&format!("t{number}")).await;
    }
    // One object under two versions is one row for each target.
    assert_eq!(scene.agrees(&hand.client).await, KINDS.len());
    for (sort, namespace) in &sorts {
        hand.delete(sort, namespace, "odd-one").await;
    }
    scene.has(&[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kind_that_can_be_listed_and_not_watched_is_refused_and_stops_nobody_else() {
    let Some(cluster) = cluster() else { return };
    let scene = Scene::new(cluster.kubeconfig(), eager()).await;
    scene.order(&[
        cluster_target("t", "- v1 ComponentStatus", "$.metadata.name", json!({"by": "test"})),
        cluster_target("good", "- v1 PersistentVolume", "$.metadata.name", json!({"by": "test"})),
    ]);
    let says = "v1 ComponentStatus can be listed, but not watched";
    let is_said =
        |report: &TargetReport| report.gaps.get("").is_some_and(|gap| gap.message == says);
    scene.reports("t", is_said).await;
    scene.covers("good").await;
}
