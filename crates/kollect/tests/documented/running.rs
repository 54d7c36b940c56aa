use std::{fs, path::Path};

use kollect_sandbox::Sandbox;
use kollect_testenv::{ControlPlane, assets};
use serde_json::{Value, json};

use super::{page::steps, world::World};

/// Pages of the guide that are followed on a cluster, one after another.
const FOLLOWED: [&str; 6] = ["cel", "reading-objects", "init", "collecting", "tenancy", "operator"];

/// Those that have a test of their own.
const ALONE: [&str; 2] = ["synced", "without-a-cluster"];

/// Those that are not followed, because they name something of the reader's.
/// Their commands are parsed by a test of the command line.
const NOT_FOLLOWED: [(&str, &str); 5] = [
    ("copies", "names sinks of the reader's"),
    ("demo", "names directories that a run prints; `tests/demo.rs` runs it"),
    ("git", "names a repository of the reader's"),
    ("postgres", "names a database of the reader's"),
    ("sandbox", "names files that a run prints; `tests/sandbox.rs` runs it"),
];

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
fn the_guide_holds_on_a_cluster() {
    let Some(assets) = assets() else { return };
    let plane = ControlPlane::start(&assets).unwrap();
    let config = with_context(&real(&plane), "eu-1");
    for object in [
        namespace("team-a"),
        namespace("team-a-jobs"),
        deployment("default", "web", "registry.example/web:2.4.1"),
    ] {
        plane.apply(&object.to_string());
    }
    let definitions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/foreign-crds");
    plane.kubectl(["apply", "--server-side", "-f", definitions.to_str().unwrap()]).stdout();
    plane.established(&["certificates.cert-manager.io"]);
    let mut world = World::with_cluster(&assets, &config);
    for page in FOLLOWED {
        world.follow(&format!("docs/guide/{page}.md"));
    }
}

#[test]
fn no_page_of_the_guide_is_forgotten() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    for entry in fs::read_dir(guide).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let excepted = NOT_FOLLOWED.iter().map(|(name, _)| name);
        let is_known = FOLLOWED.iter().chain(&ALONE).chain(excepted).any(|known| *known == name);
        let asks = !steps(&fs::read_to_string(&path).unwrap()).is_empty();
        assert!(is_known || !asks, "nobody follows {}", path.display());
    }
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
