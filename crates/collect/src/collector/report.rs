//! How collecting goes, target by target.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use kollect_extract::select::Namespace;
use kollect_inventory::TargetKey;
use tokio::time::Instant;

use super::kinds::Presence;
use crate::{rights::Answer, watch::trouble::Trouble};

/// How collecting goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of the order that it is about.
    pub order: u64,
    /// The namespaces that there are, or that may be looked at, once all of
    /// them are known.
    pub namespaces: Option<Arc<BTreeMap<String, Namespace>>>,
    pub targets: BTreeMap<TargetKey, TargetReport>,
}

/// How collecting goes for one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetReport {
    pub kind: Presence,
    /// The namespaces that it asks for.
    pub matched: BTreeSet<String>,
    /// Those that it gets; one that is empty is for kinds without namespaces.
    pub effective: BTreeSet<String>,
    /// What is not known for sure, by namespace, and why; under the empty name
    /// if it is about all of them.
    pub gaps: BTreeMap<String, Gap>,
    /// Whether it is known in which namespaces it has rows. Nothing may be
    /// taken for gone before.
    pub is_settled: bool,
}

/// Why something is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    pub reason: Reason,
    pub message: String,
    pub since: Instant,
}

/// Why something is not known, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Nobody has had the time to find out.
    Pending,
    /// The kind is not served, or nobody knows whether it is.
    NotServed,
    /// We may not read it.
    Forbidden,
    /// The server does not accept our credentials.
    Unauthorized,
    /// Whether we may read it could not be asked.
    AccessCheckFailed,
    /// It is not known which namespaces there are, or what is said of one.
    Namespaces,
    /// The server does not answer, or with nothing of use.
    Unreachable,
    /// What is read is not what somebody wants now, which cannot be understood.
    Doubted,
    /// The scope of the target does not let it have this.
    Denied,
}

impl Reason {
    /// What is said of places that were passed over.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::NotServed => "gvk-not-found",
            Self::Forbidden => "forbidden",
            Self::Unauthorized => "unauthorized",
            Self::AccessCheckFailed => "access-check-failed",
            Self::Namespaces => "namespaces-unknown",
            Self::Unreachable => "unreachable",
            Self::Doubted => "not-understood",
            Self::Denied => "scope-denied",
        }
    }
}

impl From<&Trouble> for Reason {
    fn from(trouble: &Trouble) -> Self {
        match trouble {
            Trouble::Forbidden(_) => Self::Forbidden,
            Trouble::Unauthorized(_) => Self::Unauthorized,
            Trouble::NotServed(_) => Self::NotServed,
            Trouble::Replaced | Trouble::Unreachable(_) | Trouble::Unusable(_) => Self::Unreachable,
        }
    }
}

/// A reason with its words.
pub(super) type Words = (Reason, String);

pub(super) fn refusal(answer: &Answer) -> Words {
    match answer {
        Answer::Allowed => (Reason::Pending, String::new()),
        Answer::Denied(text) => (Reason::Forbidden, text.clone()),
        Answer::Failed(text) => (Reason::AccessCheckFailed, text.clone()),
    }
}

impl TargetReport {
    /// The same report with these gaps; one that was there before is as old as
    /// it was, unless it has another reason.
    pub(super) fn with_gaps(
        mut self,
        gaps: BTreeMap<String, Words>,
        before: Option<&Self>,
        now: Instant,
    ) -> Self {
        let gap = |(namespace, (reason, message)): (String, Words)| {
            let known = before.and_then(|before| before.gaps.get(&namespace));
            let known = known.filter(|known| known.reason == reason);
            let since = known.map_or(now, |known| known.since);
            (namespace, Gap { reason, message, since })
        };
        self.gaps = gaps.into_iter().map(gap).collect();
        self
    }

    /// Whether everything that the target wants is known.
    pub fn is_covered(&self) -> bool {
        self.is_settled && self.gaps.is_empty()
    }
}
