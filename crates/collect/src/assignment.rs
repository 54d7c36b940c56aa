//! What one target collects.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kollect_api::{
    ClusterTarget, CollectionFilter, GroupVersionKind, Profile, ScopeCeiling, Target,
};
use kollect_extract::{
    Plan, PlanError, Wanted,
    select::{self, Defaults, Namespace},
};
use kollect_inventory::TargetKey;

/// A target with its profile, compiled: which kind, where, and what to make of
/// the objects.
#[derive(Clone, Debug)]
pub struct Assignment {
    target: TargetKey,
    kind: GroupVersionKind,
    plan: Plan,
    filter: CollectionFilter,
    selector: Option<LabelSelector>,
    /// What the server itself can be asked to select by.
    labels: Option<LabelSelector>,
    ceiling: Option<ScopeCeiling>,
}

impl Assignment {
    /// For a target of a namespace. `scrub_keys` are the administrator's.
    pub fn of_target(
        target: &Target,
        profile: &Profile,
        ceiling: Option<&ScopeCeiling>,
        scrub_keys: &[String],
    ) -> Result<Self, Vec<PlanError>> {
        let namespace = target.metadata.namespace.clone().unwrap_or_default();
        let name = target.metadata.name.clone().unwrap_or_default();
        Ok(Self {
            target: TargetKey { namespace: Some(namespace), name },
            kind: profile.spec.target_gvk.clone(),
            plan: Plan::compile(profile, Wanted::from(target), scrub_keys)?,
            filter: target.spec.filter.clone(),
            selector: target.spec.namespace_selector.clone(),
            // Rules take the place of the selector.
            labels: target
                .spec
                .label_selector
                .clone()
                .filter(|_| target.spec.filter.resource_rules.is_empty()),
            ceiling: ceiling.cloned(),
        })
    }

    /// For a target of the cluster.
    pub fn of_cluster_target(
        target: &ClusterTarget,
        profile: &Profile,
        ceiling: Option<&ScopeCeiling>,
        scrub_keys: &[String],
    ) -> Result<Self, Vec<PlanError>> {
        let name = target.metadata.name.clone().unwrap_or_default();
        Ok(Self {
            target: TargetKey { namespace: None, name },
            kind: profile.spec.target_gvk.clone(),
            plan: Plan::compile(profile, Wanted::from(target), scrub_keys)?,
            filter: target.spec.filter.clone(),
            selector: target.spec.namespace_selector.clone(),
            labels: None,
            ceiling: ceiling.cloned(),
        })
    }

    pub fn target(&self) -> &TargetKey {
        &self.target
    }

    pub fn kind(&self) -> &GroupVersionKind {
        &self.kind
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The namespaces that the target may read of those that exist.
    pub fn namespaces(&self, universe: &BTreeMap<String, Namespace>) -> BTreeSet<String> {
        let defaults = Defaults::default();
        let (selector, ceiling) = (self.selector.as_ref(), self.ceiling.as_ref());
        select::namespaces(&self.filter, selector, &defaults, ceiling, universe).effective
    }

    /// The namespaces that the target names itself, for who may not list them.
    /// Nothing is known of their labels.
    pub fn named_namespaces(&self) -> BTreeMap<String, Namespace> {
        let names = self.filter.included_namespaces.iter().cloned();
        names.map(|name| (name, Namespace::default())).collect()
    }

    /// What the server can be asked to select by, in its own words; empty if
    /// it has to send everything.
    pub fn label_selector(&self) -> String {
        let Some(selector) = &self.labels else { return String::new() };
        let equal = selector.match_labels.iter().flatten();
        let equal = equal.map(|(key, value)| format!("{key}={value}"));
        let required = selector.match_expressions.iter().flatten().filter_map(|one| {
            let values = one.values.iter().flatten().cloned().collect::<Vec<_>>().join(",");
            let key = &one.key;
            match one.operator.as_str() {
                "In" => Some(format!("{key} in ({values})")),
                "NotIn" => Some(format!("{key} notin ({values})")),
                "Exists" => Some(key.clone()),
                "DoesNotExist" => Some(format!("!{key}")),
                // It is looked at here, and matches nothing.
                _ => None,
            }
        });
        equal.chain(required).collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_is_told_to_the_server_in_its_own_words() {
        let target = serde_json::from_str::<Target>(
            r#"{"apiVersion":"kollect.dev/v1alpha1","kind":"KollectTarget","metadata":{"name":"t"},
                "spec":{"profileRef":"p","labelSelector":{"matchLabels":{"app":"web"},"matchExpressions":[
                    {"key":"tier","operator":"In","values":["a","b"]},
                    {"key":"old","operator":"DoesNotExist"},{"key":"team","operator":"Exists"}]}}}"#,
        );
        let profile = serde_json::from_str::<Profile>(
            r#"{"apiVersion":"kollect.dev/v1alpha1","kind":"KollectProfile","metadata":{"name":"p"},
                "spec":{"targetGVK":{"version":"v1","kind":"Pod"},"attributes":[{"name":"a","path":"$.a"}]}}"#,
        );
        let assignment =
            Assignment::of_target(&target.unwrap(), &profile.unwrap(), None, &[]).unwrap();
        assert_eq!(assignment.label_selector(), "app=web,tier in (a,b),!old,team");
    }
}
