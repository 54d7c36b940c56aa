//! Whether a path can read the data of a Secret.
//!
//! A JSONPath is asked what it can touch. CEL is judged by its text, and every
//! doubt counts as yes: an expression passes only if each step that it can
//! take is spelled out and leads elsewhere.

use kollect_expr::{Projection, json_path};
use kollect_extract::guard::{self, Reach};

/// Top-level fields of a Secret that hold nothing secret.
const HARMLESS: [&str; 5] = ["metadata", "apiVersion", "kind", "type", "immutable"];

const DATA: Reading = Reading::Data("reads the data of Secrets");
const WHOLE: Reading = Reading::Data("can read the whole Secret");
const COPY: Reading =
    Reading::Data("can read the annotation in which kubectl keeps a copy of the Secret");

/// What a path can reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Nothing secret.
    Harmless,
    /// The data, or possibly the data, and why.
    Data(&'static str),
}

/// Judges an attribute path on a Secret.
pub(crate) fn reading(path: &str) -> Reading {
    if let Some(expression) = path.strip_prefix("cel:") {
        cel(expression)
    } else if let Some(field) = path.strip_prefix("helm:release.") {
        match field.split('.').next() {
            Some(first) if first.trim().eq_ignore_ascii_case("config") => {
                Reading::Data("reads the values of a Helm release")
            }
            _ => Reading::Harmless,
        }
    } else {
        json_path(path)
    }
}

/// Asks the compiled path what it can touch; what does not compile could be
/// anything.
fn json_path(path: &str) -> Reading {
    let Ok(program) = json_path::compile(path) else { return WHOLE };
    let mut projection = Projection::default();
    projection.add(&program);
    match guard::reach(&projection) {
        Reach::Harmless => Reading::Harmless,
        Reach::Data => DATA,
        Reach::Whole => WHOLE,
        Reach::Copy => COPY,
    }
}

/// Every `object` must be followed by a harmless field.
fn cel(expression: &str) -> Reading {
    let identifier = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for (at, name) in expression.match_indices("object") {
        let before = expression.get(..at).unwrap_or_default();
        let after = expression.get(at + name.len()..).unwrap_or_default();
        if before.ends_with(identifier) || after.starts_with(identifier) {
            continue;
        }
        // A test for presence tells nothing about values.
        let tested = before.ends_with("has(") || before.ends_with(" in ");
        let found = steps(after);
        if found != Reading::Harmless && !(tested && found == COPY) {
            return found;
        }
    }
    Reading::Harmless
}

/// Follows the steps from the Secret down, as far as they matter.
fn steps(path: &str) -> Reading {
    let Some((first, rest)) = step(path) else { return WHOLE };
    if !HARMLESS.contains(&first) {
        return DATA;
    }
    match step(rest) {
        _ if first != "metadata" => Reading::Harmless,
        None => COPY,
        Some(("annotations", rest)) => {
            let spelled: String = rest.chars().filter(|c| *c != '\\').collect();
            let named = step(rest).is_some() && !spelled.contains("last-applied");
            if named { Reading::Harmless } else { COPY }
        }
        Some(_) => Reading::Harmless,
    }
}

/// The next field, if it is spelled out as `.name` or `['name']`, and what
/// follows it.
fn step(path: &str) -> Option<(&str, &str)> {
    if let Some(after) = path.strip_prefix('.') {
        let after = after.strip_prefix('?').unwrap_or(after);
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
        let (name, rest) = after.split_at(end.unwrap_or(after.len()));
        return (!name.is_empty()).then_some((name, rest));
    }
    let after = path.strip_prefix('[')?;
    let after = after.strip_prefix('?').unwrap_or(after).trim_start();
    let quote = after.chars().next().filter(|c| *c == '\'' || *c == '"')?;
    let (name, rest) = after.strip_prefix(quote)?.split_once(quote)?;
    Some((name, rest.trim_start().strip_prefix(']')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_the_data_is_seen() {
        for path in [
            "$.data.password",
            "$.DATA",
            "{.data}",
            "{['data']}",
            "$[\"data\"]",
            "$.*",
            "{.*}",
            "{.metadata, .data}",
            "$..password",
            "{..data}",
            "$.stringData.x",
            "$['metadata','data']",
            "cel:object",
            "cel:object.data",
            "cel:object['data']",
            "cel:object[\"data\"]",
            "cel:object[ 'da' + 'ta' ]",
            "cel:object.?data",
            "cel:[object].map(o, o.data)",
            "cel:has(object.data) ? 1 : 0",
            "cel:.object.data",
            "cel:'x' in.object.data",
            "cel:object['metadata' == 'x' ? 'kind' : 'data']",
            "cel:{'data': {}} == object ? type(1) : int",
            "cel:object // .metadata\n .data",
            "cel:dyn(object).data",
            "cel:object.metadata",
            "cel:string(object.metadata.annotations)",
            "cel:object.metadata.annotations.map(key, object.metadata.annotations[key])",
            "cel:object.metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']",
            "$",
            "{$}",
            "{@}",
            "{\t.data}",
            "$.metadata",
            "$.metadata.*",
            "$.metadata.annotations",
            "$.metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration",
            "$.metadata.name}{.data.x",
            "cel:object.metadata.name + string(object)",
            "helm:release.config",
            "helm:release.config.db.password",
            "helm:release.CONFIG",
        ] {
            assert!(matches!(reading(path), Reading::Data(_)), "{path} passed");
        }
    }

    #[test]
    fn what_is_not_data_may_be_read() {
        for path in [
            "$.metadata.name",
            "{.metadata.labels['data']}",
            "$.type",
            "cel:object.metadata.name",
            "cel:object['metadata'].labels.size()",
            "cel:has(object.metadata.labels) ? object.metadata.labels : {}",
            "cel:'objectives'",
            "cel:object.metadata.?labels",
            "cel:has(object.metadata.annotations) && 'a' in object.metadata.annotations \
                ? object.metadata.annotations['example.org/a'] : ''",
            "$.metadata.annotations['example.org/owner']",
            "$.metadata.annotations.example\\.org/owner",
            "helm:release.chartVersion",
        ] {
            assert_eq!(reading(path), Reading::Harmless, "{path}");
        }
    }
}
