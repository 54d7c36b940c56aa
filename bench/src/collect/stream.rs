//! How many changes a second become rows.
//!
//! A real server on the same machine makes some hundreds of changes a second,
//! so the sandbox makes them here, in a process of its own.

use std::{
    env, fs,
    io::{self, BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, ensure};
use kollect_sandbox::Sandbox;
use serde_json::json;
use tokio::time::sleep;

use super::{
    reading::Clocks,
    sync::{Work, assignment},
};
use crate::measure::print;

const OBJECTS: usize = 20_000;
/// A pod without its managed fields.
const BYTES: usize = 2_100;
/// Before it is measured, a rate has had so long to show.
const LEAD: Duration = Duration::from_secs(2);
const MEASURED: Duration = Duration::from_secs(4);
/// A rate is sustained if so much of it became rows. What counts are the rows;
/// the rest is for a machine that others use, too.
const ENOUGH: f64 = 0.9;
const FIRST: f64 = 5_000.0;
const STEP: f64 = 1.25;

/// Serves changing pods at the rates that are written to it, one a line.
pub(super) fn source() -> anyhow::Result<()> {
    let sandbox = Sandbox::start()?;
    sandbox.synthetic("", "pods", OBJECTS, BYTES)?;
    // Whoever is this far behind has not kept up anyway.
    sandbox.set_history(OBJECTS);
    writeln!(io::stdout(), "{}", sandbox.kubeconfig())?;
    for line in io::stdin().lines() {
        sandbox.set_rate("", "pods", line?.parse()?);
    }
    Ok(())
}

/// The process that serves them; it ends when nobody writes to it any longer.
struct Source {
    child: Child,
    rates: Option<ChildStdin>,
}

impl Source {
    fn start() -> anyhow::Result<(Self, String)> {
        let own = env::current_exe().context("cannot find the benchmark itself")?;
        let mut child = Command::new(own)
            .args(["collect", "source"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (rates, said) = (child.stdin.take(), child.stdout.take());
        let source = Self { child, rates };
        let mut kubeconfig = String::new();
        BufReader::new(said.context("the source has no output")?).read_line(&mut kubeconfig)?;
        Ok((source, kubeconfig))
    }

    fn set_rate(&mut self, rate: f64) -> anyhow::Result<()> {
        Ok(writeln!(self.rates.as_mut().context("the source has no input")?, "{rate}")?)
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.rates.take();
        self.child.wait().ok();
    }
}

/// Raises the rate until it is not kept, twice.
pub(super) async fn run() -> anyhow::Result<()> {
    let (mut source, kubeconfig) = Source::start()?;
    let place = tempfile::tempdir()?;
    let file = place.path().join("kubeconfig");
    fs::write(&file, kubeconfig)?;
    let work = Work::start(&file).await?;
    let attributes = [
        ("app", "$.metadata.labels['app.kubernetes.io/name']"),
        ("tier", "$.metadata.labels.tier"),
        ("hash", "$.metadata.labels.pod-template-hash"),
        ("created", "$.metadata.creationTimestamp"),
        ("node", "$.spec.nodeName"),
        ("image", "$.spec.containers[0].image"),
        ("address", "$.status.podIP"),
        ("phase", "$.status.phase"),
        ("restarts", "$.status.restarts"),
        ("generation", "$.status.observedGeneration"),
    ];
    let attributes = attributes.map(|(name, path)| json!({"name": name, "path": path}));
    work.covers(assignment("Pod", attributes.to_vec(), &[])?).await?;
    let (mut rate, mut best, mut is_second) = (FIRST, None, false);
    loop {
        source.set_rate(rate)?;
        sleep(LEAD).await;
        let (before, clocks) = (work.store.sequence(), Clocks::start());
        sleep(MEASURED).await;
        let changes = f64::from(i32::try_from(work.store.sequence() - before)?);
        let (seconds, cpu) = clocks.seconds();
        if changes / seconds >= rate * ENOUGH {
            best = Some((changes / seconds, cpu * 1e6 / changes));
            (rate, is_second) = (rate * STEP, false);
        } else if std::mem::replace(&mut is_second, true) {
            break;
        } else {
            // Somebody else may have had the machine: once more, from rest.
            source.set_rate(0.0)?;
            sleep(LEAD).await;
        }
    }
    ensure!(best.is_some(), "not even {FIRST} changes a second are kept up with");
    let (per_second, micros) = best.unwrap_or_default();
    print("collect.events_per_s", per_second)?;
    print("collect.event_cpu_us", micros)?;
    Ok(())
}
