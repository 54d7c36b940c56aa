//! Rights as the objects that grant them, and as a page for people.

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
};

use serde_json::{Value, json};

use super::{Collected, FOLLOW, Install, Reach, Right, election, manager};

/// Roles with this label are what an operator may collect.
const AGGREGATE: &str = "rbac.kollect.dev/aggregate-to-collector";
const API: &str = "rbac.authorization.k8s.io/v1";

impl Install {
    /// Everything that grants an operator what it needs, in the order in which
    /// it is applied.
    pub fn manifests(&self) -> Vec<Value> {
        let account = json!({
            "apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": self.meta("controller-manager", Some(&self.namespace)),
        });
        let election = self.granted("leader-election", Some(&self.namespace), &rules(&election()));
        let mut all = vec![account];
        all.extend(election);
        match &self.reach {
            Reach::Cluster => all.extend(self.of_cluster()),
            Reach::Namespaces(names) => {
                for name in names.iter().map(|name| Some(name.as_str())) {
                    all.extend(self.granted("manager", name, &rules(&manager(name))));
                    all.extend(self.granted("collector", name, &self.collected()));
                }
            }
        }
        all
    }

    fn of_cluster(&self) -> Vec<Value> {
        let mut all = Vec::from(self.granted("manager", None, &rules(&manager(None))));
        let [mut collector, binding] = self.granted("collector", None, &[]);
        if let Some(role) = collector.as_object_mut() {
            // Whoever runs the cluster fills it, by roles with the label.
            role.remove("rules");
            let labels = json!({AGGREGATE: "true"});
            role.insert(
                "aggregationRule".to_owned(),
                json!({"clusterRoleSelectors": [{"matchLabels": labels}]}),
            );
        }
        let mut reader = self.meta("collect", None);
        reader["labels"][AGGREGATE] = "true".into();
        let reader = json!({
            "apiVersion": API, "kind": "ClusterRole", "metadata": reader,
            "rules": self.collected(),
        });
        let metrics = json!({
            "apiVersion": API, "kind": "ClusterRole",
            "metadata": self.meta("metrics-reader", None),
            "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}],
        });
        all.extend([collector, binding, reader, metrics]);
        all
    }

    /// A role and who has it: the account of the operator.
    fn granted(&self, role: &str, namespace: Option<&str>, rules: &[Value]) -> [Value; 2] {
        let prefix = if namespace.is_some() { "" } else { "Cluster" };
        let meta = self.meta(role, namespace);
        let binding = json!({
            "apiVersion": API, "kind": format!("{prefix}RoleBinding"), "metadata": meta,
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io", "kind": format!("{prefix}Role"),
                "name": meta["name"],
            },
            "subjects": [{
                "kind": "ServiceAccount", "name": format!("{}-controller-manager", self.name),
                "namespace": self.namespace,
            }],
        });
        let role = json!({
            "apiVersion": API, "kind": format!("{prefix}Role"), "metadata": meta, "rules": rules,
        });
        [role, binding]
    }

    fn meta(&self, what: &str, namespace: Option<&str>) -> Value {
        let mut meta = json!({
            "name": format!("{}-{what}", self.name),
            "labels": {"app.kubernetes.io/name": "kollect"},
        });
        if let Some(namespace) = namespace {
            meta["namespace"] = namespace.into();
        }
        meta
    }

    fn collected(&self) -> Vec<Value> {
        let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for Collected { group, plural } in &self.collected {
            groups.entry(group).or_default().push(plural);
        }
        let one =
            |(group, plurals)| json!({"apiGroups": [group], "resources": plurals, "verbs": FOLLOW});
        groups.into_iter().map(one).collect()
    }
}

fn rules(rights: &[Right]) -> Vec<Value> {
    let one = |Right { group, resources, verbs, names, .. }: &Right| {
        let mut rule = json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
        if !names.is_empty() {
            rule["resourceNames"] = json!(names);
        }
        rule
    };
    rights.iter().map(one).collect()
}

/// Every right with its reason, in Markdown.
pub fn page() -> Result<String, fmt::Error> {
    let mut text = String::from(
        "# Rights of the operator\n\n\
         `cluster.yaml` is for an operator that reaches the whole cluster, `tenant.yaml` for one \
         that reaches one namespace, `team-a`, and nothing else.\n\
         `kollect rbac` prints both for other names, namespaces and kinds; see the guide on \
         tenancy.\n\
         A scenario runs the operator with exactly these rights, and fails on any that is missing \
         or that is never used.\n",
    );
    let parts = [
        ("In the whole cluster", "ClusterRole kollect-manager", manager(None)),
        ("In one namespace", "Role kollect-manager", manager(Some("team-a"))),
        ("Where the operator runs", "Role kollect-leader-election", election()),
    ];
    for (title, role, rights) in parts {
        write!(
            text,
            "\n## {title}: {role}\n\n| Group | Resources | Verbs | Why |\n|---|---|---|---|\n"
        )?;
        for Right { group, resources, verbs, names, why } in rights {
            let group = if group.is_empty() { "core" } else { group };
            let names =
                if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
            let (resources, verbs) = (resources.join(", "), verbs.join(", "));
            writeln!(text, "| {group} | {resources}{names} | {verbs} | {why} |")?;
        }
    }
    write!(
        text,
        "\n## What is collected\n\n\
         ClusterRole kollect-collector holds the rules of every ClusterRole with the label \
         `{AGGREGATE}: \"true\"`.\n\
         kollect-collect is one of them, with what the samples collect; edit it, or add others.\n\
         An operator in one namespace has Role kollect-collector there instead.\n\
         Helm releases are Secrets: to collect them, grant `list` and `watch` of `secrets`.\n"
    )?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn install(reach: Reach) -> Install {
        Install {
            name: "kollect".to_owned(),
            namespace: "kollect-system".to_owned(),
            collected: Collected::sampled(&reach),
            reach,
        }
    }

    fn named(manifests: &[Value]) -> Vec<String> {
        let one = |object: &Value| {
            let place = object["metadata"]["namespace"].as_str().unwrap_or("-");
            let (kind, name) = (&object["kind"], &object["metadata"]["name"]);
            format!("{place} {} {}", kind.as_str().unwrap(), name.as_str().unwrap())
        };
        manifests.iter().map(one).collect()
    }

    #[test]
    fn a_tenant_has_roles_in_its_namespaces_and_none_of_the_cluster() {
        let names = ["a", "b"].map(str::to_owned);
        let manifests = install(Reach::Namespaces(BTreeSet::from(names))).manifests();
        let expected = [
            "kollect-system ServiceAccount kollect-controller-manager",
            "kollect-system Role kollect-leader-election",
            "kollect-system RoleBinding kollect-leader-election",
            "a Role kollect-manager",
            "a RoleBinding kollect-manager",
            "a Role kollect-collector",
            "a RoleBinding kollect-collector",
            "b Role kollect-manager",
            "b RoleBinding kollect-manager",
            "b Role kollect-collector",
            "b RoleBinding kollect-collector",
        ];
        assert_eq!(named(&manifests), expected);
    }

    #[test]
    fn what_a_cluster_operator_collects_is_for_others_to_fill() {
        let manifests = install(Reach::Cluster).manifests();
        let collector = manifests.iter().find(|one| {
            one["kind"] == "ClusterRole" && one["metadata"]["name"] == "kollect-collector"
        });
        let collector = collector.unwrap();
        assert!(collector.get("rules").is_none());
        let selector = &collector["aggregationRule"]["clusterRoleSelectors"][0]["matchLabels"];
        let filled = manifests.iter().find(|one| one["metadata"]["labels"][AGGREGATE] == "true");
        assert_eq!(selector[AGGREGATE], "true");
        assert_eq!(filled.unwrap()["metadata"]["name"], "kollect-collect");
    }
}
