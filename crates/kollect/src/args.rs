//! Commands and flags.

pub(crate) mod demo;
pub(crate) mod go;
pub(crate) mod init;
pub(crate) mod operator;
pub(crate) mod sandbox;

use std::path::PathBuf;

use clap::{ArgAction::Set, Args as Arguments, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use kollect_api::{AddressPolicy, Cidr};
use kollect_operator::Collected;

use self::{
    demo::DemoArgs, go::truth, init::InitArgs, operator::OperatorArgs, sandbox::SandboxArgs,
};

/// The version by itself.
pub(crate) const RELEASE: &str = env!("CARGO_PKG_VERSION");
/// What it was built from, and when that was made.
pub(crate) const COMMIT: &str = env!("KOLLECT_COMMIT");
pub(crate) const BUILT: &str = env!("KOLLECT_BUILT");

/// The version with the commit that it was built from.
pub(crate) const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (commit ",
    env!("KOLLECT_COMMIT"),
    ", built ",
    env!("KOLLECT_BUILT"),
    ")"
);

/// Kubernetes inventory: any kind of object, kept current in Git, databases and streams.
#[derive(Debug, Parser)]
#[command(name = "kollect", version = VERSION, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Watch Kollect work, without a cluster
    ///
    /// Simulates the cluster of a small company, runs the operator on it, keeps
    /// changing things, and shows how each change reaches a Git repository and
    /// a SQLite database. With --kubeconfig it does so on a real cluster: it
    /// lists what it would create and asks first, changes nothing of others,
    /// and removes what it has created.
    ///
    /// Exit codes: 0 all copies agree, or somebody interrupted it, 1 they do
    /// not, 2 it could not begin or go on.
    Demo(DemoArgs),
    /// Check manifests before anything runs
    ///
    /// Reads Kollect objects from files, directories or standard input, and
    /// reports everything that is wrong with them at once: fields that do not
    /// exist, values that cannot be right, and references that lead nowhere.
    /// Objects of other kinds are passed over.
    ///
    /// Exit codes: 0 all is well, 1 something is wrong, 2 something could not
    /// be read.
    Validate(ValidateArgs),
    /// Try a path, or a whole profile, on objects
    ///
    /// Evaluates a JSONPath, as a profile would, against every object that is
    /// given, and shows the result, its type, and what it reads. With
    /// --profile it makes the rows that the profile would make, and says what
    /// was hidden in them.
    ///
    /// Exit codes: 0 all is well, 1 some object gives no value or no row, 2
    /// something does not compile or could not be read.
    Eval(EvalArgs),
    /// Make rows of what is there now, and copy or print them
    ///
    /// Reads objects from clusters, or from files as kubectl or helm print
    /// them, makes the rows that the configuration asks for, and copies them to
    /// its sinks, to a directory, or to standard output. What could not be
    /// listed is left at its destination as it was. Nothing is written to a
    /// cluster.
    ///
    /// Exit codes: 0 all is well, 1 something was left out or failed, 2
    /// nothing came of it.
    Collect(CollectArgs),
    /// Write a starting configuration for kinds of a cluster
    ///
    /// Looks up what the cluster says about the kinds (their printer columns
    /// and schemas, no object of them), and writes a profile and a target for
    /// each, an inventory and its sinks, one file for each object, to be read
    /// and edited. Without kinds it asks, if there is somebody to ask. Nothing
    /// is written to the cluster.
    ///
    /// Exit codes: 0 all is written, 2 nothing is, and why.
    Init(InitArgs),
    /// Reconcile the custom resources of a cluster
    ///
    /// Watches targets, inventories and sinks, collects what they ask for and
    /// keeps the copies current until it is told to stop.
    ///
    /// Exit codes: 0 it was told to stop, 1 it could not start or go on, 2 a
    /// flag is wrong.
    #[command(version = VERSION, display_name = "kollect", args_override_self = true)]
    Operator(Box<OperatorArgs>),
    /// Try sinks before anything is written to them
    #[command(subcommand)]
    Sink(SinkCommand),
    /// Serve a simulated cluster, to try things on and to make them fail
    ///
    /// An API server in memory that kubectl, operators and clients can use as
    /// if it were a real one, with as many objects as you like and with faults
    /// on demand. Nothing runs in it. It ends, and forgets everything, when it
    /// is interrupted.
    ///
    /// Exit codes: 0 it was told to end, 2 it could not begin.
    Sandbox(SandboxArgs),
    /// Print the custom resource definitions
    Crds(CrdsArgs),
    /// Print the objects that grant an operator its rights
    ///
    /// An operator of the whole cluster, or with --tenant one that reaches
    /// some namespaces and nothing else.
    Rbac(RbacArgs),
    /// Print the rules that `validate` and the operator apply
    Rules(RulesArgs),
    /// List the kinds, or explain one: fields, conditions, rules
    Kinds(KindsArgs),
    /// Print the version and the commit that it was built from
    Version,
    /// Print a completion script for a shell
    Completion {
        /// The shell to complete for
        shell: Shell,
    },
}

#[derive(Debug, Arguments)]
pub(crate) struct ValidateArgs {
    /// Files, directories (searched for *.yaml, *.yml and *.json), or - for
    /// standard input
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Report references to objects that were not given as errors
    #[arg(long)]
    pub(crate) strict: bool,

    /// How to print what was found
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    pub(crate) output: Output,

    /// Judge as an operator with this flag would: sinks may be at private addresses
    #[arg(long)]
    pub(crate) allow_private_sinks: bool,

    /// Judge as an operator with this flag would: sinks may be in these ranges
    #[arg(long, value_name = "CIDR", value_delimiter = ',')]
    pub(crate) allow_sink_cidrs: Vec<Cidr>,

    /// Judge as an operator with this flag would: upper bound of every maxExportBytes
    #[arg(long, value_name = "BYTES", default_value_t = 1_572_864)]
    #[arg(value_parser = clap::value_parser!(i64).range(1..))]
    pub(crate) max_export_bytes: i64,

    /// Judge as an operator with this flag would: cluster kinds are refused
    #[arg(long)]
    pub(crate) tenant_mode: bool,
}

#[derive(Debug, Arguments)]
pub(crate) struct CollectArgs {
    /// Kinds to read with built-in profiles, such as deployments,services
    #[arg(value_name = "KIND", value_delimiter = ',', conflicts_with = "config")]
    pub(crate) kinds: Vec<String>,

    /// Files or directories with profiles, targets, inventories and sinks
    #[arg(long, value_name = "PATH", required_unless_present = "kinds")]
    pub(crate) config: Vec<PathBuf>,

    /// Read objects from these files or directories, in YAML or JSON, and not
    /// from a cluster; - is standard input
    #[arg(long, value_name = "PATH")]
    pub(crate) from: Vec<PathBuf>,

    /// The kubeconfig, instead of $KUBECONFIG and ~/.kube/config
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// Contexts to read from, by name or with * and ?; by default the current one
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with = "from")]
    pub(crate) context: Vec<String>,

    /// Read this namespace only; in files, the namespace of objects that
    /// should have one and name none
    #[arg(short, long)]
    pub(crate) namespace: Option<String>,

    /// Read all namespaces, as is done without --namespace; a configuration
    /// says itself where its targets read
    #[arg(short = 'A', long, conflicts_with_all = ["namespace", "config"])]
    pub(crate) all_namespaces: bool,

    /// Directory to write to instead of the sinks, or - for standard output
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,

    /// How rows are written; without --output they are printed
    #[arg(short = 'o', long, value_enum)]
    pub(crate) format: Option<RowFormat>,

    /// What the cluster is called in copies, unless the sink says so; by
    /// default the name of the context
    #[arg(long)]
    pub(crate) cluster: Option<String>,

    /// Further names whose values are hidden
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) scrub_keys: Vec<String>,

    /// Collect, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Go on until interrupted: keep the sinks current, or print each change
    /// as it comes (as ndjson or table)
    #[arg(short, long, conflicts_with_all = ["from", "dry_run"])]
    pub(crate) watch: bool,

    #[command(flatten)]
    pub(crate) addresses: AddressArgs,
}

#[derive(Clone, Debug, Default, Arguments)]
pub(crate) struct AddressArgs {
    /// Let sinks be at private addresses
    #[arg(long, value_name = "BOOL", default_value = "false")]
    #[arg(action = Set, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", value_parser = truth)]
    pub(crate) allow_private_sinks: bool,

    /// Let sinks be in these ranges, whatever they are: 127.0.0.0/8 is this machine
    #[arg(long, value_name = "CIDR", value_delimiter = ',')]
    pub(crate) allow_sink_cidrs: Vec<Cidr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    /// One list of documents
    Json,
    /// One document a line
    Ndjson,
    /// One YAML document for each
    Yaml,
    /// For people: one table for each profile
    Table,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SinkCommand {
    /// Look whether the sinks of a manifest can be reached and written to
    ///
    /// Checks the manifests as `validate` does, opens every sink in them as
    /// this machine would, and says what it saw. Nothing of an inventory is
    /// written.
    ///
    /// Exit codes: 0 every sink answered, 1 some did not, 2 something could
    /// not be read, or is wrong.
    Test {
        /// File or directory with sinks, in YAML or JSON; - is standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,

        #[command(flatten)]
        addresses: AddressArgs,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people
    Human,
    /// For programs: one object with everything that was found
    Json,
}

#[derive(Debug, Arguments)]
pub(crate) struct EvalArgs {
    /// The path, such as '$.spec.replicas' or '{.spec.containers[*].image}'
    #[arg(value_name = "EXPR", required_unless_present = "profile")]
    pub(crate) expression: Option<String>,

    /// File with a KollectProfile whose rows are to be made
    #[arg(long, value_name = "FILE", conflicts_with = "expression")]
    pub(crate) profile: Option<PathBuf>,

    /// File or directory with objects, in YAML or JSON; - is standard input
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) file: Vec<PathBuf>,

    /// How to print what was found
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    pub(crate) output: Output,
}

#[derive(Debug, Arguments)]
pub(crate) struct CrdsArgs {
    /// Write one file for each definition into this directory, which is made if missing
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Arguments)]
pub(crate) struct RbacArgs {
    /// For an operator without any right to the whole cluster
    #[arg(long, requires = "watch_namespaces")]
    pub(crate) tenant: bool,

    /// The namespaces that a tenant's operator reaches
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "tenant")]
    pub(crate) watch_namespaces: Vec<String>,

    /// What may be collected, such as deployments.apps, instead of what the samples collect
    #[arg(long, value_name = "PLURAL.GROUP", value_delimiter = ',')]
    #[arg(value_parser = Collected::parse)]
    pub(crate) collect: Vec<Collected>,

    /// The namespace that the operator runs in
    #[arg(long, value_name = "NAME", default_value = "kollect-system")]
    pub(crate) namespace: String,

    /// What the names of all objects begin with
    #[arg(long, value_name = "NAME", default_value = "kollect")]
    pub(crate) name: String,

    /// Write an example of each, and the reasons, into this directory, which is made if missing
    #[arg(long, value_name = "DIR")]
    #[arg(conflicts_with_all = ["tenant", "collect", "namespace", "name"])]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Arguments)]
pub(crate) struct RulesArgs {
    /// Write the reference page rules.md into this directory, which is made if missing
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Arguments)]
pub(crate) struct KindsArgs {
    /// The kind to explain, by any of its names: KollectTarget, target, ktgt
    #[arg(value_name = "KIND")]
    pub(crate) kind: Option<String>,

    /// Write a page for each kind into this directory, which is made if missing
    #[arg(long, value_name = "DIR", conflicts_with = "kind")]
    pub(crate) out: Option<PathBuf>,
}

impl AddressArgs {
    pub(crate) fn policy(&self) -> AddressPolicy {
        let Self { allow_private_sinks, allow_sink_cidrs } = self;
        AddressPolicy { private: *allow_private_sinks, allowed: allow_sink_cidrs.clone() }
    }
}

#[cfg(test)]
mod tests;
