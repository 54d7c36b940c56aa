//! What expressions cost: compiled, evaluated, and stopped.

use std::hint::black_box;

use anyhow::Context;
use kollect_expr::{Budget, Json, Program, Projection, cel, read};
use serde_json::{Value, json};

use crate::{
    measure::{print, timed},
    objects::SAMPLES,
};

/// How often something is done between two looks at the clock.
const ROUNDS: u32 = 2_000;

/// Many short runs, of which some are undisturbed on a machine that is busy.
const RUNS: usize = 200;

const EXPRESSIONS: [&str; 3] = [
    "object.spec.template.spec.containers.map(c, c.image)",
    "object.metadata.labels['app']",
    "has(object.status.readyReplicas) ? object.status.readyReplicas : 0",
];

const HOSTILE: &str = include_str!("../../fixtures/cel/hostile.json");

/// Every figure.
pub(crate) fn run() -> anyhow::Result<()> {
    let bytes = SAMPLES.first().context("no Deployment")?.bytes();
    let object = read(&bytes, &Projection::everything())?;
    for (at, source) in EXPRESSIONS.iter().enumerate() {
        let program = compiled(source)?;
        program.value(&object, &mut Budget::DEFAULT.clone()).context(*source)?;
        let nanoseconds = best(|| {
            drop(black_box(program.value(black_box(&object), &mut Budget::DEFAULT.clone())));
        });
        print(&format!("expr.evals_per_s.{}", at + 1), 1e9 / nanoseconds)?;
    }
    let nanoseconds = best(|| drop(black_box(cel::compile(black_box(EXPRESSIONS[0])))));
    print("expr.compile_us", nanoseconds / 1e3)?;
    hostile()
}

fn compiled(source: &str) -> anyhow::Result<Program> {
    cel::compile(source).map_err(|error| anyhow::anyhow!("{}", error.point_at(source)))
}

/// Nanoseconds for once, in the best of many runs.
fn best(mut work: impl FnMut()) -> f64 {
    let run = |_| {
        let (time, ()) = timed(|| (0..ROUNDS).for_each(|_| work()));
        time.as_secs_f64() * 1e9 / f64::from(ROUNDS)
    };
    (0..RUNS).map(run).fold(f64::MAX, f64::min)
}

/// How long the slowest of the expressions runs that must be stopped, with
/// compiling it, on an object as large as they come.
fn hostile() -> anyhow::Result<()> {
    let list: Vec<_> = (0..20_000).collect();
    let words: Vec<_> = (0..2_000).map(|at| format!("word-{at}")).collect();
    let object = json!({"list": list, "words": words, "text": "a".repeat(400_000)});
    let bytes = serde_json::to_vec(&object)?;
    let object = read(&bytes, &Projection::everything())?;
    let mut slowest = 0.0_f64;
    for case in serde_json::from_str::<Vec<Value>>(HOSTILE)? {
        let text = |name: &str| case[name].as_str().unwrap_or_default();
        let times = usize::try_from(case["times"].as_u64().unwrap_or_default())?;
        let source =
            format!("{}{}{}", text("head").repeat(times), text("body"), text("tail").repeat(times));
        let time = (0..40).map(|_| timed(|| stopped(&source, &object)).0).min();
        let milliseconds = time.unwrap_or_default().as_secs_f64() * 1e3;
        slowest = slowest.max(milliseconds);
    }
    Ok(print("expr.hostile_ms", slowest)?)
}

fn stopped(source: &str, object: &Json<'_>) -> bool {
    match cel::compile(source) {
        Ok(program) => program.value(object, &mut Budget::DEFAULT.clone()).is_err(),
        Err(_) => true,
    }
}
