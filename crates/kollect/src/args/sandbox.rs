//! Flags of `kollect sandbox`.

use std::{path::PathBuf, str::FromStr};

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct SandboxArgs {
    /// Port on the loopback interface; by default one that is free
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,

    /// Objects to begin with: files or directories, in YAML or JSON; - is
    /// standard input. Definitions of custom kinds may be among them
    #[arg(long, value_name = "PATH")]
    pub(crate) objects: Vec<PathBuf>,

    /// Objects that are made up when somebody asks for them, such as
    /// pods=1000000,deployments=5000
    #[arg(long, value_name = "KIND=COUNT", value_delimiter = ',')]
    pub(crate) load: Vec<Load>,

    /// How long each of these is, about
    #[arg(long, value_name = "BYTES", default_value_t = 4_000, requires = "load")]
    pub(crate) bytes: usize,

    /// How many of these change in a second, of each kind; one change in ten
    /// makes an object, one lets one go
    #[arg(long, value_name = "NUMBER", default_value_t = 0.0, hide_default_value = true)]
    #[arg(requires = "load")]
    pub(crate) rate: f64,

    /// Serve HTTPS, with a certificate that the kubeconfig trusts
    #[arg(long)]
    pub(crate) tls: bool,

    /// Write the kubeconfig to this file, which must not be there yet; by
    /// default to a temporary one. Either is removed at the end
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
}

/// So many objects of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// As `pods` or `deployments.apps`.
    pub(crate) kind: String,
    pub(crate) count: usize,
}

impl FromStr for Load {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || "say how many of which kind, as in pods=1000".to_owned();
        let (kind, count) = text.split_once('=').ok_or_else(wrong)?;
        let count = count.parse().map_err(|_| wrong())?;
        Ok(Self { kind: kind.to_lowercase(), count })
    }
}
