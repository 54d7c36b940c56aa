//! The definitions of kinds that others own, as far as the company uses them:
//! small, and no replacement for those of their projects.

use serde_json::{Value, json};

/// Where the status of a kind is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// With the rest of the object.
    Inside,
    /// By a door of its own.
    Apart,
}

/// A kind: group and version, kind and plural.
type Kind = ((&'static str, &'static str), (&'static str, &'static str));

/// Every definition that the company's objects need.
pub(in crate::demo) fn definitions() -> Vec<Value> {
    vec![certificate(), application(), kustomization(), helm_release()]
}

fn certificate() -> Value {
    definition(
        (("cert-manager.io", "v1"), ("Certificate", "certificates")),
        Status::Apart,
        fields(&[("dnsNames", list(text())), ("issuerRef", reference()), ("secretName", text())]),
        fields(&[
            ("conditions", conditions()),
            ("notBefore", time()),
            ("notAfter", time()),
            ("renewalTime", time()),
            ("revision", whole()),
        ]),
        &[
            ("Ready", r#".status.conditions[?(@.type=="Ready")].status"#),
            ("Secret", ".spec.secretName"),
            ("Expires", ".status.notAfter"),
        ],
    )
}

fn application() -> Value {
    let source = fields(&[("repoURL", text()), ("path", text()), ("targetRevision", text())]);
    let destination = fields(&[("server", text()), ("namespace", text())]);
    definition(
        (("argoproj.io", "v1alpha1"), ("Application", "applications")),
        Status::Inside,
        fields(&[("project", text()), ("source", source), ("destination", destination)]),
        fields(&[
            ("sync", fields(&[("status", text()), ("revision", text())])),
            ("health", fields(&[("status", text())])),
        ]),
        &[("Sync Status", ".status.sync.status"), ("Health Status", ".status.health.status")],
    )
}

fn kustomization() -> Value {
    definition(
        (("kustomize.toolkit.fluxcd.io", "v1"), ("Kustomization", "kustomizations")),
        Status::Apart,
        fields(&[
            ("interval", text()),
            ("path", text()),
            ("prune", json!({"type": "boolean"})),
            ("sourceRef", reference()),
        ]),
        fields(&[
            ("conditions", conditions()),
            ("lastAppliedRevision", text()),
            ("observedGeneration", whole()),
        ]),
        &[("Revision", ".status.lastAppliedRevision")],
    )
}

fn helm_release() -> Value {
    let chart = fields(&[("chart", text()), ("version", text()), ("sourceRef", reference())]);
    definition(
        (("helm.toolkit.fluxcd.io", "v2"), ("HelmRelease", "helmreleases")),
        Status::Apart,
        fields(&[("interval", text()), ("chart", fields(&[("spec", chart)]))]),
        fields(&[("conditions", conditions()), ("observedGeneration", whole())]),
        &[("Chart", ".spec.chart.spec.chart"), ("Version", ".spec.chart.spec.version")],
    )
}

fn text() -> Value {
    json!({"type": "string"})
}

fn time() -> Value {
    json!({"type": "string", "format": "date-time"})
}

fn whole() -> Value {
    json!({"type": "integer", "format": "int64"})
}

fn reference() -> Value {
    fields(&[("kind", text()), ("name", text())])
}

fn fields(fields: &[(&str, Value)]) -> Value {
    let fields = fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone()));
    json!({"type": "object", "properties": fields.collect::<serde_json::Map<_, _>>()})
}

fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

fn conditions() -> Value {
    list(fields(&[
        ("type", text()),
        ("status", text()),
        ("reason", text()),
        ("message", text()),
        ("lastTransitionTime", time()),
    ]))
}

fn definition(
    ((group, version), (kind, plural)): Kind,
    status: Status,
    spec: Value,
    status_schema: Value,
    columns: &[(&str, &str)],
) -> Value {
    let columns = columns.iter().map(|(name, path)| (*name, *path, "string"));
    let columns = columns.chain([("Age", ".metadata.creationTimestamp", "date")]);
    let columns =
        columns.map(|(name, path, kind)| json!({"name": name, "type": kind, "jsonPath": path}));
    let mut served = json!({
        "name": version,
        "served": true,
        "storage": true,
        "additionalPrinterColumns": columns.collect::<Vec<_>>(),
        "schema": {"openAPIV3Schema": fields(&[
            ("apiVersion", text()),
            ("kind", text()),
            ("metadata", json!({"type": "object"})),
            ("spec", spec),
            ("status", status_schema),
        ])},
    });
    if let (Status::Apart, Value::Object(served)) = (status, &mut served) {
        served.insert("subresources".to_owned(), json!({"status": {}}));
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {
                "kind": kind,
                "listKind": format!("{kind}List"),
                "plural": plural,
                "singular": kind.to_lowercase(),
            },
            "versions": [served],
        },
    })
}
