//! Rules of KollectProfile.

use kollect_api::{Attribute, ExportMode, Profile, ProfileSpec, annotation};
use kollect_expr::{
    cel::{self, Gives},
    json_path::{self, SyntaxError},
};
use kollect_extract::helm;

use crate::{
    names,
    report::{FieldPath, Report},
    rule::Rule,
    secret_guard::{self, Reading},
};

const FORMS: &str = "must be a JSONPath such as $.spec.replicas or {.spec.replicas}, \
    CEL such as cel:object.spec.replicas, or a Helm field such as helm:release.chartVersion";

/// Runs every rule of the kind.
pub(crate) fn check(profile: &Profile, report: &mut Report) {
    let spec = &profile.spec;
    names::gvk(Rule::Pro01, &FieldPath::of("spec.targetGVK"), &spec.target_gvk, report);
    attributes_are_named(spec, report);
    for (at, attribute) in spec.attributes.iter().enumerate() {
        path_has_a_form(
            &FieldPath::of("spec.attributes").index(at).field("path"),
            attribute,
            report,
        );
    }
    secrets_stay_closed(profile, report);
    export_is_consistent(spec, report);
    pointers_are_sound(spec, report);
    expressions_compile(spec, report);
    metrics_refer_to_attributes(spec, report);
    if spec.attributes.is_empty() && spec.export.is_none() {
        let detail = "neither attributes nor export is given: rows will hold identity only";
        report.warn(Rule::ProW4, FieldPath::of("spec"), detail);
    }
}

/// PRO-02: every attribute has a name of its own.
fn attributes_are_named(spec: &ProfileSpec, report: &mut Report) {
    for (at, attribute) in spec.attributes.iter().enumerate() {
        let path = FieldPath::of("spec.attributes").index(at).field("name");
        if attribute.name.trim().is_empty() {
            report.required(Rule::Pro02, path, "the key of the value in the row");
        } else if spec.attributes.iter().take(at).any(|earlier| earlier.name == attribute.name) {
            report.duplicate(Rule::Pro02, path, &attribute.name);
        }
    }
}

/// PRO-03, PRO-04, PRO-05, PRO-06, PRO-07, PRO-W1: a path is one of the three forms.
fn path_has_a_form(path: &FieldPath, attribute: &Attribute, report: &mut Report) {
    let text = attribute.path.trim();
    if text.is_empty() {
        report.required(Rule::Pro03, path.clone(), "where the value is");
    } else if text.starts_with("object.") || text.starts_with("object[") {
        let detail = format!("CEL needs its prefix; write cel:{text}");
        report.invalid(Rule::Pro04, path.clone(), text, detail);
    } else if let Some(expression) = text.strip_prefix("cel:") {
        if expression.trim().is_empty() {
            report.invalid(Rule::Pro06, path.clone(), text, "the expression after cel: is missing");
        } else if let Err(SyntaxError { at, reason }) = cel::compile(expression) {
            let at = text.len() - expression.len() + at;
            let detail = placed(&SyntaxError { at, reason }, text);
            report.invalid(Rule::Pro05, path.clone(), text, detail);
        }
    } else if text == "helm:release" {
        helm_field_may_leave(path, text, "", report);
    } else if let Some(field) = text.strip_prefix("helm:release.") {
        helm_field_may_leave(path, text, field, report);
    } else if text.starts_with('$') || text.starts_with('{') {
        json_path_compiles(path, text, report);
    } else {
        report.invalid(Rule::Pro06, path.clone(), text, FORMS);
    }
}

/// PRO-06 for JSONPath: it compiles, and names a field.
fn json_path_compiles(path: &FieldPath, text: &str, report: &mut Report) {
    match json_path::compile(text) {
        Err(error) => {
            report.invalid(Rule::Pro06, path.clone(), text, placed(&error, text));
        }
        Ok(_) if text.trim_matches(['{', '}', ' ', '$', '@']).is_empty() => {
            report.invalid(Rule::Pro06, path.clone(), text, "must name a field, such as $.spec");
        }
        Ok(_) if text.contains("[?") => {
            let detail = "uses a filter, which is slower than naming the field";
            report.warn(Rule::ProW1, path.clone(), detail);
        }
        Ok(_) => {}
    }
}

/// What is wrong with an expression, and at which of its characters.
pub(crate) fn placed(SyntaxError { at, reason }: &SyntaxError, source: &str) -> String {
    let place = source.get(..*at).unwrap_or(source).chars().count() + 1;
    format!("{reason} (character {place})")
}

/// PRO-05: what says what is dropped from copies compiles, and gives pointers.
fn expressions_compile(spec: &ProfileSpec, report: &mut Report) {
    let prune = spec.export.as_ref().and_then(|export| export.prune.as_ref());
    let expressions = prune.map(|prune| prune.cel.as_slice()).unwrap_or_default();
    for (at, expression) in expressions.iter().enumerate() {
        if let Err(error) = cel::compile_giving(expression, Gives::Texts) {
            let path = FieldPath::of("spec.export.prune.cel").index(at);
            report.invalid(Rule::Pro05, path, expression, placed(&error, expression));
        }
    }
}

/// PRO-07: templates, files and values of a chart never leave.
fn helm_field_may_leave(path: &FieldPath, text: &str, field: &str, report: &mut Report) {
    if let Err(detail) = helm::Field::parse(field) {
        report.invalid(Rule::Pro07, path.clone(), text, detail);
    }
}

/// PRO-08, PRO-12: the data of Secrets leaves only when the profile says so.
fn secrets_stay_closed(profile: &Profile, report: &mut Report) {
    let spec = &profile.spec;
    if !spec.target_gvk.is_core_secret() {
        return;
    }
    let allows = |key: &str| {
        let annotations = profile.metadata.annotations.as_ref();
        annotations.and_then(|all| all.get(key)).is_some_and(|value| value == "true")
    };
    if !allows(annotation::ALLOW_SECRET_EXTRACTION) {
        for (at, attribute) in spec.attributes.iter().enumerate() {
            if let Reading::Data(why) = secret_guard::reading(attribute.path.trim()) {
                let path = FieldPath::of("spec.attributes").index(at).field("path");
                let detail = format!(
                    "{why}; the annotation {}: \"true\" on the profile would permit it",
                    annotation::ALLOW_SECRET_EXTRACTION
                );
                report.forbidden(Rule::Pro08, path, detail);
            }
        }
    }
    let whole = spec.export.as_ref().is_some_and(|export| export.mode == ExportMode::Resource);
    if whole && !allows(annotation::ALLOW_FULL_RESOURCE_EXPORT) {
        let detail = format!(
            "exports whole Secrets; the annotation {}: \"true\" on the profile would permit it",
            annotation::ALLOW_FULL_RESOURCE_EXPORT
        );
        report.forbidden(Rule::Pro12, FieldPath::of("spec.export.mode"), detail);
    }
}

/// PRO-09, PRO-10: the mode fits the attributes.
fn export_is_consistent(spec: &ProfileSpec, report: &mut Report) {
    let Some(export) = &spec.export else { return };
    match export.mode {
        ExportMode::Attributes if spec.attributes.is_empty() => {
            let detail = "needed when export.mode is Attributes";
            report.required(Rule::Pro09, FieldPath::of("spec.attributes"), detail);
        }
        ExportMode::Resource if spec.attributes.iter().any(|one| one.name == export.key) => {
            let detail = "is the name of an attribute too; choose another key for the copy";
            report.invalid(Rule::Pro10, FieldPath::of("spec.export.as"), &export.key, detail);
        }
        ExportMode::Attributes | ExportMode::Resource => {}
    }
}

/// PRO-11: pointers follow RFC 6901.
fn pointers_are_sound(spec: &ProfileSpec, report: &mut Report) {
    let prune = spec.export.as_ref().and_then(|export| export.prune.as_ref());
    let pointers = prune.map(|prune| prune.json_pointers.as_slice()).unwrap_or_default();
    for (at, pointer) in pointers.iter().enumerate() {
        let path = FieldPath::of("spec.export.prune.jsonPointers").index(at);
        let escapes = pointer.split('~').skip(1);
        if pointer.is_empty() {
            report.required(Rule::Pro11, path, "a pointer such as /status/conditions");
        } else if !pointer.starts_with('/') {
            report.invalid(Rule::Pro11, path, pointer, "must start with /");
        } else if !escapes.into_iter().all(|after| after.starts_with(['0', '1'])) {
            let detail = "~ must be followed by 0 (for ~) or 1 (for /)";
            report.invalid(Rule::Pro11, path, pointer, detail);
        }
    }
}

/// PRO-13, PRO-14: series and labels are made from attributes.
fn metrics_refer_to_attributes(spec: &ProfileSpec, report: &mut Report) {
    let known = |name: &str| spec.attributes.iter().any(|attribute| attribute.name == name);
    let absent = "must be the name of an entry of spec.attributes";
    for (at, metric) in spec.metrics.iter().enumerate() {
        let path = FieldPath::of("spec.metrics").index(at);
        if metric.name.trim().is_empty() {
            report.required(Rule::Pro13, path.field("name"), "the value of the series label");
        } else if spec.metrics.iter().take(at).any(|earlier| earlier.name == metric.name) {
            report.duplicate(Rule::Pro13, path.field("name"), &metric.name);
        }
        if !known(&metric.path) {
            report.invalid(Rule::Pro13, path.field("path"), &metric.path, absent);
        }
        if metric.labels.len() > 5 {
            let detail = "at most 5 labels are allowed";
            report.too_many(Rule::Pro13, path.field("labels"), metric.labels.len(), detail);
        }
        for (at, label) in metric.labels.iter().enumerate() {
            let path = path.field("labels").index(at);
            if !known(label) {
                report.invalid(Rule::Pro13, path, label, absent);
            } else if !is_metric_label(label) {
                let detail = "must be letters, digits and underscores, not begin with a digit \
                    or two underscores, and not be profile, profile_namespace, gvk or series";
                report.invalid(Rule::Pro14, path, label, detail);
            }
        }
    }
}

/// Whether an attribute of this name may be a label of a series: Prometheus
/// takes it, and no series has it anyway.
pub fn is_metric_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.chars().all(inner)
        && !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.starts_with("__")
        && !["profile", "profile_namespace", "gvk", "series"].contains(&text)
}
