//! The flags of `kollect operator`.
//!
//! Names and defaults are upstream's wherever they still mean something, so
//! that its manifests start this one: booleans are spelled as Go spells them,
//! a flag that is given twice counts as given last, and what has no meaning
//! here any longer is taken with a warning.

pub(crate) mod dropped;
pub(crate) mod file;
pub(crate) mod logs;

use std::{path::PathBuf, time::Duration};

use clap::{ArgAction::Set, Args as Arguments};
use kollect_operator::Address;

use self::{dropped::DroppedArgs, logs::LogArgs};
use super::{
    AddressArgs,
    go::{time, truth},
};

#[derive(Debug, Arguments)]
pub(crate) struct OperatorArgs {
    /// YAML file with settings under the names of these flags; the command
    /// line goes before it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// The kubeconfig, instead of $KUBECONFIG and what a Pod is given
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,

    #[command(flatten, next_help_heading = "What is looked at")]
    pub(crate) reach: ReachArgs,

    #[command(flatten, next_help_heading = "What is copied")]
    pub(crate) copies: CopyArgs,

    #[command(flatten, next_help_heading = "Replicas and shutdown")]
    pub(crate) lease: LeaseArgs,

    #[command(flatten, next_help_heading = "Health and metrics")]
    pub(crate) serve: ServeArgs,

    #[command(flatten, next_help_heading = "Logs")]
    pub(crate) logs: LogArgs,

    #[command(flatten, next_help_heading = "Not served by this build")]
    pub(crate) not_yet: NotYetArgs,

    #[command(flatten)]
    pub(crate) dropped: DroppedArgs,
}

#[derive(Debug, Arguments)]
pub(crate) struct ReachArgs {
    /// Look at these namespaces only
    #[arg(long, value_name = "NAME", action = Set, value_delimiter = ',')]
    pub(crate) watch_namespaces: Vec<String>,

    /// Run without any right to the whole cluster; cluster kinds are refused
    #[arg(long, value_name = "BOOL", default_value = "false")]
    #[arg(action = Set, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_parser = truth)]
    pub(crate) tenant_mode: bool,

    /// Namespaces of targets that name none
    #[arg(long, value_name = "NAME", action = Set, value_delimiter = ',')]
    pub(crate) default_included_namespaces: Vec<String>,

    /// Namespaces that no target reads
    #[arg(long, value_name = "NAME", action = Set, value_delimiter = ',')]
    pub(crate) default_excluded_namespaces: Vec<String>,

    /// Everything is listed once more after so long, whatever was heard; 0 is never
    #[arg(long, value_name = "TIME", default_value = "12h", value_parser = time)]
    pub(crate) informer_resync_period: Duration,
}

#[derive(Debug, Arguments)]
pub(crate) struct CopyArgs {
    /// Further names whose values are hidden
    #[arg(long, value_name = "NAME", action = Set, value_delimiter = ',')]
    pub(crate) scrub_keys: Vec<String>,

    #[command(flatten)]
    pub(crate) addresses: AddressArgs,

    /// Directory for sinks on this machine; each namespace has its own in it
    #[arg(long, value_name = "DIR")]
    pub(crate) local_sink_root: Option<PathBuf>,

    /// What the cluster is called in copies, unless the sink says so
    #[arg(long, value_name = "NAME", default_value = "")]
    pub(crate) cluster_name: String,

    /// Upper bound of every maxExportBytes
    #[arg(long, value_name = "BYTES", default_value_t = 1_572_864)]
    #[arg(value_parser = clap::value_parser!(i64).range(1..))]
    pub(crate) max_export_bytes: i64,

    /// A first export waits so long for what has not been read
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = time)]
    pub(crate) export_warmup_timeout: Duration,
}

#[derive(Debug, Arguments)]
pub(crate) struct LeaseArgs {
    /// Compete for a Lease, so that one of several replicas works at a time
    #[arg(long, value_name = "BOOL", default_value = "false")]
    #[arg(action = Set, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_parser = truth)]
    pub(crate) leader_elect: bool,

    /// Namespace of the Lease; by default that of the Pod or the kubeconfig,
    /// and kollect-system where neither says one
    #[arg(long, value_name = "NAME")]
    pub(crate) leader_elect_namespace: Option<String>,

    /// A holder that says nothing keeps the Lease for so long
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    pub(crate) leader_elect_lease_duration: Duration,

    /// A holder that cannot renew goes on for so long
    #[arg(long, value_name = "TIME", default_value = "40s", value_parser = time)]
    pub(crate) leader_elect_renew_deadline: Duration,

    /// The time between two tries
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time)]
    pub(crate) leader_elect_retry_period: Duration,

    /// Exports that run may end within this time when the operator is stopped
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = time)]
    pub(crate) shutdown_grace: Duration,
}

#[derive(Debug, Arguments)]
pub(crate) struct ServeArgs {
    /// Where /healthz and /readyz are served: :8081 is every interface, 0 is nowhere
    #[arg(long, value_name = "ADDRESS", default_value = ":8081")]
    pub(crate) health_probe_bind_address: Address,

    /// Where /metrics is served, such as :8443; 0 is nowhere
    #[arg(long, value_name = "ADDRESS", default_value = "0")]
    pub(crate) metrics_bind_address: Address,

    /// Serve metrics over TLS, to those who may `get` the path /metrics
    #[arg(long, value_name = "BOOL", default_value = "true")]
    #[arg(action = Set, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_parser = truth)]
    pub(crate) metrics_secure: bool,

    /// Directory with the certificate for metrics, which is read again when it
    /// changes; without one, a certificate is made up
    #[arg(long, value_name = "DIR", default_value = "", hide_default_value = true)]
    pub(crate) metrics_cert_path: String,

    /// The certificate's file in that directory
    #[arg(long, value_name = "FILE", default_value = "tls.crt")]
    pub(crate) metrics_cert_name: String,

    /// The key's file in that directory
    #[arg(long, value_name = "FILE", default_value = "tls.key")]
    pub(crate) metrics_cert_key: String,
}

/// What upstream serves and this build does not.
#[derive(Debug, Arguments)]
pub(crate) struct NotYetArgs {
    /// Serve the admission webhook
    #[arg(long, value_name = "BOOL", default_value = "false")]
    #[arg(action = Set, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_parser = truth)]
    pub(crate) validating_webhooks_enabled: bool,

    /// Serve what was collected over HTTP
    #[arg(long, value_name = "BOOL", default_value = "false")]
    #[arg(action = Set, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_parser = truth)]
    pub(crate) inventory_http_enabled: bool,

    /// Serve profiles of the program
    #[arg(long, value_name = "BOOL", default_value = "false")]
    #[arg(action = Set, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_parser = truth)]
    pub(crate) enable_pprof: bool,
}

impl NotYetArgs {
    /// Why the operator cannot start, if somebody relies on what is not there.
    pub(crate) fn refusal(&self) -> Option<&'static str> {
        let Self { validating_webhooks_enabled, inventory_http_enabled, enable_pprof } = self;
        if *validating_webhooks_enabled {
            return Some(
                "--validating-webhooks-enabled: this build serves no webhook; set it to false: the \
                 operator applies every rule of admission itself and reports what it refuses in status",
            );
        }
        if *inventory_http_enabled {
            return Some(
                "--inventory-http-enabled: this build does not serve inventories over HTTP; set it \
                 to false and read a sink",
            );
        }
        let pprof = "--enable-pprof: this build serves no profiles; set it to false";
        enable_pprof.then_some(pprof)
    }
}
