//! What partitions are called.

use std::fmt;

use crate::{change::Place, json};

/// A target of either kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetKey {
    /// Its namespace; none for a cluster target, so that the two kinds never meet.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
}

impl TargetKey {
    /// What rows say of their target: its namespace and its name.
    pub(crate) fn place(&self) -> (&str, &str) {
        (self.namespace.as_deref().unwrap_or_default(), &self.name)
    }
}

/// The rows of one target in one namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionKey {
    /// The target.
    pub target: TargetKey,
    /// The namespace of the objects; empty for cluster-scoped kinds.
    pub namespace: String,
}

impl PartitionKey {
    /// What rows of the partition say as their target's namespace: for cluster
    /// targets, the namespace of the object.
    pub fn target_namespace(&self) -> &str {
        self.target.namespace.as_ref().unwrap_or(&self.namespace)
    }

    /// Where the rows of the partition say that they are.
    pub fn place(&self) -> Place<'_> {
        (self.target_namespace(), &self.target.name, &self.namespace)
    }

    /// How every row of the partition begins, up to before its name.
    pub(crate) fn row_prefix(&self) -> Box<[u8]> {
        let mut prefix = b"{\"targetNamespace\":".to_vec();
        json::write_text(self.target_namespace(), &mut prefix);
        prefix.extend_from_slice(b",\"targetName\":");
        json::write_text(&self.target.name, &mut prefix);
        prefix.extend_from_slice(b",\"namespace\":");
        json::write_text(&self.namespace, &mut prefix);
        prefix.extend_from_slice(b",\"name\":");
        prefix.into()
    }
}

impl fmt::Display for PartitionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target.namespace {
            Some(namespace) => write!(f, "{namespace}/{}", self.target.name)?,
            None => write!(f, "{}", self.target.name)?,
        }
        write!(f, " in {:?}", self.namespace)
    }
}

/// Makes a small number that stands for a thing in the store.
macro_rules! id {
    ($(#[$doc:meta] $name:ident)*) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(crate) u32);
    )*};
}

id! {
    /// A partition in the store.
    PartitionId
    /// A view in the store.
    ViewId
    /// A cursor in the store.
    CursorId
}

/// A list of a partition, numbered over the whole process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListNumber(pub(crate) u32);

/// How new a row is: the list that it belongs to, then the object's version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Freshness {
    /// The list.
    pub list: ListNumber,
    /// The object's resourceVersion.
    pub version: u64,
}
