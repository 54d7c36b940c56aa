//! What Kubernetes takes for a name.

use std::{collections::BTreeSet, time::Duration};

use kollect_api::{ExportInterval, GroupVersionKind};

use crate::{
    report::{FieldPath, Report},
    rule::Rule,
};

pub(crate) const LABEL: &str =
    "must be a namespace name: at most 63 small letters, digits and dashes, such as team-a";
pub(crate) const SUBDOMAIN: &str =
    "must be an object name: at most 253 small letters, digits, dashes and dots";

/// Whether the text is a DNS-1123 label, as namespace names are.
pub(crate) fn is_label(text: &str) -> bool {
    text.len() <= 63 && is_label_part(text)
}

/// Whether the text is a DNS-1123 subdomain, as most object names are.
pub(crate) fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label_part)
}

fn is_label_part(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.chars().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

/// Reports a reference that is not a bare name in the same namespace.
pub(crate) fn local_name(rule: Rule, path: FieldPath, name: &str, report: &mut Report) {
    if name.trim().is_empty() {
        report.required(rule, path, "the name of an object in the same namespace");
    } else if name.contains('/') {
        report.invalid(rule, path, name, "must be a name in the same namespace, without a slash");
    }
}

/// Reports entries that are empty or stand in the list twice.
pub(crate) fn distinct(rule: Rule, path: &FieldPath, entries: &[String], report: &mut Report) {
    let mut seen = BTreeSet::new();
    for (at, entry) in entries.iter().enumerate() {
        if entry.trim().is_empty() {
            report.required(rule, path.index(at), "an entry must not be empty");
        } else if !seen.insert(entry) {
            report.duplicate(rule, path.index(at), entry);
        }
    }
}

/// Reports namespaces that are empty, repeated, or could not exist.
pub(crate) fn namespaces(rule: Rule, path: &FieldPath, entries: &[String], report: &mut Report) {
    distinct(rule, path, entries, report);
    for (at, entry) in entries.iter().enumerate() {
        if !entry.trim().is_empty() && !is_label(entry) {
            report.invalid(rule, path.index(at), entry, LABEL);
        }
    }
}

/// Reports a kind that lacks its version or its name.
pub(crate) fn gvk(rule: Rule, path: &FieldPath, gvk: &GroupVersionKind, report: &mut Report) {
    if gvk.version.trim().is_empty() {
        report.required(rule, path.field("version"), "the API version, such as v1");
    }
    if gvk.kind.trim().is_empty() {
        report.required(rule, path.field("kind"), "the kind, such as Deployment");
    }
}

/// The length of an interval; one that is malformed or out of range is reported.
pub(crate) fn interval(
    rule: Rule,
    path: FieldPath,
    interval: &ExportInterval,
    report: &mut Report,
) -> Option<Duration> {
    interval
        .duration()
        .map_err(|error| report.invalid(rule, path, interval.as_str(), error.to_string()))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_one_label_and_a_name_may_have_dots() {
        for good in ["a", "team-a", "0", &"a".repeat(63)] {
            assert!(is_label(good), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a.b", "a_b", "a/b", &"a".repeat(64)] {
            assert!(!is_label(bad), "{bad}");
        }
        assert!(is_subdomain("a.b-c.d"));
        assert!(!is_subdomain("a..b"));
    }
}
