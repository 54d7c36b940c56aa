//! Which kinds a server serves, and under which names.
//!
//! The answer has holes: an aggregated API whose server is down is marked as
//! stale, and a request may fail. A hole is no answer, and it hides nothing
//! beside itself.

pub(crate) mod fetch;
mod parse;
mod shape;

use kollect_api::GroupVersionKind;

/// What a server serves, as far as it could say.
#[derive(Clone, Debug)]
pub struct Catalogue {
    core: Part,
    named: Part,
}

/// The groups under one root, in the server's order; or why they are unknown.
type Part = Result<Vec<Group>, String>;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    name: String,
    /// The preferred one first.
    versions: Vec<Version>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Version {
    name: String,
    /// What is served; or why that is unknown.
    resources: Result<Vec<Resource>, String>,
}

/// A kind, and how to ask for its objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Empty for the core group.
    pub group: String,
    pub version: String,
    pub kind: String,
    /// The name in paths.
    pub plural: String,
    pub singular: String,
    pub short_names: Vec<String>,
    pub scope: Scope,
    pub verbs: Verbs,
}

impl Resource {
    /// A resource that is known without asking, and can be read.
    pub fn known((group, version): (&str, &str), kind: &str, plural: &str, scope: Scope) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            singular: kind.to_lowercase(),
            short_names: Vec::new(),
            scope,
            verbs: Verbs { get: true, list: true, watch: true },
        }
    }
}

/// Whether objects of a kind belong to namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Namespaced,
    Cluster,
}

/// How a resource can be read at all, whoever may do so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verbs {
    pub get: bool,
    pub list: bool,
    pub watch: bool,
}

/// What is known about a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup<'a> {
    Served(&'a Resource),
    /// The server vouches for the version, and there is no such kind in it.
    KindAbsent,
    /// The server has the group, in these versions only, the preferred one first.
    VersionAbsent {
        served: Vec<&'a str>,
    },
    /// The server has no such group.
    GroupAbsent,
    /// The server could not say, for this reason. It is no sign of absence.
    Unknown(&'a str),
}

impl Lookup<'_> {
    /// Why objects of the kind cannot be listed, if so.
    pub(crate) fn objection(&self, kind: &GroupVersionKind) -> Option<String> {
        match self {
            Self::Served(resource) if resource.verbs.list => None,
            Self::Served(_) => Some(format!("{kind} cannot be listed")),
            Self::KindAbsent => Some(format!("the cluster serves no {kind}")),
            Self::VersionAbsent { served } => {
                Some(format!("the cluster serves no {kind}; it has {}", served.join(", ")))
            }
            Self::GroupAbsent => Some(format!("the cluster serves no group {:?}", kind.group)),
            Self::Unknown(reason) => {
                Some(format!("whether there is {kind} is not known: {reason}"))
            }
        }
    }
}

impl Resource {
    /// The name that is unique in a server, such as `deployments.apps` or `pods`.
    pub fn full_name(&self) -> String {
        match self.group.as_str() {
            "" => self.plural.clone(),
            group => format!("{}.{group}", self.plural),
        }
    }
}

impl Catalogue {
    /// Looks a kind up; the case of letters does not matter.
    pub fn find(&self, wanted: &GroupVersionKind) -> Lookup<'_> {
        let part = if wanted.group.is_empty() { &self.core } else { &self.named };
        let groups = match part {
            Ok(groups) => groups,
            Err(reason) => return Lookup::Unknown(reason),
        };
        let is = |name: &str, wanted: &str| name.eq_ignore_ascii_case(wanted);
        let Some(group) = groups.iter().find(|group| is(&group.name, &wanted.group)) else {
            return Lookup::GroupAbsent;
        };
        let mut versions = group.versions.iter();
        let Some(version) = versions.find(|version| is(&version.name, &wanted.version)) else {
            let served = group.versions.iter().map(|version| version.name.as_str()).collect();
            return Lookup::VersionAbsent { served };
        };
        let resources = match &version.resources {
            Ok(resources) => resources,
            Err(reason) => return Lookup::Unknown(reason),
        };
        let of_kind = || resources.iter().filter(|resource| is(&resource.kind, &wanted.kind));
        // A kind may have further resources that only create it.
        of_kind()
            .find(|resource| resource.verbs.list)
            .or_else(|| of_kind().next())
            .map_or(Lookup::KindAbsent, Lookup::Served)
    }

    /// The resources that a word may mean, as kubectl understands it: plural,
    /// singular, short name or kind, alone or followed by `.group` or by
    /// `.version.group`.
    ///
    /// There is at most one for each group, of its preferred version, in the
    /// server's order of groups. Several mean that the word is ambiguous; kubectl
    /// takes the first.
    pub fn named(&self, word: &str) -> Vec<&Resource> {
        let word = word.trim().to_ascii_lowercase();
        let Some((name, group)) = word.split_once('.') else {
            return self.best(&word, None, None);
        };
        // A group may look like a version and a group, and the latter is tried first.
        let versioned = group.split_once('.').unwrap_or((group, ""));
        let found = self.best(name, Some(versioned.0), Some(versioned.1));
        if found.is_empty() { self.best(name, None, Some(group)) } else { found }
    }

    /// Everything that is surely served, in all versions.
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        let groups = self.groups();
        groups.flat_map(|group| &group.versions).flat_map(Version::known)
    }

    /// Why a part of the answer is missing, for each part.
    pub fn gaps(&self) -> impl Iterator<Item = &str> {
        let parts = [&self.core, &self.named].into_iter().filter_map(|part| part.as_ref().err());
        let versions = self.groups().flat_map(|group| &group.versions);
        let versions = versions.filter_map(|version| version.resources.as_ref().err());
        parts.chain(versions).map(String::as_str)
    }

    fn groups(&self) -> impl Iterator<Item = &Group> {
        [&self.core, &self.named].into_iter().flatten().flatten()
    }

    /// The resources of a name in the best of its meanings.
    fn best(&self, name: &str, version: Option<&str>, group: Option<&str>) -> Vec<&Resource> {
        for meaning in [is_name, is_short_name, is_kind] {
            let groups = self.groups().filter(|in_| group.is_none_or(|name| in_.name == name));
            let found = groups.filter_map(|group| {
                let versions = group.versions.iter();
                let mut versions =
                    versions.filter(|in_| version.is_none_or(|name| in_.name == name));
                versions.find_map(|version| {
                    version.known().iter().find(|resource| meaning(resource, name))
                })
            });
            let found: Vec<_> = found.collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }
}

impl Version {
    fn known(&self) -> &[Resource] {
        self.resources.as_deref().unwrap_or_default()
    }
}

fn is_name(resource: &Resource, name: &str) -> bool {
    resource.plural == name || resource.singular == name
}

fn is_short_name(resource: &Resource, name: &str) -> bool {
    resource.short_names.iter().any(|short| short == name)
}

fn is_kind(resource: &Resource, name: &str) -> bool {
    resource.kind.eq_ignore_ascii_case(name)
}

#[cfg(test)]
pub(crate) mod tests;
