//! Flags of `kollect init`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::AddressArgs;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Kinds, in any way in which kubectl knows them: deployments,
    /// certificates.cert-manager.io
    #[arg(value_name = "KIND", value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,

    /// The kubeconfig, instead of $KUBECONFIG and ~/.kube/config
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// The context to look kinds up in; by default the current one
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,

    /// Ask no cluster; only kinds with a built-in profile are known then
    #[arg(long, requires = "kinds", conflicts_with_all = ["kubeconfig", "context"])]
    pub(crate) offline: bool,

    /// Namespaces to collect from; all if none is named
    #[arg(short, long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) namespace: Vec<String>,

    /// Namespace of what is written; by default the one to collect from if it
    /// is one, else default
    #[arg(long, value_name = "NAME")]
    pub(crate) config_namespace: Option<String>,

    /// Where copies are kept; sqlite if nothing is said
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) sink: Vec<SinkChoice>,

    /// Address of the Git repository, such as https://git.example.org/team/inventory.git
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,

    /// Directory to write to, which is made if missing
    #[arg(long, value_name = "DIR", default_value = "./collect-config")]
    pub(crate) output_dir: PathBuf,

    /// Replace files that are there already
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) addresses: AddressArgs,
}

/// Sinks that need few words to begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum SinkChoice {
    /// A SQLite database file
    Sqlite,
    /// A YAML document in a directory
    File,
    /// A Git repository; needs --endpoint
    Git,
    /// A table in PostgreSQL
    Postgres,
}

impl SinkChoice {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::File => "file",
            Self::Git => "git",
            Self::Postgres => "postgres",
        }
    }
}
