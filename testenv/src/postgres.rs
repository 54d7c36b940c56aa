//! A private PostgreSQL server.

mod keeper;
mod programs;

use std::{
    fs::{self, Permissions},
    io,
    net::{Ipv4Addr, SocketAddr},
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use tempfile::TempDir;

use self::keeper::{Keeper, Owner};
pub use self::programs::{PostgresPrograms, postgres_programs};
use crate::{
    certificates::{Authority, CertificateError},
    control_plane::chain,
    launch::free_address,
};

/// Who owns the databases, and its password.
const ADMIN: &str = "kollect";
const PASSWORD: &str = "s3cret-of-the-tests";

/// How often a server that has just been started is asked, and how far apart.
const QUESTIONS: u32 = 1200;
const PAUSE: Duration = Duration::from_millis(25);

/// Columns and rows of an answer end with these, which no row of ours holds.
const COLUMN: char = '\u{1f}';
const ROW: char = '\u{1e}';

/// A running PostgreSQL server that belongs to this process alone.
///
/// TLS is on, with a certificate of an authority of its own; passwords are
/// checked by SCRAM. It is gone when the value has been dropped, also by a
/// panic, and a moment after the process has ended in any other way.
pub struct Postgres {
    // Fields are dropped in this order: the server must end before its directory.
    keeper: Mutex<Keeper>,
    directory: TempDir,
    programs: PostgresPrograms,
    address: SocketAddr,
    authority: Authority,
    counter: AtomicU32,
}

/// Whether an acknowledged commit survives a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// As servers are run, for what is measured.
    Synced,
    /// Enough where nobody pulls the plug, and much faster.
    Unsynced,
}

/// Why there is no server; nothing of it is left running.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    #[error("could not prepare the server's directory")]
    Directory(#[source] io::Error),

    #[error("could not make the server's certificate")]
    Certificate(#[source] CertificateError),

    #[error("could not run {program}")]
    Run { program: &'static str, source: io::Error },

    #[error("{program} failed: {output}")]
    Failed { program: &'static str, output: String },

    #[error("could not start the shell that keeps the server")]
    Keeper(#[source] io::Error),

    #[error("the server did not become ready: {answer}\nits last lines:\n{log}")]
    NotReady { answer: String, log: String },
}

impl Postgres {
    /// Starts a server and returns when it answers.
    pub fn start(
        programs: &PostgresPrograms,
        durability: Durability,
    ) -> Result<Self, PostgresError> {
        let directory = tempfile::Builder::new()
            .prefix("kollect-testenv-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()
            .map_err(PostgresError::Directory)?;
        let owner = Owner::of_servers(directory.path()).map_err(PostgresError::Directory)?;
        let authority = Authority::new().map_err(PostgresError::Certificate)?;
        let address = free_address().map_err(PostgresError::Directory)?;
        initialise(programs, directory.path(), owner)?;
        configure(directory.path(), owner, &authority)?;
        let keeper = Keeper::start(directory.path(), owner, &programs.program("postgres"))
            .map_err(PostgresError::Keeper)?;
        let counter = AtomicU32::new(1);
        let programs = programs.clone();
        let keeper = Mutex::new(keeper);
        let server = Self { keeper, directory, programs, address, authority, counter };
        server.run(durability)?;
        Ok(server)
    }

    /// The server that the tests of one binary share; it does not sync.
    ///
    /// `None` means that the test is to return, as for [`postgres_programs`].
    /// Tests keep out of each other's way by [`Self::database`].
    ///
    /// # Panics
    ///
    /// When the server is required and absent, and when it does not start.
    #[track_caller]
    #[expect(clippy::panic, reason = "only tests call this, and they fail by panicking")]
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Result<Postgres, PostgresError>> = OnceLock::new();
        let programs = postgres_programs()?;
        match SHARED.get_or_init(|| Self::start(&programs, Durability::Unsynced)) {
            Ok(server) => Some(server),
            Err(error) => panic!("{}", chain(error)),
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The certificate that the server's own is signed with.
    pub fn ca_pem(&self) -> String {
        self.authority.pem()
    }

    /// The same as a file.
    pub fn ca_path(&self) -> PathBuf {
        self.directory.path().join("ca.crt")
    }

    /// The password of every role.
    pub fn password(&self) -> &'static str {
        PASSWORD
    }

    /// The connection string of a database for its owner, without parameters.
    pub fn dsn(&self, database: &str) -> String {
        self.dsn_of(ADMIN, database)
    }

    /// The same for another role.
    pub fn dsn_of(&self, role: &str, database: &str) -> String {
        format!("postgres://{role}:{PASSWORD}@{}/{database}", self.address)
    }

    /// Creates a database that no other test has, and returns its name.
    ///
    /// # Panics
    ///
    /// When the server refuses.
    #[track_caller]
    pub fn database(&self, prefix: &str) -> String {
        let name = format!("{prefix}_{}", self.counter.fetch_add(1, Ordering::Relaxed));
        self.execute("postgres", &format!("CREATE DATABASE {name} OWNER {ADMIN}"));
        name
    }

    /// Creates a role that may log in and nothing else, and returns its name.
    ///
    /// # Panics
    ///
    /// When the server refuses.
    #[track_caller]
    pub fn role(&self, prefix: &str) -> String {
        let name = format!("{prefix}_{}", self.counter.fetch_add(1, Ordering::Relaxed));
        self.execute("postgres", &format!("CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'"));
        name
    }

    /// Runs statements as superuser, by the server's own client.
    ///
    /// # Panics
    ///
    /// When the server refuses.
    #[track_caller]
    pub fn execute(&self, database: &str, statements: &str) {
        self.query(database, statements);
    }

    /// The rows of an answer, each with its columns as text; NULL is empty.
    ///
    /// # Panics
    ///
    /// When the server refuses.
    #[track_caller]
    #[expect(clippy::panic, reason = "only tests call this, and they fail by panicking")]
    pub fn query(&self, database: &str, statement: &str) -> Vec<Vec<String>> {
        match self.ask(database, statement) {
            Ok(rows) => rows,
            Err(error) => panic!("{}", chain(&error)),
        }
    }

    /// The same, where the server may refuse.
    pub fn ask(&self, database: &str, statement: &str) -> Result<Vec<Vec<String>>, PostgresError> {
        let program = "psql";
        let output = Command::new(self.programs.program(program))
            .args(["--no-psqlrc", "--quiet", "--no-align", "--tuples-only"])
            .args(["--variable=ON_ERROR_STOP=1", "--username", ADMIN, "--dbname", database])
            .arg(format!("--field-separator={COLUMN}"))
            .arg(format!("--record-separator={ROW}"))
            .arg(format!("--port={}", self.address.port()))
            .arg("--host")
            .arg(self.directory.path())
            .args(["--command", statement])
            .env_clear()
            .output()
            .map_err(|source| PostgresError::Run { program, source })?;
        if !output.status.success() {
            let output = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(PostgresError::Failed { program, output });
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let text = text.strip_suffix(['\n', ROW]).unwrap_or(&text);
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let columns = |row: &str| row.split(COLUMN).map(str::to_owned).collect();
        Ok(text.split(ROW).map(columns).collect())
    }

    /// Ends the server as a crash would: nobody is told, nothing is written.
    pub fn crash(&self) -> Result<(), PostgresError> {
        self.keeper().crash().map_err(PostgresError::Keeper)
    }

    /// Starts it again at the same address, and returns when it answers.
    pub fn run(&self, durability: Durability) -> Result<(), PostgresError> {
        let arguments = arguments(self.directory.path(), self.address.port(), durability);
        self.keeper().run(&arguments).map_err(PostgresError::Keeper)?;
        let mut answer = String::new();
        for _ in 0..QUESTIONS {
            if !self.keeper().is_running() {
                break;
            }
            match self.ask("postgres", "SELECT 1") {
                Ok(_) => return Ok(()),
                Err(error) => answer = chain(&error),
            }
            thread::sleep(PAUSE);
        }
        let log = fs::read_to_string(self.directory.path().join("postgres.log"));
        let log = log.unwrap_or_default();
        let lines: Vec<_> = log.lines().rev().take(20).collect();
        let log = lines.into_iter().rev().collect::<Vec<_>>().join("\n");
        Err(PostgresError::NotReady { answer, log })
    }

    fn keeper(&self) -> MutexGuard<'_, Keeper> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Postgres").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Makes the data directory.
fn initialise(
    programs: &PostgresPrograms,
    directory: &Path,
    owner: Owner,
) -> Result<(), PostgresError> {
    let program = "initdb";
    let password = directory.join("password");
    put(&password, PASSWORD, owner)?;
    let mut command = Command::new(programs.program(program));
    command
        .args(["--no-sync", "--encoding=UTF8", "--locale=C", "--username", ADMIN])
        .args(["--auth-local=trust", "--auth-host=scram-sha-256"])
        .arg("--pwfile")
        .arg(&password)
        .arg("--pgdata")
        .arg(directory.join("data"))
        .current_dir(directory)
        .env_clear();
    owner.takes(&mut command);
    let output = command.output().map_err(|source| PostgresError::Run { program, source })?;
    if !output.status.success() {
        let output = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(PostgresError::Failed { program, output });
    }
    Ok(())
}

/// Writes what the server reads at its start.
fn configure(directory: &Path, owner: Owner, authority: &Authority) -> Result<(), PostgresError> {
    let identity = authority.server().map_err(PostgresError::Certificate)?;
    put(&directory.join("server.crt"), &identity.certificate, owner)?;
    put(&directory.join("server.key"), &identity.key, owner)?;
    put(&directory.join("ca.crt"), &authority.pem(), owner)?;
    fs::set_permissions(directory.join("ca.crt"), Permissions::from_mode(0o644))
        .map_err(PostgresError::Directory)
}

fn put(path: &Path, text: &str, owner: Owner) -> Result<(), PostgresError> {
    let written = fs::write(path, text)
        .and_then(|()| fs::set_permissions(path, Permissions::from_mode(0o600)))
        .and_then(|()| owner.gets(path));
    written.map_err(PostgresError::Directory)
}

/// One a line, because the shell that starts the server reads lines.
fn arguments(directory: &Path, port: u16, durability: Durability) -> Vec<String> {
    let directory = directory.display();
    let mut settings = vec![
        format!("listen_addresses={}", Ipv4Addr::LOCALHOST),
        format!("port={port}"),
        format!("unix_socket_directories={directory}"),
        "ssl=on".to_owned(),
        format!("ssl_cert_file={directory}/server.crt"),
        format!("ssl_key_file={directory}/server.key"),
        "shared_buffers=128MB".to_owned(),
        "max_connections=100".to_owned(),
        "log_min_messages=warning".to_owned(),
    ];
    if durability == Durability::Unsynced {
        settings.extend(["fsync", "full_page_writes"].map(|name| format!("{name}=off")));
    }
    let mut arguments = vec!["-D".to_owned(), format!("{directory}/data")];
    for setting in settings {
        arguments.extend(["-c".to_owned(), setting]);
    }
    arguments
}

impl Owner {
    /// The server refuses to run as root, so it runs as nobody where we are.
    fn of_servers(directory: &Path) -> io::Result<Self> {
        const NOBODY: u32 = 65_534;
        let about = fs::metadata(directory)?;
        if about.uid() != 0 {
            return Ok(Self::Us);
        }
        chown(directory, Some(NOBODY), Some(NOBODY))?;
        Ok(Self::Other(NOBODY))
    }

    fn gets(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Us => Ok(()),
            Self::Other(id) => chown(path, Some(id), Some(id)),
        }
    }
}

#[cfg(test)]
mod tests;
