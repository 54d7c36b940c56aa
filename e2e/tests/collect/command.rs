//! `kollect collect` on a real API server.

use std::{fs, path::Path};

use e2e::{cluster, servers};

use super::support::{config, deployments, items, kollect};

/// The same rows, byte for byte, from a cluster and from its dump.
#[test]
fn a_cluster_and_its_dump_give_the_same_rows() {
    for cluster in servers() {
        let place = tempfile::tempdir().unwrap();
        let namespaces = [cluster.namespace("dump"), cluster.namespace("dump")];
        cluster.apply(&deployments(&namespaces, 40));
        let names: Vec<_> = namespaces.iter().map(String::as_str).collect();
        let config = config(place.path(), &names);
        let kubeconfig = cluster.kubeconfig().display().to_string();
        let live = kollect(
            &["collect", "--config", &config, "--kubeconfig", &kubeconfig, "-o", "json"],
            "",
        );
        assert_eq!(live.code, Some(0), "{}", live.stderr);
        let dump = cluster.kubectl(["get", "deployments", "-A", "-o", "yaml"]).stdout();
        let read = kollect(&["collect", "--config", &config, "--from", "-", "-o", "json"], &dump);
        assert_eq!(read.code, Some(0), "{}", read.stderr);
        let (live, read) = (items(&live.stdout), items(&read.stdout));
        assert_eq!(live.as_array().unwrap().len(), 80);
        assert_eq!(live, read);
    }
}

/// What may not be read is named, stays as it was, and stops nothing else.
#[test]
fn who_may_read_one_namespace_gets_its_rows_and_keeps_the_others() {
    let Some(cluster) = cluster() else { return };
    let place = tempfile::tempdir().unwrap();
    let namespaces = [cluster.namespace("open"), cluster.namespace("shut")];
    cluster.apply(&deployments(&namespaces, 3));
    let names: Vec<_> = namespaces.iter().map(String::as_str).collect();
    let config = config(place.path(), &names);
    let output = place.path().join("copy").display().to_string();
    let collect = |kubeconfig: &Path| {
        let kubeconfig = kubeconfig.display().to_string();
        kollect(
            &[
                "collect",
                "--config",
                &config,
                "--kubeconfig",
                &kubeconfig,
                "--output",
                &output,
                "-o",
                "json",
            ],
            "",
        )
    };
    let all = collect(cluster.kubeconfig());
    assert_eq!(all.code, Some(0), "{}", all.stderr);
    let user = format!("reader-of-{}", namespaces[0]);
    let kubeconfig = cluster.user(&user, &[]).unwrap();
    cluster.apply(&format!(
        r#"{{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{{"name":"read","namespace":"{0}"}},
             "rules":[{{"apiGroups":["apps"],"resources":["deployments"],"verbs":["list","watch","get"]}}]}}
---
{{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{{"name":"read","namespace":"{0}"}},
  "roleRef":{{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"read"}},
  "subjects":[{{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"{user}"}}]}}"#,
        namespaces[0]
    ));
    cluster.kubectl(["delete", "deployment", "-n", &namespaces[0], "web-0"]).stdout();
    let some = collect(&kubeconfig);
    assert_eq!(some.code, Some(1), "{}", some.stderr);
    assert!(some.stderr.contains(&format!("namespace {}: ", namespaces[1])), "{}", some.stderr);
    let files = |namespace: &str| {
        let folder = place.path().join("copy/test").join(namespace).join("deployment");
        fs::read_dir(folder).unwrap().count()
    };
    // One is gone where we may look; where we may not, everything stays.
    assert_eq!((files(&namespaces[0]), files(&namespaces[1])), (2, 3));
}

/// R37: labels that nobody may read are no reason to delete.
#[test]
fn who_may_not_read_labels_does_not_take_what_they_select_for_gone() {
    let Some(cluster) = cluster() else { return };
    let place = tempfile::tempdir().unwrap();
    let namespace = cluster.namespace("labelled");
    cluster.apply(&deployments(std::slice::from_ref(&namespace), 2));
    cluster.kubectl(["label", "namespace", &namespace, "team=web"]).stdout();
    let file = config(place.path(), &[&namespace]);
    let selecting = fs::read_to_string(&file).unwrap().replace(
        r#""profileRef":"web""#,
        r#""profileRef":"web","namespaceSelector":{"matchLabels":{"team":"web"}}"#,
    );
    fs::write(&file, selecting).unwrap();
    let output = place.path().join("copy").display().to_string();
    let collect = |kubeconfig: &Path| {
        let kubeconfig = kubeconfig.display().to_string();
        kollect(
            &["collect", "--config", &file, "--kubeconfig", &kubeconfig, "--output", &output],
            "",
        )
    };
    let all = collect(cluster.kubeconfig());
    assert_eq!(all.code, Some(0), "{}", all.stderr);
    let stranger = cluster.user(&format!("stranger-to-{namespace}"), &[]).unwrap();
    let nothing = collect(&stranger);
    assert_eq!(nothing.code, Some(2), "{}", nothing.stderr);
    assert!(nothing.stderr.contains("because they cannot be listed"), "{}", nothing.stderr);
    let folder = place.path().join("copy/test").join(&namespace).join("deployment");
    assert_eq!(fs::read_dir(folder).unwrap().count(), 2);
}

#[test]
fn a_context_that_does_not_answer_fails_alone() {
    let Some(cluster) = cluster() else { return };
    let place = tempfile::tempdir().unwrap();
    let namespace = cluster.namespace("alone");
    cluster.apply(&deployments(std::slice::from_ref(&namespace), 2));
    let kubeconfig = place.path().join("kubeconfig");
    fs::copy(cluster.kubeconfig(), &kubeconfig).unwrap();
    let kubectl = |arguments: &[&str]| {
        let flag = format!("--kubeconfig={}", kubeconfig.display());
        cluster.kubectl([&["config", &flag], arguments].concat()).stdout();
    };
    kubectl(&["set-cluster", "dead", "--server=https://127.0.0.1:1"]);
    kubectl(&["set-context", "dead", "--cluster=dead"]);
    let file = kubeconfig.display().to_string();
    let run = kollect(
        &[
            "collect",
            "deployments",
            "-n",
            &namespace,
            "--kubeconfig",
            &file,
            "--context",
            "*",
            "-o",
            "table",
        ],
        "",
    );
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("dead: failed: "), "{}", run.stderr);
    assert!(run.stdout.contains("web-0") && run.stdout.contains("web-1"), "{}", run.stdout);
}

#[test]
fn a_kind_that_is_not_served_is_said_by_its_target_alone() {
    let Some(cluster) = cluster() else { return };
    let place = tempfile::tempdir().unwrap();
    let namespace = cluster.namespace("lone");
    cluster.apply(&deployments(std::slice::from_ref(&namespace), 1));
    let config = config(place.path(), &[&namespace]);
    let widgets = place.path().join("widgets.yaml");
    fs::write(
        &widgets,
        r#"{"apiVersion":"kollect.dev/v1alpha1","kind":"KollectProfile","metadata":{"name":"widgets","namespace":"default"},
            "spec":{"targetGVK":{"group":"nowhere.example.com","version":"v1","kind":"Widget"},"attributes":[{"name":"a","path":"$.a"}]}}
---
{"apiVersion":"kollect.dev/v1alpha1","kind":"KollectTarget","metadata":{"name":"widgets","namespace":"default"},"spec":{"profileRef":"widgets"}}
"#,
    )
    .unwrap();
    let (widgets, kubeconfig) =
        (widgets.display().to_string(), cluster.kubeconfig().display().to_string());
    let run = kollect(
        &[
            "collect",
            "--config",
            &config,
            "--config",
            &widgets,
            "--kubeconfig",
            &kubeconfig,
            "-o",
            "table",
        ],
        "",
    );
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(
        run.stderr.contains("skipped: target default/widgets: gvk-not-found: the cluster serves no group \"nowhere.example.com\""),
        "{}",
        run.stderr
    );
    assert!(run.stdout.contains("web-0"), "{}", run.stdout);
}
