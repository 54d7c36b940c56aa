//! Which kinds the server serves, and under which names.

use e2e::{cluster, servers};
use kollect_collect::{Catalogue, Lookup, Scope};

use super::support::{catalogue, client, definition, gvk, resource};

#[tokio::test]
async fn irregular_plurals_are_looked_up() {
    for cluster in servers() {
        cluster.apply(
            &[
                definition("gateways.plural.kollect.test", "Gateway", "Namespaced", &["v1"]),
                definition("kubera.plural.kollect.test", "Kubus", "Cluster", &["v1"]),
                definition("data.plural.kollect.test", "Datum", "Namespaced", &["v1"]),
            ]
            .concat(),
        );
        let client = client(cluster.kubeconfig()).await;
        for (kind, plural, scope) in [
            ("plural.kollect.test v1 Gateway", "gateways", Scope::Namespaced),
            ("plural.kollect.test v1 Kubus", "kubera", Scope::Cluster),
            ("plural.kollect.test v1 Datum", "data", Scope::Namespaced),
            ("networking.k8s.io v1 Ingress", "ingresses", Scope::Namespaced),
            ("networking.k8s.io v1 NetworkPolicy", "networkpolicies", Scope::Namespaced),
            ("- v1 Endpoints", "endpoints", Scope::Namespaced),
            ("- v1 Namespace", "namespaces", Scope::Cluster),
            ("rbac.authorization.k8s.io v1 ClusterRole", "clusterroles", Scope::Cluster),
            ("kollect.dev v1alpha1 KollectInventory", "kollectinventories", Scope::Namespaced),
        ] {
            let found = resource(&client, kind).await;
            assert_eq!((found.plural.as_str(), found.scope), (plural, scope), "{kind}");
            assert!(found.verbs.list && found.verbs.watch && found.verbs.get, "{kind}");
        }
    }
}

#[tokio::test]
async fn a_kind_in_two_groups_and_in_two_versions_is_one_for_each_group() {
    for cluster in servers() {
        cluster.apply(
            &[
                definition("gadgets.one.kollect.test", "Gadget", "Namespaced", &["v1beta1", "v1"]),
                definition("gadgets.two.kollect.test", "Gadget", "Cluster", &["v1"]),
            ]
            .concat(),
        );
        let client = client(cluster.kubeconfig()).await;
        let kinds = [
            "one.kollect.test v1beta1 Gadget",
            "one.kollect.test v1 Gadget",
            "two.kollect.test v1 Gadget",
        ];
        let served = |catalogue: &Catalogue, kind: &str| {
            matches!(catalogue.find(&gvk(kind)), Lookup::Served(_))
        };
        let catalogue =
            catalogue(&client, |catalogue| kinds.iter().all(|kind| served(catalogue, kind))).await;
        let named = |word: &str| {
            let found = catalogue.named(word).into_iter();
            let mut found: Vec<_> =
                found.map(|found| format!("{} {}", found.full_name(), found.version)).collect();
            found.sort();
            found
        };
        let one = "gadgets.one.kollect.test v1";
        assert_eq!(named("gadgets"), [one, "gadgets.two.kollect.test v1"]);
        assert_eq!(named("Gadget.one.kollect.test"), [one]);
        assert_eq!(named("gadget.v1beta1.one.kollect.test"), ["gadgets.one.kollect.test v1beta1"]);
    }
}

#[tokio::test]
async fn every_name_that_kubectl_prints_means_the_same_here() {
    for cluster in servers() {
        let client = client(cluster.kubeconfig()).await;
        // It prints what it knows, and is not content while another test has an API that is down.
        let printed = cluster.kubectl(["api-resources", "-o", "name"]).run().unwrap().stdout;
        let catalogue = Catalogue::fetch(&client).await.unwrap();
        let known = printed.lines().filter(|name| !name.ends_with(".kollect.test"));
        let mut count = 0;
        for name in known {
            let found = catalogue.named(name);
            assert_eq!(found.first().map(|found| found.full_name()).as_deref(), Some(name));
            count += 1;
        }
        assert!(count > 40, "{cluster:?}: kubectl printed {count} names");
    }
}

#[tokio::test]
async fn what_does_not_exist_is_surely_absent() {
    for cluster in servers() {
        let client = client(cluster.kubeconfig()).await;
        let catalogue = Catalogue::fetch(&client).await.unwrap();
        assert_eq!(catalogue.find(&gvk("apps v1 Gadget")), Lookup::KindAbsent);
        assert_eq!(catalogue.find(&gvk("- v1 Gadget")), Lookup::KindAbsent);
        let only = Lookup::VersionAbsent { served: vec!["v1"] };
        assert_eq!(catalogue.find(&gvk("apps v1beta1 Deployment")), only);
        assert_eq!(catalogue.find(&gvk("nowhere.example v1 Gadget")), Lookup::GroupAbsent);
    }
}

#[tokio::test]
async fn an_aggregated_api_that_is_down_is_unknown_and_hides_nothing() {
    let Some(cluster) = cluster() else { return };
    cluster.apply(
        "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, \
          metadata: {name: v1.down.kollect.test}, spec: {group: down.kollect.test, version: v1, \
          groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true, \
          service: {name: nobody, namespace: default}}}",
    );
    let client = client(cluster.kubeconfig()).await;
    let down = gvk("down.kollect.test v1 Ghost");
    let listed = |catalogue: &Catalogue| catalogue.find(&down) != Lookup::GroupAbsent;
    let catalogue = catalogue(&client, listed).await;
    assert!(matches!(catalogue.find(&down), Lookup::Unknown(_)), "{:?}", catalogue.find(&down));
    let deployment = catalogue.find(&gvk("apps v1 Deployment"));
    assert!(matches!(deployment, Lookup::Served(_)), "{deployment:?}");
    assert_eq!(catalogue.gaps().count(), 1);
    cluster.kubectl(["delete", "apiservice", "v1.down.kollect.test"]).stdout();
}
