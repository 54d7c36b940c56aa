//! Profiles for kinds that everybody has, for when there is no configuration.

use anyhow::bail;
use kollect_validate::Object;
use serde_json::{Value, json};

/// A kind, what people call it, and what they want to know of it.
struct Known {
    names: &'static [&'static str],
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    attributes: &'static [(&'static str, &'static str)],
}

const IMAGES: (&str, &str) = ("images", "{.spec.template.spec.containers[*].image}");

#[rustfmt::skip]
const KNOWN: &[Known] = &[
    Known { names: &["deployments", "deployment", "deploy"], group: "apps", version: "v1", kind: "Deployment",
        attributes: &[("replicas", "$.spec.replicas"), ("ready", "$.status.readyReplicas"), IMAGES] },
    Known { names: &["statefulsets", "statefulset", "sts"], group: "apps", version: "v1", kind: "StatefulSet",
        attributes: &[("replicas", "$.spec.replicas"), ("ready", "$.status.readyReplicas"), IMAGES] },
    Known { names: &["daemonsets", "daemonset", "ds"], group: "apps", version: "v1", kind: "DaemonSet",
        attributes: &[("desired", "$.status.desiredNumberScheduled"), ("ready", "$.status.numberReady"), IMAGES] },
    Known { names: &["replicasets", "replicaset", "rs"], group: "apps", version: "v1", kind: "ReplicaSet",
        attributes: &[("replicas", "$.spec.replicas"), ("ready", "$.status.readyReplicas"), IMAGES] },
    Known { names: &["pods", "pod", "po"], group: "", version: "v1", kind: "Pod",
        attributes: &[("phase", "$.status.phase"), ("node", "$.spec.nodeName"), ("images", "{.spec.containers[*].image}")] },
    Known { names: &["jobs", "job"], group: "batch", version: "v1", kind: "Job",
        attributes: &[("succeeded", "$.status.succeeded"), ("failed", "$.status.failed"), IMAGES] },
    Known { names: &["cronjobs", "cronjob", "cj"], group: "batch", version: "v1", kind: "CronJob",
        attributes: &[("schedule", "$.spec.schedule"), ("suspend", "$.spec.suspend"),
            ("images", "{.spec.jobTemplate.spec.template.spec.containers[*].image}")] },
    Known { names: &["services", "service", "svc"], group: "", version: "v1", kind: "Service",
        attributes: &[("type", "$.spec.type"), ("clusterIP", "$.spec.clusterIP"), ("ports", "{.spec.ports[*].port}")] },
    Known { names: &["ingresses", "ingress", "ing"], group: "networking.k8s.io", version: "v1", kind: "Ingress",
        attributes: &[("class", "$.spec.ingressClassName"), ("hosts", "{.spec.rules[*].host}"), ("tls", "{.spec.tls[*].hosts[*]}")] },
    Known { names: &["networkpolicies", "networkpolicy", "netpol"], group: "networking.k8s.io", version: "v1", kind: "NetworkPolicy",
        attributes: &[("types", "$.spec.policyTypes"), ("pods", "$.spec.podSelector")] },
    Known { names: &["configmaps", "configmap", "cm"], group: "", version: "v1", kind: "ConfigMap",
        attributes: &[("created", "$.metadata.creationTimestamp"), ("immutable", "$.immutable")] },
    Known { names: &["secrets", "secret"], group: "", version: "v1", kind: "Secret",
        attributes: &[("type", "$.type"), ("created", "$.metadata.creationTimestamp")] },
    Known { names: &["serviceaccounts", "serviceaccount", "sa"], group: "", version: "v1", kind: "ServiceAccount",
        attributes: &[("created", "$.metadata.creationTimestamp")] },
    Known { names: &["persistentvolumeclaims", "persistentvolumeclaim", "pvc"], group: "", version: "v1", kind: "PersistentVolumeClaim",
        attributes: &[("phase", "$.status.phase"), ("storage", "$.spec.resources.requests.storage"), ("class", "$.spec.storageClassName")] },
    Known { names: &["horizontalpodautoscalers", "horizontalpodautoscaler", "hpa"], group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler",
        attributes: &[("target", "$.spec.scaleTargetRef.name"), ("min", "$.spec.minReplicas"), ("max", "$.spec.maxReplicas"), ("now", "$.status.currentReplicas")] },
    Known { names: &["nodes", "node", "no"], group: "", version: "v1", kind: "Node",
        attributes: &[("kubelet", "$.status.nodeInfo.kubeletVersion"), ("os", "$.status.nodeInfo.osImage"),
            ("cpu", "$.status.capacity.cpu"), ("memory", "$.status.capacity.memory")] },
    Known { names: &["namespaces", "namespace", "ns"], group: "", version: "v1", kind: "Namespace",
        attributes: &[("phase", "$.status.phase"), ("labels", "$.metadata.labels")] },
    Known { names: &["persistentvolumes", "persistentvolume", "pv"], group: "", version: "v1", kind: "PersistentVolume",
        attributes: &[("phase", "$.status.phase"), ("storage", "$.spec.capacity.storage"), ("claim", "$.spec.claimRef.name")] },
];

/// Profiles and targets for kinds as people call them, in some namespaces or
/// in all.
pub(super) fn objects(words: &[String], namespaces: &[String]) -> anyhow::Result<Vec<Object>> {
    let mut objects = Vec::new();
    for word in words {
        let word = word.trim().to_ascii_lowercase();
        let Some(known) = KNOWN.iter().find(|one| one.names.contains(&word.as_str())) else {
            let names: Vec<_> = KNOWN.iter().filter_map(|one| one.names.first().copied()).collect();
            bail!(
                "there is no built-in profile for {word:?}; there is one for {}. \
                 For other kinds write a profile and a target, and name them with --config",
                names.join(", ")
            );
        };
        let name = known.names.first().copied().unwrap_or_default();
        let attribute = |(name, path): &(&str, &str)| json!({"name": name, "path": path});
        let attributes: Vec<_> = known.attributes.iter().map(attribute).collect();
        let gvk = json!({"group": known.group, "version": known.version, "kind": known.kind});
        objects.push(Object::Profile(Box::new(decoded(
            "KollectProfile",
            name,
            json!({"targetGVK": gvk, "attributes": attributes}),
        )?)));
        objects.push(Object::Target(Box::new(decoded(
            "KollectTarget",
            name,
            json!({"profileRef": name, "includedNamespaces": namespaces}),
        )?)));
    }
    Ok(objects)
}

fn decoded<T: serde::de::DeserializeOwned>(
    kind: &str,
    name: &str,
    spec: Value,
) -> anyhow::Result<T> {
    Ok(serde_json::from_value(json!({
        "apiVersion": "kollect.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_profile_is_admissible() {
        let words: Vec<_> = KNOWN.iter().map(|one| one.names[0].to_owned()).collect();
        let objects = objects(&words, &["shop".to_owned()]).unwrap();
        let around = kollect_validate::Surroundings::default();
        for object in &objects {
            let mut report = kollect_validate::Report::default();
            kollect_validate::check(object, &around, &mut report);
            assert!(report.violations.is_empty(), "{}: {:?}", object.name(), report.violations);
        }
        assert_eq!(objects.len(), 2 * KNOWN.len());
    }

    #[test]
    fn a_word_that_nobody_knows_is_answered_with_those_that_are() {
        let error = objects(&["widgets".to_owned()], &[]).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "there is no built-in profile for \"widgets\"; there is one for deployments, "
            ),
            "{error}"
        );
        assert!(objects(&["Deploy".to_owned()], &[]).is_ok());
    }
}
