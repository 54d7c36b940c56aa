//! What copies look like at a destination: JSON, YAML, or one row a line.
//!
//! JSON and lines are cut from the bytes that a row already has; only YAML,
//! and files that hold less than the row, decode it.

mod yaml;
mod json;
mod ndjson;

use kollect_api::Format;
use kollect_inventory::{
    Row,
    envelope::{self, Header},
};
use serde_json::{Map, Value};

/// What a file for one row holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// The whole row.
    Item,
    /// Its attributes; an empty object when it has none.
    Attributes,
    /// The object that the row embeds under a key.
    Manifest { key: String },
}

/// Why something cannot be encoded.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// The row embeds no object under the key.
    #[error("the row of {row} holds no object under {key:?}")]
    NoManifest { row: String, key: String },
    /// The row cannot be decoded, most likely because it is nested too deeply.
    #[error("the row of {row} cannot be decoded")]
    Undecodable { row: String, source: serde_json::Error },
    /// Nothing here writes the format.
    #[error("documents and files of a tree cannot be written as {0:?}")]
    Unsupported(Format),
}

/// Encodes all rows as one document. They must be in canonical order.
///
/// JSON is the envelope; YAML is the list of rows and NDJSON one row a line,
/// both without the header. Documents hold whole rows whatever the layout's
/// content is. Without rows, YAML is `[]` and a line break, and NDJSON is an
/// empty file: a document that stays away could not be told from one that was
/// never written.
pub fn document(header: &Header<'_>, rows: &[Row], format: Format) -> Result<Vec<u8>, EncodeError> {
    match format {
        Format::Json => Ok(envelope::encode(header, rows)),
        Format::Yaml => {
            let rows: Result<_, _> = rows.iter().map(|row| decode(row, row.as_json())).collect();
            Ok(yaml::document(&Value::Array(rows?)))
        }
        Format::Ndjson => Ok(ndjson::lines(rows.iter().map(Row::as_json))),
        Format::Parquet | Format::Csv => Err(EncodeError::Unsupported(format)),
    }
}

/// Encodes one row as a file of its own. No file is empty.
pub fn row(row: &Row, content: &Content, format: Format) -> Result<Vec<u8>, EncodeError> {
    match content {
        Content::Item => encode(row, row.as_json(), format),
        Content::Attributes => match row.attributes() {
            b"null" => encode(row, b"{}", format),
            attributes => encode(row, attributes, format),
        },
        Content::Manifest { key } => {
            let attributes = decode(row, row.attributes())?;
            let missing = || EncodeError::NoManifest { row: name(row), key: key.clone() };
            let manifest = attributes.get(key).ok_or_else(missing)?;
            value(manifest, format)
        }
    }
}

/// Encodes a value that has no order of its own.
fn value(value: &Value, format: Format) -> Result<Vec<u8>, EncodeError> {
    let mut canonical = Vec::new();
    match format {
        Format::Yaml => return Ok(yaml::document(value)),
        _ => kollect_inventory::json::write_value(value, &mut canonical),
    }
    spelled(&canonical, format)
}

/// Encodes members: JSON keeps their order, YAML has its own.
pub(crate) fn members(members: &[(&str, Value)], format: Format) -> Result<Vec<u8>, EncodeError> {
    if format == Format::Yaml {
        let fields = members.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        return Ok(yaml::document(&Value::Object(fields.collect::<Map<_, _>>())));
    }
    let mut canonical = Vec::new();
    for (at, (name, value)) in members.iter().enumerate() {
        canonical.push(if at == 0 { b'{' } else { b',' });
        kollect_inventory::json::write_text(name, &mut canonical);
        canonical.push(b':');
        kollect_inventory::json::write_value(value, &mut canonical);
    }
    canonical.push(b'}');
    spelled(&canonical, format)
}

/// Encodes part of a row that is canonical JSON already.
fn encode(row: &Row, canonical: &[u8], format: Format) -> Result<Vec<u8>, EncodeError> {
    match format {
        Format::Yaml => Ok(yaml::document(&decode(row, canonical)?)),
        _ => spelled(canonical, format),
    }
}

fn spelled(canonical: &[u8], format: Format) -> Result<Vec<u8>, EncodeError> {
    match format {
        Format::Json => Ok(json::indented(canonical)),
        Format::Ndjson => Ok(ndjson::lines([canonical])),
        Format::Yaml | Format::Parquet | Format::Csv => Err(EncodeError::Unsupported(format)),
    }
}

fn decode(row: &Row, canonical: &[u8]) -> Result<Value, EncodeError> {
    serde_json::from_slice(canonical)
        .map_err(|source| EncodeError::Undecodable { row: name(row), source })
}

/// How people find the object of a row: `Deployment shop/web`.
fn name(row: &Row) -> String {
    let identity = row.identity();
    let prefix = if identity.namespace.is_empty() { "" } else { "/" };
    format!("{} {}{prefix}{}", identity.kind, identity.namespace, identity.name)
}

#[cfg(test)]
mod tests {
    use kollect_inventory::Identity;

    use super::*;

    fn web(attributes: &[u8]) -> Row {
        let identity = Identity {
            namespace: "shop".into(),
            name: "web".into(),
            kind: "Deployment".into(),
            ..Identity::default()
        };
        Row::new(&identity, attributes)
    }

    #[test]
    fn a_row_without_its_manifest_is_named() {
        let manifest = Content::Manifest { key: "resource".into() };
        for attributes in ["null", "{}", r#"{"other":{}}"#] {
            let error = row(&web(attributes.as_bytes()), &manifest, Format::Json).unwrap_err();
            let expected = r#"the row of Deployment shop/web holds no object under "resource""#;
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn a_row_that_is_nested_too_deeply_is_named() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(500), "]".repeat(500));
        let error = row(&web(deep.as_bytes()), &Content::Attributes, Format::Yaml).unwrap_err();
        assert_eq!(error.to_string(), "the row of Deployment shop/web cannot be decoded");
        assert!(row(&web(deep.as_bytes()), &Content::Attributes, Format::Ndjson).is_ok());
    }

    #[test]
    fn a_format_that_nothing_here_writes_is_refused() {
        let error = document(&Header::default(), &[], Format::Parquet).unwrap_err();
        assert!(matches!(error, EncodeError::Unsupported(Format::Parquet)));
        let error = row(&web(b"{}"), &Content::Item, Format::Csv).unwrap_err();
        assert!(matches!(error, EncodeError::Unsupported(Format::Csv)));
    }
}
