//! One call of the sink, with everything that can go wrong around it.

use std::{any::Any, future::Future, sync::Arc};

use kollect_inventory::{Ticket, schedule::Moment};
use tokio::task::{JoinError, JoinSet};

use super::{Pair, sleep};
use crate::{
    deliver::{state::Work, stop::Stop},
    progress::Progress,
    sink::{Export, Receipt, Sink, SinkError},
};

/// What is about to be exported.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) work: Work,
    /// Under which the batch is acknowledged; none if nothing was gathered.
    pub(super) ticket: Option<Ticket>,
    pub(super) gathered: Moment,
    /// Whether the destination is complete afterwards.
    pub(super) is_last: bool,
    pub(super) export: Export,
}

/// How a call ended.
#[derive(Debug)]
pub(super) enum Ended {
    Done(Result<Receipt, SinkError>),
    /// We were asked to stop, and it did not end in time.
    Abandoned,
}

impl Pair {
    /// Exports, and gives up what shows no sign of life.
    pub(super) async fn run_attempt(&mut self, attempt: &Attempt, stop: &Stop) -> Ended {
        let sink = Arc::clone(&self.settings.sink);
        let export = attempt.export.clone();
        let progress = export.progress.clone();
        let work = async move { sink.export(&export).await };
        self.guarded(work, &progress, stop).await
    }

    /// The same for taking leave.
    pub(super) async fn run_retire(
        &mut self,
        farewell: crate::sink::Farewell,
        stop: &Stop,
    ) -> Ended {
        let sink: Arc<dyn Sink> = Arc::clone(&self.settings.sink);
        let inventory = self.key.inventory.clone();
        let work = async move { sink.retire(&inventory, farewell).await };
        self.guarded(work, &Progress::default(), stop).await
    }

    /// Runs a call as a task of its own, so that a panic ends that task alone.
    async fn guarded(
        &mut self,
        work: impl Future<Output = Result<Receipt, SinkError>> + Send + 'static,
        progress: &Progress,
        stop: &Stop,
    ) -> Ended {
        // Dropped with whatever still runs in it.
        let mut task = JoinSet::new();
        task.spawn(work);
        let mut alive = self.now();
        let clock = Arc::clone(&self.context.clock);
        loop {
            let now = self.now();
            let deadline = alive + self.settings.deadline;
            let lag_ends = self.lag_ends();
            tokio::select! {
                biased;
                Some(ended) = task.join_next() => {
                    return Ended::Done(ended.unwrap_or_else(|error| Err(broken(error))));
                }
                () = progress.moved() => alive = self.now(),
                () = async {
                    let by = stop.deadline().await;
                    sleep(Some(by), clock.moment()).await;
                } => {
                    progress.abandon();
                    return Ended::Abandoned;
                }
                () = sleep(Some(deadline), now) => {
                    progress.abandon();
                    return Ended::Done(Err(SinkError::Stalled(self.settings.deadline)));
                }
                () = sleep(lag_ends, now) => self.publish(),
                // What comes now has begun to wait.
                Ok(()) = self.bell.changed(), if self.history.waiting.is_none() => {
                    self.rows_came();
                }
            }
        }
    }
}

/// What a task that did not end by itself says.
fn broken(error: JoinError) -> SinkError {
    let detail = match error.try_into_panic() {
        Ok(panic) => said(panic.as_ref()),
        Err(error) => error.to_string(),
    };
    SinkError::Panicked(detail)
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no reason".to_owned())
}
