//! Rules of KollectScope and KollectClusterScope.

use kollect_api::{ClusterScope, Scope, ScopeCeiling};

use crate::{
    names,
    object::DEFAULT_NAMESPACE,
    report::{FieldPath, Report},
    rule::Rule,
    surroundings::Surroundings,
};

/// Runs every rule of KollectScope.
pub(crate) fn check(scope: &Scope, around: &Surroundings, report: &mut Report) {
    ceiling_is_sound(&scope.spec.ceiling, report);
    let namespace = scope.metadata.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
    let own = scope.metadata.name.as_deref().unwrap_or_default();
    one_is_in_force(own, around.other_scope(namespace, own), report);
}

/// Runs every rule of KollectClusterScope.
pub(crate) fn check_cluster(scope: &ClusterScope, around: &Surroundings, report: &mut Report) {
    ceiling_is_sound(&scope.spec.ceiling, report);
    let path = FieldPath::of("spec.allowedStaticRefNamespaces");
    names::distinct(Rule::Scp02, &path, &scope.spec.allowed_static_ref_namespaces, report);
    let own = scope.metadata.name.as_deref().unwrap_or_default();
    one_is_in_force(own, around.other_cluster_scope(own), report);
}

/// SCP-01, SCP-02, SCP-03.
fn ceiling_is_sound(ceiling: &ScopeCeiling, report: &mut Report) {
    let spec = FieldPath::of("spec");
    let ScopeCeiling {
        allowed_gvks,
        allowed_namespaces,
        denied_namespaces,
        min_export_interval,
        snapshot_sink_refs,
        database_sink_refs,
        event_sink_refs,
    } = ceiling;
    for (at, gvk) in allowed_gvks.iter().enumerate() {
        names::gvk(Rule::Scp01, &spec.field("allowedGVKs").index(at), gvk, report);
    }
    let lists = [
        ("allowedNamespaces", allowed_namespaces),
        ("deniedNamespaces", denied_namespaces),
        ("snapshotSinkRefs", snapshot_sink_refs),
        ("databaseSinkRefs", database_sink_refs),
        ("eventSinkRefs", event_sink_refs),
    ];
    for (name, entries) in lists {
        names::distinct(Rule::Scp02, &spec.field(name), entries, report);
    }
    if let Some(interval) = min_export_interval {
        names::interval(Rule::Scp03, spec.field("minExportInterval"), interval, report);
    }
}

/// SCP-W1: of two scopes one does nothing, which their authors should know.
fn one_is_in_force(own: &str, other: Option<&str>, report: &mut Report) {
    let Some(other) = other else { return };
    let detail = if other < own {
        format!("has no effect: {other} sorts before {own} and is in force")
    } else {
        format!("takes the place of {other}: {own} sorts first, and only the first is in force")
    };
    report.warn(Rule::ScpW1, FieldPath::of("metadata.name"), detail);
}
