//! Ten thousand pods, ten targets, an inventory and three sinks of it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, SystemTime},
};

use anyhow::{Context, bail, ensure};
use kollect_testenv::{ControlPlane, Durability, Postgres, git, postgres_programs};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    collect::{cluster, stock::Stock},
    measure::{float, timed},
};

const TARGETS: usize = 10;
/// Two rounds of verification fall into it.
const IDLE: Duration = Duration::from_secs(70);
/// The database writes a note of its own within this time after the last change.
const AT_REST: Duration = Duration::from_secs(20);
/// What was given back to the system has been given back after it.
const SETTLED: Duration = Duration::from_secs(5);
/// So long the first export may take.
const PATIENCE: usize = 1_200;
/// The annotation that changes.
pub(super) const MARK: &str = "commit";

pub(super) struct Scene {
    plane: ControlPlane,
    postgres: Postgres,
    place: TempDir,
    database: String,
    operator: Operator,
}

/// The program; ended when it is dropped.
struct Operator(Child);

impl Drop for Operator {
    fn drop(&mut self) {
        // One that has ended by itself is no harm.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// What happened although nothing did.
pub(super) struct Idle {
    pub(super) sink_bytes: f64,
    pub(super) status_writes: f64,
}

impl Scene {
    pub(super) fn start(kollect: &Path, assets: &Path, cache: &Path) -> anyhow::Result<Self> {
        let plane = cluster::start(assets, cache, &[Stock::Fleet])?;
        let programs = postgres_programs().context("PostgreSQL is missing")?;
        let postgres = Postgres::start(&programs, Durability::Synced)?;
        // What the server does by itself would be counted as ours.
        for setting in ["autovacuum = off", "checkpoint_timeout = '1h'", "max_wal_size = '8GB'"] {
            postgres.execute("postgres", &format!("ALTER SYSTEM SET {setting}"));
        }
        postgres.execute("postgres", "SELECT pg_reload_conf()");
        let database = postgres.database("bench");
        let directory = tempfile::tempdir()?;
        let root = directory.path().join("bench");
        fs::create_dir_all(&root)?;
        let bare = root.join("audit.git").display().to_string();
        git(&root, &["init", "--quiet", "--bare", "--initial-branch", "main", &bare])
            .map_err(anyhow::Error::msg)?;
        let crds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/crds");
        let crds = crds.display().to_string();
        plane.kubectl(["apply", "--server-side", "-f", &crds]).stdout();
        plane.kubectl(["wait", "--for=condition=Established", "crd", "--all"]).stdout();
        plane.kubectl(["create", "namespace", "bench"]).stdout();
        let dsn = postgres.dsn(&database) + "?sslmode=verify-full";
        plane.apply(&manifests(&dsn, &postgres.ca_pem(), &bare).to_string());
        let log = fs::File::create(directory.path().join("log"))?;
        let child = Command::new(kollect)
            .args(["operator", "--allow-sink-cidrs", "127.0.0.0/8", "--kubeconfig"])
            .arg(plane.kubeconfig())
            .arg("--local-sink-root")
            .arg(directory.path())
            .args(["--health-probe-bind-address", "0"])
            .stdin(Stdio::null())
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {}", kollect.display()))?;
        Ok(Self { plane, postgres, place: directory, database, operator: Operator(child) })
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        self.plane.kubeconfig()
    }

    pub(super) fn postgres(&self) -> (&Postgres, &str) {
        (&self.postgres, &self.database)
    }

    /// Waits until every sink has every row; how long that took.
    pub(super) fn has_all(&self) -> anyhow::Result<f64> {
        let (took, outcome) = timed(|| {
            for _ in 0..PATIENCE {
                if self.is_synced() {
                    return Ok(());
                }
                thread::sleep(Duration::from_millis(100));
            }
            let log = fs::read_to_string(self.place.path().join("log")).unwrap_or_default();
            bail!("it is not done: {}\n{log}", self.said());
        });
        outcome.map(|()| took.as_secs_f64())
    }

    fn is_synced(&self) -> bool {
        let count = format!("\"itemCount\":{},", Stock::Fleet.count());
        let said = self.said();
        said.contains(&count) && said.contains("3 of 3 sinks have acknowledged")
    }

    fn said(&self) -> String {
        let said = ["get", "kollectinventory", "i", "-n", "bench", "-o", "jsonpath={.status}"];
        self.plane.kubectl(said).stdout()
    }

    /// Waits until memory that is not needed has been given back.
    pub(super) fn settle() {
        thread::sleep(SETTLED);
    }

    /// Does nothing for a while, and says what was written meanwhile.
    pub(super) fn idle(&self) -> anyhow::Result<Idle> {
        self.postgres.execute(&self.database, "VACUUM");
        self.postgres.execute(&self.database, "CHECKPOINT");
        // The server notes by itself what runs there once it has come to rest.
        thread::sleep(AT_REST);
        let (before, position, begun) = (self.versions(), self.position()?, now());
        thread::sleep(IDLE);
        let (after, log) = (self.versions(), self.position()? - position);
        let files = written_since(&self.place.path().join("bench"), begun)?;
        let writes = before.iter().zip(&after).filter(|(before, after)| before != after).count();
        ensure!(before.len() == after.len(), "objects came or went");
        Ok(Idle { sink_bytes: log + files, status_writes: float(writes) })
    }

    /// Every object of ours and its version.
    fn versions(&self) -> Vec<String> {
        let kinds = "kollectinventories,kollecttargets,kollectdatabasesinks,kollectsnapshotsinks";
        let path = "jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.resourceVersion}{\"\\n\"}{end}";
        let said = self.plane.kubectl(["get", kinds, "-n", "bench", "-o", path]).stdout();
        said.lines().map(str::to_owned).collect()
    }

    /// How much the database has written to its log.
    fn position(&self) -> anyhow::Result<f64> {
        let question = "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')";
        let answer = self.postgres.query(&self.database, question);
        Ok(answer.first().and_then(|row| row.first()).context("no answer")?.parse()?)
    }

    pub(super) fn resident_mib(&self) -> f64 {
        let path = format!("/proc/{}/status", self.operator.0.id());
        let status = fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        let kibibytes = line.trim().trim_end_matches("kB").trim().parse::<usize>();
        float(kibibytes.unwrap_or_default()) / 1024.0
    }

    /// The pods that are collected, by namespace and name.
    pub(super) fn pods() -> impl Iterator<Item = (String, String)> {
        let text = |object: &Value, field: &str| {
            object["metadata"][field].as_str().unwrap_or_default().to_owned()
        };
        let all = (0..Stock::Fleet.count()).map(|number| Stock::Fleet.object(number));
        all.map(move |object| (text(&object, "namespace"), text(&object, "name")))
    }
}

#[expect(clippy::disallowed_methods, reason = "files have times by this clock")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// Bytes of files that were written after a time.
fn written_since(directory: &Path, begun: SystemTime) -> anyhow::Result<f64> {
    let mut bytes = 0.0;
    let mut left: Vec<PathBuf> = vec![directory.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(&directory)? {
            let (entry, about) =
                entry.and_then(|entry| entry.metadata().map(|about| (entry, about)))?;
            if about.is_dir() {
                left.push(entry.path());
            } else if about.modified()? > begun {
                bytes += float(usize::try_from(about.len())?);
            }
        }
    }
    Ok(bytes)
}

fn manifests(dsn: &str, authority: &str, bare: &str) -> Value {
    let ours = |kind: &str, name: &str, spec: Value| {
        json!({
            "apiVersion": "kollect.dev/v1alpha1", "kind": kind,
            "metadata": {"name": name, "namespace": "bench"}, "spec": spec,
        })
    };
    let gvk = json!({"version": "v1", "kind": "Pod"});
    let attributes = Stock::Fleet.attributes();
    let mut items = vec![
        json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "pg", "namespace": "bench"},
            "stringData": {"dsn": dsn, "ca.crt": authority},
        }),
        ours("KollectProfile", "p", json!({"targetGVK": gvk, "attributes": attributes})),
        ours(
            "KollectDatabaseSink",
            "lite",
            json!({"type": "sqlite", "sqlite": {"path": "rows.db"}}),
        ),
        ours(
            "KollectDatabaseSink",
            "pg",
            json!({
                "type": "postgres", "tls": {"caSecretRef": {"name": "pg"}},
                "postgres": {"databaseRef": {"name": "pg"}, "table": "inventory_items"},
            }),
        ),
        ours(
            "KollectSnapshotSink",
            "audit",
            json!({
                "type": "git", "endpoint": format!("file://{bare}"), "cluster": "bench",
                "layout": {"mode": "perResource"},
            }),
        ),
        ours(
            "KollectInventory",
            "i",
            json!({
                "databaseSinkRefs": [{"name": "lite"}, {"name": "pg"}],
                "snapshotSinkRefs": [{"name": "audit"}],
            }),
        ),
    ];
    for target in 0..TARGETS {
        let included: Vec<_> =
            Stock::Fleet.namespaces().into_iter().skip(target).step_by(TARGETS).collect();
        let spec = json!({"profileRef": "p", "includedNamespaces": included});
        items.push(ours("KollectTarget", &format!("t{target}"), spec));
    }
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}
