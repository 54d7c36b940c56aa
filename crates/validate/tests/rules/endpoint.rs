//! Where sinks may be.

use kollect_validate::{Kind, LocalPaths, Rule};
use serde_json::{Value, json};

use super::support::{Case, accepted, object, refused};

fn at(sink_type: &str, endpoint: &str) -> Value {
    object(Kind::SnapshotSink, "audit", json!({ "type": sink_type, "endpoint": endpoint }))
}

fn nats(url: &str) -> Value {
    let spec = json!({ "type": "nats", "nats": { "url": url, "subject": "kollect" } });
    object(Kind::EventSink, "bus", spec)
}

fn kafka(brokers: Value) -> Value {
    let spec = json!({ "type": "kafka", "kafka": { "brokers": brokers, "topic": "rows" } });
    object(Kind::EventSink, "bus", spec)
}

pub(crate) fn cases() -> Vec<Case> {
    [
        allowed(),
        denied(),
        disguised(),
        streams(),
        brokers(),
        nats_urls(),
        policies(),
        missing(),
        repositories(),
        local(),
        bare_repositories(),
    ]
    .concat()
}

fn allowed() -> Vec<Case> {
    let endpoints = [
        ("git", "https://git.example.org/shop/audit.git#branch=inventory"),
        ("git", "https://user:pw@GIT.example.org.:8443/shop/audit.git"),
        ("git", "ssh://git@git.example.org:2222/shop/audit.git"),
        ("git", "git@git.example.org:shop/audit.git"),
        ("git", "git.example.org:/srv/audit.git"),
        ("git", "https://8.8.8.8/audit.git"),
        ("git", "https://[2606:4700::1111]/audit.git"),
        ("gitlab", "https://gitlab.example.org/shop/audit.git"),
        ("s3", "s3://bucket"),
        ("s3", "metadata/prefix"),
        ("s3", "s3://localhost/prefix"),
        ("s3", "https://minio.example.org:9000/bucket/prefix"),
        ("gcs", "gs://bucket/prefix"),
        ("gcs", "s3://bucket/prefix"),
    ];
    let mut cases = vec![
        accepted(Rule::Snk05, nats("nats://a.example.org:4222, tls://b.example.org")),
        accepted(Rule::Snk05, kafka(json!(["kafka.example.org:9092", "k2.example.org"]))),
    ];
    for rule in [Rule::Snk05, Rule::Snk12] {
        cases
            .extend(endpoints.map(|(sink_type, endpoint)| accepted(rule, at(sink_type, endpoint))));
    }
    cases
}

/// Type, endpoint, and what is said about it.
const DENIED: [(&str, &str, &str); 16] = [
    (
        "git",
        "https://localhost/a.git",
        r#"spec.endpoint: Invalid value: "https://localhost/a.git": localhost: the name belongs to this machine or to a metadata service"#,
    ),
    (
        "git",
        "https://LOCALHOST./a.git",
        r#"spec.endpoint: Invalid value: "https://LOCALHOST./a.git": LOCALHOST.: the name belongs to this machine or to a metadata service"#,
    ),
    (
        "git",
        "https://x.localhost/a.git",
        r#"spec.endpoint: Invalid value: "https://x.localhost/a.git": x.localhost: the name belongs to this machine or to a metadata service"#,
    ),
    (
        "git",
        "http://metadata.google.internal/a.git",
        r#"spec.endpoint: Invalid value: "http://metadata.google.internal/a.git": metadata.google.internal: the name belongs to this machine or to a metadata service"#,
    ),
    (
        "git",
        "https://127.0.0.1:8080/a.git",
        r#"spec.endpoint: Invalid value: "https://127.0.0.1:8080/a.git": 127.0.0.1: loopback addresses are not allowed"#,
    ),
    (
        "git",
        "https://169.254.169.254/a.git",
        r#"spec.endpoint: Invalid value: "https://169.254.169.254/a.git": 169.254.169.254: link-local addresses are not allowed"#,
    ),
    (
        "git",
        "https://[::1]/a.git",
        r#"spec.endpoint: Invalid value: "https://[::1]/a.git": ::1: loopback addresses are not allowed"#,
    ),
    (
        "git",
        "https://[fe80::1%25eth0]/a.git",
        r#"spec.endpoint: Invalid value: "https://[fe80::1%25eth0]/a.git": fe80::1%25eth0: link-local addresses are not allowed"#,
    ),
    (
        "git",
        "https://[::ffff:127.0.0.1]/a.git",
        r#"spec.endpoint: Invalid value: "https://[::ffff:127.0.0.1]/a.git": ::ffff:127.0.0.1: loopback addresses are not allowed"#,
    ),
    (
        "git",
        "https://100.64.0.1/a.git",
        r#"spec.endpoint: Invalid value: "https://100.64.0.1/a.git": 100.64.0.1: the address is reserved"#,
    ),
    (
        "git",
        "https://0.0.0.0/a.git",
        r#"spec.endpoint: Invalid value: "https://0.0.0.0/a.git": 0.0.0.0: the address is reserved"#,
    ),
    (
        "git",
        "https://10.0.0.1/a.git",
        r#"spec.endpoint: Invalid value: "https://10.0.0.1/a.git": 10.0.0.1: private addresses are not allowed (the operator's --allow-private-sinks admits them)"#,
    ),
    (
        "git",
        "ssh://git@192.168.0.1:22/a.git",
        r#"spec.endpoint: Invalid value: "ssh://***@192.168.0.1:22/a.git": 192.168.0.1: private addresses are not allowed (the operator's --allow-private-sinks admits them)"#,
    ),
    (
        "gitlab",
        "https://[fd12::1]/a.git",
        r#"spec.endpoint: Invalid value: "https://[fd12::1]/a.git": fd12::1: private addresses are not allowed (the operator's --allow-private-sinks admits them)"#,
    ),
    (
        "s3",
        "http://127.0.0.1:9000/bucket",
        r#"spec.endpoint: Invalid value: "http://127.0.0.1:9000/bucket": 127.0.0.1: loopback addresses are not allowed"#,
    ),
    (
        "gcs",
        "file:///srv/bucket",
        r#"spec.endpoint: Invalid value: "file:///srv/bucket": the scheme file is not allowed here; for a directory use a sink of type file"#,
    ),
];
/// Hosts that are never allowed, or only by the operator's word.
fn denied() -> Vec<Case> {
    DENIED
        .map(|(sink_type, endpoint, says)| refused(Rule::Snk05, at(sink_type, endpoint), says))
        .into()
}

/// Endpoints of Git, and what is said about them.
const DISGUISED: [(&str, &str); 17] = [
    (
        "git@127.0.0.1:x",
        r#"spec.endpoint: Invalid value: "***@127.0.0.1:x": 127.0.0.1: loopback addresses are not allowed"#,
    ),
    (
        "git@127.0.0.1:team:x.git",
        r#"spec.endpoint: Invalid value: "***@127.0.0.1:team:x.git": 127.0.0.1: loopback addresses are not allowed"#,
    ),
    (
        "git@[127.0.0.1:22]:x.git",
        r#"spec.endpoint: Invalid value: "***@[127.0.0.1:22]:x.git": 127.0.0.1: loopback addresses are not allowed"#,
    ),
    (
        "127.0.0.1:x@git.example.org",
        r#"spec.endpoint: Invalid value: "***@git.example.org": 127.0.0.1: loopback addresses are not allowed"#,
    ),
    (
        "git@127.0.0.1:x@git.example.org",
        r#"spec.endpoint: Invalid value: "***@git.example.org": 127.0.0.1: loopback addresses are not allowed"#,
    ),
    (
        "git@127.0.0.1:x/://git.example.org/y",
        r#"spec.endpoint: Invalid value: "***@127.0.0.1:x/://git.example.org/y": 127.0.0.1: loopback addresses are not allowed"#,
    ),
    (
        "https://git.example.org@127.0.0.1/a.git",
        r#"spec.endpoint: Invalid value: "https://***@127.0.0.1/a.git": 127.0.0.1: loopback addresses are not allowed"#,
    ),
    (
        "https://user:secret@127.0.0.1/a.git",
        r#"spec.endpoint: Invalid value: "https://***@127.0.0.1/a.git": 127.0.0.1: loopback addresses are not allowed"#,
    ),
    (
        "https://127.0.0.1\\@git.example.org/a.git",
        r#"spec.endpoint: Invalid value: "https://***@git.example.org/a.git": must not contain backslashes, blanks or control characters"#,
    ),
    (
        "https:///127.0.0.1/a.git",
        r#"spec.endpoint: Invalid value: "https:///127.0.0.1/a.git": names no host"#,
    ),
    (
        "https://127.1/a.git",
        r#"spec.endpoint: Invalid value: "https://127.1/a.git": 127.1: loopback addresses are not allowed"#,
    ),
    (
        "https://2130706433/a.git",
        r#"spec.endpoint: Invalid value: "https://2130706433/a.git": 2130706433: loopback addresses are not allowed"#,
    ),
    (
        "https://0x7f.0.0.1/a.git",
        r#"spec.endpoint: Invalid value: "https://0x7f.0.0.1/a.git": 0x7f.0.0.1: loopback addresses are not allowed"#,
    ),
    (
        "https://loc%61lhost/a.git",
        r#"spec.endpoint: Invalid value: "https://loc%61lhost/a.git": "loc%61lhost" is no host name: write letters, digits, dashes and dots, in ASCII and without escapes"#,
    ),
    (
        "https://127。0。0。1/a.git",
        r#"spec.endpoint: Invalid value: "https://127。0。0。1/a.git": "127。0。0。1" is no host name: write letters, digits, dashes and dots, in ASCII and without escapes"#,
    ),
    (
        "ssh://-oProxyCommand=x/a.git",
        r#"spec.endpoint: Invalid value: "ssh://-oProxyCommand=x/a.git": "-oProxyCommand=x" is no host name: write letters, digits, dashes and dots, in ASCII and without escapes"#,
    ),
    (
        "https://127.0.0.1\t.example.org/a.git",
        r#"spec.endpoint: Invalid value: "https://127.0.0.1\t.example.org/a.git": must not contain backslashes, blanks or control characters"#,
    ),
];
/// Spellings that one client reads as one host and another as another.
fn disguised() -> Vec<Case> {
    DISGUISED.map(|(endpoint, says)| refused(Rule::Snk05, at("git", endpoint), says)).into()
}

/// A NATS sink that is found by its endpoint.
fn nats_at(endpoint: &str) -> Value {
    let spec = json!({ "type": "nats", "endpoint": endpoint, "nats": { "subject": "kollect" } });
    object(Kind::EventSink, "bus", spec)
}

fn streams() -> Vec<Case> {
    let mut gitlab = at("gitlab", "https://gitlab.example.org/shop/audit.git");
    gitlab["spec"]["options"] = json!({ "apiBaseURL": "http://169.254.169.254/latest" });
    vec![
        refused(
            Rule::Snk05,
            nats("nats://127.0.0.1:4222"),
            r#"spec.nats.url: Invalid value: "nats://127.0.0.1:4222": 127.0.0.1: loopback addresses are not allowed"#,
        ),
        refused(
            Rule::Snk05,
            nats("127.0.0.1?x"),
            r#"spec.nats.url: Invalid value: "127.0.0.1?x": 127.0.0.1: loopback addresses are not allowed"#,
        ),
        refused(
            Rule::Snk05,
            nats("nats://a.example.org,nats://[::1]:4222"),
            r#"spec.nats.url: Invalid value: "nats://[::1]:4222": ::1: loopback addresses are not allowed"#,
        ),
        refused(
            Rule::Snk05,
            nats("s3://127.0.0.1"),
            r#"spec.nats.url: Invalid value: "s3://127.0.0.1": 127.0.0.1: loopback addresses are not allowed"#,
        ),
        refused(
            Rule::Snk05,
            nats_at("tls://localhost:4222"),
            r#"spec.endpoint: Invalid value: "tls://localhost:4222": localhost: the name belongs to this machine or to a metadata service"#,
        ),
        refused(
            Rule::Snk05,
            gitlab,
            r#"spec.options[apiBaseURL]: Invalid value: "http://169.254.169.254/latest": 169.254.169.254: link-local addresses are not allowed"#,
        ),
    ]
}

fn brokers() -> Vec<Case> {
    vec![
        refused(
            Rule::Snk05,
            kafka(json!(["kafka.example.org:9092", "localhost:9092"])),
            r#"spec.kafka.brokers[1]: Invalid value: "localhost:9092": localhost: the name belongs to this machine or to a metadata service"#,
        ),
        refused(
            Rule::Snk05,
            kafka(json!(["kafka.example.org:9092,127.0.0.1:9092"])),
            r#"spec.kafka.brokers[0]: Invalid value: "127.0.0.1:9092": 127.0.0.1: loopback addresses are not allowed"#,
        ),
        refused(
            Rule::Snk05,
            kafka(json!(["[::1]:9092"])),
            r#"spec.kafka.brokers[0]: Invalid value: "[::1]:9092": ::1: loopback addresses are not allowed"#,
        ),
        refused(
            Rule::Snk05,
            kafka(json!(["::1"])),
            r#"spec.kafka.brokers[0]: Invalid value: "::1": ::1: loopback addresses are not allowed"#,
        ),
        refused(
            Rule::Snk05,
            kafka(json!(["PLAINTEXT://127.0.0.1:9092"])),
            r#"spec.kafka.brokers[0]: Invalid value: "PLAINTEXT://127.0.0.1:9092": 127.0.0.1: loopback addresses are not allowed"#,
        ),
    ]
}

fn nats_urls() -> Vec<Case> {
    vec![
        accepted(Rule::Esk04, nats("nats://nats.example.org")),
        refused(
            Rule::Esk04,
            nats("nats://user:pw@nats.example.org"),
            "spec.nats.url: Forbidden: carries credentials; put them into a Secret and name that in secretRef",
        ),
        refused(
            Rule::Esk04,
            nats("nats.example.org,token@nats.example.org"),
            "spec.nats.url: Forbidden: carries credentials; put them into a Secret and name that in secretRef",
        ),
        refused(
            Rule::Esk04,
            nats_at("nats://token@nats.example.org"),
            "spec.endpoint: Forbidden: carries credentials; put them into a Secret and name that in secretRef",
        ),
        accepted(Rule::Snk12, nats_at("nats://nats.example.org")),
        refused(
            Rule::Snk12,
            nats(" "),
            "spec.nats.url: Required value: nats.url or endpoint is needed, such as nats://nats.example.org:4222",
        ),
    ]
}

fn policies() -> Vec<Case> {
    let private = || at("git", "https://10.0.0.1/a.git");
    let own = || at("git", "http://127.0.0.1:3000/a.git");
    let metadata = || at("git", "http://169.254.169.254/a.git");
    vec![
        accepted(Rule::Snk05, private()).under(|policy| policy.addresses.private = true),
        refused(Rule::Snk05, metadata(), r#"spec.endpoint: Invalid value: "http://169.254.169.254/a.git": 169.254.169.254: link-local addresses are not allowed"#).under(|policy| policy.addresses.private = true),
        accepted(Rule::Snk05, own())
            .under(|policy| policy.addresses.allowed = "127.0.0.0/8".parse().into_iter().collect()),
    ]
}

fn missing() -> Vec<Case> {
    let without =
        |sink_type: &str| object(Kind::SnapshotSink, "audit", json!({ "type": sink_type }));
    vec![
        refused(
            Rule::Snk12,
            without("git"),
            "spec.endpoint: Required value: the address of the destination, such as https://git.example.org/team/inventory.git",
        ),
        refused(
            Rule::Snk12,
            without("gitlab"),
            "spec.endpoint: Required value: the address of the destination, such as https://gitlab.example.org/team/inventory.git",
        ),
        refused(
            Rule::Snk12,
            without("s3"),
            "spec.endpoint: Required value: the address of the destination, such as s3://bucket/prefix",
        ),
        refused(
            Rule::Snk12,
            at("gcs", " "),
            "spec.endpoint: Required value: the address of the destination, such as gs://bucket/prefix",
        ),
    ]
}

/// Type, endpoint, and why it cannot work.
const UNUSABLE: [(&str, &str, &str); 18] = [
    (
        "git",
        "https://git.example.org",
        r#"spec.endpoint: Invalid value: "https://git.example.org": names no repository; write something such as https://git.example.org/team/inventory.git"#,
    ),
    (
        "git",
        "ssh://git@git.example.org/",
        r#"spec.endpoint: Invalid value: "ssh://***@git.example.org/": names no repository; write something such as https://git.example.org/team/inventory.git"#,
    ),
    (
        "git",
        "git.example.org/shop/audit.git",
        r#"spec.endpoint: Invalid value: "git.example.org/shop/audit.git": is neither a URL nor user@host:path; write something such as https://git.example.org/team/inventory.git"#,
    ),
    (
        "git",
        "/srv/audit.git",
        r#"spec.endpoint: Invalid value: "/srv/audit.git": is neither a URL nor user@host:path; write something such as https://git.example.org/team/inventory.git"#,
    ),
    (
        "git",
        "git.example.org:22",
        r#"spec.endpoint: Invalid value: "git.example.org:22": is neither a URL nor user@host:path; write something such as https://git.example.org/team/inventory.git"#,
    ),
    (
        "git",
        "https:/git.example.org/audit.git",
        r#"spec.endpoint: Invalid value: "https:/git.example.org/audit.git": lacks // after its scheme; write something such as https://git.example.org/team/inventory.git"#,
    ),
    (
        "git",
        "ext::sh",
        r#"spec.endpoint: Invalid value: "ext::sh": is neither a URL nor user@host:path; write something such as https://git.example.org/team/inventory.git"#,
    ),
    (
        "git",
        "s3://bucket/prefix",
        r#"spec.endpoint: Invalid value: "s3://bucket/prefix": must be https://, http://, ssh:// or user@host:path; write something such as https://git.example.org/team/inventory.git"#,
    ),
    (
        "git",
        "git://git.example.org/audit.git",
        r#"spec.endpoint: Invalid value: "git://git.example.org/audit.git": must be https://, http://, ssh:// or user@host:path; write something such as https://git.example.org/team/inventory.git"#,
    ),
    (
        "gitlab",
        "ssh://git@gitlab.example.org/audit.git",
        r#"spec.endpoint: Invalid value: "ssh://***@gitlab.example.org/audit.git": must be https:// or http://; write something such as https://gitlab.example.org/team/inventory.git"#,
    ),
    (
        "gitlab",
        "git@gitlab.example.org:audit.git",
        r#"spec.endpoint: Invalid value: "***@gitlab.example.org:audit.git": must be https:// or http://; write something such as https://gitlab.example.org/team/inventory.git"#,
    ),
    (
        "gitlab",
        "https://user:secret@gitlab.example.org",
        r#"spec.endpoint: Invalid value: "https://***@gitlab.example.org": names no repository; write something such as https://gitlab.example.org/team/inventory.git"#,
    ),
    (
        "s3",
        "https://minio.example.org",
        r#"spec.endpoint: Invalid value: "https://minio.example.org": names no bucket; write something such as s3://bucket/prefix"#,
    ),
    (
        "s3",
        "https://minio.example.org/?x",
        r#"spec.endpoint: Invalid value: "https://minio.example.org/?x": names no bucket; write something such as s3://bucket/prefix"#,
    ),
    (
        "s3",
        "s3:///prefix",
        r#"spec.endpoint: Invalid value: "s3:///prefix": names no bucket; write something such as s3://bucket/prefix"#,
    ),
    (
        "s3",
        "gs://bucket",
        r#"spec.endpoint: Invalid value: "gs://bucket": must be s3://, https:// or the name of a bucket; write something such as s3://bucket/prefix"#,
    ),
    (
        "s3",
        "https:/minio.example.org/bucket",
        r#"spec.endpoint: Invalid value: "https:/minio.example.org/bucket": names no bucket; write something such as s3://bucket/prefix"#,
    ),
    (
        "gcs",
        "ftp://host/bucket",
        r#"spec.endpoint: Invalid value: "ftp://host/bucket": must be gs://, s3://, https:// or the name of a bucket; write something such as gs://bucket/prefix"#,
    ),
];
fn repositories() -> Vec<Case> {
    UNUSABLE
        .map(|(sink_type, endpoint, says)| refused(Rule::Snk12, at(sink_type, endpoint), says))
        .into()
}

fn below(case: Case) -> Case {
    case.under(|policy| policy.local_paths = LocalPaths::Below("/srv".into()))
}

fn nowhere(case: Case) -> Case {
    case.under(|policy| policy.local_paths = LocalPaths::Nowhere)
}

/// Paths on the machine that writes.
fn local() -> Vec<Case> {
    let file = |path: &str| {
        object(Kind::SnapshotSink, "disk", json!({ "type": "file", "file": { "path": path } }))
    };
    let sqlite = |path: &str| {
        object(Kind::DatabaseSink, "disk", json!({ "type": "sqlite", "sqlite": { "path": path } }))
    };
    vec![
        accepted(Rule::Snk15, file("inventory")),
        below(accepted(Rule::Snk15, file("/srv/shop/inventory"))),
        below(accepted(Rule::Snk15, file("inventory"))),
        refused(Rule::Snk15, file(" "), "spec.file.path: Required value: must not be blank"),
        refused(
            Rule::Snk15,
            file("/srv/../etc"),
            r#"spec.file.path: Invalid value: "/srv/../etc": must not contain `..`"#,
        ),
        refused(
            Rule::Snk15,
            sqlite("a\0b"),
            r#"spec.sqlite.path: Invalid value: "a\0b": must not contain a NUL character"#,
        ),
        below(refused(
            Rule::Snk15,
            sqlite("/etc/rows.db"),
            r#"spec.sqlite.path: Invalid value: "/etc/rows.db": must be relative to /srv/shop, or lie below it: each namespace has its own directory in the operator's --local-sink-root"#,
        )),
        below(refused(
            Rule::Snk15,
            file("/srv/pay/inventory"),
            r#"spec.file.path: Invalid value: "/srv/pay/inventory": must be relative to /srv/shop, or lie below it: each namespace has its own directory in the operator's --local-sink-root"#,
        )),
        nowhere(refused(
            Rule::Snk15,
            file("/srv/inventory"),
            r#"spec.file.path: Invalid value: "/srv/inventory": the operator's administrator has named no directory for local sinks (--local-sink-root)"#,
        )),
    ]
}

fn bare_repositories() -> Vec<Case> {
    let bare = |path: &str| at("git", &format!("file://{path}"));
    vec![
        accepted(Rule::Snk15, bare("/home/me/audit.git")),
        below(accepted(Rule::Snk15, bare("/srv/shop/audit.git#branch=main"))),
        below(refused(
            Rule::Snk15,
            bare("/etc/audit.git"),
            r#"spec.endpoint: Invalid value: "file:///etc/audit.git": must be relative to /srv/shop, or lie below it: each namespace has its own directory in the operator's --local-sink-root"#,
        )),
        below(refused(
            Rule::Snk15,
            bare("/srv/%2e%2e/etc"),
            r#"spec.endpoint: Invalid value: "file:///srv/%2e%2e/etc": must be written without escapes"#,
        )),
        below(refused(
            Rule::Snk15,
            bare("srv/audit.git"),
            r#"spec.endpoint: Invalid value: "file://srv/audit.git": must name a repository by its whole path, such as file:///srv/inventory.git"#,
        )),
        nowhere(refused(
            Rule::Snk15,
            bare("/srv/audit.git"),
            r#"spec.endpoint: Invalid value: "file:///srv/audit.git": the operator's administrator has named no directory for local sinks (--local-sink-root)"#,
        )),
    ]
}
