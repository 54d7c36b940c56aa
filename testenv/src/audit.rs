//! What a control plane was asked, by whom, and whether it let them.

use std::{fs, io};

use serde_json::Value;

use crate::{control_plane::ControlPlane, launch::AUDIT_LOG};

/// One request, as the API server has recorded it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    pub user: String,
    pub verb: String,
    pub group: String,
    /// The plural; one of a part of an object is spelled with a slash. Empty
    /// if it was about no resource.
    pub resource: String,
    pub namespace: String,
    pub name: String,
    pub code: i64,
    pub uri: String,
}

impl ControlPlane {
    /// Every request that was answered so far, oldest first; a stream counts as
    /// soon as it is open.
    ///
    /// # Panics
    ///
    /// When it was not started by [`Self::start_audited`].
    #[track_caller]
    #[expect(clippy::panic, reason = "only tests call this, and they fail by panicking")]
    pub fn audit(&self) -> Vec<Asked> {
        let read: io::Result<String> = fs::read_to_string(self.directory().join(AUDIT_LOG));
        match read {
            // The last line may be half written.
            Ok(text) => text.lines().filter_map(parse).collect(),
            Err(error) => panic!("nothing was recorded: {error}"),
        }
    }
}

fn parse(line: &str) -> Option<Asked> {
    let event: Value = serde_json::from_str(line).ok()?;
    let text = |pointer: &str| {
        event.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let mut resource = text("/objectRef/resource");
    match text("/objectRef/subresource").as_str() {
        "" => {}
        part => resource = format!("{resource}/{part}"),
    }
    Some(Asked {
        user: text("/user/username"),
        verb: text("/verb"),
        group: text("/objectRef/apiGroup"),
        resource,
        namespace: text("/objectRef/namespace"),
        name: text("/objectRef/name"),
        code: event.pointer("/responseStatus/code").and_then(Value::as_i64).unwrap_or_default(),
        uri: text("/requestURI"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_who_asked_for_what() {
        let line = r#"{"kind":"Event","stage":"ResponseComplete","verb":"patch",
            "requestURI":"/apis/apps/v1/namespaces/a/deployments/web/status?x=y",
            "user":{"username":"eve"},"responseStatus":{"code":403},
            "objectRef":{"resource":"deployments","namespace":"a","name":"web",
                "apiGroup":"apps","subresource":"status"}}"#;
        let asked = parse(&line.replace('\n', " ")).unwrap();
        assert_eq!((asked.user.as_str(), asked.verb.as_str()), ("eve", "patch"));
        assert_eq!((asked.group.as_str(), asked.resource.as_str()), ("apps", "deployments/status"));
        assert_eq!((asked.namespace.as_str(), asked.code), ("a", 403));
        assert_eq!(parse(r#"{"kind":"#), None, "it is half written");
    }
}
