//! Is this object wanted: namespaces, names, labels, rules, opting in and out.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use kollect_api::{CollectionFilter, ResourceRule, ScopeCeiling, WatchMode};

use crate::verdict::{Header, Skip};

const WATCH: &str = "kollect.dev/watch";
const NAMESPACE_WATCH: &str = "kollect.dev/namespace-watch";

/// What is known of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Namespace {
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
}

/// Which namespaces a target asks for, and which remain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamespaceSets {
    /// What the target itself selects.
    pub matched: BTreeSet<String>,
    /// What the ceiling leaves of that; empty means nothing.
    pub effective: BTreeSet<String>,
}

/// The lists that the operator's administrator has set for all targets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    pub included: Vec<String>,
    pub excluded: Vec<String>,
}

/// Computes the namespaces of a target from those that exist.
pub fn namespaces(
    filter: &CollectionFilter,
    selector: Option<&LabelSelector>,
    defaults: &Defaults,
    ceiling: Option<&ScopeCeiling>,
    universe: &BTreeMap<String, Namespace>,
) -> NamespaceSets {
    let include = match filter.included_namespaces.as_slice() {
        [] => &defaults.included,
        _ => &filter.included_namespaces,
    };
    let is_excluded = |name: &String| {
        filter.excluded_namespaces.contains(name) || defaults.excluded.contains(name)
    };
    let is_matched = |(name, namespace): &(&String, &Namespace)| {
        let excluded_by_label = filter
            .namespace_exclude_selector
            .as_ref()
            .is_some_and(|selector| matches(selector, &namespace.labels));
        (include.is_empty() || include.contains(name))
            && selector.is_none_or(|selector| matches(selector, &namespace.labels))
            && !is_excluded(name)
            && !excluded_by_label
    };
    let matched: BTreeSet<_> =
        universe.iter().filter(is_matched).map(|(name, _)| name.clone()).collect();
    let is_allowed = |name: &&String| {
        ceiling.is_none_or(|ceiling| {
            !ceiling.denied_namespaces.contains(name)
                && (ceiling.allowed_namespaces.is_empty()
                    || ceiling.allowed_namespaces.contains(name))
        })
    };
    let effective = matched.iter().filter(is_allowed).cloned().collect();
    NamespaceSets { matched, effective }
}

/// What a target asks of single objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Selection {
    pub(crate) names: Vec<String>,
    pub(crate) labels: Option<LabelSelector>,
    pub(crate) rules: Vec<ResourceRule>,
    pub(crate) watch_mode: WatchMode,
}

impl Selection {
    /// Why an object is not wanted, if so. A namespace that is not known has
    /// no labels; a cluster-scoped object has none. The policy of a rule, by
    /// its place, is asked last.
    pub(crate) fn refusal(
        &self,
        header: &Header<'_>,
        namespace: Option<&Namespace>,
        policy_holds: impl Fn(usize) -> bool,
    ) -> Option<Skip> {
        if self.rules.is_empty() {
            if !self.names.is_empty() && !self.names.iter().any(|name| name == header.name) {
                return Some(Skip::Name);
            }
            if self.labels.as_ref().is_some_and(|labels| !matches(labels, header)) {
                return Some(Skip::Labels);
            }
        } else {
            let matches = |(at, rule): (usize, &ResourceRule)| {
                rule_matches(rule, header, namespace) && policy_holds(at)
            };
            if !self.rules.iter().enumerate().any(matches) {
                return Some(Skip::Rules);
            }
        }
        (!self.is_watched(header, namespace)).then_some(Skip::Watch)
    }

    /// The first word counts: the object's, then its namespace's, then the mode's.
    fn is_watched(&self, header: &Header<'_>, namespace: Option<&Namespace>) -> bool {
        match get(header, WATCH) {
            Some("disabled") => return false,
            Some("enabled") => return true,
            _ => {}
        }
        let words = namespace.map(words).unwrap_or_default();
        if words.contains(&Some("disabled")) {
            return false;
        }
        self.watch_mode == WatchMode::All || words.contains(&Some("enabled"))
    }
}

/// What a namespace says about whether its objects are watched.
pub fn words(namespace: &Namespace) -> [Option<&str>; 2] {
    [get(&namespace.labels, WATCH), get(&namespace.annotations, NAMESPACE_WATCH)]
}

fn rule_matches(rule: &ResourceRule, header: &Header<'_>, namespace: Option<&Namespace>) -> bool {
    let nothing = BTreeMap::new();
    let of_namespace = namespace.map_or(&nothing, |namespace| &namespace.labels);
    rule.namespace_selector.as_ref().is_none_or(|selector| matches(selector, of_namespace))
        && rule.match_labels.iter().all(|(key, value)| get(header, key) == Some(value.as_str()))
        && rule.match_expressions.iter().all(|one| requirement_holds(one, header))
}

/// Labels, however they are kept.
pub trait Labels {
    fn value(&self, key: &str) -> Option<&str>;
}

impl Labels for BTreeMap<String, String> {
    fn value(&self, key: &str) -> Option<&str> {
        self.get(key).map(String::as_str)
    }
}

impl Labels for Header<'_> {
    fn value(&self, key: &str) -> Option<&str> {
        self.label(key)
    }
}

fn get<'l>(labels: &'l impl Labels, key: &str) -> Option<&'l str> {
    labels.value(key)
}

/// Whether a selector matches; an empty one matches everything.
pub fn matches(selector: &LabelSelector, labels: &impl Labels) -> bool {
    let by_label = selector.match_labels.iter().flatten();
    let by_expression = selector.match_expressions.iter().flatten();
    by_label.into_iter().all(|(key, value)| get(labels, key) == Some(value.as_str()))
        && by_expression.into_iter().all(|one| requirement_holds(one, labels))
}

/// An unknown operator matches nothing; admission refuses it.
fn requirement_holds(requirement: &LabelSelectorRequirement, labels: &impl Labels) -> bool {
    let found = get(labels, &requirement.key);
    let listed = |value: &str| {
        requirement.values.as_ref().is_some_and(|values| values.iter().any(|one| one == value))
    };
    match requirement.operator.as_str() {
        "In" => found.is_some_and(listed),
        "NotIn" => !found.is_some_and(listed),
        "Exists" => found.is_some(),
        "DoesNotExist" => found.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
