//! One listing of what targets ask for, from a live cluster.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use kollect_extract::select::Namespace;
use kollect_inventory::{Sweep, ViewId};
use kube::Client;

use crate::{
    ask::chain,
    assignment::Assignment,
    collector::census::entry,
    discovery::{Catalogue, Lookup, Resource, Scope, fetch::DiscoveryError},
    intake::{Intake, Keeper, Tally},
    list::{Content, Heard, Question, error::ListError, list},
};

/// Up to so many namespaces are listed one by one; for more, everything is
/// listed at once and the rest is thrown away.
const ONE_BY_ONE: usize = 10;

/// A cluster that is being listed: what it serves, and its namespaces.
pub struct Survey {
    client: Client,
    catalogue: Catalogue,
    /// Or why they are not known.
    namespaces: Result<BTreeMap<String, Namespace>, String>,
    progress: Arc<Progress>,
}

/// How far a survey is.
#[derive(Debug, Default)]
pub struct Progress {
    objects: AtomicU64,
    bytes: AtomicU64,
}

impl Progress {
    /// How many objects were read, and their bytes; what was read again counts
    /// again.
    pub fn so_far(&self) -> (u64, u64) {
        (self.objects.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    fn add(&self, object: &[u8]) {
        self.objects.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(object.len() as u64, Ordering::Relaxed);
    }
}

/// What could not be listed.
#[derive(Debug, thiserror::Error)]
pub enum Unlisted {
    #[error("gvk-not-found: {0}")]
    NotServed(String),
    #[error("scope-denied: {0}")]
    Denied(String),
    #[error("{}{error}", place(namespace))]
    Failed {
        /// Empty if it is about all of them.
        namespace: String,
        error: ListError,
    },
    #[error("the target cannot be said to want any namespace, because they cannot be listed: {0}")]
    Namespaces(String),
    #[error("{}the list was not of one moment", place(.0))]
    Inconsistent(String),
}

impl Survey {
    /// Asks a cluster what it serves and which namespaces there are. Who may
    /// not list namespaces can still collect from those that targets name.
    pub async fn begin(client: Client) -> Result<Self, DiscoveryError> {
        let catalogue = Catalogue::fetch(&client).await?;
        let namespaces = namespaces(&client, &catalogue).await;
        Ok(Self { client, catalogue, namespaces, progress: Arc::default() })
    }

    /// Counts what is read where somebody looks on.
    #[must_use]
    pub fn counting(self, progress: Arc<Progress>) -> Self {
        Self { progress, ..self }
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// What is known of a namespace.
    pub fn namespace(&self, name: &str) -> Option<&Namespace> {
        self.namespaces.as_ref().ok()?.get(name)
    }

    /// Lists what an assignment wants. What cannot be listed is named, and
    /// nothing of it is said to be gone.
    pub async fn list<K: Keeper + ?Sized>(
        &self,
        assignment: &Assignment,
        keeper: &K,
        views: impl Fn(&str) -> Vec<ViewId>,
    ) -> (Tally, Vec<Unlisted>) {
        let resource = match self.served(assignment) {
            Ok(resource) => resource,
            Err(unlisted) => return (Tally::default(), vec![unlisted]),
        };
        if let (Scope::Cluster, Some(text)) = (resource.scope, assignment.is_kept_in()) {
            return (Tally::default(), vec![Unlisted::Denied(text)]);
        }
        let named = assignment.named_namespaces();
        let universe = self.namespaces.as_ref().unwrap_or(&named);
        let wanted = match (resource.scope, &self.namespaces) {
            (Scope::Cluster, _) => BTreeSet::from([String::new()]),
            (Scope::Namespaced, _) => assignment.namespaces(universe),
        };
        // A target that selects by labels may want more than we can know of,
        // and what it does not want here must not be taken for gone.
        if let (Scope::Namespaced, Err(reason)) = (resource.scope, &self.namespaces)
            && (named.is_empty() || wanted.len() < named.len())
        {
            return (Tally::default(), vec![Unlisted::Namespaces(reason.clone())]);
        }
        let selector = assignment.label_selector();
        let question = Question { label_selector: &selector, ..Question::all(resource) };
        let mut intake = Intake::begin(keeper, assignment, universe, wanted.clone(), views);
        let unlisted = self.read(&mut intake, &question, &wanted).await;
        (intake.finish(), unlisted)
    }

    fn served(&self, assignment: &Assignment) -> Result<&Resource, Unlisted> {
        let kind = assignment.kind();
        let lookup = self.catalogue.find(kind);
        match (lookup.objection(kind), lookup) {
            (None, Lookup::Served(resource)) => Ok(resource),
            (said, _) => Err(Unlisted::NotServed(said.unwrap_or_default())),
        }
    }

    /// Everywhere at once, or one namespace after the other. Who may not read
    /// everything may still read some of it.
    async fn read<K: Keeper + ?Sized>(
        &self,
        intake: &mut Intake<'_, K>,
        question: &Question<'_>,
        wanted: &BTreeSet<String>,
    ) -> Vec<Unlisted> {
        let at_once = wanted.contains("") || wanted.len() > ONE_BY_ONE;
        if at_once {
            match self.page_through(intake, question).await {
                Ok(()) => {
                    for namespace in wanted {
                        intake.end(namespace);
                    }
                    return Vec::new();
                }
                Err(Unlisted::Failed { error: ListError::Forbidden { .. }, .. })
                    if !wanted.contains("") => {}
                Err(unlisted) => {
                    for namespace in wanted {
                        intake.give_up(namespace);
                    }
                    return vec![unlisted];
                }
            }
        }
        let mut all = Vec::new();
        for namespace in wanted {
            let question = Question { namespace: Some(namespace), ..*question };
            match self.page_through(intake, &question).await {
                Ok(()) => intake.end(namespace),
                Err(unlisted) => {
                    intake.give_up(namespace);
                    all.push(unlisted);
                }
            }
        }
        all
    }

    async fn page_through<K: Keeper + ?Sized>(
        &self,
        intake: &mut Intake<'_, K>,
        question: &Question<'_>,
    ) -> Result<(), Unlisted> {
        let namespace = question.namespace.unwrap_or_default().to_owned();
        // A list of several moments may have missed something; a second try is
        // mostly quick enough.
        for _ in 0..2 {
            let listed = list(&self.client, question, |heard| match heard {
                Heard::Item(bytes) => {
                    self.progress.add(bytes);
                    intake.object(bytes);
                }
                Heard::Again => intake.again(question.namespace),
            });
            match listed.await {
                Ok(listed) if listed.sweep == Sweep::Yes => return Ok(()),
                Ok(_) => intake.again(question.namespace),
                Err(error) => return Err(Unlisted::Failed { namespace, error }),
            }
        }
        Err(Unlisted::Inconsistent(namespace))
    }
}

/// The namespaces of a cluster, with their labels and annotations.
async fn namespaces(
    client: &Client,
    catalogue: &Catalogue,
) -> Result<BTreeMap<String, Namespace>, String> {
    let kind = kollect_api::GroupVersionKind {
        group: String::new(),
        version: "v1".to_owned(),
        kind: "Namespace".to_owned(),
    };
    let mut found = BTreeMap::new();
    let Lookup::Served(resource) = catalogue.find(&kind) else {
        return Err("the cluster does not say that it serves any".to_owned());
    };
    let question = Question { content: Content::Metadata, ..Question::all(resource) };
    list(client, &question, |heard| match heard {
        Heard::Item(bytes) => {
            found.extend([entry(bytes)]);
        }
        Heard::Again => found.clear(),
    })
    .await
    .map_err(|error| chain(&error))?;
    Ok(found)
}

fn place(namespace: &str) -> String {
    match namespace {
        "" => String::new(),
        namespace => format!("namespace {namespace}: "),
    }
}
