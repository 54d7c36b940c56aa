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
}
