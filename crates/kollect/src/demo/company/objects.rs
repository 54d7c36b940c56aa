//! Objects as a cluster that runs them would show them.

use jiff::{ToSpan as _, civil::Date};
use serde_json::{Value, json};

use super::App;

/// The day that is so many days later.
pub(in crate::demo) fn days(date: Date, many: i64) -> Date {
    date.saturating_add(many.days())
}

/// A commit's name that follows from what it is for.
pub(in crate::demo) fn commit(of: &str) -> String {
    // Spreads small differences over all digits (FNV-1a).
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let half = |salt: u64| of.bytes().fold(0xcbf2_9ce4_8422_2325 ^ salt, mix);
    let (high, low) = (half(0), half(0x9e37_79b9_7f4a_7c15));
    let digits = format!("{high:016x}{low:016x}{:016x}", high.rotate_left(17) ^ low);
    digits.chars().take(40).collect()
}

pub(super) fn namespace(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {"team": name, "environment": "production"}},
    })
}

fn labels(app: &App) -> Value {
    json!({
        "app.kubernetes.io/name": app.name,
        "app.kubernetes.io/part-of": app.namespace,
        "app.kubernetes.io/version": app.version,
        "team": app.namespace,
    })
}

/// The image of an app.
pub(in crate::demo) fn image(app: &App) -> String {
    format!("registry.quillmore.example/{}/{}:{}", app.namespace, app.name, app.version)
}

/// The containers of an app; a patch replaces all of them.
pub(in crate::demo) fn containers(app: &App) -> Value {
    json!([{
        "name": app.name,
        "image": image(app),
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"memory": "512Mi"},
        },
    }])
}

/// How far a Deployment is.
pub(in crate::demo) fn deployed(replicas: u32) -> Value {
    json!({
        "observedGeneration": 1,
        "replicas": replicas,
        "updatedReplicas": replicas,
        "readyReplicas": replicas,
        "availableReplicas": replicas,
    })
}

pub(super) fn deployment(app: &App) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": app.name, "namespace": app.namespace, "labels": labels(app)},
        "spec": {
            "replicas": app.replicas,
            "selector": {"matchLabels": {"app.kubernetes.io/name": app.name}},
            "template": {
                "metadata": {"labels": {"app.kubernetes.io/name": app.name}},
                "spec": {"containers": containers(app)},
            },
        },
        "status": deployed(app.replicas),
    })
}

pub(super) fn service(app: &App, number: usize) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": app.name, "namespace": app.namespace, "labels": labels(app)},
        "spec": {
            "type": "ClusterIP",
            "clusterIP": format!("10.96.0.{}", number + 10),
            "selector": {"app.kubernetes.io/name": app.name},
            "ports": [{"name": "http", "port": 80, "targetPort": "http", "protocol": "TCP"}],
        },
    })
}

/// A Service that somebody tries something out with.
pub(in crate::demo) fn canary(app: &App, name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": app.namespace, "labels": {"team": app.namespace}},
        "spec": {
            "type": "ClusterIP",
            "selector": {"app.kubernetes.io/name": app.name, "track": "canary"},
            "ports": [{"name": "http", "port": 8080, "targetPort": "http", "protocol": "TCP"}],
        },
    })
}

pub(super) fn ingress(app: &App, host: &str) -> Value {
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": app.name, "namespace": app.namespace, "labels": labels(app)},
        "spec": {
            "ingressClassName": "edge",
            "tls": [{"hosts": [host], "secretName": format!("{}-tls", app.name)}],
            "rules": [{
                "host": host,
                "http": {"paths": [{
                    "path": "/",
                    "pathType": "Prefix",
                    "backend": {"service": {"name": app.name, "port": {"name": "http"}}},
                }]},
            }],
        },
    })
}

/// How a certificate is doing.
pub(in crate::demo) fn issued(revision: u32, expires: Date) -> Value {
    json!({
        "conditions": [{
            "type": "Ready",
            "status": "True",
            "reason": "Ready",
            "message": "Certificate is up to date and has not expired",
            "lastTransitionTime": format!("{}T04:00:00Z", days(expires, -90)),
        }],
        "notBefore": format!("{}T04:00:00Z", days(expires, -90)),
        "notAfter": format!("{expires}T04:00:00Z"),
        "renewalTime": format!("{}T04:00:00Z", days(expires, -30)),
        "revision": revision,
    })
}

pub(super) fn certificate(app: &App, host: &str, expires: Date) -> Value {
    json!({
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": {"name": app.name, "namespace": app.namespace},
        "spec": {
            "dnsNames": [host],
            "issuerRef": {"kind": "ClusterIssuer", "name": "quillmore-ca"},
            "secretName": format!("{}-tls", app.name),
        },
        "status": issued(1, expires),
    })
}

/// How far an Application is, and at which commit.
pub(in crate::demo) fn synced(state: &str, health: &str, revision: &str) -> Value {
    json!({
        "sync": {"status": state, "revision": revision},
        "health": {"status": health},
    })
}

pub(super) fn application(app: &App, namespace: &str) -> Value {
    json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": format!("{}-{}", app.namespace, app.name), "namespace": namespace},
        "spec": {
            "project": app.namespace,
            "source": {
                "repoURL": format!("https://git.quillmore.example/{}/{}.git", app.namespace, app.name),
                "path": "deploy",
                "targetRevision": "main",
            },
            "destination": {"server": "https://kubernetes.default.svc", "namespace": app.namespace},
        },
        "status": synced("Synced", "Healthy", &commit(app.name)),
    })
}

/// What Flux has applied.
pub(in crate::demo) fn applied(revision: &str) -> Value {
    json!({
        "conditions": [{
            "type": "Ready",
            "status": "True",
            "reason": "ReconciliationSucceeded",
            "message": format!("Applied revision: {revision}"),
            "lastTransitionTime": "2026-01-05T06:00:00Z",
        }],
        "lastAppliedRevision": revision,
        "observedGeneration": 1,
    })
}

pub(super) fn kustomization(name: &str, path: &str, namespace: &str) -> Value {
    json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "interval": "10m",
            "path": path,
            "prune": true,
            "sourceRef": {"kind": "GitRepository", "name": "fleet"},
        },
        "status": applied(&format!("main@sha1:{}", commit(name))),
    })
}

pub(super) fn flux_release(name: &str, (chart, version): (&str, &str), namespace: &str) -> Value {
    json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "interval": "30m",
            "chart": {"spec": {
                "chart": chart,
                "version": version,
                "sourceRef": {"kind": "HelmRepository", "name": "charts"},
            }},
        },
        "status": {
            "conditions": [{
                "type": "Ready",
                "status": "True",
                "reason": "InstallSucceeded",
                "message": "Helm install succeeded",
                "lastTransitionTime": "2026-01-05T06:00:00Z",
            }],
            "observedGeneration": 1,
        },
    })
}
