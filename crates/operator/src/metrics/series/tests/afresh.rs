//! Whatever came and went, the sums are those of the rows that are there.

use std::collections::{BTreeMap, BTreeSet};

use kollect_inventory::{PartitionKey, TargetKey};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    super::{Series, Wanted},
    support::{Scene, lines, partition, profile, recipe, target},
};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

#[derive(Clone, Debug)]
enum Step {
    Put {
        partition: usize,
        name: usize,
        attributes: Value,
    },
    Remove {
        partition: usize,
        name: usize,
    },
    Relist {
        partition: usize,
        found: u8,
    },
    Withdraw(usize),
    /// Which profile each target uses, if any, and what each profile asks for,
    /// if it is there.
    Plan {
        profiles: [Option<usize>; 2],
        targets: [Option<usize>; 3],
    },
}

fn targets() -> [TargetKey; 3] {
    [target("t"), target("u"), TargetKey { namespace: None, name: "t".to_owned() }]
}

fn partitions() -> Vec<PartitionKey> {
    let of = |one: &TargetKey| ["shop", "mall"].map(|namespace| partition(one, namespace));
    targets().iter().flat_map(of).collect()
}

/// What profiles may ask for.
fn metrics() -> [Value; 4] {
    [
        json!([]),
        json!([{"name": "sum", "path": "n"}]),
        json!([{"name": "by", "path": "n", "labels": ["l"]}, {"name": "sum", "path": "m"}]),
        json!([{"name": "by", "path": "m", "labels": ["l", "n"]}]),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let values = [
        json!(1),
        json!(-7),
        json!(0.25),
        json!(1e10),
        json!("3"),
        json!("2.5"),
        json!("web"),
        json!(true),
        json!(null),
        json!([1]),
        json!({"n": 1}),
        json!("1e2"),
    ];
    prop::sample::select(values.to_vec())
}

fn step() -> impl Strategy<Value = Step> {
    let (at, name) = (|| 0..6_usize, || 0..NAMES.len());
    let attributes =
        prop::collection::btree_map(prop::sample::select(vec!["n", "m", "l"]), value(), 0..4);
    let attributes = attributes.prop_map(|map| {
        map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Value>()
    });
    let plan = (
        prop::array::uniform2(prop::option::weighted(0.8, 0..4_usize)),
        prop::array::uniform3(prop::option::weighted(0.9, 0..2_usize)),
    );
    prop_oneof![
        8 => (at(), name(), attributes)
            .prop_map(|(partition, name, attributes)| Step::Put { partition, name, attributes }),
        3 => (at(), name()).prop_map(|(partition, name)| Step::Remove { partition, name }),
        1 => (at(), any::<u8>()).prop_map(|(partition, found)| Step::Relist { partition, found }),
        1 => at().prop_map(Step::Withdraw),
        2 => plan.prop_map(|(profiles, targets)| Step::Plan { profiles, targets }),
    ]
}

fn run(scene: &mut Scene, asked: &mut BTreeMap<usize, usize>, step: Step) {
    let keys = partitions();
    match step {
        Step::Put { partition, name, attributes } => {
            scene.put_in(&keys[partition], NAMES[name], &attributes);
        }
        Step::Remove { partition, name } => scene.remove_from(&keys[partition], NAMES[name]),
        Step::Relist { partition, found } => {
            let is_found = |(at, _): &(usize, &&str)| found & (1 << at) != 0;
            let found: Vec<_> =
                NAMES.iter().enumerate().filter(is_found).map(|(_, name)| *name).collect();
            scene.relist(&keys[partition], &found);
        }
        Step::Withdraw(at) => scene.withdraw(&keys[at]),
        Step::Plan { profiles, targets: of } => {
            let mut wanted = Wanted::new();
            for (target, at) in targets().into_iter().zip(of) {
                let Some(at) = at else { continue };
                let recipe = profiles[at].map(|which| recipe(metrics()[which].clone()));
                let (_, targets) =
                    wanted.entry(profile(&at.to_string())).or_insert((recipe, BTreeSet::new()));
                targets.insert(target);
            }
            // What a profile asked for last counts while it is away and used.
            for (at, which) in profiles.into_iter().enumerate() {
                let is_used = wanted.contains_key(&profile(&at.to_string()));
                match which.or_else(|| asked.get(&at).copied()).filter(|_| is_used) {
                    Some(which) => drop(asked.insert(at, which)),
                    None => drop(asked.remove(&at)),
                }
            }
            scene.follow(wanted);
        }
    }
}

/// The same profiles and targets, followed for the first time.
fn afresh(scene: &Scene, asked: &BTreeMap<usize, usize>) -> Vec<String> {
    let mut wanted = scene.wanted.clone();
    for (at, which) in asked {
        if let Some((recipe_of, _)) = wanted.get_mut(&profile(&at.to_string())) {
            *recipe_of = Some(recipe(metrics()[*which].clone()));
        }
    }
    let series = Series::default();
    series.follow(wanted, &scene.store);
    lines(&series)
}

/// What a person with a pencil would sum up: series and label values, to sums.
fn by_hand(scene: &Scene, asked: &BTreeMap<usize, usize>) -> BTreeMap<(usize, String), f64> {
    let mut sums = BTreeMap::new();
    for (at, which) in asked {
        let Some((_, targets)) = scene.wanted.get(&profile(&at.to_string())) else { continue };
        let rows = scene.rows.iter().filter(|(key, _)| targets.contains(&key.target));
        let rows: Vec<_> = rows.flat_map(|(_, rows)| rows.values()).collect();
        *sums.entry((*at, "object_count".to_owned())).or_default() +=
            f64::from(u32::try_from(rows.len()).unwrap());
        let listed = metrics()[*which].as_array().cloned().unwrap();
        for metric in &listed {
            if metric["labels"].is_null() {
                sums.entry((*at, metric["name"].as_str().unwrap().to_owned())).or_default();
            }
        }
        for row in rows {
            for metric in &listed {
                let Some(number) = as_number(&row[metric["path"].as_str().unwrap()]) else {
                    continue;
                };
                let labels = metric["labels"].as_array().into_iter().flatten();
                let labels = labels.map(|label| as_label(&row[label.as_str().unwrap()]));
                let labels: Vec<_> = labels.collect();
                let name = metric["name"].as_str().unwrap();
                let name = [vec![name.to_owned()], labels].concat().join("|");
                *sums.entry((*at, name)).or_default() += number;
            }
            for (name, value) in row.as_object().unwrap().iter().filter(|_| listed.is_empty()) {
                if let Some(number) = as_number(value) {
                    *sums.entry((*at, name.clone())).or_default() += number;
                }
            }
        }
    }
    sums
}

fn as_number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn as_label(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => {
            let mut bytes = Vec::new();
            kollect_inventory::json::write_value(other, &mut bytes);
            String::from_utf8(bytes).unwrap()
        }
    }
}

/// The same from what is shown.
fn as_shown(lines: &[String]) -> BTreeMap<(usize, String), f64> {
    let mut sums = BTreeMap::new();
    for line in lines {
        let (labels, value) = line.rsplit_once("} ").unwrap();
        let (name, labels) = labels.split_once('{').unwrap();
        if !["kollect_custom_resource_series", "kollect_custom_resource_labeled_series"]
            .contains(&name)
        {
            continue;
        }
        let labels = labels.replace("\\\"", "'");
        let values: Vec<_> =
            labels.split('"').skip(1).step_by(2).map(|value| value.replace('\'', "\"")).collect();
        let key = (values[1].parse().unwrap(), values[3..].join("|"));
        assert!(sums.insert(key, value.parse().unwrap()).is_none(), "twice: {line}");
    }
    sums
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sums_are_those_of_the_rows_that_are_there(
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let mut scene = Scene::of(&[]);
        let mut asked = BTreeMap::new();
        let all = Step::Plan { profiles: [Some(0), Some(2)], targets: [Some(0), Some(1), Some(1)] };
        run(&mut scene, &mut asked, all);
        for step in steps {
            run(&mut scene, &mut asked, step);
            let shown = lines(&scene.series);
            prop_assert_eq!(&shown, &afresh(&scene, &asked));
            prop_assert_eq!(as_shown(&shown), by_hand(&scene, &asked));
        }
    }
}
