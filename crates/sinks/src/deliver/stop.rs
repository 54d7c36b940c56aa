//! How work is asked to end.

use std::time::Duration;

use kollect_inventory::schedule::Moment;
use tokio::sync::watch;

/// Asks tasks to end; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Stop(watch::Sender<Option<Moment>>);

impl Default for Stop {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl Stop {
    /// Whatever runs may go on until `by`, and nothing new begins.
    pub(super) fn ask(&self, now: Moment, grace: Duration) {
        self.0.send_replace(Some(now + grace));
    }

    pub(super) fn is_asked(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Waits until somebody asks; then until when work may go on.
    pub(super) async fn deadline(&self) -> Moment {
        let mut asked = self.0.subscribe();
        let by = asked.wait_for(Option::is_some).await.map(|by| *by);
        match by {
            Ok(by) => by.unwrap_or_default(),
            // Nobody is left who could ask.
            Err(_) => std::future::pending().await,
        }
    }

    pub(super) async fn asked(&self) {
        self.deadline().await;
    }
}
