//! The Secrets that sinks name: each watched by its name, and none else (R33).
//!
//! Who may not watch one reads it again now and then, and when a sink that
//! needs it has refused us.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::Request;
use kollect_api::{SecretReference, annotation};
use kollect_collect::{
    Event, Listener, Offers, Pace, Question, Resource, Scope, Trouble as Lost, Watch,
};
use kollect_inventory::Sweep;
use kollect_sinks::{Credentials, SinkSpec};
use kube::{Client, client::Body};
use serde_json::Value;
use tokio::{
    sync::{Notify, mpsc, oneshot},
    task::JoinSet,
    time::sleep,
};

use crate::{objects::Name, plan::Trouble};

/// A Secret that may not be watched is read so often.
const OFTEN: Duration = Duration::from_mins(1);

/// What is known of a Secret.
#[derive(Clone)]
pub(crate) enum Known {
    There(Arc<Secret>),
    Absent,
    /// It may not be read, or nobody answers.
    Lost(String),
}

/// What a Secret holds. `Debug` shows the keys alone.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Secret {
    values: BTreeMap<String, String>,
    /// Namespaces whose sinks may use it too.
    allowed: String,
    version: String,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

impl Secret {
    fn parse(object: &Value) -> Self {
        let data = object.get("data").and_then(Value::as_object).into_iter().flatten();
        let text = |value: &Value| String::from_utf8(STANDARD.decode(value.as_str()?).ok()?).ok();
        let values = data.filter_map(|(key, value)| Some((key.clone(), text(value)?)));
        let annotations = object.pointer("/metadata/annotations");
        let allowed = annotations.and_then(|all| all.get(annotation::ALLOW_SINK_NAMESPACES));
        let version = object.pointer("/metadata/resourceVersion");
        let said =
            |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        Self { values: values.collect(), allowed: said(allowed), version: said(version) }
    }
}

/// News of one Secret.
pub(crate) type News = (Name, Known);

/// The Secrets that somebody wants.
pub(crate) struct Secrets {
    client: Client,
    pace: Pace,
    offers: Offers,
    news: mpsc::UnboundedSender<News>,
    tasks: JoinSet<()>,
    wanted: BTreeMap<Name, Wanted>,
    known: BTreeMap<Name, Known>,
}

/// A Secret that somebody wants; to drop this ends the watch of it.
struct Wanted {
    _watch: oneshot::Sender<()>,
    doubt: Arc<Notify>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.wanted.keys()).finish()
    }
}

impl Secrets {
    pub(crate) fn new(client: Client, pace: Pace, news: mpsc::UnboundedSender<News>) -> Self {
        Self {
            client,
            pace,
            offers: Offers::default(),
            news,
            tasks: JoinSet::new(),
            wanted: BTreeMap::new(),
            known: BTreeMap::new(),
        }
    }

    /// Watches these, and no others.
    pub(crate) fn want(&mut self, names: &BTreeSet<Name>) {
        while self.tasks.try_join_next().is_some() {}
        self.wanted.retain(|name, _| names.contains(name));
        self.known.retain(|name, _| names.contains(name));
        for name in names {
            if !self.wanted.contains_key(name) {
                let (stop, stopped) = oneshot::channel();
                let doubt = Arc::new(Notify::new());
                let wanted = Wanted { _watch: stop, doubt: Arc::clone(&doubt) };
                self.wanted.insert(name.clone(), wanted);
                let (client, pace, offers) =
                    (self.client.clone(), self.pace.clone(), self.offers.clone());
                let told = Told { name: name.clone(), news: self.news.clone(), doubt };
                self.tasks.spawn(async move {
                    tokio::select! {
                        () = follow(client, (pace, offers), told) => {}
                        _ = stopped => {}
                    }
                });
            }
        }
    }

    /// Reads those again now that nobody may watch: what they held let nobody in.
    pub(crate) fn doubt(&self, names: &BTreeSet<Name>) {
        for wanted in names.iter().filter_map(|name| self.wanted.get(name)) {
            wanted.doubt.notify_one();
        }
    }

    /// Takes in what a watch tells.
    pub(crate) fn take(&mut self, (name, known): News) {
        if self.wanted.contains_key(&name) {
            self.known.insert(name, known);
        }
    }

    /// What a sink of a namespace needs to be let in.
    pub(crate) fn credentials(
        &self,
        namespace: &str,
        spec: &SinkSpec,
    ) -> Result<Credentials, Trouble> {
        spec.credentials(|secret| {
            let found = self.find(namespace, secret.reference);
            let found = found.map_err(|trouble| Trouble {
                message: format!("spec.{}: {}", secret.field, trouble.message),
                ..trouble
            })?;
            Ok((found.values.clone(), found.version.clone()))
        })
    }

    fn find(&self, namespace: &str, reference: &SecretReference) -> Result<&Secret, Trouble> {
        let failed = |message: String| Trouble::new("SecretResolveFailed", message);
        let name = named(namespace, reference);
        let secret = match self.known.get(&name) {
            None => {
                let message = format!("Secret {name} has not been read yet");
                return Err(Trouble::new("Progressing", message));
            }
            Some(Known::Absent) => return Err(failed(format!("there is no Secret {name}"))),
            Some(Known::Lost(why)) => return Err(failed(format!("Secret {name}: {why}"))),
            Some(Known::There(secret)) => secret,
        };
        let mut allowed = secret.allowed.split(',').map(str::trim);
        if name.namespace != namespace && !allowed.any(|one| one == "*" || one == namespace) {
            let annotation = annotation::ALLOW_SINK_NAMESPACES;
            let message = format!(
                "Secret {name} is not for namespace {namespace}: its annotation {annotation} does not name it"
            );
            return Err(failed(message));
        }
        Ok(secret)
    }
}

/// The Secret that a sink of a namespace means.
pub(crate) fn named(namespace: &str, reference: &SecretReference) -> Name {
    Name::new(reference.namespace.as_deref().unwrap_or(namespace), &reference.name)
}

impl From<String> for Trouble {
    fn from(message: String) -> Self {
        Self::new("SecretResolveFailed", message)
    }
}

/// Which Secret, who wants to know of it, and when what is known is doubted.
struct Told {
    name: Name,
    news: mpsc::UnboundedSender<News>,
    doubt: Arc<Notify>,
}

/// Watches one Secret; where that is refused, reads it now and then.
async fn follow(client: Client, (pace, offers): (Pace, Offers), told: Told) {
    let Told { name, news, doubt } = told;
    let resource = Resource::known(("", "v1"), "Secret", "secrets", Scope::Namespaced);
    let selector = format!("metadata.name={}", name.name);
    let question = Question {
        namespace: Some(&name.namespace),
        field_selector: &selector,
        ..Question::all(&resource)
    };
    let (refused, mut is_refused) = mpsc::unbounded_channel();
    let mut eye = Eye { name: name.clone(), found: None, news: news.clone(), refused };
    // To list Secrets is a right that nobody has to give us.
    let watch = Watch::new(client.clone(), question, offers, pace).anew();
    let polls = async {
        if is_refused.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
        loop {
            drop(news.send((name.clone(), get(&client, &name).await)));
            tokio::select! {
                () = sleep(OFTEN) => {}
                () = doubt.notified() => {}
            }
        }
    };
    tokio::select! {
        () = watch.run(&mut eye, std::future::pending()) => {}
        () = polls => {}
    }
}

struct Eye {
    name: Name,
    found: Option<Secret>,
    news: mpsc::UnboundedSender<News>,
    refused: mpsc::UnboundedSender<()>,
}

impl Eye {
    fn tell(&self, known: Known) {
        // Nobody listens only when the process ends.
        drop(self.news.send((self.name.clone(), known)));
    }
}

impl Listener for Eye {
    fn hear(&mut self, event: Event<'_>) {
        let parse =
            |bytes: &[u8]| serde_json::from_slice(bytes).ok().map(|one| Secret::parse(&one));
        match event {
            Event::ListBegins => self.found = None,
            Event::Item(bytes) => self.found = parse(bytes),
            Event::ListEnds { sweep: Sweep::Yes, .. } => {
                let found = self.found.take();
                self.tell(found.map_or(Known::Absent, |one| Known::There(Arc::new(one))));
            }
            Event::Changed(bytes) => {
                if let Some(secret) = parse(bytes) {
                    self.tell(Known::There(Arc::new(secret)));
                }
            }
            Event::Gone(_) => self.tell(Known::Absent),
            Event::Uncovered(Lost::Forbidden(_)) => drop(self.refused.send(())),
            Event::ListEnds { sweep: Sweep::No, .. }
            | Event::Bookmark(_)
            | Event::Uncovered(_)
            | Event::Recovered => {}
        }
    }
}

/// Reads one Secret.
async fn get(client: &Client, name: &Name) -> Known {
    let uri = format!("/api/v1/namespaces/{}/secrets/{}", name.namespace, name.name);
    let lost = |error: &dyn fmt::Display| Known::Lost(error.to_string());
    let request = match Request::get(uri).body(Body::empty()) {
        Ok(request) => request,
        Err(error) => return lost(&error),
    };
    let response = match client.send(request).await {
        Ok(response) => response,
        Err(error) => return lost(&error),
    };
    let status = response.status().as_u16();
    let bytes = match response.into_body().collect_bytes().await {
        Ok(bytes) => bytes,
        Err(error) => return lost(&error),
    };
    match status {
        200 => match serde_json::from_slice::<Value>(&bytes) {
            Ok(object) => Known::There(Arc::new(Secret::parse(&object))),
            Err(error) => lost(&error),
        },
        404 => Known::Absent,
        403 => Known::Lost("we may not read it".to_owned()),
        code => Known::Lost(format!("the server answered {code}")),
    }
}
