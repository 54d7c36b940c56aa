//! Watches our own objects.

use std::{collections::BTreeSet, sync::Arc};

use kollect_api::{GROUP, VERSION};
use kollect_collect::{AtLeast, Event, Listener, Offers, Pace, Question, Resource, Scope, Watch};
use kollect_inventory::Sweep;
use kollect_validate::{Kind, Object};
use kube::Client;
use serde_json::Value;
use tokio::{sync::mpsc, task::JoinSet};

use crate::{
    objects::{Name, News},
    settings::Settings,
};

/// Where each kind is watched: everywhere, or in some namespaces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sight {
    /// All, if there are none.
    pub(crate) namespaces: BTreeSet<String>,
    /// Whether kinds of the whole cluster may not be seen.
    pub(crate) is_tenant: bool,
}

impl Sight {
    /// What an operator with these settings looks at.
    pub(crate) fn of(settings: &Settings) -> Self {
        let tenant_mode = settings.policy.tenant_mode;
        match &settings.home {
            Some(home) => Self { namespaces: BTreeSet::from([home.clone()]), is_tenant: true },
            None => Self { namespaces: settings.watch_namespaces.clone(), is_tenant: tenant_mode },
        }
    }

    /// The kinds that are seen.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        let is_seen = |kind: &&Kind| kind.is_namespaced() || !self.is_tenant;
        Kind::ALL.iter().filter(is_seen).copied().collect()
    }

    /// The places that a kind is watched in; an empty one is everywhere.
    pub(crate) fn places(&self, kind: Kind) -> Vec<String> {
        if !kind.is_namespaced() || self.namespaces.is_empty() {
            return vec![String::new()];
        }
        self.namespaces.iter().cloned().collect()
    }
}

/// Opens all eyes.
pub(crate) fn open(
    tasks: &mut JoinSet<()>,
    (client, pace): (&Client, &Pace),
    sight: &Sight,
    news: &mpsc::UnboundedSender<News>,
) {
    let offers = Offers::default();
    for kind in sight.kinds() {
        for place in sight.places(kind) {
            let (client, offers, pace) = (client.clone(), offers.clone(), pace.clone());
            let news = news.clone();
            tasks.spawn(async move {
                let resource = resource(kind);
                let namespace = Some(place.as_str()).filter(|place| !place.is_empty());
                let question =
                    Question { namespace, at_least: AtLeast::Now, ..Question::all(&resource) };
                let mut eye = Eye { kind, place: place.clone(), listed: Vec::new(), news };
                let watch = Watch::new(client, question, offers, pace);
                watch.run(&mut eye, std::future::pending()).await;
            });
        }
    }
}

/// Passes on what one watch sees.
struct Eye {
    kind: Kind,
    place: String,
    listed: Vec<Arc<Object>>,
    news: mpsc::UnboundedSender<News>,
}

impl Eye {
    /// Whatever the schema admits can be decoded; what it does not admit was
    /// there before the schema, and is nobody's.
    fn decode(&self, bytes: &[u8]) -> Option<Arc<Object>> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        Object::decode(self.kind, value).ok().map(Arc::new)
    }

    fn tell(&self, news: News) {
        // Nobody listens only when the process ends.
        drop(self.news.send(news));
    }
}

impl Listener for Eye {
    fn hear(&mut self, event: Event<'_>) {
        match event {
            Event::ListBegins => self.listed.clear(),
            Event::Item(bytes) => self.listed.extend(self.decode(bytes)),
            Event::ListEnds { sweep: Sweep::Yes, .. } => {
                let objects = std::mem::take(&mut self.listed);
                self.tell(News::Listed { kind: self.kind, place: self.place.clone(), objects });
            }
            Event::Changed(bytes) => {
                if let Some(object) = self.decode(bytes) {
                    self.tell(News::Set(object));
                }
            }
            Event::Gone(bytes) => {
                if let Some(object) = self.decode(bytes) {
                    self.tell(News::Gone(self.kind, Name::of(&object)));
                }
            }
            Event::Uncovered(trouble) => {
                let (kind, namespace) = (self.kind.name(), self.place.as_str());
                let error = trouble.to_string();
                tracing::warn!(controller = "objects", kind, namespace, error, "cannot watch");
                let place = self.place.clone();
                self.tell(News::Unseen { kind: self.kind, place, why: error });
            }
            Event::Recovered => {
                let (kind, namespace) = (self.kind.name(), self.place.as_str());
                tracing::info!(controller = "objects", kind, namespace, "watched again");
            }
            Event::ListEnds { sweep: Sweep::No, .. } | Event::Bookmark(_) => {}
        }
    }
}

/// How the objects of a kind are asked for.
pub(crate) fn resource(kind: Kind) -> Resource {
    let singular = kind.name().to_lowercase();
    let plural = match singular.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{singular}s"),
    };
    let scope = if kind.is_namespaced() { Scope::Namespaced } else { Scope::Cluster };
    Resource::known((GROUP, VERSION), kind.name(), &plural, scope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_in_paths_are_those_of_the_definitions() {
        let definitions = kollect_api::crds();
        let plurals: BTreeSet<_> =
            definitions.iter().map(|crd| crd.spec.names.plural.clone()).collect();
        let ours: BTreeSet<_> = Kind::ALL.iter().map(|kind| resource(*kind).plural).collect();
        assert_eq!(ours, plurals);
    }

    #[test]
    fn who_has_a_home_sees_nothing_of_ours_elsewhere() {
        let settings = Settings { home: Some("a".to_owned()), ..Settings::default() };
        let sight = Sight::of(&settings);
        assert!(sight.kinds().iter().all(|kind| kind.is_namespaced()));
        assert_eq!(sight.places(Kind::Inventory), ["a"]);
        assert_eq!(Sight::of(&Settings::default()).places(Kind::Inventory), [""]);
    }

    #[test]
    fn a_tenant_sees_nothing_of_the_cluster() {
        let sight = Sight { namespaces: BTreeSet::from(["a".to_owned()]), is_tenant: true };
        assert!(sight.kinds().iter().all(|kind| kind.is_namespaced()));
        assert_eq!(sight.places(Kind::Target), ["a"]);
        assert_eq!(Sight::default().kinds().len(), 11);
    }
}
