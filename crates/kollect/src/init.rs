//! `kollect init`: a starting configuration for kinds of a cluster.
//!
//! Everything that decides is pure: which kinds words mean (`choose`), which
//! attributes a profile begins with (`attributes`), what the files say
//! (`write`). Only discovery, definitions and schemas are asked for, never an
//! object of a kind, so it works for whoever may do nothing else.

mod ask;
mod attributes;
mod choose;
mod write;

use std::{
    collections::BTreeSet,
    env,
    io::{self, IsTerminal as _, Write},
    process::ExitCode,
};

use anyhow::{Context, bail};
use kollect_collect::{Catalogue, Place, Resource, connect};
use kollect_sinks::BACKENDS;
use kube::Client;

use self::{
    ask::Talk,
    attributes::{Chosen, Told},
    choose::Kind,
    write::{Existing, Wish},
};
use crate::{
    args::init::{InitArgs, SinkChoice},
    collect::builtin,
    quoted,
};

/// In the order in which they are offered.
const SINKS: [SinkChoice; 4] =
    [SinkChoice::Sqlite, SinkChoice::File, SinkChoice::Git, SinkChoice::Postgres];

/// What somebody wants, from flags or from answers.
#[derive(Debug, Default)]
struct Choice {
    words: Vec<String>,
    namespaces: Vec<String>,
    sinks: Vec<SinkChoice>,
    endpoint: Option<String>,
}

/// Kinds and their attributes, and what their author should know.
type Described = (Vec<(Kind, Vec<Chosen>)>, Vec<String>);

/// Looks kinds up, writes files, prints their paths, and says what is next.
pub(crate) fn run(args: &InitArgs, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let InitArgs { kinds, offline, namespace, config_namespace, sink, endpoint, .. } = args;
    let is_dialogue = io::stdin().is_terminal() && io::stderr().is_terminal();
    if kinds.is_empty() && !is_dialogue {
        bail!(
            "no kind was named, and there is no terminal to ask at; name some, as in \
             kollect init deployments,services --namespace shop --sink sqlite --output-dir config"
        );
    }
    let mut choice = Choice {
        words: kinds.clone(),
        namespaces: namespace.clone(),
        sinks: sink.clone(),
        endpoint: endpoint.clone(),
    };
    // What flags cannot have is said before anybody waits for a cluster.
    if !kinds.is_empty() {
        choice.settle()?;
    }
    let (described, remarks) = if *offline {
        described_offline(&choice.words)?
    } else {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.context("cannot start")?.block_on(described(args, &mut choice))?
    };
    let Choice { words: _, namespaces, sinks, endpoint } = choice;
    let home = match (config_namespace, namespaces.as_slice()) {
        (Some(home), _) => home.clone(),
        (None, [one]) => one.clone(),
        (None, _) => "default".to_owned(),
    };
    let endpoint = endpoint.unwrap_or_default();
    let wish = Wish { kinds: described, namespaces, home, sinks, endpoint };
    for remark in remarks {
        writeln!(io::stderr(), "note: {remark}")?;
    }
    hand_over(args, &wish, out)?;
    Ok(ExitCode::SUCCESS)
}

impl Choice {
    /// Puts in what goes without saying, and refuses what cannot be.
    fn settle(&mut self) -> anyhow::Result<()> {
        if self.sinks.is_empty() {
            self.sinks.extend(available().first());
        }
        self.sinks.sort_unstable();
        self.sinks.dedup();
        let mut seen = BTreeSet::new();
        self.namespaces.retain(|name| !name.trim().is_empty() && seen.insert(name.clone()));
        if let Some(sink) = self.sinks.iter().find(|sink| !BACKENDS.contains(&sink.name())) {
            bail!(
                "--sink: {} is not in this build, which has {}",
                sink.name(),
                BACKENDS.join(", ")
            );
        }
        match (self.sinks.contains(&SinkChoice::Git), &self.endpoint) {
            (true, None) => bail!("--sink git needs the address of the repository: --endpoint URL"),
            (false, Some(_)) => bail!("--endpoint is for --sink git"),
            _ => Ok(()),
        }
    }

    /// Asks for what no flag said.
    fn ask(&mut self, catalogue: &Catalogue) -> anyhow::Result<()> {
        let mut talk = Talk::new(io::stdin().lock(), io::stderr().lock());
        let means = |words: &[String]| choose::kinds(catalogue, words).map(drop);
        self.words = talk.kinds(&choose::offered(catalogue), means)?;
        if self.namespaces.is_empty() {
            self.namespaces = talk.namespaces()?;
        }
        if self.sinks.is_empty() {
            self.sinks.push(talk.sink(&available())?);
        }
        if self.sinks.contains(&SinkChoice::Git) && self.endpoint.is_none() {
            self.endpoint = Some(talk.endpoint()?);
        }
        self.settle()
    }
}

/// Sinks that this build can write to.
fn available() -> Vec<SinkChoice> {
    SINKS.into_iter().filter(|sink| BACKENDS.contains(&sink.name())).collect()
}

/// Kinds that everybody has need no cluster to be known.
fn described_offline(words: &[String]) -> anyhow::Result<Described> {
    let kinds = choose::known(words)?;
    let with_attributes = |kind: Kind| {
        let chosen = attributes::choose(&kind.gvk, &Told::default());
        (kind, chosen)
    };
    Ok((kinds.into_iter().map(with_attributes).collect(), Vec::new()))
}

/// Asks a cluster for its kinds, a person for a choice if nobody has made it,
/// and the cluster for what it knows of the chosen.
async fn described(args: &InitArgs, choice: &mut Choice) -> anyhow::Result<Described> {
    let (variable, home) = (env::var_os("KUBECONFIG"), env::home_dir());
    let place = Place::choose(args.kubeconfig.as_deref(), variable.as_deref(), home.as_deref());
    let client = connect(&place, args.context.as_deref()).await?;
    let catalogue = Catalogue::fetch(&client).await?;
    if choice.words.is_empty() {
        choice.ask(&catalogue)?;
    }
    let (resources, mut remarks) = choose::kinds(&catalogue, &choice.words)?;
    let mut described = Vec::new();
    for resource in resources {
        let kind = Kind::from(resource);
        let told = told(&client, resource, &mut remarks).await;
        let chosen = attributes::choose(&kind.gvk, &told);
        described.push((kind, chosen));
    }
    Ok((described, remarks))
}

/// What the cluster says about a kind. What it does not say is no reason to
/// give up, only to know less.
async fn told(client: &Client, resource: &Resource, remarks: &mut Vec<String>) -> Told {
    let Resource { group, version, kind, .. } = resource;
    if builtin::of_kind(group, version, kind).is_some() {
        return Told::default();
    }
    let mut heard = |answer: Result<Option<_>, kollect_collect::ListError>| match answer {
        Ok(answer) => answer,
        Err(error) => {
            remarks.push(format!("{error}; attributes are chosen without"));
            None
        }
    };
    // The group of a custom kind is a domain.
    let definition =
        if group.contains('.') { heard(resource.definition(client).await) } else { None };
    // A definition holds the same schema.
    let open_api = match definition {
        Some(_) => None,
        None => heard(resource.open_api(client).await),
    };
    Told { definition, open_api }
}

/// Writes the files, and says what they are and what is next.
fn hand_over(args: &InitArgs, wish: &Wish, out: &mut impl Write) -> anyhow::Result<()> {
    let directory = &args.output_dir;
    let existing = if args.force { Existing::Replace } else { Existing::Keep };
    let files = write::files(wish);
    write::check(&files, args.addresses.policy())?;
    let paths = write::write(directory, &files, existing)?;
    for path in &paths {
        writeln!(out, "{}", path.display())?;
    }
    out.flush()?;
    let mut says = io::stderr().lock();
    let width = files.iter().map(|file| file.name.len()).max().unwrap_or_default();
    writeln!(says, "{} files in {}:", files.len(), directory.display())?;
    for file in &files {
        writeln!(says, "  {:width$}  {}", file.name, file.about)?;
    }
    let others = write::others(directory, &files)?;
    if !others.is_empty() {
        writeln!(says, "note: the directory holds other manifests too: {}", others.join(", "))?;
    }
    let next = next(args);
    let width = next.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
    writeln!(says, "\nnext, read and edit them, then:")?;
    for (command, remark) in &next {
        writeln!(says, "  {command:width$}  # {remark}")?;
    }
    Ok(())
}

/// What to do with the files, and what for.
fn next(args: &InitArgs) -> [(String, &'static str); 4] {
    let directory = quoted(&args.output_dir.display().to_string());
    let mut cluster = String::new();
    for (flag, value) in [
        ("--kubeconfig", args.kubeconfig.as_ref().map(|file| file.display().to_string())),
        ("--context", args.context.clone()),
    ] {
        cluster.extend(value.map(|value| format!(" {flag} {}", quoted(&value))));
    }
    let collect = format!("kollect collect --config {directory}{cluster}");
    [
        (format!("kollect validate {directory}"), "check what you wrote"),
        (format!("{collect} -o table"), "look, write nothing"),
        (collect, "copy to the sinks, once"),
        (format!("kubectl apply -f {directory}"), "hand over to the operator"),
    ]
}
