//! `kollect sink test`: what a sink says when it is asked.

use std::{io::Write, path::PathBuf, process::ExitCode, time::Duration};

use anyhow::{Context, bail};
use kollect_collect::{Source, read};
use kollect_sinks::{
    LocalPaths, Opener, Scrub, SinkKey, SinkSpec,
    guard::{Guard, SystemResolver},
};
use kollect_validate::{Object, Policy};

use crate::{
    args::AddressArgs,
    secrets::Secrets,
    validate::{backends, judge, print},
};

/// No sink is waited for longer.
const PATIENCE: Duration = Duration::from_secs(15);

/// Probes every sink of some manifests; the exit code says how it went.
pub(crate) fn test(
    files: &[PathBuf],
    addresses: &AddressArgs,
    out: &mut impl Write,
) -> anyhow::Result<ExitCode> {
    let sources: Vec<_> = files.iter().map(Source::from).collect();
    let policy = Policy {
        addresses: addresses.policy(),
        backends: backends(),
        local_paths: kollect_validate::LocalPaths::Anywhere,
        ..Policy::default()
    };
    let found = read(&sources);
    let secrets = Secrets::among(&found.manifests)?;
    let verdict = judge::judge(found, policy, false);
    if !verdict.is_good() {
        print::human(&verdict, out)?;
        return Ok(ExitCode::from(2));
    }
    let sinks: Vec<_> =
        verdict.objects.iter().filter_map(|object| Some((object, spec(object)?))).collect();
    if sinks.is_empty() {
        bail!("there is no sink among what was given");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start")?;
    let guard = Guard::new(addresses.policy(), SystemResolver);
    let opener = Opener::new(LocalPaths::Anywhere).with_guard(guard);
    let mut silent = 0_usize;
    for (object, spec) in &sinks {
        let answer = runtime.block_on(probe(&opener, &secrets, &key(object, spec), spec));
        let (kind, namespace, name) = (object.kind().name(), object.namespace(), object.name());
        let (word, text) = match &answer {
            Ok(text) => ("ok", text),
            Err(text) => ("failed", text),
        };
        silent += usize::from(answer.is_err());
        writeln!(out, "{kind} {namespace}/{name} ({}): {word}: {text}", spec.backend())?;
    }
    Ok(if silent == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// What an object says about a sink, if it is one.
pub(crate) fn spec(object: &Object) -> Option<SinkSpec> {
    match object {
        Object::SnapshotSink(sink) => Some(SinkSpec::Snapshot(Box::new(sink.spec.clone()))),
        Object::DatabaseSink(sink) => Some(SinkSpec::Database(Box::new(sink.spec.clone()))),
        Object::EventSink(sink) => Some(SinkSpec::Event(Box::new(sink.spec.clone()))),
        _ => None,
    }
}

fn key(object: &Object, spec: &SinkSpec) -> SinkKey {
    let (namespace, name) = (object.namespace().to_owned(), object.name().to_owned());
    SinkKey { family: spec.family(), namespace, name }
}

/// What the sink says; what is in the way, if it says nothing.
async fn probe(
    opener: &Opener,
    secrets: &Secrets,
    sink: &SinkKey,
    spec: &SinkSpec,
) -> Result<String, String> {
    let credentials = secrets.credentials(&sink.namespace, spec);
    let credentials = credentials.map_err(|error| format!("{error:#}"))?;
    let scrub = Scrub::new(&credentials);
    let sink = opener.open(sink, spec, &credentials).map_err(|error| scrub.error(&error))?;
    match tokio::time::timeout(PATIENCE, sink.probe()).await {
        Ok(answer) => answer.map_err(|error| scrub.error(&error)),
        Err(_) => Err(format!("it did not answer within {} s", PATIENCE.as_secs())),
    }
}
