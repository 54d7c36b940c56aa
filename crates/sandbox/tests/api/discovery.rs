//! What there is to ask for.

use kollect_sandbox::{Denial, DenialScope, GroupHealth, ResourceDefinition, Sandbox};
use serde_json::{Value, json};

use crate::support::{gateway, gateways, get, get_as, read, sandbox, send};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

async fn aggregated(sandbox: &Sandbox, path: &str) -> Value {
    let both = format!("{AGGREGATED},application/json");
    let answer = get_as(sandbox, path, &both).await;
    assert_eq!(answer.headers["content-type"], AGGREGATED);
    answer.json().await
}

/// The versions of a group as `v1 Current: a, b`.
async fn group(sandbox: &Sandbox, name: &str) -> Vec<String> {
    let groups = aggregated(sandbox, "/apis").await;
    let groups = groups["items"].as_array().expect("groups").clone();
    let found = groups.iter().find(|group| group["metadata"]["name"] == name);
    let Some(found) = found else { return Vec::new() };
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let versions = found["versions"].as_array().expect("versions");
    versions
        .iter()
        .map(|version| {
            let resources = version["resources"].as_array().expect("resources");
            let resources: Vec<String> =
                resources.iter().map(|resource| text(&resource["resource"])).collect();
            let (name, freshness) = (text(&version["version"]), text(&version["freshness"]));
            format!("{name} {freshness}: {}", resources.join(", "))
        })
        .collect()
}

#[tokio::test]
async fn the_server_says_its_version_and_that_it_is_well() {
    let sandbox = sandbox();
    assert_eq!(read(&sandbox, "/version").await["minor"], "36");
    assert_eq!(get(&sandbox, "/readyz").await.text().await, "ok");
}

#[tokio::test]
async fn the_kubeconfig_leads_to_the_server() {
    let sandbox = sandbox();
    let config: Value = serde_json::from_str(&sandbox.kubeconfig()).expect("a kubeconfig");
    assert_eq!(config["clusters"][0]["cluster"]["server"], sandbox.url());
    assert_eq!(config["current-context"], config["contexts"][0]["name"]);
}

#[tokio::test]
async fn aggregated_discovery_names_all_groups_in_one_answer() {
    let sandbox = sandbox();
    assert_eq!(
        group(&sandbox, "apps").await,
        ["v1 Current: controllerrevisions, daemonsets, deployments, replicasets, statefulsets"]
    );
    let core = aggregated(&sandbox, "/api").await;
    let pods = core["items"][0]["versions"][0]["resources"]
        .as_array()
        .and_then(|resources| resources.iter().find(|resource| resource["resource"] == "pods"));
    assert_eq!(
        pods,
        Some(&json!({
            "resource": "pods",
            "responseKind": {"group": "", "version": "", "kind": "Pod"},
            "scope": "Namespaced",
            "singularResource": "pod",
            "verbs": [
                "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch",
            ],
            "shortNames": ["po"],
            "categories": ["all"],
            "subresources": [{
                "subresource": "status",
                "responseKind": {"group": "", "version": "", "kind": "Pod"},
                "verbs": ["get", "patch", "update"],
            }],
        }))
    );
}

#[tokio::test]
async fn only_custom_kinds_repeat_their_group_and_version() {
    let sandbox = sandbox();
    sandbox.define(gateways("v1"));
    let groups = aggregated(&sandbox, "/apis").await;
    let kind = |group: &str| {
        let groups = groups["items"].as_array().expect("groups");
        let found = groups.iter().find(|item| item["metadata"]["name"] == group);
        found.expect("a group")["versions"][0]["resources"][0]["responseKind"].clone()
    };
    let group = "gateway.networking.k8s.io";
    assert_eq!(kind(group), json!({"group": group, "version": "v1", "kind": "Gateway"}));
    assert_eq!(kind("apps"), json!({"group": "", "version": "", "kind": "ControllerRevision"}));
}

#[tokio::test]
async fn the_old_form_of_discovery_is_served_to_those_who_do_not_ask_for_the_new() {
    let sandbox = sandbox();
    assert_eq!(read(&sandbox, "/api").await["versions"], json!(["v1"]));
    let groups = read(&sandbox, "/apis").await;
    let names: Vec<&Value> =
        groups["groups"].as_array().expect("groups").iter().map(|group| &group["name"]).collect();
    assert_eq!(
        names,
        [
            "apiextensions.k8s.io",
            "apps",
            "authentication.k8s.io",
            "authorization.k8s.io",
            "autoscaling",
            "batch",
            "coordination.k8s.io",
            "discovery.k8s.io",
            "events.k8s.io",
            "networking.k8s.io",
            "policy",
            "rbac.authorization.k8s.io",
            "scheduling.k8s.io",
            "storage.k8s.io",
        ]
    );
    assert_eq!(read(&sandbox, "/apis/apps").await["preferredVersion"]["version"], "v1");
    let resources = read(&sandbox, "/apis/batch/v1").await;
    assert_eq!(resources["groupVersion"], "batch/v1");
    let names = resources["resources"].as_array().expect("resources").iter();
    let names: Vec<&Value> = names.map(|resource| &resource["name"]).collect();
    assert_eq!(names, ["cronjobs", "cronjobs/status", "jobs", "jobs/status"]);
    assert_eq!(read(&sandbox, "/api/v1").await["groupVersion"], "v1");
}

#[tokio::test]
async fn a_definition_comes_and_goes() {
    let sandbox = sandbox();
    let name = "gateway.networking.k8s.io";
    assert!(group(&sandbox, name).await.is_empty());
    sandbox.define(gateways("v1beta1"));
    sandbox.define(gateways("v1"));
    assert_eq!(group(&sandbox, name).await, ["v1 Current: gateways", "v1beta1 Current: gateways"]);
    assert!(sandbox.remove_definition(name, "v1beta1", "gateways"));
    assert_eq!(group(&sandbox, name).await, ["v1 Current: gateways"]);
    assert!(sandbox.remove_definition(name, "v1", "gateways"));
    assert!(group(&sandbox, name).await.is_empty());
    assert!(!sandbox.remove_definition(name, "v1", "gateways"));
    assert_eq!(get(&sandbox, "/apis/gateway.networking.k8s.io/v1/gateways").await.code, 404);
    assert!(sandbox.put(gateway("a")).is_err());
}

#[tokio::test]
async fn a_stale_group_says_so_and_still_has_its_resources() {
    let sandbox = sandbox();
    sandbox.set_group_health("batch", GroupHealth::Stale);
    assert_eq!(group(&sandbox, "batch").await, ["v1 Stale: cronjobs, jobs"]);
    assert_eq!(get(&sandbox, "/apis/batch/v1").await.code, 200);
}

#[tokio::test]
async fn a_group_that_fails_is_named_and_its_resources_are_not() {
    let sandbox = sandbox();
    sandbox.set_group_health("batch", GroupHealth::Failing);
    assert_eq!(group(&sandbox, "batch").await, ["v1 Stale: "]);
    assert_eq!(group(&sandbox, "apps").await.len(), 1);
    assert_eq!(get(&sandbox, "/apis/batch/v1").await.code, 503);
    assert_eq!(get(&sandbox, "/apis/batch/v1/jobs").await.code, 503);
    let groups = read(&sandbox, "/apis").await["groups"].clone();
    let groups = groups.as_array().expect("groups").iter();
    assert!(groups.map(|group| &group["name"]).any(|name| name == "batch"));
    sandbox.set_group_health("batch", GroupHealth::Current);
    assert_eq!(group(&sandbox, "batch").await, ["v1 Current: cronjobs, jobs"]);
}

#[tokio::test]
async fn several_groups_may_have_a_kind_of_the_same_name() {
    let sandbox = sandbox();
    sandbox.define(ResourceDefinition {
        group: "serving.example".into(),
        version: "v1".into(),
        kind: "Service".into(),
        plural: "services".into(),
        namespaced: true,
    });
    let put = |api_version: &str, name: &str| {
        let object =
            json!({"apiVersion": api_version, "kind": "Service", "metadata": {"name": name}});
        sandbox.put(object).expect("a service")
    };
    put("v1", "plain");
    put("serving.example/v1", "other");
    let plain = read(&sandbox, "/api/v1/services").await;
    let other = read(&sandbox, "/apis/serving.example/v1/services").await;
    assert_eq!(plain["items"][0]["metadata"]["name"], "plain");
    assert_eq!(other["items"][0]["metadata"]["name"], "other");
    assert_eq!(plain["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let sandbox = sandbox();
    assert_eq!(get(&sandbox, "/nothing").await.code, 404);
    let unknown = get(&sandbox, "/apis/nobody.example/v1/deployments").await;
    assert_eq!((unknown.code, unknown.text().await.as_str()), (404, "404 page not found\n"));
    for path in ["/apis/apps/v2/deployments", "/api/v1/nothing", "/api/v1/namespaces/a/nodes"] {
        let unknown = get(&sandbox, path).await;
        assert_eq!(unknown.code, 404);
        assert_eq!(unknown.json().await["reason"], "NotFound");
    }
    let answer = get(&sandbox, "/apis/apps/v1/namespaces/shop/deployments/web").await;
    assert_eq!(answer.code, 404);
    let status = answer.json().await;
    assert_eq!(status["reason"], "NotFound");
    assert_eq!(status["message"], r#"deployments.apps "web" not found"#);
}

async fn is_allowed(sandbox: &Sandbox, verb: &str, resource: &str, namespace: &str) -> bool {
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {
            "verb": verb, "group": "", "resource": resource, "namespace": namespace,
        }},
    });
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let answer = send(sandbox, "POST", path, &[], &review.to_string()).await.expect("an answer");
    assert_eq!(answer.code, 201);
    answer.json().await["status"]["allowed"].as_bool().expect("a verdict")
}

#[tokio::test]
async fn a_review_must_be_what_it_is_said_to_be() {
    let sandbox = sandbox();
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    for (media_type, code) in
        [("application/vnd.kubernetes.protobuf", 400), ("application/cbor", 415)]
    {
        let headers = [("content-type", media_type)];
        let answer = send(&sandbox, "POST", path, &headers, "k8s").await.expect("an answer");
        assert_eq!(answer.code, code);
    }
    let answer = send(&sandbox, "POST", path, &[], "nonsense").await.expect("an answer");
    assert_eq!(answer.code, 400);
}

#[tokio::test]
async fn a_namespace_counts_as_being_in_itself() {
    let sandbox = sandbox();
    sandbox.deny(Denial::read("", "namespaces", DenialScope::Namespace("default".into())));
    assert_eq!(get(&sandbox, "/api/v1/namespaces/default").await.code, 403);
    assert_eq!(get(&sandbox, "/api/v1/namespaces/kube-system").await.code, 200);
    assert_eq!(get(&sandbox, "/api/v1/namespaces").await.code, 403);
}

#[tokio::test]
async fn what_is_denied_is_so_in_reviews_and_in_deed_until_it_is_allowed() {
    let sandbox = sandbox();
    let denial = Denial::read("", "secrets", DenialScope::Namespace("a".into()));
    sandbox.deny(denial.clone());
    assert!(!is_allowed(&sandbox, "list", "secrets", "a").await);
    assert!(!is_allowed(&sandbox, "list", "secrets", "").await);
    assert!(is_allowed(&sandbox, "list", "secrets", "b").await);
    assert!(is_allowed(&sandbox, "list", "pods", "a").await);
    let answer = get(&sandbox, "/api/v1/namespaces/a/secrets").await;
    assert_eq!(answer.code, 403);
    assert_eq!(
        answer.json().await["message"],
        r#"secrets is forbidden: User "sandbox" cannot list resource "secrets" in API group "" in the namespace "a""#
    );
    assert_eq!(get(&sandbox, "/api/v1/secrets?watch=true").await.code, 403);
    let object = get(&sandbox, "/api/v1/namespaces/a/secrets/s").await.json().await;
    assert_eq!(object["details"], json!({"name": "s", "kind": "secrets"}));
    assert_eq!(get(&sandbox, "/api/v1/namespaces/b/secrets").await.code, 200);
    assert!(sandbox.allow(&denial));
    assert!(is_allowed(&sandbox, "list", "secrets", "a").await);
    assert_eq!(get(&sandbox, "/api/v1/secrets").await.code, 200);
}
