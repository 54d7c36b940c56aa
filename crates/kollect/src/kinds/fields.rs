//! The fields of a schema, as a reader wants them.

use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::Value;

/// One field, with the path that leads to it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) path: String,
    pub(super) shape: String,
    pub(super) is_required: bool,
    /// What stands there when nothing is written; empty if nothing does.
    pub(super) default: String,
    pub(super) meaning: String,
    /// What each entry of an open list may be; else empty.
    pub(super) entries: String,
}

/// All fields of a block: those of the block itself, and for each that has
/// fields of its own a block that is named after it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) name: String,
    pub(super) fields: Vec<Field>,
}

/// So many fields stand with the field that they belong to; more get a block.
const INLINE: usize = 2;

/// The blocks of a schema, that of its own fields first.
pub(super) fn blocks(schema: &JSONSchemaProps) -> Vec<Block> {
    let mut own = Block::default();
    let mut others = Vec::new();
    for (name, property) in ordered(schema) {
        own.fields.push(field(schema, "", name, property));
        let mut below = Vec::new();
        descend(property, name, &mut below);
        if below.len() > INLINE {
            others.push(Block { name: name.clone(), fields: below });
        } else {
            own.fields.extend(below);
        }
    }
    others.insert(0, own);
    others
}

/// Required fields first, the others by name.
fn ordered(schema: &JSONSchemaProps) -> Vec<(&String, &JSONSchemaProps)> {
    let mut properties: Vec<_> = schema.properties.iter().flatten().collect();
    properties.sort_by_key(|(name, _)| (!is_required(schema, name), *name));
    properties
}

fn is_required(schema: &JSONSchemaProps, name: &str) -> bool {
    schema.required.iter().flatten().any(|one| one == name)
}

fn descend(schema: &JSONSchemaProps, path: &str, found: &mut Vec<Field>) {
    if known_shape(schema).is_some() {
        return;
    }
    if let Some(item) = item(schema) {
        return descend(item, &format!("{path}[]"), found);
    }
    for (name, property) in ordered(schema) {
        let one = field(schema, path, name, property);
        let path = one.path.clone();
        found.push(one);
        descend(property, &path, found);
    }
}

fn field(parent: &JSONSchemaProps, path: &str, name: &str, schema: &JSONSchemaProps) -> Field {
    let text = schema.description.as_deref().unwrap_or_default();
    let (meaning, said) = split_default(text);
    let default = match &schema.default {
        Some(value) => format!("`{}`", literal(&value.0)),
        None => said,
    };
    let of_items = item(schema).filter(|item| item.type_.is_none());
    let of_items = of_items.and_then(|item| item.description.as_deref()).unwrap_or_default();
    Field {
        path: if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") },
        shape: shape(schema),
        is_required: is_required(parent, name),
        default,
        meaning: without_limits(&meaning, schema),
        entries: of_items.to_owned(),
    }
}

/// Takes the sentence about the default out of a description.
fn split_default(text: &str) -> (String, String) {
    const MARK: &str = "Default: ";
    let Some((before, after)) = text.split_once(MARK) else {
        return (text.to_owned(), String::new());
    };
    let (default, rest) = after.split_once(". ").unwrap_or((after.trim_end_matches('.'), ""));
    let meaning = [before.trim_end(), rest].join(" ");
    (meaning.trim().to_owned(), default.to_owned())
}

/// Takes out the sentence that repeats a limit, which stands beside it.
fn without_limits(text: &str, schema: &JSONSchemaProps) -> String {
    let Some(most) = schema.max_items.or(schema.max_properties) else {
        return text.to_owned();
    };
    let mut text = text.to_owned();
    for sentence in [format!("At most {most}."), format!("At most {most} entries.")] {
        text = text.replace(&sentence, "");
    }
    text.trim().to_owned()
}

fn literal(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn item(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    match &schema.items {
        Some(JSONSchemaPropsOrArray::Schema(item)) => Some(item),
        _ => None,
    }
}

/// Shapes that every user of Kubernetes knows, and whose fields are not listed.
fn known_shape(schema: &JSONSchemaProps) -> Option<&'static str> {
    let has = |schema: &JSONSchemaProps, names: &[&str]| {
        let properties = schema.properties.as_ref();
        properties.is_some_and(|known| names.iter().all(|name| known.contains_key(*name)))
    };
    if has(schema, &["matchLabels", "matchExpressions"]) && schema.properties.as_ref()?.len() == 2 {
        return Some("label selector");
    }
    let item = item(schema)?;
    if has(item, &["type", "status", "reason", "lastTransitionTime"]) {
        return Some("list of conditions");
    }
    has(item, &["key", "operator", "values"]).then_some("list of label expressions")
}

/// What may stand there: a type, and its limits.
fn shape(schema: &JSONSchemaProps) -> String {
    if let Some(values) = &schema.enum_ {
        let values: Vec<_> =
            values.iter().map(|value| format!("`{}`", literal(&value.0))).collect();
        return values.join(", ");
    }
    let mut text = known_shape(schema).map_or_else(|| kind(schema), str::to_owned);
    for limit in limits(schema) {
        text.push_str(", ");
        text.push_str(&limit);
    }
    text
}

fn kind(schema: &JSONSchemaProps) -> String {
    let plural = |schema: &JSONSchemaProps| match schema.type_.as_deref() {
        Some("string") => "strings",
        Some("integer") => "integers",
        Some("object") => "objects",
        _ => "names or objects",
    };
    let values = match &schema.additional_properties {
        Some(JSONSchemaPropsOrBool::Schema(values)) => Some(plural(values)),
        _ => None,
    };
    match (schema.type_.as_deref(), schema.format.as_deref()) {
        (Some("array"), _) => {
            format!("list of {}", item(schema).map_or("anything", plural))
        }
        (Some("object"), _) => values.map_or("object".to_owned(), |of| format!("map of {of}")),
        (Some("string"), Some("date-time")) => "time".to_owned(),
        (Some("string"), Some("byte")) => "base64".to_owned(),
        (Some(other), _) => other.to_owned(),
        (None, _) => "name or object".to_owned(),
    }
}

fn limits(schema: &JSONSchemaProps) -> Vec<String> {
    let mut limits = Vec::new();
    limits.extend(range(schema.min_length, schema.max_length, " characters"));
    limits.extend(range(schema.min_items, schema.max_items, " entries"));
    limits.extend(range(schema.min_properties, schema.max_properties, " entries"));
    limits.extend(range(schema.minimum, schema.maximum, ""));
    limits.extend(schema.pattern.as_ref().map(|pattern| format!("matching `{pattern}`")));
    limits
}

fn range<T: std::fmt::Display>(least: Option<T>, most: Option<T>, of: &str) -> Option<String> {
    match (least, most) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}{of}")),
        (Some(least), None) => Some(format!("at least {least}{of}")),
        (None, Some(most)) => Some(format!("at most {most}{of}")),
        (None, None) => None,
    }
}

/// What the API server refuses by itself, in the words that it uses.
pub(super) fn refusals(schema: &JSONSchemaProps) -> Vec<String> {
    let own = schema.x_kubernetes_validations.iter().flatten();
    let mut found: Vec<String> = own.filter_map(|one| one.message.clone()).collect();
    for (_, property) in schema.properties.iter().flatten() {
        found.extend(refusals(property));
    }
    found.extend(item(schema).map(refusals).unwrap_or_default());
    let mut seen = BTreeSet::new();
    found.retain(|one| seen.insert(one.clone()));
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(value: Value) -> JSONSchemaProps {
        serde_json::from_value(value).unwrap()
    }

    #[track_caller]
    fn check(value: Value, expected: &str) {
        assert_eq!(shape(&schema(value)), expected);
    }

    #[test]
    fn a_shape_is_its_type_and_its_limits() {
        check(json!({"type": "string"}), "string");
        check(
            json!({"type": "string", "minLength": 1, "maxLength": 63}),
            "string, 1 to 63 characters",
        );
        check(json!({"type": "integer", "minimum": 1.0}), "integer, at least 1");
        check(
            json!({"type": "array", "items": {"type": "string"}, "maxItems": 5}),
            "list of strings, at most 5 entries",
        );
        check(json!({"type": "string", "enum": ["All", "OptIn"]}), "`All`, `OptIn`");
        check(
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            "map of strings",
        );
        check(
            json!({"type": "object", "properties": {"matchLabels": {}, "matchExpressions": {}}}),
            "label selector",
        );
    }

    #[test]
    fn the_default_is_taken_out_of_the_words() {
        let split = |text: &str| split_default(text);
        assert_eq!(split("A b. Default: `30s`."), ("A b.".to_owned(), "`30s`".to_owned()));
        assert_eq!(split("A. Default: x. C d."), ("A. C d.".to_owned(), "x".to_owned()));
        assert_eq!(split("A."), ("A.".to_owned(), String::new()));
    }

    #[test]
    fn large_blocks_stand_by_themselves_and_small_ones_inline() {
        let small = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let item = json!({"type": "object", "required": ["z"], "properties": {
            "x": {"type": "string"}, "y": {"type": "string"}, "z": {"type": "string"},
        }});
        let blocks = blocks(&schema(json!({"type": "object", "properties": {
            "small": small, "large": {"type": "array", "items": item},
        }})));
        let paths: Vec<Vec<_>> = blocks
            .iter()
            .map(|block| block.fields.iter().map(|field| field.path.as_str()).collect())
            .collect();
        assert_eq!(
            paths,
            [vec!["large", "small", "small.a"], vec!["large[].z", "large[].x", "large[].y"]]
        );
        assert!(blocks[1].fields[0].is_required);
    }
}
