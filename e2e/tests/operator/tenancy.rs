//! Whoever writes custom resources tries to get out of its namespace, and is
//! told why not.
//!
//! One cluster, one operator, and a table: each line is a tenant of its own who
//! wants something that is not for it.

mod attempts;
mod canaries;

use serde_json::{Value, json};

use self::{
    attempts::{Attempt, attempts, permitted},
    canaries::{CANARY, canaries},
};
use super::ground::{Ground, Saying, basics, config_map, files, namespace, ours};

/// Whatever is not for tenants is here.
const VAULT: &str = "vault";

fn saying(kind: &'static str, of: (&str, &str), condition: &'static str) -> Saying {
    Saying { kind, of: (of.0.to_owned(), of.1.to_owned()), condition, says: "" }
}

#[test]
fn every_way_out_of_a_namespace_is_refused_with_its_reason() {
    let Some(ground) = Ground::new() else { return };
    let operator = ground.operator(ground.plane.kubeconfig(), &[]);
    ground.apply(&[namespace(VAULT, json!({"team": VAULT})), config_map(VAULT, "treasure")]);
    let attempts = [attempts(), permitted()].concat();
    let spaces: Vec<_> =
        attempts.iter().map(|one| namespace(one.place, one.labels.clone())).collect();
    ground.apply(&spaces);
    // What was done before there was a ceiling is no attempt to get above it.
    let is_ceiling = |one: &Value| one["kind"].as_str().is_some_and(|kind| kind.ends_with("Scope"));
    let objects = attempts.iter().flat_map(|one| one.objects.clone());
    let (ceilings, objects): (Vec<_>, Vec<_>) = objects.partition(is_ceiling);
    ground.apply(&ceilings);
    ground.apply(&objects);
    let sayings: Vec<_> = attempts.iter().map(|one| one.saying.clone()).collect();
    ground.say(&sayings);
    for attempt in &attempts {
        if let Some(rows) = attempt.rows {
            ground.has((attempt.place, "rows.db"), rows);
        }
    }
    tightening(&ground);
    revoking(&ground);
    assert_eq!(operator.stop(), Some(0), "{}", ground.log());
    // Nothing came later, and nothing was written beside.
    for Attempt { place, rows, .. } in &attempts {
        let found = ground.rows(place, "rows.db");
        let found = found.as_ref().map(|rows| rows.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(found.as_deref(), *rows, "{place}");
    }
    let stray = ["elsewhere.db", "outside.db"].map(|name| ground.place.path().join(name));
    assert!(stray.iter().all(|path| !path.exists()));
}

/// A ceiling that comes down takes what is above it, also from those who cannot
/// be understood at that moment.
fn tightening(ground: &Ground) {
    let scope = |place: &str, spec| ours("KollectScope", place, "ceiling", spec);
    let target = |place: &str, spec| ours("KollectTarget", place, "t", spec);
    let both = json!({"profileRef": "p", "includedNamespaces": ["unclear", VAULT]});
    ground.apply(&[
        namespace("tightened", json!({})),
        namespace("unclear", json!({})),
        config_map("tightened", "own"),
        config_map("unclear", "own"),
    ]);
    ground.apply(&[basics("tightened"), basics("unclear")].concat());
    ground.apply(&[
        scope("tightened", json!({"allowedNamespaces": ["tightened"]})),
        target("tightened", json!({"profileRef": "p"})),
        scope("unclear", json!({"allowedNamespaces": ["unclear", VAULT]})),
        target("unclear", both.clone()),
    ]);
    ground.has(("tightened", "rows.db"), &["t tightened/own"]);
    ground.has(("unclear", "rows.db"), &["t unclear/own", "t vault/treasure"]);

    let mut unclear = both;
    unclear["labelSelector"] = json!({"matchExpressions": [{"key": "a", "operator": "Nope"}]});
    ground.apply(&[
        target("unclear", unclear),
        scope("tightened", json!({"allowedGVKs": [{"version": "v1", "kind": "Pod"}]})),
    ]);
    ground.say(&[
        saying("KollectTarget", ("unclear", "t"), "Degraded True InvalidSpec"),
        saying("KollectTarget", ("tightened", "t"), "Degraded True ScopeGVKDenied"),
    ]);
    ground.has(("tightened", "rows.db"), &[]);
    ground.has(("unclear", "rows.db"), &["t unclear/own", "t vault/treasure"]);
    ground.apply(&[scope("unclear", json!({"allowedNamespaces": ["unclear"]}))]);
    ground.has(("unclear", "rows.db"), &["t unclear/own"]);
    ground.apply(&[scope("unclear", json!({"allowedGVKs": [{"version": "v1", "kind": "Pod"}]}))]);
    ground.say(&[saying("KollectTarget", ("unclear", "t"), "Degraded True ScopeGVKDenied")]);
    ground.has(("unclear", "rows.db"), &[]);
}

/// Who permits a profile to read Secrets can take that back.
fn revoking(ground: &Ground) {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "revoked"},
        "stringData": {"value": "1"},
    });
    let spec = json!({
        "targetGVK": {"version": "v1", "kind": "Secret"},
        "attributes": [{"name": "value", "path": "$.data.value"}],
    });
    let closed = ours("KollectProfile", "revoked", "p", spec);
    let mut open = closed.clone();
    open["metadata"]["annotations"] = json!({"kollect.dev/allow-secret-extraction": "true"});
    let [_, sink, inventory] = basics("revoked");
    let target = json!({"profileRef": "p", "includedNamespaces": ["revoked"]});
    ground.apply(&[namespace("revoked", json!({}))]);
    ground.apply(&[secret, open, sink, inventory]);
    ground.apply(&[ours("KollectTarget", "revoked", "t", target)]);
    ground.has(("revoked", "rows.db"), &["t revoked/s"]);
    ground.apply(&[closed]);
    ground.has(("revoked", "rows.db"), &[]);
    let says = "allow-secret-extraction";
    let said = saying("KollectTarget", ("revoked", "t"), "Degraded True InvalidSpec");
    ground.say(&[Saying { says, ..said }]);
}

#[test]
fn what_is_secret_leaves_by_no_door() {
    let Some(ground) = Ground::new() else { return };
    let operator = ground.operator(ground.plane.kubeconfig(), &[]);
    ground.apply(&[namespace("canaries", json!({}))]);
    ground.apply(&canaries("canaries"));
    ground.apply(&basics("canaries"));
    let rows = ["maps canaries/settings", "works canaries/web"];
    ground.has(("canaries", "rows.db"), &rows);
    let lost = saying("KollectInventory", ("canaries", "lost"), "SinkReachable False ExportFailed");
    ground.say(&[lost]);
    assert_eq!(operator.stop(), Some(0), "{}", ground.log());
    let mut places = vec![("the log".to_owned(), ground.log().into_bytes())];
    let said = ground
        .get("kollecttargets,kollectinventories,kollectsnapshotsinks,kollectdatabasesinks,events");
    places.push(("what objects say".to_owned(), json!(said).to_string().into_bytes()));
    places.extend(files(ground.place.path()));
    assert!(places.len() > 3, "there are copies to look at");
    for (place, bytes) in places {
        let is_there = bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes());
        assert!(!is_there, "{place} holds what is secret: {}", String::from_utf8_lossy(&bytes));
    }
}
