use kollect_api::AddressPolicy;

use super::*;
use crate::{
    collect::builtin,
    init::{attributes, choose},
};

fn wish(kinds: &[&str], namespaces: &[&str], sinks: &[SinkChoice]) -> Wish {
    let words: Vec<_> = kinds.iter().map(|kind| (*kind).to_owned()).collect();
    let kinds = choose::known(&words).unwrap().into_iter().map(|kind| {
        let chosen = attributes::choose(&kind.gvk, &attributes::Told::default());
        (kind, chosen)
    });
    Wish {
        kinds: kinds.collect(),
        namespaces: namespaces.iter().map(|name| (*name).to_owned()).collect(),
        home: "shop".to_owned(),
        sinks: sinks.to_vec(),
        endpoint: "https://git.example.org/shop/inventory.git".to_owned(),
    }
}

const ALL: [SinkChoice; 4] =
    [SinkChoice::Sqlite, SinkChoice::File, SinkChoice::Git, SinkChoice::Postgres];

#[test]
fn a_profile_says_where_its_attributes_come_from() {
    let files = files(&wish(&["deploy"], &["shop"], &[SinkChoice::Sqlite]));
    let names: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
    let expected = [
        "profile-deployments.yaml",
        "target-deployments.yaml",
        "inventory.yaml",
        "sink-sqlite.yaml",
    ];
    assert_eq!(names, expected);
    let expected = "\
# What to read from each Deployment; every attribute becomes a field of its row.
# Try a path on what is there:
#   kubectl get deployments.apps -A -o yaml | kollect eval '$.metadata.labels'
apiVersion: kollect.dev/v1alpha1
kind: KollectProfile
metadata:
  name: deployments
  namespace: shop
spec:
  targetGVK:
    group: apps
    version: v1
    kind: Deployment
  attributes:
    # From the built-in profile.
    - name: replicas
      path: $.spec.replicas
      type: int
    - name: ready
      path: $.status.readyReplicas
      type: int
    - name: images
      path: 'cel:object.spec.template.spec.containers.map(c, c.image)'
      type: list
      optional: true
";
    assert_eq!(files[0].text, expected);
    let expected = "\
# Which objects to read by the profile deployments.
# Without includedNamespaces, those of all namespaces.
apiVersion: kollect.dev/v1alpha1
kind: KollectTarget
metadata:
  name: deployments
  namespace: shop
spec:
  profileRef: deployments
  includedNamespaces:
    - shop
";
    assert_eq!(files[1].text, expected);
}

#[test]
fn every_built_in_kind_and_every_sink_is_admissible() {
    let files = files(&wish(&builtin::names(), &["shop", "mall"], &ALL));
    assert_eq!(files.len(), 2 * builtin::names().len() + 1 + ALL.len());
    check(&files, AddressPolicy::default()).unwrap();
}

#[test]
fn what_is_in_no_namespace_is_not_looked_for_in_one() {
    let files = files(&wish(&["nodes"], &["shop"], &[SinkChoice::File]));
    assert!(!files[1].text.contains("  includedNamespaces:"), "{}", files[1].text);
}

#[test]
fn kinds_of_one_name_are_told_apart_by_their_groups() {
    let mut wish = wish(&["services"], &[], &[SinkChoice::Sqlite]);
    let (mut kind, chosen) = wish.kinds[0].clone();
    kind.gvk.group = "serving.knative.dev".to_owned();
    wish.kinds.push((kind, chosen));
    assert_eq!(names(&wish), ["services", "services.serving.knative.dev"]);
    check(&files(&wish), AddressPolicy::default()).unwrap();
}

#[test]
fn what_would_be_refused_is_not_written() {
    let mut wish = wish(&["pods"], &["Not A Namespace"], &[SinkChoice::Sqlite]);
    let error = check(&files(&wish), AddressPolicy::default()).unwrap_err().to_string();
    assert!(error.contains("error[TGT-02]: spec.includedNamespaces[0]"), "{error}");
    wish.namespaces.clear();
    wish.sinks = vec![SinkChoice::Git];
    wish.endpoint = "https://169.254.169.254/x.git".to_owned();
    let error = check(&files(&wish), AddressPolicy::default()).unwrap_err().to_string();
    assert!(error.contains("error[SNK-05]: spec.endpoint"), "{error}");
}

#[test]
fn files_that_are_there_are_named_and_kept() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("a/b");
    let files = files(&wish(&["pods"], &[], &[SinkChoice::Sqlite]));
    let paths = write(&directory, &files, Existing::Keep).unwrap();
    assert_eq!(paths.len(), 4);
    fs::remove_file(&paths[0]).unwrap();
    fs::write(&paths[1], "mine").unwrap();
    fs::write(directory.join("other.yaml"), "").unwrap();
    let error = write(&directory, &files, Existing::Keep).unwrap_err().to_string();
    assert!(error.ends_with("sink-sqlite.yaml are there already; --force replaces"), "{error}");
    assert!(error.contains("target-pods.yaml, ") && !error.contains("profile-pods"), "{error}");
    assert!(!paths[0].exists(), "half of it was written");
    assert_eq!(fs::read_to_string(&paths[1]).unwrap(), "mine");
    write(&directory, &files, Existing::Replace).unwrap();
    assert_eq!(fs::read_to_string(&paths[1]).unwrap(), files[1].text);
    assert_eq!(others(&directory, &files).unwrap(), ["other.yaml"]);
    assert!(others(&place.path().join("nowhere"), &files).unwrap().is_empty());
}
