//! The eleven kinds as one type.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kollect_api::{
    ClusterInventory, ClusterScope, ClusterTarget, ConnectionTest, DatabaseSink, EventSink, GROUP,
    Inventory, Profile, Scope, SnapshotSink, Target, VERSION,
};
use serde_json::Value;

use crate::{
    names,
    report::{FieldPath, Problem, Report, Violation, quoted},
    rule::Rule,
};

/// The namespace that kubectl uses when nothing names another.
pub(crate) const DEFAULT_NAMESPACE: &str = "default";

/// Makes the two enums, and what differs by kind, from one list.
macro_rules! kinds {
    ($($variant:ident $kind:literal $scope:ident)*) => {
        /// One of the eleven kinds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $(#[doc = $kind] $variant),* }

        /// An object of one of the eleven kinds.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Object { $(#[doc = $kind] $variant(Box<$variant>)),* }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The kind as it stands in a manifest.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $kind),* }
            }

            const fn scope(self) -> Scoped {
                match self { $(Self::$variant => Scoped::$scope),* }
            }
        }

        impl Object {
            /// Reads an object whose structure has been checked.
            pub fn decode(kind: Kind, value: Value) -> Result<Self, serde_json::Error> {
                match kind {
                    $(Kind::$variant => serde_json::from_value(value).map(Self::$variant)),*
                }
            }

            /// Its kind.
            pub const fn kind(&self) -> Kind {
                match self { $(Self::$variant(_) => Kind::$variant),* }
            }

            /// Its metadata.
            pub fn meta(&self) -> &ObjectMeta {
                match self { $(Self::$variant(object) => &object.metadata),* }
            }
        }
    };
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scoped {
    Namespaced,
    Cluster,
}

kinds! {
    Profile "KollectProfile" Namespaced
    Target "KollectTarget" Namespaced
    Scope "KollectScope" Namespaced
    Inventory "KollectInventory" Namespaced
    SnapshotSink "KollectSnapshotSink" Namespaced
    DatabaseSink "KollectDatabaseSink" Namespaced
    EventSink "KollectEventSink" Namespaced
    ConnectionTest "KollectConnectionTest" Namespaced
    ClusterTarget "KollectClusterTarget" Cluster
    ClusterScope "KollectClusterScope" Cluster
    ClusterInventory "KollectClusterInventory" Cluster
}

impl Kind {
    /// Whether its objects live in namespaces.
    pub fn is_namespaced(self) -> bool {
        self.scope() == Scoped::Namespaced
    }

    /// The kind of an object by its apiVersion and kind.
    ///
    /// `None` if the object is not ours to judge; an error if it claims to be
    /// ours and is not.
    pub fn of(api_version: &str, kind: &str) -> Option<Result<Self, Violation>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let known = Self::ALL.iter().copied().find(|known| known.name() == kind);
        if group != GROUP {
            let similar = known.filter(|_| nearly(group, GROUP));
            return similar.map(|_| Err(wrong_api_version(api_version)));
        }
        match known {
            Some(_) if version != VERSION => Some(Err(wrong_api_version(api_version))),
            Some(known) => Some(Ok(known)),
            None => Some(Err(unknown_kind(kind))),
        }
    }
}

/// Whether a group was probably meant to be ours.
fn nearly(group: &str, ours: &str) -> bool {
    group.is_empty() || strsim::damerau_levenshtein(group, ours) <= 3
}

fn wrong_api_version(found: &str) -> Violation {
    Violation {
        rule: Rule::Obj01,
        path: FieldPath::of("apiVersion"),
        problem: Problem::NotSupported(quoted(found)),
        detail: format!("must be {GROUP}/{VERSION}"),
    }
}

fn unknown_kind(found: &str) -> Violation {
    let detail = match found {
        "KollectSink" => "use KollectSnapshotSink, KollectDatabaseSink or KollectEventSink".into(),
        "KollectClusterProfile" => "use a KollectProfile in a namespace of the platform".into(),
        "KollectClusterSnapshotSink" | "KollectClusterDatabaseSink" | "KollectClusterEventSink" => {
            "cluster inventories use the namespaced sinks of their sinkNamespace".into()
        }
        _ => {
            let nearest = Kind::ALL.iter().map(|kind| kind.name()).min_by_key(|name| {
                strsim::damerau_levenshtein(&name.to_lowercase(), &found.to_lowercase())
            });
            format!("there is no such kind; did you mean {}?", nearest.unwrap_or_default())
        }
    };
    Violation {
        rule: Rule::Obj01,
        path: FieldPath::of("kind"),
        problem: Problem::NotSupported(quoted(found)),
        detail,
    }
}

impl Object {
    /// Its name; empty if it has none.
    pub fn name(&self) -> &str {
        self.meta().name.as_deref().unwrap_or_default()
    }

    /// Its namespace; that of kubectl if none is given; empty for cluster kinds.
    pub fn namespace(&self) -> &str {
        if self.kind().is_namespaced() {
            self.meta().namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE)
        } else {
            ""
        }
    }
}

/// OBJ-02, OBJ-03: the object can be stored under its name.
pub(crate) fn metadata(object: &Object, report: &mut Report) {
    let meta = object.meta();
    let path = FieldPath::of("metadata.name");
    let generated = !meta.generate_name.as_deref().unwrap_or_default().is_empty();
    match meta.name.as_deref().unwrap_or_default() {
        "" if generated => {}
        "" => report.required(Rule::Obj02, path, "the name of the object"),
        name if !names::is_subdomain(name) => {
            report.invalid(Rule::Obj02, path, name, names::SUBDOMAIN);
        }
        _ => {}
    }
    let path = FieldPath::of("metadata.namespace");
    match meta.namespace.as_deref() {
        Some(_) if !object.kind().is_namespaced() => {
            let detail = format!("a {} belongs to no namespace", object.kind().name());
            report.forbidden(Rule::Obj03, path, detail);
        }
        Some(namespace) if !names::is_label(namespace) => {
            report.invalid(Rule::Obj02, path, namespace, names::LABEL);
        }
        _ => {}
    }
}
