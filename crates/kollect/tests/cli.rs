//! The binary as a user runs it.

use std::{fs, path::Path};

use kollect_testenv::{GitServer, Protocol, git};
use serde_json::Value;

use support::{Run, TARGET, kollect, repository, run_in, texts_below, validate, with_input};

#[cfg(test)]
mod support {
    use std::{
        fs,
        io::Write,
        path::{Path, PathBuf},
        process::{Command, Stdio},
    };

    /// The text of every sample.
    pub(super) fn texts_below(folder: &Path) -> Vec<String> {
        let mut texts = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                texts.extend(texts_below(&path));
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                texts.push(fs::read_to_string(path).unwrap());
            }
        }
        texts
    }

    /// What a run left behind.
    pub(super) struct Run {
        pub(super) code: Option<i32>,
        pub(super) stdout: String,
        pub(super) stderr: String,
    }

    #[track_caller]
    pub(super) fn kollect(arguments: &[&str]) -> Run {
        with_input(arguments, "")
    }

    #[track_caller]
    pub(super) fn with_input(arguments: &[&str], input: &str) -> Run {
        run_in(Path::new("."), arguments, input)
    }

    #[track_caller]
    pub(super) fn run_in(place: &Path, arguments: &[&str], input: &str) -> Run {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kollect"))
            .args(arguments)
            .current_dir(place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that fails before it reads closes the pipe; that is no failure of the test.
        drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    pub(super) fn repository() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// Writes one file into a new directory and validates it.
    #[track_caller]
    pub(super) fn validate(name: &str, content: impl AsRef<[u8]>) -> Run {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        fs::write(&path, content).unwrap();
        let mut run = kollect(&["validate", path.to_str().unwrap()]);
        run.stdout = run.stdout.replace(&format!("{}/", directory.path().display()), "");
        run
    }

    pub(super) const TARGET: &str = "apiVersion: kollect.dev/v1alpha1
kind: KollectTarget
metadata: {name: web, namespace: shop}
spec:
  profileRef: images
";
}

mod crds {
    use super::*;

    #[test]
    fn eleven_are_printed_and_are_those_of_the_repository() {
        let run = kollect(&["crds"]);
        assert_eq!(run.code, Some(0));
        let printed: Vec<_> = run.stdout.split("---\n").map(str::to_owned).collect();
        assert_eq!(printed.len(), 11);
        let mut files = Vec::new();
        for entry in fs::read_dir(repository().join("deploy/crds")).unwrap() {
            files.push(fs::read_to_string(entry.unwrap().path()).unwrap());
        }
        let sorted = |mut texts: Vec<String>| {
            texts.sort();
            texts
        };
        assert_eq!(sorted(printed), sorted(files));
    }

    #[test]
    fn a_directory_is_made_for_them() {
        let directory = tempfile::tempdir().unwrap();
        let inside = directory.path().join("not/there/yet");
        assert_eq!(kollect(&["crds", "--out", inside.to_str().unwrap()]).code, Some(0));
        assert_eq!(fs::read_dir(inside).unwrap().count(), 11);
    }
}

mod samples {
    use super::*;

    #[test]
    fn all_of_them_pass_together() {
        let run = kollect(&[
            "validate",
            "--strict",
            repository().join("deploy/samples").to_str().unwrap(),
        ]);
        assert_eq!(run.code, Some(0), "{}", run.stdout);
        assert!(run.stdout.contains(": 0 errors, "), "{}", run.stdout);
    }

    #[test]
    fn the_ten_minute_start_stands_alone() {
        let path = repository().join("deploy/samples/first");
        let run = kollect(&["validate", "--strict", path.to_str().unwrap()]);
        assert_eq!(run.code, Some(0), "{}", run.stdout);
    }

    #[test]
    fn every_type_of_sink_has_one() {
        let texts = texts_below(&repository().join("deploy/samples"));
        let documents = texts.iter().flat_map(|text| text.split("\n---"));
        let sinks =
            documents.filter(|text| text.contains("\nkind: Kollect") && text.contains("Sink\n"));
        let types =
            sinks.flat_map(|text| text.lines().filter_map(|line| line.strip_prefix("  type: ")));
        let mut types: Vec<_> = types.collect();
        types.sort_unstable();
        types.dedup();
        let expected = [
            "bigquery", "file", "gcs", "git", "gitlab", "kafka", "mongodb", "nats", "postgres",
            "s3", "sqlite",
        ];
        assert_eq!(types, expected);
    }
}

mod collecting {
    use super::*;

    const CONFIG: &str = "deploy/samples/shop/config";
    const CLUSTER: &str = "deploy/samples/shop/cluster";

    /// Runs in a directory of its own, so that relative sinks go there.
    #[track_caller]
    fn collect(place: &Path, further: &[&str]) -> Run {
        let path = |name: &str| repository().join(name).display().to_string();
        let (config, cluster) = (path(CONFIG), path(CLUSTER));
        let mut arguments = vec!["collect", "--config", &config, "--from", &cluster];
        arguments.extend(further);
        run_in(place, &arguments, "")
    }

    #[test]
    fn a_dump_becomes_rows_and_a_second_run_writes_nothing() {
        let place = tempfile::tempdir().unwrap();
        let first = collect(place.path(), &[]);
        assert_eq!(first.code, Some(0), "{}", first.stderr);
        let lines: Vec<_> = first.stderr.lines().collect();
        assert_eq!(lines[0], "90 objects read, 47 rows for 6 targets, 11 values hidden");
        assert_eq!(
            lines[1],
            "platform/shop -> platform/files: 44 rows there (44 files written, 0 removed)"
        );
        assert_eq!(
            lines[2],
            "platform/shop -> platform/rows: 44 rows there (44 rows written, 0 deleted)"
        );
        assert!(place.path().join("inventory/rows.db").exists());
        let file =
            place.path().join("inventory/files/harbour-eu-1/payments/deployment/checkout.yaml");
        assert!(fs::read_to_string(file).unwrap().contains("payments/checkout:5.6.0"));
        let second = collect(place.path(), &[]);
        assert_eq!(second.stderr.matches("nothing to write, the copy is current").count(), 4);
    }

    #[test]
    fn an_object_that_is_gone_from_the_dump_goes_from_the_copies() {
        let place = tempfile::tempdir().unwrap();
        collect(place.path(), &[]);
        let cluster = place.path().join("cluster");
        fs::create_dir(&cluster).unwrap();
        for entry in fs::read_dir(repository().join(CLUSTER)).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name() != "warehouse.yaml" {
                fs::copy(entry.path(), cluster.join(entry.file_name())).unwrap();
            }
        }
        let config = repository().join(CONFIG).display().to_string();
        let run = run_in(place.path(), &["collect", "--config", &config, "--from", "cluster"], "");
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(run.stderr.contains("(0 rows written, 9 deleted)"), "{}", run.stderr);
        let left = place.path().join("inventory/files/harbour-eu-1/warehouse");
        assert!(!left.exists());
    }

    #[test]
    fn a_kind_that_is_not_in_the_dump_is_said_and_its_copies_stay() {
        let place = tempfile::tempdir().unwrap();
        collect(place.path(), &[]);
        let config = repository().join(CONFIG).display().to_string();
        let nodes = repository().join(CLUSTER).join("nodes.yaml").display().to_string();
        let run = run_in(place.path(), &["collect", "--config", &config, "--from", &nodes], "");
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(
            run.stderr.contains("skipped: target platform/cronjobs: there is no batch/v1 CronJob")
        );
        assert!(
            !run.stderr.contains("0 deleted)") || !run.stderr.contains("44 deleted"),
            "{}",
            run.stderr
        );
        assert!(
            place
                .path()
                .join("inventory/files/harbour-eu-1/payments/deployment/checkout.yaml")
                .exists()
        );
    }

    #[test]
    fn rows_can_be_printed_and_hold_no_secret() {
        let place = tempfile::tempdir().unwrap();
        for format in ["json", "ndjson", "yaml", "table"] {
            let run = collect(place.path(), &["-o", format]);
            assert_eq!(run.code, Some(0), "{}", run.stderr);
            assert!(run.stdout.contains("registry.example/payments/checkout:5.6.0"), "{format}");
            assert!(!run.stdout.contains("not-a-real"), "{format} shows a secret");
        }
        assert!(!place.path().join("inventory").exists());
        let run = collect(place.path(), &["--output", "-", "--format", "ndjson"]);
        let first: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
        assert_eq!(first["targetName"], "shop");
        assert_eq!(first["envelope"]["itemCount"], 44);
    }

    #[test]
    fn a_directory_takes_the_place_of_the_sinks() {
        let place = tempfile::tempdir().unwrap();
        let run = collect(place.path(), &["--output", "out", "--format", "json"]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let document = fs::read(place.path().join("out/inventory/platform/shop.json")).unwrap();
        let document: Value = serde_json::from_slice(&document).unwrap();
        assert_eq!(document["itemCount"], 44);
        assert!(!place.path().join("inventory").exists());
        let dry = collect(place.path(), &["--output", "dry", "--dry-run"]);
        assert!(dry.stderr.contains("nothing was written: this was a dry run"));
        assert!(!place.path().join("dry").exists());
    }

    #[test]
    fn a_suspended_inventory_is_not_copied_in_another_way() {
        let place = tempfile::tempdir().unwrap();
        let config = place.path().join("config");
        fs::create_dir(&config).unwrap();
        for entry in fs::read_dir(repository().join(CONFIG)).unwrap() {
            let entry = entry.unwrap();
            let text = fs::read_to_string(entry.path()).unwrap();
            let documents = text.split("\n---\n").map(|document| {
                let is_inventory = document.contains("Inventory\n");
                if is_inventory {
                    document.replace("\nspec:", "\nspec:\n  suspend: true")
                } else {
                    document.to_owned()
                }
            });
            let text = documents.collect::<Vec<_>>().join("\n---\n");
            fs::write(config.join(entry.file_name()), text).unwrap();
        }
        let cluster = repository().join(CLUSTER).display().to_string();
        let run = run_in(place.path(), &["collect", "--config", "config", "--from", &cluster], "");
        assert!(!place.path().join("inventory").exists(), "{}", run.stderr);
        assert!(run.stderr.contains("is in no inventory and was left out"), "{}", run.stderr);
    }

    #[test]
    fn a_repository_gets_a_commit_for_each_inventory_and_then_none() {
        let place = tempfile::tempdir().unwrap();
        git(place.path(), &["init", "--quiet", "--bare", "copy.git"]).unwrap();
        let config = place.path().join("config");
        fs::create_dir(&config).unwrap();
        for entry in fs::read_dir(repository().join(CONFIG)).unwrap() {
            let entry = entry.unwrap();
            let text = fs::read_to_string(entry.path()).unwrap();
            let kept = text.split("\n---\n").filter(|document| {
                !document.contains("Inventory\n") && !document.contains("Sink\n")
            });
            let text = kept.collect::<Vec<_>>().join("\n---\n");
            fs::write(config.join(entry.file_name()), text).unwrap();
        }
        let sink = format!(
            "apiVersion: kollect.dev/v1alpha1\nkind: KollectSnapshotSink\n\
             metadata: {{name: audit, namespace: shop}}\n\
             spec: {{type: git, cluster: eu-1, endpoint: 'file://{}/copy.git'}}\n",
            place.path().display()
        );
        fs::write(config.join("git.yaml"), sink).unwrap();
        let cluster = repository().join(CLUSTER).display().to_string();
        let mut commits = Vec::new();
        for _ in 0..2 {
            let run =
                run_in(place.path(), &["collect", "--config", "config", "--from", &cluster], "");
            assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
            let count = git(&place.path().join("copy.git"), &["rev-list", "--count", "main"]);
            commits.push(count.unwrap().parse::<u32>().unwrap());
        }
        assert!(commits[0] > 0 && commits[0] == commits[1], "{commits:?}");
    }

    #[test]
    fn a_configuration_that_is_wrong_collects_nothing() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("bad.yaml"), TARGET.replace("images", "team/images")).unwrap();
        let cluster = repository().join(CLUSTER).display().to_string();
        let run =
            run_in(place.path(), &["collect", "--config", "bad.yaml", "--from", &cluster], "");
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
        assert!(run.stderr.contains("error["), "{}", run.stderr);
        fs::write(place.path().join("lost.yaml"), TARGET).unwrap();
        let run =
            run_in(place.path(), &["collect", "--config", "lost.yaml", "--from", &cluster], "");
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains("there is no KollectProfile"), "{}", run.stderr);
    }
}

mod sinks {
    use super::*;

    #[test]
    fn a_sink_says_what_it_saw_or_what_is_in_the_way() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name).display().to_string();
        let sink = |kind: &str, name: &str, block: &str, path: &str| {
            format!(
                "apiVersion: kollect.dev/v1alpha1\nkind: Kollect{kind}Sink\n\
                 metadata: {{name: {name}, namespace: shop}}\n\
                 spec: {{type: {block}, {block}: {{path: {path}}}}}\n---\n"
            )
        };
        let manifest = [
            sink("Snapshot", "files", "file", &path("copies")),
            sink("Database", "rows", "sqlite", &path("rows.db")),
            sink("Database", "lost", "sqlite", &path("missing/rows.db")),
        ];
        let run = with_input(&["sink", "test", "-"], &manifest.concat());
        let lines: Vec<_> = run.stdout.lines().collect();
        assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
        assert_eq!(
            lines[0],
            format!(
                "KollectSnapshotSink shop/files (file): ok: files can be written to {}",
                path("copies")
            )
        );
        assert!(lines[1].starts_with("KollectDatabaseSink shop/rows (sqlite): ok: SQLite 3."));
        assert_eq!(
            lines[2],
            format!(
                "KollectDatabaseSink shop/lost (sqlite): failed: there is no directory {}",
                path("missing")
            )
        );
    }

    /// The Secret comes from the same files as the sink.
    #[test]
    fn a_database_takes_rows_and_is_known_again() {
        let Some(server) = kollect_testenv::Postgres::shared() else { return };
        let database = server.database("cli");
        let place = tempfile::tempdir().unwrap();
        let config = place.path().join("config");
        fs::create_dir(&config).unwrap();
        let images = repository().join("deploy/samples/shop/config/deployment-images.yaml");
        fs::copy(images, config.join("images.yaml")).unwrap();
        let ca = server.ca_pem().replace('\n', "\n    ");
        let sink = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: db, namespace: platform}}\n\
             stringData:\n  dsn: {}\n  ca.crt: |\n    {ca}\n---\n\
             apiVersion: kollect.dev/v1alpha1\nkind: KollectDatabaseSink\n\
             metadata: {{name: rows, namespace: platform}}\n\
             spec:\n  type: postgres\n  tls: {{caSecretRef: {{name: db}}}}\n\
             \x20 postgres: {{databaseRef: {{name: db}}, table: items}}\n",
            server.dsn(&database)
        );
        let path = config.join("sink.yaml").display().to_string();
        fs::write(&path, sink).unwrap();
        let here = "--allow-sink-cidrs=127.0.0.0/8";
        let run = kollect(&["sink", "test", &path]);
        assert!(run.stdout.contains("loopback addresses are not allowed"), "{}", run.stdout);
        let run = kollect(&["sink", "test", here, &path]);
        assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains("\"public\".\"items\" is not there yet"), "{}", run.stdout);
        let config = config.display().to_string();
        let cluster = repository().join("deploy/samples/shop/cluster").display().to_string();
        let collect = ["collect", "--config", &config, "--from", &cluster, here];
        let first = kollect(&collect);
        assert_eq!(first.code, Some(0), "{}", first.stderr);
        let count = &server.query(&database, "SELECT count(*) FROM items")[0][0];
        assert!(
            first.stderr.contains(&format!("({count} rows written, 0 deleted)")),
            "{}",
            first.stderr
        );
        let images = "SELECT count(*) FROM \"items_platform_deployment-images\" WHERE image <> ''";
        assert_eq!(&server.query(&database, images)[0][0], count);
        let second = kollect(&collect);
        assert!(
            second.stderr.contains("nothing to write, the copy is current"),
            "{}",
            second.stderr
        );
        for run in [first, second] {
            assert!(!run.stderr.contains(server.password()), "{}", run.stderr);
        }
    }

    #[test]
    fn a_repository_is_probed_and_one_behind_a_login_with_its_secret() {
        let server = GitServer::start(Protocol::Any).unwrap();
        server.repository("copy.git", &[]).unwrap();
        let (user, password) = server.login();
        let indented = server.authority().replace('\n', "\n    ");
        let manifest = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: login, namespace: shop}}\n\
             stringData: {{username: {user}, token: {password}}}\n---\n\
             apiVersion: v1\nkind: Secret\nmetadata: {{name: ca, namespace: shop}}\n\
             stringData:\n  ca.crt: |\n    {indented}\n---\n\
             apiVersion: kollect.dev/v1alpha1\nkind: KollectSnapshotSink\n\
             metadata: {{name: audit, namespace: shop}}\n\
             spec:\n  type: git\n  endpoint: {}\n  secretRef: {{name: login}}\n  \
             tls: {{caSecretRef: {{name: ca}}}}\n",
            server.url("copy.git"),
        );
        let run =
            with_input(&["sink", "test", "--allow-sink-cidrs", "127.0.0.0/8", "-"], &manifest);
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (
                Some(0),
                "KollectSnapshotSink shop/audit (git): ok: the repository has no branch main yet\n"
            ),
            "{}",
            run.stderr
        );
        let wrong = manifest.replace(password, "guessed-by-somebody");
        let run = with_input(&["sink", "test", "--allow-sink-cidrs", "127.0.0.0/8", "-"], &wrong);
        assert_eq!(run.code, Some(1));
        assert!(run.stdout.contains("401 Unauthorized"), "{}", run.stdout);
        assert!(!run.stdout.contains("guessed"), "{}", run.stdout);
    }

    #[test]
    fn a_sink_that_is_wrong_or_not_in_this_build_is_not_tried() {
        let bucket = "apiVersion: kollect.dev/v1alpha1\nkind: KollectSnapshotSink\n\
                      metadata: {name: audit, namespace: shop}\n\
                      spec: {type: s3, endpoint: 's3://inventory'}\n";
        let run = with_input(&["sink", "test", "-"], bucket);
        assert_eq!(run.code, Some(1));
        assert_eq!(
            run.stdout,
            "KollectSnapshotSink shop/audit (s3): failed: \
             spec.type: s3 is not in this build, which has file, git, postgres, sqlite\n"
        );
        let run = with_input(&["sink", "test", "-"], &bucket.replace("s3,", "s4,"));
        assert_eq!(run.code, Some(2));
        assert!(run.stdout.contains("error[SNK-01]"), "{}", run.stdout);
        let run = with_input(&["sink", "test", "-"], TARGET);
        assert_eq!(
            (run.code, run.stderr.as_str()),
            (Some(2), "kollect: there is no sink among what was given\n")
        );
    }
}

mod validating {
    use super::*;

    #[test]
    fn a_mistake_is_shown_with_its_rule_and_place() {
        let bad = TARGET.replace("images", "team/images");
        let run = validate("target.yaml", format!("a: 1\n---\n{bad}"));
        assert_eq!(run.code, Some(1));
        assert_eq!(
            run.stdout,
            "error[TGT-01]: spec.profileRef: Invalid value: \"team/images\": must be a name in the \
             same namespace, without a slash\n  \
             --> target.yaml:7:3 (document 2, KollectTarget shop/web)\n\n\
             1 object checked: 1 error, 0 warnings (1 object of other kinds passed over)\n"
        );
    }

    #[test]
    fn an_unknown_field_is_an_error_with_the_name_that_was_meant() {
        let run = validate("target.yaml", TARGET.replace("profileRef", "profileref"));
        assert_eq!(run.code, Some(1));
        assert!(
            run.stdout.contains(
                "error[STR-01]: spec.profileref: Forbidden: unknown field; did you mean profileRef?"
            ),
            "{}",
            run.stdout
        );
    }

    #[test]
    fn a_reference_that_leads_nowhere_is_a_warning_and_with_strict_an_error() {
        let lax = with_input(&["validate", "-"], TARGET);
        assert_eq!(lax.code, Some(0), "{}", lax.stdout);
        assert!(lax.stdout.contains("warning[SET-01]"), "{}", lax.stdout);
        let strict = with_input(&["validate", "--strict", "-"], TARGET);
        assert_eq!(strict.code, Some(1));
        assert!(strict.stdout.contains("error[SET-01]"), "{}", strict.stdout);
    }

    #[test]
    fn rules_look_at_the_whole_set() {
        let scope = "apiVersion: kollect.dev/v1alpha1
kind: KollectScope
metadata: {name: ceiling, namespace: shop}
spec: {allowedGVKs: [{version: v1, kind: Pod}]}
---
apiVersion: kollect.dev/v1alpha1
kind: KollectProfile
metadata: {name: images, namespace: shop}
spec:
  targetGVK: {group: apps, version: v1, kind: Deployment}
  attributes: [{name: image, path: '$.spec'}]
";
        let run = with_input(&["validate", "-"], &format!("{TARGET}---\n{scope}"));
        assert_eq!(run.code, Some(1));
        let expected = "error[TGT-06]: spec.profileRef: Forbidden: apps/v1 Deployment is not in \
                        allowedGVKs of KollectScope ceiling";
        assert!(run.stdout.contains(expected), "{}", run.stdout);
    }

    #[test]
    fn expressions_are_compiled() {
        let profile = "apiVersion: kollect.dev/v1alpha1
kind: KollectProfile
metadata: {name: images}
spec:
  targetGVK: {version: v1, kind: Pod}
  attributes:
  - {name: a, path: '$.spec'}
  - {name: b, path: 'cel:object.spec.size('}
  - {name: c, path: 'helm:release.chartVersion'}
";
        let run = with_input(&["validate", "-"], profile);
        let expected = "error[PRO-05]: spec.attributes[1].path: Invalid value: \
                        \"cel:object.spec.size(\": expected a value, not the end (character 22)";
        assert!(run.stdout.contains(expected), "{}", run.stdout);
        let run = with_input(&["validate", "-"], &profile.replace(".size(", ""));
        assert_eq!(run.stdout, "1 object checked: 0 errors, 0 warnings\n");
    }

    #[test]
    fn two_objects_of_one_name_are_an_error() {
        let run = validate("twice.yaml", format!("{TARGET}---\n{TARGET}"));
        assert_eq!(run.code, Some(1));
        let expected = "error[SET-02]: metadata.name: Duplicate value: \"web\": the object stands \
                        in twice.yaml, document 1, already";
        assert!(run.stdout.contains(expected), "{}", run.stdout);
    }

    #[test]
    fn programs_get_everything_in_one_object() {
        let run = with_input(&["validate", "-o", "json", "-"], TARGET);
        let verdict: Value = serde_json::from_str(&run.stdout).unwrap();
        let expected = serde_json::json!({
            "checked": 1,
            "passedOver": 0,
            "findings": [{
                "severity": "warning",
                "rule": "SET-01",
                "file": "-",
                "document": 1,
                "line": 5,
                "column": 3,
                "kind": "KollectTarget",
                "namespace": "shop",
                "name": "web",
                "field": "spec.profileRef",
                "message": "spec.profileRef: there is no KollectProfile shop/images among what was given"
            }],
            "failures": []
        });
        assert_eq!(verdict, expected);
    }

    #[test]
    fn what_kubectl_prints_can_be_read_back() {
        let list = format!(
            "apiVersion: v1\nkind: List\nitems:\n- {}",
            TARGET.trim_end().replace('\n', "\n  ")
        );
        let run = with_input(&["validate", "-"], &list);
        assert!(run.stdout.contains("1 object checked: 0 errors"), "{}", run.stdout);
    }

    #[test]
    fn directories_are_searched_and_other_kinds_passed_over() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::create_dir_all(at(".hidden")).unwrap();
        fs::write(at("a/b/target.yml"), TARGET).unwrap();
        fs::write(at("a/config.json"), r#"{"apiVersion": "v1", "kind": "ConfigMap"}"#).unwrap();
        fs::write(at("a/notes.txt"), "not a manifest").unwrap();
        fs::write(at("a/empty.yaml"), "# nothing\n").unwrap();
        fs::write(at(".hidden/broken.yaml"), "[").unwrap();
        let run = kollect(&["validate", directory.path().to_str().unwrap()]);
        assert_eq!(run.code, Some(0), "{}", run.stdout);
        let expected =
            "1 object checked: 0 errors, 1 warning (1 object of other kinds passed over)\n";
        assert!(run.stdout.ends_with(expected), "{}", run.stdout);
    }
}

mod bad_input {
    use super::*;

    #[track_caller]
    fn unreadable(run: &Run, reason: &str) {
        assert_eq!(run.code, Some(2), "{}", run.stdout);
        assert!(run.stdout.contains(reason), "{}", run.stdout);
    }

    #[test]
    fn an_empty_file_holds_no_object() {
        unreadable(&validate("empty.yaml", ""), "error: empty.yaml: holds no object");
        unreadable(&with_input(&["validate", "-"], ""), "error: -: holds no object");
    }

    #[test]
    fn a_tab_is_pointed_at() {
        let run = validate("tabs.yaml", TARGET.replace("  profileRef", "\tprofileRef"));
        unreadable(&run, "--> tabs.yaml:5:");
        assert!(run.stdout.contains("tab"), "{}", run.stdout);
    }

    #[test]
    fn a_binary_file_is_called_one() {
        let run = validate("logo.yaml", [0x89, b'P', b'N', b'G', 0, 0]);
        unreadable(&run, "error: logo.yaml: is not text: there is a NUL at byte 4");
        let run = validate("latin1.yaml", [b'a', b':', b' ', 0xe9]);
        unreadable(&run, "is not text in UTF-8: byte 3 cannot be read");
    }

    #[test]
    fn a_directory_without_manifests_says_so() {
        let directory = tempfile::tempdir().unwrap();
        let run = kollect(&["validate", directory.path().to_str().unwrap()]);
        unreadable(&run, "holds no .yaml, .yml or .json file");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let run = kollect(&["validate", "not/there.yaml"]);
        unreadable(&run, "error: not/there.yaml: No such file or directory");
    }

    #[test]
    fn a_wrong_version_or_kind_is_told_apart_from_a_foreign_one() {
        let run = validate("v1.yaml", TARGET.replace("v1alpha1", "v1"));
        assert_eq!(run.code, Some(1));
        let expected = "error[OBJ-01]: apiVersion: Unsupported value: \"kollect.dev/v1\": must be \
                        kollect.dev/v1alpha1";
        assert!(run.stdout.contains(expected), "{}", run.stdout);
        let run = validate("kind.yaml", TARGET.replace("KollectTarget", "KollectTargt"));
        assert!(run.stdout.contains("did you mean KollectTarget?"), "{}", run.stdout);
        let run = validate("removed.yaml", TARGET.replace("KollectTarget", "KollectSink"));
        assert!(run.stdout.contains("use KollectSnapshotSink"), "{}", run.stdout);
    }

    #[test]
    fn ten_megabytes_are_read_and_every_document_judged() {
        let mut text = String::new();
        let padding = "x".repeat(900);
        for at in 0..10_000 {
            let name = format!("name: web-{at}, annotations: {{padding: {padding}}}");
            text.push_str(&TARGET.replace("name: web", &name));
            text.push_str("---\n");
        }
        assert!(text.len() > 10_000_000);
        let run = validate("large.yaml", text);
        assert_eq!(run.code, Some(0));
        let expected = "10000 objects checked: 0 errors, 10000 warnings\n";
        assert!(run.stdout.ends_with(expected));
    }

    #[test]
    fn a_bomb_of_anchors_does_not_go_off() {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for level in 1..20 {
            let below = vec![format!("*a{}", level - 1); 9].join(", ");
            bomb = format!("{bomb}a{level}: &a{level} [{below}]\n");
        }
        unreadable(&validate("bomb.yaml", bomb), "aliases unfold to more than 50000 values");
    }

    #[test]
    fn one_broken_file_does_not_hide_the_others() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("a.yaml"), "a: [").unwrap();
        fs::write(directory.path().join("b.yaml"), TARGET.replace("images", "a/b")).unwrap();
        let run = kollect(&["validate", directory.path().to_str().unwrap()]);
        unreadable(&run, "error[TGT-01]");
        assert!(run.stdout.contains("a.yaml:"), "{}", run.stdout);
    }
}

mod evaluating {
    use super::*;

    const POD: &str = "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, \
                       spec: {containers: [{image: a}, {image: b}], replicas: 2}}";

    #[test]
    fn a_path_shows_its_value_its_type_and_what_it_reads() {
        let run = with_input(&["eval", "$.spec.containers[*].image"], POD);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let expected = "Pod shop/web: [\"a\",\"b\"] (a list)\nreads $.spec.containers[*].image\n";
        assert_eq!(run.stdout, expected);
    }

    #[test]
    fn every_object_is_tried_and_an_error_points_at_its_place() {
        let run = with_input(
            &["eval", "$.spec.containers[1].image"],
            &format!("{POD}\n---\n{}", POD.replace(", {image: b}", "")),
        );
        assert_eq!(run.code, Some(1));
        let expected = "Pod shop/web: \"b\" (a text)\n\
                        Pod shop/web: error: there is no element 1 in a list of 1\n  \
                        $.spec.containers[1].image\n                   ^\n\
                        reads $.spec.containers[*].image\n";
        assert_eq!(run.stdout, expected);
    }

    #[test]
    fn a_path_that_does_not_compile_is_shown_with_a_caret() {
        let run = with_input(&["eval", "$.spec[x]"], POD);
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains("\n$.spec[x]\n       ^ an index"), "{}", run.stderr);
        let run = with_input(&["eval", "cel:object.spec + 'a' * 2"], POD);
        assert_eq!(run.code, Some(2));
        let expected = "\nobject.spec + 'a' * 2\n                  ^ * does not take string, int";
        assert!(run.stderr.contains(expected), "{}", run.stderr);
    }

    #[test]
    fn an_expression_has_a_value_a_cost_and_paths() {
        let run = with_input(&["eval", "cel:object.spec.containers.map(c, c.image)"], POD);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let expected = "Pod shop/web: [\"a\",\"b\"] (a list, 368 steps)\n\
                        reads $.spec.containers[*].image\n";
        assert_eq!(run.stdout, expected);
        let run = with_input(&["eval", "cel:object.spec.nothing"], POD);
        assert_eq!(run.code, Some(1));
        let expected = "Pod shop/web: error: there is no key nothing\n  \
                        object.spec.nothing\n             ^\nreads $.spec.nothing\n";
        assert_eq!(run.stdout, expected);
    }

    #[test]
    fn a_profile_makes_the_rows_of_its_kind() {
        let directory = tempfile::tempdir().unwrap();
        let profile = directory.path().join("profile.yaml");
        let text = "apiVersion: kollect.dev/v1alpha1
kind: KollectProfile
metadata: {name: pods, namespace: shop}
spec:
  targetGVK: {version: v1, kind: Pod}
  attributes:
  - {name: images, path: '$.spec.containers[*].image'}
  - {name: password, path: '$.spec.replicas'}
";
        fs::write(&profile, text).unwrap();
        let objects =
            format!("{POD}\n---\n{{apiVersion: v1, kind: Service, metadata: {{name: x}}}}\n");
        let profile = profile.to_str().unwrap();
        let run = with_input(&["eval", "--profile", profile], &objects);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let expected = r#"{"targetNamespace":"shop","targetName":"pods","namespace":"shop","name":"web","version":"v1","kind":"Pod","uid":"","attributes":{"images":["a","b"],"password":{"reason":"sensitive-key","redacted":true}}}
  hidden: password (sensitive-key)
"#;
        assert_eq!(run.stdout, expected);
        assert_eq!(run.stderr, "passed over, because they are no v1 Pod: 1\n");
        fs::write(profile, text.replace("$.spec.replicas", "cel:object.x")).unwrap();
        let run = with_input(&["eval", "--profile", profile], POD);
        assert_eq!(run.code, Some(1));
        assert!(run.stderr.contains("attribute password: there is no key x"), "{}", run.stderr);
    }

    #[test]
    fn programs_get_results_and_paths() {
        let run = with_input(&["eval", "-o", "json", "$.spec.replicas"], POD);
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        let expected = serde_json::json!({
            "reads": ["$.spec.replicas"],
            "results": [{"object": "Pod shop/web", "value": 2, "type": "a number"}],
        });
        assert_eq!(found, expected);
    }
}

mod small_commands {
    use super::*;

    #[test]
    fn the_version_says_what_it_was_built_from() {
        let run = kollect(&["version"]);
        let expected = format!("kollect {} (commit ", env!("CARGO_PKG_VERSION"));
        assert!(run.stdout.starts_with(&expected), "{}", run.stdout);
        assert_eq!(kollect(&["--version"]).stdout, run.stdout);
    }

    #[test]
    fn every_shell_has_a_completion_script() {
        for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
            let run = kollect(&["completion", shell]);
            assert_eq!(run.code, Some(0));
            assert!(run.stdout.contains("validate"), "{shell}");
        }
    }

    #[test]
    fn every_rule_is_listed() {
        let run = kollect(&["rules"]);
        assert!(run.stdout.starts_with("OBJ-01 "), "{}", run.stdout);
        assert!(run.stdout.lines().count() > 100);
    }

    #[test]
    fn an_unknown_command_is_refused_with_a_hint() {
        let run = kollect(&["validat", "x"]);
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains("validate"), "{}", run.stderr);
    }
}
