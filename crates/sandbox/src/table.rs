//! Tables: the columns that `kubectl get` shows, put together by the server.

mod age;
mod cells;
mod path;

use serde_json::{Map, Value, json};

use crate::{
    definition::{Column, Served},
    object::{Form, Object},
};

/// What of the object stands beside the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Included {
    Nothing,
    Metadata,
    Object,
}

/// How rows are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) included: Included,
    /// The cluster's time, in seconds.
    pub(crate) now: i64,
}

/// The columns of a kind, as a table describes them.
pub(crate) fn columns(served: &Served) -> Value {
    json!(definitions(served))
}

fn definitions(served: &Served) -> Vec<Column> {
    if served.built_in {
        return served.about.columns.clone();
    }
    let name = Column {
        name: "Name".to_owned(),
        kind: "string".to_owned(),
        format: "name".to_owned(),
        description: described("name"),
        ..Column::default()
    };
    let age = Column {
        name: "Age".to_owned(),
        kind: "date".to_owned(),
        description: described("creationTimestamp"),
        json_path: ".metadata.creationTimestamp".to_owned(),
        ..Column::default()
    };
    let own = match served.about.columns.as_slice() {
        [] => vec![age],
        own => own.to_vec(),
    };
    [vec![name], own].concat()
}

fn described(field: &str) -> String {
    let metadata = crate::schema::Schema::metadata();
    let field = metadata.and_then(|metadata| metadata.property(field));
    field.map(|field| field.text("description").to_owned()).unwrap_or_default()
}

/// One row: the cells of an object, and as much of it as was asked for.
pub(crate) fn row(object: &Object, served: &Served, rows: Rows) -> String {
    let fields = object.fields();
    let cells = if served.built_in {
        built_in(&fields, served, rows.now)
    } else {
        custom(&Value::Object(fields), served, rows.now)
    };
    let mut shown = String::new();
    match rows.included {
        Included::Nothing => shown.push_str("null"),
        Included::Metadata => object.render(Form::Metadata, served, &mut shown),
        Included::Object => object.render(Form::Whole, served, &mut shown),
    }
    format!(r#"{{"cells":{},"object":{shown}}}"#, Value::Array(cells))
}

/// A table of one row.
pub(crate) fn table(object: &Object, served: &Served, rows: Rows, columns: &Value) -> String {
    let (row, version) = (row(object, served, rows), object.version);
    format!(
        r#"{{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{{"resourceVersion":"{version}"}},"columnDefinitions":{columns},"rows":[{row}]}}"#
    )
}

fn built_in(fields: &Map<String, Value>, served: &Served, now: i64) -> Vec<Value> {
    let object = Value::Object(fields.clone());
    let names = served.about.columns.iter().map(|column| column.name.as_str());
    names.map(|name| cells::cell(&object, &served.definition.kind, name, now)).collect()
}

fn custom(object: &Value, served: &Served, now: i64) -> Vec<Value> {
    let cell = |column: &Column| {
        if column.json_path.is_empty() {
            return object.pointer("/metadata/name").cloned().unwrap_or_default();
        }
        let found = path::find(object, &column.json_path);
        let Some(first) = found.first() else { return Value::Null };
        match (column.kind.as_str(), *first) {
            ("integer", Value::Number(number)) => match number.as_i64() {
                Some(number) => json!(number),
                None => Value::Null,
            },
            ("number" | "boolean", value) => value.clone(),
            ("date", Value::String(time)) => json!(age::since(time, now)),
            ("date", _) => json!("<unknown>"),
            ("string", _) => {
                let texts: Vec<String> = found.iter().map(|value| spelled(value)).collect();
                json!(texts.join(","))
            }
            _ => Value::Null,
        }
    };
    definitions(served).iter().map(cell).collect()
}

fn spelled(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
