//! Waits until a control plane that has just been started can be used.

use std::{
    fs, io,
    net::{SocketAddr, TcpStream},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use crate::{keeper::Keeper, kubectl::Kubectl};

const LIMIT: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(25);

/// What the API server must answer, in this order. It says that it is ready
/// when the bootstrap roles exist; the namespaces come a moment later.
const QUESTIONS: [&str; 2] = ["/readyz", "/api/v1/namespaces/default"];

/// How much of a server's log an error carries.
const LOG_LINES: usize = 20;

/// Why waiting was given up.
#[derive(Debug, thiserror::Error)]
pub enum WaitError {
    /// Another process took the port between our choice and the server's start.
    #[error("another process listens on {address}")]
    AddressTaken { address: SocketAddr },

    #[error("{server} ended before it was ready; its last lines:\n{log}")]
    Ended { server: &'static str, log: String },

    #[error(
        "not ready after {} s; last answer: {answer}\nlast lines of etcd:\n{etcd}\nlast lines of kube-apiserver:\n{apiserver}",
        LIMIT.as_secs()
    )]
    TimedOut { answer: String, etcd: String, apiserver: String },

    #[error("could not run kubectl to ask for {question}")]
    Kubectl { question: &'static str, source: io::Error },
}

/// Returns how long it took until every question was answered.
///
/// Fails as soon as a server has ended, and after a minute in any case.
pub(crate) fn wait(
    keeper: &Keeper,
    directory: &Path,
    address: SocketAddr,
    kubectl: impl Fn() -> Kubectl,
) -> Result<Duration, WaitError> {
    let start = now();
    let mut answer = String::from("none");
    let mut questions = QUESTIONS.into_iter().peekable();
    while let Some(question) = questions.peek() {
        if let Some(server) = keeper.ended() {
            return Err(ended(server, &log_tail(directory, server), address));
        }
        if now().duration_since(start) > LIMIT {
            let (etcd, apiserver) =
                (log_tail(directory, "etcd"), log_tail(directory, "kube-apiserver"));
            return Err(WaitError::TimedOut { answer, etcd, apiserver });
        }
        // To connect costs nothing, to start kubectl much more.
        if let Err(error) = knock(address) {
            answer = error.to_string();
            thread::sleep(PAUSE);
            continue;
        }
        let output = kubectl()
            .args(["get", "--request-timeout=2s", "--raw", question])
            .run()
            .map_err(|source| WaitError::Kubectl { question, source })?;
        if output.success {
            questions.next();
        } else {
            answer = output.stderr;
            thread::sleep(PAUSE);
        }
    }
    Ok(now().duration_since(start))
}

#[expect(clippy::disallowed_methods, reason = "the server is our own, on this machine")]
fn knock(address: SocketAddr) -> io::Result<()> {
    TcpStream::connect_timeout(&address, Duration::from_secs(1)).map(drop)
}

#[expect(clippy::disallowed_methods, reason = "how long a server takes is not ours to decide")]
fn now() -> Instant {
    Instant::now()
}

/// Only the server knows why it ended, and it tells nobody but its log.
fn ended(server: &'static str, log: &str, address: SocketAddr) -> WaitError {
    if log.contains("address already in use") {
        WaitError::AddressTaken { address }
    } else {
        WaitError::Ended { server, log: log.to_owned() }
    }
}

fn log_tail(directory: &Path, server: &str) -> String {
    match fs::read(directory.join(format!("{server}.log"))) {
        Ok(log) => last_lines(&String::from_utf8_lossy(&log), LOG_LINES),
        Err(error) => format!("no log: {error}"),
    }
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_a_log_are_kept() {
        assert_eq!(last_lines("a\nb\nc\n", 2), "b\nc");
        assert_eq!(last_lines("a", 2), "a");
        assert_eq!(last_lines("", 2), "");
    }
}
