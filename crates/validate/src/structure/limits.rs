//! Limits on values that have the right type.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use serde_json::Value;

use std::collections::BTreeSet;

use crate::{
    names,
    report::{FieldPath, Problem, quoted},
};

/// Where a limit is broken, how, and what would be right.
type Broken = (FieldPath, Problem, String);

/// The limits of a schema that a value breaks.
pub(super) fn broken(schema: &JSONSchemaProps, value: &Value, path: &FieldPath) -> Vec<Broken> {
    let at_path = |(problem, detail)| (path.clone(), problem, detail);
    match value {
        Value::String(text) => of_text(schema, text).map(at_path).into_iter().collect(),
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            of_number(schema, number).map(at_path).into_iter().collect()
        }
        Value::Array(items) => {
            let number = of_length(schema, items.len()).map(at_path);
            number.into_iter().chain(repeated(schema, items, path)).collect()
        }
        Value::Object(object) => {
            too_many(object.len(), schema.max_properties).map(at_path).into_iter().collect()
        }
        Value::Null | Value::Bool(_) => Vec::new(),
    }
}

fn of_text(schema: &JSONSchemaProps, text: &str) -> Option<(Problem, String)> {
    let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let pattern = schema.pattern.as_ref().filter(|pattern| !matches(pattern, text));
    let detail = if schema.min_length.is_some_and(|least| length < least) {
        "must not be empty".to_owned()
    } else if let Some(most) = schema.max_length.filter(|most| length > *most) {
        format!("must be at most {most} characters, and is {length}")
    } else {
        format!("must match {}", pattern?)
    };
    Some((Problem::Invalid(quoted(text)), detail))
}

/// The few patterns that our schemas use; a test proves that there are no others.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern {
        "^[^/]+$" => !text.is_empty() && !text.contains('/'),
        "^[^/]*$" => !text.contains('/'),
        "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" => names::is_label(text),
        _ => false,
    }
}

fn of_number(schema: &JSONSchemaProps, number: f64) -> Option<(Problem, String)> {
    let detail = if let Some(least) = schema.minimum.filter(|least| number < *least) {
        format!("must be at least {least}")
    } else {
        let most = schema.maximum.filter(|most| number > *most)?;
        format!("must be at most {most}")
    };
    Some((Problem::Invalid(number.to_string()), detail))
}

fn of_length(schema: &JSONSchemaProps, length: usize) -> Option<(Problem, String)> {
    too_many(length, schema.max_items).or_else(|| {
        let least = usize::try_from(schema.min_items?).ok()?;
        let broken = length < least;
        broken.then(|| (Problem::Required, format!("at least {least} is needed")))
    })
}

/// Entries that a list of distinct ones holds already. The place is that of
/// the key where there is one, so that a rule about the same key is found.
fn repeated(schema: &JSONSchemaProps, items: &[Value], path: &FieldPath) -> Vec<Broken> {
    let keys = schema.x_kubernetes_list_map_keys.as_deref().unwrap_or_default();
    if !matches!(schema.x_kubernetes_list_type.as_deref(), Some("set" | "map")) {
        return Vec::new();
    }
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let (place, identity) = match keys {
            [] => (path.index(at), item.to_string()),
            [key] => (
                path.index(at).field(key),
                item.get(key).map(ToString::to_string).unwrap_or_default(),
            ),
            keys => (
                path.index(at),
                keys.iter().filter_map(|key| item.get(key).cloned()).collect::<Value>().to_string(),
            ),
        };
        if !seen.insert(identity.clone()) {
            let detail = "it stands earlier in the list".to_owned();
            found.push((place, Problem::Duplicate(identity), detail));
        }
    }
    found
}

fn too_many(found: usize, limit: Option<i64>) -> Option<(Problem, String)> {
    let limit = usize::try_from(limit?).ok()?;
    let broken = found > limit;
    broken.then(|| (Problem::TooMany(found), format!("at most {limit} are allowed")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaPropsOrArray;

    #[test]
    fn every_pattern_of_the_schemas_is_known() {
        fn patterns(schema: &JSONSchemaProps, found: &mut Vec<String>) {
            found.extend(schema.pattern.clone());
            schema.properties.iter().flatten().for_each(|(_, schema)| patterns(schema, found));
            if let Some(JSONSchemaPropsOrArray::Schema(schema)) = &schema.items {
                patterns(schema, found);
            }
        }
        let mut found = Vec::new();
        for crd in kollect_api::crds() {
            let schema = crd.spec.versions[0].schema.clone().unwrap();
            patterns(&schema.open_api_v3_schema.unwrap(), &mut found);
        }
        assert!(!found.is_empty());
        for pattern in found {
            assert!(matches(&pattern, "a"), "{pattern} is not known here");
        }
    }
}
