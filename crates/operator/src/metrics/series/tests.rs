//! Sums, against what all rows come to when they are read afresh.

mod afresh;
mod cost;
mod support;

use serde_json::json;

use super::*;
use support::{Scene, lines, profile, recipe, target};

#[test]
fn without_a_list_every_number_is_summed_and_rows_are_counted() {
    let mut scene = Scene::of(&[("web", recipe(json!([])), &["t"])]);
    scene.put("t", "a", &json!({"replicas": 3, "containers": "2", "ha": true, "image": "web:1"}));
    scene.put("t", "b", &json!({"replicas": 1, "containers": 1, "ha": false, "object_count": 7}));
    assert_eq!(
        lines(&scene.series),
        [
            r#"kollect_collected_objects{profile_namespace="shop",profile="web",gvk="apps/v1/Deployment",target_namespace="shop",target_name="t"} 2"#,
            r#"kollect_custom_resource_series{profile_namespace="shop",profile="web",gvk="apps/v1/Deployment",series="object_count"} 2"#,
            r#"kollect_custom_resource_series{profile_namespace="shop",profile="web",gvk="apps/v1/Deployment",series="containers"} 3"#,
            r#"kollect_custom_resource_series{profile_namespace="shop",profile="web",gvk="apps/v1/Deployment",series="replicas"} 4"#,
        ]
    );
    scene.put("t", "a", &json!({"replicas": 0.1}));
    scene.remove("t", "b");
    scene.put("t", "a", &json!({"image": "web:2"}));
    let series = lines(&scene.series);
    assert_eq!(series.len(), 2, "no number is left: {series:?}");
}

#[test]
fn listed_series_are_all_there_are_and_labels_split_them() {
    let metrics = json!([
        {"name": "wanted", "path": "replicas"},
        {"name": "by", "path": "replicas", "labels": ["tier", "ha"]},
        {"name": "nobody", "path": "missing"},
    ]);
    let mut scene = Scene::of(&[("web", recipe(metrics), &["t"])]);
    scene.put("t", "a", &json!({"replicas": 2, "ha": true, "tier": "say \"hi\"", "other": 5}));
    scene.put("t", "b", &json!({"replicas": 1, "ha": null}));
    scene.put("t", "c", &json!({"ha": true}));
    let common = r#"{profile_namespace="shop",profile="web",gvk="apps/v1/Deployment",series="#;
    let series = lines(&scene.series);
    let series: Vec<_> = series.iter().skip(1).map(|line| line.replace(common, "{")).collect();
    assert_eq!(
        series,
        [
            r#"kollect_custom_resource_series{"object_count"} 3"#,
            r#"kollect_custom_resource_series{"nobody"} 0"#,
            r#"kollect_custom_resource_series{"wanted"} 3"#,
            r#"kollect_custom_resource_labeled_series{"by",ha="",tier=""} 1"#,
            r#"kollect_custom_resource_labeled_series{"by",ha="true",tier="say \"hi\""} 2"#,
            r#"kollect_custom_resource_labeled_series_capped_total{"by"} 0"#,
        ]
    );
}

#[test]
fn the_first_two_hundred_combinations_are_shown_and_the_rest_is_counted() {
    let metrics = json!([{"name": "by", "path": "n", "labels": ["name"]}]);
    let mut scene = Scene::of(&[("web", recipe(metrics), &["t"])]);
    for at in (0..250).rev() {
        scene.put("t", &format!("o{at}"), &json!({"n": 1, "name": format!("{at:03}")}));
    }
    let shown = |scene: &Scene| {
        let lines = lines(&scene.series);
        let of = |name: &str| lines.iter().filter(|line| line.starts_with(name)).count();
        let last = lines.last().cloned().unwrap_or_default();
        let last = last.rsplit_once(' ').map(|(_, count)| count.to_owned());
        (of("kollect_custom_resource_labeled_series{"), last)
    };
    assert_eq!(shown(&scene), (200, Some("50".to_owned())));
    assert!(lines(&scene.series).iter().any(|line| line.contains("name=\"199\"")));
    assert!(!lines(&scene.series).iter().any(|line| line.contains("name=\"200\"")));
    scene.remove("t", "o0");
    assert!(lines(&scene.series).iter().any(|line| line.contains("name=\"200\"")));
    assert_eq!(shown(&scene), (200, Some("49".to_owned())));
}

#[test]
fn targets_of_one_profile_add_up_and_profiles_of_one_name_do_not_meet() {
    let every = || recipe(json!([]));
    let mut scene = Scene::of(&[("web", every(), &["t", "u"])]);
    scene.want(&[("web", every(), &["t", "u"])]);
    let elsewhere = Name::new("mall", "web");
    let mut wanted = scene.wanted.clone();
    wanted.insert(elsewhere, (Some(every()), BTreeSet::from([target("v")])));
    scene.follow(wanted);
    for (name, target) in ["t", "u", "v"].into_iter().enumerate() {
        scene.put(
            target,
            &name.to_string(),
            &json!({"n": 10_usize.pow(u32::try_from(name).unwrap())}),
        );
    }
    let sums: Vec<_> =
        lines(&scene.series).into_iter().filter(|line| line.contains("series=\"n\"")).collect();
    assert_eq!(
        sums,
        [
            r#"kollect_custom_resource_series{profile_namespace="mall",profile="web",gvk="apps/v1/Deployment",series="n"} 100"#,
            r#"kollect_custom_resource_series{profile_namespace="shop",profile="web",gvk="apps/v1/Deployment",series="n"} 11"#,
        ]
    );
}

#[test]
fn a_target_that_two_inventories_hold_counts_once() {
    use kollect_inventory::Dedupe;
    let mut scene = Scene::of(&[("web", recipe(json!([])), &["t"])]);
    let partition = scene.store.join(&support::partition(&target("t"), "shop"));
    let views = [Dedupe::KeepAll, Dedupe::ByUid].map(|dedupe| scene.store.add_view(dedupe));
    scene.store.attach(views[0], partition);
    scene.put("t", "a", &json!({"n": 5}));
    scene.store.attach(views[1], partition);
    scene.put("t", "a", &json!({"n": 6}));
    let sums = |scene: &Scene| {
        let lines = lines(&scene.series);
        lines.iter().skip(1).filter_map(|line| line.rsplit(' ').next()?.parse().ok()).collect()
    };
    let sums_are = |scene: &Scene, expected: &[u64]| {
        let found: Vec<u64> = sums(scene);
        assert_eq!(found, expected);
    };
    sums_are(&scene, &[1, 6]);
    scene.store.remove_view(views[1]);
    scene.store.detach(views[0], partition);
    sums_are(&scene, &[1, 6]);
    scene.store.withdraw(partition);
    sums_are(&scene, &[0]);
}

#[test]
fn what_admission_refuses_is_left_out_and_not_shown_twice() {
    let metrics = json!([
        {"name": "object_count", "path": "n"},
        {"name": "clash", "path": "n", "labels": ["series"]},
        {"name": "dashed", "path": "n", "labels": ["a-b"]},
        {"name": "twice", "path": "n"},
        {"name": "twice", "path": "m"},
        {"name": "same", "path": "n", "labels": ["m", "m"]},
    ]);
    let mut scene = Scene::of(&[("web", recipe(metrics), &["t"])]);
    scene.put("t", "a", &json!({"n": 5, "m": 7}));
    let series = lines(&scene.series).join("\n");
    assert!(series.contains("series=\"object_count\"} 1\n"), "{series}");
    assert!(series.contains("series=\"twice\"} 5\n"), "{series}");
    assert!(series.contains("series=\"same\",m=\"7\"} 5\n"), "{series}");
    assert!(!series.contains("clash") && !series.contains("dashed"), "{series}");
    assert_eq!(series.lines().count(), 5, "{series}");
}

#[test]
fn a_profile_that_is_away_for_a_moment_goes_on_as_it_was() {
    let mut scene = Scene::of(&[("web", recipe(json!([])), &["t"])]);
    scene.put("t", "a", &json!({"n": 5}));
    let before = lines(&scene.series);
    let wanted = Wanted::from([(profile("web"), (None, BTreeSet::from([target("t")])))]);
    scene.follow(wanted.clone());
    assert_eq!(lines(&scene.series), before);
    scene.follow(Wanted::new());
    assert!(lines(&scene.series).is_empty());
    scene.follow(wanted);
    assert!(lines(&scene.series).is_empty(), "nobody knows what it asked for");
}

#[test]
fn the_store_is_not_asked_when_nothing_has_changed() {
    let wanted = |targets: &[&str]| {
        let targets = targets.iter().map(|name| target(name)).collect();
        Wanted::from([(profile("web"), (Some(recipe(json!([]))), targets))])
    };
    let scene = Scene::of(&[("web", recipe(json!([])), &["t"])]);
    assert!(!scene.series.differs(&wanted(&["t"])));
    assert!(scene.series.differs(&wanted(&["t", "u"])));
    assert!(scene.series.differs(&wanted(&[])));
    assert!(scene.series.differs(&Wanted::new()));
    let edited = recipe(json!([{"name": "x", "path": "y"}]));
    let edited = Wanted::from([(profile("web"), (Some(edited), BTreeSet::from([target("t")])))]);
    assert!(scene.series.differs(&edited));
    let mut unknown = wanted(&["t"]);
    unknown.insert(profile("nowhere"), (None, BTreeSet::from([target("u")])));
    assert!(!scene.series.differs(&unknown), "of what is not known nothing can be followed");
}
