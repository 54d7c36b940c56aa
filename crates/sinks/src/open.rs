//! From what users write to a sink: the only `match` on the kind of sink.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use kollect_api::{
    AddressPolicy, DatabaseSinkSpec, DatabaseType, EventSinkSpec, EventType, ExportInterval,
    IntervalError, LayoutMode, SinkCommon, SnapshotSinkSpec, SnapshotType,
};

#[cfg(feature = "git")]
use crate::git::{self, destination::GitDestination, settings::GitError};
#[cfg(feature = "postgres")]
use crate::postgres::{
    PostgresSink,
    destination::PostgresDestination,
    settings::{PostgresSettings, PostgresSettingsError, is_insecure},
};
#[cfg(feature = "sqlite")]
use crate::sqlite::{SqliteSink, destination::SqliteDestination};
use crate::{
    credentials::Credentials,
    deliver::state::SinkKey,
    deliver::{pair::Unit, state::Family},
    file::{FileSink, destination::FileDestination},
    guard::{Guard, SystemResolver},
    layout::{Layout, LayoutError, path::PathError},
    local::{LocalPathError, LocalPaths},
    schema::Schema,
    sink::Sink,
};

/// The types of sink that this build can write to.
pub const BACKENDS: &[&str] = &[
    "file",
    #[cfg(feature = "git")]
    "git",
    #[cfg(feature = "postgres")]
    "postgres",
    #[cfg(feature = "sqlite")]
    "sqlite",
];

const DEADLINE: Duration = Duration::from_mins(2);

/// What a user wrote about a sink, of whatever family.
#[derive(Clone, Debug)]
pub enum SinkSpec {
    Snapshot(Box<SnapshotSinkSpec>),
    Database(Box<DatabaseSinkSpec>),
    Event(Box<EventSinkSpec>),
}

/// How a sink wants to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    pub unit: Unit,
    /// Least time between two exports (R18).
    pub min_gap: Duration,
    /// An export that shows no progress for so long is given up (R17).
    pub deadline: Duration,
}

/// Why a sink cannot be opened. Only another manifest, another build or
/// another operator flag helps.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("spec.type: {backend} is not in this build, which has {present}", present = BACKENDS.join(", "))]
    NotInThisBuild { backend: &'static str },
    #[error("spec.{0}: the block is missing")]
    Missing(&'static str),
    #[error("spec.{field}")]
    Path { field: &'static str, source: LocalPathError },
    #[error("spec.layout")]
    Layout(#[from] LayoutError),
    #[cfg(feature = "git")]
    #[error("spec.{0}")]
    Git(#[from] GitError),
    #[cfg(feature = "postgres")]
    #[error(transparent)]
    Postgres(#[from] PostgresSettingsError),
    /// A file has no place where the templates put it.
    #[error("spec.pathTemplate or spec.layout")]
    Place(#[from] PathError),
    #[error("spec.options.{name}")]
    Option { name: &'static str, source: IntervalError },
}

impl OpenError {
    /// Whether it is what a Secret holds that cannot be used.
    pub fn blames_a_secret(&self) -> bool {
        match self {
            #[cfg(feature = "git")]
            Self::Git(error) => matches!(error, GitError::Secret { .. } | GitError::Tls(_)),
            #[cfg(feature = "postgres")]
            Self::Postgres(error) => matches!(
                error,
                PostgresSettingsError::NoDsn
                    | PostgresSettingsError::Dsn(_)
                    | PostgresSettingsError::Roots(_)
                    | PostgresSettingsError::Tls(_)
            ),
            Self::NotInThisBuild { .. }
            | Self::Missing(_)
            | Self::Path { .. }
            | Self::Layout(_)
            | Self::Place(_)
            | Self::Option { .. } => false,
        }
    }
}

/// Opens sinks. Those that write to the same place share it, and take turns.
#[derive(Debug)]
pub struct Opener {
    local: LocalPaths,
    guard: Guard,
    directories: Shared<PathBuf, FileDestination>,
    #[cfg(feature = "git")]
    branches: Shared<String, GitDestination>,
    #[cfg(feature = "postgres")]
    tables: Mutex<Vec<Weak<PostgresDestination>>>,
    #[cfg(feature = "sqlite")]
    databases: Shared<PathBuf, SqliteDestination>,
}

impl Opener {
    /// Dials public addresses only.
    pub fn new(local: LocalPaths) -> Self {
        Self {
            local,
            guard: Guard::new(AddressPolicy::default(), SystemResolver),
            directories: Shared::default(),
            #[cfg(feature = "git")]
            branches: Shared::default(),
            #[cfg(feature = "postgres")]
            tables: Mutex::default(),
            #[cfg(feature = "sqlite")]
            databases: Shared::default(),
        }
    }

    /// The same, and another guard judges the addresses.
    #[must_use]
    pub fn with_guard(self, guard: Guard) -> Self {
        Self { guard, ..self }
    }

    /// The sink that the object of this name describes. Nothing is dialled or
    /// written yet.
    pub fn open(
        &self,
        sink: &SinkKey,
        spec: &SinkSpec,
        credentials: &Credentials,
    ) -> Result<Arc<dyn Sink>, OpenError> {
        let namespace = sink.namespace.as_str();
        match spec {
            SinkSpec::Snapshot(spec) if spec.sink_type == SnapshotType::File => {
                let block = spec.file.as_ref().ok_or(OpenError::Missing("file"))?;
                let path = self.local_path("file.path", namespace, &block.path)?;
                let destination = self.directories.at(path, FileDestination::new);
                Ok(Arc::new(FileSink::new(destination, (**spec).clone())))
            }
            #[cfg(feature = "git")]
            SinkSpec::Snapshot(spec) if spec.sink_type == SnapshotType::Git => {
                let plan = git::Plan::new((**spec).clone(), &sink.name)?;
                let local = plan.local_path();
                let local = local.map(|path| self.local_path("endpoint", namespace, path));
                let local = local.transpose()?;
                let identity = plan.identity(local.as_ref());
                let destination = self.branches.at(identity, |_| GitDestination::new());
                Ok(Arc::new(plan.open(destination, local, (&self.guard, credentials))?))
            }
            #[cfg(feature = "postgres")]
            SinkSpec::Database(spec) if spec.sink_type == DatabaseType::Postgres => {
                let resolve = |path: &str| self.local.resolve(namespace, path);
                let settings = PostgresSettings::new(spec, credentials, resolve)?;
                let cluster = spec.common.cluster.as_deref().unwrap_or_default();
                Ok(Arc::new(PostgresSink::new(self.table(settings), cluster)))
            }
            #[cfg(feature = "sqlite")]
            SinkSpec::Database(spec) if spec.sink_type == DatabaseType::Sqlite => {
                let block = spec.sqlite.as_ref().ok_or(OpenError::Missing("sqlite"))?;
                let path = self.local_path("sqlite.path", namespace, &block.path)?;
                // A directory elsewhere may be a volume that is not mounted yet.
                let is_ours = Path::new(&block.path).is_relative();
                let destination = self.databases.at(path, |path| {
                    let destination = SqliteDestination::new(path);
                    if is_ours { destination.with_directory() } else { destination }
                });
                let cluster = spec.common.cluster.as_deref().unwrap_or_default();
                Ok(Arc::new(SqliteSink::new(destination, cluster)))
            }
            other => Err(OpenError::NotInThisBuild { backend: other.backend() }),
        }
    }

    /// The table; those who write to it in the same way share its connections.
    #[cfg(feature = "postgres")]
    fn table(&self, settings: PostgresSettings) -> Arc<PostgresDestination> {
        let mut all = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.strong_count() > 0);
        let is_it = |one: &Arc<PostgresDestination>| one.has(&settings);
        if let Some(one) = all.iter().filter_map(Weak::upgrade).find(is_it) {
            return one;
        }
        let one = Arc::new(PostgresDestination::new(settings, self.guard.clone()));
        all.push(Arc::downgrade(&one));
        one
    }

    fn local_path(
        &self,
        field: &'static str,
        namespace: &str,
        path: &str,
    ) -> Result<PathBuf, OpenError> {
        let resolved = self.local.resolve(namespace, path);
        resolved.map_err(|source| OpenError::Path { field, source })
    }
}

impl SinkSpec {
    pub fn family(&self) -> Family {
        match self {
            Self::Snapshot(_) => Family::Snapshot,
            Self::Database(_) => Family::Database,
            Self::Event(_) => Family::Event,
        }
    }

    /// What `spec.type` says.
    pub fn backend(&self) -> &'static str {
        match self {
            Self::Snapshot(spec) => match spec.sink_type {
                SnapshotType::Git => "git",
                SnapshotType::Gitlab => "gitlab",
                SnapshotType::S3 => "s3",
                SnapshotType::Gcs => "gcs",
                SnapshotType::File => "file",
            },
            Self::Database(spec) => match spec.sink_type {
                DatabaseType::Postgres => "postgres",
                DatabaseType::Bigquery => "bigquery",
                DatabaseType::Mongodb => "mongodb",
                DatabaseType::Sqlite => "sqlite",
            },
            Self::Event(spec) => match spec.sink_type {
                EventType::Nats => "nats",
                EventType::Kafka => "kafka",
            },
        }
    }

    pub fn common(&self) -> &SinkCommon {
        match self {
            Self::Snapshot(spec) => &spec.common,
            Self::Database(spec) => &spec.common,
            Self::Event(spec) => &spec.common,
        }
    }

    pub fn common_mut(&mut self) -> &mut SinkCommon {
        match self {
            Self::Snapshot(spec) => &mut spec.common,
            Self::Database(spec) => &mut spec.common,
            Self::Event(spec) => &mut spec.common,
        }
    }

    /// Whether somebody else could answer in the destination's place.
    pub fn is_insecure(&self, credentials: &Credentials) -> bool {
        let skips = self.common().tls.as_ref().and_then(|tls| tls.insecure_skip_verify);
        match self {
            _ if skips == Some(true) => true,
            #[cfg(feature = "postgres")]
            Self::Database(spec) if spec.sink_type == DatabaseType::Postgres => {
                is_insecure(spec, credentials)
            }
            _ => false,
        }
    }

    /// How the sink wants to be written, for rows that look like this.
    pub fn manner(&self, schema: &Schema) -> Result<Manner, OpenError> {
        let (unit, gap) = match self {
            Self::Snapshot(spec) => {
                let gap = match spec.sink_type {
                    SnapshotType::Git | SnapshotType::Gitlab => 2,
                    SnapshotType::S3 | SnapshotType::Gcs => 10,
                    SnapshotType::File => 1,
                };
                let unit = match Layout::resolve(spec, schema)?.mode() {
                    LayoutMode::Document => Unit::Document,
                    LayoutMode::PerResource | LayoutMode::Split => Unit::Rows,
                };
                (unit, gap)
            }
            Self::Database(_) => (Unit::Rows, 0),
            Self::Event(_) => (Unit::Document, 0),
        };
        let min_gap = option(self.common(), "min_gap")?;
        let deadline = option(self.common(), "export_timeout")?;
        Ok(Manner {
            unit,
            min_gap: min_gap.unwrap_or(Duration::from_secs(gap)),
            deadline: deadline.filter(|time| !time.is_zero()).unwrap_or(DEADLINE),
        })
    }
}

/// A duration among the options, if it is there.
fn option(common: &SinkCommon, name: &'static str) -> Result<Option<Duration>, OpenError> {
    let Some(text) = common.options.get(name) else { return Ok(None) };
    let length = ExportInterval::from(text.as_str()).duration();
    length.map(Some).map_err(|source| OpenError::Option { name, source })
}

/// What is open, by where it is. It is closed when the last sink that uses it
/// is gone.
#[derive(Debug)]
struct Shared<K, T>(Mutex<BTreeMap<K, Weak<T>>>);

impl<K, T> Default for Shared<K, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Ord + Clone, T> Shared<K, T> {
    fn at(&self, place: K, open: impl FnOnce(K) -> T) -> Arc<T> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, one| one.strong_count() > 0);
        if let Some(one) = all.get(&place).and_then(Weak::upgrade) {
            return one;
        }
        let one = Arc::new(open(place.clone()));
        all.insert(place, Arc::downgrade(&one));
        one
    }
}

#[cfg(test)]
#[cfg(all(feature = "git", feature = "postgres"))]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn postgres(more: Value) -> SinkSpec {
        let block = json!({"databaseRef": {"name": "s"}, "table": "items"});
        let mut spec = json!({"type": "postgres", "postgres": block});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        SinkSpec::Database(serde_json::from_value(spec).unwrap())
    }

    fn git(endpoint: &str) -> SinkSpec {
        let spec = json!({"type": "git", "endpoint": endpoint});
        SinkSpec::Snapshot(serde_json::from_value(spec).unwrap())
    }

    fn credentials(key: &str, value: &str) -> Credentials {
        Credentials::new(BTreeMap::from([(key.to_owned(), value.to_owned())]), "1")
    }

    #[test]
    fn whoever_verifies_no_certificate_is_insecure() {
        let dsn = |mode: &str| credentials("dsn", &format!("postgres://a:b@h/d?sslmode={mode}"));
        let plain = || postgres(json!({}));
        for mode in ["disable", "prefer", "require"] {
            assert!(plain().is_insecure(&dsn(mode)), "{mode}");
        }
        for mode in ["verify-ca", "verify-full", "verify-full&sslrootcert=/nowhere"] {
            assert!(!plain().is_insecure(&dsn(mode)), "{mode}");
        }
        let careless = postgres(json!({"tls": {"insecureSkipVerify": true}}));
        assert!(careless.is_insecure(&dsn("verify-full")), "the sink's own settings win");
        assert!(!plain().is_insecure(&credentials("dsn", "nonsense")), "nothing is dialled");
        assert!(!git("https://git.example/x.git").is_insecure(&Credentials::default()));
    }

    #[test]
    fn it_is_known_when_a_secret_is_to_blame() {
        let opener = Opener::new(LocalPaths::Refused);
        let blames = |spec: &SinkSpec, credentials: &Credentials| {
            let (namespace, name) = ("shop".to_owned(), "s".to_owned());
            let key = SinkKey { family: spec.family(), namespace, name };
            opener.open(&key, spec, credentials).unwrap_err().blames_a_secret()
        };
        assert!(blames(&postgres(json!({})), &credentials("other", "x")));
        assert!(blames(&postgres(json!({})), &credentials("dsn", "nonsense")));
        assert!(blames(&git("ssh://git.example/x.git"), &credentials("token", "x")));
        let dsn = credentials("dsn", "postgres://a:b@h/d");
        assert!(!blames(&postgres(json!({"options": {"max_conns": "0"}})), &dsn));
        assert!(!blames(&git("ftp://git.example/x.git"), &Credentials::default()));
    }
}
