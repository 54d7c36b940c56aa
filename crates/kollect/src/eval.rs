//! `kollect eval`: what a path leads to, before it is in a profile.

mod rows;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::bail;
use kollect_collect::{Failure, Found, Manifest, Source};
use kollect_expr::{Budget, Json, Program, Projection, cel, json_path, read};
use serde::Serialize;
use serde_json::Value;

use crate::args::{EvalArgs, Output};

/// What the path gave on one object.
#[derive(Debug, Serialize)]
struct Outcome {
    object: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What it cost, in steps of which an evaluation has so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<u64>,
}

/// Compiles, evaluates on every object, and prints.
pub(crate) fn run(args: &EvalArgs, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let EvalArgs { expression, profile, file, output } = args;
    if let Some(profile) = profile {
        return rows::run(profile, file, *output, out);
    }
    let program = compile(expression.as_deref().unwrap_or_default())?;
    let mut projection = Projection::default();
    projection.add(&program);
    let sources: Vec<_> = file.iter().map(Source::from).collect();
    let Found { manifests, failures } = kollect_collect::read(&sources);
    let outcomes: Vec<_> =
        manifests.iter().map(|one| evaluate(&program, &projection, one)).collect();
    match output {
        Output::Human => human(&projection, &outcomes, out)?,
        Output::Json => json(&projection, &outcomes, out)?,
    }
    complain(&failures)?;
    out.flush()?;
    Ok(match () {
        () if !failures.is_empty() => ExitCode::from(2),
        () if outcomes.iter().any(|outcome| outcome.error.is_some()) => ExitCode::from(1),
        () => ExitCode::SUCCESS,
    })
}

/// Says on standard error what could not be read.
fn complain(failures: &[Failure]) -> io::Result<()> {
    for Failure { file, at, reason } in failures {
        let place = at.map(|at| format!(":{}:{}", at.line, at.column)).unwrap_or_default();
        writeln!(io::stderr(), "kollect: {file}{place}: {reason}")?;
    }
    Ok(())
}

fn compile(expression: &str) -> anyhow::Result<Program> {
    let text = expression.trim();
    if text.starts_with("helm:") {
        bail!("JSONPath and CEL are evaluated here; for helm: use a profile");
    }
    let (compiled, source) = match text.strip_prefix("cel:") {
        Some(expression) => (cel::compile(expression), expression),
        None => (json_path::compile(text), text),
    };
    match compiled {
        Ok(program) => Ok(program),
        Err(error) => bail!("the path does not compile\n{}", error.point_at(source)),
    }
}

/// Reads from the object only what the path can touch, as collection does.
fn evaluate(program: &Program, projection: &Projection, manifest: &Manifest) -> Outcome {
    let value = manifest.value();
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let name = match (text("/metadata/namespace"), text("/metadata/name")) {
        ("", name) => name.to_owned(),
        (namespace, name) => format!("{namespace}/{name}"),
    };
    let object = format!("{} {name}", text("/kind")).trim().to_owned();
    let mut budget = Budget::DEFAULT;
    let found = serde_json::to_vec(&value)
        .map_err(|error| error.to_string())
        .and_then(|bytes| on(program, projection, &bytes, &mut budget));
    let cost = program.is_cel().then(|| Budget::DEFAULT.steps() - budget.steps());
    match found {
        Ok((value, kind)) => {
            Outcome { object, value: Some(value), kind: Some(kind), error: None, cost }
        }
        Err(error) => Outcome { object, value: None, kind: None, error: Some(error), cost },
    }
}

fn on(
    program: &Program,
    projection: &Projection,
    bytes: &[u8],
    budget: &mut Budget,
) -> Result<(Value, &'static str), String> {
    let json: Json<'_> = read(bytes, projection).map_err(|error| error.to_string())?;
    let value = program.value(&json, budget).map_err(|error| {
        let before = program.source().get(..error.at).unwrap_or_default().chars().count();
        format!("{error}\n{}\n{}^", program.source(), " ".repeat(before))
    })?;
    Ok((value.to_value(), value.kind()))
}

fn human(projection: &Projection, outcomes: &[Outcome], out: &mut impl Write) -> io::Result<()> {
    for Outcome { object, value, kind, error, cost } in outcomes {
        let cost = cost.map(|cost| format!(", {cost} steps")).unwrap_or_default();
        match (value, kind, error) {
            (Some(value), Some(kind), _) => writeln!(out, "{object}: {value} ({kind}{cost})")?,
            (_, _, error) => {
                let error = error.as_deref().unwrap_or_default().replace('\n', "\n  ");
                writeln!(out, "{object}: error: {error}")?;
            }
        }
    }
    writeln!(out, "reads {}", projection.paths().join(", "))
}

fn json(projection: &Projection, outcomes: &[Outcome], out: &mut impl Write) -> io::Result<()> {
    let document = serde_json::json!({ "reads": projection.paths(), "results": outcomes });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}
