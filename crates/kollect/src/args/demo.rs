//! Flags of `kollect demo`.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use super::go::time;

/// Faster than this nobody can follow, and slower is a standstill.
const RATES: std::ops::RangeInclusive<f64> = 0.01..=20.0;

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// End after so long, such as 15s: stop the changes, wait until the copies
    /// are current, and compare them; by default it goes on until Ctrl-C
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    pub(crate) duration: Option<Duration>,

    /// How many changes are made in a second
    #[arg(long, value_name = "NUMBER", default_value = "1.5", value_parser = rate)]
    pub(crate) rate: f64,

    /// Keep everything in this directory, which is made if missing; by default
    /// a temporary one is used and removed at the end
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,

    /// Port of the simulated cluster on this machine; if it is taken, or none
    /// is named, a free one is used
    #[arg(long, value_name = "PORT", conflicts_with_all = ["kubeconfig", "context"])]
    pub(crate) port: Option<u16>,

    /// Use the real cluster of this kubeconfig: everything is read, and nothing
    /// is written outside of the namespace kollect-demo
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// Use the real cluster of this context of the kubeconfig
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,

    /// Create what is needed on a real cluster without asking
    #[arg(long)]
    pub(crate) yes: bool,
}

impl DemoArgs {
    /// Whether a real cluster is meant.
    pub(crate) fn is_real(&self) -> bool {
        self.kubeconfig.is_some() || self.context.is_some()
    }
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| RATES.contains(rate));
    rate.ok_or_else(|| format!("must be a number from {} to {}", RATES.start(), RATES.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_that_people_can_follow() {
        assert_eq!(rate("1.5"), Ok(1.5));
        for wrong in ["0", "-1", "21", "NaN", "inf", "fast", ""] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }
}
