//! `kollect validate`: what is wrong with manifests, before anything runs.

pub(crate) mod judge;
pub(crate) mod print;

use std::{collections::BTreeSet, io::Write, process::ExitCode};

use kollect_api::AddressPolicy;
use kollect_collect::{Source, read};
use kollect_sinks::BACKENDS;
use kollect_validate::{LocalPaths, Policy};

use crate::args::{Output, ValidateArgs};

/// Reads, judges and prints; the exit code says how it went.
pub(crate) fn run(args: &ValidateArgs, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let ValidateArgs {
        paths,
        strict,
        output,
        allow_private_sinks,
        allow_sink_cidrs,
        max_export_bytes,
        tenant_mode,
    } = args;
    let sources: Vec<_> = paths.iter().map(Source::from).collect();
    let policy = Policy {
        max_export_bytes: *max_export_bytes,
        addresses: AddressPolicy {
            private: *allow_private_sinks,
            allowed: allow_sink_cidrs.clone(),
        },
        tenant_mode: *tenant_mode,
        local_paths: LocalPaths::Anywhere,
        backends: backends(),
    };
    let verdict = judge::judge(read(&sources), policy, *strict);
    match output {
        Output::Human => print::human(&verdict, out)?,
        Output::Json => print::json(&verdict, out)?,
    }
    out.flush()?;
    Ok(match &verdict {
        verdict if !verdict.failures.is_empty() => ExitCode::from(2),
        verdict if verdict.errors().next().is_some() => ExitCode::from(1),
        _ => ExitCode::SUCCESS,
    })
}

/// The types of sink that this build can write to.
pub(crate) fn backends() -> BTreeSet<&'static str> {
    BACKENDS.iter().copied().collect()
}
