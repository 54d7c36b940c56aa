//! What is in the cluster that is measured: objects with values that differ
//! as those of real ones do, and the same in every run.

use serde_json::{Value, json};

use crate::measure::Chance;

/// Objects of a kind that are read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stock {
    /// 20,000 pods of about 5 KB in 50 namespaces.
    Pods,
    /// 2,000 settings of 7 KB.
    Small,
    /// 2,000 settings of 70 KB.
    Large,
    /// 10,000 such pods in 25 namespaces.
    Fleet,
}

/// What is listed and watched, one after the other.
pub(super) const READ: [Stock; 3] = [Stock::Pods, Stock::Small, Stock::Large];

impl Stock {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pods => "pods",
            Self::Small => "small",
            Self::Large => "large",
            Self::Fleet => "fleet",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        READ.into_iter().find(|stock| stock.name() == name)
    }

    pub(crate) fn count(self) -> usize {
        match self {
            Self::Pods => 20_000,
            Self::Fleet => 10_000,
            Self::Small | Self::Large => 2_000,
        }
    }

    pub(crate) fn plural(self) -> &'static str {
        match self {
            Self::Pods | Self::Fleet => "pods",
            Self::Small | Self::Large => "configmaps",
        }
    }

    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Pods | Self::Fleet => "Pod",
            Self::Small | Self::Large => "ConfigMap",
        }
    }

    pub(crate) fn namespaces(self) -> Vec<String> {
        let teams = |count: usize| (0..count).map(|team| format!("team-{team:02}")).collect();
        match self {
            Self::Pods => teams(50),
            Self::Fleet => teams(25),
            Self::Small | Self::Large => vec![self.name().to_owned()],
        }
    }

    pub(crate) fn namespace(self, number: usize) -> String {
        let mut namespaces = self.namespaces();
        namespaces.swap_remove(number % namespaces.len())
    }

    /// The object of a number, as somebody creates it.
    pub(crate) fn object(self, number: usize) -> Value {
        let namespace = self.namespace(number);
        match self {
            Self::Pods | Self::Fleet => pod(&namespace, number),
            // A setting has a name and a value of about 80 bytes.
            Self::Small => settings(&namespace, number, 66),
            Self::Large => settings(&namespace, number, 736),
        }
    }

    /// Ten attributes, as a profile names them.
    pub(crate) fn attributes(self) -> Vec<Value> {
        let paths: [(&str, &str); 10] = match self {
            Self::Pods | Self::Fleet => [
                ("app", "$.metadata.labels.app"),
                ("team", "$.metadata.labels.team"),
                ("commit", "$.metadata.annotations.commit"),
                ("created", "$.metadata.creationTimestamp"),
                ("image", "$.spec.containers[0].image"),
                ("images", "$.spec.containers[*].image"),
                ("memory", "$.spec.containers[0].resources.limits.memory"),
                ("account", "$.spec.serviceAccountName"),
                ("node", "$.spec.nodeName"),
                ("phase", "$.status.phase"),
            ],
            Self::Small | Self::Large => [
                ("app", "$.metadata.labels.app"),
                ("team", "$.metadata.labels.team"),
                ("commit", "$.metadata.annotations.commit"),
                ("created", "$.metadata.creationTimestamp"),
                ("uid", "$.metadata.uid"),
                ("first", "$.data.SETTING_0"),
                ("second", "$.data.SETTING_1"),
                ("third", "$.data.SETTING_2"),
                ("seventh", "$.data.SETTING_6"),
                ("eighth", "$.data.SETTING_7"),
            ],
        };
        paths.iter().map(|(name, path)| json!({"name": name, "path": path})).collect()
    }
}

fn pod(namespace: &str, number: usize) -> Value {
    let mut chance = Chance::new(number as u64 * 1_000_003 + 17);
    let app = format!("{}-{}", word(&mut chance), word(&mut chance));
    let hash = format!("{:010x}", chance.next() >> 24);
    let name = format!("{app}-{hash}-{number:05x}");
    let settings = format!("{app}-settings");
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": namespace,
            "labels": {"app": app, "team": word(&mut chance), "tier": word(&mut chance),
                "app.kubernetes.io/version": version(&mut chance), "pod-template-hash": hash},
            "annotations": {"commit": digits(&mut chance, 40), "checksum/config": digits(&mut chance, 64),
                "prometheus.io/scrape": "true", "prometheus.io/port": "8080"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": true,
                "name": format!("{app}-{hash}"), "uid": uid(&mut chance), "blockOwnerDeletion": true}],
        },
        "spec": {
            "serviceAccountName": app, "restartPolicy": "Always",
            "nodeName": format!("node-{:03}.eu-1.example", chance.below(300)),
            "securityContext": {"runAsNonRoot": true, "fsGroup": 10_000 + chance.below(1_000)},
            "volumes": [
                {"name": "settings", "configMap": {"name": settings}},
                {"name": "scratch", "emptyDir": {"sizeLimit": "64Mi"}},
            ],
            "containers": [container(&mut chance, &app), sidecar(&mut chance)],
        },
    })
}

fn container(chance: &mut Chance, name: &str) -> Value {
    let probe =
        |path: &str| json!({"httpGet": {"path": path, "port": "http"}, "periodSeconds": 10});
    let memory = 64 << chance.below(6);
    json!({
        "name": name,
        "image": format!("registry.example/{}/{name}:{}@sha256:{}", word(chance), version(chance), digits(chance, 64)),
        "args": [format!("--listen=:{}", 8_000 + chance.below(900)), format!("--region={}", word(chance))],
        "ports": [{"name": "http", "containerPort": 8080}],
        "env": variables(chance, 5),
        "resources": {
            "limits": {"memory": format!("{memory}Mi")},
            "requests": {"cpu": format!("{}m", 10 + chance.below(900)), "memory": format!("{memory}Mi")},
        },
        "livenessProbe": probe("/healthz"), "readinessProbe": probe("/readyz"),
        "volumeMounts": [
            {"name": "settings", "mountPath": "/etc/settings", "readOnly": true},
            {"name": "scratch", "mountPath": "/tmp"},
        ],
        "securityContext": {"readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]}},
    })
}

fn sidecar(chance: &mut Chance) -> Value {
    json!({
        "name": "proxy",
        "image": format!("registry.example/mesh/proxy:{}", version(chance)),
        "env": variables(chance, 2),
        "resources": {"requests": {"cpu": format!("{}m", 10 + chance.below(90))}},
        "volumeMounts": [{"name": "scratch", "mountPath": "/var/run/proxy"}],
    })
}

fn variables(chance: &mut Chance, count: usize) -> Vec<Value> {
    let name = |chance: &mut Chance, at| format!("{}_{at}", word(chance).to_uppercase());
    (0..count).map(|at| json!({"name": name(chance, at), "value": value(chance)})).collect()
}

fn settings(namespace: &str, number: usize, count: usize) -> Value {
    let mut chance = Chance::new(number as u64 * 1_000_003 + 29);
    let app = format!("{}-{}", word(&mut chance), word(&mut chance));
    let (team, commit) = (word(&mut chance), digits(&mut chance, 40));
    let data: serde_json::Map<_, _> =
        (0..count).map(|at| (format!("SETTING_{at}"), Value::String(value(&mut chance)))).collect();
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": format!("{app}-{number:05}"), "namespace": namespace,
            "labels": {"app": app, "team": team}, "annotations": {"commit": commit},
        },
        "data": data,
    })
}

const WORDS: [&str; 24] = [
    "account", "audit", "basket", "billing", "cache", "catalog", "checkout", "edge", "export",
    "gateway", "image", "index", "ledger", "login", "mail", "metric", "order", "payment", "price",
    "queue", "report", "search", "session", "stock",
];

fn word(chance: &mut Chance) -> &'static str {
    WORDS.get(chance.below(WORDS.len())).copied().unwrap_or_default()
}

fn version(chance: &mut Chance) -> String {
    format!("{}.{}.{}", chance.below(9), chance.below(40), chance.below(20))
}

/// Hexadecimal digits, as commits and digests have them.
fn digits(chance: &mut Chance, count: usize) -> String {
    let words: Vec<_> =
        (0..count.div_ceil(16)).map(|_| format!("{:016x}", chance.next())).collect();
    let mut text = words.concat();
    text.truncate(count);
    text
}

fn uid(chance: &mut Chance) -> String {
    let text = digits(chance, 24);
    let parts = [text.get(..8), text.get(8..12), text.get(12..24)].map(Option::unwrap_or_default);
    format!("{}-{}-4aaa-8bbb-{}", parts[0], parts[1], parts[2])
}

/// Addresses, digests and sentences in turns, as settings have them.
fn value(chance: &mut Chance) -> String {
    match chance.below(3) {
        0 => format!(
            "https://{}.{}.svc.cluster.local:{}/{}?region={}",
            word(chance),
            word(chance),
            chance.below(65_536),
            word(chance),
            word(chance)
        ),
        1 => digits(chance, 48),
        _ => format!(
            "{} {} every {} seconds after {}",
            word(chance),
            word(chance),
            chance.below(100_000),
            word(chance)
        ),
    }
}
