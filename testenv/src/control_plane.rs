//! A private Kubernetes control plane.

use std::{
    error::Error,
    ffi::OsStr,
    fs::Permissions,
    io,
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tempfile::TempDir;

use crate::{
    assets::{Assets, assets},
    certificates::{Authority, CertificateError},
    history::{self, History},
    keeper::{Keeper, Processes},
    kubeconfig::{self, Credential},
    kubectl::Kubectl,
    launch::{Audit, Launch, PrepareError, free_address},
    ready::{self, WaitError},
};

const ATTEMPTS: u32 = 3;

/// A running etcd and kube-apiserver that belong to this process alone.
///
/// RBAC is on. The administrator's kubeconfig is [`Self::kubeconfig`]; others
/// are made by [`Self::user`] and [`Self::service_account`].
///
/// Both servers and their directory are gone when the value has been dropped,
/// also by a panic. When the process ends without dropping it, by returning
/// from `main`, by an interrupt or by `SIGKILL`, they are gone a moment later.
pub struct ControlPlane {
    // Fields are dropped in this order: the servers must end before their directory.
    pub(crate) keeper: Keeper,
    pub(crate) directory: TempDir,
    pub(crate) authority: Authority,
    pub(crate) counter: AtomicU32,
    kubectl: PathBuf,
    admin: PathBuf,
    address: SocketAddr,
    ready_after: Duration,
}

/// Why a control plane did not start; nothing of it is left running.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("could not make a directory for the servers")]
    Directory(#[source] io::Error),

    #[error("could not find a free port")]
    Port(#[source] io::Error),

    #[error("could not prepare the servers' files")]
    Prepare(#[source] PrepareError),

    #[error("could not put the saved data in place")]
    Data(#[source] io::Error),

    #[error("could not make the administrator's certificate")]
    Admin(#[source] CertificateError),

    #[error("could not write the administrator's kubeconfig")]
    Kubeconfig(#[source] io::Error),

    #[error("could not start the shell that keeps the servers")]
    Keeper(#[source] io::Error),

    #[error("the servers did not become ready")]
    Wait(#[source] WaitError),
}

impl ControlPlane {
    /// Starts a control plane and returns when it can be used.
    ///
    /// By then the API server is ready, the bootstrap roles and the `default`
    /// namespace exist. Takes seconds; gives up after a minute, and at once
    /// when a server ends.
    pub fn start(assets: &Assets) -> Result<Self, StartError> {
        Self::start_at(assets, (History::Empty, Audit::Off), free_address)
    }

    /// Starts a control plane that records who asks for what, for [`Self::audit`].
    pub fn start_audited(assets: &Assets) -> Result<Self, StartError> {
        Self::start_at(assets, (History::Empty, Audit::On), free_address)
    }

    /// Starts a control plane that holds whatever another one held when it was saved.
    ///
    /// `saved` is what [`Self::save`] wrote; it is copied and stays as it is.
    /// Certificates and keys are new ones.
    pub fn start_from(assets: &Assets, saved: &Path) -> Result<Self, StartError> {
        Self::start_at(assets, (History::Saved(saved), Audit::Off), free_address)
    }

    /// The control plane that the tests of one binary share, started by the first that asks.
    ///
    /// `None` means that the test is to return, as for [`assets`]. Tests keep
    /// out of each other's way by [`Self::namespace`].
    ///
    /// # Panics
    ///
    /// When the servers are required and absent, and when they do not start.
    #[track_caller]
    #[expect(clippy::panic, reason = "only tests call this, and they fail by panicking")]
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Result<ControlPlane, StartError>> = OnceLock::new();
        let assets = assets()?;
        match SHARED.get_or_init(|| Self::start(&assets)) {
            Ok(plane) => Some(plane),
            Err(error) => panic!("{}", chain(error)),
        }
    }

    /// The administrator's kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        &self.admin
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn server_url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The certificate that the API server's own is signed with.
    pub fn ca_pem(&self) -> String {
        self.authority.pem()
    }

    /// The directory that everything is in.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub fn processes(&self) -> Processes {
        self.keeper.processes()
    }

    /// How long the servers took from their start until they were ready.
    pub fn ready_after(&self) -> Duration {
        self.ready_after
    }

    /// Prepares a call of the real kubectl, as administrator unless told otherwise.
    pub fn kubectl<I>(&self, args: I) -> Kubectl
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        Kubectl::new(&self.kubectl, self.directory.path(), &self.admin).args(args)
    }

    /// Creates a namespace that no other test has, and returns its name.
    ///
    /// # Panics
    ///
    /// When the API server refuses, for instance a prefix that is no name.
    #[track_caller]
    pub fn namespace(&self, prefix: &str) -> String {
        let name = format!("{prefix}-{}", self.counter.fetch_add(1, Ordering::Relaxed));
        self.kubectl(["create", "namespace", &name]).stdout();
        name
    }

    /// Applies manifests in YAML or JSON as administrator.
    ///
    /// # Panics
    ///
    /// When the API server refuses one of them.
    #[track_caller]
    pub fn apply(&self, manifests: &str) {
        self.kubectl(["apply", "--server-side", "-f", "-"]).stdin(manifests).stdout();
    }

    /// Waits until the API server serves custom resources, named as in `widgets.example.com`.
    ///
    /// # Panics
    ///
    /// When it does not serve them within half a minute.
    #[track_caller]
    pub fn established(&self, names: &[&str]) {
        let wait = ["wait", "--for=condition=Established", "--timeout=30s", "crd"];
        self.kubectl(wait.iter().chain(names)).stdout();
    }

    /// Takes addresses until one is not taken by somebody else first.
    fn start_at(
        assets: &Assets,
        manner: (History<'_>, Audit),
        mut address: impl FnMut() -> io::Result<SocketAddr>,
    ) -> Result<Self, StartError> {
        let mut attempt = 1;
        loop {
            match Self::attempt(assets, manner, address().map_err(StartError::Port)?) {
                Err(StartError::Wait(WaitError::AddressTaken { .. })) if attempt < ATTEMPTS => {
                    attempt += 1;
                }
                outcome => return outcome,
            }
        }
    }

    fn attempt(
        assets: &Assets,
        (history, audit): (History<'_>, Audit),
        address: SocketAddr,
    ) -> Result<Self, StartError> {
        let directory = tempfile::Builder::new()
            .prefix("kollect-testenv-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()
            .map_err(StartError::Directory)?;
        let path = directory.path();
        let authority = Authority::new().map_err(StartError::Admin)?;
        let launch = Launch::prepare(assets, path, &authority, (address, audit))
            .map_err(StartError::Prepare)?;
        let identity = authority.client("admin", &["system:masters"]).map_err(StartError::Admin)?;
        let credential = Credential::Certificate(identity);
        let admin = kubeconfig::write(path, "admin", &format!("https://{address}"), credential)
            .map_err(StartError::Kubeconfig)?;

        history::put_in_place(history, path).map_err(StartError::Data)?;
        let keeper = Keeper::start(path, &launch).map_err(StartError::Keeper)?;
        let mut plane = Self {
            keeper,
            directory,
            authority,
            counter: AtomicU32::new(1),
            kubectl: assets.kubectl(),
            admin,
            address,
            ready_after: Duration::ZERO,
        };
        plane.ready_after = plane.wait_until_ready().map_err(StartError::Wait)?;
        Ok(plane)
    }

    pub(crate) fn wait_until_ready(&self) -> Result<Duration, WaitError> {
        ready::wait(&self.keeper, self.directory.path(), self.address, || self.kubectl([""; 0]))
    }
}

/// An error and its causes in one text, for the panics that end a test.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn an_address_that_somebody_took_is_given_up_for_another() {
        let Some(assets) = assets() else { return };
        let somebody = TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = somebody.local_addr().unwrap();
        let mut first = Some(taken);
        let plane = ControlPlane::start_at(&assets, (History::Empty, Audit::Off), || {
            first.take().map_or_else(free_address, Ok)
        });
        assert_ne!(plane.map_err(|error| chain(&error)).unwrap().address(), taken);
    }

    #[test]
    fn addresses_that_stay_taken_are_an_error() {
        let Some(assets) = assets() else { return };
        let somebody = TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = somebody.local_addr().unwrap();
        let outcome = ControlPlane::start_at(&assets, (History::Empty, Audit::Off), || Ok(taken));
        assert!(matches!(
            outcome.err().unwrap(),
            StartError::Wait(WaitError::AddressTaken { address }) if address == taken
        ));
    }
}
