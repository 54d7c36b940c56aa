//! The operator runs with exactly the rights of `deploy/rbac`: it is refused
//! nothing, and uses everything.

#[cfg(test)]
mod deeds;
#[cfg(test)]
mod ledger;

use kollect_testenv::Asked;
use serde_json::{Value, json};

use self::{
    deeds::{asked, finalized, guarded, sampled, unusable},
    ledger::{Right, aggregate, are_used, granted, is_use, narrow, of_operator, refused},
};
use super::{
    client::{Trust, get},
    ground::{Ground, Saying, basics, config_map, namespace, ours, profile},
    line::Line,
    support::until,
};

const NOTHING: [String; 0] = [];

fn saying(kind: &'static str, of: (&str, &str), condition: &'static str) -> Saying {
    Saying { kind, of: (of.0.to_owned(), of.1.to_owned()), condition, says: "" }
}

/// Every wish for a probe has been granted, and the test is gone.
#[track_caller]
fn is_granted(ground: &Ground) {
    let wishes = "kollectdatabasesinks,kollectsnapshotsinks,kollectconnectiontests";
    let is_wish = |one: &Value| {
        one["kind"] == "KollectConnectionTest"
            || one["metadata"]["annotations"]["kollect.dev/test-connection"] == "true"
    };
    let is_over = until(|| (!ground.get(wishes).iter().any(is_wish)).then_some(()));
    assert!(is_over.is_some(), "{:#?}; {}", ground.get(wishes), ground.log());
}

/// Asks for the metrics as somebody whom the server knows.
#[cfg(test)]
fn scrape(ground: &Ground) {
    let address = until(|| {
        let log = ground.log();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let line = lines.into_iter().find(|line| line["server"] == "metrics")?;
        line["address"].as_str()?.parse().ok()
    });
    let create = ["create", "token", "kollect-controller-manager", "-n", "kollect-system"];
    let token = ground.plane.kubectl(create).stdout();
    let answer = get(address.unwrap(), "/metrics", &Trust::Anybody, Some(token.trim()));
    assert!(answer.is_ok_and(|(status, _)| [200, 403].contains(&status)));
}

/// Something of everything, in one namespace and in the cluster.
fn fill(ground: &Ground, team: &Value) {
    ground.apply(&[sampled("shop"), guarded("shop"), unusable("shop"), asked("shop")].concat());
    ground.apply(&basics("shop"));
    let of_cluster = json!({
        "profileRef": {"name": "p", "namespace": "shop"},
        "namespaceSelector": {"matchLabels": team},
    });
    let rollup = json!({
        "namespaces": ["shop"], "databaseSinkRefs": [{"name": "rows", "namespace": "shop"}],
    });
    let target = json!({"profileRef": "p", "includedNamespaces": ["shop"]});
    let target = ours("KollectTarget", "shop", "t", target);
    let cluster_target = ours("KollectClusterTarget", "", "ct", of_cluster);
    ground.apply(&[
        config_map("shop", "one"),
        ours("KollectTarget", "lost", "t", json!({"profileRef": "nobody"})),
        finalized(target, "kollect.dev/target-cleanup"),
        finalized(cluster_target, "kollect.dev/cluster-target-cleanup"),
        ours("KollectClusterInventory", "", "ci", rollup),
    ]);
}

#[test]
fn an_operator_of_the_cluster_needs_its_rights_and_no_others() {
    let Some(ground) = Ground::new() else { return };
    let team = json!({"team": "shop"});
    let spaces = ["kollect-system", "lost"].map(|name| namespace(name, json!({})));
    ground.apply(&[&spaces[..], &[namespace("shop", team.clone())]].concat());
    ground.apply_file("deploy/rbac/cluster.yaml");
    aggregate(&ground);
    let config = ground.plane.service_account("kollect-system", "kollect-controller-manager");
    let line = Line::to(ground.plane.address());
    let arguments = ["--leader-elect", "--metrics-bind-address=127.0.0.1:0"];
    let operator = ground.operator(&line.config(&config.unwrap()), &arguments);

    fill(&ground, &team);
    ground.has(("shop", "rows.db"), &["cluster: ct shop/one", "t shop/one"]);
    ground.say(&[
        saying("KollectTarget", ("shop", "vulnerabilityreport"), "Ready True Collecting"),
        saying("KollectTarget", ("shop", "node"), "Ready True Collecting"),
        saying("KollectInventory", ("shop", "i"), "Synced True Exported"),
        saying("KollectClusterInventory", ("", "ci"), "Synced True Exported"),
        saying("KollectInventory", ("shop", "unusable"), "Degraded True ExportTerminal"),
    ]);
    is_granted(&ground);
    scrape(&ground);
    // Whoever was cut off finds out what happened meanwhile.
    line.cut();
    ground.apply(&[config_map("shop", "two")]);
    let both = ["cluster: ct shop/one", "cluster: ct shop/two", "t shop/one", "t shop/two"];
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
    assert_eq!(refused(&ground), NOTHING, "{}", ground.log());
    let elsewhere = [("secrets", "get", "a Secret is read where it may not be watched")];
    are_used(&ground, &rights, &elsewhere);
}

/// Two teams with the same objects; one of them tries to get at the other.
fn fill_teams(ground: &Ground) {
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
    ground.apply(&[guarded("team-a"), unusable("team-a"), asked("team-a")].concat());
    let of_cluster = json!({
        "profileRef": {"name": "p", "namespace": "team-a"},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "team-b"}},
    });
    ground.apply(&[
        finalized(target("team-a", "t", json!({"profileRef": "p"})), "kollect.dev/target-cleanup"),
        target("team-a", "far", json!({"profileRef": "p", "includedNamespaces": ["team-b"]})),
        target("team-a", "nodes", json!({"profileRef": "nodes"})),
        ours("KollectClusterTarget", "", "ct", of_cluster),
    ]);
}

/// What team-a may have is there, and the rest is refused.
fn has_its_own(ground: &Ground) {
    ground.has(("team-a", "rows.db"), &["t team-a/one"]);
    let of_target = |name, condition, says| Saying {
        says,
        ..saying("KollectTarget", ("team-a", name), condition)
    };
    ground.say(&[
        of_target("far", "Degraded True ScopeNamespaceDenied", "--watch-namespaces"),
        of_target("nodes", "Degraded True InformerRegistrationFailed", "not allowed to list nodes"),
        of_target("t", "Ready True Collecting", ""),
        of_target("application", "Ready True Collecting", ""),
        saying("KollectInventory", ("team-a", "i"), "Synced True Exported"),
    ]);
    let others = ground.get("kollecttargets,kollectinventories,kollectclustertargets");
    let is_other = |one: &&Value| one["metadata"]["namespace"] != "team-a";
    for other in others.iter().filter(is_other) {
        assert_eq!(other["status"], Value::Null, "nobody looks at {other}");
    }
    assert_eq!(ground.rows("team-b", "rows.db"), None);
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
    fill_teams(&ground);
    has_its_own(&ground);
    is_granted(&ground);

    line.cut();
    ground.apply(&[config_map("team-a", "two"), config_map("team-b", "two")]);
    ground.has(("team-a", "rows.db"), &["t team-a/one", "t team-a/two"]);
    ground.delete("kollecttarget", "team-a", "t");
    ground.has(("team-a", "rows.db"), &[]);
    ground.delete("kollectinventory", "team-a", "i");
    ground.delete("kollectinventory", "team-a", "unusable");
    assert_eq!(operator.stop(), Some(0), "{}", ground.log());
    assert_eq!(refused(&ground), NOTHING, "{}", ground.log());

    // Who gives a narrower right to Secrets is served too, only later: what let
    // nobody in is read again at once (R33).
    let roles = [
        ("roles", "kollect-manager"),
        ("roles", "kollect-collector"),
        ("roles", "kollect-leader-election"),
    ];
    let rights = granted(&ground, &roles);
    narrow(&ground);
    let operator = ground.operator(&config, &arguments);
    let is_got = |one: &Asked| {
        (one.verb.as_str(), one.resource.as_str(), one.code) == ("get", "secrets", 200)
    };
    let is_read_again = || of_operator(&ground).into_iter().filter(is_got).count() > 1;
    assert!(until(|| is_read_again().then_some(())).is_some(), "{}", ground.log());
    assert_eq!(operator.stop(), Some(0), "{}", ground.log());
    for refusal in refused(&ground) {
        let is_watch = refusal.starts_with("watch /api/v1/namespaces/team-a/secrets?");
        assert!(is_watch, "{refusal}");
    }
    let elsewhere = [("kollectprofiles", "get", "asked a minute after a profile has gone")];
    are_used(&ground, &rights, &elsewhere);
}
