//! Which page of a list comes next, and what a refusal makes of it.

use kollect_inventory::Sweep;

use super::{AtLeast, Content, Listed, Question, error::ListError};
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
        let Question { page, at_least, .. } = *self.question;
        let mut uri = format!("{}?limit={page}", path(self.question));
        uri.push_str(&selectors(self.question));
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

    /// Whether a page names itself as the next one, which would never end.
    pub(super) fn is_circular(&self, meta: &ListMeta) -> bool {
        !meta.next.is_empty() && self.next.as_ref() == Some(&meta.next)
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

/// What the server is to select by, as the rest of a query.
pub(crate) fn selectors(question: &Question<'_>) -> String {
    let Question { label_selector, field_selector, .. } = *question;
    let mut query = String::new();
    for (name, value) in [("labelSelector", label_selector), ("fieldSelector", field_selector)] {
        if !value.is_empty() {
            query = format!("{query}&{name}={}", encoded(value));
        }
    }
    query
}

/// What a list is of, for people.
pub(crate) fn what(question: &Question<'_>) -> String {
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

/// Where the resource is, in the scope that was asked for.
pub(crate) fn path(question: &Question<'_>) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::Resource;

    fn resource(group: &str, plural: &str, scope: Scope) -> Resource {
        Resource::known((group, "v1"), "", plural, scope)
    }

    fn page(version: &str, next: &str) -> ListMeta {
        ListMeta {
            resource_version: version.to_owned(),
            next: next.to_owned(),
            remaining_item_count: None,
        }
    }

    fn gone(continuation: Option<&str>) -> Refusal {
        let mut refusal = Refusal::from(ListError::TooOld { what: "pods".to_owned() });
        refusal.continuation = continuation.map(str::to_owned);
        refusal
    }

    fn ahead() -> Refusal {
        let (what, message) = ("pods".to_owned(), String::new());
        let mut refusal = Refusal::from(ListError::Server { what, code: 504, message });
        refusal.ahead = true;
        refusal
    }

    #[test]
    fn paths_and_texts_follow_group_scope_and_namespace() {
        let pods = resource("", "pods", Scope::Namespaced);
        let nodes = resource("", "nodes", Scope::Cluster);
        let gateways = resource("gateway.networking.k8s.io", "gateways", Scope::Namespaced);
        for (resource, namespace, expected, text) in [
            (&pods, None, "/api/v1/pods", "pods in all namespaces"),
            (&pods, Some("shop"), "/api/v1/namespaces/shop/pods", "pods in namespace shop"),
            (&nodes, None, "/api/v1/nodes", "nodes"),
            (&nodes, Some("shop"), "/api/v1/nodes", "nodes"),
            (
                &gateways,
                Some("a/b?c"),
                "/apis/gateway.networking.k8s.io/v1/namespaces/a%2Fb%3Fc/gateways",
                "gateways.gateway.networking.k8s.io in namespace a/b?c",
            ),
        ] {
            let question = Question { namespace, ..Question::all(resource) };
            assert_eq!(path(&question), expected);
            assert_eq!(what(&question), text);
        }
    }

    #[test]
    fn a_version_is_asked_for_on_the_first_page_only() {
        let pods = resource("", "pods", Scope::Namespaced);
        for (at_least, expected) in [
            (AtLeast::Now, "/api/v1/pods?limit=500"),
            (
                AtLeast::Cached,
                "/api/v1/pods?limit=500&resourceVersion=1&resourceVersionMatch=NotOlderThan",
            ),
            (
                AtLeast::Version("77"),
                "/api/v1/pods?limit=500&resourceVersion=77&resourceVersionMatch=NotOlderThan",
            ),
        ] {
            let question = Question { at_least, ..Question::all(&pods) };
            let mut course = Course::new(&question);
            assert_eq!(course.uri(), expected);
            assert_eq!(course.has_read(page("80", "to=ken+/"), 500), None);
            assert_eq!(course.uri(), "/api/v1/pods?limit=500&continue=to%3Dken%2B%2F");
            let listed = course.has_read(page("80", ""), 20).unwrap();
            assert_eq!((listed.resource_version.as_str(), listed.items), ("80", 520));
            assert_eq!(listed.sweep, Sweep::Yes);
        }
    }

    #[test]
    fn selectors_stay_on_every_page() {
        let pods = resource("", "pods", Scope::Namespaced);
        let question = Question {
            label_selector: "app in (web, shop),tier!=cache",
            field_selector: "metadata.name=a",
            page: 7,
            ..Question::all(&pods)
        };
        let mut course = Course::new(&question);
        let selectors = "labelSelector=app%20in%20%28web%2C%20shop%29%2Ctier%21%3Dcache\
                         &fieldSelector=metadata.name%3Da";
        assert_eq!(course.uri(), format!("/api/v1/pods?limit=7&{selectors}"));
        course.has_read(page("1", "t"), 7);
        assert_eq!(course.uri(), format!("/api/v1/pods?limit=7&{selectors}&continue=t"));
    }

    #[test]
    fn a_version_that_is_gone_or_ahead_is_given_up_once() {
        let pods = resource("", "pods", Scope::Namespaced);
        let question = Question { at_least: AtLeast::Version("77"), ..Question::all(&pods) };
        for refusal in [gone(None), ahead()] {
            let mut course = Course::new(&question);
            assert_eq!(course.goes_on(&refusal), Some(()));
            assert!(!course.begins_anew(), "nothing was handed out");
            assert_eq!(course.uri(), "/api/v1/pods?limit=500");
            assert_eq!(course.goes_on(&refusal), None);
        }
    }

    #[test]
    fn a_list_whose_history_is_lost_begins_anew_and_then_takes_what_it_gets() {
        let pods = resource("", "pods", Scope::Namespaced);
        let question = Question { at_least: AtLeast::Cached, ..Question::all(&pods) };
        let mut course = Course::new(&question);
        for round in ["versioned", "plain"] {
            assert_eq!(course.has_read(page("5", "t"), 500), None, "{round}");
            assert_eq!(course.goes_on(&gone(Some("rest"))), Some(()), "{round}");
            assert!(course.begins_anew(), "{round}");
            assert!(!course.begins_anew(), "told twice");
            assert_eq!(course.uri(), "/api/v1/pods?limit=500", "{round}");
        }
        assert_eq!(course.has_read(page("6", "t"), 500), None);
        assert_eq!(course.goes_on(&gone(Some("rest"))), Some(()));
        assert!(!course.begins_anew());
        assert_eq!(course.uri(), "/api/v1/pods?limit=500&continue=rest");
        let listed = course.has_read(page("9", ""), 3).unwrap();
        let Listed { resource_version, items, sweep, .. } = listed;
        assert_eq!((resource_version.as_str(), items, sweep), ("6", 503, Sweep::No));
    }

    #[test]
    fn without_a_way_to_go_on_the_list_ends() {
        let pods = resource("", "pods", Scope::Namespaced);
        let question = Question::all(&pods);
        let mut course = Course::new(&question);
        assert_eq!(course.goes_on(&gone(None)), None, "a first page has no version to lose");
        course.has_read(page("5", "t"), 1);
        assert_eq!(course.goes_on(&gone(None)), Some(()));
        course.has_read(page("6", "t"), 1);
        assert_eq!(course.goes_on(&gone(None)), None);
        assert_eq!(course.goes_on(&ahead()), None);
    }

    #[test]
    fn a_page_that_was_cut_begins_the_list_anew_only_if_it_was_the_first() {
        let pods = resource("", "pods", Scope::Namespaced);
        let question = Question::all(&pods);
        let mut course = Course::new(&question);
        course.hands_out(0);
        assert!(!course.begins_anew());
        course.hands_out(3);
        assert!(course.begins_anew());
        course.has_read(page("5", "t"), 10);
        course.hands_out(3);
        assert!(!course.begins_anew());
        assert_eq!(course.has_read(page("5", ""), 4).unwrap().items, 14);
    }
}
