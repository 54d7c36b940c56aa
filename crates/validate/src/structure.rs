//! Compares an object with the schema that the API server is given.
//!
//! The server would refuse or silently prune; here everything is reported at
//! once, with the name that was probably meant.

mod limits;
mod rules;

use std::{collections::BTreeMap, sync::LazyLock};

use k8s_openapi::{
    apiextensions_apiserver::pkg::apis::apiextensions::v1::{
        CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
    serde::Deserialize,
};
use serde_json::{Map, Number, Value};

use crate::{
    object::Kind,
    report::{FieldPath, Problem, Violation, quoted},
    rule::Rule,
};

/// What the comparison found, and the object as the server would store it.
pub(crate) struct Outcome {
    /// Without unknown fields, with defaults. The status is left out.
    pub(crate) value: Value,
    /// Fields that the schema does not have.
    pub(crate) unknown: Vec<Violation>,
    /// Fields that are null and have no default.
    pub(crate) nulls: Vec<FieldPath>,
    /// Values that cannot be read: wrong type, missing, none of the permitted.
    pub(crate) shape: Vec<Violation>,
    /// Values that can be read and break a limit.
    pub(crate) limits: Vec<Violation>,
}

/// The published schema of every kind, with that of the metadata put in.
static SCHEMAS: LazyLock<BTreeMap<String, JSONSchemaProps>> = LazyLock::new(|| {
    let with_metadata = |crd: CustomResourceDefinition| {
        let mut root = crd.spec.versions.into_iter().next()?.schema?.open_api_v3_schema?;
        let properties = root.properties.get_or_insert_default();
        properties.insert("metadata".to_owned(), metadata_schema());
        for name in ["apiVersion", "kind"] {
            let text = JSONSchemaProps { type_: Some("string".to_owned()), ..Default::default() };
            properties.insert(name.to_owned(), text);
        }
        Some((crd.spec.names.kind, root))
    };
    kollect_api::crds().into_iter().filter_map(with_metadata).collect()
});

/// The schema of a kind; an unknown kind would admit nothing.
fn schema(kind: Kind) -> &'static JSONSchemaProps {
    static NOTHING: LazyLock<JSONSchemaProps> = LazyLock::new(JSONSchemaProps::default);
    SCHEMAS.get(kind.name()).unwrap_or(&NOTHING)
}

/// What may stand in `metadata`; servers and other writers add to it, so
/// what they manage is left open.
fn metadata_schema() -> JSONSchemaProps {
    let of_type = |name: &str| JSONSchemaProps {
        type_: Some(name.to_owned()),
        nullable: Some(true),
        x_kubernetes_preserve_unknown_fields: Some(true),
        ..Default::default()
    };
    let map_of_strings = JSONSchemaProps {
        type_: Some("object".to_owned()),
        nullable: Some(true),
        additional_properties: Some(JSONSchemaPropsOrBool::Schema(Box::new(of_type("string")))),
        ..Default::default()
    };
    let texts = [
        "name",
        "generateName",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "deletionTimestamp",
        "selfLink",
    ];
    let mut properties: BTreeMap<_, _> =
        texts.into_iter().map(|name| (name.to_owned(), of_type("string"))).collect();
    for name in ["labels", "annotations"] {
        properties.insert(name.to_owned(), map_of_strings.clone());
    }
    for name in ["finalizers", "ownerReferences", "managedFields"] {
        properties.insert(name.to_owned(), of_type("array"));
    }
    for name in ["generation", "deletionGracePeriodSeconds"] {
        properties.insert(name.to_owned(), of_type("integer"));
    }
    JSONSchemaProps {
        type_: Some("object".to_owned()),
        properties: Some(properties),
        ..Default::default()
    }
}

/// Compares an object with the schema of its kind.
pub(crate) fn check(kind: Kind, mut value: Value) -> Outcome {
    if let Value::Object(object) = &mut value {
        object.remove("status");
    }
    settle_namespace(&mut value);
    let mut walk = Walk { kind, unknown: vec![], nulls: vec![], shape: vec![], limits: vec![] };
    walk.value(schema(kind), &mut value, &FieldPath::default());
    walk.metadata(&mut value);
    let Walk { kind: _, unknown, nulls, shape, limits } = walk;
    Outcome { value, unknown, nulls, shape, limits }
}

struct Walk {
    kind: Kind,
    unknown: Vec<Violation>,
    nulls: Vec<FieldPath>,
    shape: Vec<Violation>,
    limits: Vec<Violation>,
}

impl Walk {
    fn value(&mut self, schema: &JSONSchemaProps, value: &mut Value, path: &FieldPath) {
        let Some(expected) = schema.type_.as_deref() else { return };
        if expected == "integer" {
            settle_integer(value);
        }
        match (expected, &mut *value) {
            ("object", Value::Object(object)) => self.object(schema, object, path),
            ("array", Value::Array(items)) => self.array(schema, items, path),
            ("string", Value::String(_))
            | ("boolean", Value::Bool(_))
            | ("number", Value::Number(_)) => {}
            ("integer", Value::Number(number)) if fits(schema, number) => {}
            (_, found) => {
                let problem = Problem::Invalid(described(found));
                let detail = match found {
                    Value::Number(number) if expected == "integer" && !number.is_f64() => {
                        "is out of the range of this field".to_owned()
                    }
                    _ => format!("must be {}", article(expected, found)),
                };
                self.misshapen(Rule::Str02, path, problem, detail);
                return;
            }
        }
        self.permitted(schema, value, path);
        for (path, problem, detail) in limits::broken(schema, value, path) {
            let rule = rules::specific(self.kind, Rule::Str05, &path);
            self.limits.push(Violation { rule, path, problem, detail });
        }
    }

    /// What other writers keep in the metadata is checked by reading it.
    fn metadata(&mut self, object: &mut Value) {
        let Some(object) = object.as_object_mut() else { return };
        let metadata = object.entry("metadata").or_insert_with(|| Map::new().into());
        if !self.shape.is_empty() {
            return;
        }
        if let Err(error) = ObjectMeta::deserialize(&*metadata) {
            let problem = Problem::Invalid(described(metadata));
            self.misshapen(
                Rule::Str02,
                &FieldPath::of("metadata"),
                problem,
                format!("cannot be read: {error}"),
            );
        }
    }

    /// Drops nulls as a plain write to the server does. Server-side apply
    /// takes them only where there is a default, so the others are noted.
    fn drop_nulls(
        &mut self,
        schema: &JSONSchemaProps,
        object: &mut Map<String, Value>,
        path: &FieldPath,
    ) {
        object.retain(|name, value| {
            let known = schema.properties.as_ref().and_then(|known| known.get(name));
            let Some(known) = known.filter(|_| value.is_null()) else { return true };
            let required = schema.required.iter().flatten().any(|one| one == name);
            if known.nullable != Some(true) && known.default.is_none() && !required {
                self.nulls.push(path.field(name));
            }
            false
        });
    }

    fn object(
        &mut self,
        schema: &JSONSchemaProps,
        object: &mut Map<String, Value>,
        path: &FieldPath,
    ) {
        let open = schema.x_kubernetes_preserve_unknown_fields == Some(true);
        let of_values = match &schema.additional_properties {
            Some(JSONSchemaPropsOrBool::Schema(schema)) => Some(schema),
            _ => None,
        };
        let none = BTreeMap::new();
        let known = schema.properties.as_ref().unwrap_or(&none);
        self.drop_nulls(schema, object, path);
        object.retain(|name, value| {
            if let Some(schema) = known.get(name) {
                self.value(schema, value, &path.field(name));
            } else if let Some(schema) = of_values {
                self.value(schema, value, &path.key(name));
            } else if !open {
                self.unknown_field(name, known, path);
                return false;
            }
            true
        });
        for (name, schema) in known {
            if let (false, Some(default)) = (object.contains_key(name), &schema.default) {
                object.insert(name.clone(), default.0.clone());
            }
        }
        for name in schema.required.iter().flatten() {
            if !object.contains_key(name) {
                let detail = known.get(name).and_then(|schema| schema.description.as_deref());
                let detail = in_short(detail.unwrap_or("must be given"));
                self.misshapen(Rule::Str03, &path.field(name), Problem::Required, detail);
            }
        }
    }

    fn array(&mut self, schema: &JSONSchemaProps, items: &mut [Value], path: &FieldPath) {
        if let Some(JSONSchemaPropsOrArray::Schema(schema)) = &schema.items {
            for (at, item) in items.iter_mut().enumerate() {
                self.value(schema, item, &path.index(at));
            }
        }
    }

    fn permitted(&mut self, schema: &JSONSchemaProps, value: &Value, path: &FieldPath) {
        let Some(permitted) = &schema.enum_ else { return };
        if permitted.iter().any(|known| &known.0 == value) {
            return;
        }
        let names: Vec<_> = permitted.iter().map(|known| known.0.to_string()).collect();
        let problem = Problem::NotSupported(described(value));
        let detail = format!("supported values: {}", names.join(", "));
        self.misshapen(Rule::Str04, path, problem, detail);
    }

    fn misshapen(&mut self, rule: Rule, path: &FieldPath, problem: Problem, detail: String) {
        let rule = rules::specific(self.kind, rule, path);
        self.shape.push(Violation { rule, path: path.clone(), problem, detail });
    }

    fn unknown_field(
        &mut self,
        name: &str,
        known: &BTreeMap<String, JSONSchemaProps>,
        path: &FieldPath,
    ) {
        let names: Vec<_> = known.keys().map(String::as_str).collect();
        let detail = match suggestion(name, &names) {
            Some(nearest) => format!("unknown field; did you mean {nearest}?"),
            None => format!("unknown field; known here: {}", names.join(", ")),
        };
        self.unknown.push(Violation {
            rule: Rule::Str01,
            path: path.field(name),
            problem: Problem::Forbidden,
            detail,
        });
    }
}

/// The known name that was probably meant.
fn suggestion<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    if name == "sinkRefs" && known.contains(&"snapshotSinkRefs") {
        return Some("snapshotSinkRefs, databaseSinkRefs or eventSinkRefs");
    }
    let distance =
        |known: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase());
    known
        .iter()
        .map(|known| (distance(known), *known))
        .filter(|(distance, known)| {
            *distance <= 2.max(known.len() / 4) && *distance < known.len().min(name.len())
        })
        .min()
        .map(|(_, known)| known)
}

/// The server takes an empty namespace for none.
fn settle_namespace(object: &mut Value) {
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    if let Some(metadata) = metadata.filter(|all| all.get("namespace") == Some(&"".into())) {
        metadata.remove("namespace");
    }
}

/// Whether a whole number is one that the field can hold.
fn fits(schema: &JSONSchemaProps, number: &Number) -> bool {
    let narrow = schema.format.as_deref() == Some("int32");
    number.as_i64().is_some_and(|number| !narrow || i32::try_from(number).is_ok())
}

/// A whole number may be spelled with a point; the server takes it too.
fn settle_integer(value: &mut Value) {
    const LIMIT: f64 = 9_007_199_254_740_992.0;
    if let Some(number) = value.as_f64().filter(|_| value.is_f64())
        && number.fract() == 0.0
        && number.abs() <= LIMIT
    {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "whole and within 2^53, as just checked"
        )]
        let whole = number as i64;
        *value = whole.into();
    }
}

/// Names a value that was found, at a length that fits into a message.
fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn article(expected: &str, found: &Value) -> &'static str {
    match expected {
        "object" => "an object",
        "array" => "a list",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        _ if found.is_boolean() || found.is_number() => "a string; put it in quotes",
        _ => "a string",
    }
}

/// A description that is short, or the first sentence of a long one.
fn in_short(text: &str) -> String {
    let text = match text.split_once(". ") {
        Some((first, _)) if text.len() > 80 => first,
        _ => text,
    };
    text.trim_end_matches('.').replace('\n', " ")
}
