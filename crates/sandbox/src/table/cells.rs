//! What stands in the columns of built-in kinds.

mod network;
mod policy;

use serde_json::{Value, json};

use self::{
    network::{endpoints, ingress, service, slice},
    policy::{autoscaler, budget, quota},
};
use super::age;
use crate::selector::{pairs, written};

/// One cell of an object, by its kind and the name of the column.
pub(super) fn cell(object: &Value, kind: &str, column: &str, now: i64) -> Value {
    let said = |path: &str| text(object, path);
    match (kind, column) {
        (_, "Name") => said("/metadata/name"),
        (_, "Age") => since(object, "/metadata/creationTimestamp", now),
        (_, "Created At") => said("/metadata/creationTimestamp"),
        (_, "Containers") => json!(containers(object, "name")),
        (_, "Images") => json!(containers(object, "image")),
        ("Service" | "ReplicationController", "Selector") => {
            or_none(pairs(object.pointer("/spec/selector")))
        }
        (_, "Selector") => or_none(selected(object, "/spec/selector")),
        ("ConfigMap", "Data") => {
            json!((size(object, "/data") + size(object, "/binaryData")).to_string())
        }
        ("Secret", "Data") => json!(size(object, "/data").to_string()),
        ("Secret", "Type") => said("/type"),
        ("Namespace", "Status") => said("/status/phase"),
        ("Service", _) => service(object, column),
        ("Pod", _) => pod(object, column),
        ("Event", _) => event(object, column, now),
        ("Node", _) => node(object, column),
        (
            "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "ReplicationController",
            _,
        ) => replicas(object, kind, column),
        ("Job" | "CronJob", _) => job(object, column, now),
        ("Lease", "Holder") => said("/spec/holderIdentity"),
        ("NetworkPolicy", "Pod-Selector") => or_none(selected(object, "/spec/podSelector")),
        ("Ingress" | "IngressClass", _) => ingress(object, column),
        ("Endpoints", "Endpoints") => json!(endpoints(object)),
        ("EndpointSlice", _) => slice(object, column),
        ("HorizontalPodAutoscaler", _) => autoscaler(object, column),
        ("PodDisruptionBudget", _) => budget(object, column),
        ("ResourceQuota", _) => json!(quota(object, column)),
        ("PodTemplate", "Pod Labels") => {
            or_none(pairs(object.pointer("/template/metadata/labels")))
        }
        ("StorageClass" | "PriorityClass" | "ControllerRevision", _) => class(object, column),
        ("RoleBinding" | "ClusterRoleBinding", _) => binding(object, column),
        ("PersistentVolume" | "PersistentVolumeClaim", _) => volume(object, kind, column),
        _ => Value::Null,
    }
}

fn replicas(object: &Value, kind: &str, column: &str) -> Value {
    let number = |path: &str| json!(count(object, path));
    match (kind, column) {
        ("Deployment" | "StatefulSet", "Ready") => {
            let ready = count(object, "/status/readyReplicas");
            json!(format!("{ready}/{}", count(object, "/spec/replicas")))
        }
        ("Deployment", "Up-to-date") => json!(count(object, "/status/updatedReplicas").to_string()),
        ("Deployment", "Available") => {
            json!(count(object, "/status/availableReplicas").to_string())
        }
        ("DaemonSet", "Desired") => number("/status/desiredNumberScheduled"),
        ("DaemonSet", "Current") => number("/status/currentNumberScheduled"),
        ("DaemonSet", "Ready") => number("/status/numberReady"),
        ("DaemonSet", "Up-to-date") => number("/status/updatedNumberScheduled"),
        ("DaemonSet", "Available") => number("/status/numberAvailable"),
        ("DaemonSet", "Node Selector") => {
            or_none(pairs(object.pointer("/spec/template/spec/nodeSelector")))
        }
        (_, "Desired") => number("/spec/replicas"),
        (_, "Current") => number("/status/replicas"),
        (_, "Ready") => number("/status/readyReplicas"),
        _ => Value::Null,
    }
}

fn plain<'a>(object: &'a Value, path: &str) -> &'a str {
    object.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

fn text(object: &Value, path: &str) -> Value {
    json!(plain(object, path))
}

fn or_none(text: String) -> Value {
    if text.is_empty() { json!("<none>") } else { json!(text) }
}

fn count(object: &Value, path: &str) -> i64 {
    object.pointer(path).and_then(Value::as_i64).unwrap_or_default()
}

fn size(object: &Value, path: &str) -> usize {
    object.pointer(path).and_then(Value::as_object).map_or(0, serde_json::Map::len)
}

fn list<'a>(object: &'a Value, path: &str) -> impl Iterator<Item = &'a Value> {
    object.pointer(path).and_then(Value::as_array).into_iter().flatten()
}

fn since(object: &Value, path: &str, now: i64) -> Value {
    match plain(object, path) {
        "" => json!("<unknown>"),
        time => json!(age::since(time, now)),
    }
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.collect::<Vec<_>>().join(",")
}

fn containers(object: &Value, field: &str) -> String {
    let inner = "/template/spec/containers";
    let places =
        [inner.to_owned(), format!("/spec{inner}"), format!("/spec/jobTemplate/spec{inner}")];
    let found = places.iter().flat_map(|path| list(object, path));
    joined(found.filter_map(|container| container.get(field)?.as_str()))
}

fn selected(object: &Value, path: &str) -> String {
    object.pointer(path).map(written).unwrap_or_default()
}

fn pod(object: &Value, column: &str) -> Value {
    let statuses = || list(object, "/status/containerStatuses");
    match column {
        "Ready" => {
            let ready = statuses().filter(|status| status.get("ready") == Some(&json!(true)));
            json!(format!("{}/{}", ready.count(), list(object, "/spec/containers").count()))
        }
        "Status" if !plain(object, "/metadata/deletionTimestamp").is_empty() => {
            json!("Terminating")
        }
        "Status" => {
            let waiting = statuses().map(|status| plain(status, "/state/waiting/reason"));
            let reason = waiting.filter(|reason| !reason.is_empty()).last();
            match reason.unwrap_or_else(|| plain(object, "/status/reason")) {
                "" => text(object, "/status/phase"),
                reason => json!(reason),
            }
        }
        "Restarts" => {
            let restarts: i64 = statuses().map(|status| count(status, "/restartCount")).sum();
            json!(restarts.to_string())
        }
        "IP" => or_none(plain(object, "/status/podIP").to_owned()),
        "Node" => or_none(plain(object, "/spec/nodeName").to_owned()),
        "Nominated Node" => or_none(plain(object, "/status/nominatedNodeName").to_owned()),
        "Readiness Gates" => json!("<none>"),
        _ => Value::Null,
    }
}

fn event(object: &Value, column: &str, now: i64) -> Value {
    let either = |one: &str, other: &str| match plain(object, one) {
        "" => plain(object, other).to_owned(),
        text => text.to_owned(),
    };
    let age = |time: String| match time.as_str() {
        "" => json!("<unknown>"),
        time => json!(age::since(time, now)),
    };
    match column {
        "Last Seen" => age(either("/lastTimestamp", "/eventTime")),
        "First Seen" => age(either("/firstTimestamp", "/eventTime")),
        "Type" => text(object, "/type"),
        "Reason" => text(object, "/reason"),
        "Message" => json!(either("/message", "/note").trim()),
        "Object" => {
            let kind = either("/involvedObject/kind", "/regarding/kind").to_lowercase();
            json!(format!("{kind}/{}", either("/involvedObject/name", "/regarding/name")))
        }
        "Subobject" => text(object, "/involvedObject/fieldPath"),
        "Source" => json!(either("/source/component", "/reportingComponent")),
        "Count" => json!(count(object, "/count").max(1).to_string()),
        _ => Value::Null,
    }
}

fn node(object: &Value, column: &str) -> Value {
    let address = |kind: &str| {
        let mut addresses = list(object, "/status/addresses");
        let found = addresses.find(|address| plain(address, "/type") == kind);
        or_none(found.map(|address| plain(address, "/address").to_owned()).unwrap_or_default())
    };
    let unknown = |path: &str| match plain(object, path) {
        "" => json!("<unknown>"),
        text => json!(text),
    };
    match column {
        "Status" => {
            let mut conditions = list(object, "/status/conditions");
            let ready = conditions.find(|condition| plain(condition, "/type") == "Ready");
            let mut status = match ready.map(|ready| plain(ready, "/status")) {
                Some("True") => "Ready".to_owned(),
                Some(_) => "NotReady".to_owned(),
                None => "Unknown".to_owned(),
            };
            if object.pointer("/spec/unschedulable") == Some(&json!(true)) {
                status.push_str(",SchedulingDisabled");
            }
            json!(status)
        }
        "Roles" => {
            let labels = object.pointer("/metadata/labels").and_then(Value::as_object);
            let roles = labels
                .into_iter()
                .flatten()
                .filter_map(|(name, _)| name.strip_prefix("node-role.kubernetes.io/"));
            or_none(joined(roles))
        }
        "Version" => text(object, "/status/nodeInfo/kubeletVersion"),
        "Internal-IP" => address("InternalIP"),
        "External-IP" => address("ExternalIP"),
        "OS-Image" => unknown("/status/nodeInfo/osImage"),
        "Kernel-Version" => unknown("/status/nodeInfo/kernelVersion"),
        "Container-Runtime" => unknown("/status/nodeInfo/containerRuntimeVersion"),
        _ => Value::Null,
    }
}

fn job(object: &Value, column: &str, now: i64) -> Value {
    let is_true = |kind: &str| {
        list(object, "/status/conditions").any(|condition| {
            plain(condition, "/type") == kind && plain(condition, "/status") == "True"
        })
    };
    match column {
        "Status" => json!(match () {
            () if is_true("Complete") => "Complete",
            () if is_true("Failed") => "Failed",
            () if !plain(object, "/metadata/deletionTimestamp").is_empty() => "Terminating",
            () if is_true("Suspended") => "Suspended",
            () => "Running",
        }),
        "Completions" => {
            let wanted = count(object, "/spec/completions");
            json!(format!("{}/{wanted}", count(object, "/status/succeeded")))
        }
        "Duration" => match plain(object, "/status/startTime") {
            "" => json!(""),
            start => {
                let end: Option<jiff::Timestamp> =
                    plain(object, "/status/completionTime").parse().ok();
                json!(age::since(start, end.map_or(now, jiff::Timestamp::as_second)))
            }
        },
        "Schedule" => text(object, "/spec/schedule"),
        "Timezone" => or_none(plain(object, "/spec/timeZone").to_owned()),
        "Suspend" => match object.pointer("/spec/suspend") {
            Some(Value::Bool(true)) => json!("True"),
            _ => json!("False"),
        },
        "Active" => json!(list(object, "/status/active").count()),
        "Last Schedule" => match plain(object, "/status/lastScheduleTime") {
            "" => json!("<none>"),
            time => json!(age::since(time, now)),
        },
        _ => Value::Null,
    }
}

fn binding(object: &Value, column: &str) -> Value {
    let subjects = |kind: &str| {
        let subjects = list(object, "/subjects").filter(|it| plain(it, "/kind") == kind);
        let names = subjects.map(|subject| match plain(subject, "/namespace") {
            "" => plain(subject, "/name").to_owned(),
            namespace => format!("{namespace}/{}", plain(subject, "/name")),
        });
        json!(names.collect::<Vec<_>>().join(", "))
    };
    match column {
        "Role" => {
            let role = plain(object, "/roleRef/kind");
            json!(format!("{role}/{}", plain(object, "/roleRef/name")))
        }
        "Users" => subjects("User"),
        "Groups" => subjects("Group"),
        "ServiceAccounts" => subjects("ServiceAccount"),
        _ => Value::Null,
    }
}

fn volume(object: &Value, kind: &str, column: &str) -> Value {
    let is_claim = kind == "PersistentVolumeClaim";
    match column {
        "Status" if !plain(object, "/metadata/deletionTimestamp").is_empty() => {
            json!("Terminating")
        }
        "Status" => text(object, "/status/phase"),
        "Volume" => text(object, "/spec/volumeName"),
        "Capacity" if is_claim => text(object, "/status/capacity/storage"),
        "Capacity" => text(object, "/spec/capacity/storage"),
        "Access Modes" => {
            let path = if is_claim { "/status/accessModes" } else { "/spec/accessModes" };
            let short = list(object, path).filter_map(Value::as_str).map(|mode| match mode {
                "ReadWriteOnce" => "RWO",
                "ReadOnlyMany" => "ROX",
                "ReadWriteMany" => "RWX",
                "ReadWriteOncePod" => "RWOP",
                other => other,
            });
            json!(joined(short))
        }
        "Reclaim Policy" => text(object, "/spec/persistentVolumeReclaimPolicy"),
        "Claim" => match plain(object, "/spec/claimRef/name") {
            "" => json!(""),
            name => json!(format!("{}/{name}", plain(object, "/spec/claimRef/namespace"))),
        },
        "StorageClass" => text(object, "/spec/storageClassName"),
        "VolumeAttributesClass" => json!("<unset>"),
        "Reason" => text(object, "/status/reason"),
        "VolumeMode" => match plain(object, "/spec/volumeMode") {
            "" => json!("<unset>"),
            mode => json!(mode),
        },
        _ => Value::Null,
    }
}

fn class(object: &Value, column: &str) -> Value {
    let flag = |path: &str| json!(object.pointer(path) == Some(&json!(true)));
    match column {
        "Provisioner" => text(object, "/provisioner"),
        "ReclaimPolicy" => text(object, "/reclaimPolicy"),
        "VolumeBindingMode" => text(object, "/volumeBindingMode"),
        "AllowVolumeExpansion" => flag("/allowVolumeExpansion"),
        "Value" => json!(count(object, "/value")),
        "Global-Default" => flag("/globalDefault"),
        "PreemptionPolicy" => text(object, "/preemptionPolicy"),
        "Controller" => {
            let owner = object.pointer("/metadata/ownerReferences/0").unwrap_or(&Value::Null);
            match plain(owner, "/name") {
                "" => json!("<none>"),
                name => json!(format!("{}/{name}", plain(owner, "/kind").to_lowercase())),
            }
        }
        "Revision" => json!(count(object, "/revision")),
        _ => Value::Null,
    }
}
