//! What was granted, and what came of it.

use kollect_testenv::Asked;
use serde_json::{Value, json};

use super::super::ground::Ground;

const USER: &str = "system:serviceaccount:kollect-system:kollect-controller-manager";

/// One right: group, resource, verb, and the names that it is about.
pub(super) type Right = (String, String, String, Vec<String>);

/// What some roles grant, one by one.
pub(super) fn granted(ground: &Ground, roles: &[(&str, &str)]) -> Vec<Right> {
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

pub(super) fn is_use((group, resource, verb, names): &Right, asked: &Asked) -> bool {
    asked.code != 403
        && (&asked.group, &asked.resource, &asked.verb) == (group, resource, verb)
        && (names.is_empty() || names.contains(&asked.name))
}

pub(super) fn of_operator(ground: &Ground) -> Vec<Asked> {
    let mut asked = ground.plane.audit();
    asked.retain(|one| one.user == USER);
    asked
}

/// The requests of the operator that were refused.
pub(super) fn refused(ground: &Ground) -> Vec<String> {
    let refused = of_operator(ground).into_iter().filter(|one| one.code == 403);
    refused.map(|one| format!("{} {}", one.verb, one.uri)).collect()
}

/// Each right was used but for those of the tables, and those were not.
#[track_caller]
pub(super) fn are_used(ground: &Ground, rights: &[Right], elsewhere: &[(&str, &str, &str)]) {
    let asked = of_operator(ground);
    let is_excused = |(_, resource, verb, _): &Right| {
        elsewhere.iter().any(|(plural, what, _)| resource == plural && verb == what)
    };
    let is_used = |right: &&Right| asked.iter().any(|one| is_use(right, one));
    let (used, unused): (Vec<_>, Vec<_>) = rights.iter().partition(is_used);
    let unused: Vec<_> = unused.into_iter().filter(|right| !is_excused(right)).collect();
    assert!(unused.is_empty(), "granted and never used: {unused:#?}; {}", ground.log());
    let used: Vec<_> = used.into_iter().filter(|right| is_excused(right)).collect();
    assert!(used.is_empty(), "they are used, and need no excuse: {used:#?}");
}

/// What the controller of aggregated roles does elsewhere.
pub(super) fn aggregate(ground: &Ground) {
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

/// Secrets may no longer be watched, only read by their names.
pub(super) fn narrow(ground: &Ground) {
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
