//! Documents that clients send, in the three ways in which they are written.

mod protobuf;
mod yaml;

use serde_json::Value;

use crate::{definition::Served, recorded, request::Request, status::Status};

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";

/// Under which name the options of a deletion are recorded.
const DELETE_OPTIONS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";

/// Reads an object of a kind.
pub(crate) fn object(request: &Request, body: &[u8], served: &Served) -> Result<Value, Status> {
    document(request, body, served.about.schema_name.as_deref())
}

/// Reads how something is to be deleted; nothing is said by an empty body.
pub(crate) fn options(request: &Request, body: &[u8]) -> Result<Value, Status> {
    if body.is_empty() {
        return Ok(Value::Null);
    }
    document(request, body, Some(DELETE_OPTIONS))
}

/// Reads a document; `schema` is the name of what protobuf would hold.
pub(crate) fn document(
    request: &Request,
    body: &[u8],
    schema: Option<&str>,
) -> Result<Value, Status> {
    let schema = schema.filter(|schema| recorded::wire().contains_key(*schema));
    match (media_type(request).as_str(), schema) {
        ("" | JSON, _) => json(body),
        (YAML, _) => yaml(body),
        (protobuf::MEDIA_TYPE, Some(schema)) => protobuf::read(body, schema).map_err(|error| {
            Status::bad_request(format!("the body of the request is no such protobuf: {error}"))
        }),
        (_, Some(_)) => Err(Status::unsupported_media_type(&format!(
            "{JSON}, {YAML}, {}",
            protobuf::MEDIA_TYPE
        ))),
        (_, None) => Err(Status::unsupported_media_type(&format!("{JSON}, {YAML}"))),
    }
}

/// What the body is said to be, without its parameters.
pub(crate) fn media_type(request: &Request) -> String {
    let header = request.headers.get("content-type").map_or("", String::as_str);
    header.split(';').next().unwrap_or_default().trim().to_lowercase()
}

pub(crate) fn json(body: &[u8]) -> Result<Value, Status> {
    serde_json::from_slice(body).map_err(|error| {
        Status::bad_request(format!("error decoding the body, which must be JSON: {error}"))
    })
}

/// Reads YAML, of which JSON is a part.
pub(crate) fn yaml(body: &[u8]) -> Result<Value, Status> {
    yaml::read(body).map_err(|error| {
        Status::bad_request(format!("error decoding the body, which must be YAML: {error}"))
    })
}
