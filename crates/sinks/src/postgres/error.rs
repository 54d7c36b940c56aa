//! Sorts PostgreSQL's errors into ours; nothing else knows their codes.

use std::{error::Error as _, fmt, io, sync::Arc};

use kollect_inventory::Effect;
use tokio_postgres::Error;

use crate::{guard::DialError, sink::SinkError};

/// What ends a turn early.
#[derive(Debug)]
pub(super) enum Fault {
    /// The driver failed, or the server said no.
    Driver { error: Error, at: At },
    /// There is no connection.
    Dial(DialError),
    /// There was none in time.
    Late,
    /// The server takes no writes now.
    ReadOnly,
    /// We decided not to go on.
    Ours(SinkError),
}

/// What the transaction was about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// To work: nothing counts yet.
    Work,
    /// To commit: if the answer is lost, nobody knows whether it counts.
    Commit,
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Driver { error, at: At::Work }
    }
}

impl From<SinkError> for Fault {
    fn from(error: SinkError) -> Self {
        Self::Ours(error)
    }
}

/// What the server said, without what it knows of our rows.
#[derive(Debug)]
struct Said {
    message: String,
    code: String,
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (SQLSTATE {})", self.message, self.code)
    }
}

impl std::error::Error for Said {}

/// Something about a connection, in words of ours.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("the name of the host has no address now")]
    Resolve,
    #[error("the host takes no connection: {0}")]
    Connect(io::ErrorKind),
    #[error("there was no connection in time")]
    Late,
    #[error("the server takes no writes now: it is a standby, or read-only")]
    ReadOnly,
    #[error("the connection was lost")]
    Lost,
    #[error("the connection failed: {0}")]
    Io(io::ErrorKind),
}

impl Fault {
    /// The transaction was about to commit, or was one statement.
    pub(super) fn at_commit(error: Error) -> Self {
        Self::Driver { error, at: At::Commit }
    }

    /// Nobody waits for the outcome; nothing was committed.
    pub(super) fn abandoned() -> Self {
        let detail = "nobody waits for it".to_owned();
        Self::Ours(SinkError::Rejected { detail, effect: Effect::None })
    }

    /// What the server said about a row, if it refuses one for what it holds
    /// and would take others.
    pub(super) fn about_a_row(&self) -> Option<String> {
        let Self::Driver { error, .. } = self else { return None };
        let said = error.as_db_error()?;
        is_about_a_row(said.code().code()).then(|| said.message().to_owned())
    }

    /// Whether the connection can be used by the next turn.
    pub(super) fn spares_the_connection(&self) -> bool {
        matches!(self, Self::Ours(_))
    }

    /// The error of an action.
    pub(super) fn during(self, action: &'static str) -> SinkError {
        let unreachable = |trouble: Trouble| SinkError::Unreachable {
            action,
            effect: Effect::None,
            source: Arc::new(trouble),
        };
        match self {
            Self::Ours(error) => error,
            Self::Late => unreachable(Trouble::Late),
            Self::ReadOnly => unreachable(Trouble::ReadOnly),
            Self::Dial(error) => match error {
                DialError::Malformed => SinkError::Unusable(error.to_string()),
                DialError::Denied { reason, .. } => SinkError::Unusable(format!(
                    "the host of the database must not be dialled: {reason}"
                )),
                DialError::Resolve { .. } => unreachable(Trouble::Resolve),
                DialError::Unreachable { source, .. } => {
                    unreachable(Trouble::Connect(source.kind()))
                }
                DialError::TimedOut { .. } => unreachable(Trouble::Late),
            },
            Self::Driver { error, at } => driver(&error, action, at),
        }
    }
}

fn driver(error: &Error, action: &'static str, at: At) -> SinkError {
    if let Some(said) = error.as_db_error() {
        let code = said.code().code();
        let said = Said { message: said.message().to_owned(), code: code.to_owned() };
        return match meaning(code) {
            Meaning::Refused => SinkError::Refused { action, source: Arc::new(said) },
            Meaning::Unusable => {
                SinkError::Unusable(format!("the database cannot be used: {said}"))
            }
            Meaning::Rejected => {
                SinkError::Rejected { detail: said.to_string(), effect: Effect::None }
            }
            Meaning::Passes => {
                let effect = if at == At::Commit && may_follow_a_commit(code) {
                    Effect::Unknown
                } else {
                    Effect::None
                };
                SinkError::Unreachable { action, effect, source: Arc::new(said) }
            }
        };
    }
    let effect = if at == At::Commit { Effect::Unknown } else { Effect::None };
    let unreachable =
        |trouble| SinkError::Unreachable { action, effect, source: Arc::new(trouble) };
    if error.is_closed() {
        return unreachable(Trouble::Lost);
    }
    if let Some(io) = error.source().and_then(|source| source.downcast_ref::<io::Error>()) {
        let tls = io.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        return match tls {
            Some(tls) => SinkError::Unusable(format!("the server's TLS is not accepted: {tls}")),
            None => unreachable(Trouble::Io(io.kind())),
        };
    }
    // Logins without a password, servers without TLS, answers that are none.
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    SinkError::Unusable(format!("the server cannot be used: {error}{cause}"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// Our credentials or rights are not good enough.
    Refused,
    /// Something is not there, or not as it should be.
    Unusable,
    /// This export will not be taken, however often it is sent.
    Rejected,
    /// Another time it may work.
    Passes,
}

fn meaning(code: &str) -> Meaning {
    let class = code.get(..2).unwrap_or_default();
    match (class, code) {
        ("28", _) | (_, "42501") => Meaning::Refused,
        ("3D" | "3F" | "42" | "0A", _) => Meaning::Unusable,
        ("21" | "22" | "23" | "27" | "44" | "54" | "P0", _) => Meaning::Rejected,
        // 08, 25, 40, 53, 55, 57, 58, XX, and what is not known.
        _ => Meaning::Passes,
    }
}

/// Whether a session can be ended with this after its commit has counted.
fn may_follow_a_commit(code: &str) -> bool {
    code.starts_with("57P") || code.starts_with("08")
}

fn is_about_a_row(code: &str) -> bool {
    // A trigger's own word counts as one about the row that it saw.
    matches!(code.get(..2), Some("22" | "23" | "44" | "54")) || code == "P0001"
}

#[cfg(test)]
mod tests {
    use super::*;
    use kollect_api::Denied;
    use kollect_inventory::schedule::ErrorClass;

    #[test]
    fn codes_are_sorted_by_what_can_be_done() {
        for (codes, expected) in [
            (&["28P01", "28000", "42501"][..], Meaning::Refused),
            (&["3D000", "3F000", "42P01", "42703", "0A000"], Meaning::Unusable),
            (&["22P05", "23505", "54000", "P0001"], Meaning::Rejected),
            (
                &[
                    "08006", "25006", "40001", "40P01", "53300", "55P03", "57014", "57P01",
                    "58030", "XX000",
                ],
                Meaning::Passes,
            ),
        ] {
            for code in codes {
                assert_eq!(meaning(code), expected, "{code}");
            }
        }
    }

    #[test]
    fn a_session_that_is_ended_may_have_committed_and_a_deadlock_may_not() {
        assert!(may_follow_a_commit("57P01") && may_follow_a_commit("08006"));
        assert!(!may_follow_a_commit("40P01") && !may_follow_a_commit("57014"));
    }

    #[test]
    fn what_one_row_is_refused_for_is_told_from_the_rest() {
        for code in ["22P05", "22003", "23514", "54000", "P0001"] {
            assert!(is_about_a_row(code), "{code}");
        }
        for code in ["42P01", "40001", "57014", "P0003"] {
            assert!(!is_about_a_row(code), "{code}");
        }
    }

    #[test]
    fn a_dial_that_fails_names_no_host() {
        let host = "db.hunter22.example".to_owned();
        let denied =
            DialError::Denied { host: host.clone(), address: None, reason: Denied::Loopback };
        let error = Fault::Dial(denied).during("write");
        assert_eq!(error.class(), ErrorClass::Terminal);
        assert!(!error.to_string().contains("hunter22"), "{error}");
        let late = Fault::Dial(DialError::TimedOut { host, port: 1 }).during("write");
        assert_eq!((late.class(), late.effect()), (ErrorClass::Transient, Effect::None));
        let cause = late.source().map(ToString::to_string);
        assert_eq!(cause.as_deref(), Some("there was no connection in time"));
    }
}
