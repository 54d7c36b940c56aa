//! What the tables of cases are made of.

use kollect_validate::{
    Kind, KnownSecret, Object, Policy, Report, Review, Rule, Surroundings, review,
};
use serde_json::{Value, json};

/// One object and what a rule says about it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The rule in question.
    pub(crate) rule: Rule,
    object: Value,
    around: Vec<Value>,
    policy: Policy,
    /// The exact words, or nothing if the rule holds.
    says: Option<&'static str>,
}

/// The rule has nothing to say about the object.
pub(crate) fn accepted(rule: Rule, object: Value) -> Case {
    Case { rule, object, around: Vec::new(), policy: policy(), says: None }
}

/// The rule refuses the object, or remarks on it, in these words.
pub(crate) fn refused(rule: Rule, object: Value, says: &'static str) -> Case {
    Case { says: Some(says), ..accepted(rule, object) }
}

/// A policy under which every type of sink is in the build.
pub(crate) fn policy() -> Policy {
    let backends = [
        "git", "gitlab", "s3", "gcs", "file", "postgres", "bigquery", "mongodb", "sqlite", "nats",
        "kafka",
    ];
    Policy { backends: backends.into(), ..Policy::default() }
}

/// An object of a kind; namespaced ones live in `shop`.
pub(crate) fn object(kind: Kind, name: &str, spec: Value) -> Value {
    let mut object = json!({
        "apiVersion": "kollect.dev/v1alpha1",
        "kind": kind.name(),
        "metadata": { "name": name },
        "spec": spec,
    });
    if kind.is_namespaced() {
        object["metadata"]["namespace"] = json!("shop");
    }
    object
}

impl Case {
    /// With further objects around it: profiles, scopes, Secrets.
    #[must_use]
    pub(crate) fn beside(mut self, object: Value) -> Self {
        self.around.push(object);
        self
    }

    /// With another policy of the operator's administrator.
    #[must_use]
    pub(crate) fn under(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(&mut self.policy);
        self
    }

    /// The object that is judged.
    pub(crate) fn object(&self) -> &Value {
        &self.object
    }

    /// Whether the rule is expected to speak up.
    pub(crate) fn is_refused(&self) -> bool {
        self.says.is_some()
    }

    /// Everything that is said about the object.
    pub(crate) fn report(&self) -> Report {
        let around = surroundings(&self.around, self.policy.clone());
        let Review { object: _, report } =
            review(kind_of(&self.object), self.object.clone(), &around);
        report
    }

    /// Runs it. An accepted object must break no rule at all; a refused one
    /// must break this one in these words.
    #[track_caller]
    pub(crate) fn check(&self) {
        let report = self.report();
        let of_rule = |rule| rule == self.rule;
        let said: Vec<String> = report
            .violations
            .iter()
            .filter(|found| of_rule(found.rule))
            .map(ToString::to_string)
            .chain(
                report.warnings.iter().filter(|found| of_rule(found.rule)).map(ToString::to_string),
            )
            .collect();
        if let Some(says) = self.says {
            assert!(
                said.iter().any(|text| text == says),
                "{} on {}\nshould say: {says}\nsays: {said:#?}\nin all: {report:#?}",
                self.rule,
                self.object
            );
        } else {
            assert_eq!(said, Vec::<String>::new(), "{} on {}", self.rule, self.object);
            assert_eq!(report.violations, [], "{} on {}", self.rule, self.object);
        }
    }
}

/// What a rule may know when these objects exist.
#[expect(clippy::panic, clippy::unwrap_used, reason = "a table with such an object is wrong")]
pub(crate) fn surroundings(objects: &[Value], policy: Policy) -> Surroundings {
    let mut around = Surroundings { policy, ..Surroundings::default() };
    for value in objects {
        if value["kind"] == "Secret" {
            around.secrets.push(secret(value));
            continue;
        }
        match Object::decode(kind_of(value), value.clone()).unwrap() {
            Object::Profile(profile) => around.profiles.push(*profile),
            Object::Scope(scope) => around.scopes.push(*scope),
            Object::ClusterScope(scope) => around.cluster_scopes.push(*scope),
            other => panic!("{} cannot stand around an object", other.kind().name()),
        }
    }
    around
}

/// The kind that an object claims to be of.
#[expect(clippy::unwrap_used, reason = "a table with another kind is wrong")]
pub(crate) fn kind_of(object: &Value) -> Kind {
    *Kind::ALL.iter().find(|kind| object["kind"] == kind.name()).unwrap()
}

#[expect(clippy::unwrap_used, reason = "a table with a Secret without a name is wrong")]
fn secret(value: &Value) -> KnownSecret {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let annotations = &value["metadata"]["annotations"];
    KnownSecret {
        namespace: text(&value["metadata"]["namespace"]).unwrap(),
        name: text(&value["metadata"]["name"]).unwrap(),
        allowed: text(&annotations["kollect.dev/allow-sink-namespaces"]),
    }
}
