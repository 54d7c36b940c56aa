//! `kollect init`: a starting configuration that works as it is.

use std::{fs, path::Path};

use kollect_sandbox::{Denial, DenialScope, ResourceDefinition, Sandbox};
use serde_json::json;

use super::support::{Run, run_in};

/// A cluster with a Deployment, and a custom kind that is defined in all words.
fn cluster(place: &Path) -> Sandbox {
    let sandbox = Sandbox::start().unwrap();
    let define = |group: &str, kind: &str, plural: &str, namespaced| {
        let (group, version) = (group.to_owned(), "v1".to_owned());
        let (kind, plural) = (kind.to_owned(), plural.to_owned());
        sandbox.define(ResourceDefinition { group, version, kind, plural, namespaced });
    };
    let definitions = ("apiextensions.k8s.io", "CustomResourceDefinition");
    define(definitions.0, definitions.1, "customresourcedefinitions", false);
    define("widgets.example.org", "Widget", "widgets", true);
    define("other.example.org", "Widget", "widgets", true);
    let columns = json!([
        {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "description": "How large it is."},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]);
    let version = json!({"name": "v1", "served": true, "storage": true,
        "additionalPrinterColumns": columns});
    for object in [
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}),
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.widgets.example.org"},
            "spec": {"group": "widgets.example.org", "scope": "Namespaced", "versions": [version],
                "names": {"kind": "Widget", "plural": "widgets", "singular": "widget"}}}),
        json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"replicas": 2, "template": {"spec": {"containers": [{"name": "c", "image": "web:1"}]}}}}),
        json!({"apiVersion": "widgets.example.org/v1", "kind": "Widget",
            "metadata": {"name": "w1", "namespace": "shop"}, "spec": {"size": 7},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
    ] {
        sandbox.put(object).unwrap();
    }
    sandbox.clear_requests();
    fs::write(place.join("kubeconfig"), sandbox.kubeconfig()).unwrap();
    sandbox
}

/// Runs `kollect init` on the cluster.
fn init(place: &Path, arguments: &[&str]) -> Run {
    let arguments = [&["init", "--kubeconfig", "kubeconfig", "--output-dir", "config"], arguments];
    run_in(place, &arguments.concat(), "")
}

#[test]
fn what_is_written_passes_and_gives_rows() {
    let place = tempfile::tempdir().unwrap();
    let sandbox = cluster(place.path());
    let run = init(place.path(), &["deploy,widgets.widgets.example.org", "-n", "shop"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let files = "config/profile-deployments.yaml\nconfig/target-deployments.yaml\n\
                 config/profile-widgets.yaml\nconfig/target-widgets.yaml\n\
                 config/inventory.yaml\nconfig/sink-sqlite.yaml\n";
    assert_eq!(run.stdout, files);
    for next in ["kollect validate config\n", "kubectl apply -f config ", "--kubeconfig kubeconfig"]
    {
        assert!(run.stderr.contains(next), "{}", run.stderr);
    }
    // Nothing but kinds and definitions was asked for.
    let paths: Vec<_> = sandbox.requests().into_iter().map(|request| request.path).collect();
    let definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/\
                      widgets.widgets.example.org";
    assert_eq!(paths, ["/api", "/apis", definition]);

    let judged = run_in(place.path(), &["validate", "--strict", "config"], "");
    assert_eq!(judged.code, Some(0), "{}", judged.stdout);
    assert_eq!(judged.stdout, "6 objects checked: 0 errors, 0 warnings\n");

    let collect = ["collect", "--config", "config", "--kubeconfig", "kubeconfig"];
    let table = run_in(place.path(), &[&collect[..], &["-o", "table"]].concat(), "");
    assert_eq!(table.code, Some(0), "{}", table.stderr);
    let expected = [["shop", "web", "2", "-", "web:1"].as_slice(), &["shop", "w1", "True", "7"]];
    for row in expected {
        let is_row = |line: &str| line.split_whitespace().eq(row.iter().copied());
        assert!(table.stdout.lines().any(is_row), "{row:?}: {}", table.stdout);
    }
    let copied = run_in(place.path(), &collect, "");
    assert_eq!(copied.code, Some(0), "{}", copied.stderr);
    assert!(copied.stderr.contains("(2 rows written, 0 deleted)"), "{}", copied.stderr);
    assert!(place.path().join("inventory.db").exists());
}

#[test]
fn an_attribute_says_where_it_comes_from() {
    let place = tempfile::tempdir().unwrap();
    let _sandbox = cluster(place.path());
    assert_eq!(init(place.path(), &["widgets.widgets.example.org"]).code, Some(0));
    let profile = fs::read_to_string(place.path().join("config/profile-widgets.yaml")).unwrap();
    let expected = "  attributes:
    # From: printer column \"Ready\".
    - name: ready
      path: 'cel:object.status.conditions.filter(c, c.type == \"Ready\")[0].status'
      type: string
      optional: true
    # From: printer column \"Size\": How large it is.
    - name: size
      path: $.spec.size
      type: int
";
    assert!(profile.ends_with(expected), "{profile}");
}

#[test]
fn whoever_may_not_read_definitions_gets_a_profile_all_the_same() {
    let place = tempfile::tempdir().unwrap();
    let sandbox = cluster(place.path());
    let definitions = ("apiextensions.k8s.io", "customresourcedefinitions");
    sandbox.deny(Denial::read(definitions.0, definitions.1, DenialScope::Everywhere));
    let run = init(place.path(), &["widgets.widgets.example.org"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stderr.starts_with("note: not allowed to list the definition of"),
        "{}",
        run.stderr
    );
    let judged = run_in(place.path(), &["validate", "--strict", "config"], "");
    assert_eq!(judged.code, Some(0), "{}", judged.stdout);
}

#[test]
fn kinds_that_there_are_not_are_all_named_with_what_was_meant() {
    let place = tempfile::tempdir().unwrap();
    let _sandbox = cluster(place.path());
    let run = init(place.path(), &["deploymnts,pods,zebras"]);
    assert_eq!(run.code, Some(2));
    let expected = "kollect: there is no kind \"deploymnts\"; did you mean deployments.apps?; \
                    there is no kind \"zebras\"\n";
    assert_eq!(run.stderr, expected);
    assert!(!place.path().join("config").exists());
}

#[test]
fn a_word_for_two_kinds_is_the_first_of_them_and_that_is_said() {
    let place = tempfile::tempdir().unwrap();
    let _sandbox = cluster(place.path());
    let run = init(place.path(), &["widgets"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let expected = "note: widgets is taken for widgets.other.example.org; it could be \
                    widgets.widgets.example.org too\n";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
}

#[test]
fn nothing_is_replaced_unless_that_is_wanted() {
    let place = tempfile::tempdir().unwrap();
    let offline = |arguments: &[&str]| {
        let front = ["init", "pods,nodes", "--offline", "--output-dir", "config"];
        run_in(place.path(), &[&front, arguments].concat(), "")
    };
    assert_eq!(offline(&[]).code, Some(0));
    let target = place.path().join("config/target-pods.yaml");
    fs::write(&target, "mine").unwrap();
    let run = offline(&["--sink", "file"]);
    assert_eq!(run.code, Some(2));
    let expected = "kollect: config/profile-pods.yaml, config/target-pods.yaml, \
                    config/profile-nodes.yaml, config/target-nodes.yaml, config/inventory.yaml \
                    are there already; --force replaces\n";
    assert_eq!(run.stderr, expected);
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
    let run = offline(&["--sink", "file", "--force"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("holds other manifests too: sink-sqlite.yaml"), "{}", run.stderr);
    assert_ne!(fs::read_to_string(&target).unwrap(), "mine");
}

#[test]
fn every_sink_can_be_begun_with_without_a_cluster() {
    let place = tempfile::tempdir().unwrap();
    let sinks =
        ["--sink", "sqlite,file,git,postgres", "--endpoint", "https://git.example.org/i.git"];
    let run = run_in(place.path(), &[&["init", "svc,ing", "--offline"], &sinks[..]].concat(), "");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let judged = run_in(place.path(), &["validate", "--strict", "collect-config"], "");
    assert_eq!(judged.stdout, "9 objects checked: 0 errors, 0 warnings\n");
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_is_asked() {
    let place = tempfile::tempdir().unwrap();
    for (arguments, expected) in [
        (&["init"][..], "no kind was named, and there is no terminal to ask at; name some, as in"),
        (&["init", "pods", "--sink", "git"], "--sink git needs the address of the repository"),
        (&["init", "pods", "--endpoint", "https://a"], "--endpoint is for --sink git"),
        (&["init", "widgets", "--offline"], "without a cluster there is no kind \"widgets\", only"),
        (&["init", "pods", "--offline", "-n", "A B"], "TGT-02"),
        (&["init", "pods", "--kubeconfig", "nowhere"], "could not read the kubeconfig nowhere"),
    ] {
        let run = run_in(place.path(), arguments, "");
        assert_eq!(run.code, Some(2), "{arguments:?}");
        assert!(run.stderr.contains(expected), "{arguments:?}: {}", run.stderr);
        assert!(!place.path().join("collect-config").exists());
    }
}
