//! Pods, and the templates that they are made from.

use serde_json::{Value, json};

use super::{default, text};

/// A pod that is there, and not only described.
pub(super) fn whole(object: &mut Value) {
    spec(object, "/spec");
    if let Some(Value::Array(containers)) = object.pointer_mut("/spec/containers") {
        containers.iter_mut().for_each(requests);
    }
    default(object, "/spec/enableServiceLinks", json!(true));
    default(object, "/spec/priority", json!(0));
    default(object, "/spec/preemptionPolicy", json!("PreemptLowerPriority"));
    let patience = |state: &str| {
        json!({
            "key": format!("node.kubernetes.io/{state}"), "operator": "Exists",
            "effect": "NoExecute", "tolerationSeconds": 300,
        })
    };
    let tolerations = json!([patience("not-ready"), patience("unreachable")]);
    default(object, "/spec/tolerations", tolerations);
    default(object, "/status/phase", json!("Pending"));
    let class = quality(object);
    default(object, "/status/qosClass", json!(class));
}

/// What pods are made from.
pub(super) fn template(object: &mut Value, at: &str) {
    if object.pointer(at).is_some_and(Value::is_object) {
        default(object, &format!("{at}/metadata"), json!({}));
        spec(object, &format!("{at}/spec"));
    }
}

fn spec(object: &mut Value, at: &str) {
    let Some(spec) = object.pointer_mut(at).filter(|spec| spec.is_object()) else { return };
    for (name, value) in [
        ("restartPolicy", json!("Always")),
        ("dnsPolicy", json!("ClusterFirst")),
        ("schedulerName", json!("default-scheduler")),
        ("securityContext", json!({})),
        ("terminationGracePeriodSeconds", json!(30)),
    ] {
        default(spec, &format!("/{name}"), value);
    }
    // The old name of the field is kept up to date.
    if let Some(account) = spec.get("serviceAccountName").cloned() {
        default(spec, "/serviceAccount", account);
    }
    for list in ["containers", "initContainers"] {
        if let Some(Value::Array(containers)) = spec.get_mut(list) {
            containers.iter_mut().for_each(container);
        }
    }
    if let Some(Value::Array(volumes)) = spec.get_mut("volumes") {
        volumes.iter_mut().for_each(volume);
    }
}

fn container(container: &mut Value) {
    let image = text(container, "/image");
    let is_latest = image.ends_with(":latest") || !image.contains([':', '@']);
    let policy = if is_latest { "Always" } else { "IfNotPresent" };
    default(container, "/imagePullPolicy", json!(policy));
    default(container, "/resources", json!({}));
    default(container, "/terminationMessagePath", json!("/dev/termination-log"));
    default(container, "/terminationMessagePolicy", json!("File"));
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = container.get_mut(name) else { continue };
        for (name, value) in
            [("failureThreshold", 3), ("periodSeconds", 10), ("successThreshold", 1)]
        {
            default(probe, &format!("/{name}"), json!(value));
        }
        default(probe, "/timeoutSeconds", json!(1));
        if probe.get("httpGet").is_some() {
            default(probe, "/httpGet/scheme", json!("HTTP"));
            default(probe, "/httpGet/path", json!("/"));
        }
    }
    if let Some(Value::Array(ports)) = container.get_mut("ports") {
        for port in ports {
            default(port, "/protocol", json!("TCP"));
        }
    }
    if let Some(Value::Array(variables)) = container.get_mut("env") {
        for variable in variables {
            if variable.pointer("/valueFrom/fieldRef").is_some() {
                default(variable, "/valueFrom/fieldRef/apiVersion", json!("v1"));
            }
        }
    }
}

fn volume(volume: &mut Value) {
    for kind in ["configMap", "downwardAPI", "projected", "secret"] {
        if volume.get(kind).is_some() {
            default(volume, &format!("/{kind}/defaultMode"), json!(0o644));
        }
    }
    if volume.get("hostPath").is_some() {
        default(volume, "/hostPath/type", json!(""));
    }
}

/// Whoever says how much is enough, wants it.
fn requests(container: &mut Value) {
    let limits = container.pointer("/resources/limits").and_then(Value::as_object).cloned();
    for (name, limit) in limits.into_iter().flatten() {
        default(container, &format!("/resources/requests/{}", name.replace('/', "~1")), limit);
    }
}

/// How well a pod is treated where there is little.
fn quality(object: &Value) -> &'static str {
    let containers = object.pointer("/spec/containers").and_then(Value::as_array);
    let containers = containers.map(Vec::as_slice).unwrap_or_default();
    let said = |container: &Value, name: &str, resource: &str| {
        container.pointer(&format!("/resources/{name}/{resource}")).cloned()
    };
    let is_any = |container: &Value| {
        ["limits", "requests"]
            .iter()
            .any(|name| ["cpu", "memory"].iter().any(|it| said(container, name, it).is_some()))
    };
    let is_fixed = |container: &Value| {
        ["cpu", "memory"].iter().all(|resource| {
            let limit = said(container, "limits", resource);
            limit.is_some() && limit == said(container, "requests", resource)
        })
    };
    match () {
        () if !containers.iter().any(is_any) => "BestEffort",
        () if containers.iter().all(is_fixed) => "Guaranteed",
        () => "Burstable",
    }
}
