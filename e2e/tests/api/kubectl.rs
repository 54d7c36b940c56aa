//! What a user of kubectl sees.

use e2e::cluster;

/// The cells of each line, wherever kubectl puts its blanks.
fn cells(table: &str) -> Vec<Vec<&str>> {
    table.lines().map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn every_kind_has_its_short_name_and_scope() {
    let Some(cluster) = cluster() else { return };
    let table = cluster
        .kubectl(["api-resources", "--api-group=kollect.dev", "--no-headers", "--sort-by=kind"])
        .stdout();
    let version = "kollect.dev/v1alpha1";
    assert_eq!(
        cells(&table),
        [
            ["kollectclusterinventories", "kcinv", version, "false", "KollectClusterInventory"],
            ["kollectclusterscopes", "kcscope", version, "false", "KollectClusterScope"],
            ["kollectclustertargets", "kctgt", version, "false", "KollectClusterTarget"],
            ["kollectconnectiontests", "kconntest", version, "true", "KollectConnectionTest"],
            ["kollectdatabasesinks", "kdb", version, "true", "KollectDatabaseSink"],
            ["kollecteventsinks", "kevt", version, "true", "KollectEventSink"],
            ["kollectinventories", "kinv", version, "true", "KollectInventory"],
            ["kollectprofiles", "kprof", version, "true", "KollectProfile"],
            ["kollectscopes", "kscope", version, "true", "KollectScope"],
            ["kollectsnapshotsinks", "ksnap", version, "true", "KollectSnapshotSink"],
            ["kollecttargets", "ktgt", version, "true", "KollectTarget"],
        ]
    );
}

#[test]
fn every_kind_shows_its_columns() {
    let Some(cluster) = cluster() else { return };
    let namespace = cluster.namespace("columns");
    let objects = include_str!("../../../fixtures/one-of-each.yaml");
    cluster.apply(&objects.replace("NAMESPACE", &namespace));
    let row = |kind: &str, name: &str| {
        let table = cluster.kubectl(["get", kind, name, "-n", &namespace]).stdout();
        table.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let header = |kind: &str, name: &str| {
        let lines = row(kind, name);
        let words = lines.first().map(|line| line.split("  ").map(str::trim).collect::<Vec<_>>());
        words
            .unwrap_or_default()
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join("|")
    };
    for (kind, name, expected) in [
        ("kprof", "images", "NAME|GROUP|KIND|AGE"),
        ("ktgt", "web", "NAME|PROFILE|READY|COLLECTED|UPDATED|AGE"),
        ("kscope", "ceiling", "NAME|AGE"),
        ("kinv", "all", "NAME|READY|SYNCED|ITEMS|LAST EXPORT|AGE"),
        ("ksnap", "copies", "NAME|TYPE|VERIFIED|AGE"),
        ("kdb", "rows", "NAME|TYPE|VERIFIED|AGE"),
        ("kevt", "bus", "NAME|TYPE|VERIFIED|AGE"),
        ("kconntest", "probe", "NAME|SNAPSHOT|DATABASE|EVENT|READY|VERIFIED|COMPLETED|AGE"),
        ("kctgt", "one-of-each", "NAME|PROFILE|READY|COLLECTED|UPDATED|AGE"),
        ("kcscope", "one-of-each", "NAME|AGE"),
        ("kcinv", "one-of-each", "NAME|READY|SYNCED|ITEMS|TARGETS|LAST EXPORT|AGE"),
    ] {
        assert_eq!(header(kind, name), expected, "{kind}");
    }
    let profile = row("kprof", "images");
    let cells: Vec<_> = profile[1].split_whitespace().take(3).collect();
    assert_eq!(cells, ["images", "apps", "Deployment"]);
}

#[test]
fn the_status_of_a_target_fills_its_columns() {
    let Some(cluster) = cluster() else { return };
    let namespace = cluster.namespace("status");
    cluster.apply(&format!(
        "{{apiVersion: kollect.dev/v1alpha1, kind: KollectTarget, \
          metadata: {{name: web, namespace: {namespace}}}, spec: {{profileRef: images}}}}"
    ));
    let patch = r#"{"status":{"collectedCount":42,"conditions":[{"type":"Ready","status":"True",
        "reason":"Collecting","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}"#;
    cluster
        .kubectl([
            "patch",
            "ktgt",
            "web",
            "-n",
            &namespace,
            "--subresource=status",
            "--type=merge",
            "-p",
            patch,
        ])
        .stdout();
    let table = cluster.kubectl(["get", "ktgt", "web", "-n", &namespace, "--no-headers"]).stdout();
    let cells: Vec<_> = table.split_whitespace().take(4).collect();
    assert_eq!(cells, ["web", "images", "True", "42"]);
}

#[test]
fn explain_tells_what_a_field_is_for() {
    let Some(cluster) = cluster() else { return };
    for (field, expected) in [
        ("kprof", "Says which kind of object to read and which of its attributes become a row."),
        ("kprof.spec.attributes.path", "(`$.spec.replicas`, `{.spec.containers[*].image}`)"),
        (
            "kinv.spec.exportMinInterval",
            "A change never waits for it. `0s`: no timer. Default: `30s`.",
        ),
        ("ksnap.spec.file.path", "Directory to write to, such as a mounted volume"),
        ("kinv.status.watermark.digest", "Digest of those rows, 32 hexadecimal digits."),
    ] {
        let text = cluster.kubectl(["explain", field]).stdout();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(expected), "{field}: {text}");
    }
}
