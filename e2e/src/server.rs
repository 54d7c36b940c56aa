//! The servers that a test can run on: a real one, and the sandbox.
//!
//! A test that can run on both does: what the sandbox gets wrong would be
//! believed by every test that only it can run.

use std::{
    ffi::OsStr,
    fmt, fs,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use kollect_sandbox::Sandbox;
use kollect_testenv::{ControlPlane, Kubectl};
use tempfile::TempDir;

use crate::{cluster, install};

/// A server with our definitions and the test doubles of foreign ones, shared
/// by the tests of one binary.
pub enum Server {
    Real(&'static ControlPlane),
    Sandbox(Simulated),
}

/// A sandbox, and what leads to it.
pub struct Simulated {
    /// Whose kubectl is used.
    plane: &'static ControlPlane,
    config: PathBuf,
    counter: AtomicU32,
    // Dropped last: the others lead there.
    _directory: TempDir,
    _sandbox: Sandbox,
}

impl fmt::Debug for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Real(_) => "a real server",
            Self::Sandbox(_) => "the sandbox",
        })
    }
}

/// Both servers; none if no real ones are at hand and none are demanded.
///
/// # Panics
///
/// When a server does not start, as tests fail.
pub fn servers() -> impl Iterator<Item = &'static Server> {
    static SERVERS: OnceLock<Option<[Server; 2]>> = OnceLock::new();
    let servers = SERVERS.get_or_init(|| {
        let plane = cluster()?;
        Some([Server::Real(plane), Server::Sandbox(Simulated::start(plane))])
    });
    servers.iter().flatten()
}

impl Simulated {
    #[expect(clippy::expect_used, reason = "only tests call this, and they fail by panicking")]
    fn start(plane: &'static ControlPlane) -> Self {
        let sandbox = Sandbox::start().expect("a free port");
        let directory = tempfile::tempdir().expect("a temporary directory");
        let config = directory.path().join("kubeconfig");
        fs::write(&config, sandbox.kubeconfig()).expect("a writable directory");
        let simulated = Self {
            plane,
            config,
            counter: AtomicU32::new(0),
            _directory: directory,
            _sandbox: sandbox,
        };
        install(|arguments| simulated.kubectl(arguments).stdout());
        simulated
    }

    fn kubectl<I>(&self, arguments: I) -> Kubectl
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        self.plane.kubectl(arguments).as_config(&self.config)
    }
}

impl Server {
    /// The administrator's kubeconfig.
    pub fn kubeconfig(&self) -> &Path {
        match self {
            Self::Real(plane) => plane.kubeconfig(),
            Self::Sandbox(simulated) => &simulated.config,
        }
    }

    /// Prepares a call of the real kubectl, as administrator.
    pub fn kubectl<I>(&self, arguments: I) -> Kubectl
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        match self {
            Self::Real(plane) => plane.kubectl(arguments),
            Self::Sandbox(simulated) => simulated.kubectl(arguments),
        }
    }

    /// Creates a namespace that no other test has, and returns its name.
    #[track_caller]
    pub fn namespace(&self, prefix: &str) -> String {
        match self {
            Self::Real(plane) => plane.namespace(prefix),
            Self::Sandbox(simulated) => {
                let number = simulated.counter.fetch_add(1, Ordering::Relaxed);
                let name = format!("{prefix}-{number}");
                self.kubectl(["create", "namespace", &name]).stdout();
                name
            }
        }
    }

    /// Applies manifests in YAML or JSON as administrator.
    #[track_caller]
    pub fn apply(&self, manifests: &str) {
        self.kubectl(["apply", "--server-side", "-f", "-"]).stdin(manifests).stdout();
    }

    /// Waits until the server serves custom resources.
    #[track_caller]
    pub fn established(&self, names: &[&str]) {
        let wait = ["wait", "--for=condition=Established", "--timeout=30s", "crd"];
        self.kubectl(wait.iter().chain(names)).stdout();
    }
}
