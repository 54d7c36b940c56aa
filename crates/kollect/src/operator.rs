//! `kollect operator`: the manager.

use std::{
    env,
    io::{self, Write as _},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context, bail};
use kollect_collect::{Place, connect};
use kollect_extract::select::Defaults;
use kollect_operator::{
    Build, Contest, LEASE, Log, Metrics, Settings, Surroundings, Terms, operate,
};
use kollect_sinks::{Alone, Lease, LocalPaths};
use kollect_validate::Policy;

use crate::{
    args::OperatorArgs,
    clock::{ProcessClock, writer},
    signals::signalled,
    validate::backends,
};

/// What somebody may expect and would wait for in vain.
const NOT_YET: &str = "targets and inventories are reconciled; sinks are not probed, \
                       KollectConnectionTests are not run, and profile metrics, the webhook \
                       and the HTTP endpoint are not served by this build";

/// What this program says it is.
const BUILD: Build = Build { version: env!("CARGO_PKG_VERSION"), commit: env!("KOLLECT_COMMIT") };

/// Reconciles until a signal comes.
pub(crate) fn run(args: &OperatorArgs) -> anyhow::Result<ExitCode> {
    let terms = terms(args)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start")?;
    let (variable, home) = (env::var_os("KUBECONFIG"), env::home_dir());
    let place = Place::choose(args.kubeconfig.as_deref(), variable.as_deref(), home.as_deref());
    runtime.block_on(async {
        let client = connect(&place, None).await.context("cannot reach the cluster")?;
        let (clock, writer) = (Arc::new(ProcessClock::start()), writer());
        let log: Log = Arc::new(|line: &str| {
            // Nothing is left to do when even this cannot be written.
            drop(writeln!(io::stderr(), "kollect: {line}"));
        });
        log(NOT_YET);
        let Some(terms) = terms else {
            let lease = Arc::new(Alone::default());
            let metrics = Metrics::new(BUILD, Arc::clone(&clock) as _, None);
            let around = Surroundings { clock, lease, writer, log, metrics };
            operate(client, settings(args), around, signalled()).await?;
            return Ok(ExitCode::SUCCESS);
        };
        let host = env::var_os("HOSTNAME").and_then(|name| name.into_string().ok());
        let identity = format!("{}_{writer}", host.as_deref().unwrap_or("kollect"));
        let namespace = &args.leader_elect_namespace;
        let (own, time) = (client.clone(), Arc::clone(&clock));
        let contest = Arc::new(Contest::new(own, time, namespace, &identity, terms));
        let lease = Arc::clone(&contest);
        let mut held = Lease::held(&*contest);
        let metrics = Metrics::new(BUILD, Arc::clone(&clock) as _, Some(held.clone()));
        let around = Surroundings { clock, lease, writer, log, metrics };
        let work = async {
            // Whoever waits for it may be told to stop meanwhile.
            tokio::select! {
                _ = held.wait_for(|held| *held) => {}
                () = signalled() => return Ok(()),
            }
            operate(client, settings(args), around, signalled()).await
        };
        tokio::select! {
            ended = work => {
                contest.release().await;
                ended?;
                Ok(ExitCode::SUCCESS)
            }
            () = contest.compete() => bail!("the lease {LEASE} in namespace {namespace} was lost"),
        }
    })
}

/// How to compete for the lease, if that is asked for.
fn terms(args: &OperatorArgs) -> anyhow::Result<Option<Terms>> {
    let terms = Terms {
        lease: args.leader_elect_lease_duration,
        renew: args.leader_elect_renew_deadline,
        retry: args.leader_elect_retry_period,
    };
    if args.leader_elect && !terms.are_sound() {
        bail!(
            "--leader-elect: the retry period must be shorter than the renew deadline, and that shorter than the lease"
        );
    }
    Ok(args.leader_elect.then_some(terms))
}

/// What the flags come to.
fn settings(args: &OperatorArgs) -> Settings {
    let OperatorArgs {
        kubeconfig: _,
        leader_elect: _,
        leader_elect_namespace: _,
        leader_elect_lease_duration: _,
        leader_elect_renew_deadline: _,
        leader_elect_retry_period: _,
        watch_namespaces,
        tenant_mode,
        default_included_namespaces,
        default_excluded_namespaces,
        scrub_keys,
        addresses,
        local_sink_root,
        cluster_name,
        max_export_bytes,
        export_warmup_timeout,
    } = args;
    let (judged, written) = match local_sink_root {
        Some(root) => (
            kollect_validate::LocalPaths::Below(root.clone()),
            LocalPaths::Below { root: root.clone() },
        ),
        None => (kollect_validate::LocalPaths::Nowhere, LocalPaths::Refused),
    };
    Settings {
        watch_namespaces: watch_namespaces.iter().cloned().collect(),
        policy: Policy {
            max_export_bytes: *max_export_bytes,
            addresses: addresses.policy(),
            tenant_mode: *tenant_mode,
            local_paths: judged,
            backends: backends(),
        },
        local_paths: written,
        defaults: Defaults {
            included: default_included_namespaces.clone(),
            excluded: default_excluded_namespaces.clone(),
        },
        scrub_keys: scrub_keys.clone(),
        cluster: cluster_name.clone(),
        warmup: *export_warmup_timeout,
        ..Settings::default()
    }
}
