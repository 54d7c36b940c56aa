//! Few namespaces are watched each by itself, many at once, and what may not
//! be read is named.

use super::*;

fn resource(scope: Scope) -> Resource {
    Resource::known(("apps", "v1"), "Deployment", "deployments", scope)
}

fn target(name: &str) -> TargetKey {
    TargetKey { namespace: Some("team".to_owned()), name: name.to_owned() }
}

/// A target that names its namespaces, `n0`, `n1` and so on.
fn bounded<'a>(target: &'a TargetKey, resource: &'a Resource, count: usize) -> Need<'a> {
    Need {
        target,
        resource,
        namespaces: (0..count).map(|number| format!("n{number}")).collect(),
        is_bounded: true,
        selector: String::new(),
        content: Content::Whole,
    }
}

fn unbounded<'a>(target: &'a TargetKey, resource: &'a Resource, count: usize) -> Need<'a> {
    Need { is_bounded: false, ..bounded(target, resource, count) }
}

/// The posts as `n1` or `*` for everywhere.
fn posts(set: &WatchSet) -> Vec<&str> {
    set.posts.keys().map(|post| post.namespace().unwrap_or("*")).collect()
}

const ALLOWED: Option<&Answer> = Some(&Answer::Allowed);

#[test]
fn up_to_twenty_namespaces_are_watched_one_by_one_and_more_at_once() {
    let (resource, target) = (resource(Scope::Namespaced), target("t"));
    let nobody = BTreeSet::new();
    let set = WatchSet::of(&[bounded(&target, &resource, 20)], |_| ALLOWED, &nobody);
    assert_eq!(set.posts.len(), 20);
    let set = WatchSet::of(&[bounded(&target, &resource, 21)], |_| ALLOWED, &nobody);
    assert_eq!(posts(&set), ["*"]);
}

#[test]
fn what_is_watched_everywhere_stays_so_down_to_ten() {
    let (resource, target) = (resource(Scope::Namespaced), target("t"));
    let everywhere = BTreeSet::from([Post::of(&resource, None)]);
    let set = WatchSet::of(&[bounded(&target, &resource, 10)], |_| ALLOWED, &everywhere);
    assert_eq!(posts(&set), ["*"]);
    let set = WatchSet::of(&[bounded(&target, &resource, 9)], |_| ALLOWED, &everywhere);
    assert_eq!(set.posts.len(), 9);
}

#[test]
fn a_target_that_may_want_any_namespace_is_watched_everywhere() {
    let (resource, one, other) = (resource(Scope::Namespaced), target("a"), target("b"));
    let needs = [unbounded(&one, &resource, 3), bounded(&other, &resource, 2)];
    let set = WatchSet::of(&needs, |_| ALLOWED, &BTreeSet::new());
    assert_eq!(posts(&set), ["*"]);
    let duty = set.posts.values().next().unwrap();
    assert_eq!(duty.users.values().map(BTreeSet::len).collect::<Vec<_>>(), [3, 2]);
}

#[test]
fn a_kind_without_namespaces_is_watched_everywhere_or_not_at_all() {
    let (resource, target) = (resource(Scope::Cluster), target("t"));
    let need =
        Need { namespaces: BTreeSet::from([String::new()]), ..bounded(&target, &resource, 0) };
    let set = WatchSet::of(std::slice::from_ref(&need), |_| ALLOWED, &BTreeSet::new());
    assert_eq!(posts(&set), ["*"]);
    let no = Answer::Denied("no".to_owned());
    let set = WatchSet::of(&[need], |_| Some(&no), &BTreeSet::new());
    assert!(set.posts.is_empty());
    assert_eq!(set.refused.into_iter().collect::<Vec<_>>(), [((target, String::new()), no)]);
}

#[test]
fn who_may_not_read_everything_reads_what_may_be_read() {
    let (resource, target) = (resource(Scope::Namespaced), target("t"));
    let no = Answer::Denied("no".to_owned());
    let rights = |right: &Right| match right.namespace.as_deref() {
        Some("n0" | "n2") => Some(&Answer::Allowed),
        _ => Some(&no),
    };
    let set = WatchSet::of(&[unbounded(&target, &resource, 3)], rights, &BTreeSet::new());
    assert_eq!(posts(&set), ["n0", "n2"]);
    assert_eq!(set.refused.keys().map(|(_, name)| name.as_str()).collect::<Vec<_>>(), ["n1"]);
    assert_eq!(set.matter.len(), 4, "each is asked again, and everything too");
}

#[test]
fn nothing_begins_before_it_was_asked_and_nothing_ends_while_it_is() {
    let (resource, target) = (resource(Scope::Namespaced), target("t"));
    let needs = [unbounded(&target, &resource, 3)];
    let set = WatchSet::of(&needs, |_| None, &BTreeSet::new());
    assert!(set.posts.is_empty() && set.refused.is_empty());
    assert_eq!(set.matter.len(), 1, "the widest is asked first");
    let one = BTreeSet::from([Post::of(&resource, Some("n1"))]);
    assert_eq!(posts(&WatchSet::of(&needs, |_| None, &one)), ["n1"]);
    let failed = Answer::Failed("what".to_owned());
    let everywhere = BTreeSet::from([Post::of(&resource, None)]);
    assert_eq!(posts(&WatchSet::of(&needs, |_| Some(&failed), &everywhere)), ["*"]);
    let set = WatchSet::of(&needs, |_| Some(&failed), &BTreeSet::new());
    assert_eq!((set.posts.len(), set.refused.len()), (0, 3));
}

#[test]
fn the_server_selects_only_what_all_users_of_a_watch_agree_on() {
    let (resource, one, other) = (resource(Scope::Namespaced), target("a"), target("b"));
    let coloured = |target| Need {
        selector: "coloured=yes".to_owned(),
        content: Content::Metadata,
        ..bounded(target, &resource, 1)
    };
    let duty = |needs: &[Need<'_>]| {
        let set = WatchSet::of(needs, |_| ALLOWED, &BTreeSet::new());
        let duty = set.posts.into_values().next().unwrap();
        (duty.selector, duty.content)
    };
    let agreed = duty(&[coloured(&one), coloured(&other)]);
    assert_eq!(agreed, ("coloured=yes".to_owned(), Content::Metadata));
    let not = duty(&[coloured(&one), bounded(&other, &resource, 1)]);
    assert_eq!(not, (String::new(), Content::Whole));
    // Users of another namespace have no say.
    let elsewhere =
        Need { namespaces: BTreeSet::from(["other".to_owned()]), ..bounded(&other, &resource, 0) };
    assert_eq!(duty(&[coloured(&one), elsewhere]).0, "coloured=yes");
}
