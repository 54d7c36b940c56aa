//! Lists of a real server, item by item.

use std::{collections::BTreeSet, fs};

use e2e::{cluster, servers};
use kollect_collect::{AtLeast, Catalogue, Content, ListError, Question, Resource};
use kollect_inventory::Sweep;
use serde_json::{Value, json};

use super::support::{all, client, definition, names, resource};

/// Config maps that carry the name of a test as a label.
fn config_maps(label: &str, namespaces: &[String], each: usize) -> String {
    let items: Vec<_> = namespaces
        .iter()
        .flat_map(|namespace| (0..each).map(move |number| (namespace, number)))
        .map(|(namespace, number)| {
            let tier = if number % 10 == 0 { "front" } else { "back" };
            json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {
                    "namespace": namespace,
                    "name": format!("map-{number:04}"),
                    "labels": {"test": label, "tier": tier},
                },
                "data": {"text": "a \"quoted\" } and ] and \\ text"},
            })
        })
        .collect();
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}

/// The version that the server is at.
fn version_now(kubectl: impl Fn(&[&str]) -> String) -> u64 {
    let raw = kubectl(&["get", "--raw", "/api/v1/configmaps?limit=1"]);
    let list: Value = serde_json::from_str(&raw).unwrap_or_default();
    list["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[tokio::test]
async fn pages_give_each_object_once_and_the_version_of_the_list() {
    let Some(cluster) = cluster() else { return };
    let namespaces: Vec<_> = (0..3).map(|_| cluster.namespace("pages")).collect();
    let maps = config_maps("pages", &namespaces, 400);
    cluster.kubectl(["create", "-f", "-"]).stdin(maps).stdout();
    let client = client(cluster.kubeconfig()).await;
    let maps = resource(&client, "- v1 ConfigMap").await;
    let expected: BTreeSet<_> = namespaces
        .iter()
        .flat_map(|namespace| (0..400).map(move |number| format!("{namespace}/map-{number:04}")))
        .collect();
    let expected: Vec<_> = expected.into_iter().collect();

    let before = version_now(|arguments| cluster.kubectl(arguments).stdout());
    let everywhere = Question { label_selector: "test=pages", ..Question::all(&maps) };
    let before_text = before.to_string();
    // The cache has everything once it has answered for the version before.
    for at_least in [AtLeast::Now, AtLeast::Version(&before_text), AtLeast::Cached] {
        for page in [500, 333, 5000] {
            let question = Question { at_least, page, ..everywhere };
            let (listed, items) = all(&client, question).await.unwrap();
            assert_eq!(names(&items), expected, "{at_least:?} {page}");
            assert_eq!((listed.items, listed.sweep), (1200, Sweep::Yes));
            let version: u64 = listed.resource_version.parse().unwrap();
            assert!(version >= before, "{version} {before}");
            assert!(version <= version_now(|arguments| cluster.kubectl(arguments).stdout()));
            assert!(listed.bytes > 1200 * 200);
            assert_eq!(items[0]["data"]["text"], "a \"quoted\" } and ] and \\ text");
        }
    }

    let one = Question { namespace: Some(&namespaces[1]), ..everywhere };
    let (listed, items) = all(&client, one).await.unwrap();
    assert_eq!(listed.items, 400);
    assert!(items.iter().all(|item| item["metadata"]["namespace"] == namespaces[1].as_str()));

    let front = Question { label_selector: "test=pages,tier in (front)", ..one };
    assert_eq!(all(&client, front).await.unwrap().0.items, 40);
    let field = Question { field_selector: "metadata.name=map-0007", ..everywhere };
    let (_, items) = all(&client, field).await.unwrap();
    assert_eq!(names(&items).len(), 3);

    let metadata = Question { content: Content::Metadata, ..field };
    let (_, items) = all(&client, metadata).await.unwrap();
    assert_eq!(items.len(), 3);
    assert!(items.iter().all(|item| item.get("data").is_none()));
}

#[tokio::test]
async fn a_version_that_the_server_has_not_reached_is_given_up() {
    for cluster in servers() {
        let client = client(cluster.kubeconfig()).await;
        let namespaces = resource(&client, "- v1 Namespace").await;
        let ahead =
            (version_now(|arguments| cluster.kubectl(arguments).stdout()) + 1_000_000).to_string();
        let question =
            Question { at_least: AtLeast::Version(&ahead), ..Question::all(&namespaces) };
        let (listed, items) = all(&client, question).await.unwrap();
        assert!(!items.is_empty());
        assert!(listed.resource_version.parse::<u64>().unwrap() < ahead.parse().unwrap());
    }
}

#[tokio::test]
async fn custom_resources_are_listed_though_their_metadata_comes_last() {
    for cluster in servers() {
        let namespace = cluster.namespace("custom");
        let name = "parcels.list.kollect.test";
        cluster.apply(&definition(name, "Parcel", "Namespaced", &["v1"]));
        cluster.established(&[name]);
        let client = client(cluster.kubeconfig()).await;
        let parcels = resource(&client, "list.kollect.test v1 Parcel").await;
        let question = Question { namespace: Some(&namespace), page: 2, ..Question::all(&parcels) };
        let (listed, _) = all(&client, question).await.unwrap();
        assert_eq!(listed.items, 0);
        for number in 0..5 {
            cluster.apply(&format!(
                "{{apiVersion: list.kollect.test/v1, kind: Parcel, \
              metadata: {{name: p{number}, namespace: {namespace}}}, spec: {{items: [{{n: 1}}]}}}}"
            ));
        }
        let now = version_now(|arguments| cluster.kubectl(arguments).stdout()).to_string();
        for at_least in [AtLeast::Now, AtLeast::Version(&now), AtLeast::Cached] {
            let (listed, items) = all(&client, Question { at_least, ..question }).await.unwrap();
            let expected: Vec<_> = (0..5).map(|number| format!("{namespace}/p{number}")).collect();
            assert_eq!(names(&items), expected);
            assert!(listed.resource_version.parse::<u64>().is_ok(), "{listed:?}");
            assert_eq!(items[0]["kind"], "Parcel");
        }
    }
}

#[tokio::test]
async fn who_may_list_one_namespace_is_refused_elsewhere() {
    let Some(cluster) = cluster() else { return };
    let (own, other) = (cluster.namespace("own"), cluster.namespace("other"));
    let user = format!("reader-{own}");
    cluster.apply(&format!(
        "{{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, \
          metadata: {{name: reader, namespace: {own}}}, \
          rules: [{{apiGroups: [''], resources: [configmaps], verbs: [list]}}]}}\n---\n\
         {{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, \
          metadata: {{name: reader, namespace: {own}}}, \
          roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}}, \
          subjects: [{{apiGroup: rbac.authorization.k8s.io, kind: User, name: {user}}}]}}"
    ));
    cluster.kubectl(["create", "configmap", "seen", "-n", &own]).stdout();
    let client = client(&cluster.user(&user, &[]).unwrap()).await;
    // Discovery is for everybody who is known.
    let maps = resource(&client, "- v1 ConfigMap").await;
    let in_ = |namespace| Question { namespace, ..Question::all(&maps) };
    let (_, items) = all(&client, in_(Some(&own))).await.unwrap();
    assert_eq!(names(&items), [format!("{own}/seen")]);
    for (namespace, what) in [
        (Some(other.as_str()), format!("configmaps in namespace {other}")),
        (None, "configmaps in all namespaces".to_owned()),
    ] {
        let error = all(&client, in_(namespace)).await.unwrap_err();
        assert!(matches!(error, ListError::Forbidden { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.starts_with(&format!("not allowed to list {what}: ")), "{text}");
        assert!(text.contains(&user), "{text}");
    }
}

#[tokio::test]
async fn who_is_not_known_is_told_so() {
    let Some(cluster) = cluster() else { return };
    let file = cluster.directory().join("nobody.kubeconfig");
    let admin: Value = serde_json::from_slice(&fs::read(cluster.kubeconfig()).unwrap()).unwrap();
    let mut nobody = admin.clone();
    nobody["users"][0]["user"] = json!({"token": "made-up"});
    fs::write(&file, nobody.to_string()).unwrap();
    let stranger = client(&file).await;
    let error = Catalogue::fetch(&stranger).await.unwrap_err();
    assert!(matches!(error.cause(), ListError::Unauthorized { .. }), "{error:?}");
    let known = client(cluster.kubeconfig()).await;
    let maps = resource(&known, "- v1 ConfigMap").await;
    let error = all(&stranger, Question::all(&maps)).await.unwrap_err();
    assert!(matches!(error, ListError::Unauthorized { .. }), "{error:?}");
    assert!(!error.to_string().contains("made-up"), "{error}");
}

#[tokio::test]
async fn a_resource_that_is_gone_is_not_served() {
    for cluster in servers() {
        let client = client(cluster.kubeconfig()).await;
        let deployments = resource(&client, "apps v1 Deployment").await;
        for gone in [
            Resource { plural: "gadgets".to_owned(), ..deployments.clone() },
            Resource { version: "v1beta1".to_owned(), ..deployments.clone() },
            Resource { group: "nowhere.example".to_owned(), ..deployments.clone() },
        ] {
            let error = all(&client, Question::all(&gone)).await.unwrap_err();
            assert!(matches!(error, ListError::NotServed { .. }), "{error:?}");
        }
        let selector = Question { label_selector: "a in (", ..Question::all(&deployments) };
        let error = all(&client, selector).await.unwrap_err();
        assert!(matches!(error, ListError::Server { code: 400, .. }), "{error:?}");
    }
}
