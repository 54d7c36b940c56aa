//! The whole operator beside its servers: what it keeps, what it writes when
//! nothing happens, and how long a change takes.

mod scene;
mod latency;

use std::{
    io::{self, Write as _},
    path::Path,
};

use anyhow::Context;

use self::{latency::Latency, scene::Scene};
use crate::{group::Group, measure::print};

/// Runs all of it.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let [program, assets, cache] = arguments else {
        anyhow::bail!("usage: bench operator <program> <directory of the servers> <its cache>");
    };
    kollect_collect::use_ring();
    // Declared first, it is left last.
    let group = Group::enter();
    if let Err(error) = &group {
        writeln!(io::stderr(), "no control group, so Postgres may wait for its turns: {error}")?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let scene = Scene::start(Path::new(program), Path::new(assets), Path::new(cache))?;
    let first = scene.has_all().context("the first export")?;
    print("operator.first_s", first)?;
    Scene::settle();
    print("operator.rss_mib", scene.resident_mib())?;
    let idle = scene.idle()?;
    print("operator.idle_sink_bytes", idle.sink_bytes)?;
    print("operator.idle_status_writes", idle.status_writes)?;
    let Latency { sent, patch_p99, commit_p50, commit_p99 } =
        runtime.block_on(latency::measure(&scene))?;
    print("operator.changes_per_s", sent)?;
    print("operator.patch_p99_ms", patch_p99)?;
    print("operator.commit_p50_ms", commit_p50)?;
    print("operator.commit_p99_ms", commit_p99)?;
    print("operator.rss_after_mib", scene.resident_mib())?;
    Ok(())
}
