//! The ports of the operator, and what is served at them.

use std::{future::pending, path::Path, sync::Arc};

use anyhow::Context as _;
use kollect_operator::{Address, Certificates, Health, MetricsPage, MetricsText, Port};
use kollect_sinks::Clock;
use kube::Client;

use crate::args::operator::ServeArgs;

/// Ports that are ours.
pub(super) struct Ports {
    health: Option<Port>,
    metrics: Option<(Port, Protection)>,
}

/// Who may read metrics.
enum Protection {
    /// Everybody, in the clear.
    None,
    /// Whoever has the right to.
    Tls(Certificates),
}

impl Ports {
    /// Takes every port that is wanted.
    pub(super) async fn open(args: &ServeArgs) -> anyhow::Result<Self> {
        let ServeArgs {
            health_probe_bind_address,
            metrics_bind_address,
            metrics_secure,
            metrics_cert_path,
            metrics_cert_name,
            metrics_cert_key,
        } = args;
        let (flag, address) = ("--health-probe-bind-address", *health_probe_bind_address);
        let health = open("health", flag, address).await?;
        let (flag, address) = ("--metrics-bind-address", *metrics_bind_address);
        let Some(metrics) = open("metrics", flag, address).await? else {
            return Ok(Self { health, metrics: None });
        };
        let protection = if !metrics_secure {
            Protection::None
        } else if metrics_cert_path.is_empty() {
            Protection::Tls(Certificates::made_up()?)
        } else {
            let at = |name: &String| Path::new(metrics_cert_path).join(name);
            let read = Certificates::read(&at(metrics_cert_name), &at(metrics_cert_key));
            Protection::Tls(read.context("--metrics-cert-path")?)
        };
        Ok(Self { health, metrics: Some((metrics, protection)) })
    }

    /// Serves them for as long as it is polled.
    pub(super) async fn serve(self, health: Health, metrics: MetricsText, client: &Client) {
        let clock = Arc::clone(&health.clock);
        let healthy = async {
            match self.health {
                Some(port) => health.serve(port).await,
                None => pending().await,
            }
        };
        let measured = async {
            match self.metrics {
                Some((port, protection)) => {
                    measure(port, protection, metrics, (client, clock)).await;
                }
                None => pending().await,
            }
        };
        tokio::select! {
            () = healthy => {}
            () = measured => {}
        }
    }
}

async fn measure(
    port: Port,
    protection: Protection,
    metrics: MetricsText,
    (client, clock): (&Client, Arc<dyn Clock>),
) {
    match protection {
        Protection::None => MetricsPage::open(metrics).serve(port, None).await,
        Protection::Tls(certificates) => {
            let page = MetricsPage::guarded(metrics, client.clone(), clock);
            page.serve(port, Some(certificates)).await;
        }
    }
}

/// Takes a port, and says which one it is.
async fn open(name: &str, flag: &str, address: Address) -> anyhow::Result<Option<Port>> {
    let opened = Port::open(address).await;
    let opened = opened.with_context(|| format!("{flag}: cannot listen at {address}"))?;
    if let Some(port) = &opened {
        tracing::info!(server = name, address = %port.address(), "listening");
    }
    Ok(opened)
}
