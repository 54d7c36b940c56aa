//! Profiles for kinds that everybody has, for when there is no configuration.

use anyhow::bail;
use kollect_validate::Object;
use serde_json::{Value, json};

/// A kind, what people call it, and what they want to know of it.
pub(crate) struct Known {
    pub(crate) names: &'static [&'static str],
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) kind: &'static str,
    /// Name, path and type. A list is computed: a path with `[*]` gives a text
    /// where there is one element, and that is no list to whoever reads it.
    pub(crate) attributes: &'static [(&'static str, &'static str, &'static str)],
}

const IMAGES: (&str, &str, &str) =
    ("images", "cel:object.spec.template.spec.containers.map(c, c.image)", "list");

#[rustfmt::skip]
const KNOWN: &[Known] = &[
    Known { names: &["deployments", "deployment", "deploy"], group: "apps", version: "v1", kind: "Deployment",
        attributes: &[("replicas", "$.spec.replicas", "int"), ("ready", "$.status.readyReplicas", "int"), IMAGES] },
    Known { names: &["statefulsets", "statefulset", "sts"], group: "apps", version: "v1", kind: "StatefulSet",
        attributes: &[("replicas", "$.spec.replicas", "int"), ("ready", "$.status.readyReplicas", "int"), IMAGES] },
    Known { names: &["daemonsets", "daemonset", "ds"], group: "apps", version: "v1", kind: "DaemonSet",
        attributes: &[("desired", "$.status.desiredNumberScheduled", "int"), ("ready", "$.status.numberReady", "int"), IMAGES] },
    Known { names: &["replicasets", "replicaset", "rs"], group: "apps", version: "v1", kind: "ReplicaSet",
        attributes: &[("replicas", "$.spec.replicas", "int"), ("ready", "$.status.readyReplicas", "int"), IMAGES] },
    Known { names: &["pods", "pod", "po"], group: "", version: "v1", kind: "Pod",
        attributes: &[("phase", "$.status.phase", "string"), ("node", "$.spec.nodeName", "string"),
            ("images", "cel:object.spec.containers.map(c, c.image)", "list")] },
    Known { names: &["jobs", "job"], group: "batch", version: "v1", kind: "Job",
        attributes: &[("succeeded", "$.status.succeeded", "int"), ("failed", "$.status.failed", "int"), IMAGES] },
    Known { names: &["cronjobs", "cronjob", "cj"], group: "batch", version: "v1", kind: "CronJob",
        attributes: &[("schedule", "$.spec.schedule", "string"), ("suspend", "$.spec.suspend", "bool"),
            ("images", "cel:object.spec.jobTemplate.spec.template.spec.containers.map(c, c.image)", "list")] },
    Known { names: &["services", "service", "svc"], group: "", version: "v1", kind: "Service",
        attributes: &[("type", "$.spec.type", "string"), ("clusterIP", "$.spec.clusterIP", "string"),
            ("ports", "cel:object.spec.ports.map(p, p.port)", "list")] },
    Known { names: &["ingresses", "ingress", "ing"], group: "networking.k8s.io", version: "v1", kind: "Ingress",
        attributes: &[("class", "$.spec.ingressClassName", "string"),
            ("hosts", "cel:object.spec.rules.map(r, has(r.host), r.host)", "list"),
            ("tls", "cel:object.spec.tls.map(t, has(t.hosts), t.hosts).flatten()", "list")] },
    Known { names: &["networkpolicies", "networkpolicy", "netpol"], group: "networking.k8s.io", version: "v1", kind: "NetworkPolicy",
        attributes: &[("types", "$.spec.policyTypes", "list"), ("pods", "$.spec.podSelector", "map")] },
    Known { names: &["configmaps", "configmap", "cm"], group: "", version: "v1", kind: "ConfigMap",
        attributes: &[("created", "$.metadata.creationTimestamp", "string"), ("immutable", "$.immutable", "bool")] },
    Known { names: &["secrets", "secret"], group: "", version: "v1", kind: "Secret",
        attributes: &[("type", "$.type", "string"), ("created", "$.metadata.creationTimestamp", "string")] },
    Known { names: &["serviceaccounts", "serviceaccount", "sa"], group: "", version: "v1", kind: "ServiceAccount",
        attributes: &[("created", "$.metadata.creationTimestamp", "string")] },
    Known { names: &["persistentvolumeclaims", "persistentvolumeclaim", "pvc"], group: "", version: "v1", kind: "PersistentVolumeClaim",
        attributes: &[("phase", "$.status.phase", "string"), ("storage", "$.spec.resources.requests.storage", "string"),
            ("class", "$.spec.storageClassName", "string")] },
    Known { names: &["horizontalpodautoscalers", "horizontalpodautoscaler", "hpa"], group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler",
        attributes: &[("target", "$.spec.scaleTargetRef.name", "string"), ("min", "$.spec.minReplicas", "int"),
            ("max", "$.spec.maxReplicas", "int"), ("now", "$.status.currentReplicas", "int")] },
    Known { names: &["nodes", "node", "no"], group: "", version: "v1", kind: "Node",
        attributes: &[("kubelet", "$.status.nodeInfo.kubeletVersion", "string"), ("os", "$.status.nodeInfo.osImage", "string"),
            ("cpu", "$.status.capacity.cpu", "string"), ("memory", "$.status.capacity.memory", "string")] },
    Known { names: &["namespaces", "namespace", "ns"], group: "", version: "v1", kind: "Namespace",
        attributes: &[("phase", "$.status.phase", "string"), ("labels", "$.metadata.labels", "map")] },
    Known { names: &["persistentvolumes", "persistentvolume", "pv"], group: "", version: "v1", kind: "PersistentVolume",
        attributes: &[("phase", "$.status.phase", "string"), ("storage", "$.spec.capacity.storage", "string"),
            ("claim", "$.spec.claimRef.name", "string")] },
];

impl Known {
    pub(crate) fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        !matches!(self.kind, "Namespace" | "Node" | "PersistentVolume")
    }
}

/// What is computed fails where something is missing, and that must not cost
/// the row.
pub(crate) fn is_optional(path: &str) -> bool {
    path.starts_with("cel:")
}

/// The kind that people mean by a word.
pub(crate) fn called(word: &str) -> Option<&'static Known> {
    let word = word.trim().to_ascii_lowercase();
    KNOWN.iter().find(|one| one.names.contains(&word.as_str()))
}

/// What kinds are called for which there is a profile.
pub(crate) fn names() -> Vec<&'static str> {
    KNOWN.iter().filter_map(|one| one.names.first().copied()).collect()
}

/// What there is to know of a kind.
pub(crate) fn of_kind(group: &str, version: &str, kind: &str) -> Option<&'static Known> {
    let wanted = (group, version, kind);
    KNOWN.iter().find(|one| (one.group, one.version, one.kind) == wanted)
}

/// Profiles and targets for kinds as people call them, in some namespaces or
/// in all.
pub(super) fn objects(words: &[String], namespaces: &[String]) -> anyhow::Result<Vec<Object>> {
    let mut objects = Vec::new();
    for word in words {
        let Some(known) = called(word) else {
            bail!(
                "there is no built-in profile for {word:?}; there is one for {}. \
                 For other kinds write a profile and a target, as `kollect init` does, \
                 and name them with --config",
                names().join(", ")
            );
        };
        let name = known.name();
        let attribute = |(name, path, value): &(&str, &str, &str)| {
            let optional = is_optional(path);
            json!({"name": name, "path": path, "type": value, "optional": optional})
        };
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
