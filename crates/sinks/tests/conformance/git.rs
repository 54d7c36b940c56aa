//! Commits on a branch: one file for each row, and one for all.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use async_trait::async_trait;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use kollect_inventory::{Row, envelope, sort};
use kollect_sinks::{
    InventoryKey, Sink, Unit,
    conformance::{Destination, Opening, Tampering},
};
use kollect_testenv::{GitServer, Protocol, SshServer, git, has_sshd};
use tempfile::TempDir;

use super::reach::{self, DOCUMENT, Reach, TREE};
use crate::support::conforms;

/// A repository and how it is reached.
struct Repository {
    layout: &'static str,
    path: PathBuf,
    reach: Reach,
    /// The same as somebody who may not.
    stranger: Option<Reach>,
    /// Gone with the value.
    directory: Option<TempDir>,
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repository")
            .field("path", &self.path)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

/// Counts repositories, so that each has a name of its own.
static COUNTER: AtomicU32 = AtomicU32::new(0);

impl Repository {
    fn on_disk(layout: &'static str) -> Opening {
        Box::pin(async move {
            let directory = TempDir::new().map_err(said)?;
            git(directory.path(), &["init", "--quiet", "--bare", "copy.git"])?;
            let path = directory.path().join("copy.git");
            let reach =
                Reach { endpoint: format!("file://{}", path.display()), ..Reach::default() };
            let (stranger, directory) = (None, Some(directory));
            Ok(Box::new(Self { layout, path, reach, stranger, directory }) as Box<dyn Destination>)
        })
    }

    fn over_https(
        server: &GitServer,
        layout: &'static str,
        settings: &'static [(&str, &str)],
    ) -> Opening {
        let name = format!("copy-{}.git", COUNTER.fetch_add(1, Ordering::Relaxed));
        let path = server.repository(&name, settings).map_err(said);
        let reach = https(server, &name);
        let mut stranger = reach.clone();
        stranger.secret.insert("token".to_owned(), "guessed".to_owned());
        Box::pin(async move {
            let (path, stranger, directory) = (path?, Some(stranger), None);
            Ok(Box::new(Self { layout, path, reach, stranger, directory }) as Box<dyn Destination>)
        })
    }

    fn over_ssh(server: &SshServer, layout: &'static str) -> Opening {
        let name = format!("copy-{}.git", COUNTER.fetch_add(1, Ordering::Relaxed));
        let path = server.repository(&name).map_err(said);
        let secret = [("ssh-privatekey", server.key()), ("known_hosts", server.known_hosts())];
        let secret = secret.map(|(key, value)| (key.to_owned(), value)).into();
        let reach = Reach { endpoint: server.url(&name), secret, ..Reach::default() };
        let mut stranger = reach.clone();
        stranger.secret.insert("ssh-privatekey".to_owned(), server.strange_key());
        Box::pin(async move {
            let (path, stranger, directory) = (path?, Some(stranger), None);
            Ok(Box::new(Self { layout, path, reach, stranger, directory }) as Box<dyn Destination>)
        })
    }

    fn tip(&self) -> Option<String> {
        git(&self.path, &["rev-parse", "--verify", "--quiet", "refs/heads/main"]).ok()
    }

    /// The branch as stock Git checks it out; nothing if there is none.
    fn clone(&self) -> Result<Option<TempDir>, String> {
        if self.tip().is_none() {
            return Ok(None);
        }
        let clone = TempDir::new().map_err(said)?;
        let from = format!("file://{}", self.path.display());
        git(clone.path(), &["clone", "--quiet", "--depth", "1", "--branch", "main", &from, "."])?;
        Ok(Some(clone))
    }

    /// The files that hold rows of an inventory.
    fn files(
        &self,
        clone: &Path,
        cluster: &str,
        inventory: &InventoryKey,
    ) -> Result<Vec<PathBuf>, String> {
        let home = clone.join(cluster);
        match self.layout {
            DOCUMENT => {
                let file =
                    home.join(&inventory.namespace).join(format!("{}.ndjson", inventory.name));
                Ok(if file.exists() { vec![file] } else { Vec::new() })
            }
            _ => super::file::files_below(&home.join(&inventory.name)).map_err(said),
        }
    }
}

#[async_trait]
impl Destination for Repository {
    fn unit(&self) -> Unit {
        if self.layout == DOCUMENT { Unit::Document } else { Unit::Rows }
    }

    async fn open(&self, cluster: &str) -> Result<Arc<dyn Sink>, String> {
        reach::open_git(&self.reach, cluster, self.layout)
    }

    async fn open_as_stranger(&self, cluster: &str) -> Result<Option<Arc<dyn Sink>>, String> {
        let open = |reach: &Reach| reach::open_git(reach, cluster, self.layout);
        self.stranger.as_ref().map(open).transpose()
    }

    async fn read(
        &self,
        cluster: &str,
        inventory: &InventoryKey,
    ) -> Result<Option<Vec<Row>>, String> {
        let Some(clone) = self.clone()? else { return Ok(None) };
        let mut lines = Vec::new();
        for file in self.files(clone.path(), cluster, inventory)? {
            lines.extend(fs::read_to_string(file).map_err(said)?.lines().map(str::to_owned));
        }
        let list = format!("[{}]", lines.join(","));
        let mut rows = envelope::decode(list.as_bytes()).map_err(said)?.rows;
        sort(&mut rows);
        Ok(Some(rows))
    }

    async fn tamper(
        &self,
        cluster: &str,
        inventory: &InventoryKey,
        tampering: Tampering,
    ) -> Result<(), String> {
        let clone = self.clone()?.ok_or("there is no branch")?;
        let files = self.files(clone.path(), cluster, inventory)?;
        let file = files.first().ok_or("there is no file")?;
        match tampering {
            Tampering::Delete => fs::remove_file(file).map_err(said)?,
            Tampering::Edit => {
                let text = fs::read_to_string(file).map_err(said)?;
                fs::write(file, text.replace("\"1\"", "\"x\"")).map_err(said)?;
            }
        }
        git(clone.path(), &["commit", "--quiet", "--all", "--message", "by hand"])?;
        git(clone.path(), &["push", "--quiet", "origin", "HEAD:main"])?;
        Ok(())
    }

    async fn fingerprint(&self) -> Result<String, String> {
        let packs = super::file::files_below(&self.path.join("objects")).map_err(said)?;
        Ok(format!("{:?} {packs:?}", self.tip()))
    }

    fn keeps_copies(&self) -> bool {
        true
    }
}

/// How a repository of a server is reached by those who may.
pub(crate) fn https(server: &GitServer, name: &str) -> Reach {
    let (user, password) = server.login();
    let secret = [("username", user), ("token", password)];
    let secret = secret.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let tls = serde_json::json!({"caBundle": BASE64_STANDARD.encode(server.authority())});
    let more = serde_json::Map::from_iter([("tls".to_owned(), tls)]);
    Reach { endpoint: server.url(name), secret: secret.into(), more }
}

fn said(error: impl fmt::Display) -> String {
    error.to_string()
}

/// Files are left out of what such a server sends.
const FILTERS: &[(&str, &str)] = &[("uploadpack.allowFilter", "true")];

#[tokio::test]
async fn a_tree_in_a_repository_on_disk_conforms() {
    conforms(&|| Repository::on_disk(TREE)).await;
}

#[tokio::test]
async fn a_document_in_a_repository_on_disk_conforms() {
    conforms(&|| Repository::on_disk(DOCUMENT)).await;
}

#[tokio::test]
async fn a_tree_behind_https_conforms() {
    let server = GitServer::start(Protocol::Any).unwrap();
    conforms(&|| Repository::over_https(&server, TREE, FILTERS)).await;
}

#[tokio::test]
async fn a_document_behind_https_without_filters_conforms() {
    let server = GitServer::start(Protocol::Any).unwrap();
    conforms(&|| Repository::over_https(&server, DOCUMENT, &[])).await;
}

#[tokio::test]
async fn a_tree_behind_an_old_server_conforms() {
    let server = GitServer::start(Protocol::First).unwrap();
    conforms(&|| Repository::over_https(&server, TREE, &[])).await;
}

#[tokio::test]
async fn a_tree_behind_ssh_conforms() {
    if !has_sshd() {
        return;
    }
    let server = SshServer::start(Protocol::Any).unwrap();
    conforms(&|| Repository::over_ssh(&server, TREE)).await;
}

/// As sshd is without settings: it does not let the client's wish through.
#[tokio::test]
async fn a_document_behind_an_ssh_server_of_the_first_version_conforms() {
    if !has_sshd() {
        return;
    }
    let server = SshServer::start(Protocol::First).unwrap();
    conforms(&|| Repository::over_ssh(&server, DOCUMENT)).await;
}
