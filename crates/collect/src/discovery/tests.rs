use std::collections::BTreeSet;

use super::{parse::Root, *};

const CORE: &[u8] = include_bytes!("../../../../fixtures/discovery/core.json");
const GROUPS: &[u8] = include_bytes!("../../../../fixtures/discovery/groups.json");

fn whole(bytes: &[u8]) -> Vec<Group> {
    match parse::root(bytes).unwrap() {
        Root::Whole(groups) => groups,
        Root::Names(names) => panic!("only names: {names:?}"),
    }
}

/// What a real server said, among it an aggregated API that is down.
pub(crate) fn recorded() -> Catalogue {
    Catalogue { core: Ok(whole(CORE)), named: Ok(whole(GROUPS)) }
}

fn resource(group: &str, version: &str, kind: &str, plural: &str) -> Resource {
    Resource::known((group, version), kind, plural, Scope::Namespaced)
}

fn group(name: &str, versions: Vec<(&str, Vec<Resource>)>) -> Group {
    let versions = versions
        .into_iter()
        .map(|(name, resources)| Version { name: name.to_owned(), resources: Ok(resources) });
    Group { name: name.to_owned(), versions: versions.collect() }
}

fn gvk(text: &str) -> GroupVersionKind {
    let mut words = text.split(' ');
    let mut next = || words.next().unwrap().trim_matches('-').to_owned();
    GroupVersionKind { group: next(), version: next(), kind: next() }
}

#[track_caller]
fn check_found(catalogue: &Catalogue, kind: &str, expected: &str) {
    let said = match catalogue.find(&gvk(kind)) {
        Lookup::Served(resource) => format!("{} {:?}", resource.full_name(), resource.scope),
        Lookup::KindAbsent => "no kind".to_owned(),
        Lookup::VersionAbsent { served } => format!("only {}", served.join(" ")),
        Lookup::GroupAbsent => "no group".to_owned(),
        Lookup::Unknown(reason) => format!("unknown: {reason}"),
    };
    assert_eq!(said, expected, "{kind}");
}

#[test]
fn a_kind_is_found_with_its_plural_and_scope() {
    let catalogue = recorded();
    for (kind, expected) in [
        ("- v1 Pod", "pods Namespaced"),
        ("- v1 Endpoints", "endpoints Namespaced"),
        ("- v1 Node", "nodes Cluster"),
        ("apps v1 Deployment", "deployments.apps Namespaced"),
        ("networking.k8s.io v1 Ingress", "ingresses.networking.k8s.io Namespaced"),
        ("networking.k8s.io v1 NetworkPolicy", "networkpolicies.networking.k8s.io Namespaced"),
        ("networking.k8s.io v1 IngressClass", "ingressclasses.networking.k8s.io Cluster"),
        ("argoproj.io v1alpha1 Application", "applications.argoproj.io Namespaced"),
        ("apps v1 deployment", "deployments.apps Namespaced"),
    ] {
        check_found(&catalogue, kind, expected);
    }
}

#[test]
fn only_what_the_server_vouches_for_says_that_a_kind_is_absent() {
    let catalogue = recorded();
    check_found(&catalogue, "apps v1 Gadget", "no kind");
    check_found(&catalogue, "- v1 Gadget", "no kind");
    check_found(&catalogue, "apps v1beta1 Deployment", "only v1");
    check_found(&catalogue, "autoscaling v3 Scale", "only v2 v1");
    check_found(&catalogue, "example.com v1 Gadget", "no group");
    let down = "unknown: the server behind metrics.k8s.io/v1beta1 does not answer";
    check_found(&catalogue, "metrics.k8s.io v1beta1 PodMetrics", down);
    assert_eq!(catalogue.gaps().count(), 1);
}

#[test]
fn a_root_that_did_not_answer_leaves_the_other_alone() {
    let catalogue = Catalogue { core: Ok(whole(CORE)), named: Err("no answer".to_owned()) };
    check_found(&catalogue, "- v1 Pod", "pods Namespaced");
    check_found(&catalogue, "- v1 Gadget", "no kind");
    check_found(&catalogue, "apps v1 Deployment", "unknown: no answer");
    check_found(&catalogue, "example.com v1 Gadget", "unknown: no answer");
    assert!(catalogue.resources().all(|resource| resource.group.is_empty()));
}

#[test]
fn a_kind_with_several_resources_is_read_by_the_one_that_lists() {
    let mut action = resource("example.com", "v1", "Image", "imageimports");
    action.verbs = Verbs::default();
    let image = resource("example.com", "v1", "Image", "images");
    let named = Ok(vec![group("example.com", vec![("v1", vec![action, image])])]);
    let catalogue = Catalogue { core: Ok(Vec::new()), named };
    check_found(&catalogue, "example.com v1 Image", "images.example.com Namespaced");
}

#[track_caller]
fn check_named(catalogue: &Catalogue, word: &str, expected: &[&str]) {
    let found = catalogue.named(word);
    let found: Vec<_> = found
        .iter()
        .map(|resource| format!("{} {}", resource.full_name(), resource.version))
        .collect();
    assert_eq!(found, expected, "{word}");
}

#[test]
fn words_mean_what_they_mean_to_kubectl() {
    let catalogue = recorded();
    for word in [
        "deployments",
        "deployment",
        "deploy",
        "Deployment",
        "deployments.apps",
        "deploy.apps",
        "Deployment.apps",
        "deployments.v1.apps",
        "Deployment.v1.apps",
    ] {
        check_named(&catalogue, word, &["deployments.apps v1"]);
    }
    check_named(&catalogue, "po", &["pods v1"]);
    check_named(&catalogue, "pods.v1.", &["pods v1"]);
    check_named(&catalogue, "hpa", &["horizontalpodautoscalers.autoscaling v2"]);
    check_named(&catalogue, "hpa.v1.autoscaling", &["horizontalpodautoscalers.autoscaling v1"]);
    check_named(&catalogue, "ingresses.networking.k8s.io", &["ingresses.networking.k8s.io v1"]);
    check_named(&catalogue, "ingresses.v1.networking.k8s.io", &["ingresses.networking.k8s.io v1"]);
    check_named(&catalogue, "events", &["events v1", "events.events.k8s.io v1"]);
    for word in
        ["gadgets", "deployments.v2.apps", "deployments.batch", "", ".", "..", "deployments."]
    {
        check_named(&catalogue, word, &[]);
    }
}

#[test]
fn a_name_goes_before_a_short_name_and_that_before_a_kind() {
    let mut pods = resource("a.example", "v1", "Pod", "pods");
    pods.short_names.push("cases".to_owned());
    let cases = resource("b.example", "v1", "Case", "cases");
    let mut odd = resource("c.example", "v1", "Odd", "oddities");
    odd.singular = "oddity".to_owned();
    odd.short_names.push("od".to_owned());
    let named = Ok(vec![
        group("a.example", vec![("v1", vec![pods])]),
        group("b.example", vec![("v1", vec![cases])]),
        group("c.example", vec![("v1", vec![odd])]),
    ]);
    let catalogue = Catalogue { core: Ok(Vec::new()), named };
    check_named(&catalogue, "cases", &["cases.b.example v1"]);
    check_named(&catalogue, "cases.a.example", &["pods.a.example v1"]);
    for word in ["oddities", "oddity", "od", "Odd", "odd.c.example", "odd.v1.c.example"] {
        check_named(&catalogue, word, &["oddities.c.example v1"]);
    }
}

#[test]
fn resources_without_a_kind_are_left_out_and_stale_ones_are_unknown() {
    let text = r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2beta1",
        "items":[{"metadata":{"name":"x.example"},"versions":[
            {"version":"v1","freshness":"Current","resources":[
                {"resource":"things","responseKind":{"group":"","version":"","kind":"Thing"},
                 "scope":"Namespaced","singularResource":"","verbs":["list"]},
                {"resource":"proxies","responseKind":null,"scope":"Cluster","verbs":["get"]}]},
            {"version":"v0","freshness":"Stale","resources":[
                {"resource":"relics","responseKind":{"kind":"Relic"},"scope":"Cluster","verbs":["list"]}]}
        ]}]}"#;
    let catalogue = Catalogue { core: Ok(Vec::new()), named: Ok(whole(text.as_bytes())) };
    let names: Vec<_> = catalogue.resources().map(Resource::full_name).collect();
    assert_eq!(names, ["things.x.example"]);
    let unknown = "unknown: the server behind x.example/v0 does not answer";
    check_found(&catalogue, "x.example v0 Relic", unknown);
    check_named(&catalogue, "thing", &["things.x.example v1"]);
    check_named(&catalogue, "relics", &[]);
}

#[test]
fn old_servers_say_the_same_in_many_answers() {
    let names = |bytes: &[u8]| match parse::root(bytes).unwrap() {
        Root::Names(names) => names,
        Root::Whole(groups) => panic!("more than names: {groups:?}"),
    };
    let core = names(include_bytes!("../../../../fixtures/discovery/core-plain.json"));
    assert_eq!(core, [(String::new(), vec!["v1".to_owned()])]);
    let groups = names(include_bytes!("../../../../fixtures/discovery/groups-plain.json"));
    let autoscaling = groups.iter().find(|(name, _)| name == "autoscaling").unwrap();
    assert_eq!(autoscaling.1, ["v2", "v1"]);
    let names: BTreeSet<_> = groups.into_iter().map(|(name, _)| name).collect();
    let expected: BTreeSet<_> = whole(GROUPS).into_iter().map(|group| group.name).collect();
    assert_eq!(names, expected);

    let pods = include_bytes!("../../../../fixtures/discovery/core-v1-plain.json");
    let pods = parse::version("", "v1", pods).unwrap();
    let catalogue = recorded();
    let mut expected: Vec<_> =
        catalogue.resources().filter(|resource| resource.group.is_empty()).cloned().collect();
    expected.sort_by(|a, b| a.plural.cmp(&b.plural));
    assert_eq!(pods, expected);

    let scalers = include_bytes!("../../../../fixtures/discovery/autoscaling-v2-plain.json");
    let scalers = parse::version("autoscaling", "v2", scalers).unwrap();
    let wanted = gvk("autoscaling v2 HorizontalPodAutoscaler");
    assert_eq!(catalogue.find(&wanted), Lookup::Served(&scalers[0]));
}

#[test]
fn the_preferred_version_comes_first_though_the_server_lists_it_later() {
    let text = r#"{"kind":"APIGroupList","groups":[{"name":"x.example",
        "versions":[{"groupVersion":"x.example/v2","version":"v2"},{"groupVersion":"x.example/v1","version":"v1"}],
        "preferredVersion":{"groupVersion":"x.example/v1","version":"v1"}}]}"#;
    let expected = vec![("x.example".to_owned(), vec!["v1".to_owned(), "v2".to_owned()])];
    assert_eq!(parse::root(text.as_bytes()).unwrap(), Root::Names(expected));
}

#[test]
fn what_is_no_discovery_is_refused() {
    assert!(parse::root(b"<html>").is_err());
    assert!(parse::root(br#"{"kind":"Status","code":403}"#).is_err());
    assert!(parse::root(b"{}").is_err());
}
