//! A database on a server and a repository behind https, as sinks of a scene.

use std::path::{Path, PathBuf};

use kollect_testenv::{
    Durability, GitServer, Postgres, PostgresError, Protocol, git, postgres_programs,
};
use serde_json::json;

use super::support::{Scene, until};

/// What operators need to be allowed on this machine.
pub(super) const HERE: &str = "--allow-sink-cidrs=127.0.0.0/8";

/// A Postgres server of its own, so that it can be ended.
pub(super) struct Database {
    pub(super) server: Postgres,
    pub(super) name: String,
    pub(super) role: String,
}

impl Database {
    pub(super) fn start() -> Option<Self> {
        let server = Postgres::start(&postgres_programs()?, Durability::Unsynced).unwrap();
        let (name, role) = (server.database("rows"), server.role("writer"));
        server.execute(&name, &format!("GRANT CREATE, USAGE ON SCHEMA public TO {role}"));
        Some(Self { server, name, role })
    }

    /// The sink `pg` of a scene, and its Secret with this password.
    pub(super) fn sink(&self, scene: &Scene, password: &str) {
        let dsn = format!(
            "postgres://{}:{password}@{}/{}?sslmode=verify-full",
            self.role,
            self.server.address(),
            self.name
        );
        scene.secret("pg", json!({"dsn": dsn, "ca.crt": self.server.ca_pem()}));
        scene.apply(
            "KollectDatabaseSink",
            "pg",
            json!({
                "type": "postgres", "cluster": "here",
                "postgres": {"databaseRef": {"name": "pg"}, "table": "inventory_items"},
                "tls": {"caSecretRef": {"name": "pg"}},
            }),
        );
    }

    /// The rows of a target as `name=value`.
    pub(super) fn rows(&self, target: &str) -> Vec<String> {
        let question = format!(
            "select payload->>'name' || '=' || coalesce(payload->'attributes'->>'value', '') \
             from inventory_items where target_name = '{target}'"
        );
        let mut rows = match self.server.ask(&self.name, &question) {
            Ok(answer) => answer.into_iter().flatten().collect(),
            // It has not been made, or the server is down.
            Err(PostgresError::Failed { output, .. })
                if output.contains("does not exist") || output.contains("connection") =>
            {
                Vec::new()
            }
            Err(error) => panic!("{error:?}"),
        };
        rows.retain(|row: &String| !row.starts_with("kube-root-ca"));
        rows.sort();
        rows
    }

    #[track_caller]
    pub(super) fn has(&self, scene: &Scene, rows: &[&str]) {
        let found = until(|| (self.rows("t") == rows).then_some(()));
        let there = self.rows("t");
        assert!(found.is_some(), "wanted {rows:?}, there is {there:?}; {}", scene.state());
    }
}

/// A repository behind https.
pub(super) struct Repository {
    server: GitServer,
    path: PathBuf,
}

impl Repository {
    pub(super) fn start() -> Self {
        let server = GitServer::start(Protocol::Any).unwrap();
        let path = server.repository("audit.git", &[]).unwrap();
        Self { server, path }
    }

    /// The sink `audit` of a scene, and its Secret.
    pub(super) fn sink(&self, scene: &Scene) {
        let (user, password) = self.server.login();
        scene.secret(
            "audit",
            json!({"username": user, "password": password, "ca.crt": self.server.authority()}),
        );
        scene.apply(
            "KollectSnapshotSink",
            "audit",
            json!({
                "type": "git", "endpoint": self.server.url("audit.git"), "cluster": "here",
                "secretRef": {"name": "audit"}, "layout": {"mode": "perResource"},
                "tls": {"caSecretRef": {"name": "audit"}},
            }),
        );
    }

    /// The files of the branch, ours aside.
    pub(super) fn files(&self) -> Vec<String> {
        let listed = git(&self.path, &["ls-tree", "-r", "--name-only", "main"]);
        let listed = listed.unwrap_or_default();
        let theirs = listed.lines().filter(|path| !path.starts_with(".kollect/"));
        theirs.filter(|path| !path.contains("kube-root-ca")).map(str::to_owned).collect()
    }

    pub(super) fn show(&self, path: &str) -> String {
        git(&self.path, &["show", &format!("main:{path}")]).unwrap_or_default()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    #[track_caller]
    pub(super) fn has(&self, scene: &Scene, files: &[String]) {
        let found = until(|| (self.files() == files).then_some(()));
        let there = self.files();
        assert!(found.is_some(), "wanted {files:?}, there is {there:?}; {}", scene.state());
    }
}
