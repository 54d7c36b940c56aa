//! Copies as commits on a branch, without a checkout and without a git binary.
//!
//! An export is one commit: the files that changed and the folders above them.
//! It is pushed with the tip that we expect; if others were faster, the same
//! change is made on top of theirs. See `docs/adr/0011-git.md`.

mod object;
mod objects;
mod pack;
mod remote;
mod error;
mod stage;
mod known;
mod branch;
pub(crate) mod destination;
pub(crate) mod settings;
pub(crate) mod message;
mod local;
pub(crate) mod look;
mod network;
mod patience;
mod http;
mod ssh;

use std::{
    collections::HashMap,
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use jiff::Timestamp;
use kollect_api::{PushPolicy, SnapshotSinkSpec};
use kollect_inventory::Effect;
use tokio::task;

use self::{
    branch::{Branch, Occasion},
    destination::{GitDestination, State},
    error::Fault,
    http::{HttpSettings, HttpWire},
    known::Known,
    local::LocalRemote,
    message::Brief,
    network::NetworkRemote,
    object::Id,
    objects::Objects,
    remote::Remote,
    settings::{GitError, GitSettings, Location},
    ssh::SshWire,
    stage::{Reader, Stage},
};
use crate::{
    credentials::Credentials,
    files::{Copies, abandoned, neighbours::Neighbours},
    guard::Guard,
    progress::Progress,
    sink::{Export, Farewell, InventoryKey, Receipt, Sink, SinkError, Wrote},
};

/// Keeps copies of inventories on a branch of a Git repository.
#[derive(Debug)]
pub struct GitSink(Arc<Shared>);

struct Shared {
    destination: Arc<GitDestination>,
    copies: Copies,
    settings: GitSettings,
    /// Used by whoever has the turn at the destination, and by a probe.
    remote: Mutex<Box<dyn Remote + Send>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitSink").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// A sink before it is opened: what is wanted, and where.
#[derive(Debug)]
pub(crate) struct Plan {
    spec: SnapshotSinkSpec,
    location: Location,
    settings: GitSettings,
}

impl Plan {
    /// Reads what a user wrote about the sink of this name.
    pub(crate) fn new(spec: SnapshotSinkSpec, sink: &str) -> Result<Self, GitError> {
        let endpoint = spec.common.endpoint.as_deref().unwrap_or_default();
        let (location, branch) = settings::location(endpoint)?;
        let settings = GitSettings::new(&spec, sink, (&location, branch))?;
        Ok(Self { spec, location, settings })
    }

    /// The path of a repository on this machine, as it was written.
    pub(crate) fn local_path(&self) -> Option<&str> {
        match &self.location {
            Location::Local(path) => Some(path),
            Location::Http(_) | Location::Ssh(_) => None,
        }
    }

    /// What tells the branch from all others.
    pub(crate) fn identity(&self, local: Option<&PathBuf>) -> String {
        settings::identity(&self.location, &self.settings.branch, local)
    }

    /// What a commit would say.
    pub(crate) fn commit_text(&self, brief: &Brief<'_>) -> String {
        self.settings.message.text(brief)
    }

    /// The sink. Nothing is dialled or written yet.
    pub(crate) fn open(
        self,
        destination: Arc<GitDestination>,
        local: Option<PathBuf>,
        (guard, credentials): (&Guard, &Credentials),
    ) -> Result<GitSink, GitError> {
        let GitSettings { branch, depth, .. } = &self.settings;
        let remote: Box<dyn Remote + Send> = match (&self.location, local) {
            (Location::Local(_), Some(path)) => Box::new(LocalRemote::new(path, branch)),
            (Location::Local(_), None) => return Err(GitError::Endpoint("names no path")),
            (Location::Http(address), _) => {
                let git = self.spec.git.as_ref();
                let trust = settings::trust(&self.spec, credentials)?;
                let wire = HttpWire::new(HttpSettings {
                    address: address.clone(),
                    login: settings::login(credentials),
                    eager: git.and_then(|git| git.force_basic_auth).unwrap_or_default(),
                    tls: Arc::new(http::tls::client(&trust)?),
                    guard: guard.clone(),
                });
                Box::new(NetworkRemote::new(Box::new(wire), branch, *depth))
            }
            (Location::Ssh(address), _) => {
                let wire = SshWire::new(settings::ssh(&self.spec, address, (guard, credentials))?);
                Box::new(NetworkRemote::new(Box::new(wire), branch, *depth))
            }
        };
        Ok(GitSink(Arc::new(Shared {
            destination,
            copies: Copies::new(self.spec),
            settings: self.settings,
            remote: Mutex::new(remote),
        })))
    }
}

impl GitSink {
    /// Runs something that waits for the repository.
    async fn blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Shared) -> Result<T, SinkError> + Send + 'static,
    ) -> Result<T, SinkError> {
        let shared = Arc::clone(&self.0);
        let done = task::spawn_blocking(move || job(&shared)).await;
        done.unwrap_or_else(|error| {
            let (action, effect) = ("finish what was begun", Effect::Unknown);
            Err(SinkError::Unreachable { action, effect, source: Arc::new(error) })
        })
    }
}

#[async_trait]
impl Sink for GitSink {
    async fn probe(&self) -> Result<String, SinkError> {
        let waiting = Waiting::default();
        let progress = waiting.0.clone();
        self.blocking(move |shared| shared.probe(&progress)).await
    }

    async fn export(&self, export: &Export) -> Result<Receipt, SinkError> {
        let export = export.clone();
        self.blocking(move |shared| shared.export(&export)).await
    }

    /// A path may become free without a change of its row.
    fn lists_refusals(&self) -> bool {
        true
    }

    async fn retire(
        &self,
        inventory: &InventoryKey,
        farewell: Farewell,
    ) -> Result<Receipt, SinkError> {
        let inventory = inventory.clone();
        self.blocking(move |shared| shared.retire(&inventory, farewell)).await
    }
}

/// Lets what runs on another thread know when nobody waits for it any more:
/// when the future that holds this is dropped.
#[derive(Debug, Default)]
struct Waiting(Progress);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// For whom something is done at the branch.
struct Visit<'a> {
    inventory: &'a InventoryKey,
    home: &'a str,
    writer: &'a str,
    progress: &'a Progress,
}

impl Shared {
    /// Takes no turn at the branch: it only reads, and whoever exports there
    /// must not wait for it.
    fn probe(&self, progress: &Progress) -> Result<String, SinkError> {
        let mut remote = self.remote.lock().unwrap_or_else(PoisonError::into_inner);
        remote.attend(progress);
        let answer = remote.probe(self.settings.probe_writes);
        answer.map_err(|fault| fault.during("read the branch", Effect::None))
    }

    fn export(&self, export: &Export) -> Result<Receipt, SinkError> {
        let layout = self.copies.layout(export)?;
        let home = self.copies.home(&export.inventory)?;
        let visit = Visit {
            inventory: &export.inventory,
            home: &home,
            writer: &export.writer,
            progress: &export.progress,
        };
        self.visit(&visit, |branch, neighbours| {
            self.copies.export(export, &layout, (branch, neighbours))
        })
    }

    fn retire(&self, inventory: &InventoryKey, farewell: Farewell) -> Result<Receipt, SinkError> {
        let home = self.copies.home(inventory)?;
        let progress = Progress::default();
        let visit = Visit { inventory, home: &home, writer: "retire", progress: &progress };
        self.visit(&visit, |branch, _| {
            let receipt = self.copies.retire(inventory, farewell, branch)?;
            if branch.stage.is_empty() {
                return Ok(receipt);
            }
            let message = self.settings.message.of_farewell(inventory, farewell);
            let seconds = Timestamp::now().as_second();
            let occasion = Occasion { message: &message, seconds };
            let removed = match receipt.wrote {
                Wrote::Files { removed, .. } => removed,
                _ => 0,
            };
            Ok(match branch.commit(&occasion)? {
                Some((id, bytes, statements)) => {
                    let wrote = Wrote::Commit { id: id.to_string(), written: 0, removed };
                    Receipt { wrote, bytes, statements, ..receipt }
                }
                None => receipt,
            })
        })
    }

    /// Looks where the branch is, and does something there.
    fn visit(
        &self,
        visit: &Visit<'_>,
        work: impl FnOnce(&mut Branch<'_>, &mut Neighbours) -> Result<Receipt, SinkError>,
    ) -> Result<Receipt, SinkError> {
        let mut state = self.destination.enter(visit.progress)?;
        let mut remote = self.remote.lock().unwrap_or_else(PoisonError::into_inner);
        if visit.progress.is_abandoned() {
            return Err(abandoned(Effect::None));
        }
        remote.attend(visit.progress);
        let State { objects, neighbours, known } = &mut *state;
        let reading = |fault: Fault| fault.during("read the branch", Effect::None);
        let (tip, root) = look(&mut **remote, known, objects).map_err(reading)?;
        let mut reader = Reader { remote: &mut **remote, objects, commit: tip };
        let home = reader.entry(root, visit.home).map_err(reading)?.map(|(_, id)| id);
        if known.homes.get(visit.home) != Some(&home) {
            // Somebody else has been in our folder, or we have not yet.
            self.copies.forget(visit.inventory);
            known.homes.insert(visit.home.to_owned(), home);
        }
        let (mut parent, mut base) = (tip, root);
        if self.settings.push == PushPolicy::ForcePush
            && let Some((commit, tree)) = known.ours
            && reader.entry(Some(tree), visit.home).map_err(reading)?.map(|(_, id)| id) == home
        {
            // What others have put on top of our commit goes.
            (parent, base) = (Some(commit), Some(tree));
        }
        let mut branch = Branch {
            reader,
            known,
            settings: &self.settings,
            progress: visit.progress,
            writer: visit.writer,
            home: visit.home,
            tip,
            parent,
            root: base,
            stage: Stage::default(),
            files: HashMap::new(),
        };
        let done = work(&mut branch, neighbours);
        let State { objects, known, .. } = &mut *state;
        objects.sweep(known.at.map(|(_, root)| root));
        done
    }
}

/// Where the branch is, and the tree that is there. What is known already is
/// not read again.
fn look(
    remote: &mut dyn Remote,
    known: &mut Known,
    objects: &mut Objects,
) -> Result<(Option<Id>, Option<Id>), Fault> {
    let Some(tip) = remote.tip()? else {
        known.at = None;
        return Ok((None, None));
    };
    let root = match known.root_of(tip) {
        Some(root) => root,
        None => remote.learn(tip, known.at.map(|(commit, _)| commit), objects)?,
    };
    known.is_at(tip, root);
    Ok((Some(tip), Some(root)))
}
