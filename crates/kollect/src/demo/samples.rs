//! What the demo asks Kollect for: a profile and a target for each kind, one
//! inventory, and two sinks. They are applied as a user would apply them.

use serde_json::{Value, json};

use super::row::RowKey;

/// The namespace of everything that is ours.
pub(super) const HOME: &str = "kollect-demo";
/// What the clusters are called in copies.
pub(super) const SIMULATED: &str = "quillmore";
pub(super) const REAL: &str = "demo";
pub(super) const INVENTORY: &str = "everything";
/// What the sinks are called, and where they write below the local root.
pub(super) const GIT: (&str, &str) = ("history", "inventory.git");
pub(super) const SQLITE: (&str, &str) = ("rows", "rows.db");

/// What tells our objects from those of others.
pub(super) const MARK: (&str, &str) = ("app.kubernetes.io/managed-by", "kollect-demo");

/// An attribute: name, path, type, and whether an object may lack it.
type Attribute = (&'static str, &'static str, &'static str, bool);

/// A kind to collect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// Names the profile and the target, too.
    pub(super) name: &'static str,
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) kind: &'static str,
    attributes: &'static [Attribute],
    /// Labels that objects must have.
    labels: &'static [(&'static str, &'static str)],
    reach: Reach,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Everywhere,
    /// Only where the demo itself lives.
    Home,
}

const READY: &str = r#"{.status.conditions[?(@.type=="Ready")].status}"#;

/// What a cluster may have, in the order in which it is shown.
const SAMPLES: [Sample; 8] = [
    Sample {
        name: "deployments",
        group: "apps",
        version: "v1",
        kind: "Deployment",
        attributes: &[
            ("image", "$.spec.template.spec.containers[0].image", "string", false),
            ("replicas", "$.spec.replicas", "int", false),
            ("team", "$.metadata.labels.team", "string", true),
        ],
        labels: &[],
        reach: Reach::Everywhere,
    },
    Sample {
        name: "services",
        group: "",
        version: "v1",
        kind: "Service",
        attributes: &[
            ("type", "$.spec.type", "string", true),
            ("port", "{.spec.ports[0].port}", "int", true),
            ("team", "$.metadata.labels.team", "string", true),
        ],
        labels: &[],
        reach: Reach::Everywhere,
    },
    Sample {
        name: "ingresses",
        group: "networking.k8s.io",
        version: "v1",
        kind: "Ingress",
        attributes: &[
            ("host", "{.spec.rules[0].host}", "string", true),
            ("class", "$.spec.ingressClassName", "string", true),
        ],
        labels: &[],
        reach: Reach::Everywhere,
    },
    Sample {
        name: "certificates",
        group: "cert-manager.io",
        version: "v1",
        kind: "Certificate",
        attributes: &[
            ("host", "{.spec.dnsNames[0]}", "string", true),
            ("issuer", "$.spec.issuerRef.name", "string", true),
            ("notAfter", "$.status.notAfter", "string", true),
            ("ready", READY, "string", true),
        ],
        labels: &[],
        reach: Reach::Everywhere,
    },
    Sample {
        name: "argo-apps",
        group: "argoproj.io",
        version: "v1alpha1",
        kind: "Application",
        attributes: &[
            ("sync", "$.status.sync.status", "string", true),
            ("health", "$.status.health.status", "string", true),
            ("revision", "$.status.sync.revision", "string", true),
            ("project", "$.spec.project", "string", true),
        ],
        labels: &[],
        reach: Reach::Everywhere,
    },
    Sample {
        name: "kustomizations",
        group: "kustomize.toolkit.fluxcd.io",
        version: "v1",
        kind: "Kustomization",
        attributes: &[
            ("path", "$.spec.path", "string", true),
            ("revision", "$.status.lastAppliedRevision", "string", true),
            ("ready", READY, "string", true),
        ],
        labels: &[],
        reach: Reach::Everywhere,
    },
    Sample {
        name: "flux-releases",
        group: "helm.toolkit.fluxcd.io",
        version: "v2",
        kind: "HelmRelease",
        attributes: &[
            ("chart", "$.spec.chart.spec.chart", "string", true),
            ("version", "$.spec.chart.spec.version", "string", true),
            ("ready", READY, "string", true),
        ],
        labels: &[],
        reach: Reach::Everywhere,
    },
    Sample {
        name: "helm-releases",
        group: "",
        version: "v1",
        kind: "Secret",
        attributes: &[
            ("release", "helm:release.releaseName", "string", false),
            ("chart", "helm:release.chartName", "string", false),
            ("chartVersion", "helm:release.chartVersion", "string", false),
            ("revision", "helm:release.revision", "int", false),
            ("status", "helm:release.status", "string", false),
        ],
        labels: &[("owner", "helm"), ("status", "deployed")],
        reach: Reach::Everywhere,
    },
];

/// What is changed on a cluster where nothing else may be.
pub(super) const PULSES: Sample = Sample {
    name: "pulses",
    group: "",
    version: "v1",
    kind: "ConfigMap",
    attributes: &[("beat", "$.data.beat", "string", false)],
    labels: &[MARK],
    reach: Reach::Home,
};

/// Every kind that the company has.
pub(super) fn samples() -> Vec<Sample> {
    SAMPLES.to_vec()
}

impl Sample {
    /// Whether a row is of this kind.
    pub(super) fn is_of(&self, key: &RowKey) -> bool {
        key.kind.eq_ignore_ascii_case(self.kind)
    }

    fn profile(&self) -> Value {
        let mut kind = json!({"version": self.version, "kind": self.kind});
        if let (Value::Object(kind), false) = (&mut kind, self.group.is_empty()) {
            kind.insert("group".to_owned(), self.group.into());
        }
        let attributes = self.attributes.iter().map(|(name, path, of, optional)| {
            let mut attribute = json!({"name": name, "path": path, "type": of});
            if let (Value::Object(attribute), true) = (&mut attribute, *optional) {
                attribute.insert("optional".to_owned(), true.into());
            }
            attribute
        });
        let attributes: Vec<_> = attributes.collect();
        ours("KollectProfile", self.name, json!({"targetGVK": kind, "attributes": attributes}))
    }

    fn target(&self) -> Value {
        let mut spec = json!({"profileRef": self.name});
        if let Value::Object(spec) = &mut spec {
            if self.reach == Reach::Home {
                spec.insert("includedNamespaces".to_owned(), json!([HOME]));
            }
            if !self.labels.is_empty() {
                let labels = self.labels.iter().map(|(key, value)| ((*key).to_owned(), *value));
                let labels: serde_json::Map<_, _> =
                    labels.map(|(key, value)| (key, value.into())).collect();
                spec.insert("labelSelector".to_owned(), json!({"matchLabels": labels}));
            }
        }
        ours("KollectTarget", self.name, spec)
    }
}

/// The namespace that everything of ours is in.
pub(super) fn namespace() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": HOME, "labels": {MARK.0: MARK.1}},
    })
}

/// The objects of ours, in the order in which they are applied. `cluster` is
/// what the cluster is called in copies, `repository` the path of the Git
/// repository.
pub(super) fn objects(samples: &[Sample], cluster: &str, repository: &str) -> Vec<Value> {
    let mut objects = Vec::new();
    objects.push(ours(
        "KollectSnapshotSink",
        GIT.0,
        json!({
            "type": "git",
            "endpoint": format!("file://{repository}"),
            "cluster": cluster,
            "layout": {"mode": "perResource"},
            "serialization": {"format": "yaml"},
            // The default is longer, for repositories that others fetch from.
            "options": {"min_gap": "500ms"},
        }),
    ));
    objects.push(ours(
        "KollectDatabaseSink",
        SQLITE.0,
        json!({"type": "sqlite", "cluster": cluster, "sqlite": {"path": SQLITE.1}}),
    ));
    objects.extend(samples.iter().map(Sample::profile));
    objects.extend(samples.iter().map(Sample::target));
    let sinks = json!({
        "snapshotSinkRefs": [{"name": GIT.0}],
        "databaseSinkRefs": [{"name": SQLITE.0}],
    });
    objects.push(ours("KollectInventory", INVENTORY, sinks));
    objects
}

fn ours(kind: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "kollect.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": name, "namespace": HOME, "labels": {MARK.0: MARK.1}},
        "spec": spec,
    })
}

#[cfg(test)]
mod tests;
