//! What becomes of an object.

use kollect_expr::Json;
use kollect_inventory::Row;

use crate::redact::Findings;

/// What becomes of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This is its row.
    Keep {
        row: Row,
        /// Where something was hidden in it.
        redacted: Findings,
    },
    /// It is not wanted.
    Skip(Skip),
    /// It is wanted and cannot be read; an older row of it has to go.
    Fail(Failure),
}

/// Why an object is not wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// Its namespace is not among the target's.
    Namespace,
    /// Its name is not listed.
    Name,
    /// Its labels do not match.
    Labels,
    /// No resource rule matches.
    Rules,
    /// It or its namespace has opted out, or nobody has opted in.
    Watch,
}

/// Why a wanted object has no row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The bytes are no object.
    #[error("the object cannot be read: {0}")]
    Object(String),
    /// A required attribute cannot be read.
    #[error("attribute {attribute}: {reason}")]
    Attribute { attribute: String, reason: String },
    /// What is to be dropped from the copy cannot be said.
    #[error("export.prune.cel: {0}")]
    Prune(String),
}

/// What is read of every object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header<'o> {
    pub namespace: &'o str,
    pub name: &'o str,
    pub uid: &'o str,
    pub resource_version: &'o str,
    labels: Option<&'o Json<'o>>,
}

impl<'o> Header<'o> {
    /// The paths that it needs.
    pub const PATHS: [&'static [&'static str]; 5] = [
        &["metadata", "namespace"],
        &["metadata", "name"],
        &["metadata", "uid"],
        &["metadata", "resourceVersion"],
        &["metadata", "labels"],
    ];

    /// Reads it off an object.
    pub fn of(object: &'o Json<'o>) -> Self {
        let metadata = object.get("metadata");
        let text = |name: &str| match metadata.and_then(|metadata| metadata.get(name)) {
            Some(Json::Text(text)) => text.as_ref(),
            _ => "",
        };
        let labels = metadata.and_then(|metadata| metadata.get("labels"));
        Self {
            namespace: text("namespace"),
            name: text("name"),
            uid: text("uid"),
            resource_version: text("resourceVersion"),
            labels,
        }
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&'o str> {
        match self.labels?.get(key)? {
            Json::Text(value) => Some(value),
            _ => None,
        }
    }
}
