//! What making a row costs, beside skipping the same bytes.

use std::hint::black_box;

use allocation_counter::measure as allocations;
use kollect_api::{Profile, Target};
use kollect_extract::{Plan, Verdict, Wanted, select::Namespace};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::{
    measure::{float, print, timed},
    objects::{SAMPLES, Sample},
};

/// How often something is done between two looks at the clock.
const ROUNDS: usize = 160;

/// Many short runs, of which some are undisturbed on a machine that is busy.
const RUNS: usize = 400;

/// How much larger the object is that shows how the work grows.
const LARGER: usize = 8;

/// Every figure of both kinds.
pub(crate) fn run() -> anyhow::Result<()> {
    SAMPLES.iter().try_for_each(kind)
}

fn kind(sample: &Sample) -> anyhow::Result<()> {
    let Sample { kind: name, pods, .. } = sample;
    let bytes = sample.bytes();
    let row = json!([
        {"name": "image", "path": format!("{pods}.containers[0].image")},
        {"name": "images", "path": format!("cel:{}.containers.map(c, c.image)", pods.replace('$', "object"))},
        {"name": "app", "path": "$.metadata.labels.app"},
    ]);
    let mut ten = row.as_array().cloned().unwrap_or_default();
    for path in [
        "$.metadata.creationTimestamp",
        "$.metadata.annotations.team",
        "$.spec.replicas",
        "$.status.phase",
        "$.status.conditions[?(@.type==\"Ready\")].status",
        "$.metadata.labels",
        "$.status.readyReplicas",
    ] {
        ten.push(json!({"name": path.replace(['$', '.'], ""), "path": path, "optional": true}));
    }
    let say = |figure: &str, value: f64| print(&format!("extract.{name}.{figure}"), value);
    say("bytes", float(bytes.len()))?;
    let skip = || {
        black_box(serde_json::from_slice::<IgnoredAny>(black_box(&bytes)).is_ok());
    };
    for (case, spec) in [
        ("row", json!({"attributes": row})),
        ("profile10", json!({"attributes": ten})),
        ("resource", json!({"export": {"mode": "Resource", "include": "All"}})),
    ] {
        let plan = plan(name, spec)?;
        let (of_skip, of_row) = race((skip, ROUNDS), (making(&plan, &bytes)?, ROUNDS));
        let heap = allocations(making(&plan, &bytes)?);
        if case == "row" {
            say("skip.ns", of_skip)?;
        }
        say(&format!("{case}.ns"), of_row)?;
        say(&format!("{case}.allocs"), float(usize::try_from(heap.count_total)?))?;
        say(&format!("{case}_to_skip"), of_row / of_skip)?;
        if case == "row" {
            say("growth", growth(&plan, sample)?)?;
            say("projection_heap_bytes", float(usize::try_from(heap.bytes_max)?))?;
        }
    }
    Ok(())
}

/// The time for a byte of a large object over that of a small one; 1 if the
/// work is linear.
fn growth(plan: &Plan, sample: &Sample) -> anyhow::Result<f64> {
    let [small, large] = [sample.grown(1)?, sample.grown(LARGER)?];
    let (of_small, of_large) =
        race((making(plan, &small)?, ROUNDS), (making(plan, &large)?, ROUNDS / LARGER));
    Ok(of_large / float(large.len()) / (of_small / float(small.len())))
}

/// What makes a row, if one is made.
fn making<'p>(plan: &'p Plan, bytes: &'p [u8]) -> anyhow::Result<impl FnMut() + 'p> {
    let namespace = Namespace::default();
    let verdict = plan.row(bytes, Some(&namespace));
    anyhow::ensure!(matches!(verdict, Verdict::Keep { .. }), "{verdict:?}");
    Ok(move || drop(black_box(plan.row(black_box(bytes), Some(&namespace)))))
}

/// How long two things take in the best of their runs, in nanoseconds. They
/// take turns, so that both see the same machine.
fn race(one: (impl FnMut(), usize), other: (impl FnMut(), usize)) -> (f64, f64) {
    fn run((work, rounds): &mut (impl FnMut(), usize)) -> f64 {
        let (time, ()) = timed(|| (0..*rounds).for_each(|_| work()));
        time.as_secs_f64() * 1e9 / float(*rounds)
    }
    let (mut one, mut other) = (one, other);
    let mut best = (f64::MAX, f64::MAX);
    for _ in 0..RUNS {
        best = (best.0.min(run(&mut one)), best.1.min(run(&mut other)));
    }
    best
}

fn plan(name: &str, spec: Value) -> anyhow::Result<Plan> {
    let kind = if name == "pod" {
        json!({"version": "v1", "kind": "Pod"})
    } else {
        json!({"group": "apps", "version": "v1", "kind": "Deployment"})
    };
    let mut profile = json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectProfile", "metadata": {}, "spec": spec,
    });
    profile["spec"]["targetGVK"] = kind;
    let target = json!({
        "apiVersion": "kollect.dev/v1alpha1", "kind": "KollectTarget",
        "metadata": {"name": "bench", "namespace": "shop"}, "spec": {"profileRef": "p"},
    });
    let target: Target = serde_json::from_value(target)?;
    let profile: Profile = serde_json::from_value(profile)?;
    Plan::compile(&profile, Wanted::from(&target), &[])
        .map_err(|errors| anyhow::anyhow!("the profile makes no plan: {errors:?}"))
}
