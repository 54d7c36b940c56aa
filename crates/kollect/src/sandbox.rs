//! `kollect sandbox`: a simulated cluster by itself, for kubectl and for
//! whatever else talks to clusters.

use std::{
    env, fs,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::{self, ExitCode},
};

use anyhow::{Context, bail};
use jiff::Timestamp;
use kollect_collect::{Found, Source, read};
use kollect_sandbox::{Changes, ResourceDefinition, Sandbox, Settings, StoreError, Transport};
use serde_json::{Value, json};

use crate::{
    args::sandbox::{Load, SandboxArgs},
    signals::signalled,
};

/// Of a hundred changes, how many make an object, and how many let one go.
const COMING_AND_GOING: u64 = 10;

/// Serves until it is told to end.
pub(crate) fn run(args: &SandboxArgs, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let SandboxArgs { port, objects, load, bytes, rate, tls, kubeconfig } = args;
    let transport = if *tls { Transport::Https } else { Transport::Http };
    let settings = Settings { port: *port, clock: Some(Timestamp::now), transport };
    let sandbox = Sandbox::start_with(settings)
        .with_context(|| format!("cannot listen on port {port} of this machine"))?;
    let count = fill(&sandbox, objects)?;
    for load in load {
        let definition = resource(&sandbox, &load.kind)?;
        let ResourceDefinition { group, plural, .. } = &definition;
        sandbox.synthetic(group, plural, load.count, *bytes)?;
        let share = COMING_AND_GOING;
        let changes = Changes { per_second: *rate, per_cent_new: share, per_cent_gone: share };
        sandbox.set_changes(group, plural, changes);
    }
    let config = Config::write(&sandbox, kubeconfig.as_deref())?;
    introduce(&sandbox, &config, count, out)?;
    say_load(load, *rate, out)?;
    out.flush()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot wait for the end")?.block_on(async { signalled().await });
    Ok(ExitCode::SUCCESS)
}

/// The file that leads to the sandbox; it goes with it.
struct Config(PathBuf);

impl Config {
    fn write(sandbox: &Sandbox, wanted: Option<&Path>) -> anyhow::Result<Self> {
        let path = wanted.map_or_else(
            || env::temp_dir().join(format!("kollect-sandbox-{}.kubeconfig", process::id())),
            Path::to_owned,
        );
        // Whoever names a file that is there may mean that of real clusters.
        let mut options = fs::OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(&path);
        let mut file = match file {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                bail!("{} is there already, and is left as it is", path.display())
            }
            file => file.with_context(|| format!("cannot write {}", path.display()))?,
        };
        let config = Self(path);
        file.write_all(sandbox.kubeconfig().as_bytes()).context("cannot write the kubeconfig")?;
        Ok(config)
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        // Somebody else may have removed it.
        drop(fs::remove_file(&self.0));
    }
}

/// Puts objects into the cluster: definitions first, and namespaces for all.
fn fill(sandbox: &Sandbox, paths: &[PathBuf]) -> anyhow::Result<usize> {
    let sources: Vec<_> = paths.iter().map(Source::from).collect();
    let Found { manifests, failures } = read(&sources);
    if let Some(failure) = failures.first() {
        bail!("{}: {}", failure.file, failure.reason);
    }
    let mut objects: Vec<(String, Value)> =
        manifests.iter().map(|manifest| (manifest.file.clone(), manifest.value())).collect();
    let is_kind = |object: &Value, kind: &str| object.get("kind") == Some(&json!(kind));
    objects.sort_by_key(|(_, object)| !is_kind(object, "CustomResourceDefinition"));
    let mut namespaces: Vec<String> = objects
        .iter()
        .filter_map(|(_, object)| object.pointer("/metadata/namespace")?.as_str())
        .map(str::to_owned)
        .collect();
    namespaces.sort();
    namespaces.dedup();
    for name in namespaces {
        sandbox.put(json!({
            "apiVersion": "v1", "kind": "Namespace", "status": {"phase": "Active"},
            "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
        }))?;
    }
    let count = objects.len();
    for (file, object) in objects {
        if let Err(error) = sandbox.put(object) {
            let hint = match error {
                StoreError::UnknownKind { .. } => "; give its definition with --objects, too",
                _ => "",
            };
            bail!("{file}: {error}{hint}");
        }
    }
    Ok(count)
}

/// Finds a resource by its name, which may have its group behind it.
fn resource(sandbox: &Sandbox, name: &str) -> anyhow::Result<ResourceDefinition> {
    let (plural, group) =
        name.split_once('.').map_or((name, None), |(plural, group)| (plural, Some(group)));
    let mut all = sandbox.definitions().into_iter();
    let found = all.find(|definition| {
        definition.plural == plural && group.is_none_or(|group| definition.group == group)
    });
    found.with_context(|| format!("there is no kind {name}; try pods or deployments.apps"))
}

fn introduce(
    sandbox: &Sandbox,
    Config(path): &Config,
    count: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let (url, path) = (sandbox.url(), path.display());
    writeln!(
        out,
        "a simulated cluster is at {url} until you press Ctrl-C; it holds {count} of your objects"
    )?;
    writeln!(out)?;
    writeln!(out, "try, in another terminal:")?;
    writeln!(out, "  export KUBECONFIG={path}")?;
    writeln!(out, "  kubectl create deployment web --image=nginx && kubectl get all")?;
    writeln!(out)?;
    writeln!(out, "let it fail: every list of deployments, and then none")?;
    let fault =
        r#"{"on":{"verb":"list","resource":"deployments"},"fault":{"status":{"code":503}}}"#;
    writeln!(out, "  echo '{fault}' | kubectl create --raw /sandbox/faults -f -")?;
    writeln!(out, "  kubectl delete --raw /sandbox/faults")?;
    writeln!(out)?;
    writeln!(
        out,
        "nothing runs in it: no scheduler, no controllers, no admission webhooks, and the CEL \
         rules\nof definitions are not evaluated (docs/guide/sandbox.md)"
    )
}

fn say_load(load: &[Load], rate: f64, out: &mut impl Write) -> io::Result<()> {
    for Load { kind, count } in load {
        write!(out, "\n{count} {kind} are made up when they are read")?;
        match rate {
            0.0 => writeln!(out)?,
            rate => writeln!(out, "; {rate} of them change in a second")?,
        }
    }
    Ok(())
}
