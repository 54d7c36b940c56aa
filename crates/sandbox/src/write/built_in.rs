//! What real servers fill in for built-in kinds, as far as clients look at it.

mod network;
mod pod;
mod types;
mod workloads;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

pub(super) use self::types::wrong_type;
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
        "Pod" => pod::whole(object),
        "Service" => network::service(known, object, version),
        "NetworkPolicy" => network::policy(object),
        "EndpointSlice" => network::slice(object),
        "Ingress" => default(object, "/status/loadBalancer", json!({})),
        "Event" => event(object),
        "LimitRange" => limits(object),
        "ResourceQuota" => default(object, "/status", json!({})),
        "StorageClass" => {
            default(object, "/reclaimPolicy", json!("Delete"));
            default(object, "/volumeBindingMode", json!("Immediate"));
        }
        "PriorityClass" => default(object, "/preemptionPolicy", json!("PreemptLowerPriority")),
        "PersistentVolume" => {
            default(object, "/spec/persistentVolumeReclaimPolicy", json!("Retain"));
            default(object, "/spec/volumeMode", json!("Filesystem"));
            default(object, "/status/phase", json!("Pending"));
            if object.pointer("/spec/hostPath").is_some() {
                default(object, "/spec/hostPath/type", json!(""));
            }
        }
        "PersistentVolumeClaim" => claim(object),
        "PodDisruptionBudget" => {
            let counts = ["currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods"];
            for name in counts {
                default(object, &format!("/status/{name}"), json!(0));
            }
        }
        "HorizontalPodAutoscaler" => autoscaler(object),
        _ => workloads::complete(kind, object, version),
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

/// These are said though they are empty.
fn event(object: &mut Value) {
    let is_newer = object.get("regarding").is_some();
    let reporter = if is_newer { "/reportingController" } else { "/reportingComponent" };
    default(object, reporter, json!(""));
    default(object, "/reportingInstance", json!(""));
    default(object, "/eventTime", Value::Null);
    let old = |name: &str| match (is_newer, name) {
        (false, name) => format!("/{name}"),
        (true, "source") => "/deprecatedSource".to_owned(),
        (true, "firstTimestamp") => "/deprecatedFirstTimestamp".to_owned(),
        (true, _) => "/deprecatedLastTimestamp".to_owned(),
    };
    default(object, &old("source"), json!({}));
    default(object, &old("firstTimestamp"), Value::Null);
    default(object, &old("lastTimestamp"), Value::Null);
}

/// What is allowed by default is also what is asked for.
fn limits(object: &mut Value) {
    let Some(Value::Array(limits)) = object.pointer_mut("/spec/limits") else { return };
    for limit in limits.iter_mut().filter(|limit| text(limit, "/type") == "Container") {
        if let Some(usual) = limit.get("default").cloned() {
            default(limit, "/defaultRequest", usual);
        }
    }
}

fn claim(object: &mut Value) {
    default(object, "/spec/volumeMode", json!("Filesystem"));
    default(object, "/status/phase", json!("Pending"));
}

fn autoscaler(object: &mut Value) {
    let cpu = json!([{"type": "Resource", "resource": {
        "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80},
    }}]);
    default(object, "/spec/metrics", cpu);
    default(object, "/spec/minReplicas", json!(1));
    default(object, "/status/currentMetrics", Value::Null);
    default(object, "/status/desiredReplicas", json!(0));
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
