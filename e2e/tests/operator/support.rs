//! A namespace, an operator that looks at it alone, and what it copies.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use e2e::cluster;
use kollect_testenv::ControlPlane;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use tempfile::TempDir;

/// So often somebody looks who waits, which is longer than anything takes.
const LOOKS: usize = 1000;
const BETWEEN: Duration = Duration::from_millis(50);

pub(super) struct Scene {
    pub(super) cluster: &'static ControlPlane,
    pub(super) namespace: String,
    place: TempDir,
}

/// A running operator; killed when it is dropped.
pub(super) struct Operator(Child);

impl Operator {
    /// Starts one that acts as the user of a kubeconfig. Its log and its local
    /// sinks are in a directory.
    pub(super) fn start(config: &Path, directory: &Path, arguments: &[&str]) -> Self {
        let tests = env::current_exe().unwrap();
        let program = tests.parent().and_then(Path::parent).unwrap().join("kollect");
        let log = fs::File::options().create(true).append(true).open(directory.join("log"));
        let child = Command::new(program)
            .args(["operator", "--kubeconfig"])
            .arg(config)
            .arg("--local-sink-root")
            .arg(directory)
            // There are many of them here, and one such port.
            .arg("--health-probe-bind-address=0")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.unwrap())
            .spawn();
        Self(child.unwrap())
    }

    /// Ends it at once, without a chance to tidy up.
    pub(super) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Waits until it ends by itself, and says how it did.
    pub(super) fn ended(mut self) -> Option<i32> {
        self.0.wait().unwrap().code()
    }

    /// Stops its clock, as a machine that is asleep does.
    pub(super) fn pause(&self) {
        self.signal("-STOP");
    }

    pub(super) fn wake(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let process = self.0.id().to_string();
        assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
    }

    /// Tells it to stop, and says how it did.
    pub(super) fn stop(mut self) -> Option<i32> {
        self.signal("-TERM");
        self.0.wait().unwrap().code()
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        // One that has ended by itself is no harm.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Scene {
    pub(super) fn new(name: &str) -> Option<Self> {
        Some(Self::on(cluster()?, name))
    }

    /// A scene on another cluster than the one that tests share.
    pub(super) fn on(cluster: &'static ControlPlane, name: &str) -> Self {
        let namespace = cluster.namespace(name);
        Self { cluster, namespace, place: tempfile::tempdir().unwrap() }
    }

    pub(super) fn operator(&self) -> Operator {
        self.operator_with(&[])
    }

    pub(super) fn operator_with(&self, arguments: &[&str]) -> Operator {
        let place = ["--watch-namespaces", &self.namespace];
        let arguments = [&place[..], arguments].concat();
        Operator::start(self.cluster.kubeconfig(), self.place.path(), &arguments)
    }

    /// Flags by which replicas compete for a lease in this namespace.
    pub(super) fn election(&self, lease: &str, renew: &str) -> [String; 5] {
        [
            "--leader-elect".to_owned(),
            format!("--leader-elect-namespace={}", self.namespace),
            format!("--leader-elect-lease-duration={lease}"),
            format!("--leader-elect-renew-deadline={renew}"),
            "--leader-elect-retry-period=1s".to_owned(),
        ]
    }

    /// Applies an object of ours.
    pub(super) fn apply(&self, kind: &str, name: &str, spec: Value) {
        let object = json!({
            "apiVersion": "kollect.dev/v1alpha1", "kind": kind,
            "metadata": {"name": name, "namespace": self.namespace}, "spec": spec,
        });
        self.cluster.apply(&object.to_string());
    }

    /// A profile of config maps, a target of it, and an inventory with a
    /// database.
    pub(super) fn basics(&self) {
        self.apply(
            "KollectProfile",
            "p",
            json!({
                "targetGVK": {"version": "v1", "kind": "ConfigMap"},
                "attributes": [{"name": "value", "path": "$.data.value"}],
            }),
        );
        self.apply("KollectTarget", "t", json!({"profileRef": "p"}));
        self.apply(
            "KollectDatabaseSink",
            "rows",
            json!({
                "type": "sqlite", "sqlite": {"path": "rows.db"},
            }),
        );
        self.apply("KollectInventory", "i", json!({"databaseSinkRefs": [{"name": "rows"}]}));
    }

    pub(super) fn put(&self, name: &str, value: &str) {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"value": value},
            "metadata": {"name": name, "namespace": self.namespace},
        });
        self.cluster.apply(&object.to_string());
    }

    pub(super) fn secret(&self, name: &str, values: Value) {
        let object = json!({
            "apiVersion": "v1", "kind": "Secret", "stringData": values,
            "metadata": {"name": name, "namespace": self.namespace},
        });
        self.cluster.apply(&object.to_string());
    }

    /// What an object has at a path.
    pub(super) fn field(&self, (kind, name): (&str, &str), path: &str) -> String {
        let path = format!("jsonpath={path}");
        self.cluster.kubectl(["get", kind, name, "-n", &self.namespace, "-o", &path]).stdout()
    }

    pub(super) fn annotate(&self, (kind, name): (&str, &str), annotation: &str) {
        let annotate = ["annotate", kind, name, "-n", &self.namespace, "--overwrite", annotation];
        self.cluster.kubectl(annotate).stdout();
    }

    pub(super) fn delete(&self, kind: &str, name: &str) {
        self.cluster
            .kubectl(["delete", kind, name, "-n", &self.namespace, "--timeout=50s"])
            .stdout();
    }

    fn database(&self) -> PathBuf {
        self.place.path().join(&self.namespace).join("rows.db")
    }

    /// The rows of a target as `name=value`.
    pub(super) fn rows(&self, target: &str) -> Vec<String> {
        let open = Connection::open_with_flags(self.database(), OpenFlags::SQLITE_OPEN_READ_ONLY);
        let Ok(connection) = open else { return Vec::new() };
        let question = "select json_extract(payload, '$.name') || '=' || \
                        coalesce(json_extract(payload, '$.attributes.value'), '') \
                        from inventory_items where target_name = ?1 order by 1";
        let mut question = match connection.prepare(question) {
            Ok(question) => question,
            Err(error) if error.to_string().contains("no such table") => return Vec::new(),
            Err(error) => panic!("{error}"),
        };
        let rows = question.query_map([target], |row| row.get::<_, String>(0)).unwrap();
        // What the server puts there by itself is no matter of ours.
        rows.map(Result::unwrap).filter(|row| !row.starts_with("kube-root-ca")).collect()
    }

    /// Waits until a target has these rows.
    #[track_caller]
    pub(super) fn has(&self, target: &str, rows: &[&str]) {
        let found = until(|| (self.rows(target) == rows).then_some(()));
        assert!(
            found.is_some(),
            "wanted {rows:?}, there is {:?}; {}",
            self.rows(target),
            self.log()
        );
    }

    /// The condition of an object, as `True Exported`.
    pub(super) fn condition(&self, kind: &str, name: &str, condition: &str) -> String {
        let path = format!(
            "jsonpath={{range .status.conditions[?(@.type==\"{condition}\")]}}{{.status}} {{.reason}}{{end}}"
        );
        self.cluster.kubectl(["get", kind, name, "-n", &self.namespace, "-o", &path]).stdout()
    }

    /// Waits until an object says so of itself.
    #[track_caller]
    pub(super) fn says(&self, (kind, name): (&str, &str), condition: &str, wanted: &str) {
        let is_so = || (self.condition(kind, name, condition) == wanted).then_some(());
        let found = until(is_so);
        let status = self.cluster.kubectl(["get", kind, name, "-n", &self.namespace, "-o", "yaml"]);
        assert!(
            found.is_some(),
            "wanted {condition} {wanted}; {}; {}",
            status.stdout(),
            self.log()
        );
    }

    /// What inventories and sinks say, and the log, for whoever waited in vain.
    pub(super) fn state(&self) -> String {
        let kinds = "kollectinventories,kollectdatabasesinks,kollectsnapshotsinks";
        let said = self.cluster.kubectl(["get", kinds, "-n", &self.namespace, "-o", "yaml"]);
        format!("{}\n{}", said.stdout(), self.log())
    }

    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.place.path().join("log")).unwrap_or_default()
    }
}

/// Waits for something, and looks for it again and again.
pub(super) fn until<T>(mut holds: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..LOOKS {
        let found = holds();
        if found.is_some() {
            return found;
        }
        thread::sleep(BETWEEN);
    }
    None
}
