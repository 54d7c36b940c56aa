//! What real servers fill in for built-in kinds, as far as clients look at it.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use super::text;
use crate::{
    definition::Served,
    status::{Status, Violation},
};

/// Fills in what an object of a built-in kind does not say.
pub(super) fn complete(kind: &str, known: Option<&Value>, object: &mut Value, version: u64) {
    match kind {
        "Namespace" => {
            default(object, "/spec/finalizers", json!(["kubernetes"]));
            default(object, "/status/phase", json!("Active"));
            let name = json!(text(object, "/metadata/name"));
            default(object, "/metadata/labels/kubernetes.io~1metadata.name", name);
        }
        "Secret" => secret(object),
        "Service" => service(known, object, version),
        "Pod" => {
            pod(object, "/spec");
            default(object, "/status/phase", json!("Pending"));
            default(object, "/status/qosClass", json!("BestEffort"));
        }
        "Ingress" => default(object, "/status/loadBalancer", json!({})),
        _ => workload(kind, object),
    }
}

/// Those that make pods.
fn workload(kind: &str, object: &mut Value) {
    match kind {
        "Deployment" => {
            let strategy = json!({
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
            });
            default(object, "/spec/strategy", strategy);
            default(object, "/spec/replicas", json!(1));
            default(object, "/spec/revisionHistoryLimit", json!(10));
            default(object, "/spec/progressDeadlineSeconds", json!(600));
            pod(object, "/spec/template/spec");
            default(object, "/status", json!({}));
        }
        "StatefulSet" => {
            default(object, "/spec/replicas", json!(1));
            default(object, "/spec/podManagementPolicy", json!("OrderedReady"));
            default(object, "/spec/revisionHistoryLimit", json!(10));
            let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
            default(object, "/spec/updateStrategy", strategy);
            pod(object, "/spec/template/spec");
            default(object, "/status/replicas", json!(0));
        }
        "DaemonSet" => {
            default(object, "/spec/revisionHistoryLimit", json!(10));
            pod(object, "/spec/template/spec");
            for name in ["currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled"] {
                default(object, &format!("/status/{name}"), json!(0));
            }
            default(object, "/status/numberReady", json!(0));
        }
        "ReplicaSet" | "ReplicationController" => {
            default(object, "/spec/replicas", json!(1));
            pod(object, "/spec/template/spec");
            default(object, "/status/replicas", json!(0));
        }
        "Job" => {
            for (name, value) in [("backoffLimit", json!(6)), ("completions", json!(1))] {
                default(object, &format!("/spec/{name}"), value);
            }
            default(object, "/spec/parallelism", json!(1));
            default(object, "/spec/completionMode", json!("NonIndexed"));
            default(object, "/spec/suspend", json!(false));
            pod(object, "/spec/template/spec");
            default(object, "/status", json!({}));
        }
        "CronJob" => {
            default(object, "/spec/concurrencyPolicy", json!("Allow"));
            default(object, "/spec/suspend", json!(false));
            default(object, "/spec/successfulJobsHistoryLimit", json!(3));
            default(object, "/spec/failedJobsHistoryLimit", json!(1));
            pod(object, "/spec/jobTemplate/spec/template/spec");
            default(object, "/status", json!({}));
        }
        _ => {}
    }
}

fn secret(object: &mut Value) {
    default(object, "/type", json!("Opaque"));
    let Value::Object(fields) = object else { return };
    let Some(Value::Object(plain)) = fields.remove("stringData") else { return };
    let data = fields.entry("data").or_insert_with(|| json!({}));
    let Value::Object(data) = data else { return };
    for (name, value) in plain {
        let encoded = STANDARD.encode(value.as_str().unwrap_or_default());
        data.insert(name, Value::from(encoded));
    }
}

fn service(known: Option<&Value>, object: &mut Value, version: u64) {
    default(object, "/spec/type", json!("ClusterIP"));
    default(object, "/spec/sessionAffinity", json!("None"));
    default(object, "/spec/internalTrafficPolicy", json!("Cluster"));
    default(object, "/status/loadBalancer", json!({}));
    if let Some(Value::Array(ports)) = object.pointer_mut("/spec/ports") {
        for port in ports {
            default(port, "/protocol", json!("TCP"));
            let number = port.get("port").cloned().unwrap_or_default();
            default(port, "/targetPort", number);
        }
    }
    if text(object, "/spec/type") == "ExternalName" {
        return;
    }
    let old = known.and_then(|known| known.pointer("/spec/clusterIP").cloned());
    let fresh = || json!(format!("10.96.{}.{}", (version / 250) % 250, version % 250 + 1));
    default(object, "/spec/clusterIP", old.unwrap_or_else(fresh));
    let address = object.pointer("/spec/clusterIP").cloned().unwrap_or_default();
    default(object, "/spec/clusterIPs", json!([address]));
    default(object, "/spec/ipFamilies", json!(["IPv4"]));
    default(object, "/spec/ipFamilyPolicy", json!("SingleStack"));
}

/// The part that everything has that runs containers.
fn pod(object: &mut Value, at: &str) {
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
    for list in ["containers", "initContainers"] {
        let Some(Value::Array(containers)) = spec.get_mut(list) else { continue };
        for container in containers {
            let image = text(container, "/image");
            let is_latest = image.ends_with(":latest") || !image.contains([':', '@']);
            let policy = if is_latest { "Always" } else { "IfNotPresent" };
            default(container, "/imagePullPolicy", json!(policy));
            default(container, "/resources", json!({}));
            default(container, "/terminationMessagePath", json!("/dev/termination-log"));
            default(container, "/terminationMessagePolicy", json!("File"));
            if let Some(Value::Array(ports)) = container.get_mut("ports") {
                for port in ports {
                    default(port, "/protocol", json!("TCP"));
                }
            }
        }
    }
}

/// Says something at a path unless something is said there.
fn default(object: &mut Value, path: &str, value: Value) {
    let Some((first, rest)) = path.strip_prefix('/').map(|path| match path.split_once('/') {
        Some((first, rest)) => (first, format!("/{rest}")),
        None => (path, String::new()),
    }) else {
        return;
    };
    if object.is_null() {
        *object = Value::Object(Map::new());
    }
    let Value::Object(fields) = object else { return };
    let name = first.replace("~1", "/");
    if rest.is_empty() {
        fields.entry(name).or_insert(value);
    } else {
        default(fields.entry(name).or_insert(Value::Null), &rest, value);
    }
}

/// Refuses what clients are most likely to get wrong.
pub(super) fn check(served: &Served, known: Option<&Value>, object: &Value) -> Result<(), Status> {
    let definition = &served.definition;
    let name = text(object, "/metadata/name");
    let mut violations = Vec::new();
    let mut say = |reason, field: &str, message: &str| {
        violations.push(Violation { reason, field: field.into(), message: message.into() });
    };
    match definition.kind.as_str() {
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" => {
            if object.pointer("/spec/selector").is_none() {
                say("FieldValueRequired", "spec.selector", "Required value");
            }
            let old = known.and_then(|known| known.pointer("/spec/selector"));
            if old.is_some_and(|old| Some(old) != object.pointer("/spec/selector")) {
                let value = object.pointer("/spec/selector").cloned().unwrap_or_default();
                let message = format!("Invalid value: {value}: field is immutable");
                say("FieldValueInvalid", "spec.selector", &message);
            }
        }
        "Pod" => {
            let containers = object.pointer("/spec/containers").and_then(Value::as_array);
            if containers.is_none_or(Vec::is_empty) {
                say("FieldValueRequired", "spec.containers", "Required value");
            }
        }
        "CustomResourceDefinition" => {
            let names = (text(object, "/spec/names/plural"), text(object, "/spec/group"));
            let expected = format!("{}.{}", names.0, names.1);
            if name != expected {
                let message = format!(
                    "Invalid value: \"{name}\": must be spec.names.plural+\".\"+spec.group"
                );
                say("FieldValueInvalid", "metadata.name", &message);
            }
        }
        "ConfigMap" | "Secret" => {
            let is_fixed = known.is_some_and(|known| known.get("immutable") == Some(&json!(true)));
            if is_fixed && known.is_some_and(|known| known.get("data") != object.get("data")) {
                let message = "Forbidden: field is immutable when `immutable` is set";
                say("FieldValueForbidden", "data", message);
            }
        }
        _ => {}
    }
    if violations.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(definition, name, &violations))
}
