//! Asks the API server who somebody is, and whether they may read metrics.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::{Request, header::CONTENT_TYPE};
use kollect_inventory::schedule::Moment;
use kollect_sinks::Clock;
use kube::{Client, client::Body};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::{sync::Semaphore, time::timeout};

const TOKENS: &str = "/apis/authentication.k8s.io/v1/tokenreviews";
const ACCESS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
/// An answer holds for so long.
const KEPT: Duration = Duration::from_secs(30);
/// So many answers are kept; a scraper has one token.
const MOST: usize = 256;
/// So many are asked about at once.
const AT_ONCE: usize = 4;
/// An answer that comes later is none.
const PATIENCE: Duration = Duration::from_secs(10);

/// What became of somebody's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Welcome,
    /// Nobody knows whose it is.
    Unknown,
    /// It is somebody's who may not.
    Forbidden,
}

/// Asks, and remembers the answers for a while.
pub(super) struct Reviews {
    client: Client,
    clock: Arc<dyn Clock>,
    known: Mutex<Known>,
    turns: Semaphore,
    /// Whether the last question was not answered.
    is_deaf: AtomicBool,
}

/// Answers by what tokens hash to, so that none is kept.
type Known = BTreeMap<[u8; 32], (Verdict, Moment)>;

impl fmt::Debug for Reviews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reviews").finish_non_exhaustive()
    }
}

impl Reviews {
    pub(super) fn new(client: Client, clock: Arc<dyn Clock>) -> Self {
        Self {
            client,
            clock,
            known: Mutex::default(),
            turns: Semaphore::new(AT_ONCE),
            is_deaf: AtomicBool::new(false),
        }
    }

    /// Whether whoever shows this token may read metrics; an error if that
    /// could not be found out.
    pub(super) async fn judge(&self, token: &str) -> Result<Verdict, String> {
        let hash: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        if let Some(verdict) = self.remembered(&hash) {
            return Ok(verdict);
        }
        let _turn = self.turns.acquire().await.map_err(|error| error.to_string())?;
        // Somebody with the same token may have asked meanwhile.
        if let Some(verdict) = self.remembered(&hash) {
            return Ok(verdict);
        }
        let asked = timeout(PATIENCE, self.ask(token)).await;
        let verdict = asked.unwrap_or_else(|_| Err("the server does not answer".to_owned()));
        self.note(&verdict);
        let verdict = verdict?;
        self.remember(hash, verdict);
        Ok(verdict)
    }

    /// It is said once that nobody answers, and once that somebody does again.
    fn note(&self, verdict: &Result<Verdict, String>) {
        let was_deaf = self.is_deaf.swap(verdict.is_err(), Ordering::Relaxed);
        match verdict {
            Err(error) if !was_deaf => {
                tracing::warn!(controller = "metrics", error, "access check failed");
            }
            Ok(_) if was_deaf => {
                tracing::info!(controller = "metrics", "access can be checked again");
            }
            Ok(_) | Err(_) => {}
        }
    }

    async fn ask(&self, token: &str) -> Result<Verdict, String> {
        let question = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token},
        });
        let review = self.post(TOKENS, &question).await?;
        if review.pointer("/status/authenticated").and_then(Value::as_bool) != Some(true) {
            return Ok(Verdict::Unknown);
        }
        let user = |field: &str| review.pointer(&format!("/status/user/{field}"));
        let question = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
                "user": user("username"),
                "uid": user("uid"),
                "groups": user("groups"),
                "extra": user("extra"),
            },
        });
        let review = self.post(ACCESS, &question).await?;
        let is_allowed = review.pointer("/status/allowed").and_then(Value::as_bool);
        Ok(if is_allowed == Some(true) { Verdict::Welcome } else { Verdict::Forbidden })
    }

    /// Errors name the question and never hold the token.
    async fn post(&self, path: &str, question: &Value) -> Result<Value, String> {
        let request = Request::post(path)
            .header(CONTENT_TYPE, "application/json")
            .body(Body::from(question.to_string().into_bytes()));
        let request = request.map_err(|error| format!("{path}: {error}"))?;
        let sent = self.client.send(request).await;
        let response = sent.map_err(|error| format!("{path}: {error}"))?;
        let status = response.status();
        if !status.is_success() {
            return Err(format!("{path}: the server answered {status}"));
        }
        let bytes = response.into_body().collect_bytes().await;
        let bytes = bytes.map_err(|error| format!("{path}: {error}"))?;
        serde_json::from_slice(&bytes).map_err(|_| format!("{path}: the server answered nonsense"))
    }

    fn remembered(&self, hash: &[u8; 32]) -> Option<Verdict> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (verdict, until) = known.get(hash)?;
        (self.clock.moment() < *until).then_some(*verdict)
    }

    fn remember(&self, hash: [u8; 32], verdict: Verdict) {
        let now = self.clock.moment();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, (_, until)| now < *until);
        if known.len() >= MOST {
            let oldest = known.iter().min_by_key(|(_, (_, until))| *until).map(|(hash, _)| *hash);
            oldest.and_then(|oldest| known.remove(&oldest));
        }
        known.insert(hash, (verdict, now + KEPT));
    }
}

#[cfg(test)]
mod tests;
