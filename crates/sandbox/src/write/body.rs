//! Reads what clients send.

use serde_json::Value;

use super::{Asked, text};
use crate::{decode, status::Status};

/// A change of a part of an object.
pub(super) enum Patch {
    Json(Value),
    Merge(Value),
    Strategic(Value),
    Apply(Value),
}

/// Reads a whole object of the kind that was asked for.
pub(super) fn read_object(asked: &Asked<'_>) -> Result<Value, Status> {
    let object = decode::object(asked.request, asked.body, asked.served)?;
    let definition = &asked.served.definition;
    let (kind, version) = (text(&object, "/kind"), text(&object, "/apiVersion"));
    if kind.is_empty() {
        let body = String::from_utf8_lossy(asked.body);
        return Err(Status::bad_request(format!("Object 'Kind' is missing in '{body}'")));
    }
    let expected = definition.api_version();
    if version != expected {
        return Err(Status::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version \
             ({expected})"
        )));
    }
    if kind != definition.kind {
        return Err(Status::bad_request(format!(
            "{kind} in version \"{}\" cannot be handled as a {}",
            definition.version, definition.kind
        )));
    }
    Ok(object)
}

/// Reads a change, of which there are four kinds.
pub(super) fn read_patch(asked: &Asked<'_>) -> Result<Patch, Status> {
    let read = |wrap: fn(Value) -> Patch| decode::json(asked.body).map(wrap);
    match decode::media_type(asked.request).as_str() {
        "application/json-patch+json" => read(Patch::Json),
        "application/merge-patch+json" => read(Patch::Merge),
        "application/strategic-merge-patch+json" if asked.served.built_in => read(Patch::Strategic),
        "application/apply-patch+yaml" => decode::yaml(asked.body).map(Patch::Apply),
        _ if asked.served.built_in => Err(Status::unsupported_media_type(
            "application/json-patch+json, application/merge-patch+json, \
             application/strategic-merge-patch+json, application/apply-patch+yaml",
        )),
        _ => Err(Status::unsupported_media_type(
            "application/json-patch+json, application/merge-patch+json, \
             application/apply-patch+yaml",
        )),
    }
}
