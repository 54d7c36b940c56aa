//! What the tests of this area share.

use std::{path::Path, time::Duration};

use kollect_api::GroupVersionKind;
use kollect_collect::{
    Catalogue, Heard, ListError, Listed, Lookup, Place, Question, Resource, connect, list, use_ring,
};
use kube::Client;
use serde_json::Value;

/// A client by way of a kubeconfig.
pub(super) async fn client(kubeconfig: &Path) -> Client {
    use_ring();
    let place = Place::Files(vec![kubeconfig.to_owned()]);
    connect(&place, None).await.unwrap()
}

/// A kind, as in `apps v1 Deployment`; the core group is `-`.
pub(super) fn gvk(text: &str) -> GroupVersionKind {
    let [group, version, kind] = text.split(' ').collect::<Vec<_>>().try_into().unwrap();
    GroupVersionKind {
        group: group.trim_matches('-').to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
    }
}

/// What the server serves once it has an answer that is waited for: a definition
/// is established a moment before discovery shows it.
pub(super) async fn catalogue(client: &Client, until: impl Fn(&Catalogue) -> bool) -> Catalogue {
    for _ in 0..300 {
        let catalogue = Catalogue::fetch(client).await.unwrap();
        if until(&catalogue) {
            return catalogue;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("discovery does not show what was waited for");
}

/// One resource, once it is served.
pub(super) async fn resource(client: &Client, kind: &str) -> Resource {
    let kind = gvk(kind);
    let served = |catalogue: &Catalogue| matches!(catalogue.find(&kind), Lookup::Served(_));
    match catalogue(client, served).await.find(&kind) {
        Lookup::Served(resource) => resource.clone(),
        other => panic!("{other:?}"),
    }
}

/// A list with all its objects.
pub(super) async fn all(
    client: &Client,
    question: Question<'_>,
) -> Result<(Listed, Vec<Value>), ListError> {
    let mut items = Vec::new();
    let listed = list(client, &question, |heard| match heard {
        Heard::Item(item) => items.push(serde_json::from_slice(item).unwrap()),
        Heard::Again => items.clear(),
    });
    Ok((listed.await?, items))
}

/// The names of objects with their namespaces, sorted.
pub(super) fn names(items: &[Value]) -> Vec<String> {
    let name = |item: &Value| {
        let text = |field: &str| item["metadata"][field].as_str().unwrap_or_default().to_owned();
        format!("{}/{}", text("namespace"), text("name"))
    };
    let mut names: Vec<_> = items.iter().map(name).collect();
    names.sort();
    names
}

/// A definition of a custom kind in some versions, of which the last is stored.
pub(super) fn definition(name: &str, kind: &str, scope: &str, versions: &[&str]) -> String {
    let (plural, group) = name.split_once('.').unwrap();
    let versions: Vec<_> = versions
        .iter()
        .map(|version| {
            format!(
                "{{name: {version}, served: true, storage: {}, schema: {{openAPIV3Schema: \
                 {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}",
                Some(version) == versions.last()
            )
        })
        .collect();
    format!(
        "---\n{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, \
         metadata: {{name: {name}}}, spec: {{group: {group}, scope: {scope}, \
         names: {{kind: {kind}, plural: {plural}, singular: {}}}, versions: [{}]}}}}\n",
        kind.to_lowercase(),
        versions.join(", ")
    )
}
