//! A whole cluster of one's own, for what concerns more than one namespace.

use std::{fs, path::Path};

use e2e::repository;
use kollect_testenv::{ControlPlane, assets};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{Operator, until};

/// Our kinds, as kubectl takes them.
const KINDS: &str = "kollecttargets,kollectinventories,kollectclustertargets,\
                     kollectclusterinventories,kollectsnapshotsinks,kollectdatabasesinks";

pub(super) struct Ground {
    pub(super) plane: ControlPlane,
    pub(super) place: TempDir,
}

impl Ground {
    /// A cluster that records what it is asked, with our definitions and the
    /// test doubles of foreign ones.
    pub(super) fn new() -> Option<Self> {
        let plane = ControlPlane::start_audited(&assets()?).unwrap();
        for directory in ["deploy/crds", "fixtures/foreign-crds"] {
            let directory = repository().join(directory).display().to_string();
            plane.kubectl(["apply", "--server-side", "-f", &directory]).stdout();
        }
        let names = plane.kubectl(["get", "crd", "-o", "name"]).stdout();
        let names: Vec<_> = names.lines().filter_map(|line| line.split('/').nth(1)).collect();
        plane.established(&names);
        Some(Self { plane, place: tempfile::tempdir().unwrap() })
    }

    pub(super) fn operator(&self, config: &Path, arguments: &[&str]) -> Operator {
        Operator::start(config, self.place.path(), arguments)
    }

    /// Applies objects, all in one go.
    #[track_caller]
    pub(super) fn apply(&self, objects: &[Value]) {
        self.plane
            .apply(&json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string());
    }

    /// Applies a manifest of the repository.
    #[track_caller]
    pub(super) fn apply_file(&self, path: &str) {
        let path = repository().join(path).display().to_string();
        self.plane.kubectl(["apply", "--server-side", "-f", &path]).stdout();
    }

    #[track_caller]
    pub(super) fn delete(&self, kind: &str, namespace: &str, name: &str) {
        let place = if namespace.is_empty() { "default" } else { namespace };
        self.plane.kubectl(["delete", kind, name, "-n", place, "--timeout=50s"]).stdout();
    }

    /// Objects of some kinds, of all namespaces.
    pub(super) fn get(&self, kinds: &str) -> Vec<Value> {
        let text = self.plane.kubectl(["get", kinds, "-A", "-o", "json"]).stdout();
        let mut list: Value = serde_json::from_str(&text).unwrap();
        serde_json::from_value(list["items"].take()).unwrap()
    }

    /// Waits until every object says what is expected of it.
    #[track_caller]
    pub(super) fn say(&self, sayings: &[Saying]) {
        let unheard = || {
            let objects = self.get(KINDS);
            let is_unheard = |saying: &&Saying| !saying.is_said(&objects);
            let found: Vec<_> = sayings.iter().filter(is_unheard).map(Saying::name).collect();
            (found, objects)
        };
        if until(|| unheard().0.is_empty().then_some(())).is_some() {
            return;
        }
        let (found, objects) = unheard();
        let is_named = |object: &&Value| found.contains(&name(object));
        let objects: Vec<_> = objects.iter().filter(is_named).map(|one| &one["status"]).collect();
        let expected: Vec<_> = sayings.iter().filter(|one| found.contains(&one.name())).collect();
        panic!("wanted {expected:#?}; there is {}; {}", json!(objects), self.log());
    }

    /// The rows of a database as `target namespace/name`, those of inventories of
    /// the cluster marked as such, without those that the server makes by
    /// itself; nothing if nothing was ever written.
    pub(super) fn rows(&self, namespace: &str, file: &str) -> Option<Vec<String>> {
        let path = self.place.path().join(namespace).join(file);
        let open = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
        let question = "select iif(inventory_namespace = 'cluster', 'cluster: ', '') || \
                        target_name || ' ' || resource_namespace || '/' || \
                        json_extract(payload, '$.name') from inventory_items order by 1";
        let mut question = open.prepare(question).ok()?;
        let rows = question.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let is_ours = |row: &String| !row.ends_with("/kube-root-ca.crt");
        Some(rows.map(Result::unwrap).filter(is_ours).collect())
    }

    /// Waits until a database has these rows.
    #[track_caller]
    pub(super) fn has(&self, (namespace, file): (&str, &str), rows: &[&str]) {
        let found = until(|| {
            let found = self.rows(namespace, file)?;
            (found == rows).then_some(())
        });
        if found.is_none() {
            let (there, said) = (self.rows(namespace, file), self.statuses());
            panic!("{namespace}: wanted {rows:?}, there is {there:?}; {said}; {}", self.log());
        }
    }

    /// What targets and inventories say.
    fn statuses(&self) -> Value {
        let objects = self.get("kollecttargets,kollectinventories");
        objects.iter().map(|one| (name(one), one["status"].clone())).collect()
    }

    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.place.path().join("log")).unwrap_or_default()
    }
}

/// A condition that an object is to have.
#[derive(Clone, Debug)]
pub(super) struct Saying {
    pub(super) kind: &'static str,
    pub(super) of: (String, String),
    /// Such as `Degraded True ScopeGVKDenied`.
    pub(super) condition: &'static str,
    /// What its message must hold.
    pub(super) says: &'static str,
}

impl Saying {
    fn name(&self) -> String {
        format!("{} {}/{}", self.kind, self.of.0, self.of.1)
    }

    fn is_said(&self, objects: &[Value]) -> bool {
        let Some(object) = objects.iter().find(|one| name(one) == self.name()) else {
            return false;
        };
        let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
        conditions.into_iter().any(|one| {
            let text = |key: &str| one[key].as_str().unwrap_or_default();
            let condition = format!("{} {} {}", text("type"), text("status"), text("reason"));
            let is_new = one["observedGeneration"] == object["metadata"]["generation"];
            condition == self.condition && text("message").contains(self.says) && is_new
        })
    }
}

fn name(object: &Value) -> String {
    let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
    let kind = object["kind"].as_str().unwrap_or_default();
    format!("{kind} {}/{}", text("namespace"), text("name"))
}

/// An object of ours; one of the cluster has an empty namespace.
pub(super) fn ours(kind: &str, namespace: &str, name: &str, spec: Value) -> Value {
    let mut object = json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": kind,
        "metadata": {"name": name}, "spec": spec,
    });
    if !namespace.is_empty() {
        object["metadata"]["namespace"] = namespace.into();
    }
    object
}

/// A namespace with labels.
pub(super) fn namespace(name: &str, labels: Value) -> Value {
    let meta = json!({"name": name, "labels": labels});
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
}

pub(super) fn config_map(namespace: &str, name: &str) -> Value {
    let meta = json!({"name": name, "namespace": namespace});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"value": "1"}})
}

/// A profile `p` of config maps, a database `rows` and an inventory `i` of it.
pub(super) fn basics(namespace: &str) -> [Value; 3] {
    [
        profile(namespace, "p", json!({"version": "v1", "kind": "ConfigMap"})),
        ours(
            "KollectDatabaseSink",
            namespace,
            "rows",
            json!({"type": "sqlite", "sqlite": {"path": "rows.db"}}),
        ),
        ours("KollectInventory", namespace, "i", json!({"databaseSinkRefs": [{"name": "rows"}]})),
    ]
}

/// A profile that reads the names of the objects of a kind.
pub(super) fn profile(namespace: &str, name: &str, kind: Value) -> Value {
    let attributes = json!([{"name": "value", "path": "$.metadata.name"}]);
    ours("KollectProfile", namespace, name, json!({"targetGVK": kind, "attributes": attributes}))
}

/// Every file below a directory, with what is in it.
pub(super) fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    found
}
