//! Sinks say whether they can be reached, and connection tests say it once.

use kollect_testenv::Postgres;
use serde_json::{Value, json};

use super::support::{Scene, until};

const HERE: [&str; 2] = ["--allow-sink-cidrs", "127.0.0.0/8"];
const DATABASE: &str = "kollectdatabasesink";
const TEST: &str = "kollectconnectiontest";

impl Scene {
    /// A part of an object, by its path in JSON.
    fn part(&self, (kind, name): (&str, &str), path: &str) -> String {
        let path = format!("jsonpath={{{path}}}");
        let get = ["get", kind, name, "-n", &self.namespace, "--ignore-not-found", "-o", &path];
        self.cluster.kubectl(get).stdout()
    }

    /// Waits until a part of an object is this.
    #[track_caller]
    fn becomes(&self, object: (&str, &str), path: &str, wanted: &str) {
        let found = until(|| (self.part(object, path) == wanted).then_some(()));
        assert!(found.is_some(), "{path} is {}; {}", self.part(object, path), self.log());
    }

    fn sqlite(&self, name: &str, more: Value) {
        let mut spec = json!({"type": "sqlite", "sqlite": {"path": format!("{name}.db")}});
        if let (Some(spec), Some(more)) = (spec.as_object_mut(), more.as_object()) {
            spec.extend(more.clone());
        }
        self.apply("KollectDatabaseSink", name, spec);
    }

    fn postgres(&self, name: &str, secret: &str) {
        self.apply("KollectDatabaseSink", name, postgres(secret, true));
    }

    /// A database at an address that is not dialled unless the operator is
    /// told that it may be.
    fn unreachable(&self, name: &str, connection_test: bool) {
        self.secret("here", json!({"dsn": "postgres://ada:hunter22@127.0.0.1:1/x"}));
        self.apply("KollectDatabaseSink", name, postgres("here", connection_test));
    }

    /// Lets the operator look at everything anew a few times.
    fn pass_some_turns(&self) {
        for turn in ["first", "second", "third"] {
            self.sqlite(turn, json!({}));
            self.says((DATABASE, turn), "ConnectionVerified", "True ConnectionOK");
            self.delete(DATABASE, turn);
        }
    }
}

fn postgres(secret: &str, connection_test: bool) -> Value {
    let block = json!({"databaseRef": {"name": secret}, "table": "items"});
    json!({"type": "postgres", "postgres": block, "connectionTest": connection_test})
}

#[test]
fn a_sink_that_can_be_written_to_is_verified_and_then_left_alone() {
    let Some(scene) = Scene::new("verified") else { return };
    let operator = scene.operator();
    scene.sqlite("rows", json!({}));
    scene.apply("KollectSnapshotSink", "files", json!({"type": "file", "file": {"path": "f"}}));
    scene.says((DATABASE, "rows"), "ConnectionVerified", "True ConnectionOK");
    scene.says(("kollectsnapshotsink", "files"), "ConnectionVerified", "True ConnectionOK");
    assert_eq!(scene.condition(DATABASE, "rows", "Degraded"), "");
    let version = scene.part((DATABASE, "rows"), ".metadata.resourceVersion");
    scene.pass_some_turns();
    operator.kill();
    // What is found after a restart is what stands there already.
    let _operator = scene.operator();
    scene.sqlite("after", json!({}));
    scene.says((DATABASE, "after"), "ConnectionVerified", "True ConnectionOK");
    scene.pass_some_turns();
    assert_eq!(scene.part((DATABASE, "rows"), ".metadata.resourceVersion"), version);
}

#[test]
fn a_wrong_password_is_told_without_it_and_heals_with_its_secret() {
    let (Some(scene), Some(server)) = (Scene::new("password"), Postgres::shared()) else { return };
    let _operator = scene.operator_with(&HERE);
    let database = server.database("probes");
    let right = format!("{}?sslmode=require", server.dsn(&database));
    let wrong = right.replace(server.password(), "hunter22-is-wrong");
    scene.put("a", "1");
    scene.basics();
    scene.secret("db", json!({"dsn": wrong}));
    scene.postgres("pg", "db");
    let both = json!({"databaseSinkRefs": [{"name": "rows"}, {"name": "pg"}]});
    scene.apply("KollectInventory", "i", both);
    let sink = (DATABASE, "pg");
    scene.says(sink, "ConnectionVerified", "False ConnectionTestFailed");
    scene.says(sink, "Degraded", "True ConnectionTestFailed");
    scene.says(sink, "TLSInsecure", "True InsecureSkipVerify");
    let status = scene.part(sink, ".status");
    assert!(!status.contains("hunter22") && status.contains("did not let us"), "{status}");
    // The other copy goes on.
    scene.put("a", "2");
    scene.has("t", &["a=2"]);
    scene.secret("db", json!({"dsn": right}));
    scene.says(sink, "ConnectionVerified", "True ConnectionOK");
    assert_eq!(scene.condition(DATABASE, "pg", "Degraded"), "");
    scene.says(("kollectinventory", "i"), "Synced", "True Exported");
    let rows = server.query(&database, "SELECT count(*) FROM items WHERE target_name = 't'");
    assert!(rows.iter().flatten().all(|count| count != "0"), "{rows:?}");
}

#[test]
fn a_missing_secret_is_named_and_waited_for() {
    let (Some(scene), Some(server)) = (Scene::new("missing"), Postgres::shared()) else { return };
    let _operator = scene.operator_with(&HERE);
    scene.postgres("pg", "late");
    let sink = (DATABASE, "pg");
    scene.says(sink, "ConnectionVerified", "False SecretResolveFailed");
    scene.says(sink, "Degraded", "True SecretResolveFailed");
    scene.secret("late", json!({"unrelated": "x"}));
    let message = ".status.conditions[?(@.type==\"ConnectionVerified\")].message";
    let none = "spec.postgres.databaseRef: the Secret holds none of dsn, url, connectionString, \
                DATABASE_URL";
    scene.becomes(sink, message, none);
    scene.says(sink, "ConnectionVerified", "False SecretResolveFailed");
    let dsn = format!("{}?sslmode=require", server.dsn(&server.database("late")));
    scene.secret("late", json!({"url": dsn}));
    scene.says(sink, "ConnectionVerified", "True ConnectionOK");
    assert_eq!(scene.condition(DATABASE, "pg", "Degraded"), "");
}

#[test]
fn whoever_asks_once_gets_an_answer_and_the_question_goes() {
    let Some(scene) = Scene::new("asked") else { return };
    let _operator = scene.operator();
    let sink = (DATABASE, "quiet");
    scene.sqlite("quiet", json!({"connectionTest": false}));
    scene.pass_some_turns();
    assert_eq!(scene.condition(DATABASE, "quiet", "ConnectionVerified"), "");
    scene.annotate(sink, "kollect.dev/test-connection=True");
    scene.says(sink, "ConnectionVerified", "True ConnectionOK");
    let annotation = ".metadata.annotations.kollect\\.dev/test-connection";
    scene.becomes(sink, annotation, "");
    scene.pass_some_turns();
    assert_eq!(scene.condition(DATABASE, "quiet", "ConnectionVerified"), "True ConnectionOK");
    // One that is probed anyway keeps it, and so does one that fails.
    scene.sqlite("loud", json!({}));
    scene.says((DATABASE, "loud"), "ConnectionVerified", "True ConnectionOK");
    scene.annotate((DATABASE, "loud"), "kollect.dev/test-connection=true");
    scene.unreachable("broken", false);
    scene.annotate((DATABASE, "broken"), "kollect.dev/test-connection=true");
    scene.says((DATABASE, "broken"), "ConnectionVerified", "False ConnectionTestFailed");
    scene.pass_some_turns();
    for name in ["loud", "broken"] {
        assert_eq!(scene.part((DATABASE, name), annotation), "true");
    }
}

#[test]
fn what_admission_would_refuse_is_degraded() {
    let Some(scene) = Scene::new("refused") else { return };
    let _operator = scene.operator();
    scene.sqlite("rows", json!({"sqlite": {"path": "../elsewhere.db"}}));
    scene.says((DATABASE, "rows"), "Degraded", "True InvalidSpec");
    assert_eq!(scene.condition(DATABASE, "rows", "ConnectionVerified"), "");
    scene.sqlite("rows", json!({}));
    scene.says((DATABASE, "rows"), "ConnectionVerified", "True ConnectionOK");
    assert_eq!(scene.condition(DATABASE, "rows", "Degraded"), "");
}

#[test]
fn a_preview_is_shown_to_whoever_asks_and_changes_with_the_sink_alone() {
    let Some(scene) = Scene::new("preview") else { return };
    let _operator = scene.operator_with(&["--cluster-name", "eu-1"]);
    let sink = ("kollectsnapshotsink", "files");
    let spec =
        |mode: &str| json!({"type": "file", "file": {"path": "f"}, "layout": {"mode": mode}});
    scene.apply("KollectSnapshotSink", "files", spec("document"));
    scene.annotate(sink, "kollect.dev/preview=true");
    scene.becomes(sink, ".status.preview.objectPath", "inventory/team-a/api.yaml");
    scene.says(sink, "ConnectionVerified", "True ConnectionOK");
    let version = scene.part(sink, ".metadata.resourceVersion");
    scene.pass_some_turns();
    assert_eq!(scene.part(sink, ".metadata.resourceVersion"), version);
    scene.apply("KollectSnapshotSink", "files", spec("perResource"));
    let first = ".status.preview.layout.samplePaths[0]";
    scene.becomes(sink, first, "eu-1/team-a/deployment/api.yaml");
    scene.annotate(sink, "kollect.dev/preview-");
    scene.becomes(sink, ".status.preview", "");
}

#[test]
fn a_connection_test_is_run_once_and_again_when_it_is_edited() {
    let Some(scene) = Scene::new("tests") else { return };
    let _operator = scene.operator();
    // Nobody knows who comes first.
    scene.apply("KollectConnectionTest", "t", json!({"sinkRef": {"databaseSinkRef": "rows"}}));
    scene.sqlite("rows", json!({"connectionTest": false}));
    let test = (TEST, "t");
    scene.says(test, "Ready", "True ProbeSucceeded");
    scene.says(test, "ConnectionVerified", "True ConnectionOK");
    assert_eq!(scene.part(test, ".status.completed"), "true");
    assert!(!scene.part(test, ".status.latencyMs").is_empty());
    let owner = scene.part((DATABASE, "rows"), ".metadata.uid");
    scene.becomes(test, ".metadata.ownerReferences[?(@.controller==true)].uid", &owner);
    // It says nothing in the name of the sink, and nothing any more.
    assert_eq!(scene.part((DATABASE, "rows"), ".status"), "");
    let version = scene.part(test, ".metadata.resourceVersion");
    scene.pass_some_turns();
    assert_eq!(scene.part(test, ".metadata.resourceVersion"), version);
    scene.apply(
        "KollectConnectionTest",
        "t",
        json!({"sinkRef": {"databaseSinkRef": "nowhere"}, "ownerSink": false}),
    );
    scene.says(test, "Ready", "False SinkNotFound");
    scene.becomes(test, ".status.observedGeneration", "2");
    assert_eq!(scene.part(test, ".status.latencyMs"), "");
    scene.becomes(test, ".metadata.ownerReferences", "");
    // What has failed stays so, though the sink is there now.
    scene.sqlite("nowhere", json!({}));
    scene.pass_some_turns();
    assert_eq!(scene.condition(TEST, "t", "Ready"), "False SinkNotFound");
}

#[test]
fn a_connection_test_that_fails_has_finished_too_and_goes_in_its_time() {
    let Some(scene) = Scene::new("finished") else { return };
    let operator = scene.operator();
    scene.sqlite("rows", json!({}));
    scene.says((DATABASE, "rows"), "ConnectionVerified", "True ConnectionOK");
    let of =
        |ttl: u32| json!({"sinkRef": {"databaseSinkRef": "rows"}, "ttlSecondsAfterFinished": ttl});
    scene.apply("KollectConnectionTest", "kept", of(3600));
    scene.says((TEST, "kept"), "Ready", "True ProbeSucceeded");
    scene.apply("KollectConnectionTest", "gone", of(0));
    let is_gone = || (scene.part((TEST, "gone"), ".metadata.uid").is_empty()).then_some(());
    assert!(until(is_gone).is_some(), "{}", scene.log());
    scene.unreachable("broken", true);
    let failing = (TEST, "failing");
    scene.apply(
        "KollectConnectionTest",
        "failing",
        json!({"sinkRef": {"databaseSinkRef": "broken"}}),
    );
    scene.says(failing, "Ready", "False ConnectionTestFailed");
    assert_eq!(scene.part(failing, ".status.completed"), "true");
    assert!(!scene.part(failing, ".status.latencyMs").is_empty());
    operator.kill();
    // A test whose time is over goes although nobody remembers it.
    let _operator = scene.operator();
    let patch = r#"{"status":{"completedAt":"2020-01-01T00:00:00Z"}}"#;
    let namespace = &scene.namespace;
    let (kind, subresource) = (TEST, "--subresource=status");
    scene
        .cluster
        .kubectl(["patch", kind, "kept", "-n", namespace, subresource, "--type=merge", "-p", patch])
        .stdout();
    let is_gone = || (scene.part((TEST, "kept"), ".metadata.uid").is_empty()).then_some(());
    assert!(until(is_gone).is_some(), "{}", scene.log());
    assert_eq!(scene.condition(TEST, "failing", "Ready"), "False ConnectionTestFailed");
}
