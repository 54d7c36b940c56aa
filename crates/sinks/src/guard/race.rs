//! Several addresses, one connection: happy eyeballs (RFC 8305).

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use tokio::{task::JoinSet, time::timeout};

/// How long an address is waited for before the next is tried beside it.
const STAGGER: Duration = Duration::from_millis(250);

/// How many addresses are tried. A name with more has so many for other
/// reasons than that most of them are dead.
const MOST: usize = 16;

/// Puts the families in turn, beginning with the resolver's favourite, so that
/// a network without one of them costs a single wait. Doubles are dropped.
pub(super) fn in_turn(answer: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let mut distinct: Vec<SocketAddr> = Vec::with_capacity(answer.len());
    for mut address in answer {
        if let IpAddr::V4(unmapped) = address.ip().to_canonical() {
            address.set_ip(unmapped.into());
        }
        if !distinct.contains(&address) {
            distinct.push(address);
        }
    }
    let favours_v4 = distinct.first().is_some_and(SocketAddr::is_ipv4);
    let (first, second): (Vec<_>, Vec<_>) =
        distinct.into_iter().partition(|address| address.is_ipv4() == favours_v4);
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut turns = Vec::with_capacity(first.len() + second.len());
    while first.len() + second.len() > 0 {
        turns.extend(first.next());
        turns.extend(second.next());
    }
    turns
}

/// Returns the first connection that stands; the other attempts are dropped.
///
/// The next address is tried when one has failed, or has kept us waiting.
/// Fails when all have failed, and then tells how each did.
pub(super) async fn first<T, F>(
    addresses: Vec<SocketAddr>,
    connect: impl Fn(SocketAddr) -> F,
) -> io::Result<T>
where
    T: Send + 'static,
    F: Future<Output = io::Result<T>> + Send + 'static,
{
    let mut waiting = addresses.into_iter().take(MOST);
    let mut attempts = JoinSet::new();
    let mut failures = Vec::new();
    loop {
        let ended = match waiting.next() {
            Some(address) => {
                let attempt = connect(address);
                attempts.spawn(async move { (address, attempt.await) });
                timeout(STAGGER, attempts.join_next()).await
            }
            None => Ok(attempts.join_next().await),
        };
        match ended {
            Ok(Some(Ok((_, Ok(connection))))) => return Ok(connection),
            Ok(Some(Ok((address, Err(error))))) => failures.push((address, error)),
            Ok(Some(Err(panicked))) => return Err(io::Error::other(panicked)),
            Ok(None) => return Err(all(failures)),
            Err(_still_waiting) => {}
        }
    }
}

/// One error for all attempts, of the kind of the first.
fn all(failures: Vec<(SocketAddr, io::Error)>) -> io::Error {
    let kind = failures.first().map_or(io::ErrorKind::NotFound, |(_, error)| error.kind());
    let told: Vec<String> =
        failures.into_iter().map(|(address, error)| format!("{address}: {error}")).collect();
    io::Error::new(kind, told.join("; "))
}
