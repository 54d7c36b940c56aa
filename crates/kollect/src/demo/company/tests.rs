use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::date;

use super::*;

fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    object.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

#[test]
fn the_company_has_some_two_hundred_objects_in_six_namespaces() {
    let objects = objects(date(2026, 3, 4));
    assert!((180..=220).contains(&objects.len()), "{}", objects.len());
    let namespaces: BTreeSet<_> = objects
        .iter()
        .map(|one| text(one, "/metadata/namespace"))
        .filter(|it| !it.is_empty())
        .collect();
    assert_eq!(namespaces.len(), 6);
    let mut kinds: BTreeMap<_, usize> = BTreeMap::new();
    for object in &objects {
        *kinds.entry(text(object, "/kind")).or_default() += 1;
    }
    let many = |kind: &str| kinds.get(kind).copied().unwrap_or_default();
    assert_eq!((many("Deployment"), many("Service")), (48, 48));
    assert_eq!(many("Ingress"), many("Certificate"));
    for kind in ["Ingress", "Application", "Kustomization", "HelmRelease", "Secret"] {
        assert!(many(kind) >= 8, "{kind}: {}", many(kind));
    }
}

#[test]
fn every_run_begins_with_the_same_objects() {
    assert_eq!(objects(date(2026, 3, 4)), objects(date(2026, 3, 4)));
}

#[test]
fn no_two_objects_have_the_same_name() {
    let objects = objects(date(2026, 3, 4));
    let name = |one: &Value| {
        ["/kind", "/metadata/namespace", "/metadata/name"].map(|path| text(one, path).to_owned())
    };
    let names: BTreeSet<_> = objects.iter().map(name).collect();
    assert_eq!(names.len(), objects.len());
}

#[test]
fn hosts_and_registries_are_of_a_domain_that_nobody_can_own() {
    for object in objects(date(2026, 3, 4)) {
        let spelled = object.to_string();
        for address in spelled.split('"').filter(|word| word.contains("quillmore.")) {
            assert!(address.contains("quillmore.example"), "{address}");
        }
    }
}

#[test]
fn every_kind_of_others_is_defined() {
    let defined: BTreeSet<_> = definitions::definitions()
        .iter()
        .map(|one| (text(one, "/spec/group").to_owned(), text(one, "/spec/names/kind").to_owned()))
        .collect();
    for object in objects(date(2026, 3, 4)) {
        let (group, _) = text(&object, "/apiVersion").split_once('/').unwrap_or_default();
        let kind = text(&object, "/kind").to_owned();
        assert!(
            !group.contains('.')
                || group.ends_with("k8s.io")
                || defined.contains(&(group.to_owned(), kind))
        );
    }
}
