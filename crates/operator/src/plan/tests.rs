use std::collections::BTreeSet;

use kollect_validate::Object;
use serde_json::{Value, json};

use super::{target::Stance, *};
use crate::objects::News;

fn object(kind: Kind, name: &str, generation: i64, spec: Value) -> Arc<Object> {
    let object = json!({
        "metadata": {"name": name, "namespace": "a", "uid": name, "generation": generation},
        "spec": spec,
    });
    Arc::new(Object::decode(kind, object).unwrap())
}

fn profile(kind: &str, annotations: Value) -> Arc<Object> {
    let object = json!({
        "metadata": {
            "name": "p", "namespace": "a", "uid": "p", "generation": 1, "annotations": annotations,
        },
        "spec": {
            "targetGVK": {"version": "v1", "kind": kind},
            "attributes": [{"name": "value", "path": "$.data.value"}],
        },
    });
    Arc::new(Object::decode(Kind::Profile, object).unwrap())
}

fn target(generation: i64, spec: Value) -> Arc<Object> {
    object(Kind::Target, "t", generation, spec)
}

/// One planner, and what it has seen.
#[derive(Default)]
struct World {
    objects: Objects,
    planner: Planner,
    settings: Settings,
}

impl World {
    fn with(objects: impl IntoIterator<Item = Arc<Object>>) -> Self {
        let mut world = Self::default();
        for object in objects {
            world.see(object);
        }
        world
    }

    fn see(&mut self, object: Arc<Object>) {
        self.objects.take(News::Set(object));
    }

    fn plan(&mut self) -> TargetPlan {
        let Plan { targets, .. } =
            self.planner.plan(&self.objects, &self.settings, &Knowledge::default());
        targets.into_values().next().unwrap()
    }

    /// What becomes of the target: what is done, and the reason.
    fn comes_to(&mut self) -> (&'static str, &'static str) {
        let plan = self.plan();
        let stance = match plan.stance {
            Stance::Collect(_) => "collect",
            Stance::Doubt(Some(_)) => "go on",
            Stance::Doubt(None) => "unknown",
            Stance::Withdraw => "withdraw",
        };
        (stance, plan.trouble.map_or("", |trouble| trouble.reason))
    }
}

const UNCLEAR: &str = r#"{"matchExpressions": [{"key": "a", "operator": "Nope"}]}"#;

fn unclear() -> Arc<Object> {
    let selector: Value = serde_json::from_str(UNCLEAR).unwrap();
    target(2, json!({"profileRef": "p", "labelSelector": selector}))
}

#[test]
fn whoever_cannot_be_understood_goes_on_but_not_above_a_ceiling_that_came_since() {
    let maps = || profile("ConfigMap", json!({}));
    let mut world = World::with([maps(), target(1, json!({"profileRef": "p"}))]);
    assert_eq!(world.comes_to(), ("collect", ""));
    world.see(unclear());
    assert_eq!(world.comes_to(), ("go on", "InvalidSpec"));

    let narrow = json!({"allowedNamespaces": ["a"]});
    world.see(object(Kind::Scope, "ceiling", 1, narrow));
    let known = ["a", "b"].map(|name| (name.to_owned(), Namespace::default()));
    let Stance::Doubt(Some(assignment)) = world.plan().stance else { panic!("it does not go on") };
    assert_eq!(assignment.namespaces(&known.into()), BTreeSet::from(["a".to_owned()]));
    let Stance::Doubt(Some(again)) = world.plan().stance else { panic!("it does not go on") };
    assert!(Arc::ptr_eq(&assignment, &again), "nothing has changed");

    let pods = json!({"allowedGVKs": [{"version": "v1", "kind": "Pod"}]});
    world.see(object(Kind::Scope, "ceiling", 2, pods));
    assert_eq!(world.comes_to(), ("withdraw", "ScopeGVKDenied"));
    world.see(object(Kind::Scope, "ceiling", 3, json!({})));
    assert_eq!(world.comes_to(), ("go on", "InvalidSpec"));
}

#[test]
fn a_profile_that_is_missing_does_not_lift_a_ceiling() {
    let maps = profile("ConfigMap", json!({}));
    let mut world = World::with([maps, target(1, json!({"profileRef": "p"}))]);
    assert_eq!(world.comes_to(), ("collect", ""));
    world.objects.take(News::Gone(Kind::Profile, Name::new("a", "p")));
    assert_eq!(world.comes_to(), ("go on", "ProfileNotFound"));
    let pods = json!({"allowedGVKs": [{"version": "v1", "kind": "Pod"}]});
    world.see(object(Kind::Scope, "ceiling", 1, pods));
    assert_eq!(world.comes_to(), ("withdraw", "ScopeGVKDenied"));
}

#[test]
fn a_profile_of_secrets_that_loses_its_consent_is_withdrawn() {
    let open = json!({"kollect.dev/allow-secret-extraction": "true"});
    let target = target(1, json!({"profileRef": "p"}));
    let mut world = World::with([profile("Secret", open), target]);
    assert_eq!(world.comes_to(), ("collect", ""));
    world.see(profile("Secret", json!({})));
    assert_eq!(world.comes_to(), ("withdraw", "InvalidSpec"));
}

#[test]
fn a_profile_of_secrets_that_never_had_consent_is_not_understood() {
    let target = target(1, json!({"profileRef": "p"}));
    let mut world = World::with([profile("Secret", json!({})), target]);
    assert_eq!(world.comes_to(), ("unknown", "InvalidSpec"));
}

#[test]
fn nobody_gets_a_namespace_that_the_operator_is_not_to_look_at() {
    let included = |names: &[&str]| json!({"profileRef": "p", "includedNamespaces": names});
    let mut world = World::with([profile("ConfigMap", json!({})), target(1, included(&["a"]))]);
    world.settings.watch_namespaces = BTreeSet::from(["a".to_owned()]);
    assert_eq!(world.comes_to(), ("collect", ""));
    world.see(target(2, included(&["a", "b"])));
    assert_eq!(world.comes_to(), ("withdraw", "ScopeNamespaceDenied"));
    assert!(world.plan().trouble.unwrap().message.contains("b is not in --watch-namespaces"));
}
