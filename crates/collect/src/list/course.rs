//! Which page of a list comes next, and what a refusal makes of it.

use super::{AtLeast, Content, Listed, Question, Sweep, error::ListError};
use crate::{
    ask::{Refusal, encoded},
    discovery::Scope,
    split::ListMeta,
};

/// How far a list has come.
#[derive(Debug)]
pub(super) struct Course<'a> {
    question: &'a Question<'a>,
    round: Round,
    /// What the next page is asked for with; nothing for the first one.
    next: Option<String>,
    /// The version of the first page, which all others share.
    version: Option<String>,
    items: u64,
    pub(super) bytes: u64,
    sweep: Sweep,
    /// Whether the caller has items that do not count if the first page is
    /// asked for again.
    handed_out: bool,
}

/// How often the list has begun. Each beginning costs the server all pages
/// again, so there are few.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    /// From the cache, or not older than some version.
    Versioned,
    /// Without a version.
    Plain,
    /// Without a version, once more; its history may be lost too, and then the
    /// rest is taken as it comes.
    Last,
}

impl<'a> Course<'a> {
    pub(super) fn new(question: &'a Question<'a>) -> Self {
        let round = match question.at_least {
            AtLeast::Now => Round::Plain,
            AtLeast::Cached | AtLeast::Version(_) => Round::Versioned,
        };
        let sweep = Sweep::Yes;
        let (next, version) = (None, None);
        Self { question, round, next, version, items: 0, bytes: 0, sweep, handed_out: false }
    }

    /// Path and query of the next page.
    pub(super) fn uri(&self) -> String {
        let Question { label_selector, field_selector, page, at_least, .. } = *self.question;
        let mut uri = format!("{}?limit={page}", path(self.question));
        for (name, value) in [("labelSelector", label_selector), ("fieldSelector", field_selector)]
        {
            if !value.is_empty() {
                uri = format!("{uri}&{name}={}", encoded(value));
            }
        }
        let version = match (self.round, at_least) {
            (Round::Plain | Round::Last, _) | (Round::Versioned, AtLeast::Now) => None,
            // 0 would do the same, but makes the server ignore the limit.
            (Round::Versioned, AtLeast::Cached) => Some("1"),
            (Round::Versioned, AtLeast::Version(version)) => Some(version),
        };
        match (&self.next, version) {
            // The token stands for the version, and the server takes only one of them.
            (Some(next), _) => format!("{uri}&continue={}", encoded(next)),
            (None, Some(version)) => format!(
                "{uri}&resourceVersion={}&resourceVersionMatch=NotOlderThan",
                encoded(version)
            ),
            (None, None) => uri,
        }
    }

    /// Notes a page; returns what the list was if that was the last one.
    pub(super) fn has_read(&mut self, meta: ListMeta, items: u64) -> Option<Listed> {
        self.items += items;
        self.hands_out(items);
        let version = self.version.get_or_insert(meta.resource_version);
        if !meta.next.is_empty() {
            self.next = Some(meta.next);
            return None;
        }
        Some(Listed {
            resource_version: version.clone(),
            items: self.items,
            bytes: self.bytes,
            sweep: self.sweep,
        })
    }

    /// Notes that the caller got items, of a whole page or of a part.
    pub(super) fn hands_out(&mut self, items: u64) {
        self.handed_out |= items > 0;
    }

    /// Finds another way if a version is gone, or is not there yet.
    pub(super) fn goes_on(&mut self, refusal: &Refusal) -> Option<()> {
        let gone = matches!(refusal.error, ListError::TooOld { .. });
        match (self.round, &self.next) {
            (Round::Versioned, _) if gone || refusal.ahead => self.begin(Round::Plain),
            (Round::Plain, Some(_)) if gone => self.begin(Round::Last),
            (Round::Last, Some(_)) if gone => {
                self.next = Some(refusal.continuation.clone()?);
                self.sweep = Sweep::No;
            }
            _ => return None,
        }
        Some(())
    }

    /// Whether the next page is the first, and the caller has items already. A
    /// later page is the same when it is asked for again; the first one is of
    /// another version.
    pub(super) fn begins_anew(&mut self) -> bool {
        self.next.is_none() && std::mem::take(&mut self.handed_out)
    }

    fn begin(&mut self, round: Round) {
        (self.round, self.next, self.version, self.items) = (round, None, None, 0);
    }
}

/// What a list is of, for people.
pub(super) fn what(question: &Question<'_>) -> String {
    let name = question.resource.full_name();
    match (question.resource.scope, question.namespace) {
        (Scope::Cluster, _) => name,
        (Scope::Namespaced, Some(namespace)) => format!("{name} in namespace {namespace}"),
        (Scope::Namespaced, None) => format!("{name} in all namespaces"),
    }
}

/// The types that the server may answer with, best first.
pub(super) fn accept(content: Content) -> &'static str {
    match content {
        Content::Whole => "application/json",
        Content::Metadata => {
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
        }
    }
}

fn path(question: &Question<'_>) -> String {
    let resource = question.resource;
    let version = encoded(&resource.version);
    let root = match resource.group.as_str() {
        "" => format!("/api/{version}"),
        group => format!("/apis/{}/{version}", encoded(group)),
    };
    let plural = encoded(&resource.plural);
    match (resource.scope, question.namespace) {
        (Scope::Namespaced, Some(namespace)) => {
            format!("{root}/namespaces/{}/{plural}", encoded(namespace))
        }
        (Scope::Namespaced, None) | (Scope::Cluster, _) => format!("{root}/{plural}"),
    }
}
