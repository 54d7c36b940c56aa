//! The cluster that it is played on, and what has to be there first.

use std::{
    env, fs,
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    path::PathBuf,
    thread,
};

use anyhow::{Context as _, bail};
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use kollect_collect::{Place as Kubeconfig, connect};
use kollect_sandbox::{Sandbox, Settings, Transport};
use serde_json::Value;
use tokio::sync::oneshot;

use super::{
    board::Scene,
    change::Change,
    cluster::Cluster,
    company, hints,
    place::Place,
    real::{self, Plan},
    samples,
    script::Script,
};
use crate::args::demo::DemoArgs;

/// Every run tells this story, which has something of everything at its start.
const SEED: u64 = 17_455;

/// A cluster, and what is changed on it.
pub(super) struct Stage {
    pub(super) cluster: Cluster,
    pub(super) kubeconfig: Option<PathBuf>,
    pub(super) context: Option<String>,
    pub(super) scene: Scene,
    ground: Ground,
}

enum Ground {
    Simulated {
        script: Box<Script>,
        today: Date,
        /// Lives as long as the stage.
        _sandbox: Sandbox,
    },
    Real {
        plan: Plan,
        /// How many changes there were.
        told: u64,
    },
}

impl Stage {
    /// The cluster that was asked for.
    pub(super) async fn open(args: &DemoArgs, place: &Place) -> anyhow::Result<Self> {
        if args.is_real() {
            Self::real(args, place).await
        } else {
            Self::simulated(args, place).await
        }
    }

    /// Starts a cluster that is simulated.
    async fn simulated(args: &DemoArgs, place: &Place) -> anyhow::Result<Self> {
        let (sandbox, remark) = start(args.port).context("cannot start the simulated cluster")?;
        let kubeconfig = place.kubeconfig();
        fs::write(&kubeconfig, sandbox.kubeconfig()).context("cannot write the kubeconfig")?;
        let client = connect(&Kubeconfig::Files(vec![kubeconfig.clone()]), None).await?;
        let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
        let (objects, namespaces) = (company::objects(today).len(), company::namespaces().len());
        let title = format!("a simulated cluster of {objects} objects in {namespaces} namespaces");
        let mut notes = vec![format!("This is {title}, served at {}.", sandbox.url())];
        notes.extend(remark);
        notes.push(place.remark());
        let hints = hints::simulated(place);
        Ok(Self {
            cluster: Cluster(client),
            scene: Scene { title, samples: samples::samples(), notes, hints },
            kubeconfig: Some(kubeconfig),
            context: None,
            ground: Ground::Simulated {
                script: Box::new(Script::new(today, SEED)),
                today,
                _sandbox: sandbox,
            },
        })
    }

    /// Looks at a real cluster, and asks whether it may be used.
    async fn real(args: &DemoArgs, place: &Place) -> anyhow::Result<Self> {
        let (variable, home) = (env::var_os("KUBECONFIG"), env::home_dir());
        let named = args.kubeconfig.as_deref();
        let found = Kubeconfig::choose(named, variable.as_deref(), home.as_deref());
        let cluster = Cluster(connect(&found, args.context.as_deref()).await?);
        let plan = Plan::of(&cluster).await?;
        if !args.yes {
            consent(&plan).await?;
        }
        let title = match &args.context {
            Some(context) => format!("a real cluster, the context {context}"),
            None => "a real cluster".to_owned(),
        };
        let notes = vec![
            format!(
                "This is {title}. It is read, and nothing outside of {} is changed.",
                samples::HOME
            ),
            place.remark(),
        ];
        let hints = hints::real(place, args);
        Ok(Self {
            cluster,
            scene: Scene { title, samples: plan.samples.clone(), notes, hints },
            kubeconfig: args.kubeconfig.clone(),
            context: args.context.clone(),
            ground: Ground::Real { plan, told: 0 },
        })
    }

    /// Brings everything there that has to be there first.
    pub(super) async fn set_up(&self, place: &Place) -> anyhow::Result<()> {
        let cluster = &self.cluster;
        let (name, missing, objects) = match &self.ground {
            Ground::Simulated { today, .. } => {
                define(cluster, &company::definitions::definitions()).await?;
                (samples::SIMULATED, definitions()?, company::objects(*today))
            }
            Ground::Real { plan, .. } => (samples::REAL, plan.definitions.clone(), real::pulses()),
        };
        define(cluster, &missing).await?;
        cluster.apply(&samples::namespace()).await?;
        for object in objects {
            match self.ground {
                // It has a status, which nobody applies.
                Ground::Simulated { .. } => cluster.create(&object).await?,
                Ground::Real { .. } => cluster.apply(&object).await?,
            }
        }
        let repository = place.repository().display().to_string();
        for object in samples::objects(&self.scene.samples, name, &repository) {
            cluster.apply(&object).await?;
        }
        Ok(())
    }

    /// Makes the next change; says which.
    pub(super) async fn change(&mut self) -> anyhow::Result<Change> {
        let change = match &mut self.ground {
            Ground::Simulated { script, .. } => script.next(),
            Ground::Real { told, .. } => {
                *told += 1;
                real::beat(*told - 1)
            }
        };
        for step in &change.steps {
            self.cluster.step(step).await?;
        }
        Ok(change)
    }

    /// Leaves the cluster as it was found; says what could not be removed.
    pub(super) async fn clear(&self) -> Vec<String> {
        match &self.ground {
            Ground::Simulated { .. } => Vec::new(),
            Ground::Real { plan, .. } => real::clear(&self.cluster, plan).await,
        }
    }
}

/// Has definitions served.
async fn define(cluster: &Cluster, definitions: &[Value]) -> anyhow::Result<()> {
    for definition in definitions {
        cluster.apply(definition).await?;
    }
    for definition in definitions {
        cluster.established(definition).await?;
    }
    Ok(())
}

/// The definitions of our own kinds.
pub(super) fn definitions() -> serde_json::Result<Vec<Value>> {
    kollect_api::crds().iter().map(serde_json::to_value).collect()
}

/// A sandbox on the port that was asked for, or on another one if that is
/// taken; and what should be said about it.
fn start(port: Option<u16>) -> io::Result<(Sandbox, Option<String>)> {
    let settings =
        |port| Settings { port, clock: Some(Timestamp::now), transport: Transport::Http };
    match (Sandbox::start_with(settings(port.unwrap_or_default())), port) {
        (Err(error), Some(port)) if error.kind() == io::ErrorKind::AddrInUse => {
            let sandbox = Sandbox::start_with(settings(0))?;
            Ok((sandbox, Some(format!("Port {port} is taken; another one is used."))))
        }
        (started, _) => Ok((started?, None)),
    }
}

/// Asks whether what is planned may be created.
async fn consent(plan: &Plan) -> anyhow::Result<()> {
    let mut says = io::stderr();
    writeln!(says, "On this cluster the demo would create, and remove at the end:")?;
    for line in plan.lines() {
        writeln!(says, "  {line}")?;
    }
    if !io::stdin().is_terminal() {
        bail!("nothing was created: there is no terminal to ask at; --yes answers");
    }
    write!(says, "Go on? [y/N] ")?;
    says.flush()?;
    // In a thread that nobody waits for: whoever interrupts gives no answer.
    let (answered, answer) = oneshot::channel();
    let read = move || {
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        drop(answered.send(read.map(|_| line)));
    };
    thread::Builder::new().name("answer".to_owned()).spawn(read).context("cannot ask")?;
    let answer = answer.await.context("cannot ask")?.context("cannot read the answer")?;
    if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        bail!("nothing was created");
    }
    Ok(())
}
