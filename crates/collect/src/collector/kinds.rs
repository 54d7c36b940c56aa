//! Which of the kinds that targets name are served.

use std::{collections::BTreeMap, time::Duration};

use kollect_api::GroupVersionKind;
use tokio::time::Instant;

use crate::discovery::{Catalogue, Lookup, Resource};

/// What is known of the kinds that targets name.
#[derive(Debug)]
pub(super) struct Kinds {
    /// The newest answer, or why there is none; nothing before it was asked.
    catalogue: Option<Result<Catalogue, String>>,
    known: BTreeMap<String, Known>,
    /// A kind is definitely not served when two answers this far apart say so.
    definite_after: Duration,
}

/// What answers so far said of one kind.
#[derive(Debug, Default)]
struct Known {
    /// As it was served last.
    resource: Option<Resource>,
    /// The first and the last answer of those in a row that it is not served.
    absent: Option<(Instant, Instant)>,
}

/// What is known of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Nobody has had an answer yet.
    Unasked,
    Served(Resource),
    /// It is not served. For sure if the server has said so for long enough.
    Absent {
        reason: String,
        is_definite: bool,
    },
    /// The server could not say.
    Unknown(String),
}

impl Kinds {
    pub(super) fn new(definite_after: Duration) -> Self {
        Self { catalogue: None, known: BTreeMap::new(), definite_after }
    }

    /// Takes an answer about the kinds that matter.
    pub(super) fn learn<'k>(
        &mut self,
        answer: Result<Catalogue, String>,
        wanted: impl Iterator<Item = &'k GroupVersionKind>,
        now: Instant,
    ) {
        let mut known = BTreeMap::new();
        for kind in wanted {
            let mut of_kind = self.known.remove(&kind.to_string()).unwrap_or_default();
            match answer.as_ref().map(|catalogue| catalogue.find(kind)) {
                Err(_) | Ok(Lookup::Unknown(_)) => {}
                Ok(Lookup::Served(resource)) => {
                    let resource = Some(resource.clone()).filter(|one| one.verbs.watch);
                    of_kind = Known { resource, absent: None };
                }
                Ok(_) => {
                    let first = of_kind.absent.map_or(now, |(first, _)| first);
                    of_kind.absent = Some((first, now));
                }
            }
            known.insert(kind.to_string(), of_kind);
        }
        self.known = known;
        // A failure to ask takes nothing of what was answered before.
        if answer.is_ok() || !matches!(self.catalogue, Some(Ok(_))) {
            self.catalogue = Some(answer);
        }
    }

    /// What is known of a kind.
    pub(super) fn find(&self, kind: &GroupVersionKind) -> Presence {
        let known = self.known.get(&kind.to_string());
        let catalogue = match &self.catalogue {
            None => return Presence::Unasked,
            Some(Ok(catalogue)) => catalogue,
            Some(Err(reason)) => return Presence::Unknown(reason.clone()),
        };
        let lookup = catalogue.find(kind);
        let Some(reason) = lookup.objection(kind) else {
            return match lookup {
                Lookup::Served(resource) if resource.verbs.watch => {
                    Presence::Served(resource.clone())
                }
                // Rows that nobody keeps up to date would look like those that somebody does.
                _ => Presence::Unknown(format!("{kind} can be listed, but not watched")),
            };
        };
        match (lookup, known.and_then(|known| known.resource.as_ref())) {
            (Lookup::Unknown(_), Some(resource)) => Presence::Served(resource.clone()),
            (Lookup::Unknown(_), None) => Presence::Unknown(reason),
            _ => {
                let apart = known.and_then(|known| known.absent);
                let is_definite = apart
                    .is_some_and(|(first, last)| last.duration_since(first) >= self.definite_after);
                Presence::Absent { reason, is_definite }
            }
        }
    }

    /// Whether a kind was not looked up by the newest answer.
    pub(super) fn is_new(&self, kind: &GroupVersionKind) -> bool {
        !self.known.contains_key(&kind.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::tests::recorded;

    fn core(kind: &str) -> GroupVersionKind {
        let [group, version, kind] = ["", "v1", kind].map(str::to_owned);
        GroupVersionKind { group, version, kind }
    }

    #[tokio::test(start_paused = true)]
    async fn a_kind_that_cannot_be_watched_is_not_said_to_be_served_or_absent() {
        let wanted = [core("Pod"), core("ComponentStatus"), core("Gadget")];
        let mut kinds = Kinds::new(Duration::ZERO);
        kinds.learn(Ok(recorded()), wanted.iter(), Instant::now());
        let [pod, status, gadget] = wanted.each_ref().map(|kind| kinds.find(kind));
        assert!(matches!(pod, Presence::Served(_)), "{pod:?}");
        let says = "v1 ComponentStatus can be listed, but not watched";
        assert_eq!(status, Presence::Unknown(says.to_owned()));
        assert!(matches!(gadget, Presence::Absent { is_definite: true, .. }), "{gadget:?}");
    }
}
