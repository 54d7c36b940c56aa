//! The names of kinds and the columns of their tables.

use anyhow::{Context as _, Result};
use kube::Client;
use serde_json::{Value, json};

use super::{ask, base};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// The kinds of one group, in the order in which they are asked for.
pub(super) async fn of_group(
    client: &Client,
    (group, version): (&str, &str),
    plurals: &[&str],
    document: &Value,
) -> Result<Vec<Value>> {
    let place = base(group, version);
    let discovered = ask(client, &place, "application/json").await?;
    let resources = discovered.get("resources").and_then(Value::as_array);
    let resources = resources.with_context(|| format!("{place} names no resources"))?;
    let named = |name: &str| {
        resources.iter().find(|it| it.get("name").and_then(Value::as_str) == Some(name))
    };
    let mut kinds = Vec::new();
    for plural in plurals {
        let resource = named(plural).with_context(|| format!("{place} has no {plural}"))?;
        let kind = resource.get("kind").and_then(Value::as_str).unwrap_or_default();
        let schema = schema_name(document, (group, version, kind));
        let mut recorded = json!({
            "group": group,
            "version": version,
            "kind": kind,
            "plural": plural,
            "namespaced": resource.get("namespaced"),
            "singular": resource.get("singularName"),
            "verbs": resource.get("verbs"),
            "shortNames": resource.get("shortNames").cloned().unwrap_or_else(|| json!([])),
            "categories": resource.get("categories").cloned().unwrap_or_else(|| json!([])),
            "status": named(&format!("{plural}/status")).is_some(),
            "scale": named(&format!("{plural}/scale")).is_some(),
            "schema": schema.with_context(|| format!("{kind} has no schema"))?,
        });
        let verbs = resource.get("verbs").and_then(Value::as_array).into_iter().flatten();
        if verbs.filter_map(Value::as_str).any(|verb| verb == "list")
            && let Value::Object(fields) = &mut recorded
        {
            let table = ask(client, &format!("{place}/{plural}?limit=1"), TABLE).await?;
            fields.insert("columns".to_owned(), columns(&table));
        }
        kinds.push(recorded);
    }
    Ok(kinds)
}

/// Without the descriptions, which are long and nobody sees.
fn columns(table: &Value) -> Value {
    let columns = table.get("columnDefinitions").and_then(Value::as_array).into_iter().flatten();
    let column = |column: &Value| {
        let said = |name: &str| column.get(name).cloned().unwrap_or_default();
        json!({
            "name": said("name"), "type": said("type"), "format": said("format"),
            "priority": said("priority"),
        })
    };
    columns.map(column).collect()
}

fn schema_name(document: &Value, (group, version, kind): (&str, &str, &str)) -> Option<String> {
    let wanted = json!({"group": group, "version": version, "kind": kind});
    let schemas = document.pointer("/components/schemas")?.as_object()?;
    let is_it = |schema: &Value| {
        let kinds = schema.get("x-kubernetes-group-version-kind").and_then(Value::as_array);
        kinds.is_some_and(|kinds| kinds.contains(&wanted))
    };
    schemas.iter().find(|(_, schema)| is_it(schema)).map(|(name, _)| name.clone())
}
