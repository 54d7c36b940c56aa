//! The operator runs with exactly the rights of `deploy/rbac`: it is refused
//! nothing, and uses everything.

use kollect_testenv::Asked;
use serde_json::{Value, json};

use super::{
    ground::{Ground, Saying, basics, config_map, namespace, ours, profile},
    line::Line,
    support::until,
};

const USER: &str = "system:serviceaccount:kollect-system:kollect-controller-manager";

/// Rights that these scenarios do not come to use, and why.
const NOT_HERE: &[(&str, &str, &str)] = &[
    ("kollectsnapshotsinks/status", "patch", "sinks are not probed yet"),
    ("kollectdatabasesinks/status", "patch", "sinks are not probed yet"),
    ("kollecteventsinks/status", "patch", "sinks are not probed yet"),
    ("kollectsnapshotsinks", "patch", "sinks are not probed yet"),
    ("kollectdatabasesinks", "patch", "sinks are not probed yet"),
    ("kollecteventsinks", "patch", "sinks are not probed yet"),
    ("kollectconnectiontests/status", "patch", "connection tests are not run yet"),
    ("kollectconnectiontests", "patch", "connection tests are not run yet"),
    ("kollectconnectiontests", "delete", "connection tests are not run yet"),
    ("tokenreviews", "create", "the metrics endpoint is not served yet"),
    ("subjectaccessreviews", "create", "the metrics endpoint is not served yet"),
];

/// One right: group, resource, verb, and the names that it is about.
type Right = (String, String, String, Vec<String>);

/// What some roles grant, one by one.
fn granted(ground: &Ground, roles: &[(&str, &str)]) -> Vec<Right> {
    let mut rights = Vec::new();
    for (kind, name) in roles {
        let found = ground.get(kind);
        let found = found.into_iter().filter(|role| role["metadata"]["name"] == *name);
        for rule in found.flat_map(|role| role["rules"].as_array().cloned().unwrap_or_default()) {
            let texts = |key: &str| -> Vec<String> {
                serde_json::from_value(rule[key].clone()).unwrap_or_default()
            };
            for group in texts("apiGroups") {
                for resource in texts("resources") {
                    for verb in texts("verbs") {
                        let names = texts("resourceNames");
                        rights.push((group.clone(), resource.clone(), verb, names));
                    }
                }
            }
        }
    }
    assert!(!rights.is_empty());
    rights
}

fn is_use((group, resource, verb, names): &Right, asked: &Asked) -> bool {
    asked.code != 403
        && (&asked.group, &asked.resource, &asked.verb) == (group, resource, verb)
        && (names.is_empty() || names.contains(&asked.name))
}

fn of_operator(ground: &Ground) -> Vec<Asked> {
    let mut asked = ground.plane.audit();
    asked.retain(|one| one.user == USER);
    asked
}

/// The requests of the operator that were refused.
fn refused(ground: &Ground) -> Vec<String> {
    let refused = of_operator(ground).into_iter().filter(|one| one.code == 403);
    refused.map(|one| format!("{} {}", one.verb, one.uri)).collect()
}

/// Each right was used but for those of the tables, and those were not.
#[track_caller]
fn are_used(ground: &Ground, rights: &[Right], elsewhere: &[(&str, &str, &str)]) {
    let asked = of_operator(ground);
    let is_excused = |(_, resource, verb, _): &Right| {
        let mut excused = NOT_HERE.iter().chain(elsewhere);
        excused.any(|(plural, what, _)| resource == plural && verb == what)
    };
    let is_used = |right: &&Right| asked.iter().any(|one| is_use(right, one));
    let (used, unused): (Vec<_>, Vec<_>) = rights.iter().partition(is_used);
    let unused: Vec<_> = unused.into_iter().filter(|right| !is_excused(right)).collect();
    assert!(unused.is_empty(), "granted and never used: {unused:#?}; {}", ground.log());
    let used: Vec<_> = used.into_iter().filter(|right| is_excused(right)).collect();
    assert!(used.is_empty(), "they are used, and need no excuse: {used:#?}");
}

/// What the controller of aggregated roles does elsewhere.
fn aggregate(ground: &Ground) {
    let is_part = |role: &Value| {
        role["metadata"]["labels"]["rbac.kollect.dev/aggregate-to-collector"] == "true"
    };
    let parts = ground.get("clusterroles").into_iter().filter(is_part);
    let rules: Vec<_> = parts.flat_map(|part| part["rules"].as_array().cloned().unwrap()).collect();
    assert!(!rules.is_empty());
    let patch = json!({"rules": rules}).to_string();
    let patch = ["patch", "clusterrole", "kollect-collector", "--type=merge", "-p", &patch];
    ground.plane.kubectl(patch).stdout();
}

fn saying(kind: &'static str, of: (&str, &str), condition: &'static str) -> Saying {
    Saying { kind, of: (of.0.to_owned(), of.1.to_owned()), condition, says: "" }
}

/// A database whose connection string is in a Secret, and nobody may dial.
fn guarded(namespace: &str) -> Vec<Value> {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "dsn", "namespace": namespace},
        "stringData": {"dsn": "postgres://somebody@127.0.0.1:1/rows"},
    });
    let sink = json!({
        "type": "postgres", "postgres": {"databaseRef": {"name": "dsn"}, "table": "rows"},
    });
    vec![
        secret,
        ours("KollectDatabaseSink", namespace, "guarded", sink),
        ours(
            "KollectInventory",
            namespace,
            "guarded",
            json!({"databaseSinkRefs": [{"name": "guarded"}]}),
        ),
    ]
}

/// An inventory whose sink cannot be opened, which is left behind with an event.
fn unusable(namespace: &str) -> Vec<Value> {
    let sink = json!({"type": "sqlite", "sqlite": {"path": "../elsewhere.db"}});
    let refs = json!({"databaseSinkRefs": [{"name": "unusable"}]});
    vec![
        ours("KollectDatabaseSink", namespace, "unusable", sink),
        ours("KollectInventory", namespace, "unusable", refs),
    ]
}

fn finalized(mut target: Value, finalizer: &str) -> Value {
    target["metadata"]["finalizers"] = json!([finalizer]);
    target
}

/// A target of each kind that the samples collect.
fn sampled(place: &str) -> Vec<Value> {
    let kinds = [
        ("", "v1", "Service"),
        ("", "v1", "Node"),
        ("apps", "v1", "Deployment"),
        ("batch", "v1", "CronJob"),
        ("networking.k8s.io", "v1", "Ingress"),
        ("cert-manager.io", "v1", "Certificate"),
        ("argoproj.io", "v1alpha1", "Application"),
        ("helm.toolkit.fluxcd.io", "v2", "HelmRelease"),
        ("aquasecurity.github.io", "v1alpha1", "VulnerabilityReport"),
    ];
    let mut objects = Vec::new();
    for (group, version, kind) in kinds {
        let name = kind.to_lowercase();
        let of = json!({"group": group, "version": version, "kind": kind});
        objects.push(profile(place, &name, of));
        let spec = json!({"profileRef": name, "includedNamespaces": [place]});
        objects.push(ours("KollectTarget", place, &name, spec));
    }
    objects
}

#[test]
fn an_operator_of_the_cluster_needs_its_rights_and_no_others() {
    let Some(ground) = Ground::new() else { return };
    let team = json!({"team": "shop"});
    let spaces = ["kollect-system", "lost"].map(|name| namespace(name, json!({})));
    ground.apply(&spaces);
    ground.apply(&[namespace("shop", team.clone())]);
    ground.apply_file("deploy/rbac/cluster.yaml");
    aggregate(&ground);
    let config = ground.plane.service_account("kollect-system", "kollect-controller-manager");
    let line = Line::to(ground.plane.address());
    let operator = ground.operator(&line.config(&config.unwrap()), &["--leader-elect"]);

    ground.apply(&sampled("shop"));
    ground.apply(&basics("shop"));
    ground.apply(&guarded("shop"));
    ground.apply(&unusable("shop"));
    let of_cluster = json!({
        "profileRef": {"name": "p", "namespace": "shop"},
        "namespaceSelector": {"matchLabels": team},
    });
    let rollup = json!({
        "namespaces": ["shop"], "databaseSinkRefs": [{"name": "rows", "namespace": "shop"}],
    });
    let [target, cluster_target] = ["target-cleanup", "cluster-target-cleanup"]
        .map(|cleanup| format!("kollect.dev/{cleanup}"));
    ground.apply(&[
        config_map("shop", "one"),
        ours("KollectTarget", "lost", "t", json!({"profileRef": "nobody"})),
        finalized(
            ours(
                "KollectTarget",
                "shop",
                "t",
                json!({"profileRef": "p", "includedNamespaces": ["shop"]}),
            ),
            &target,
        ),
        finalized(ours("KollectClusterTarget", "", "ct", of_cluster), &cluster_target),
        ours("KollectClusterInventory", "", "ci", rollup),
    ]);
    ground.has(("shop", "rows.db"), &["ct shop/one", "t shop/one"]);
    ground.say(&[
        saying("KollectTarget", ("shop", "vulnerabilityreport"), "Ready True Collecting"),
        saying("KollectTarget", ("shop", "node"), "Ready True Collecting"),
        saying("KollectInventory", ("shop", "i"), "Synced True Exported"),
        saying("KollectClusterInventory", ("", "ci"), "Synced True Exported"),
        saying("KollectInventory", ("shop", "unusable"), "Degraded True ExportTerminal"),
    ]);

    // Whoever was cut off finds out what happened meanwhile.
    line.cut();
    ground.apply(&[config_map("shop", "two")]);
    let both = ["ct shop/one", "ct shop/two", "t shop/one", "t shop/two"];
    ground.has(("shop", "rows.db"), &both);

    ground.delete("kollecttarget", "shop", "t");
    ground.delete("kollectclustertarget", "", "ct");
    ground.has(("shop", "rows.db"), &[]);
    ground.delete("kollectinventory", "shop", "i");
    ground.delete("kollectinventory", "shop", "unusable");
    ground.delete("kollectclusterinventory", "", "ci");

    let roles = [
        ("clusterroles", "kollect-manager"),
        ("clusterroles", "kollect-collector"),
        ("roles", "kollect-leader-election"),
    ];
    let rights = granted(&ground, &roles);
    // What is asked for last: whether a profile is gone for good.
    let is_late = |(_, resource, verb, _): &&Right| {
        (resource.as_str(), verb.as_str()) == ("kollectprofiles", "get")
    };
    let late = rights.iter().find(is_late).unwrap();
    until(|| of_operator(&ground).iter().any(|one| is_use(late, one)).then_some(()));
    assert_eq!(operator.stop(), Some(0), "{}", ground.log());
    assert_eq!(refused(&ground), Vec::<String>::new(), "{}", ground.log());
    let elsewhere = [("secrets", "get", "a Secret is read where it may not be watched")];
    are_used(&ground, &rights, &elsewhere);
}

#[test]
fn an_operator_of_a_tenant_needs_nothing_of_the_cluster() {
    let Some(ground) = Ground::new() else { return };
    let spaces = ["kollect-system", "team-a", "team-b"].map(|name| namespace(name, json!({})));
    ground.apply(&spaces);
    ground.apply_file("deploy/rbac/tenant.yaml");
    let config = ground.plane.service_account("kollect-system", "kollect-controller-manager");
    let line = Line::to(ground.plane.address());
    let config = line.config(&config.unwrap());
    let arguments = ["--leader-elect", "--tenant-mode", "--watch-namespaces", "team-a"];
    let operator = ground.operator(&config, &arguments);

    let kinds = sampled("team-a");
    let is_reached = |one: &&Value| one["metadata"]["name"] != "node";
    ground.apply(&kinds.iter().filter(is_reached).cloned().collect::<Vec<_>>());
    let target = |place: &str, name: &str, spec| ours("KollectTarget", place, name, spec);
    for place in ["team-a", "team-b"] {
        ground.apply(&basics(place));
        ground.apply(&[
            config_map(place, "one"),
            target(place, "t", json!({"profileRef": "p"})),
            profile(place, "nodes", json!({"version": "v1", "kind": "Node"})),
        ]);
    }
    ground.apply(&guarded("team-a"));
    ground.apply(&unusable("team-a"));
    let of_cluster = json!({
        "profileRef": {"name": "p", "namespace": "team-a"},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "team-b"}},
    });
    let cleanup = "kollect.dev/target-cleanup";
    ground.apply(&[
        finalized(target("team-a", "t", json!({"profileRef": "p"})), cleanup),
        target("team-a", "far", json!({"profileRef": "p", "includedNamespaces": ["team-b"]})),
        target("team-a", "nodes", json!({"profileRef": "nodes"})),
        ours("KollectClusterTarget", "", "ct", of_cluster),
    ]);
    ground.has(("team-a", "rows.db"), &["t team-a/one"]);
    let far = Saying {
        says: "--watch-namespaces",
        ..saying("KollectTarget", ("team-a", "far"), "Degraded True ScopeNamespaceDenied")
    };
    let nodes = Saying {
        says: "not allowed to list nodes",
        ..saying("KollectTarget", ("team-a", "nodes"), "Degraded True InformerRegistrationFailed")
    };
    ground.say(&[
        far,
        nodes,
        saying("KollectTarget", ("team-a", "t"), "Ready True Collecting"),
        saying("KollectTarget", ("team-a", "application"), "Ready True Collecting"),
        saying("KollectInventory", ("team-a", "i"), "Synced True Exported"),
    ]);
    let others = ground.get("kollecttargets,kollectinventories,kollectclustertargets");
    let is_other = |one: &&Value| one["metadata"]["namespace"] != "team-a";
    for other in others.iter().filter(is_other) {
        assert_eq!(other["status"], Value::Null, "nobody looks at {other}");
    }
    assert_eq!(ground.rows("team-b", "rows.db"), None);

    line.cut();
    ground.apply(&[config_map("team-a", "two"), config_map("team-b", "two")]);
    ground.has(("team-a", "rows.db"), &["t team-a/one", "t team-a/two"]);
    ground.delete("kollecttarget", "team-a", "t");
    ground.has(("team-a", "rows.db"), &[]);
    ground.delete("kollectinventory", "team-a", "i");
    ground.delete("kollectinventory", "team-a", "unusable");
    assert_eq!(operator.stop(), Some(0), "{}", ground.log());
    assert_eq!(refused(&ground), Vec::<String>::new(), "{}", ground.log());

    // Who gives a narrower right to Secrets is served too, only later.
    let roles = [
        ("roles", "kollect-manager"),
        ("roles", "kollect-collector"),
        ("roles", "kollect-leader-election"),
    ];
    let rights = granted(&ground, &roles);
    narrow(&ground);
    let operator = ground.operator(&config, &arguments);
    let is_got = |one: &Asked| (one.verb.as_str(), one.resource.as_str()) == ("get", "secrets");
    until(|| of_operator(&ground).iter().any(is_got).then_some(()));
    assert_eq!(operator.stop(), Some(0), "{}", ground.log());
    for refusal in refused(&ground) {
        let is_watch = refusal.starts_with("watch /api/v1/namespaces/team-a/secrets?");
        assert!(is_watch, "{refusal}");
    }
    let elsewhere = [("kollectprofiles", "get", "asked a minute after a profile has gone")];
    are_used(&ground, &rights, &elsewhere);
}

/// Secrets may no longer be watched, only read by their names.
fn narrow(ground: &Ground) {
    let mut roles = ground.get("roles");
    let role = roles.iter_mut().find(|one| one["metadata"]["name"] == "kollect-manager").unwrap();
    for rule in role["rules"].as_array_mut().unwrap() {
        if rule["resources"] == json!(["secrets"]) {
            rule["verbs"] = json!(["get"]);
        }
    }
    let patch = json!({"rules": role["rules"]}).to_string();
    let patch = ["patch", "role", "kollect-manager", "-n", "team-a", "--type=merge", "-p", &patch];
    ground.plane.kubectl(patch).stdout();
}
