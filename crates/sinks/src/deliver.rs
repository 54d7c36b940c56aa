//! One export with everything around it, once for all sinks.
//!
//! Every pair of inventory and sink is a task with a cursor of its own: wake,
//! gather, export, acknowledge. What comes while an export runs goes into the
//! next one, so load makes exports larger and not queues longer. A slow or
//! broken sink, or one that panics, delays nobody else.

mod breaker;
pub(crate) mod context;
pub(crate) mod ledger;
pub(crate) mod pair;
pub(crate) mod pool;
pub(crate) mod scrub;
pub(crate) mod state;
pub(crate) mod stop;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinSet,
};

use self::{
    context::Context,
    pair::{Command, Pair, PairSettings},
    state::{PairKey, PairState, SinkKey},
    stop::Stop,
};
use crate::sink::{Farewell, Receipt};

/// The pairs of a process.
#[derive(Debug)]
pub struct Delivery {
    context: Arc<Context>,
    pairs: BTreeMap<PairKey, Handle>,
    /// Those that were told to end, and may not have yet.
    leaving: BTreeMap<PairKey, watch::Receiver<PairState>>,
    tasks: JoinSet<PairKey>,
    stop: Stop,
}

/// How a pair is reached.
#[derive(Debug)]
struct Handle {
    commands: mpsc::UnboundedSender<Command>,
    state: watch::Receiver<PairState>,
}

impl Delivery {
    pub fn new(context: Context) -> Self {
        Self {
            context: Arc::new(context),
            pairs: BTreeMap::new(),
            leaving: BTreeMap::new(),
            tasks: JoinSet::new(),
            stop: Stop::default(),
        }
    }

    /// Starts a pair, or tells a running one what has changed. How it is doing
    /// can be followed from now on. It begins when its predecessor has ended,
    /// so that a farewell does not take what has just been written.
    pub fn set(&mut self, key: PairKey, settings: PairSettings) -> watch::Receiver<PairState> {
        self.reap();
        if let Some(handle) = self.pairs.get(&key) {
            let told = handle.commands.send(Command::Configure(Box::new(settings.clone())));
            if told.is_ok() {
                return handle.state.clone();
            }
        }
        let (commands, inbox) = mpsc::unbounded_channel();
        let (publish, state) = watch::channel(PairState::default());
        let pair = Pair::new(key.clone(), settings, Arc::clone(&self.context), publish);
        let (before, stop) = (self.leaving.remove(&key), self.stop.clone());
        self.tasks.spawn(async move {
            if let Some(before) = before {
                ended(before, &stop).await;
            }
            pair.run(inbox, stop).await
        });
        self.pairs.insert(key, Handle { commands, state: state.clone() });
        state
    }

    /// Compares everything with the destination now.
    pub fn compare(&self, key: &PairKey) {
        self.tell(key, Command::Compare);
    }

    /// Ends a pair after what it is doing, and leaves its copy as it is.
    pub fn forget(&mut self, key: &PairKey) {
        self.tell(key, Command::Stop);
        self.leave(key);
    }

    /// Ends a pair and takes leave of its destination, trying for as long as
    /// `budget` lasts. The answer says what was removed, or what was in the
    /// way.
    pub fn retire(
        &mut self,
        key: &PairKey,
        farewell: Farewell,
        budget: Duration,
    ) -> oneshot::Receiver<Result<Receipt, String>> {
        let (answer, answered) = oneshot::channel();
        self.tell(key, Command::Retire { farewell, budget, answer });
        self.leave(key);
        answered
    }

    /// How every pair is doing.
    pub fn states(&self) -> impl Iterator<Item = (&PairKey, watch::Receiver<PairState>)> {
        self.pairs.iter().map(|(key, handle)| (key, handle.state.clone()))
    }

    /// Whether a sink has failed so often that it is left alone.
    pub fn is_left_alone(&self, sink: &SinkKey) -> bool {
        self.context.breakers().is_open(sink)
    }

    /// Ends all pairs: nothing new begins, and exports that run may end within
    /// the grace time. What has not been acknowledged then is abandoned.
    pub async fn shut_down(mut self, grace: Duration) {
        self.stop.ask(self.context.clock.moment(), grace);
        while self.tasks.join_next().await.is_some() {}
    }

    fn tell(&self, key: &PairKey, command: Command) {
        if let Some(handle) = self.pairs.get(key) {
            // A pair that has ended needs not be told anything.
            drop(handle.commands.send(command));
        }
    }

    /// Remembers a pair that was told to end until it has.
    fn leave(&mut self, key: &PairKey) {
        if let Some(handle) = self.pairs.remove(key) {
            self.leaving.insert(key.clone(), handle.state);
        }
    }

    /// Forgets tasks that have ended.
    fn reap(&mut self) {
        while self.tasks.try_join_next().is_some() {}
        self.leaving.retain(|_, state| state.has_changed().is_ok());
    }
}

/// Waits until a pair has ended, or everything is asked to.
async fn ended(mut state: watch::Receiver<PairState>, stop: &Stop) {
    let closed = async { while state.changed().await.is_ok() {} };
    tokio::select! {
        () = closed => {}
        () = stop.asked() => {}
    }
}

#[cfg(test)]
mod tests;
