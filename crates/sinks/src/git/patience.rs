//! Waiting for the other side of a connection.

use std::{future::Future, io, pin::pin, time::Duration};

use tokio::time::sleep;

use super::error::Fault;
use crate::progress::Progress;

/// How many seconds a server may say nothing.
const SILENCE: u32 = 100;

/// Waits, unless the other side says nothing for too long, or nobody waits for
/// us any more. Whatever is accepted meanwhile counts as something said.
pub(super) async fn heard<T>(
    work: impl Future<Output = T>,
    progress: &Progress,
) -> Result<T, Fault> {
    let mut work = pin!(work);
    let (mut silent, mut accepted) = (0, progress.count());
    loop {
        tokio::select! {
            done = &mut work => return Ok(done),
            () = sleep(Duration::from_secs(1)) => {}
        }
        if progress.is_abandoned() {
            return Err(Fault::Abandoned);
        }
        silent = if progress.count() == accepted { silent + 1 } else { 0 };
        accepted = progress.count();
        if silent >= SILENCE {
            return Err(io::Error::from(io::ErrorKind::TimedOut).into());
        }
    }
}
