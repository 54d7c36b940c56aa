//! The operator, in a thread of this process: what `kollect operator` runs.

use std::{ffi::OsString, path::Path, thread};

use anyhow::{Context as _, anyhow};
use tokio::sync::oneshot;

use super::samples::HOME;
use crate::{
    args::operator::OperatorArgs,
    operator::{Errand, work},
};

/// An operator at work.
pub(super) struct Operator {
    /// Dropping it ends the work.
    stop: Option<oneshot::Sender<()>>,
    ended: oneshot::Receiver<anyhow::Result<()>>,
}

impl Operator {
    /// Starts it on the cluster of a kubeconfig, with local sinks below `root`.
    pub(super) fn start(
        kubeconfig: Option<&Path>,
        context: Option<&str>,
        root: &Path,
    ) -> anyhow::Result<Self> {
        let mut flags: Vec<OsString> = [
            // Nobody asks for its health, and its port may be taken.
            "--health-probe-bind-address=0",
            "--shutdown-grace=5s",
            "--local-sink-root",
        ]
        .map(OsString::from)
        .to_vec();
        flags.push(root.into());
        if let Some(kubeconfig) = kubeconfig {
            flags.extend(["--kubeconfig".into(), kubeconfig.into()]);
        }
        let args = OperatorArgs::of(flags)?;
        let errand = Errand { context: context.map(str::to_owned), home: Some(HOME.to_owned()) };
        let (stop, stopped) = oneshot::channel::<()>();
        let (end, ended) = oneshot::channel();
        let run = move || {
            // An error says that the handle has gone, which is the signal.
            let worked = work(&args, errand, || async { drop(stopped.await) });
            // Nobody listens when the demo has given up.
            drop(end.send(worked));
        };
        let thread = thread::Builder::new().name("operator".to_owned()).spawn(run);
        thread.context("cannot start the operator")?;
        Ok(Self { stop: Some(stop), ended })
    }

    /// Waits until it ends by itself, which it should not.
    pub(super) async fn failed(&mut self) -> anyhow::Error {
        match (&mut self.ended).await {
            Ok(Err(error)) => error.context("the operator has failed"),
            Ok(Ok(())) => anyhow!("the operator has ended by itself"),
            Err(_) => anyhow!("the operator has ended by a bug in Kollect; its log says more"),
        }
    }

    /// Lets it finish what it does.
    pub(super) async fn stop(mut self) -> anyhow::Result<()> {
        self.stop.take();
        match self.ended.await {
            Ok(ended) => ended,
            Err(_) => Err(anyhow!("the operator has ended by a bug in Kollect")),
        }
    }
}
