//! `kollect collect`: rows of what is there now, and copies of them.

mod config;
mod world;
mod copy;
mod print;

use std::{
    io::{self, IsTerminal as _, Write},
    process::ExitCode,
};

use anyhow::{Context, bail};
use jiff::Timestamp;
use kollect_collect::{Dump, Found, Source, read};
use kollect_sinks::{SinkKey, SinkSpec};
use kollect_validate::{LocalPaths, Policy};

use self::{
    config::{Config, InventoryPlan},
    copy::Copied,
    world::{Outcome, World},
};
use crate::{
    args::{CollectArgs, RowFormat},
    validate::{backends, judge, print as findings},
};

/// Where rows go.
enum Output {
    Standard(RowFormat),
    Sinks,
}

/// Collects, copies or prints, and says on standard error how it went.
pub(crate) fn run(args: &CollectArgs, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let Some(mut config) = configured(args)? else { return Ok(ExitCode::from(2)) };
    let output = destination(args, &mut config)?;
    let dump = dumped(args)?;
    let now = Timestamp::now();
    let world = World::new(&config, now.as_microsecond());
    let outcomes = world.read_dump(&config, &dump);
    let mut says = io::stderr().lock();
    for remark in &config.remarks {
        writeln!(says, "note: {remark}")?;
    }
    summary(dump.len(), &outcomes, &mut says)?;
    let worlds = [(args.cluster.clone().unwrap_or_default(), world)];
    let copies = match output {
        Output::Standard(format) => {
            print::rows(&config, &worlds, format, now, out)?;
            out.flush()?;
            Vec::new()
        }
        Output::Sinks if args.dry_run => {
            writeln!(says, "nothing was written: this was a dry run")?;
            Vec::new()
        }
        Output::Sinks => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.context("cannot start")?;
            let [(cluster, world)] = &worlds;
            let copies = runtime.block_on(copy::copy(&config, world, cluster));
            copied(&copies, &mut says)?;
            next_steps(&config, &copies, &mut says)?;
            copies
        }
    };
    Ok(code(&outcomes, &copies))
}

/// What the configuration asks for; nothing if it is wrong, which has been
/// said then.
fn configured(args: &CollectArgs) -> anyhow::Result<Option<Config>> {
    let sources: Vec<_> = args.config.iter().map(Source::from).collect();
    let policy =
        Policy { backends: backends(), local_paths: LocalPaths::Anywhere, ..Policy::default() };
    let verdict = judge::judge(read(&sources), policy, false);
    if !verdict.is_good() {
        findings::human(&verdict, &mut io::stderr().lock())?;
        return Ok(None);
    }
    let config = config::plan(&verdict.objects, &args.scrub_keys)?;
    if config.targets.is_empty() {
        bail!("the configuration holds no target that is not suspended");
    }
    Ok(Some(config))
}

fn destination(args: &CollectArgs, config: &mut Config) -> anyhow::Result<Output> {
    let default = if io::stdout().is_terminal() { RowFormat::Table } else { RowFormat::Ndjson };
    match (&args.output, args.format) {
        (Some(path), format) if path.as_os_str() == "-" => {
            Ok(Output::Standard(format.unwrap_or(default)))
        }
        (Some(directory), format) => {
            let format = match format.unwrap_or(RowFormat::Yaml) {
                RowFormat::Table => bail!("--format table is for standard output"),
                RowFormat::Json => "json",
                RowFormat::Ndjson => "ndjson",
                RowFormat::Yaml => "yaml",
            };
            copy::into_directory(config, directory, format, false)?;
            Ok(Output::Sinks)
        }
        (None, Some(format)) => Ok(Output::Standard(format)),
        (None, None) if config.inventories.iter().any(|one| !one.sinks.is_empty()) => {
            Ok(Output::Sinks)
        }
        (None, None) => Ok(Output::Standard(default)),
    }
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

/// Says what was found, and what gave no row.
fn summary(objects: usize, outcomes: &[Outcome], says: &mut impl Write) -> io::Result<()> {
    let sum = |what: fn(&Outcome) -> u64| outcomes.iter().map(what).sum::<u64>();
    let (rows, hidden) = (sum(|one| one.tally.rows), sum(|one| one.tally.hidden));
    let targets = outcomes.len();
    writeln!(
        says,
        "{objects} objects read, {rows} rows for {targets} targets, {hidden} values hidden"
    )?;
    for Outcome { target, tally, skipped } in outcomes {
        for reason in skipped {
            writeln!(says, "skipped: target {target}: {reason}")?;
        }
        for failed in &tally.failures {
            let (namespace, name) = (&failed.namespace, &failed.name);
            writeln!(says, "failed: target {target}: {namespace}/{name}: {}", failed.reason)?;
        }
    }
    Ok(())
}

fn copied(copies: &[Copied], says: &mut impl Write) -> io::Result<()> {
    for Copied { inventory, sink, rows, outcome, .. } in copies {
        match outcome {
            Ok(text) => writeln!(says, "{inventory} -> {sink}: {rows} rows there ({text})")?,
            Err(text) => writeln!(says, "{inventory} -> {sink}: failed: {text}")?,
        }
    }
    Ok(())
}

/// Says how to look at what was written.
fn next_steps(config: &Config, copies: &[Copied], says: &mut impl Write) -> io::Result<()> {
    let good = |key: &SinkKey| copies.iter().any(|one| one.key == *key && one.outcome.is_ok());
    let mut steps = Vec::new();
    for (key, spec) in config.sinks.iter().filter(|(key, _)| good(key)) {
        match spec {
            SinkSpec::Database(spec) => {
                let feeds = |one: &&InventoryPlan| one.sinks.iter().any(|(sink, _)| sink == key);
                let inventory = config.inventories.iter().find(feeds);
                let profile = inventory.and_then(|one| one.schema.profiles.first());
                if let (Some(sqlite), Some(profile)) = (&spec.sqlite, profile) {
                    let (path, view) = (&sqlite.path, &profile.name);
                    steps.push(format!("sqlite3 {path} 'select * from \"{view}\"'"));
                }
            }
            SinkSpec::Snapshot(spec) => {
                steps.extend(spec.file.iter().map(|file| format!("find {} -type f", file.path)));
            }
            SinkSpec::Event(_) => {}
        }
    }
    if steps.is_empty() {
        return Ok(());
    }
    writeln!(says, "\nnext, look at what is there now:")?;
    steps.iter().try_for_each(|step| writeln!(says, "  {step}"))
}

/// 0: all is well. 1: something was left out or failed. 2: nothing came of it.
fn code(outcomes: &[Outcome], copies: &[Copied]) -> ExitCode {
    let is_whole = outcomes.iter().all(|one| one.skipped.is_empty() && one.tally.failed == 0)
        && copies.iter().all(|copy| copy.outcome.is_ok());
    let is_something = outcomes.iter().any(|one| one.tally.rows > 0)
        && (copies.is_empty() || copies.iter().any(|copy| copy.outcome.is_ok()));
    match (is_whole, is_something) {
        (true, _) => ExitCode::SUCCESS,
        (false, true) => ExitCode::from(1),
        (false, false) => ExitCode::from(2),
    }
}
