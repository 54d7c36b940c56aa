//! Whether a path can read the data of a Secret.
//!
//! JSONPath and CEL are compiled and asked what they can touch, and every
//! doubt counts as yes.

use kollect_expr::{Program, Projection, cel, json_path, json_path::SyntaxError};
use kollect_extract::guard::{self, Reach};

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
        judge(cel::compile(expression))
    } else if let Some(field) = path.strip_prefix("helm:release.") {
        match field.split('.').next() {
            Some(first) if first.trim().eq_ignore_ascii_case("config") => {
                Reading::Data("reads the values of a Helm release")
            }
            _ => Reading::Harmless,
        }
    } else {
        judge(json_path::compile(path))
    }
}

/// Asks a compiled expression what it can touch; what does not compile could
/// be anything.
pub(crate) fn judge(program: Result<Program, SyntaxError>) -> Reading {
    let Ok(program) = program else { return WHOLE };
    let mut projection = Projection::default();
    projection.add(&program);
    match guard::reach(&projection) {
        Reach::Harmless => Reading::Harmless,
        Reach::Data => DATA,
        Reach::Whole => WHOLE,
        Reach::Copy => COPY,
    }
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
