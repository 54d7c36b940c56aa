//! What a changed row costs. The numbers are printed, and promise nothing.

use kollect_inventory::Freshness;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    super::Recipe,
    support::{Scene, lines, partition, recipe, row, target},
};

const ROWS: usize = 1_000;
const ROUNDS: usize = 10;

/// A row of some seven hundred bytes, of which two numbers change.
fn attributes(at: usize, round: usize) -> Value {
    json!({
        "containers": ["registry.example.org/team/service", "registry.example.org/team/sidecar"],
        "image": format!("registry.example.org/team/service:1.{round}"),
        "labels": {"app": "service", "team": format!("team-{}", at % 20), "note": "x".repeat(300)},
        "replicas": round,
        "team": format!("team-{}", at % 20),
        "weight": 0.5 * f64::from(u32::try_from(at + round).unwrap()),
    })
}

/// Nanoseconds that a change takes in the store, summed or not.
fn measure(recipe: Option<Recipe>) -> (u128, Vec<String>) {
    let mut scene = match recipe {
        Some(recipe) => Scene::of(&[("web", recipe, &["t"])]),
        None => Scene::of(&[]),
    };
    let key = partition(&target("t"), "shop");
    let partition = scene.store.join(&key);
    let rounds: Vec<Vec<_>> = (0..=ROUNDS)
        .map(|round| {
            let rows = (0..ROWS).map(|at| row(&key, &at.to_string(), &attributes(at, round)));
            rows.collect()
        })
        .collect();
    let mut took = Vec::new();
    for rows in &rounds {
        let list = scene.store.begin_list(partition);
        let began = Instant::now();
        for row in rows {
            scene.store.upsert(partition, Freshness { list, version: 1 }, row);
        }
        took.push(began.elapsed().as_nanos() / ROWS as u128);
    }
    // The first round brings the rows; of the others, the one that nobody disturbed.
    let best = took.into_iter().skip(1).min().unwrap_or_default();
    (best, lines(&scene.series))
}

#[test]
fn a_change_reads_two_rows_and_no_more() {
    let (bare, nothing) = measure(None);
    assert!(nothing.is_empty());
    let every = recipe(json!([]));
    let listed = recipe(json!([{"name": "replicas", "path": "replicas"}]));
    let split = recipe(json!([{"name": "by", "path": "weight", "labels": ["team"]}]));
    for (name, recipe, shown) in [
        ("every number", every, "series=\"replicas\"} 10000"),
        ("one listed series", listed, "series=\"replicas\"} 10000"),
        // Half of 0, 20, … 980 and ten for each of the fifty.
        ("one series by a label", split, "team=\"team-0\"} 12500"),
    ] {
        let (took, lines) = measure(Some(recipe));
        println!("{name}: {took} ns a changed row, of which {bare} ns without metrics");
        assert!(lines.iter().any(|line| line.contains(shown)), "{name}: {lines:?}");
    }
}
