//! How many replicas an object wants: `Scale`, which stands for a part of it.

use serde_json::{Value, json};

use crate::{
    definition::{ScalePaths, Served},
    request::Target,
    selector,
    status::Status,
    storage::Store,
};

/// Answers what an object's scale is.
pub(crate) fn get(store: &Store, served: &Served, target: &Target) -> Result<Value, Status> {
    let paths = served.about.scale.as_ref().ok_or_else(|| Status::of_code(404))?;
    let key = target.key();
    let object = store.get(&served.definition, &key);
    let object = object.ok_or_else(|| Status::not_found(&served.definition, &key.1))?;
    Ok(scale(&Value::Object(object.fields()), paths))
}

/// The scale that an object has.
pub(crate) fn scale(object: &Value, paths: &ScalePaths) -> Value {
    let metadata = |name: &str| object.pointer(&format!("/metadata/{name}")).cloned();
    let count = |path: &str| object.pointer(path).and_then(Value::as_i64).unwrap_or_default();
    let mut status = json!({"replicas": count(&paths.actual)});
    let selector = object.pointer(&paths.selector).filter(|_| !paths.selector.is_empty());
    let selected = match selector {
        Some(Value::String(text)) => text.clone(),
        Some(map) => selector::written(map),
        None => String::new(),
    };
    if let (Value::Object(status), false) = (&mut status, selected.is_empty()) {
        status.insert("selector".to_owned(), Value::from(selected));
    }
    let names = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"];
    let metadata: serde_json::Map<String, Value> =
        names.iter().filter_map(|name| Some(((*name).to_owned(), metadata(name)?))).collect();
    json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": metadata,
        "spec": {"replicas": count(&paths.wanted)},
        "status": status,
    })
}
