//! Turns at a destination that one export at a time can use.

use std::{
    sync::{Mutex, MutexGuard, PoisonError, TryLockError},
    thread,
    time::Duration,
};

use crate::progress::Progress;

/// How long apart somebody who waits looks.
const PAUSE: Duration = Duration::from_millis(5);

/// A lock for work that blocks its thread.
///
/// Whoever waits is as alive as whoever has the turn: a long export must not
/// make those behind it look dead. And whoever is given up leaves the queue.
#[derive(Debug, Default)]
pub(crate) struct Turns<T> {
    shared: Mutex<T>,
    /// What whoever has the turn says about itself.
    holder: Mutex<Progress>,
}

impl<T> Turns<T> {
    /// Waits for a turn; none if nobody waits for its outcome any more.
    pub(crate) fn enter(&self, progress: &Progress) -> Option<MutexGuard<'_, T>> {
        let mut seen = self.holder().clone();
        let mut count = seen.count();
        loop {
            if progress.is_abandoned() {
                return None;
            }
            match self.shared.try_lock() {
                Ok(turn) => return Some(self.begin(turn, progress)),
                // Those who share something whole after a panic say so themselves.
                Err(TryLockError::Poisoned(turn)) => {
                    return Some(self.begin(turn.into_inner(), progress));
                }
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            }
            let holder = self.holder().clone();
            if !holder.is(&seen) || holder.count() != count {
                (count, seen) = (holder.count(), holder);
                progress.alive();
            }
        }
    }

    fn begin<'a>(&self, turn: MutexGuard<'a, T>, progress: &Progress) -> MutexGuard<'a, T> {
        self.holder().clone_from(progress);
        turn
    }

    fn holder(&self) -> MutexGuard<'_, Progress> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::{runtime::Builder, time::timeout};

    use super::*;

    /// R21: taking turns is no failure.
    #[test]
    fn who_waits_is_alive_while_the_one_before_is() {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let turns = Arc::new(Turns::<()>::default());
        let (busy, waiting) = (Progress::default(), Progress::default());
        let turn = turns.enter(&busy).unwrap();
        let behind = {
            let (turns, waiting) = (Arc::clone(&turns), waiting.clone());
            thread::spawn(move || turns.enter(&waiting).is_some())
        };
        let moves = |within| runtime.block_on(async { timeout(within, waiting.moved()).await });
        moves(Duration::from_millis(100)).unwrap_err();
        busy.accepted(1);
        moves(Duration::from_secs(10)).unwrap();
        drop(turn);
        assert!(behind.join().unwrap());
    }

    #[test]
    fn who_is_given_up_does_not_wait_on() {
        let turns = Turns::<()>::default();
        let _turn = turns.enter(&Progress::default());
        let given_up = Progress::default();
        given_up.abandon();
        assert!(turns.enter(&given_up).is_none());
    }
}
