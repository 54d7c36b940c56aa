//! What a rule may know beside the object.

use std::{
    collections::BTreeSet,
    path::{Component, Path, PathBuf},
};

use kollect_api::{AddressPolicy, ClusterScope, Profile, Scope, SecretReference};

use crate::object::DEFAULT_NAMESPACE;

/// Everything outside an object that its rules look at.
///
/// The caller fills in what it knows; a rule that lacks what it needs stays
/// silent and is run again by the controller, which knows more.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// What the operator's administrator has set.
    pub policy: Policy,
    /// Profiles that references may lead to.
    pub profiles: Vec<Profile>,
    /// All namespaced scopes.
    pub scopes: Vec<Scope>,
    /// All cluster scopes.
    pub cluster_scopes: Vec<ClusterScope>,
    /// Secrets that are known, with whom they consent to.
    pub secrets: Vec<KnownSecret>,
}

/// A Secret, as far as a rule may know it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownSecret {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its annotation `kollect.dev/allow-sink-namespaces`.
    pub allowed: Option<String>,
}

impl KnownSecret {
    /// Whether sinks of a namespace may refer to it from outside.
    fn admits(&self, namespace: &str) -> bool {
        let mut entries = self.allowed.as_deref().unwrap_or_default().split(',').map(str::trim);
        entries.any(|entry| entry == "*" || entry == namespace)
    }
}

/// What the operator's administrator has set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Upper bound of every `maxExportBytes`.
    pub max_export_bytes: i64,
    /// Which addresses sinks may name.
    pub addresses: AddressPolicy,
    /// Whether the operator runs without cluster-wide rights.
    pub tenant_mode: bool,
    /// Where file and SQLite sinks may write.
    pub local_paths: LocalPaths,
    /// The types of sink that this build can write to.
    pub backends: BTreeSet<&'static str>,
}

/// Where file and SQLite sinks may write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalPaths {
    /// Anywhere: the command line acts for the person who runs it.
    Anywhere,
    /// For each namespace, below the directory of its name in this one.
    Below(PathBuf),
    /// Nowhere: the administrator has named no directory.
    Nowhere,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            max_export_bytes: 1_572_864,
            addresses: AddressPolicy::default(),
            tenant_mode: false,
            local_paths: LocalPaths::Anywhere,
            backends: BTreeSet::new(),
        }
    }
}

impl Surroundings {
    /// The scope in force in a namespace: the one whose name sorts first.
    pub(crate) fn scope(&self, namespace: &str) -> Option<&Scope> {
        let of_namespace =
            |scope: &&Scope| namespace_of(scope.metadata.namespace.as_ref()) == namespace;
        self.scopes.iter().filter(of_namespace).min_by_key(|scope| &scope.metadata.name)
    }

    /// The first of the other scopes of a namespace, by name.
    pub(crate) fn other_scope(&self, namespace: &str, own: &str) -> Option<&str> {
        let of_namespace =
            |scope: &&Scope| namespace_of(scope.metadata.namespace.as_ref()) == namespace;
        let names = self.scopes.iter().filter(of_namespace);
        names.filter_map(|one| one.metadata.name.as_deref()).filter(|name| *name != own).min()
    }

    /// The first of the other cluster scopes, by name.
    pub(crate) fn other_cluster_scope(&self, own: &str) -> Option<&str> {
        let names = self.cluster_scopes.iter().filter_map(|one| one.metadata.name.as_deref());
        names.filter(|name| *name != own).min()
    }

    /// The cluster scope in force.
    pub(crate) fn cluster_scope(&self) -> Option<&ClusterScope> {
        self.cluster_scopes.iter().min_by_key(|scope| &scope.metadata.name)
    }

    /// Whether a Secret is known to admit the sinks of another namespace.
    pub(crate) fn consent(&self, reference: &SecretReference, sinks_of: &str) -> bool {
        self.secrets.iter().any(|secret| {
            Some(&secret.namespace) == reference.namespace.as_ref()
                && secret.name == reference.name
                && secret.admits(sinks_of)
        })
    }

    /// A profile, if it is known.
    pub(crate) fn profile(&self, namespace: &str, name: &str) -> Option<&Profile> {
        self.profiles.iter().find(|profile| {
            namespace_of(profile.metadata.namespace.as_ref()) == namespace
                && profile.metadata.name.as_deref() == Some(name)
        })
    }
}

/// The namespace that an object without one ends up in.
fn namespace_of(namespace: Option<&String>) -> &str {
    namespace.map_or(DEFAULT_NAMESPACE, String::as_str)
}

impl LocalPaths {
    /// Why a sink of a namespace may not use a path, if so.
    pub(crate) fn refusal(&self, namespace: &str, path: &str) -> Option<String> {
        let path = Path::new(path);
        let climbs = path.components().any(|part| part == Component::ParentDir);
        match self {
            _ if climbs => Some("must not contain `..`".to_owned()),
            Self::Anywhere => None,
            Self::Nowhere => Some(
                "the operator's administrator has named no directory for local sinks \
                 (--local-sink-root)"
                    .to_owned(),
            ),
            Self::Below(root) if path.is_relative() || path.starts_with(root.join(namespace)) => {
                None
            }
            Self::Below(root) => Some(format!(
                "must be relative to {home}, or lie below it: each namespace has its own \
                 directory in the operator's --local-sink-root",
                home = root.join(namespace).display()
            )),
        }
    }
}
