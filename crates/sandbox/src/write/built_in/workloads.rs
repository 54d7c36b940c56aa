//! Those that make pods.

use serde_json::{Value, json};

use super::{claim, default, pod, text};
use crate::storage::uid;

pub(super) fn complete(kind: &str, object: &mut Value, version: u64) {
    match kind {
        "Deployment" => deployment(object),
        "StatefulSet" => stateful_set(object),
        "DaemonSet" => daemon_set(object),
        "ReplicaSet" | "ReplicationController" => {
            default(object, "/spec/replicas", json!(1));
            pod::template(object, "/spec/template");
            default(object, "/status/replicas", json!(0));
        }
        "Job" => job(object, version),
        "CronJob" => cron_job(object),
        "PodTemplate" => pod::template(object, "/template"),
        _ => {}
    }
}

fn deployment(object: &mut Value) {
    default(object, "/spec/strategy/type", json!("RollingUpdate"));
    if text(object, "/spec/strategy/type") == "RollingUpdate" {
        default(object, "/spec/strategy/rollingUpdate/maxSurge", json!("25%"));
        default(object, "/spec/strategy/rollingUpdate/maxUnavailable", json!("25%"));
    }
    default(object, "/spec/replicas", json!(1));
    default(object, "/spec/revisionHistoryLimit", json!(10));
    default(object, "/spec/progressDeadlineSeconds", json!(600));
    pod::template(object, "/spec/template");
    default(object, "/status", json!({}));
}

fn stateful_set(object: &mut Value) {
    default(object, "/spec/replicas", json!(1));
    default(object, "/spec/podManagementPolicy", json!("OrderedReady"));
    default(object, "/spec/revisionHistoryLimit", json!(10));
    let retention = "/spec/persistentVolumeClaimRetentionPolicy";
    default(object, &format!("{retention}/whenDeleted"), json!("Retain"));
    default(object, &format!("{retention}/whenScaled"), json!("Retain"));
    default(object, "/spec/updateStrategy/type", json!("RollingUpdate"));
    if text(object, "/spec/updateStrategy/type") == "RollingUpdate" {
        default(object, "/spec/updateStrategy/rollingUpdate/partition", json!(0));
    }
    pod::template(object, "/spec/template");
    if let Some(Value::Array(claims)) = object.pointer_mut("/spec/volumeClaimTemplates") {
        for template in claims {
            default(template, "/apiVersion", json!("v1"));
            default(template, "/kind", json!("PersistentVolumeClaim"));
            claim(template);
        }
    }
    default(object, "/status/replicas", json!(0));
    default(object, "/status/availableReplicas", json!(0));
}

fn daemon_set(object: &mut Value) {
    default(object, "/spec/revisionHistoryLimit", json!(10));
    default(object, "/spec/updateStrategy/type", json!("RollingUpdate"));
    if text(object, "/spec/updateStrategy/type") == "RollingUpdate" {
        default(object, "/spec/updateStrategy/rollingUpdate/maxSurge", json!(0));
        default(object, "/spec/updateStrategy/rollingUpdate/maxUnavailable", json!(1));
    }
    let generation = "/metadata/annotations/deprecated.daemonset.template.generation";
    default(object, generation, json!("1"));
    pod::template(object, "/spec/template");
    let counts =
        ["currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"];
    for name in counts {
        default(object, &format!("/status/{name}"), json!(0));
    }
}

/// A job finds its pods by its own identity.
fn job(object: &mut Value, version: u64) {
    for (name, value) in [
        ("backoffLimit", json!(6)),
        ("completions", json!(1)),
        ("parallelism", json!(1)),
        ("completionMode", json!("NonIndexed")),
        ("suspend", json!(false)),
        ("manualSelector", json!(false)),
        ("podReplacementPolicy", json!("TerminatingOrFailed")),
    ] {
        default(object, &format!("/spec/{name}"), value);
    }
    pod::template(object, "/spec/template");
    default(object, "/status", json!({}));
    if object.pointer("/spec/manualSelector") == Some(&json!(true))
        || object.pointer("/spec/selector").is_some()
    {
        return;
    }
    let (own, name) = (json!(uid(version)), json!(text(object, "/metadata/name")));
    for labels in ["/metadata/labels", "/spec/template/metadata/labels"] {
        for (label, value) in [("controller-uid", &own), ("job-name", &name)] {
            default(object, &format!("{labels}/batch.kubernetes.io~1{label}"), value.clone());
            default(object, &format!("{labels}/{label}"), value.clone());
        }
    }
    let selector = json!({"matchLabels": {"batch.kubernetes.io/controller-uid": own}});
    default(object, "/spec/selector", selector);
}

fn cron_job(object: &mut Value) {
    default(object, "/spec/concurrencyPolicy", json!("Allow"));
    default(object, "/spec/suspend", json!(false));
    default(object, "/spec/successfulJobsHistoryLimit", json!(3));
    default(object, "/spec/failedJobsHistoryLimit", json!(1));
    default(object, "/spec/jobTemplate/metadata", json!({}));
    pod::template(object, "/spec/jobTemplate/spec/template");
    default(object, "/status", json!({}));
}
