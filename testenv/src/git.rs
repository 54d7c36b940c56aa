//! Stock Git as a server: behind https, and behind ssh.

mod bridge;
mod request;
mod sshd;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread::{self, JoinHandle},
};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tempfile::TempDir;

use self::bridge::Bridge;
pub use self::sshd::{SshServer, has_sshd};
use crate::certificates::{Authority, CertificateError};

/// Whom the server knows.
const USER: &str = "kollect";
const PASSWORD: &str = "s3cret-of-the-tests";

/// Bare repositories behind https, served by `git http-backend`.
///
/// The certificate is of an authority of its own, and whoever asks has to log
/// in. Repositories and server are gone when the value has been dropped.
pub struct GitServer {
    root: TempDir,
    address: SocketAddr,
    authority: Authority,
    state: Arc<State>,
    listener: Option<JoinHandle<()>>,
}

/// What the server is told while it runs.
pub(crate) struct State {
    protocol: Protocol,
    stops: AtomicBool,
    /// How many of the next pushes are not answered.
    silent_pushes: AtomicU32,
    /// What was asked for, without queries.
    requests: Mutex<Vec<String>>,
}

/// Which versions of Git's protocol the server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// All that there are.
    Any,
    /// The first alone, as servers do that do not pass on a client's wish.
    First,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum GitServerError {
    #[error("could not prepare the server")]
    Prepare(#[source] io::Error),
    #[error("could not make the server's certificate")]
    Certificate(#[source] CertificateError),
    #[error("could not use the server's certificate")]
    Tls(#[source] rustls::Error),
    #[error("{0}")]
    Git(String),
}

impl GitServer {
    /// Starts a server without repositories.
    pub fn start(protocol: Protocol) -> Result<Self, GitServerError> {
        let root = TempDir::with_prefix("kollect-testenv-").map_err(GitServerError::Prepare)?;
        let authority = Authority::new().map_err(GitServerError::Certificate)?;
        let tls = Arc::new(server_side(&authority)?);
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(GitServerError::Prepare)?;
        let address = listener.local_addr().map_err(GitServerError::Prepare)?;
        let state = Arc::new(State {
            protocol,
            stops: AtomicBool::new(false),
            silent_pushes: AtomicU32::new(0),
            requests: Mutex::default(),
        });
        let bridge = Bridge { root: root.path().to_owned(), state: Arc::clone(&state) };
        let listener = thread::spawn(move || listen(&listener, &tls, &bridge));
        Ok(Self { root, address, authority, state, listener: Some(listener) })
    }

    /// Makes an empty repository and answers where it is on disk.
    pub fn repository(
        &self,
        name: &str,
        settings: &[(&str, &str)],
    ) -> Result<PathBuf, GitServerError> {
        let path = self.root.path().join(name);
        let text = path.display().to_string();
        let made = git(
            self.root.path(),
            &["init", "--quiet", "--bare", "--initial-branch", "main", &text],
        );
        made.map_err(GitServerError::Git)?;
        for (key, value) in settings {
            git(&path, &["config", key, value]).map_err(GitServerError::Git)?;
        }
        Ok(path)
    }

    /// What to give to clients for a repository.
    pub fn url(&self, name: &str) -> String {
        format!("https://{}/{name}", self.address)
    }

    /// The same, from where the server sends clients on.
    pub fn moved_url(&self, name: &str) -> String {
        format!("https://{}/moved/{name}", self.address)
    }

    /// The same with name and password, for stock Git.
    pub fn url_for_git(&self, name: &str) -> String {
        format!("https://{USER}:{PASSWORD}@{}/{name}", self.address)
    }

    /// Name and password that the server takes.
    pub fn login(&self) -> (&'static str, &'static str) {
        (USER, PASSWORD)
    }

    /// The certificate of the authority, in PEM.
    pub fn authority(&self) -> String {
        self.authority.pem()
    }

    /// Does what the next pushes ask for, and hangs up without an answer.
    pub fn be_silent_about(&self, pushes: u32) {
        self.state.silent_pushes.store(pushes, Ordering::SeqCst);
    }

    /// What has been asked for since the last time.
    pub fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state.requests.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for GitServer {
    #[expect(clippy::disallowed_methods, reason = "it wakes our own listener")]
    fn drop(&mut self) {
        self.state.stops.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        if let Some(listener) = self.listener.take() {
            listener.join().ok();
        }
    }
}

impl State {
    pub(crate) fn note(&self, request: String) {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    }

    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Whether this push is one of those that are not answered.
    pub(crate) fn is_silent(&self) -> bool {
        let left = |left: u32| left.checked_sub(1);
        self.silent_pushes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left).is_ok()
    }
}

/// Runs stock Git in a directory, as nobody in particular; what it says on
/// failure otherwise.
pub fn git(directory: &Path, arguments: &[&str]) -> Result<String, String> {
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let output = command(directory).args(arguments).output();
    let output = output.map_err(|error| format!("could not run git: {error}"))?;
    if output.status.success() {
        Ok(said(&output.stdout))
    } else {
        Err(format!("git {arguments:?}: {}", said(&output.stderr)))
    }
}

/// Git without anybody's settings.
fn command(directory: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0");
    for role in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{role}_NAME"), "Somebody");
        git.env(format!("GIT_{role}_EMAIL"), "somebody@example.org");
    }
    git
}

fn server_side(authority: &Authority) -> Result<ServerConfig, GitServerError> {
    let identity = authority.server().map_err(GitServerError::Certificate)?;
    let unreadable = |error: rustls::pki_types::pem::Error| {
        GitServerError::Tls(rustls::Error::General(error.to_string()))
    };
    let certificate =
        CertificateDer::from_pem_slice(identity.certificate.as_bytes()).map_err(unreadable)?;
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).map_err(unreadable)?;
    ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![certificate], key))
        .map_err(GitServerError::Tls)
}

/// Takes connections until it is told to stop; each has a thread of its own.
fn listen(listener: &TcpListener, tls: &Arc<ServerConfig>, bridge: &Bridge) {
    for stream in listener.incoming() {
        if bridge.state.stops.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let (tls, bridge) = (Arc::clone(tls), bridge.clone());
        // It ends with its connection, and that with its client.
        thread::spawn(move || bridge.serve(stream, tls));
    }
}
