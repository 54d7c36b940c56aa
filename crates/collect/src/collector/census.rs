//! Which namespaces there are, and what is known of each.
//!
//! One watch, of their metadata alone. Where that is refused, those that
//! somebody names are asked for one by one.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use kollect_extract::select::Namespace;
use kollect_inventory::Sweep;
use kube::Client;
use serde::Deserialize;
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use crate::{
    ask::{Ask, SILENCE, chain, encoded},
    list::error::ListError,
    split::SplitError,
    watch::{Event, Listener, trouble::Trouble},
};

/// Namespaces by name.
pub(crate) type Universe = BTreeMap<String, Namespace>;

/// What the watch of namespaces has told.
#[derive(Clone, Debug, Default)]
pub(super) struct Census {
    /// All of them, once a list has ended.
    pub(super) known: Option<Arc<Universe>>,
    /// Why we may not list them, if so.
    pub(super) refused: Option<String>,
    /// What else is wrong with it.
    pub(super) trouble: Option<String>,
}

/// Listens to the watch of namespaces.
pub(super) struct Clerk {
    found: Universe,
    listed: Universe,
    census: watch::Sender<Census>,
}

impl Clerk {
    pub(super) fn new(census: watch::Sender<Census>) -> Self {
        Self { found: Universe::new(), listed: Universe::new(), census }
    }

    fn publishes(&self) {
        self.census.send_modify(|census| {
            if census.known.as_deref() != Some(&self.found) {
                census.known = Some(Arc::new(self.found.clone()));
            }
        });
    }

    fn is_known(&self) -> bool {
        self.census.borrow().known.is_some()
    }
}

impl Listener for Clerk {
    fn hear(&mut self, event: Event<'_>) {
        match event {
            Event::ListBegins => self.listed.clear(),
            Event::Item(bytes) => self.listed.extend([entry(bytes)]),
            Event::ListEnds { sweep: Sweep::Yes, .. } => {
                self.found = std::mem::take(&mut self.listed);
                self.publishes();
                self.census.send_if_modified(|census| {
                    let was = (census.refused.take(), census.trouble.take());
                    was != (None, None)
                });
            }
            Event::Changed(bytes) => {
                let (name, namespace) = entry(bytes);
                self.listed.insert(name.clone(), namespace.clone());
                if self.found.insert(name, namespace.clone()) != Some(namespace) && self.is_known()
                {
                    self.publishes();
                }
            }
            Event::Gone(bytes) => {
                let (name, _) = entry(bytes);
                self.listed.remove(&name);
                if self.found.remove(&name).is_some() && self.is_known() {
                    self.publishes();
                }
            }
            Event::Uncovered(trouble) => self.census.send_modify(|census| match trouble {
                Trouble::Forbidden(text) | Trouble::Unauthorized(text) => {
                    census.refused = Some(text.clone());
                }
                other => census.trouble = Some(other.to_string()),
            }),
            Event::ListEnds { sweep: Sweep::No, .. } | Event::Bookmark(_) | Event::Recovered => {}
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Object {
    metadata: Metadata,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    name: String,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
}

/// Name of a namespace, and what is to be known of it.
pub(crate) fn entry(bytes: &[u8]) -> (String, Namespace) {
    let Object { metadata } = serde_json::from_slice(bytes).unwrap_or_default();
    let Metadata { name, labels, annotations } = metadata;
    // Others change without meaning anything to us, some of them often.
    let annotations = annotations.into_iter().filter(|(key, _)| key.starts_with("kollect.dev/"));
    (name, Namespace { labels, annotations: annotations.collect() })
}

/// What came of asking for namespaces by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Roll {
    pub(super) known: Universe,
    /// Those that are definitely not there.
    pub(super) absent: BTreeSet<String>,
    /// Those that could not be read, and why.
    pub(super) unread: BTreeMap<String, String>,
}

/// Asks for namespaces by their names, again and again. What cannot be read
/// stays as it was known last.
pub(super) async fn call_roll(
    client: Client,
    mut names: watch::Receiver<BTreeSet<String>>,
    every: Duration,
    roll: watch::Sender<Roll>,
) {
    loop {
        let wanted = names.borrow_and_update().clone();
        let mut now = Roll::default();
        for name in wanted {
            match get(&client, &name).await {
                Ok(namespace) => drop(now.known.insert(name, namespace)),
                Err(ListError::NotServed { .. }) => drop(now.absent.insert(name)),
                Err(error) => {
                    let known = roll.borrow().known.get(&name).cloned();
                    now.known.extend(known.map(|known| (name.clone(), known)));
                    now.unread.insert(name, chain(&error));
                }
            }
        }
        roll.send_if_modified(|before| std::mem::replace(before, now.clone()) != now);
        tokio::select! {
            () = sleep(every) => {}
            changed = names.changed() => if changed.is_err() { return },
        }
    }
}

async fn get(client: &Client, name: &str) -> Result<Namespace, ListError> {
    /// Labels and annotations have limits that are far below it.
    const LARGEST: usize = 4 * 1024 * 1024;
    let (uri, what) =
        (format!("/api/v1/namespaces/{}", encoded(name)), format!("namespace {name}"));
    let ask = Ask { uri: &uri, accept: "application/json", what: &what };
    let asked = timeout(SILENCE, async {
        ask.send(client).await.map_err(|refusal| refusal.error)?.gather(LARGEST).await
    });
    let bytes = asked.await.map_err(|_| ask.malformed(SplitError::Truncated))??;
    Ok(entry(&bytes).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn namespace(name: &str, label: &str) -> Vec<u8> {
        let metadata = serde_json::json!({"name": name, "labels": {"team": label},
            "annotations": {"other": label, "kollect.dev/namespace-watch": "enabled"}});
        serde_json::json!({"metadata": metadata}).to_string().into_bytes()
    }

    fn known(census: &watch::Sender<Census>) -> String {
        let census = census.borrow();
        let Some(known) = &census.known else { return "unknown".to_owned() };
        let one = |(name, about): (&String, &Namespace)| format!("{name}={}", about.labels["team"]);
        known.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn nothing_is_known_before_a_list_has_ended_and_everything_after() {
        let census = watch::Sender::default();
        let mut clerk = Clerk::new(census.clone());
        clerk.hear(Event::ListBegins);
        clerk.hear(Event::Item(&namespace("shop", "a")));
        clerk.hear(Event::Changed(&namespace("mall", "b")));
        assert_eq!(known(&census), "unknown");
        clerk.hear(Event::ListEnds { version: "1", sweep: Sweep::Yes });
        assert_eq!(known(&census), "mall=b shop=a");
        clerk.hear(Event::Gone(&namespace("mall", "b")));
        clerk.hear(Event::Changed(&namespace("shop", "c")));
        assert_eq!(known(&census), "shop=c");
        clerk.hear(Event::ListBegins);
        assert_eq!(known(&census), "shop=c", "what was known stays until the list has ended");
        clerk.hear(Event::ListEnds { version: "2", sweep: Sweep::Yes });
        assert_eq!(known(&census), "");
    }

    #[test]
    fn a_refusal_forgets_nothing_and_is_over_when_a_list_ends() {
        let census = watch::Sender::default();
        let mut clerk = Clerk::new(census.clone());
        clerk.hear(Event::ListBegins);
        clerk.hear(Event::Item(&namespace("shop", "a")));
        clerk.hear(Event::ListEnds { version: "1", sweep: Sweep::Yes });
        clerk.hear(Event::Uncovered(&Trouble::Forbidden("no".to_owned())));
        assert_eq!(
            (known(&census).as_str(), census.borrow().refused.as_deref()),
            ("shop=a", Some("no"))
        );
        clerk.hear(Event::ListBegins);
        clerk.hear(Event::Item(&namespace("shop", "a")));
        clerk.hear(Event::ListEnds { version: "2", sweep: Sweep::Yes });
        assert!(census.borrow().refused.is_none());
    }

    #[test]
    fn only_our_own_annotations_are_known() {
        let (name, about) = entry(&namespace("shop", "a"));
        assert_eq!(name, "shop");
        assert_eq!(about.annotations.keys().collect::<Vec<_>>(), ["kollect.dev/namespace-watch"]);
    }
}
