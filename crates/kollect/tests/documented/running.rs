use std::fs;

use kollect_sandbox::Sandbox;
use kollect_testenv::{ControlPlane, assets};
use serde_json::{Value, json};

use super::world::World;

/// A kubeconfig with one more context.
fn with_context(config: &str, name: &str) -> String {
    let mut config: Value = serde_json::from_str(config).unwrap();
    let mut context = config["contexts"][0].clone();
    context["name"] = json!(name);
    config["contexts"].as_array_mut().unwrap().push(context);
    config.to_string()
}

fn deployment(namespace: &str, name: &str, image: &str) -> Value {
    let labels = json!({"app": name});
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": 2, "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": image}]},
            },
        },
    })
}

fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

/// What a reader's cluster runs.
fn workload() -> [Value; 4] {
    [
        namespace("shop"),
        deployment("shop", "web", "registry.example/web:2.4.1"),
        deployment("shop", "cart", "registry.example/cart:1.9.0"),
        deployment("default", "hello", "registry.example/hello:latest"),
    ]
}

/// A kubeconfig for a real cluster that runs all that.
fn real(plane: &ControlPlane) -> String {
    for object in workload() {
        plane.apply(&object.to_string());
    }
    fs::read_to_string(plane.kubeconfig()).unwrap()
}

#[test]
fn the_readme_holds_on_a_cluster() {
    let Some(assets) = assets() else { return };
    let plane = ControlPlane::start(&assets).unwrap();
    let mut world = World::with_cluster(&assets, &with_context(&real(&plane), "eu-1"));
    world.follow("README.md");
    world.follow("deploy/samples/README.md");
}

#[test]
fn what_needs_no_cluster_holds_without_one() {
    let mut world = World::new();
    world.follow("docs/guide/without-a-cluster.md");
    world.follow("deploy/samples/shop/README.md");
}

#[test]
fn the_page_about_synced_holds_on_a_cluster() {
    let Some(assets) = assets() else { return };
    let plane = ControlPlane::start(&assets).unwrap();
    World::with_cluster(&assets, &real(&plane)).follow("docs/guide/synced.md");
}

#[test]
fn the_page_about_synced_holds_on_the_sandbox() {
    let Some(assets) = assets() else { return };
    let sandbox = Sandbox::start().unwrap();
    for object in workload() {
        sandbox.put(object).unwrap();
    }
    World::with_cluster(&assets, &sandbox.kubeconfig()).follow("docs/guide/synced.md");
}
