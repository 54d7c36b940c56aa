//! What a client asks for.

use std::collections::BTreeMap;

use serde::Deserialize;

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// One object.
    Get,
    List,
    Watch,
    /// A new object, or a review, as of what the client may do.
    Create,
    Update,
    Patch,
    /// One object.
    Delete,
    DeleteCollection,
    /// Versions, groups and their resources.
    Discovery,
    /// Everything else.
    Other,
}

/// A request that was made, as far as tests may want to know it.
#[derive(Clone, Debug)]
pub struct Request {
    pub verb: Verb,
    pub method: String,
    pub path: String,
    /// The parameters, decoded.
    pub query: BTreeMap<String, String>,
    /// Those of `accept`, `accept-encoding`, `authorization`, `content-type`
    /// and `user-agent` that were sent.
    pub headers: BTreeMap<String, String>,
    /// Requests with the same number came over one connection.
    pub connection: u64,
    pub(crate) place: Place,
}

impl Request {
    /// The resource's name in paths; empty if it is about none.
    pub fn resource(&self) -> &str {
        self.place.target().map_or("", |target| &target.plural)
    }

    /// The API group; empty for the core group, and if it is about none.
    pub fn group(&self) -> &str {
        self.place.group().unwrap_or_default()
    }

    /// The namespace, unless the request is cluster-wide.
    pub fn namespace(&self) -> Option<&str> {
        self.place.target()?.namespace.as_deref()
    }

    /// A parameter of the query; a missing one is empty, as servers read it.
    pub fn parameter(&self, name: &str) -> &str {
        self.query.get(name).map_or("", String::as_str)
    }

    pub(crate) fn is_set(&self, name: &str) -> bool {
        matches!(self.parameter(name), "true" | "1" | "t" | "T" | "TRUE" | "True")
    }

    pub(crate) fn new(method: &str, path: &str, query: &str) -> Self {
        let place = Place::parse(path);
        let query = parameters(query);
        let watches = query.get("watch").is_some_and(|value| value != "false" && value != "0");
        let verb = match (method, &place) {
            ("GET", Place::Resource(Target { name: Some(_), .. })) => Verb::Get,
            ("GET", Place::Resource(_)) if watches => Verb::Watch,
            ("GET", Place::Resource(_)) => Verb::List,
            ("GET", Place::Groups | Place::Core | Place::Group(_) | Place::Version(..)) => {
                Verb::Discovery
            }
            ("POST", Place::Resource(_)) => Verb::Create,
            ("PUT", Place::Resource(Target { name: Some(_), .. })) => Verb::Update,
            ("PATCH", Place::Resource(Target { name: Some(_), .. })) => Verb::Patch,
            ("DELETE", Place::Resource(Target { name: Some(_), .. })) => Verb::Delete,
            ("DELETE", Place::Resource(_)) => Verb::DeleteCollection,
            _ => Verb::Other,
        };
        Self {
            verb,
            method: method.to_owned(),
            path: path.to_owned(),
            query,
            headers: BTreeMap::new(),
            connection: 0,
            place,
        }
    }
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// `/version`
    ServerVersion,
    /// `/openapi/v2` and `/openapi/v3`, and below the latter what is described.
    OpenApi(Vec<String>),
    /// Where faults are set from outside: what stands below `/sandbox`.
    Admin(Vec<String>),
    /// `/readyz` and the like.
    Health,
    /// `/api`
    Core,
    /// `/apis`
    Groups,
    /// `/apis/apps`
    Group(String),
    /// `/apis/apps/v1`, and `/api/v1` with an empty group.
    Version(String, String),
    Resource(Target),
    Nowhere,
}

/// A resource, or one object of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) plural: String,
    pub(crate) namespace: Option<String>,
    pub(crate) name: Option<String>,
    /// Empty for the object itself.
    pub(crate) subresource: String,
}

impl Target {
    pub(crate) fn key(&self) -> (String, String) {
        (self.namespace.clone().unwrap_or_default(), self.name.clone().unwrap_or_default())
    }
}

impl Place {
    pub(crate) fn target(&self) -> Option<&Target> {
        match self {
            Self::Resource(target) => Some(target),
            _ => None,
        }
    }

    pub(crate) fn group(&self) -> Option<&str> {
        match self {
            Self::Group(group) | Self::Version(group, _) => Some(group),
            Self::Resource(target) => Some(&target.group),
            _ => None,
        }
    }

    fn parse(path: &str) -> Self {
        let parts: Vec<String> = path
            .split('/')
            .filter(|part| !part.is_empty())
            .map(|part| decode(part, false))
            .collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["version"] => Self::ServerVersion,
            ["openapi", rest @ ..] => Self::OpenApi(owned(rest)),
            ["sandbox", rest @ ..] => Self::Admin(owned(rest)),
            ["healthz" | "livez" | "readyz", ..] => Self::Health,
            ["api"] => Self::Core,
            ["apis"] => Self::Groups,
            ["apis", group] => Self::Group((*group).to_owned()),
            ["api", version, rest @ ..] => Self::below("", version, rest),
            ["apis", group, version, rest @ ..] => Self::below(group, version, rest),
            _ => Self::Nowhere,
        }
    }

    fn below(group: &str, version: &str, rest: &[&str]) -> Self {
        let (namespace, plural, name, part) = match rest {
            [] => return Self::Version(group.to_owned(), version.to_owned()),
            ["namespaces", name, part @ ("status" | "finalize")] => {
                (None, "namespaces", Some(*name), *part)
            }
            ["namespaces", namespace, plural] => (Some(*namespace), *plural, None, ""),
            ["namespaces", namespace, plural, name] => (Some(*namespace), *plural, Some(*name), ""),
            ["namespaces", namespace, plural, name, part] => {
                (Some(*namespace), *plural, Some(*name), *part)
            }
            [plural] => (None, *plural, None, ""),
            [plural, name] => (None, *plural, Some(*name), ""),
            [plural, name, part] => (None, *plural, Some(*name), *part),
            _ => return Self::Nowhere,
        };
        Self::Resource(Target {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.map(str::to_owned),
            subresource: part.to_owned(),
        })
    }
}

fn owned(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

/// Reads a query; of a parameter that stands twice the last is taken.
fn parameters(query: &str) -> BTreeMap<String, String> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name, true), decode(value, true))
        })
        .collect()
}

/// Undoes percent-encoding; what is no such encoding stays.
fn decode(text: &str, plus_is_space: bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (first, after) {
            (b'%', [high, low, others @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                match (digit(high), digit(low)) {
                    (Some(high), Some(low)) => {
                        bytes.push(u8::try_from(high * 16 + low).unwrap_or_default());
                        rest = others;
                    }
                    _ => bytes.push(b'%'),
                }
            }
            (b'+', _) if plus_is_space => bytes.push(b' '),
            _ => bytes.push(*first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: (&str, &str, Option<&str>, Option<&str>)) {
        let place = Place::parse(path);
        let target = place.target().expect("a resource");
        let found = (
            target.group.as_str(),
            target.plural.as_str(),
            target.namespace.as_deref(),
            target.name.as_deref(),
        );
        assert_eq!(found, expected);
    }

    #[test]
    fn paths_lead_to_resources_and_objects() {
        check("/api/v1/pods", ("", "pods", None, None));
        check("/api/v1/namespaces/a/pods", ("", "pods", Some("a"), None));
        check(
            "/apis/apps/v1/namespaces/a/deployments/b",
            ("apps", "deployments", Some("a"), Some("b")),
        );
        check("/api/v1/nodes/n", ("", "nodes", None, Some("n")));
    }

    #[test]
    fn a_namespace_is_an_object_too() {
        check("/api/v1/namespaces", ("", "namespaces", None, None));
        check("/api/v1/namespaces/a", ("", "namespaces", None, Some("a")));
    }

    #[test]
    fn parameters_are_decoded() {
        let request =
            Request::new("GET", "/api/v1/pods", "labelSelector=a%20in+%28b%29&watch=true&x=%z");
        assert_eq!(request.parameter("labelSelector"), "a in (b)");
        assert_eq!(request.parameter("x"), "%z");
        assert_eq!(request.verb, Verb::Watch);
    }
}
