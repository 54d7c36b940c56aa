//! Upstream's flags that have no meaning here. They are taken, so that its
//! manifests start, and a warning says why nothing follows from them.

use clap::{ArgAction::Set, Args as Arguments};

use crate::args::go::truth;

/// Their values are not looked at.
#[derive(Debug, Default, Arguments)]
#[command(next_help_heading = "Without effect")]
pub(crate) struct DroppedArgs {
    #[arg(long, hide = true)]
    max_concurrent_reconciles_target: Option<String>,
    #[arg(long, hide = true)]
    max_concurrent_reconciles_inventory: Option<String>,
    #[arg(long, hide = true)]
    max_concurrent_reconciles_cluster_target: Option<String>,
    #[arg(long, hide = true)]
    max_concurrent_reconciles_cluster_inventory: Option<String>,
    #[arg(long, hide = true)]
    reconcile_rate_limit: Option<String>,
    #[arg(long, hide = true)]
    target_count_resync: Option<String>,
    #[arg(long, hide = true)]
    collect_dispatch_workers: Option<String>,
    #[arg(long, hide = true)]
    collect_dispatch_queue_size: Option<String>,
    #[arg(long, hide = true)]
    collect_dispatch_enqueue_wait: Option<String>,
    #[arg(long, hide = true)]
    collect_metrics_sample_interval: Option<String>,
    #[arg(long, hide = true)]
    zap_stacktrace_level: Option<String>,
    #[arg(long, hide = true, action = Set, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_parser = truth)]
    enable_http2: Option<bool>,
    #[arg(long, hide = true)]
    webhook_cert_path: Option<String>,
    #[arg(long, hide = true)]
    webhook_cert_name: Option<String>,
    #[arg(long, hide = true)]
    webhook_cert_key: Option<String>,
    #[arg(long, hide = true)]
    inventory_http_port: Option<String>,
    /// Upstream takes any word for "authenticate, and let everybody in".
    #[arg(long, hide = true, value_parser = ["kubernetes", "disabled", "none"])]
    inventory_auth_mode: Option<String>,
    #[arg(long, hide = true)]
    inventory_auth_cache_ttl: Option<String>,
    #[arg(long, hide = true)]
    inventory_tls_cert_path: Option<String>,
    #[arg(long, hide = true)]
    inventory_tls_cert_name: Option<String>,
    #[arg(long, hide = true)]
    inventory_tls_cert_key: Option<String>,
    #[arg(long, hide = true)]
    inventory_max_connections: Option<String>,
    #[arg(long, hide = true)]
    pprof_bind_address: Option<String>,
}

/// A flag that was given, and why nothing follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Remark {
    pub(crate) flag: &'static str,
    pub(crate) reason: &'static str,
}

const ONE_TASK: &str = "one task reconciles every object, and none waits for another";
const NO_BACKOFF: &str = "what failed is tried again when something changes, and after fixed times";
const AS_THEY_CHANGE: &str = "counts in status follow the rows, at most every ten seconds";
const NO_QUEUE: &str = "each watch makes its rows as it reads; there is no queue between them";
const WHEN_ASKED: &str = "metrics are taken when they are asked for";
const NO_STACKS: &str = "an error is logged with its causes, and without a stack";
const HTTP_1: &str = "every server here speaks HTTP/1.1";
const NO_WEBHOOK: &str = "this build serves no webhook";
const NO_READ_API: &str = "this build does not serve inventories over HTTP";
const NO_PROFILES: &str = "this build serves no profiles";

impl DroppedArgs {
    /// Those that were given.
    pub(crate) fn remarks(&self) -> Vec<Remark> {
        let all = self.reconciling().into_iter().chain(self.serving());
        all.filter(|(_, is_given, _)| *is_given)
            .map(|(flag, _, reason)| Remark { flag, reason })
            .collect()
    }

    fn reconciling(&self) -> [(&'static str, bool, &'static str); 11] {
        let is = Option::is_some;
        [
            (
                "--max-concurrent-reconciles-target",
                is(&self.max_concurrent_reconciles_target),
                ONE_TASK,
            ),
            (
                "--max-concurrent-reconciles-inventory",
                is(&self.max_concurrent_reconciles_inventory),
                ONE_TASK,
            ),
            (
                "--max-concurrent-reconciles-cluster-target",
                is(&self.max_concurrent_reconciles_cluster_target),
                ONE_TASK,
            ),
            (
                "--max-concurrent-reconciles-cluster-inventory",
                is(&self.max_concurrent_reconciles_cluster_inventory),
                ONE_TASK,
            ),
            ("--reconcile-rate-limit", is(&self.reconcile_rate_limit), NO_BACKOFF),
            ("--target-count-resync", is(&self.target_count_resync), AS_THEY_CHANGE),
            ("--collect-dispatch-workers", is(&self.collect_dispatch_workers), NO_QUEUE),
            ("--collect-dispatch-queue-size", is(&self.collect_dispatch_queue_size), NO_QUEUE),
            ("--collect-dispatch-enqueue-wait", is(&self.collect_dispatch_enqueue_wait), NO_QUEUE),
            (
                "--collect-metrics-sample-interval",
                is(&self.collect_metrics_sample_interval),
                WHEN_ASKED,
            ),
            ("--zap-stacktrace-level", is(&self.zap_stacktrace_level), NO_STACKS),
        ]
    }

    fn serving(&self) -> [(&'static str, bool, &'static str); 12] {
        let is = Option::is_some;
        [
            // To be told that there is none is what whoever says false wants.
            ("--enable-http2", self.enable_http2 == Some(true), HTTP_1),
            ("--webhook-cert-path", is(&self.webhook_cert_path), NO_WEBHOOK),
            ("--webhook-cert-name", is(&self.webhook_cert_name), NO_WEBHOOK),
            ("--webhook-cert-key", is(&self.webhook_cert_key), NO_WEBHOOK),
            ("--inventory-http-port", is(&self.inventory_http_port), NO_READ_API),
            ("--inventory-auth-mode", is(&self.inventory_auth_mode), NO_READ_API),
            ("--inventory-auth-cache-ttl", is(&self.inventory_auth_cache_ttl), NO_READ_API),
            ("--inventory-tls-cert-path", is(&self.inventory_tls_cert_path), NO_READ_API),
            ("--inventory-tls-cert-name", is(&self.inventory_tls_cert_name), NO_READ_API),
            ("--inventory-tls-cert-key", is(&self.inventory_tls_cert_key), NO_READ_API),
            ("--inventory-max-connections", is(&self.inventory_max_connections), NO_READ_API),
            ("--pprof-bind-address", is(&self.pprof_bind_address), NO_PROFILES),
        ]
    }
}
