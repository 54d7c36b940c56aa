//! Which rule a broken structure breaks.
//!
//! The schema and the reference of rules overlap: `watchMode: Some` is both an
//! unsupported value and TGT-05. Users look rules up by id, so the more
//! telling one is named.

use crate::{
    object::Kind,
    report::{FieldPath, Segment},
    rule::Rule,
};

/// The rule of the reference that covers a field, else the general one.
pub(super) fn specific(kind: Kind, general: Rule, path: &FieldPath) -> Rule {
    let names: Vec<_> = path.segments().iter().filter_map(field_name).collect();
    telling(kind, &names).unwrap_or_else(|| {
        let sink = matches!(kind, Kind::SnapshotSink | Kind::DatabaseSink | Kind::EventSink);
        let limited = matches!(general, Rule::Str04 | Rule::Str05);
        if sink && limited && names.first() == Some(&"spec") { Rule::Snk09 } else { general }
    })
}

fn telling(kind: Kind, names: &[&str]) -> Option<Rule> {
    match (kind, names) {
        (_, ["metadata", "name" | "namespace"]) => Some(Rule::Obj02),
        (Kind::Profile, names) => profile(names),
        (Kind::Target, ["spec", "profileRef"]) => Some(Rule::Tgt01),
        (Kind::Target, ["spec", "watchMode"]) => Some(Rule::Tgt05),
        (Kind::Target | Kind::ClusterTarget, ["spec", "resourceRules", "gvk", ..]) => {
            Some(Rule::Tgt03)
        }
        (Kind::ClusterTarget, ["spec", "profileRef", "namespace"]) => Some(Rule::Ctg02),
        (Kind::ClusterTarget, ["spec", "profileRef", ..]) => Some(Rule::Ctg01),
        (Kind::Scope | Kind::ClusterScope, ["spec", "allowedGVKs", ..]) => Some(Rule::Scp01),
        (Kind::Inventory, ["spec", "maxExportBytes"]) => Some(Rule::Inv06),
        (Kind::Inventory, ["spec", "snapshotSinkRefs" | "databaseSinkRefs" | "eventSinkRefs"]) => {
            Some(Rule::Inv01)
        }
        (
            Kind::ClusterInventory,
            ["spec", "snapshotSinkRefs" | "databaseSinkRefs" | "eventSinkRefs"],
        ) => Some(Rule::Civ05),
        (Kind::ClusterInventory, ["spec", "profileRef", ..]) => Some(Rule::Civ01),
        (Kind::ClusterInventory, ["spec", "dedupe"]) => Some(Rule::Civ08),
        (Kind::ConnectionTest, ["spec", "sinkRef"]) => Some(Rule::Cnt01),
        (Kind::SnapshotSink | Kind::DatabaseSink | Kind::EventSink, names) => sink(kind, names),
        _ => None,
    }
}

fn profile(names: &[&str]) -> Option<Rule> {
    match names {
        ["spec", "targetGVK", ..] => Some(Rule::Pro01),
        ["spec", "attributes", "name"] => Some(Rule::Pro02),
        ["spec", "attributes", "path"] => Some(Rule::Pro03),
        ["spec", "metrics", ..] => Some(Rule::Pro13),
        _ => None,
    }
}

fn sink(kind: Kind, names: &[&str]) -> Option<Rule> {
    match names {
        ["spec", "type"] => Some(Rule::Snk01),
        ["spec", .., "secretRef" | "caSecretRef" | "databaseRef", "name"] => Some(Rule::Snk11),
        ["spec", "postgres" | "bigquery" | "mongodb", _] => Some(Rule::Dsk02),
        ["spec", "kafka" | "nats", _] if kind == Kind::EventSink => Some(Rule::Esk03),
        ["spec", "file" | "sqlite", "path"] => Some(Rule::Snk15),
        ["spec", "exportMinInterval"] => Some(Rule::Snk04),
        ["spec", "provisioning", "naming", "template"] => Some(Rule::Snk13),
        ["spec", "cluster"] => Some(Rule::Snk14),
        _ => None,
    }
}

fn field_name(segment: &Segment) -> Option<&str> {
    match segment {
        Segment::Field(name) => Some(name),
        Segment::Key(_) | Segment::Index(_) => None,
    }
}
