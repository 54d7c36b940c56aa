//! How a person or a cluster tells a program to end.

use tokio::signal::unix::{SignalKind, signal};

/// Waits until somebody wants it to end.
pub(crate) async fn signalled() {
    let terminate = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminate => {}
    }
}
