//! What goes wrong, when, and for whom.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    body::Cut,
    request::{Request, Verb},
    synthetic::Dice,
};

/// Which requests a fault is for; all, until narrowed.
#[derive(Clone, Debug, Default)]
pub struct On {
    verb: Option<Verb>,
    group: Option<String>,
    resource: Option<String>,
    namespace: Option<String>,
    continued: bool,
    when: When,
}

/// Which of the requests that match, counted from when the fault was set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum When {
    #[default]
    Always,
    Nth(usize),
    First(usize),
    /// So many of a hundred.
    Share(u64),
}

impl On {
    /// Every request there is.
    pub fn any() -> Self {
        Self::default()
    }

    /// Requests for single objects of a resource, by its name in paths.
    pub fn get(resource: &str) -> Self {
        Self::any().verb(Verb::Get).resource(resource)
    }

    /// Lists of a resource, by its name in paths.
    pub fn list(resource: &str) -> Self {
        Self::any().verb(Verb::List).resource(resource)
    }

    /// Watches of a resource, by its name in paths.
    pub fn watch(resource: &str) -> Self {
        Self::any().verb(Verb::Watch).resource(resource)
    }

    #[must_use]
    pub fn verb(self, verb: Verb) -> Self {
        Self { verb: Some(verb), ..self }
    }

    /// The core group is the empty one.
    #[must_use]
    pub fn group(self, group: &str) -> Self {
        Self { group: Some(group.to_owned()), ..self }
    }

    #[must_use]
    pub fn resource(self, resource: &str) -> Self {
        Self { resource: Some(resource.to_owned()), ..self }
    }

    /// Requests in one namespace only.
    #[must_use]
    pub fn namespace(self, namespace: &str) -> Self {
        Self { namespace: Some(namespace.to_owned()), ..self }
    }

    /// Pages after the first only.
    #[must_use]
    pub fn continued(self) -> Self {
        Self { continued: true, ..self }
    }

    /// One request only; the first is number one.
    #[must_use]
    pub fn nth(self, number: usize) -> Self {
        Self { when: When::Nth(number), ..self }
    }

    /// So many requests, and none after.
    #[must_use]
    pub fn first(self, count: usize) -> Self {
        Self { when: When::First(count), ..self }
    }

    /// So many of a hundred requests, scattered, and in every run the same.
    #[must_use]
    pub fn per_cent(self, share: u64) -> Self {
        Self { when: When::Share(share), ..self }
    }

    fn matches(&self, request: &Request) -> bool {
        self.verb.is_none_or(|verb| verb == request.verb)
            && self.group.as_deref().is_none_or(|group| Some(group) == request.place.group())
            && self.resource.as_deref().is_none_or(|resource| resource == request.resource())
            && self.namespace.as_deref().is_none_or(|own| Some(own) == request.namespace())
            && (!self.continued || !request.parameter("continue").is_empty())
    }
}

/// Something that goes wrong with a request.
///
/// Where a number of events is asked for, bookmarks do not count, and with
/// none it goes wrong before anything is sent.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The answer begins late.
    Latency(Duration),
    /// The answer is this code and a fitting `Status`.
    Status(u16),
    /// 429, with `Retry-After` in seconds.
    TooManyRequests { retry_after: u64 },
    /// The connection is closed without an answer.
    Refuse,
    /// The body is cut after so many bytes.
    CutAfterBytes { bytes: usize, how: Cut },
    /// The watch is cut after so many events.
    CutAfterEvents { events: usize, how: Cut },
    /// The watch says nothing more after so many events, and does not end.
    SilenceAfterEvents(usize),
    /// The watch sends an `ERROR` after so many events, and ends.
    ErrorAfterEvents { events: usize, code: u16 },
    /// These bytes, which need not be a line, come after so many events.
    BytesAfterEvents { events: usize, bytes: Vec<u8> },
    /// After so many events the watch is cut in the middle of the next.
    HalfAnEventAfterEvents { events: usize, how: Cut },
    /// The watch begins with an `ERROR` of code 410.
    ExpireWatch,
    /// A page after the first is answered with 410 and a token for the rest.
    ExpireContinue,
    /// A watch that asks for initial events gets an `ERROR` of code 500, as
    /// servers do that cannot tell when those are complete.
    RefuseWatchList,
    /// The watch sends no bookmarks, not even that of initial events.
    WithholdBookmarks,
    /// The body comes in pieces of so many bytes, with a pause before each.
    Drip { bytes: usize, pause: Duration },
    /// The body is compressed, whatever encoding was asked for.
    Gzip,
}

/// Names a fault, to lift it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultId(pub(crate) u64);

#[derive(Debug, Default)]
pub(crate) struct Faults(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    next: u64,
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    id: FaultId,
    on: On,
    fault: Fault,
    seen: usize,
}

impl Faults {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn inject(&self, on: On, fault: Fault) -> FaultId {
        let mut table = self.lock();
        let id = FaultId(table.next);
        table.next += 1;
        table.rules.push(Rule { id, on, fault, seen: 0 });
        id
    }

    pub(crate) fn lift(&self, id: FaultId) -> bool {
        let mut table = self.lock();
        let before = table.rules.len();
        table.rules.retain(|rule| rule.id != id);
        table.rules.len() < before
    }

    pub(crate) fn lift_all(&self) {
        self.lock().rules.clear();
    }

    /// What goes wrong with this request, in the order in which it was set.
    pub(crate) fn of(&self, request: &Request) -> Vec<Fault> {
        let mut found = Vec::new();
        for rule in &mut self.lock().rules {
            if !rule.on.matches(request) {
                continue;
            }
            rule.seen += 1;
            let hit = match rule.on.when {
                When::Always => true,
                When::Nth(number) => rule.seen == number,
                When::First(count) => rule.seen <= count,
                When::Share(share) => {
                    let seed = rule.id.0.wrapping_mul(0x9E37_79B9) ^ rule.seen as u64;
                    Dice::new(seed).below(100) < share
                }
            };
            if hit {
                found.push(rule.fault.clone());
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(on: On, requests: &[&str], expected: &[bool]) {
        let faults = Faults::default();
        faults.inject(on, Fault::Refuse);
        let hits: Vec<bool> = requests
            .iter()
            .map(|url| {
                let (path, query) = url.split_once('?').unwrap_or((url, ""));
                !faults.of(&Request::new("GET", path, query)).is_empty()
            })
            .collect();
        assert_eq!(hits, expected);
    }

    #[test]
    fn a_fault_is_for_what_it_names() {
        let urls = [
            "/api/v1/pods",
            "/api/v1/pods?watch=true",
            "/api/v1/namespaces/a/pods",
            "/api/v1/namespaces/a/secrets",
            "/apis/apps/v1/deployments?continue=x",
        ];
        check(On::any(), &urls, &[true; 5]);
        check(On::list("pods"), &urls, &[true, false, true, false, false]);
        check(On::watch("pods"), &urls, &[false, true, false, false, false]);
        check(On::any().namespace("a"), &urls, &[false, false, true, true, false]);
        check(On::any().group("apps"), &urls, &[false, false, false, false, true]);
        check(On::any().continued(), &urls, &[false, false, false, false, true]);
    }

    #[test]
    fn a_share_of_requests_is_hit_and_the_same_ones_in_every_run() {
        let hits = || {
            let faults = Faults::default();
            faults.inject(On::any().per_cent(30), Fault::Refuse);
            let request = Request::new("GET", "/api/v1/pods", "");
            (0..1000).filter(|_| !faults.of(&request).is_empty()).collect::<Vec<_>>()
        };
        assert_eq!(hits(), hits());
        assert!((200..400).contains(&hits().len()), "{}", hits().len());
    }

    #[test]
    fn only_requests_that_match_are_counted() {
        let urls = ["/api/v1/pods", "/api/v1/secrets", "/api/v1/pods", "/api/v1/pods"];
        check(On::list("pods").nth(2), &urls, &[false, false, true, false]);
        check(On::list("pods").first(2), &urls, &[true, false, true, false]);
    }
}
