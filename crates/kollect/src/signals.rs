//! How a person or a cluster tells a program to end.

use std::future::pending;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits until somebody wants it to end. What comes after this call counts,
/// whether anybody waits already or not.
pub(crate) fn signalled() -> impl Future<Output = ()> {
    let (interrupt, terminate) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    async move {
        tokio::select! {
            () = received(interrupt.ok()) => {}
            () = received(terminate.ok()) => {}
        }
    }
}

async fn received(signal: Option<Signal>) {
    match signal {
        Some(mut signal) => drop(signal.recv().await),
        None => pending().await,
    }
}
