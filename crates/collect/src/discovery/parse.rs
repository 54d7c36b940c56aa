//! Reads what servers say about their kinds, in the old form and in the new.

use serde::Deserialize;

use super::{Group, Resource, Scope, Verbs, Version};

/// What a server answers at one of its two roots.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// Everything at once.
    Whole(Vec<Group>),
    /// Names alone, as old servers do: each group with its versions, the
    /// preferred one first. Each version has to be asked for by itself.
    Names(Vec<(String, Vec<String>)>),
}

/// Reads the answer at `/api` or at `/apis`.
pub(super) fn root(bytes: &[u8]) -> Result<Root, serde_json::Error> {
    let answer: Answer = serde_json::from_slice(bytes)?;
    Ok(match answer {
        Answer::Aggregated { items } => {
            Root::Whole(items.into_iter().map(AggregatedGroup::into_group).collect())
        }
        Answer::CoreVersions { versions } => Root::Names(vec![(String::new(), versions)]),
        Answer::Groups { groups } => {
            Root::Names(groups.into_iter().map(PlainGroup::into_names).collect())
        }
    })
}

/// Reads the answer for one version of one group.
pub(super) fn version(
    group: &str,
    version: &str,
    bytes: &[u8],
) -> Result<Vec<Resource>, serde_json::Error> {
    let PlainResources { resources } = serde_json::from_slice(bytes)?;
    // A slash is a part of a resource, such as its status.
    let whole = resources.into_iter().filter(|resource| !resource.name.contains('/'));
    Ok(whole
        .map(|PlainResource { name, singular_name, namespaced, kind, verbs, short_names }| {
            Resource {
                group: group.to_owned(),
                version: version.to_owned(),
                singular: singular(singular_name, &kind),
                kind,
                plural: name,
                short_names,
                scope: if namespaced { Scope::Namespaced } else { Scope::Cluster },
                verbs: known(&verbs),
            }
        })
        .collect())
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind")]
enum Answer {
    #[serde(rename = "APIGroupDiscoveryList")]
    Aggregated { items: Vec<AggregatedGroup> },
    #[serde(rename = "APIVersions")]
    CoreVersions { versions: Vec<String> },
    #[serde(rename = "APIGroupList")]
    Groups { groups: Vec<PlainGroup> },
}

#[derive(Debug, Deserialize)]
struct AggregatedGroup {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    versions: Vec<AggregatedVersion>,
}

#[derive(Debug, Default, Deserialize)]
struct Metadata {
    /// Absent for the core group.
    #[serde(default)]
    name: String,
}

#[derive(Debug, Deserialize)]
struct AggregatedVersion {
    version: String,
    #[serde(default)]
    resources: Option<Vec<AggregatedResource>>,
    #[serde(default)]
    freshness: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AggregatedResource {
    resource: String,
    response_kind: Option<ResponseKind>,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    singular_resource: String,
    #[serde(default)]
    verbs: Vec<String>,
    #[serde(default)]
    short_names: Vec<String>,
}

/// Its group and version are those of the list that it is in, or empty.
#[derive(Debug, Deserialize)]
struct ResponseKind {
    #[serde(default)]
    kind: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PlainGroup {
    name: String,
    #[serde(default)]
    versions: Vec<PlainVersion>,
    preferred_version: Option<PlainVersion>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct PlainVersion {
    version: String,
}

#[derive(Debug, Deserialize)]
struct PlainResources {
    #[serde(default)]
    resources: Vec<PlainResource>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PlainResource {
    name: String,
    #[serde(default)]
    singular_name: String,
    #[serde(default)]
    namespaced: bool,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    verbs: Vec<String>,
    #[serde(default)]
    short_names: Vec<String>,
}

impl AggregatedGroup {
    fn into_group(self) -> Group {
        let name = self.metadata.name;
        let versions = self.versions.into_iter().map(|version| version.into_version(&name));
        Group { versions: versions.collect(), name }
    }
}

impl AggregatedVersion {
    fn into_version(self, group: &str) -> Version {
        let Self { version, resources, freshness } = self;
        // What a stale entry names may be gone, and what it does not name may be there.
        let resources = if freshness == "Stale" {
            Err(format!("the server behind {group}/{version} does not answer"))
        } else {
            let resources = resources.unwrap_or_default().into_iter();
            Ok(resources.filter_map(|resource| resource.into_resource(group, &version)).collect())
        };
        Version { name: version, resources }
    }
}

impl AggregatedResource {
    /// Nothing if it has no kind: there are no objects to read then.
    fn into_resource(self, group: &str, version: &str) -> Option<Resource> {
        let Self { resource, response_kind, scope, singular_resource, verbs, short_names } = self;
        let kind = response_kind.map(|response| response.kind).filter(|kind| !kind.is_empty())?;
        Some(Resource {
            group: group.to_owned(),
            version: version.to_owned(),
            singular: singular(singular_resource, &kind),
            kind,
            plural: resource,
            short_names,
            scope: if scope == "Namespaced" { Scope::Namespaced } else { Scope::Cluster },
            verbs: known(&verbs),
        })
    }
}

impl PlainGroup {
    fn into_names(self) -> (String, Vec<String>) {
        let Self { name, versions, preferred_version } = self;
        let mut versions = versions;
        // Stable: the others keep the server's order.
        versions.sort_by_key(|version| preferred_version.as_ref() != Some(version));
        (name, versions.into_iter().map(|version| version.version).collect())
    }
}

/// Old servers leave the singular empty; kubectl takes the kind then.
fn singular(given: String, kind: &str) -> String {
    if given.is_empty() { kind.to_ascii_lowercase() } else { given }
}

fn known(verbs: &[String]) -> Verbs {
    let has = |verb: &str| verbs.iter().any(|other| other == verb);
    Verbs { get: has("get"), list: has("list"), watch: has("watch") }
}
