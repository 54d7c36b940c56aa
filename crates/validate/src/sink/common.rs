//! Rules on the fields that all sink kinds share.

use base64::Engine;
use kollect_api::{Format, ObjectFormat, Scope, SecretReference, SinkCommon, Tls};

use super::{
    Sink,
    backend::{Backend, Field, compression_name, format_name},
    endpoint, template,
};
use crate::{
    names,
    report::{FieldPath, Problem, Report, Violation, quoted},
    rule::Rule,
    surroundings::Policy,
};

/// Parts of option names that betray a credential.
const CREDENTIALS: [&str; 13] = [
    "password",
    "passwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "accesskey",
    "access_key",
    "secretkey",
    "secret_key",
    "privatekey",
    "private_key",
    "credential",
];

/// Runs the rules on shared fields.
pub(super) fn check(sink: &Sink<'_>, policy: &Policy, report: &mut Report) {
    let common = sink.common;
    templates_are_sound(common, report);
    if let Some(interval) = &common.export_min_interval {
        let path = FieldPath::of("spec.exportMinInterval");
        names::interval(Rule::Snk04, path, interval, report);
    }
    if sink.backend.heeds(Field::Endpoint) && sink.backend != Backend::Nats {
        endpoint::may_be_dialled(sink, policy, report);
    }
    encoding_is_supported(sink, report);
    options_hold_no_credentials(common, report);
    if common.layout.is_some() && !sink.backend.writes_files() {
        let detail = format!(
            "only the types git, gitlab and file write files; this is {}",
            sink.backend.name()
        );
        report.forbidden(Rule::Snk10, FieldPath::of("spec.layout"), detail);
    }
    if let Some(tls) = &common.tls {
        trust_is_sound(tls, report);
    }
    for (field, secret) in secrets(sink) {
        if secret.name.trim().is_empty() {
            let path = FieldPath::of("spec").field(field).field("name");
            report.required(Rule::Snk11, path, "the name of a Secret");
        }
    }
    if let Some(cluster) = common.cluster.as_deref().filter(|name| !is_cluster_name(name)) {
        let detail = "must be at most 63 letters, digits, dots, underscores and dashes, and \
            begin and end with a letter or digit";
        report.invalid(Rule::Snk14, FieldPath::of("spec.cluster"), cluster, detail);
    }
}

/// SNK-04 against the scope of the namespace.
pub(super) fn interval_is_above_floor(sink: &Sink<'_>, scope: &Scope, report: &mut Report) {
    let own = sink.common.export_min_interval.as_ref();
    let floor = scope.spec.ceiling.min_export_interval.as_ref();
    let (Some(own), Some(floor)) = (own, floor) else { return };
    let lengths = own.duration().ok().zip(floor.duration().ok());
    if lengths.is_some_and(|(own, floor)| own < floor) {
        let name = scope.metadata.name.as_deref().unwrap_or_default();
        let detail = format!(
            "must be at least {}, the minExportInterval of KollectScope {name}",
            floor.as_str()
        );
        let path = FieldPath::of("spec.exportMinInterval");
        report.invalid(Rule::Snk04, path, own.as_str(), detail);
    }
}

/// The references to Secrets that hold for every kind, and those of the type.
pub(super) fn secrets<'a>(
    sink: &Sink<'a>,
) -> impl Iterator<Item = (&'static str, &'a SecretReference)> {
    let of_tls = sink.common.tls.as_ref().and_then(|tls| tls.ca_secret_ref.as_ref());
    let shared = [("secretRef", sink.common.secret_ref.as_ref()), ("tls.caSecretRef", of_tls)];
    let shared = shared.into_iter().filter_map(|(field, secret)| Some((field, secret?)));
    shared.chain(sink.secrets.clone())
}

/// The format that will be written: the first that is set, else that of the type.
pub(super) fn effective_format(sink: &Sink<'_>) -> Format {
    let written = sink.common.serialization.as_ref().and_then(|one| one.format);
    let older = sink.object_format.map(|format| match format {
        ObjectFormat::Json => Format::Json,
        ObjectFormat::Parquet => Format::Parquet,
    });
    let default = sink.backend.formats().first().copied().unwrap_or(Format::Json);
    written.or(older).unwrap_or(default)
}

/// SNK-02, SNK-03, SNK-13.
fn templates_are_sound(common: &SinkCommon, report: &mut Report) {
    let layout = common.layout.as_ref();
    let index = layout.and_then(|layout| layout.index.as_ref());
    let documents = [
        ("spec.pathTemplate", common.path_template.as_ref()),
        ("spec.layout.index.pathTemplate", index.and_then(|index| index.path_template.as_ref())),
    ];
    for (path, text) in documents {
        if let Some((text, reason)) = text.and_then(|text| Some((text, template::document(text)?)))
        {
            report.invalid(Rule::Snk02, FieldPath::of(path), text, reason);
        }
    }
    let object = layout.and_then(|layout| layout.path_template.as_ref());
    if let Some((text, reason)) = object.and_then(|text| Some((text, template::object(text)?))) {
        report.invalid(Rule::Snk03, FieldPath::of("spec.layout.pathTemplate"), text, reason);
    }
    let naming = common.provisioning.as_ref().and_then(|one| one.naming.as_ref());
    let naming = naming.and_then(|naming| naming.template.as_ref());
    if naming.is_some_and(|template| !template.trim().is_empty()) {
        let path = FieldPath::of("spec.provisioning.naming.template");
        let detail = "naming templates are not supported; name the destination in its own field";
        report.forbidden(Rule::Snk13, path, detail);
    }
}

/// SNK-07: what is written must be what was asked for.
fn encoding_is_supported(sink: &Sink<'_>, report: &mut Report) {
    let format = effective_format(sink);
    let formats = sink.backend.formats();
    if !formats.contains(&format) {
        let names: Vec<_> = formats.iter().map(|format| format_name(*format)).collect();
        report.add(Violation {
            rule: Rule::Snk07,
            path: FieldPath::of("spec.serialization.format"),
            problem: Problem::NotSupported(quoted(format_name(format))),
            detail: format!("type {} supports {}", sink.backend.name(), names.join(", ")),
        });
    }
    let compression = sink.common.serialization.as_ref().and_then(|one| one.compression);
    let Some(compression) = compression.filter(|_| sink.backend.heeds(Field::Compression)) else {
        return;
    };
    let supported = sink.backend.compressions(format);
    if !supported.contains(&compression) {
        let names: Vec<_> = supported.iter().map(|one| compression_name(*one)).collect();
        report.add(Violation {
            rule: Rule::Snk07,
            path: FieldPath::of("spec.serialization.compression"),
            problem: Problem::NotSupported(quoted(compression_name(compression))),
            detail: format!(
                "type {} with format {} supports {}",
                sink.backend.name(),
                format_name(format),
                names.join(", ")
            ),
        });
    }
}

/// SNK-08: credentials belong into Secrets.
fn options_hold_no_credentials(common: &SinkCommon, report: &mut Report) {
    for name in common.options.keys() {
        let letters = name.to_lowercase();
        if CREDENTIALS.iter().any(|part| letters.contains(part)) {
            let path = FieldPath::of("spec.options").key(name);
            let detail = "looks like a credential; put it into a Secret and name that in secretRef";
            report.forbidden(Rule::Snk08, path, detail);
        }
    }
}

/// SNK-11 for TLS: one source of trust, and one that can be read.
fn trust_is_sound(tls: &Tls, report: &mut Report) {
    let path = FieldPath::of("spec.tls.caBundle");
    let Some(bundle) = &tls.ca_bundle else { return };
    if tls.ca_secret_ref.is_some() {
        report.forbidden(Rule::Snk11, path, "caBundle and caSecretRef exclude each other");
        return;
    }
    let text: String = bundle.split_whitespace().collect();
    let decoded = base64::engine::general_purpose::STANDARD.decode(text);
    let is_pem = decoded.is_ok_and(|bytes| {
        let text = String::from_utf8_lossy(&bytes);
        text.contains("-----BEGIN CERTIFICATE-----") && text.contains("-----END CERTIFICATE-----")
    });
    if !is_pem {
        let detail = "must be one or more PEM certificates, encoded in base64";
        report.invalid(Rule::Snk11, path, bundle, detail);
    }
}

/// SNK-14: the name becomes a part of paths; empty means none.
fn is_cluster_name(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    name.is_empty()
        || (name.len() <= 63
            && name.chars().all(inner)
            && edge(name.chars().next())
            && edge(name.chars().last()))
}
