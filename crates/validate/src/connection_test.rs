//! Rules of KollectConnectionTest.

use kollect_api::{ConnectionTest, ConnectionTestSinkRef};

use crate::{
    names,
    report::{FieldPath, Report},
    rule::Rule,
};

/// Runs every rule of the kind.
pub(crate) fn check(test: &ConnectionTest, report: &mut Report) {
    let path = FieldPath::of("spec.sinkRef");
    let given: Vec<_> = members(&test.spec.sink_ref).into_iter().flatten().collect();
    let named = given.iter().filter(|(_, name)| !name.is_empty()).count();
    if named != 1 {
        let detail = "exactly one of snapshotSinkRef, databaseSinkRef and eventSinkRef is needed";
        report.invalid(Rule::Cnt01, path.clone(), &format!("{named} sinks"), detail);
    }
    for (field, name) in given.iter().filter(|(_, name)| !name.is_empty()) {
        names::local_name(Rule::Cnt02, path.field(field), name, report);
    }
    if let Some(profile) = &test.spec.profile_ref {
        names::local_name(Rule::Cnt02, FieldPath::of("spec.profileRef"), profile, report);
    }
}

/// The three members, each with its name if it is given.
pub(crate) fn members(reference: &ConnectionTestSinkRef) -> [Option<(&'static str, &str)>; 3] {
    let ConnectionTestSinkRef { snapshot_sink_ref, database_sink_ref, event_sink_ref } = reference;
    [
        snapshot_sink_ref.as_deref().map(|name| ("snapshotSinkRef", name)),
        database_sink_ref.as_deref().map(|name| ("databaseSinkRef", name)),
        event_sink_ref.as_deref().map(|name| ("eventSinkRef", name)),
    ]
}
