//! Sinks are asked before anything is written to them.

use std::fs;

use kollect_testenv::{GitServer, Protocol};

use super::support::{TARGET, kollect, repository, with_input};

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
    assert!(second.stderr.contains("nothing to write, the copy is current"), "{}", second.stderr);
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
    let run = with_input(&["sink", "test", "--allow-sink-cidrs", "127.0.0.0/8", "-"], &manifest);
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
