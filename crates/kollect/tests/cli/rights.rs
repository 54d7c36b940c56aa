//! What an operator has to be allowed, printed.

use std::fs;

use super::support::{kollect, repository};

#[test]
fn the_example_of_an_operator_of_the_cluster_is_what_is_printed() {
    let run = kollect(&["rbac"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let file = fs::read_to_string(repository().join("deploy/rbac/cluster.yaml")).unwrap();
    let (_, file) = file.split_once('\n').unwrap();
    assert_eq!(run.stdout, file);
}

#[test]
fn a_tenant_is_given_what_it_asks_for_where_it_is() {
    let places = ["--watch-namespaces", "web, shop", "--namespace", "web", "--name", "ours"];
    let kinds = ["--collect", "widgets.shop.example,pods"];
    let run = kollect(&[&["rbac", "--tenant"][..], &places, &kinds].concat());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(!run.stdout.contains("ClusterRole"), "{}", run.stdout);
    for line in ["  name: ours-manager", "  namespace: shop", "  - widgets", "  - shop.example"] {
        assert!(run.stdout.lines().any(|one| one == line), "{line}: {}", run.stdout);
    }
    assert!(!run.stdout.contains("deployments"), "only what was named is collected");
}

#[test]
fn a_tenant_without_namespaces_and_a_kind_without_a_plural_are_refused() {
    for arguments in [
        &["rbac", "--tenant"][..],
        &["rbac", "--watch-namespaces", "a"],
        &["rbac", "--collect", "Deployment"],
    ] {
        let run = kollect(arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}");
        assert!(run.stdout.is_empty());
    }
}
