//! Changes how many replicas an object wants, and nothing else of it.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    Asked, Done,
    body::{Patch, read_patch},
    mode,
    prepare::Preparation,
};
use crate::{
    decode,
    definition::{ResourceDefinition, ScalePaths},
    patch::{json, merge},
    request::Verb,
    scale::scale,
    status::{Status, Violation},
    storage::{Next, Store},
};

const SCHEMA: &str = "io.k8s.api.autoscaling.v1.Scale";

pub(super) fn write(store: &Store, asked: &Asked<'_>) -> Result<Done, Status> {
    let Asked { request, target, served, body } = asked;
    let definition = &served.definition;
    let paths = served.about.scale.as_ref().ok_or_else(|| Status::of_code(404))?;
    let change = match request.verb {
        Verb::Update => Change::Whole(decode::document(request, body, Some(SCHEMA))?),
        _ => Change::Part(read_patch(asked)?),
    };
    let mode = mode(request)?;
    let mut preparation = Preparation::new(asked)?;
    let key = target.key();
    let written = store.write(served, &key, mode, |known, stamp| {
        let known = known.ok_or_else(|| Status::not_found(definition, &key.1))?;
        let wanted = change.wanted(known, paths)?;
        let version = wanted.pointer("/metadata/resourceVersion").and_then(Value::as_str);
        let own = known.pointer("/metadata/resourceVersion").and_then(Value::as_str);
        if version.is_some_and(|version| !version.is_empty() && Some(version) != own) {
            return Err(Status::modified(definition, &key.1));
        }
        let replicas = wanted.pointer("/spec/replicas").cloned().unwrap_or_else(|| json!(0));
        if replicas.as_i64().is_none_or(|replicas| replicas < 0) {
            let message = format!("Invalid value: {replicas}: must be greater than or equal to 0");
            let (reason, field) = ("FieldValueInvalid", "spec.replicas".to_owned());
            let of_scale = ResourceDefinition {
                group: "autoscaling".to_owned(),
                kind: "Scale".to_owned(),
                ..definition.clone()
            };
            let violation = Violation { reason, field, message };
            return Err(Status::invalid(&of_scale, &key.1, &[violation]));
        }
        let mut object = preparation.whole(known);
        set(&mut object, &paths.wanted, replicas);
        preparation.prepare(Some(known), object, stamp).map(Next::Put)
    })?;
    let scale = scale(&Value::Object(written.object.fields()), paths);
    let document = Bytes::from(format!("{scale}\n"));
    Ok(Done { code: 200, document, warnings: preparation.warnings })
}

/// What a client wants the scale to be.
enum Change {
    Whole(Value),
    Part(Patch),
}

impl Change {
    fn wanted(&self, known: &Value, paths: &ScalePaths) -> Result<Value, Status> {
        let mut wanted = scale(known, paths);
        match self {
            Self::Whole(whole) => return Ok(whole.clone()),
            Self::Part(Patch::Merge(patch) | Patch::Strategic(patch) | Patch::Apply(patch)) => {
                merge::merge(&mut wanted, patch);
            }
            Self::Part(Patch::Json(patch)) => {
                wanted = json::apply(&wanted, patch)
                    .map_err(|_| Status::bad_request("the patch does not fit the scale"))?;
            }
        }
        Ok(wanted)
    }
}

/// Says something at a path whose last step need not be there yet.
fn set(object: &mut Value, path: &str, value: Value) {
    let Some((place, name)) = path.rsplit_once('/') else { return };
    if let Some(Value::Object(fields)) = object.pointer_mut(place) {
        fields.insert(name.to_owned(), value);
    }
}
