//! What tenants try.

use serde_json::{Value, json};

use super::{
    super::ground::{Saying, basics, config_map, ours, profile},
    VAULT,
};

/// One who tries something.
#[derive(Clone)]
pub(super) struct Attempt {
    /// Its namespace, which says what it tries.
    pub(super) place: &'static str,
    pub(super) labels: Value,
    pub(super) objects: Vec<Value>,
    /// What it is told.
    pub(super) saying: Saying,
    /// What is in its database afterwards; nothing if it was never written to.
    pub(super) rows: Option<&'static [&'static str]>,
}

/// A tenant with a profile, a database, an inventory and a target.
fn tenant(place: &'static str, target: Value, more: Vec<Value>) -> Attempt {
    let mut objects = Vec::from(basics(place));
    objects.extend([config_map(place, "own"), ours("KollectTarget", place, "t", target)]);
    objects.extend(more);
    Attempt {
        place,
        labels: json!({"tenant": place}),
        objects,
        saying: Saying {
            kind: "KollectTarget",
            of: (place.to_owned(), "t".to_owned()),
            condition: "Ready True Collecting",
            says: "",
        },
        rows: Some(&[]),
    }
}

impl Attempt {
    /// It is told this instead.
    fn told(mut self, condition: &'static str, says: &'static str) -> Self {
        self.saying = Saying { condition, says, ..self.saying };
        self
    }

    /// Another object of it is told.
    fn by(mut self, kind: &'static str, namespace: &str, name: &str) -> Self {
        self.saying = Saying { kind, of: (namespace.to_owned(), name.to_owned()), ..self.saying };
        self
    }

    fn with(self, rows: &'static [&'static str]) -> Self {
        Self { rows: Some(rows), ..self }
    }

    /// Nothing was exported at all.
    fn without_export(self) -> Self {
        Self { rows: None, ..self }
    }
}

fn scope(place: &str, spec: Value) -> Value {
    ours("KollectScope", place, "ceiling", spec)
}

/// Everything that is refused.
pub(super) fn attempts() -> Vec<Attempt> {
    [scopes(), cluster_scopes(), secrets(), endpoints(), others()].concat()
}

/// Above the scope of the namespace.
fn scopes() -> Vec<Attempt> {
    let into_vault = || json!({"profileRef": "p", "includedNamespaces": [VAULT]});
    let own = |place: &str| json!({"profileRef": "p", "includedNamespaces": [place]});
    let pods = || json!({"allowedGVKs": [{"version": "v1", "kind": "Pod"}]});
    let (kind, namespace) = ("Degraded True ScopeGVKDenied", "Degraded True ScopeNamespaceDenied");
    let labelled = json!({
        "profileRef": "p", "namespaceSelector": {"matchLabels": {"team": VAULT}},
    });
    let unnamed = json!({"version": "v1", "kind": "Namespace"});
    vec![
        tenant("kind", own("kind"), vec![scope("kind", pods())])
            .told(kind, "v1 ConfigMap is not in allowedGVKs of KollectScope ceiling"),
        tenant(
            "not-allowed",
            into_vault(),
            vec![scope("not-allowed", json!({"allowedNamespaces": ["not-allowed"]}))],
        )
        .told(namespace, "vault is not in allowedNamespaces"),
        tenant("denied", into_vault(), vec![scope("denied", json!({"deniedNamespaces": [VAULT]}))])
            .told(namespace, "vault is in deniedNamespaces"),
        tenant(
            "by-label",
            labelled,
            vec![scope("by-label", json!({"allowedNamespaces": ["by-label"]}))],
        )
        .told(namespace, "does not allow namespace vault"),
        tenant(
            "second-scope",
            own("second-scope"),
            vec![
                scope("second-scope", pods()),
                ours("KollectScope", "second-scope", "zero-limits", json!({})),
            ],
        )
        .told(kind, "KollectScope ceiling"),
        tenant(
            "no-namespace",
            json!({"profileRef": "spaces"}),
            vec![
                profile("no-namespace", "spaces", unnamed),
                scope("no-namespace", json!({"allowedNamespaces": ["no-namespace"]})),
            ],
        )
        .told(kind, "has no namespace"),
        tenant("sink", own("sink"), vec![scope("sink", json!({"databaseSinkRefs": ["approved"]}))])
            .by("KollectInventory", "sink", "i")
            .told("Degraded True ScopeSinkDenied", "rows")
            .without_export(),
    ]
}

/// What cluster kinds may have.
fn cluster_ceiling() -> Value {
    let spec = json!({
        "allowedGVKs": [{"version": "v1", "kind": "ConfigMap"}],
        "deniedNamespaces": [VAULT],
        "allowedStaticRefNamespaces": ["platform", "cluster-kind", "cluster-sink"],
        "databaseSinkRefs": ["rows"],
    });
    ours("KollectClusterScope", "", "ceiling", spec)
}

/// A target of the cluster, which wants the vault among others.
fn cluster_target(name: &str, profile: (&str, &str)) -> Value {
    let wanted = json!({
        "key": "kubernetes.io/metadata.name", "operator": "In",
        "values": ["free", "platform", VAULT],
    });
    let spec = json!({
        "profileRef": {"namespace": profile.0, "name": profile.1},
        "namespaceSelector": {"matchExpressions": [wanted]},
    });
    ours("KollectClusterTarget", "", name, spec)
}

/// An inventory of the cluster of one target, and its sink.
fn cluster_inventory(name: &str, sink: (&str, &str)) -> Value {
    let spec = json!({
        "targetRefs": ["t"], "namespaces": ["free", "platform", VAULT],
        "databaseSinkRefs": [{"namespace": sink.0, "name": sink.1}],
    });
    ours("KollectClusterInventory", "", name, spec)
}

/// Above the scope of the cluster, of which there is one for all.
fn cluster_scopes() -> Vec<Attempt> {
    let own = |place: &str| json!({"profileRef": "p", "includedNamespaces": [place]});
    let services = json!({"version": "v1", "kind": "Service"});
    let approved = json!({"type": "sqlite", "sqlite": {"path": "rows.db"}});
    vec![
        tenant(
            "platform",
            own("platform"),
            vec![
                cluster_ceiling(),
                // They have the names of those in the namespace, and are others.
                cluster_target("t", ("platform", "p")),
                cluster_inventory("i", ("platform", "rows")),
            ],
        )
        .by("KollectClusterTarget", "", "t")
        .told("Ready True Collecting", "from 2 namespaces")
        .with(&["cluster: t free/own", "cluster: t platform/own", "t platform/own"]),
        tenant(
            "cluster-kind",
            own("cluster-kind"),
            vec![
                profile("cluster-kind", "services", services),
                cluster_target("kind", ("cluster-kind", "services")),
            ],
        )
        .by("KollectClusterTarget", "", "kind")
        .told("Degraded True ScopeGVKDenied", "v1 Service is not in allowedGVKs")
        .with(&["t cluster-kind/own"]),
        tenant(
            "foreign-profile",
            own("foreign-profile"),
            vec![cluster_target("foreign-profile", ("foreign-profile", "p"))],
        )
        .by("KollectClusterTarget", "", "foreign-profile")
        .told("Degraded True ScopeNamespaceDenied", "allowedStaticRefNamespaces")
        .with(&["t foreign-profile/own"]),
        tenant(
            "foreign-sink",
            own("foreign-sink"),
            vec![cluster_inventory("foreign-sink", ("foreign-sink", "rows"))],
        )
        .by("KollectClusterInventory", "", "foreign-sink")
        .told("Degraded True SinkNamespaceDenied", "allowedStaticRefNamespaces")
        .with(&["t foreign-sink/own"]),
        tenant(
            "cluster-sink",
            own("cluster-sink"),
            vec![
                ours("KollectDatabaseSink", "cluster-sink", "other", approved),
                cluster_inventory("cluster-sink", ("cluster-sink", "other")),
            ],
        )
        .by("KollectClusterInventory", "", "cluster-sink")
        .told("Degraded True ScopeSinkDenied", "other")
        .with(&["t cluster-sink/own"]),
    ]
}

/// The Secrets of others.
fn secrets() -> Vec<Attempt> {
    let secret = |place: &str, name: &str, consent: Option<&str>| {
        let mut secret = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": place},
            "stringData": {"dsn": "postgres://somebody:something@127.0.0.1:1/rows"},
        });
        if let Some(consent) = consent {
            secret["metadata"]["annotations"] =
                json!({"kollect.dev/allow-sink-namespaces": consent});
        }
        secret
    };
    let taking = |place: &'static str, name: &str| {
        let reference = json!({"name": name, "namespace": VAULT});
        let spec = json!({
            "type": "postgres", "postgres": {"databaseRef": reference, "table": "rows"},
        });
        let refs = json!({"databaseSinkRefs": [{"name": "taken"}]});
        let attempt = tenant(
            place,
            json!({"profileRef": "p", "suspend": true}),
            vec![
                ours("KollectDatabaseSink", place, "taken", spec),
                ours("KollectInventory", place, "taking", refs),
            ],
        );
        attempt.by("KollectInventory", place, "taking")
    };
    let refused = "Degraded True SecretResolveFailed";
    let mut silent = taking("no-consent", "silent")
        .told(refused, "Secret vault/silent is not for namespace no-consent");
    silent.objects.extend([
        secret(VAULT, "silent", None),
        secret(VAULT, "for-others", Some("somebody, no-consent-for-you")),
        secret(VAULT, "for-all", Some("*")),
        secret(VAULT, "for-us", Some("somebody,consent")),
    ]);
    let dialled = "must not be dialled";
    vec![
        silent,
        taking("no-consent-for", "for-others").told(refused, "allow-sink-namespaces"),
        taking("absent-secret", "nowhere").told(refused, "there is no Secret vault/nowhere"),
        // Those who may are stopped by what the Secret says: where to dial.
        taking("consent-for-all", "for-all").told("SinkReachable False ExportFailed", dialled),
        taking("consent", "for-us").told("SinkReachable False ExportFailed", dialled),
    ]
}

/// Destinations that are none.
fn endpoints() -> Vec<Attempt> {
    let git =
        |endpoint: &str| ("KollectSnapshotSink", json!({"type": "git", "endpoint": endpoint}));
    let sqlite =
        |path: &str| ("KollectDatabaseSink", json!({"type": "sqlite", "sqlite": {"path": path}}));
    let file =
        |path: &str| ("KollectSnapshotSink", json!({"type": "file", "file": {"path": path}}));
    let sinks: [(&'static str, (&str, Value), &'static str); 11] = [
        ("loopback", git("https://127.0.0.1/x.git"), "127.0.0.1"),
        ("loopback-name", git("https://localhost/x.git"), "localhost"),
        ("loopback-six", git("https://[::1]/x.git"), "::1"),
        ("link-local", git("https://169.254.169.254/x.git"), "169.254.169.254"),
        ("metadata", git("https://metadata.google.internal/x.git"), "metadata.google.internal"),
        ("private", git("https://10.1.2.3/x.git"), "10.1.2.3"),
        ("private-ssh", git("git@192.168.0.1:x.git"), "192.168.0.1"),
        ("file-url", git("file:///tmp/x.git"), "file"),
        ("path-outside", sqlite("/outside.db"), "--local-sink-root"),
        ("path-climbing", sqlite("../elsewhere.db"), ".."),
        ("files-climbing", file("a/../../elsewhere.db"), ".."),
    ];
    let one = |(place, (kind, spec), says): (&'static str, (&str, Value), &'static str)| {
        let list = match kind {
            "KollectSnapshotSink" => "snapshotSinkRefs",
            _ => "databaseSinkRefs",
        };
        tenant(
            place,
            json!({"profileRef": "p", "suspend": true}),
            vec![
                ours(kind, place, "bad", spec),
                ours("KollectInventory", place, "bad", json!({list: [{"name": "bad"}]})),
            ],
        )
        .by("KollectInventory", place, "bad")
        .told("Degraded True ExportTerminal", says)
    };
    sinks.into_iter().map(one).collect()
}

/// And what else there is.
fn others() -> Vec<Attempt> {
    let own = |place: &str| json!({"profileRef": "p", "includedNamespaces": [place]});
    let secrets = json!({"version": "v1", "kind": "Secret"});
    let data = json!({
        "targetGVK": secrets, "attributes": [{"name": "value", "path": "$.data.dsn"}],
    });
    let whole = json!({"targetGVK": secrets, "export": {"mode": "Resource", "as": "resource"}});
    let by_profile = |place| json!({"profileRef": "special", "includedNamespaces": [place]});
    let special = |place: &str, spec| vec![ours("KollectProfile", place, "special", spec)];
    let unknown = json!({"group": "nowhere.example", "version": "v1", "kind": "Thing"});
    let elsewhere = json!({"databaseSinkRefs": [{"name": "rows", "namespace": "platform"}]});
    let mut opted_out =
        tenant("opted-out", own("opted-out"), vec![]).told("Ready True Collecting", "0 rows");
    opted_out.labels["kollect.dev/watch"] = "disabled".into();
    vec![
        opted_out,
        tenant(
            "sink-elsewhere",
            own("sink-elsewhere"),
            vec![ours("KollectInventory", "sink-elsewhere", "elsewhere", elsewhere)],
        )
        .by("KollectInventory", "sink-elsewhere", "elsewhere")
        .told("Degraded True InvalidSpec", "in the namespace of the inventory")
        .with(&["t sink-elsewhere/own"]),
        // The rows of cluster inventories are there, and those of this one are not.
        tenant("cluster", own("cluster"), vec![])
            .by("KollectInventory", "cluster", "i")
            .told("Degraded True InvalidSpec", "reserved")
            .without_export(),
        tenant("secret-data", by_profile("secret-data"), special("secret-data", data))
            .told("Degraded True InvalidSpec", "allow-secret-extraction"),
        tenant("whole-secrets", by_profile("whole-secrets"), special("whole-secrets", whole))
            .told("Degraded True InvalidSpec", "allow-full-resource-export"),
        tenant(
            "unknown-kind",
            by_profile("unknown-kind"),
            vec![profile("unknown-kind", "special", unknown)],
        )
        .told("Degraded True InformerRegistrationFailed", "nowhere.example"),
    ]
}

/// Those who ask for what is theirs, beside all the others.
pub(super) fn permitted() -> Vec<Attempt> {
    vec![
        // It asks for nothing in particular, and gets what it may have. Nothing
        // of the targets that have the same name elsewhere is among it.
        tenant(
            "modest",
            json!({"profileRef": "p"}),
            vec![scope(
                "modest",
                json!({"allowedNamespaces": ["modest"], "databaseSinkRefs": ["rows"]}),
            )],
        )
        .with(&["t modest/own"]),
        tenant("free", json!({"profileRef": "p", "includedNamespaces": ["free"]}), vec![])
            .by("KollectInventory", "free", "i")
            .told("Synced True Exported", "")
            .with(&["t free/own"]),
    ]
}
