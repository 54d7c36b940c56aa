use super::*;
use kollect_expr::{Json, Projection, read};

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn selector(pairs: &[(&str, &str)]) -> LabelSelector {
    LabelSelector { match_labels: Some(labels(pairs)), match_expressions: None }
}

fn universe() -> BTreeMap<String, Namespace> {
    let namespace =
        |team: &str| Namespace { labels: labels(&[("team", team)]), ..Namespace::default() };
    [("a", "x"), ("b", "x"), ("c", "y"), ("kube-system", "z")]
        .map(|(name, team)| (name.to_owned(), namespace(team)))
        .into()
}

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[track_caller]
fn check(
    filter: CollectionFilter,
    by: Option<&LabelSelector>,
    (defaults, ceiling): (Defaults, Option<&ScopeCeiling>),
    expected: (&[&str], &[&str]),
) {
    let sets = namespaces(&filter, by, &defaults, ceiling, &universe());
    let names = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>();
    assert_eq!(
        (names(sets.matched), names(sets.effective)),
        (texts(expected.0), texts(expected.1))
    );
}

#[test]
fn without_any_wish_every_namespace_counts() {
    let all = ["a", "b", "c", "kube-system"];
    check(CollectionFilter::default(), None, Default::default(), (&all, &all));
}

#[test]
fn lists_and_selectors_must_both_match() {
    let filter = CollectionFilter {
        included_namespaces: texts(&["a", "c", "gone"]),
        ..CollectionFilter::default()
    };
    check(filter.clone(), Some(&selector(&[("team", "x")])), Default::default(), (&["a"], &["a"]));
    check(filter, None, Default::default(), (&["a", "c"], &["a", "c"]));
}

#[test]
fn exclusion_is_a_union_and_inclusion_overrides_the_default() {
    let defaults = Defaults { included: texts(&["b"]), excluded: texts(&["kube-system"]) };
    check(CollectionFilter::default(), None, (defaults.clone(), None), (&["b"], &["b"]));
    let filter = CollectionFilter {
        included_namespaces: texts(&["a", "b", "kube-system"]),
        excluded_namespaces: texts(&["a"]),
        ..CollectionFilter::default()
    };
    check(filter, None, (defaults, None), (&["b"], &["b"]));
}

#[test]
fn namespaces_are_excluded_by_label() {
    let filter = CollectionFilter {
        namespace_exclude_selector: Some(selector(&[("team", "x")])),
        ..CollectionFilter::default()
    };
    check(filter, None, Default::default(), (&["c", "kube-system"], &["c", "kube-system"]));
}

#[test]
fn a_ceiling_narrows_and_an_empty_set_is_nothing() {
    let ceiling = ScopeCeiling {
        allowed_namespaces: texts(&["a", "b"]),
        denied_namespaces: texts(&["b"]),
        ..ScopeCeiling::default()
    };
    let all = ["a", "b", "c", "kube-system"];
    let with = |ceiling| (Defaults::default(), Some(ceiling));
    check(CollectionFilter::default(), None, with(&ceiling), (&all, &["a"]));
    let nothing = ScopeCeiling { allowed_namespaces: texts(&["zz"]), ..ScopeCeiling::default() };
    check(CollectionFilter::default(), None, with(&nothing), (&all, &[]));
}

/// An object as it is read, for a header to be taken off.
fn object(name: &str, labels: &[(&str, &str)]) -> Json<'static> {
    let labels: BTreeMap<_, _> = labels.iter().copied().collect();
    let value =
        serde_json::json!({"metadata": {"name": name, "namespace": "shop", "labels": labels}});
    let bytes = serde_json::to_vec(&value).unwrap();
    read(&bytes, &Projection::everything()).unwrap().into_owned()
}

fn refusal(
    selection: &Selection,
    object: &Json<'static>,
    namespace: Option<&Namespace>,
) -> Option<Skip> {
    selection.refusal(&Header::of(object), namespace, |_| true)
}

#[test]
fn names_and_labels_select_unless_there_are_rules() {
    let selection = Selection {
        names: texts(&["web"]),
        labels: Some(selector(&[("app", "web")])),
        ..Selection::default()
    };
    assert_eq!(refusal(&selection, &object("web", &[("app", "web")]), None), None);
    assert_eq!(refusal(&selection, &object("db", &[("app", "web")]), None), Some(Skip::Name));
    assert_eq!(refusal(&selection, &object("web", &[]), None), Some(Skip::Labels));
    let rule = ResourceRule { match_labels: labels(&[("tier", "db")]), ..ResourceRule::default() };
    let ruled = Selection { rules: vec![rule], ..selection };
    assert_eq!(refusal(&ruled, &object("db", &[("tier", "db")]), None), None);
    assert_eq!(refusal(&ruled, &object("web", &[("app", "web")]), None), Some(Skip::Rules));
}

#[test]
fn expressions_follow_kubernetes() {
    let holds = |operator: &str, values: &[&str], pairs: &[(&'static str, &'static str)]| {
        let requirement = LabelSelectorRequirement {
            key: "tier".into(),
            operator: operator.into(),
            values: Some(texts(values)),
        };
        requirement_holds(&requirement, &Header::of(&object("web", pairs)))
    };
    assert!(holds("In", &["db", "web"], &[("tier", "db")]));
    assert!(!holds("In", &["web"], &[]));
    assert!(holds("NotIn", &["web"], &[("tier", "db")]));
    assert!(holds("NotIn", &["web"], &[]));
    assert!(holds("Exists", &[], &[("tier", "")]));
    assert!(holds("DoesNotExist", &[], &[]));
    assert!(!holds("Like", &["db"], &[("tier", "db")]));
}

#[test]
fn the_first_word_on_watching_counts() {
    let all = Selection::default();
    let opt_in = Selection { watch_mode: WatchMode::OptIn, ..Selection::default() };
    let says = |label: Option<&str>, annotation: Option<&str>| Namespace {
        labels: label.map(|word| labels(&[(WATCH, word)])).unwrap_or_default(),
        annotations: annotation.map(|word| labels(&[(NAMESPACE_WATCH, word)])).unwrap_or_default(),
    };
    let silent = says(None, None);
    for (selection, own, namespace, expected) in [
        (&all, None, silent.clone(), None),
        (&all, Some("disabled"), says(Some("enabled"), None), Some(Skip::Watch)),
        (&all, Some("enabled"), says(Some("disabled"), None), None),
        (&all, None, says(Some("disabled"), None), Some(Skip::Watch)),
        (&all, None, says(None, Some("disabled")), Some(Skip::Watch)),
        (&all, None, says(Some("enabled"), Some("disabled")), Some(Skip::Watch)),
        (&all, Some("perhaps"), silent.clone(), None),
        (&opt_in, None, silent.clone(), Some(Skip::Watch)),
        (&opt_in, Some("enabled"), silent, None),
        (&opt_in, None, says(Some("enabled"), None), None),
        (&opt_in, None, says(None, Some("enabled")), None),
    ] {
        let pairs: Vec<_> = own.map(|word| (WATCH, word)).into_iter().collect();
        let found = refusal(selection, &object("web", &pairs), Some(&namespace));
        assert_eq!(found, expected, "{own:?} {namespace:?}");
    }
}
