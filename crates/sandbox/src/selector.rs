//! Label and field selectors, as they stand in queries.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{object::Object, storage::events::kept_path};

/// Every requirement must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Labels(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operator {
    In(Vec<String>),
    /// Also true of objects without the label.
    NotIn(Vec<String>),
    Exists,
    Missing,
}

impl Labels {
    /// Reads both forms, `a=b,c!=d` and `a in (b, c),!d`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let pieces = split(text)?;
        let requirements = pieces.into_iter().map(requirement);
        Ok(Self(requirements.collect::<Result<_, _>>()?))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|Requirement { key, operator }| {
            let value = labels.get(key);
            match operator {
                Operator::In(values) => value.is_some_and(|value| values.contains(value)),
                Operator::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
                Operator::Exists => value.is_some(),
                Operator::Missing => value.is_none(),
            }
        })
    }
}

/// Cuts at the commas that are not inside of brackets.
fn split(text: &str) -> Result<Vec<&str>, String> {
    let mut depth = 0_usize;
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(at) = rest.get(from..).and_then(|ahead| ahead.find([',', '(', ')'])) {
        let at = from + at;
        match rest.as_bytes().get(at) {
            Some(b'(') => depth += 1,
            Some(b')') => depth = depth.checked_sub(1).ok_or_else(|| unreadable(text))?,
            _ if depth == 0 => {
                let (piece, after) = rest.split_at(at);
                pieces.push(piece);
                rest = after.trim_start_matches(',');
                from = 0;
                continue;
            }
            _ => {}
        }
        from = at + 1;
    }
    if depth > 0 {
        return Err(format!("{}, expected: ',' or ')'", unreadable("")));
    }
    pieces.push(rest);
    Ok(pieces.into_iter().map(str::trim).filter(|piece| !piece.is_empty()).collect())
}

fn requirement(text: &str) -> Result<Requirement, String> {
    let one = |value: &str| vec![value.trim().to_owned()];
    let (key, operator) = if let Some((key, value)) = text.split_once("!=") {
        (key, Operator::NotIn(one(value)))
    } else if let Some((key, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        (key, Operator::In(one(value)))
    } else if let Some((key, values)) = set(text, " notin ")? {
        (key, Operator::NotIn(values))
    } else if let Some((key, values)) = set(text, " in ")? {
        (key, Operator::In(values))
    } else if let Some(key) = text.strip_prefix('!') {
        (key, Operator::Missing)
    } else {
        (text, Operator::Exists)
    };
    let key = key.trim();
    let is_part = |char: char| char.is_ascii_alphanumeric() || "-_./".contains(char);
    if key.is_empty() || !key.chars().all(is_part) {
        return Err(unreadable(text));
    }
    Ok(Requirement { key: key.to_owned(), operator })
}

fn set<'a>(text: &'a str, word: &str) -> Result<Option<(&'a str, Vec<String>)>, String> {
    // The space before the bracket is often left out.
    let Some((key, values)) =
        text.split_once(word).or_else(|| text.split_once(&format!("{}(", word.trim_end())))
    else {
        return Ok(None);
    };
    let values = values.trim().trim_start_matches('(');
    let values = values.strip_suffix(')').ok_or_else(|| unreadable(text))?;
    Ok(Some((key, values.split(',').map(|value| value.trim().to_owned()).collect())))
}

fn unreadable(text: &str) -> String {
    format!("unable to parse requirement: found '{text}'")
}

/// Every requirement must hold: a field, whether it must be equal, and to what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(String, bool, String)>);

/// The fields beside name and namespace that a kind can be selected by.
fn known(group: &str, plural: &str) -> &'static [&'static str] {
    match (group, plural) {
        ("", "events") => &[
            "involvedObject.apiVersion",
            "involvedObject.fieldPath",
            "involvedObject.kind",
            "involvedObject.name",
            "involvedObject.namespace",
            "involvedObject.resourceVersion",
            "involvedObject.uid",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("events.k8s.io", "events") => &[
            "reason",
            "regarding.apiVersion",
            "regarding.fieldPath",
            "regarding.kind",
            "regarding.name",
            "regarding.namespace",
            "regarding.resourceVersion",
            "regarding.uid",
            "reportingController",
            "type",
        ],
        ("", "pods") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.nominatedNodeName",
            "status.phase",
            "status.podIP",
        ],
        ("", "secrets") => &["type"],
        ("", "namespaces") => &["status.phase"],
        ("", "nodes") => &["spec.unschedulable"],
        ("batch", "jobs") => &["status.successful"],
        ("", "services") => &["spec.clusterIP", "spec.type"],
        _ => &[],
    }
}

impl Fields {
    pub(crate) fn parse(text: &str, group: &str, plural: &str) -> Result<Self, String> {
        let mut fields = Vec::new();
        for piece in text.split(',').map(str::trim).filter(|piece| !piece.is_empty()) {
            let (path, equal, value) = match piece.split_once("!=") {
                Some((path, value)) => (path, false, value),
                None => match piece.split_once("==").or_else(|| piece.split_once('=')) {
                    Some((path, value)) => (path, true, value),
                    None => return Err(format!("invalid selector: '{text}'")),
                },
            };
            let path = path.trim();
            let is_general = matches!(path, "metadata.name" | "metadata.namespace");
            if !is_general && !known(group, plural).contains(&path) {
                return Err(match known(group, plural) {
                    [] => format!(
                        "\"{path}\" is not a known field selector: only \"metadata.name\", \
                         \"metadata.namespace\""
                    ),
                    _ => format!("field label not supported: {path}"),
                });
            }
            let path = match group {
                "events.k8s.io" => kept_path(path),
                _ => path.to_owned(),
            };
            fields.push((path, equal, value.trim().to_owned()));
        }
        Ok(Self(fields))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn matches(&self, object: &Object) -> bool {
        self.0.iter().all(|(path, equal, value)| {
            let actual = match path.as_str() {
                "metadata.name" => object.key.1.clone(),
                "metadata.namespace" => object.key.0.clone(),
                path => {
                    let pointer = format!("/{}", path.replace('.', "/"));
                    let fields = Value::Object(object.fields());
                    let found = fields.pointer(&pointer).and_then(Value::as_str);
                    found.unwrap_or_default().to_owned()
                }
            };
            (actual == *value) == *equal
        })
    }
}

/// Labels as `a=b,c=d`, in order.
pub(crate) fn pairs(labels: Option<&Value>) -> String {
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    let mut pairs: Vec<String> = labels
        .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()))
        .collect();
    pairs.sort();
    pairs.join(",")
}

/// A selector of an object as it would stand in a query; the older kinds have
/// a bare map of labels.
pub(crate) fn written(selector: &Value) -> String {
    let is_new = selector.get("matchLabels").or(selector.get("matchExpressions")).is_some();
    if !is_new {
        return pairs(Some(selector));
    }
    let equal = pairs(selector.get("matchLabels"));
    let mut all: Vec<String> = Some(equal).into_iter().filter(|text| !text.is_empty()).collect();
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    for expression in expressions.into_iter().flatten() {
        let said = |name: &str| expression.get(name).and_then(Value::as_str).unwrap_or_default();
        let values = expression.get("values").and_then(Value::as_array).into_iter().flatten();
        let values = values.filter_map(Value::as_str).collect::<Vec<_>>().join(",");
        let key = said("key");
        all.push(match said("operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        });
    }
    all.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(selector: &str, labels: &[(&str, &str)], expected: bool) {
        let labels = labels.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        assert_eq!(Labels::parse(selector).unwrap().matches(&labels), expected, "{selector}");
    }

    #[test]
    fn equality_selects_by_value() {
        check("app=web", &[("app", "web")], true);
        check("app==web", &[("app", "db")], false);
        check("app=web,tier!=front", &[("app", "web"), ("tier", "front")], false);
    }

    #[test]
    fn inequality_holds_for_objects_without_the_label() {
        check("app!=web", &[], true);
        check("app notin (web)", &[], true);
    }

    #[test]
    fn sets_select_by_any_of_their_values() {
        check("app in (web, db),tier", &[("app", "db"), ("tier", "")], true);
        check("app in(web,db)", &[("app", "mail")], false);
        check("app notin (web,db),!old", &[("app", "mail")], true);
        check("!old", &[("old", "yes")], false);
    }

    #[test]
    fn what_is_no_selector_is_refused() {
        for selector in ["a in (b", "a b", "=b", "a)"] {
            assert!(Labels::parse(selector).is_err(), "{selector}");
        }
        assert!(Fields::parse("spec.nodeName=a", "", "configmaps").is_err());
        assert!(Fields::parse("metadata.name", "", "pods").is_err());
        assert!(Fields::parse("spec.nodeName=a", "", "pods").is_ok());
    }
}
