//! Events stand in two groups, in two forms, and are the same objects: what is
//! written into one can be read from the other. They are kept in the older
//! form.

use serde_json::{Map, Value};

use crate::definition::Served;

const NEWER: (&str, &str) = ("events.k8s.io", "events");

/// What a field is called in the older form, and in the newer.
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

/// Under which group and name objects are kept.
pub(super) fn place(group: &str, plural: &str) -> (String, String) {
    let group = if (group, plural) == NEWER { "" } else { group };
    (group.to_owned(), plural.to_owned())
}

/// Whether objects are kept in another form than the one they are asked for in.
pub(crate) fn has_other_form(served: &Served) -> bool {
    served.is_of(NEWER.0, NEWER.1)
}

/// The path of a field in the form that is kept.
pub(crate) fn kept_path(path: &str) -> String {
    let (first, rest) = path.split_once('.').map_or((path, None), |(it, rest)| (it, Some(rest)));
    let first = NAMES.iter().find(|(_, newer)| *newer == first).map_or(first, |(older, _)| older);
    rest.map_or_else(|| first.to_owned(), |rest| format!("{first}.{rest}"))
}

/// An object in the form that is kept.
pub(super) fn kept(served: &Served, fields: Map<String, Value>) -> Map<String, Value> {
    if !has_other_form(served) {
        return fields;
    }
    renamed(fields, |name| NAMES.iter().find(|(_, newer)| *newer == name).map(|(older, _)| *older))
}

/// An object in the form that is asked for.
pub(crate) fn shown(served: &Served, fields: Map<String, Value>) -> Map<String, Value> {
    if !has_other_form(served) {
        return fields;
    }
    let mut fields = renamed(fields, |name| {
        NAMES.iter().find(|(older, _)| *older == name).map(|(_, newer)| *newer)
    });
    // The newer form does not say who is not known.
    fields.retain(|name, value| !name.starts_with("reporting") || value.as_str() != Some(""));
    fields
}

fn renamed(
    fields: Map<String, Value>,
    other: impl Fn(&str) -> Option<&'static str>,
) -> Map<String, Value> {
    fields
        .into_iter()
        .map(|(name, value)| (other(&name).map_or(name, str::to_owned), value))
        .collect()
}
