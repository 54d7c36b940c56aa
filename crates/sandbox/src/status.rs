//! The `Status` documents in which the API says no.

use serde_json::{Map, Value, json};

use crate::{definition::ResourceDefinition, request::Target};

/// A refusal, as a response or as a line in a watch.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    pub(crate) code: u16,
    reason: String,
    message: String,
    details: Map<String, Value>,
    /// The token for a remainder that does not fit what was read before.
    remainder: Option<String>,
    pub(crate) retry_after: Option<u64>,
}

/// Something that an object must not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// As `FieldValueInvalid`.
    pub(crate) reason: &'static str,
    /// Where, as `spec.ports[0].name`.
    pub(crate) field: String,
    pub(crate) message: String,
}

impl Status {
    pub(crate) fn new(code: u16, reason: &str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason: reason.to_owned(),
            message: message.into(),
            details: Map::new(),
            remainder: None,
            retry_after: None,
        }
    }

    /// What a server says with a bare code.
    pub(crate) fn of_code(code: u16) -> Self {
        match code {
            401 => Self::new(401, "Unauthorized", "Unauthorized"),
            403 => Self::new(403, "Forbidden", "forbidden: the sandbox was told to refuse"),
            404 => Self::new(404, "NotFound", "the server could not find the requested resource"),
            410 => {
                Self::new(410, "Expired", "The resourceVersion for the provided list is too old.")
            }
            429 => Self::too_many_requests(1),
            500 => Self::internal("the sandbox was told to fail"),
            503 => Self::new(
                503,
                "ServiceUnavailable",
                "the server is currently unable to handle the request",
            ),
            504 => Self::new(504, "Timeout", "Timeout: request did not complete within the limit"),
            other => Self::new(other, "Unknown", "the sandbox was told to answer so"),
        }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// List options that contradict each other.
    pub(crate) fn invalid_options(field: &str, message: &str) -> Self {
        let text = format!(r#"ListOptions.meta.k8s.io "" is invalid: {field}: {message}"#);
        let mut status = Self::new(422, "Invalid", text);
        status.detail("group", json!("meta.k8s.io"));
        status.detail("kind", json!("ListOptions"));
        status.detail(
            "causes",
            json!([{"reason": "FieldValueForbidden", "message": message, "field": field}]),
        );
        status
    }

    pub(crate) fn not_found(definition: &ResourceDefinition, name: &str) -> Self {
        let message = format!(r#"{} "{name}" not found"#, definition.qualified());
        Self::new(404, "NotFound", message).about(definition, name)
    }

    /// The details that name an object.
    fn about(mut self, definition: &ResourceDefinition, name: &str) -> Self {
        self.detail("name", json!(name));
        if !definition.group.is_empty() {
            self.detail("group", json!(definition.group));
        }
        self.detail("kind", json!(definition.plural));
        self
    }

    pub(crate) fn namespace_not_found(name: &str) -> Self {
        let mut status = Self::new(404, "NotFound", format!(r#"namespaces "{name}" not found"#));
        status.detail("name", json!(name));
        status.detail("kind", json!("namespaces"));
        status
    }

    pub(crate) fn already_exists(definition: &ResourceDefinition, name: &str) -> Self {
        let message = format!(r#"{} "{name}" already exists"#, definition.qualified());
        Self::new(409, "AlreadyExists", message).about(definition, name)
    }

    /// The object is no longer what the client believes.
    pub(crate) fn conflict(definition: &ResourceDefinition, name: &str, why: &str) -> Self {
        let message = format!(
            r#"Operation cannot be fulfilled on {} "{name}": {why}"#,
            definition.qualified()
        );
        Self::new(409, "Conflict", message).about(definition, name)
    }

    pub(crate) fn modified(definition: &ResourceDefinition, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version \
                   and try again";
        Self::conflict(definition, name, why)
    }

    /// Fields that others own, each with its owner.
    pub(crate) fn owned_by_others(conflicts: &[(String, String)]) -> Self {
        let count = conflicts.len();
        let plural = if count == 1 { "" } else { "s" };
        let mut owners: Vec<&String> = conflicts.iter().map(|(owner, _)| owner).collect();
        owners.sort();
        owners.dedup();
        let message = match (owners.as_slice(), conflicts) {
            ([owner], [(_, path)]) => {
                format!("Apply failed with 1 conflict: conflict with {owner}: {path}")
            }
            (owners, _) => {
                let each: Vec<String> = owners
                    .iter()
                    .map(|owner| {
                        let paths = conflicts.iter().filter(|(other, _)| other == *owner);
                        let paths: Vec<String> =
                            paths.map(|(_, path)| format!("- {path}")).collect();
                        format!("conflicts with {owner}:\n{}", paths.join("\n"))
                    })
                    .collect();
                format!("Apply failed with {count} conflict{plural}: {}", each.join("\n"))
            }
        };
        let mut status = Self::new(409, "Conflict", message);
        let causes: Vec<Value> = conflicts
            .iter()
            .map(|(owner, path)| {
                let message = format!("conflict with {owner}");
                json!({"reason": "FieldManagerConflict", "message": message, "field": path})
            })
            .collect();
        status.detail("causes", json!(causes));
        status
    }

    /// What an object says is not allowed.
    pub(crate) fn invalid(
        definition: &ResourceDefinition,
        name: &str,
        violations: &[Violation],
    ) -> Self {
        let kind = match definition.group.as_str() {
            "" => definition.kind.clone(),
            group => format!("{}.{group}", definition.kind),
        };
        let texts: Vec<String> = violations
            .iter()
            .map(|violation| format!("{}: {}", violation.field, violation.message))
            .collect();
        let text = match texts.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let message = format!(r#"{kind} "{name}" is invalid: {text}"#);
        let mut status = Self::new(422, "Invalid", message);
        if !name.is_empty() {
            status.detail("name", json!(name));
        }
        if !definition.group.is_empty() {
            status.detail("group", json!(definition.group));
        }
        status.detail("kind", json!(definition.kind));
        let causes: Vec<Value> = violations
            .iter()
            .map(|Violation { reason, field, message }| {
                json!({"reason": reason, "message": message, "field": field})
            })
            .collect();
        status.detail("causes", json!(causes));
        status
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message)
    }

    pub(crate) fn unsupported_media_type(accepted: &str) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: \
             {accepted}"
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    pub(crate) fn forbidden(target: &Target, action: &str) -> Self {
        let Target { group, plural, name, .. } = target;
        let group_of = if group.is_empty() { String::new() } else { format!(".{group}") };
        let object = name.as_ref().map(|name| format!(r#" "{name}""#)).unwrap_or_default();
        let message = format!("{plural}{group_of}{object} is forbidden: {action}");
        let mut status = Self::new(403, "Forbidden", message);
        if let Some(name) = name {
            status.detail("name", json!(name));
        }
        if !group.is_empty() {
            status.detail("group", json!(group));
        }
        status.detail("kind", json!(plural));
        status
    }

    pub(crate) fn too_many_requests(retry_after: u64) -> Self {
        let message = "the server has received too many requests and has asked us to try again \
                       later";
        let mut status = Self::new(429, "TooManyRequests", message);
        status.detail("retryAfterSeconds", json!(retry_after));
        status.retry_after = Some(retry_after);
        status
    }

    pub(crate) fn internal(message: &str) -> Self {
        let text = format!("Internal error occurred: {message}");
        let mut status = Self::new(500, "InternalError", text);
        status.detail("causes", json!([{"message": message}]));
        status
    }

    /// A list at a version that the server has yet to reach.
    pub(crate) fn too_new(asked: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        let mut status = Self::new(504, "Timeout", message);
        let cause = "Too large resource version";
        status.detail("causes", json!([{"reason": "ResourceVersionTooLarge", "message": cause}]));
        status.detail("retryAfterSeconds", json!(1));
        status.retry_after = Some(1);
        status
    }

    /// A watch or an exact list from before what is remembered.
    pub(crate) fn too_old(asked: u64, oldest: u64) -> Self {
        Self::new(410, "Expired", format!("too old resource version: {asked} ({oldest})"))
    }

    /// A page of a list that is no longer remembered.
    pub(crate) fn expired_page(remainder: String) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list \
                       result. You can start a new list without the continue parameter, or use \
                       the continue token in this response to retrieve the remainder of the \
                       results. Continuing with the provided token results in an inconsistent \
                       list - objects that were created, modified, or deleted between the time \
                       the first chunk was returned and now may show up in the list.";
        Self { remainder: Some(remainder), ..Self::new(410, "Expired", message) }
    }

    fn detail(&mut self, name: &str, value: Value) {
        self.details.insert(name.to_owned(), value);
    }

    /// In the order of the server's types.
    pub(crate) fn json(&self) -> String {
        let metadata = match &self.remainder {
            Some(token) => json!({"continue": token}),
            None => json!({}),
        };
        let text = |name: &str, value: &str| match value {
            "" => String::new(),
            value => format!(r#","{name}":{}"#, Value::from(value)),
        };
        let details = match &self.details {
            details if details.is_empty() => String::new(),
            details => format!(r#","details":{}"#, Value::Object(details.clone())),
        };
        let (message, reason) = (text("message", &self.message), text("reason", &self.reason));
        format!(
            r#"{{"kind":"Status","apiVersion":"v1","metadata":{metadata},"status":"Failure"{message}{reason}{details},"code":{}}}"#,
            self.code
        )
    }

    /// As the last line of a watch.
    pub(crate) fn line(&self) -> String {
        format!("{{\"type\":\"ERROR\",\"object\":{}}}\n", self.json())
    }
}
