//! What one target collects.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kollect_api::{
    ClusterTarget, CollectionFilter, GroupVersionKind, Profile, ScopeCeiling, Target,
};
use kollect_extract::{
    Plan, PlanError, Wanted,
    select::{self, Defaults, Namespace, NamespaceSets},
};
use kollect_inventory::TargetKey;

use crate::list::Content;

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
    /// Everything that decides which rows are made of an object, as text.
    basis: Box<str>,
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
            basis: basis(
                profile,
                (&target.spec.names, &target.spec.label_selector, &target.spec.watch_mode),
                &target.spec.filter,
                scrub_keys,
            ),
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
            basis: basis(profile, (), &target.spec.filter, scrub_keys),
        })
    }

    /// Whether both make the same rows of the same objects, wherever they read.
    pub(crate) fn reads_like(&self, other: &Self) -> bool {
        self.target == other.target && self.basis == other.basis
    }

    /// Whether it says anything about namespaces by itself.
    pub fn names_namespaces(&self) -> bool {
        self.selector.is_some()
            || !self.filter.included_namespaces.is_empty()
            || !self.filter.excluded_namespaces.is_empty()
            || self.filter.namespace_exclude_selector.is_some()
    }

    /// Whether the namespaces that it can want are known by their names.
    pub(crate) fn is_bounded(&self, defaults: &Defaults) -> bool {
        !self.filter.included_namespaces.is_empty()
            || !defaults.included.is_empty()
            || self.ceiling.as_ref().is_some_and(|ceiling| !ceiling.allowed_namespaces.is_empty())
    }

    /// Whether some object of a namespace may be wanted by what was known of
    /// the namespace and not by what is known now, or the other way round.
    pub(crate) fn heeds(&self, was: Option<&Namespace>, is: Option<&Namespace>) -> bool {
        if was == is {
            return false;
        }
        let nothing = Namespace::default();
        let (labels_were, labels_are) =
            (&was.unwrap_or(&nothing).labels, &is.unwrap_or(&nothing).labels);
        let rules = self.filter.resource_rules.iter();
        let mut selectors = rules.filter_map(|rule| rule.namespace_selector.as_ref());
        was.map(select::words) != is.map(select::words)
            || selectors.any(|selector| {
                select::matches(selector, labels_were) != select::matches(selector, labels_are)
            })
    }

    /// The same under another ceiling.
    #[must_use]
    pub fn under(&self, ceiling: Option<&ScopeCeiling>) -> Self {
        Self { ceiling: ceiling.cloned(), ..self.clone() }
    }

    /// Why it may not have objects without a namespace, if so. They are
    /// nobody's in particular, so the scope of a namespace has to name their
    /// kind before its targets get them.
    pub(crate) fn is_kept_in(&self) -> Option<String> {
        let ceiling = self.ceiling.as_ref().filter(|_| self.target.namespace.is_some())?;
        let is_named = ceiling.allowed_gvks.iter().any(|one| one.is(&self.kind));
        (!is_named).then(|| {
            let kind = &self.kind;
            format!("{kind} has no namespace, and allowedGVKs of the scope does not name it")
        })
    }

    /// How much of each object it has to be sent.
    pub(crate) fn content(&self) -> Content {
        if self.plan.reads_metadata_only() { Content::Metadata } else { Content::Whole }
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
        self.chosen(&Defaults::default(), universe).effective
    }

    /// The same, and what it asks for without its ceiling, where an
    /// administrator has set defaults.
    pub fn chosen(
        &self,
        defaults: &Defaults,
        universe: &BTreeMap<String, Namespace>,
    ) -> NamespaceSets {
        let (selector, ceiling) = (self.selector.as_ref(), self.ceiling.as_ref());
        select::namespaces(&self.filter, selector, defaults, ceiling, universe)
    }

    /// The namespaces that can be named without knowing which there are; none
    /// if the target may want others.
    pub(crate) fn names(&self, defaults: &Defaults) -> BTreeSet<String> {
        let included = match self.filter.included_namespaces.as_slice() {
            [] => &defaults.included,
            own => own,
        };
        let allowed = self.ceiling.as_ref().map(|ceiling| ceiling.allowed_namespaces.as_slice());
        let names = if included.is_empty() { allowed.unwrap_or_default() } else { included };
        names.iter().cloned().collect()
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

/// Everything that decides which rows are made of an object, as one text.
fn basis(
    profile: &Profile,
    selection: impl serde::Serialize,
    filter: &CollectionFilter,
    scrub_keys: &[String],
) -> Box<str> {
    let Profile { spec, metadata, .. } = profile;
    let basis = (spec, &metadata.annotations, selection, &filter.resource_rules, scrub_keys);
    serde_json::to_string(&basis).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assignment(target: &str, kind: &str, ceiling: Option<&ScopeCeiling>) -> Assignment {
        let object = |kind: &str, name: &str, spec: &str| {
            format!(
                r#"{{"apiVersion":"kollect.dev/v1alpha1","kind":"{kind}",
                    "metadata":{{"name":"{name}"}},"spec":{spec}}}"#
            )
        };
        let target: Target = serde_json::from_str(&object("KollectTarget", "t", target)).unwrap();
        let profile = format!(
            r#"{{"targetGVK":{{"version":"v1","kind":"{kind}"}},
                "attributes":[{{"name":"a","path":"$.a"}}]}}"#
        );
        let profile: Profile =
            serde_json::from_str(&object("KollectProfile", "p", &profile)).unwrap();
        Assignment::of_target(&target, &profile, ceiling, &[]).unwrap()
    }

    #[test]
    fn a_selector_is_told_to_the_server_in_its_own_words() {
        let target = r#"{"profileRef":"p","labelSelector":{"matchLabels":{"app":"web"},
            "matchExpressions":[
                {"key":"tier","operator":"In","values":["a","b"]},
                {"key":"old","operator":"DoesNotExist"},{"key":"team","operator":"Exists"}]}}"#;
        let assignment = assignment(target, "Pod", None);
        assert_eq!(assignment.label_selector(), "app=web,tier in (a,b),!old,team");
    }

    #[test]
    fn a_scope_has_to_name_kinds_without_namespaces() {
        let ceiling = |text: &str| serde_json::from_str::<ScopeCeiling>(text).unwrap();
        let target = r#"{"profileRef":"p"}"#;
        let node = assignment(target, "Node", None);
        assert_eq!(node.is_kept_in(), None, "there is no scope");
        let narrow = ceiling(r#"{"allowedNamespaces":["a"]}"#);
        let said = node.under(Some(&narrow)).is_kept_in().unwrap();
        assert!(said.contains("v1 Node has no namespace"), "{said}");
        let wide = ceiling(r#"{"allowedGVKs":[{"version":"v1","kind":"Node"}]}"#);
        assert_eq!(node.under(Some(&wide)).is_kept_in(), None);
    }
}
