//! Selectors that could never have been meant.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};

use crate::{
    report::{FieldPath, Problem, Report, Violation, quoted},
    rule::Rule,
};

/// Whether a selector is given and selects by something.
pub(crate) fn selects(selector: Option<&LabelSelector>) -> bool {
    selector.is_some_and(|selector| {
        selector.match_labels.as_ref().is_some_and(|labels| !labels.is_empty())
            || selector.match_expressions.as_ref().is_some_and(|all| !all.is_empty())
    })
}

/// TGT-08: the server stores a malformed selector, and it would match nothing.
pub(crate) fn well_formed(path: &FieldPath, selector: Option<&LabelSelector>, report: &mut Report) {
    let Some(selector) = selector else { return };
    labels(&path.field("matchLabels"), selector.match_labels.iter().flatten(), report);
    let expressions = selector.match_expressions.as_deref().unwrap_or_default();
    requirements(&path.field("matchExpressions"), expressions, report);
}

/// TGT-08 for a bare map of labels.
pub(crate) fn labels<'a>(
    path: &FieldPath,
    labels: impl IntoIterator<Item = (&'a String, &'a String)>,
    report: &mut Report,
) {
    for (key, value) in labels {
        label_key(&path.key(key), key, report);
        label_value(&path.key(key), value, report);
    }
}

/// TGT-08 for a bare list of expressions.
pub(crate) fn requirements(
    path: &FieldPath,
    expressions: &[LabelSelectorRequirement],
    report: &mut Report,
) {
    for (at, requirement) in expressions.iter().enumerate() {
        requirement_is_sound(&path.index(at), requirement, report);
    }
}

fn requirement_is_sound(
    path: &FieldPath,
    requirement: &LabelSelectorRequirement,
    report: &mut Report,
) {
    label_key(&path.field("key"), &requirement.key, report);
    for (at, value) in requirement.values.iter().flatten().enumerate() {
        label_value(&path.field("values").index(at), value, report);
    }
    let none = requirement.values.as_ref().is_none_or(Vec::is_empty);
    match requirement.operator.as_str() {
        "In" | "NotIn" if none => {
            let detail = format!("{} needs at least one value", requirement.operator);
            report.required(Rule::Tgt08, path.field("values"), detail);
        }
        "Exists" | "DoesNotExist" if !none => {
            let detail = format!("{} takes no values", requirement.operator);
            report.forbidden(Rule::Tgt08, path.field("values"), detail);
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        other => report.add(Violation {
            rule: Rule::Tgt08,
            path: path.field("operator"),
            problem: Problem::NotSupported(quoted(other)),
            detail: "supported values: In, NotIn, Exists, DoesNotExist".to_owned(),
        }),
    }
}

/// A key is a name of letters, digits, dots, dashes and underscores, with an
/// optional domain before a slash.
fn label_key(path: &FieldPath, key: &str, report: &mut Report) {
    let (domain, name) = match key.split_once('/') {
        Some((domain, name)) => (Some(domain), name),
        None => (None, key),
    };
    if !is_label_text(name) || !domain.is_none_or(crate::names::is_subdomain) {
        report.invalid(
            Rule::Tgt08,
            path.clone(),
            key,
            "must be a label key, such as app or example.org/app",
        );
    }
}

/// A value may be empty.
fn label_value(path: &FieldPath, value: &str, report: &mut Report) {
    if !value.is_empty() && !is_label_text(value) {
        let detail = "must be a label value: at most 63 letters, digits, dashes, underscores and \
            dots, with a letter or digit at either end";
        report.invalid(Rule::Tgt08, path.clone(), value, detail);
    }
}

fn is_label_text(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.len() <= 63
        && text.chars().all(inner)
        && edge(text.chars().next())
        && edge(text.chars().last())
}
