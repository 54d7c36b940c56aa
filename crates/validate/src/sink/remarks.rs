//! What is admitted and deserves a remark.

use kollect_api::{
    Compression, Format, GitEngine, LayoutContent, LayoutMode, ProvisioningMode, PushPolicy,
    SnapshotSinkSpec,
};

use super::{
    Sink,
    backend::{Backend, Field, OPTIONS_OF_ALL, format_name},
    common::{effective_format, secrets},
};
use crate::{
    report::{FieldPath, Report},
    rule::Rule,
    surroundings::Surroundings,
};

/// Remarks on the fields that all kinds share.
pub(super) fn common(sink: &Sink<'_>, around: &Surroundings, report: &mut Report) {
    if !around.policy.backends.contains(sink.backend.name()) {
        let detail = format!("this build cannot write to type {}", sink.backend.name());
        report.warn(Rule::SnkW12, FieldPath::of("spec.type"), detail);
    }
    let provisioning = sink.common.provisioning.as_ref().and_then(|one| one.mode);
    if provisioning == Some(ProvisioningMode::Existing) && sink.backend.heeds(Field::Provisioning) {
        let detail = "nothing will be created: the destination must exist in the right shape";
        report.warn(Rule::SnkW1, FieldPath::of("spec.provisioning.mode"), detail);
    }
    format(sink, report);
    layout(sink, report);
    without_effect(sink, report);
    if sink.common.tls.as_ref().is_some_and(|tls| tls.insecure_skip_verify == Some(true)) {
        let detail = "certificates are not checked: anyone on the way can read and alter the data";
        report.warn(Rule::SnkW10, FieldPath::of("spec.tls.insecureSkipVerify"), detail);
    }
    for name in sink.common.options.keys() {
        let known = sink.backend.options();
        if !known.contains(&name.as_str()) && !OPTIONS_OF_ALL.contains(&name.as_str()) {
            let known: Vec<_> = known.iter().chain(&OPTIONS_OF_ALL).copied().collect();
            let detail = format!(
                "unknown to type {} and without effect; known: {}",
                sink.backend.name(),
                known.join(", ")
            );
            report.warn(Rule::SnkW11, FieldPath::of("spec.options").key(name), detail);
        }
    }
    for (field, secret) in secrets(sink) {
        let foreign = secret
            .namespace
            .as_deref()
            .filter(|namespace| !namespace.is_empty() && *namespace != sink.namespace);
        if let Some(namespace) = foreign.filter(|_| !around.consent(secret, sink.namespace)) {
            let detail = format!(
                "Secret {namespace}/{} must carry the annotation \
                 kollect.dev/allow-sink-namespaces with {} or *",
                secret.name, sink.namespace
            );
            let path = FieldPath::of("spec").field(field).field("namespace");
            report.warn(Rule::SnkW13, path, detail);
        }
    }
}

/// Remarks on Git alone.
pub(super) fn git(spec: &SnapshotSinkSpec, report: &mut Report) {
    let Some(git) = &spec.git else { return };
    if git.push_policy == Some(PushPolicy::ForcePush) {
        let detail = "overwrites the branch, commits of others included";
        report.warn(Rule::SnkW8, FieldPath::of("spec.git.pushPolicy"), detail);
    }
    if git.engine == Some(GitEngine::Cli) {
        let detail = "has no effect: there is one built-in engine";
        report.warn(Rule::SnkW9, FieldPath::of("spec.git.engine"), detail);
    }
}

fn format(sink: &Sink<'_>, report: &mut Report) {
    let path = FieldPath::of("spec.serialization.format");
    let effective = effective_format(sink);
    let written = sink.common.serialization.as_ref().and_then(|one| one.format);
    if effective == Format::Parquet && sink.backend.writes_objects() {
        let detail = "Parquet objects have a fixed key, one for each generation of the inventory";
        let older = FieldPath::of("spec.objectStore.format");
        report.warn(Rule::SnkW2, if written.is_some() { path.clone() } else { older }, detail);
    }
    if written.is_some() && sink.object_format.is_some() {
        let detail = "has no effect: serialization.format is set and wins";
        report.warn(Rule::SnkW3, FieldPath::of("spec.objectStore.format"), detail);
    }
    if written.is_none() && matches!(sink.backend, Backend::Git | Backend::Gitlab) {
        report.warn(Rule::SnkW4, path, "not given: documents are written as YAML");
    }
    let template = sink.common.path_template.as_deref().unwrap_or_default();
    let of_template = sink.backend.heeds(Field::PathTemplate)
        && !matches!(effective, Format::Json | Format::Parquet);
    if of_template && template.rsplit('.').next() == Some("json") {
        let detail = format!("ends in .json, and the format is {}", format_name(effective));
        report.warn(Rule::SnkW5, FieldPath::of("spec.pathTemplate"), detail);
    }
}

fn layout(sink: &Sink<'_>, report: &mut Report) {
    let Some(layout) = sink.common.layout.as_ref().filter(|_| sink.backend.writes_files()) else {
        return;
    };
    if layout.content == Some(LayoutContent::Manifest) {
        let detail = "needs profiles with export.mode Resource";
        report.warn(Rule::SnkW6, FieldPath::of("spec.layout.content"), detail);
    }
    if matches!(layout.mode, Some(LayoutMode::PerResource | LayoutMode::Split)) {
        let detail = "files of objects that are gone will be deleted";
        report.warn(Rule::SnkW7, FieldPath::of("spec.layout.mode"), detail);
    }
}

/// SNK-W9: a field that is set and does nothing.
fn without_effect(sink: &Sink<'_>, report: &mut Report) {
    let common = sink.common;
    let compression = common.serialization.as_ref().and_then(|one| one.compression);
    let provisioning = common.provisioning.as_ref().and_then(|one| one.mode);
    let parquet = effective_format(sink) == Format::Parquet && sink.backend.writes_objects();
    let fields = [
        (Field::Endpoint, "endpoint", common.endpoint.is_some()),
        (Field::SecretRef, "secretRef", common.secret_ref.is_some()),
        (Field::Tls, "tls", common.tls.is_some()),
        (Field::PathTemplate, "pathTemplate", common.path_template.is_some()),
        (
            Field::Compression,
            "serialization.compression",
            compression.is_some_and(|one| one != Compression::None),
        ),
        (Field::Provisioning, "provisioning.mode", provisioning.is_some()),
    ];
    for (field, name, set) in fields {
        let ignored = !sink.backend.heeds(field) || (parquet && field == Field::PathTemplate);
        if set && ignored {
            let detail = format!("has no effect on type {}", sink.backend.name());
            report.warn(Rule::SnkW9, FieldPath::of("spec").field(name), detail);
        }
    }
}
