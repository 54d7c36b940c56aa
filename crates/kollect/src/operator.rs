//! `kollect operator`: the manager.
//!
//! Ports are taken first, so that whoever starts it wrongly is told at once.
//! They are served from then on, by a follower too. The work begins with the
//! lease and ends before it is given back.

mod ports;
mod settings;

use std::{env, io, pin::Pin, process::ExitCode, sync::Arc};

use anyhow::{Context, bail};
use kollect_collect::{Place, connect};
use kollect_operator::{
    Build, Contest, Health, LEASE, Metrics, MetricsText, Settings, Standing, Surroundings, Terms,
    Vitals, operate,
};
use kollect_sinks::{Alone, Lease};
use kube::Client;
use tokio::sync::watch;

use self::{
    ports::Ports,
    settings::{namespace, settings, terms},
};
use crate::{
    args::{BUILT, COMMIT, RELEASE, operator::OperatorArgs},
    clock::{ProcessClock, writer},
    logs,
    signals::signalled,
};

const SERVER_ENDED: &str = "a server has ended by a bug in Kollect";

/// What this program says it is.
const BUILD: Build = Build { version: RELEASE, commit: COMMIT };

/// Reconciles until a signal comes.
pub(crate) fn run(args: &OperatorArgs) -> ExitCode {
    logs::start(args.logs.speech(), io::stderr);
    tracing::info!(version = RELEASE, commit = COMMIT, built = BUILT, "starting");
    match work(args, Errand::default(), signalled) {
        Ok(()) => {
            tracing::info!("stopped");
            ExitCode::SUCCESS
        }
        Err(error) => {
            let chain: Vec<_> = error.chain().map(ToString::to_string).collect();
            tracing::error!(error = chain.join(": "), "the operator has failed");
            ExitCode::FAILURE
        }
    }
}

/// What no flag says.
#[derive(Debug, Default)]
pub(crate) struct Errand {
    /// The context of the kubeconfig, instead of the current one.
    pub(crate) context: Option<String>,
    /// The only namespace whose objects of ours count.
    pub(crate) home: Option<String>,
}

/// Reconciles until `stop` says so, which is called in a runtime.
pub(crate) fn work<F: Future<Output = ()> + 'static>(
    args: &OperatorArgs,
    errand: Errand,
    stop: impl FnOnce() -> F,
) -> anyhow::Result<()> {
    if let Some(refusal) = args.not_yet.refusal() {
        bail!(refusal);
    }
    let Errand { context, home } = errand;
    let (settings, terms) = (settings(args)?, terms(&args.lease)?);
    let settings = Settings { home, ..settings };
    remark(args);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start")?;
    let ended = runtime.block_on(async {
        let stop = Box::pin(stop());
        let ports = Ports::open(&args.serve).await?;
        let (variable, own) = (env::var_os("KUBECONFIG"), env::home_dir());
        let place = Place::choose(args.kubeconfig.as_deref(), variable.as_deref(), own.as_deref());
        let client =
            connect(&place, context.as_deref()).await.context("cannot reach the cluster")?;
        let said = args.lease.leader_elect_namespace.as_deref();
        let namespace = namespace(said, &place, client.default_namespace()).to_owned();
        let (clock, vitals) = (Arc::new(ProcessClock::start()), Arc::new(Vitals::default()));
        let process = Process { client, settings, clock, vitals, ports, stop };
        match terms {
            None => Box::pin(process.alone()).await,
            Some(terms) => Box::pin(process.among_others(&namespace, terms)).await,
        }
    });
    // A write to a disk that hangs must not keep a process that has lost its lease.
    runtime.shutdown_background();
    ended
}

/// Says what of the flags somebody should know.
fn remark(args: &OperatorArgs) {
    for remark in args.dropped.remarks() {
        tracing::warn!(flag = remark.flag, reason = remark.reason, "the flag has no effect");
    }
    let ranges = &args.copies.addresses.allow_sink_cidrs;
    if !ranges.is_empty() {
        let ranges: Vec<_> = ranges.iter().map(ToString::to_string).collect();
        tracing::warn!(
            ranges = ranges.join(","),
            "sinks may be in these ranges, whatever they are"
        );
    }
}

/// What it takes to begin.
struct Process {
    client: Client,
    settings: Settings,
    clock: Arc<ProcessClock>,
    vitals: Arc<Vitals>,
    ports: Ports,
    stop: Pin<Box<dyn Future<Output = ()>>>,
}

impl Process {
    /// Works, with nobody else around.
    async fn alone(self) -> anyhow::Result<()> {
        let lease = Arc::new(Alone::default());
        let health = self.health(None);
        let Self { client, settings, clock, vitals, ports, stop } = self;
        let metrics = Metrics::new(BUILD, Arc::clone(&clock) as _, None);
        let served = ports.serve(health, page(&metrics), &client);
        let around = Surroundings { clock, lease, writer: writer(), vitals, metrics };
        tokio::select! {
            ended = operate(client.clone(), settings, around, stop) => Ok(ended?),
            () = served => bail!(SERVER_ENDED),
        }
    }

    /// Works while it holds the lease, and waits for it before.
    async fn among_others(self, namespace: &str, terms: Terms) -> anyhow::Result<()> {
        let host = env::var_os("HOSTNAME").and_then(|name| name.into_string().ok());
        let writer = writer();
        let identity = format!("{}_{writer}", host.as_deref().unwrap_or("kollect"));
        let clock = Arc::clone(&self.clock);
        let contest = Contest::new(self.client.clone(), clock, namespace, &identity, terms);
        let contest = Arc::new(contest);
        let health = self.health(Some(contest.standing()));
        let Self { client, settings, clock, vitals, ports, mut stop } = self;
        let mut held = Lease::held(&*contest);
        let metrics = Metrics::new(BUILD, Arc::clone(&clock) as _, Some(held.clone()));
        let served = ports.serve(health, page(&metrics), &client);
        let lease = Arc::clone(&contest);
        let around = Surroundings { clock, lease, writer, vitals, metrics };
        let work = async {
            // Whoever waits for it may be told to stop meanwhile.
            tokio::select! {
                _ = held.wait_for(|held| *held) => {}
                () = &mut stop => return Ok(()),
            }
            operate(client.clone(), settings, around, stop).await
        };
        tokio::select! {
            ended = work => {
                contest.release().await;
                Ok(ended?)
            }
            () = contest.compete() => bail!("the lease {LEASE} in namespace {namespace} was lost"),
            () = served => bail!(SERVER_ENDED),
        }
    }

    fn health(&self, standing: Option<watch::Receiver<Standing>>) -> Health {
        let (clock, vitals) = (Arc::clone(&self.clock), Arc::clone(&self.vitals));
        Health { clock, vitals, standing }
    }
}

/// What the page of metrics says.
fn page(metrics: &Metrics) -> MetricsText {
    let metrics = metrics.clone();
    Arc::new(move || metrics.text())
}
