//! Who may do what: everybody everything, but for a table of denials.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::{
    request::{Request, Target, Verb},
    status::Status,
};

/// The name of whoever asks; nobody is told apart.
const USER: &str = "sandbox";

/// Something that clients may not do, until it is lifted.
///
/// Access reviews say so, and requests are answered with 403.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// `list`, `watch`, `get`, …; `*` is each of them.
    pub verb: String,
    /// The empty one is the core group.
    pub group: String,
    /// By its name in paths; `*` is each resource of the group.
    pub resource: String,
    pub scope: DenialScope,
}

/// Where something is denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DenialScope {
    Everywhere,
    /// Cluster-wide requests only; each namespace alone may be read.
    ClusterWide,
    /// In one namespace, and cluster-wide: real rules only add up, so who may
    /// read all namespaces may read each of them.
    Namespace(String),
}

impl Denial {
    /// That a resource may be neither read nor watched.
    pub fn read(group: &str, resource: &str, scope: DenialScope) -> Self {
        Self { verb: "*".to_owned(), group: group.to_owned(), resource: resource.to_owned(), scope }
    }

    fn covers(&self, verb: &str, group: &str, resource: &str, namespace: Option<&str>) -> bool {
        let within = match (&self.scope, namespace) {
            (DenialScope::Everywhere, _) | (_, None) => true,
            (DenialScope::ClusterWide, Some(_)) => false,
            (DenialScope::Namespace(own), Some(namespace)) => own == namespace,
        };
        within
            && (self.verb == "*" || self.verb == verb)
            && self.group == group
            && (self.resource == "*" || self.resource == resource)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Access(Mutex<Vec<Denial>>);

impl Access {
    fn lock(&self) -> MutexGuard<'_, Vec<Denial>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn deny(&self, denial: Denial) {
        self.lock().push(denial);
    }

    pub(crate) fn lift(&self, denial: &Denial) -> bool {
        let mut denials = self.lock();
        let before = denials.len();
        denials.retain(|other| other != denial);
        denials.len() < before
    }

    fn allows(&self, verb: &str, group: &str, resource: &str, namespace: Option<&str>) -> bool {
        !self.lock().iter().any(|denial| denial.covers(verb, group, resource, namespace))
    }

    /// Refuses what is denied.
    pub(crate) fn check(&self, request: &Request, target: &Target) -> Result<(), Status> {
        let verb = match request.verb {
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Watch => "watch",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
            Verb::DeleteCollection => "deletecollection",
            Verb::Discovery | Verb::Other => return Ok(()),
        };
        let Target { group, plural, name, .. } = target;
        // A namespace counts as being in itself.
        let is_namespace = group.is_empty() && plural == "namespaces";
        let own = name.as_deref().filter(|_| is_namespace);
        let namespace = target.namespace.as_deref().or(own);
        if self.allows(verb, group, plural, namespace) {
            return Ok(());
        }
        let place = match namespace {
            Some(namespace) => format!(r#"in the namespace "{namespace}""#),
            None => "at the cluster scope".to_owned(),
        };
        let action = format!(
            r#"User "{USER}" cannot {verb} resource "{plural}" in API group "{group}" {place}"#
        );
        Err(Status::forbidden(target, &action))
    }

    /// Answers a review of what somebody may do, or of who somebody is.
    pub(crate) fn review(&self, kind: &str, mut review: Value) -> Result<Value, Status> {
        let spec = review.get("spec").cloned().unwrap_or_default();
        let status = match kind {
            "TokenReview" => {
                let token = spec.get("token").and_then(Value::as_str).unwrap_or_default();
                match token {
                    "" => json!({"authenticated": false, "user": {}}),
                    _ => json!({"authenticated": true, "user": user()}),
                }
            }
            "SelfSubjectReview" => json!({"userInfo": user()}),
            "SelfSubjectRulesReview" => self.rules(),
            _ => json!({"allowed": self.allows_what(&spec)}),
        };
        let Value::Object(fields) = &mut review else {
            return Err(Status::bad_request("a review is an object"));
        };
        fields.insert("status".to_owned(), status);
        fields.entry("metadata").or_insert_with(|| json!({}));
        fields.insert("kind".to_owned(), Value::from(kind));
        let group = match kind {
            "TokenReview" | "SelfSubjectReview" => "authentication.k8s.io/v1",
            _ => "authorization.k8s.io/v1",
        };
        fields.insert("apiVersion".to_owned(), Value::from(group));
        Ok(review)
    }

    /// Rules only add up: what is denied cannot be said in them.
    fn rules(&self) -> Value {
        let is_incomplete = !self.lock().is_empty();
        let mut rules = json!({
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
            "incomplete": is_incomplete,
        });
        if let (Value::Object(rules), true) = (&mut rules, is_incomplete) {
            rules.insert("evaluationError".to_owned(), json!("the sandbox denies some of it"));
        }
        rules
    }

    fn allows_what(&self, spec: &Value) -> bool {
        spec.get("resourceAttributes").is_none_or(|asked| {
            let text = |name: &str| asked.get(name).and_then(Value::as_str).unwrap_or_default();
            let namespace = Some(text("namespace")).filter(|namespace| !namespace.is_empty());
            self.allows(text("verb"), text("group"), text("resource"), namespace)
        })
    }
}

fn user() -> Value {
    json!({"username": USER, "uid": USER, "groups": ["system:masters", "system:authenticated"]})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(scope: DenialScope, expected: [bool; 3]) {
        let access = Access::default();
        access.deny(Denial::read("", "pods", scope));
        let places = [None, Some("a"), Some("b")];
        assert_eq!(places.map(|place| access.allows("list", "", "pods", place)), expected);
        assert!(access.allows("list", "", "secrets", None));
    }

    #[test]
    fn what_is_denied_in_a_namespace_is_denied_cluster_wide() {
        check(DenialScope::Namespace("a".into()), [false, false, true]);
    }

    #[test]
    fn what_is_denied_cluster_wide_may_be_allowed_in_each_namespace() {
        check(DenialScope::ClusterWide, [false, true, true]);
        check(DenialScope::Everywhere, [false, false, false]);
    }
}
