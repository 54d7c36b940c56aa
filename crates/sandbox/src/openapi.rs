//! OpenAPI of what is served: recorded for built-in kinds, and from their
//! definitions for custom ones.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{definition::Served, recorded, request::Request, status::Status};

/// Answers a request below `/openapi`; nothing if nothing is there.
pub(crate) fn find(
    served: &[Served],
    request: &Request,
    path: &[String],
) -> Result<Option<Value>, Status> {
    let accept = request.headers.get("accept").map_or("", String::as_str);
    if accept.contains("protobuf") && !accept.contains("json") {
        return Err(Status::new(406, "NotAcceptable", "only JSON is served here"));
    }
    Ok(match path {
        [old] if old == "v2" => Some(whole(served)),
        [new] if new == "v3" => Some(index(served)),
        [new, rest @ ..] if new == "v3" => version(served, &rest.join("/")),
        _ => None,
    })
}

/// `/openapi/v3`: where each group and version is described.
fn index(served: &[Served]) -> Value {
    let mut paths = BTreeMap::new();
    for served in served {
        let path = base(served);
        let path = path.trim_start_matches('/').to_owned();
        let newest = paths.entry(path).or_insert(served.since);
        *newest = served.since.max(*newest);
    }
    let paths: Map<String, Value> = paths
        .into_iter()
        .map(|(path, since)| {
            let url = format!("/openapi/v3/{path}?hash={since:032X}");
            (path, json!({"serverRelativeURL": url}))
        })
        .collect();
    json!({"paths": paths})
}

/// `/openapi/v3/apis/apps/v1`
fn version(served: &[Served], path: &str) -> Option<Value> {
    let own: Vec<&Served> =
        served.iter().filter(|served| base(served).trim_start_matches('/') == path).collect();
    if own.is_empty() {
        return None;
    }
    let mut paths = Map::new();
    let mut schemas = Map::new();
    for served in own {
        describe(served, &mut paths);
        let (name, schema) = schema(served);
        gather(&schema, &mut schemas);
        schemas.insert(name, schema);
    }
    Some(json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1.36.0"},
        "paths": paths,
        "components": {"schemas": schemas},
    }))
}

/// `/openapi/v2`: all of it in one document, with references of the old form.
fn whole(served: &[Served]) -> Value {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    for served in served {
        describe(served, &mut paths);
        let (name, schema) = schema(served);
        gather(&schema, &mut schemas);
        schemas.insert(name, schema);
    }
    let definitions = old(&Value::Object(schemas));
    json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": "v1.36.0"},
        "paths": old(&Value::Object(paths)),
        "definitions": definitions,
    })
}

/// Writes references as the older version of OpenAPI has them.
fn old(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let reference = fields.get("allOf").and_then(|all| all.get(0)?.get("$ref"));
            let fields = fields.iter().filter(|(name, _)| *name != "allOf" || reference.is_none());
            let mut fields: Map<String, Value> =
                fields.map(|(name, value)| (name.clone(), old(value))).collect();
            if let Some(reference) = reference {
                fields.insert("$ref".to_owned(), old(reference));
            }
            Value::Object(fields)
        }
        Value::Array(items) => items.iter().map(old).collect(),
        Value::String(text) => match text.strip_prefix("#/components/schemas/") {
            Some(name) => json!(format!("#/definitions/{name}")),
            None => value.clone(),
        },
        other => other.clone(),
    }
}

fn base(served: &Served) -> String {
    let definition = &served.definition;
    match definition.group.as_str() {
        "" => format!("/api/{}", definition.version),
        group => format!("/apis/{group}/{}", definition.version),
    }
}

/// What can be done, as far as clients look at it: which parameters a method
/// takes, and of which kind it is.
fn describe(served: &Served, paths: &mut Map<String, Value>) {
    let definition = &served.definition;
    let kind = json!({
        "group": definition.group, "kind": definition.kind, "version": definition.version,
    });
    let parameters: Vec<Value> = ["dryRun", "fieldManager", "fieldValidation"]
        .map(|name| {
            json!({"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": true}})
        })
        .to_vec();
    let operation = |action: &str| {
        json!({
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": kind,
            "parameters": parameters,
            "responses": {"200": {"description": "OK"}},
        })
    };
    let namespace = if definition.namespaced { "/namespaces/{namespace}" } else { "" };
    let all = format!("{}{namespace}/{}", base(served), definition.plural);
    paths.insert(
        format!("{all}/{{name}}"),
        json!({
            "get": operation("get"), "put": operation("put"), "patch": operation("patch"),
            "delete": operation("delete"),
        }),
    );
    paths.insert(all, json!({"get": operation("list"), "post": operation("post")}));
}

/// The schema of a kind, and its name.
fn schema(served: &Served) -> (String, Value) {
    let definition = &served.definition;
    let about = &served.about;
    if let Some(name) = &about.schema_name {
        return (name.clone(), about.schema.clone().unwrap_or_default());
    }
    let mut parts: Vec<&str> = definition.group.split('.').rev().collect();
    parts.extend([definition.version.as_str(), definition.kind.as_str()]);
    let mut schema = about.schema.clone().unwrap_or_else(|| json!({"type": "object"}));
    if let Value::Object(fields) = &mut schema {
        let kind = json!([{
            "group": definition.group, "kind": definition.kind, "version": definition.version,
        }]);
        fields.insert("x-kubernetes-group-version-kind".to_owned(), kind);
        let properties = fields.entry("properties").or_insert_with(|| json!({}));
        if let Value::Object(properties) = properties {
            // Everything has these, and real servers describe them alike.
            for name in ["apiVersion", "kind", "metadata"] {
                let shared = recorded::schemas().get("io.k8s.api.core.v1.ConfigMap");
                let shared = shared.and_then(|shared| shared.get("properties")?.get(name).cloned());
                properties.insert(name.to_owned(), shared.unwrap_or_default());
            }
        }
    }
    (parts.join("."), schema)
}

/// Gathers what a schema refers to.
fn gather(value: &Value, schemas: &mut Map<String, Value>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get("$ref") {
                let name = reference.rsplit('/').next().unwrap_or_default();
                if let (false, Some(schema)) =
                    (schemas.contains_key(name), recorded::schemas().get(name))
                {
                    schemas.insert(name.to_owned(), schema.clone());
                    gather(schema, schemas);
                }
            }
            fields.values().for_each(|value| gather(value, schemas));
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, schemas)),
        _ => {}
    }
}
