//! The rows that a profile would make.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
use kollect_api::{Profile, Target};
use kollect_collect::{Found, Manifest, Source, read};
use kollect_extract::{Plan, Verdict, Wanted, redact::Findings};
use kollect_validate::{Kind, Object, Surroundings, review};
use serde_json::{Value, json};

use super::complain;
use crate::args::Output;

/// Compiles the profile and prints a row for each object, one a line.
pub(super) fn run(
    profile: &Path,
    files: &[PathBuf],
    output: Output,
    out: &mut impl Write,
) -> anyhow::Result<ExitCode> {
    let profile = profile_in(profile)?;
    let plan = Plan::compile(&profile, wanted(&profile)?, &[]).map_err(|errors| {
        let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
        anyhow::anyhow!("the profile cannot be used\n{}", texts.join("\n"))
    })?;
    let sources: Vec<_> = files.iter().map(Source::from).collect();
    let Found { manifests, failures } = read(&sources);
    let (mut without_row, mut passed_over) = (0, 0);
    let gvk = &profile.spec.target_gvk;
    let group_version = match gvk.group.as_str() {
        "" => gvk.version.clone(),
        group => format!("{group}/{}", gvk.version),
    };
    for manifest in &manifests {
        let value = manifest.value();
        let text =
            |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        if text("/kind") != gvk.kind || text("/apiVersion") != group_version {
            passed_over += 1;
            continue;
        }
        let name = format!("{} {}", text("/kind"), text("/metadata/name"));
        match plan.row(&serde_json::to_vec(&value)?, None) {
            Verdict::Keep { row, redacted } => print(row.as_json(), &redacted, output, out)?,
            Verdict::Skip(_) => writeln!(io::stderr(), "{name}: not wanted")?,
            Verdict::Fail(failure) => {
                without_row += 1;
                writeln!(io::stderr(), "{name}: no row: {failure}")?;
            }
        }
    }
    if passed_over > 0 {
        writeln!(io::stderr(), "passed over, because they are no {gvk}: {passed_over}")?;
    }
    complain(&failures)?;
    out.flush()?;
    Ok(match (failures.len(), without_row) {
        (0, 0) => ExitCode::SUCCESS,
        (0, _) => ExitCode::from(1),
        _ => ExitCode::from(2),
    })
}

fn print(row: &[u8], redacted: &Findings, output: Output, out: &mut impl Write) -> io::Result<()> {
    match output {
        Output::Human => {
            out.write_all(row)?;
            writeln!(out)?;
            for finding in redacted.named() {
                writeln!(out, "  hidden: {} ({})", finding.place, finding.reason)?;
            }
            Ok(())
        }
        Output::Json => {
            let row: Value = serde_json::from_slice(row)?;
            let redacted: Vec<_> = redacted
                .named()
                .iter()
                .map(|finding| json!({"place": finding.place, "reason": finding.reason.as_str()}))
                .collect();
            writeln!(out, "{}", json!({ "row": row, "redacted": redacted }))
        }
    }
}

/// The one profile of a file, if nothing is wrong with it.
fn profile_in(path: &Path) -> anyhow::Result<Profile> {
    let Found { manifests, failures } = read(&[Source::from(&path.to_path_buf())]);
    if let Some(failure) = failures.first() {
        bail!("{}: {}", failure.file, failure.reason);
    }
    let is_profile =
        |value: &Value| value.get("kind").is_some_and(|kind| kind == Kind::Profile.name());
    let mut profiles = manifests.iter().map(Manifest::value).filter(is_profile);
    let value = profiles.next().with_context(|| format!("{} holds no profile", path.display()))?;
    if profiles.next().is_some() {
        bail!("{} holds several profiles; name a file with one", path.display());
    }
    let reviewed = review(Kind::Profile, value, &Surroundings::default());
    if let Some(violation) = reviewed.report.violations.first() {
        bail!("the profile breaks {}: {violation}", violation.rule);
    }
    match reviewed.object {
        Some(Object::Profile(profile)) => Ok(*profile),
        _ => bail!("{} holds no profile", path.display()),
    }
}

/// A target that wants everything, named for the profile.
fn wanted(profile: &Profile) -> anyhow::Result<Wanted> {
    let name = profile.metadata.name.clone().unwrap_or_default();
    let target = json!({
        "apiVersion": "kollect.dev/v1alpha1",
        "kind": "KollectTarget",
        "metadata": {"name": name, "namespace": profile.metadata.namespace},
        "spec": {"profileRef": name},
    });
    let target: Target = serde_json::from_value(target).context("cannot make a target")?;
    Ok(Wanted::from(&target))
}
