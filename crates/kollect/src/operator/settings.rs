//! What the flags come to.

use std::{collections::BTreeSet, time::Duration};

use anyhow::bail;
use kollect_collect::Place;
use kollect_extract::select::Defaults;
use kollect_operator::{Settings, Terms};
use kollect_sinks::LocalPaths;
use kollect_validate::Policy;

use crate::{
    args::{
        go::names,
        operator::{CopyArgs, LeaseArgs, OperatorArgs, ReachArgs},
    },
    validate::backends,
};

/// Longer than any process runs.
const NEVER: Duration = Duration::from_hours(24 * 365 * 10);
/// Where the Lease is, if nothing says so.
const NAMESPACE: &str = "kollect-system";

/// What the operator is told.
pub(super) fn settings(args: &OperatorArgs) -> anyhow::Result<Settings> {
    let ReachArgs {
        watch_namespaces,
        tenant_mode,
        default_included_namespaces,
        default_excluded_namespaces,
        informer_resync_period,
    } = &args.reach;
    let CopyArgs {
        scrub_keys,
        addresses,
        local_sink_root,
        cluster_name,
        max_export_bytes,
        export_warmup_timeout,
    } = &args.copies;
    let watch_namespaces: BTreeSet<_> = names(watch_namespaces).into_iter().collect();
    if *tenant_mode && watch_namespaces.is_empty() {
        bail!(
            "--tenant-mode: without a right to the whole cluster, --watch-namespaces must say where to look"
        );
    }
    let (judged, written) = match local_sink_root {
        Some(root) => (
            kollect_validate::LocalPaths::Below(root.clone()),
            LocalPaths::Below { root: root.clone() },
        ),
        None => (kollect_validate::LocalPaths::Nowhere, LocalPaths::Refused),
    };
    let mut settings = Settings {
        watch_namespaces,
        policy: Policy {
            max_export_bytes: *max_export_bytes,
            addresses: addresses.policy(),
            tenant_mode: *tenant_mode,
            local_paths: judged,
            backends: backends(),
        },
        local_paths: written,
        defaults: Defaults {
            included: names(default_included_namespaces),
            excluded: names(default_excluded_namespaces),
        },
        scrub_keys: unlike(&names(scrub_keys)),
        cluster: cluster_name.clone(),
        warmup: *export_warmup_timeout,
        grace: args.lease.shutdown_grace,
        ..Settings::default()
    };
    let resync = Some(*informer_resync_period).filter(|period| !period.is_zero());
    settings.habits.pace.resync = resync.unwrap_or(NEVER);
    Ok(settings)
}

/// How to compete for the lease, if that is asked for.
pub(super) fn terms(args: &LeaseArgs) -> anyhow::Result<Option<Terms>> {
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

/// Where the Lease is: where somebody said, else in the namespace that a Pod
/// or a kubeconfig names. One that names none is said to be in `default`.
pub(super) fn namespace<'a>(said: Option<&'a str>, place: &Place, own: &'a str) -> &'a str {
    let said = said.map(str::trim).filter(|said| !said.is_empty());
    said.unwrap_or(match place {
        Place::Files(_) if own == "default" => NAMESPACE,
        Place::Files(_) | Place::InCluster => own,
    })
}

/// Of names that differ in their case alone, the first.
fn unlike(names: &[String]) -> Vec<String> {
    let mut unlike: Vec<String> = Vec::new();
    for name in names {
        if unlike.iter().all(|known| !known.eq_ignore_ascii_case(name)) {
            unlike.push(name.clone());
        }
    }
    unlike
}

#[cfg(test)]
mod tests;
