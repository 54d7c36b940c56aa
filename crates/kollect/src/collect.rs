//! `kollect collect`: rows of what is there now, and copies of them.

mod bars;
pub(crate) mod builtin;
mod config;
mod contexts;
mod visit;
mod world;
mod copy;
mod print;
mod report;
mod shown;
mod watch;

use std::{
    env,
    io::{self, IsTerminal as _, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::{Context, bail};
use jiff::Timestamp;
use kollect_collect::{Dump, Found, Place, Source, read};
use kollect_validate::{LocalPaths, Policy};

use self::{
    config::Config,
    visit::{Then, Visit},
    watch::Stage,
};
use crate::{
    args::{CollectArgs, RowFormat},
    secrets::Secrets,
    validate::{backends, judge, print as findings},
};

/// Where rows go.
#[derive(Clone, Copy)]
enum Output {
    Standard(RowFormat),
    Sinks,
}

/// Collects, copies or prints, and says on standard error how it went.
pub(crate) fn run(args: &CollectArgs, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let Some(mut config) = configured(args)? else { return Ok(ExitCode::from(2)) };
    let sources = sources(args, &mut config)?;
    let output = destination(args, &mut config, sources.len() > 1)?;
    let then = match output {
        Output::Standard(_) => Then::Keep,
        Output::Sinks if args.dry_run => Then::Keep,
        Output::Sinks => Then::Copy,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start")?;
    let config = std::sync::Arc::new(config);
    if args.watch {
        let format = match output {
            Output::Standard(RowFormat::Json | RowFormat::Yaml) => {
                bail!("--watch prints changes; -o must be ndjson or table")
            }
            Output::Standard(format) => format,
            Output::Sinks => RowFormat::Ndjson,
        };
        for remark in &config.remarks {
            writeln!(io::stderr(), "note: {remark}")?;
        }
        let stage = Stage::new(config, format, sources.len() > 1, io::stdout());
        runtime.block_on(stage.play(sources, then))?;
        return Ok(ExitCode::SUCCESS);
    }
    let visits = runtime.block_on(visit::all(&config, sources, then));
    if let Output::Standard(format) = output {
        print::rows(&config, &visits, format, Timestamp::now(), out)?;
        out.flush()?;
    }
    let mut says = io::stderr().lock();
    report::all(&config, &visits, &mut says)?;
    if args.dry_run {
        writeln!(says, "nothing was written: this was a dry run")?;
    }
    let worst = visits.iter().map(Visit::code).max().unwrap_or(2);
    Ok(ExitCode::from(worst))
}

/// What the configuration asks for; nothing if it is wrong, which has been
/// said then.
fn configured(args: &CollectArgs) -> anyhow::Result<Option<Config>> {
    let namespaces: Vec<_> = args.namespace.iter().cloned().collect();
    if !args.kinds.is_empty() {
        let objects = builtin::objects(&args.kinds, &namespaces)?;
        return config::plan(&objects, &args.scrub_keys).map(Some);
    }
    let sources: Vec<_> = args.config.iter().map(Source::from).collect();
    let policy = Policy {
        addresses: args.addresses.policy(),
        backends: backends(),
        local_paths: LocalPaths::Anywhere,
        ..Policy::default()
    };
    let found = read(&sources);
    let secrets = Secrets::among(&found.manifests)?;
    let mut verdict = judge::judge(found, policy, false);
    if !verdict.is_good() {
        findings::human(&verdict, &mut io::stderr().lock())?;
        return Ok(None);
    }
    if args.from.is_empty() && !namespaces.is_empty() {
        config::confine(&mut verdict.objects, &namespaces);
    }
    let config = config::plan(&verdict.objects, &args.scrub_keys)?;
    if config.targets.is_empty() {
        bail!("the configuration holds no target that is not suspended");
    }
    Ok(Some(Config { secrets, addresses: args.addresses.policy(), ..config }))
}

/// Where objects come from: files, or the contexts that were chosen.
fn sources(args: &CollectArgs, config: &mut Config) -> anyhow::Result<Vec<visit::Source>> {
    let called = |name: &str| args.cluster.clone().unwrap_or_else(|| name.to_owned());
    if !args.from.is_empty() {
        return Ok(vec![visit::Source::Files { cluster: called(""), dump: dumped(args)? }]);
    }
    let (variable, home) = (env::var_os("KUBECONFIG"), env::home_dir());
    let place = Place::choose(args.kubeconfig.as_deref(), variable.as_deref(), home.as_deref());
    if place == Place::InCluster {
        let cluster = called("in-cluster");
        return Ok(vec![visit::Source::Cluster { cluster, place, context: None }]);
    }
    let known = kollect_collect::contexts(&place)?;
    let (names, remarks) = contexts::chosen(&known, &args.context)?;
    config.remarks.extend(remarks);
    let fixed = config.sinks.values().find_map(|sink| sink.common().cluster.clone());
    if let (Some(cluster), true) = (fixed.filter(|name| !name.is_empty()), names.len() > 1) {
        bail!(
            "a sink says that the cluster is {cluster:?}, and {} contexts were chosen",
            names.len()
        );
    }
    let source = |name: String| visit::Source::Cluster {
        cluster: called(&name),
        place: place.clone(),
        context: Some(name),
    };
    Ok(names.into_iter().map(source).collect())
}

fn destination(args: &CollectArgs, config: &mut Config, many: bool) -> anyhow::Result<Output> {
    let default = if io::stdout().is_terminal() { RowFormat::Table } else { RowFormat::Ndjson };
    match (&args.output, args.format) {
        (Some(path), format) if path.as_os_str() == "-" => {
            Ok(Output::Standard(format.unwrap_or(default)))
        }
        (Some(directory), format) => into_directory(config, directory, format, many),
        (None, Some(format)) => Ok(Output::Standard(format)),
        (None, None) if config.inventories.iter().any(|one| !one.sinks.is_empty()) => {
            Ok(Output::Sinks)
        }
        (None, None) => Ok(Output::Standard(default)),
    }
}

fn into_directory(
    config: &mut Config,
    directory: &Path,
    format: Option<RowFormat>,
    many: bool,
) -> anyhow::Result<Output> {
    let format = match format.unwrap_or(RowFormat::Yaml) {
        RowFormat::Table => bail!("--format table is for standard output"),
        RowFormat::Json => "json",
        RowFormat::Ndjson => "ndjson",
        RowFormat::Yaml => "yaml",
    };
    copy::into_directory(config, directory, format, many)?;
    Ok(Output::Sinks)
}

/// The objects that files hold.
fn dumped(args: &CollectArgs) -> anyhow::Result<Dump> {
    let sources: Vec<_> = args.from.iter().map(Source::from).collect();
    let Found { manifests, failures } = read(&sources);
    if let Some(failure) = failures.first() {
        let place = failure.at.map(|at| format!(":{}:{}", at.line, at.column)).unwrap_or_default();
        bail!("{}{place}: {} (nothing was written)", failure.file, failure.reason);
    }
    let namespace = args.namespace.as_deref().unwrap_or("default");
    Ok(Dump::of(&manifests, namespace))
}
