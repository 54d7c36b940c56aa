//! One question to the API server: the request, the wait, and what a refusal
//! means.

use std::{
    hash::{BuildHasher as _, Hasher as _, RandomState},
    time::Duration,
};

use http::{
    HeaderMap, Request,
    header::{ACCEPT, ACCEPT_ENCODING, RETRY_AFTER},
};
use http_body_util::BodyExt as _;
use kube::{Client, client::Body};
use serde::Deserialize;
use tokio::time::{sleep, timeout};

use crate::{list::error::ListError, split::SplitError};

/// How long the server may send nothing. It is not for the whole answer: a long
/// list over a slow link is no failure.
const SILENCE: Duration = Duration::from_secs(30);
/// How often one request is sent at most.
const TRIES: u32 = 5;
/// The wait before the second try; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Who asks us to wait for longer than this gets an error to its name instead.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// More of an error's text than anybody reads.
const LARGEST_REFUSAL: usize = 64 * 1024;

/// A request to come, and what is to be called by name when it fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    /// Path and query, encoded.
    pub(crate) uri: &'a str,
    pub(crate) accept: &'static str,
    /// As in "pods in namespace shop".
    pub(crate) what: &'a str,
}

/// A failure, with what the server said about how to go on.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) error: ListError,
    /// How long the server asks us to wait.
    pub(crate) retry_after: Option<Duration>,
    /// With what a list whose version is gone may go on, inconsistently.
    pub(crate) continuation: Option<String>,
    /// The version that was asked for is ahead of the server.
    pub(crate) ahead: bool,
}

impl From<ListError> for Refusal {
    fn from(error: ListError) -> Self {
        Self { error, retry_after: None, continuation: None, ahead: false }
    }
}

impl Ask<'_> {
    /// Sends the request once; the answer is good if there is one.
    pub(crate) async fn send(&self, client: &Client) -> Result<Answer<'_>, Refusal> {
        let request = Request::get(self.uri)
            .header(ACCEPT, self.accept)
            // The link to the server is mostly short; compressing costs it more than sending.
            .header(ACCEPT_ENCODING, "identity")
            .body(Body::empty())
            .map_err(|error| self.unreachable(kube::Error::HttpError(error)))?;
        let sent = timeout(SILENCE, client.send(request)).await;
        let response =
            sent.map_err(|_| self.stalled())?.map_err(|error| self.unreachable(error))?;
        let status = response.status();
        let retry_after = retry_after(response.headers());
        let mut answer = Answer { ask: self, body: response.into_body() };
        if status.is_success() {
            return Ok(answer);
        }
        let body = answer.gather(LARGEST_REFUSAL).await.unwrap_or_default();
        let mut refusal = refusal(status.as_u16(), &body, self.what);
        refusal.retry_after = retry_after.or(refusal.retry_after);
        Err(refusal)
    }

    fn stalled(&self) -> ListError {
        ListError::Stalled { what: self.what.to_owned(), seconds: SILENCE.as_secs() }
    }

    fn unreachable(&self, error: kube::Error) -> ListError {
        let what = self.what.to_owned();
        match error {
            kube::Error::Auth(source) => {
                ListError::NoCredentials { what, source: Box::new(source) }
            }
            // Their own texts repeat the cause, which stands in the chain anyway.
            kube::Error::Service(source) => ListError::Unreachable { what, source },
            kube::Error::HyperError(source) => {
                ListError::Unreachable { what, source: Box::new(source) }
            }
            source => ListError::Unreachable { what, source: Box::new(source) },
        }
    }

    pub(crate) fn malformed(&self, source: SplitError) -> ListError {
        ListError::Malformed { what: self.what.to_owned(), source }
    }
}

/// The bytes of a good answer, as they come.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    ask: &'a Ask<'a>,
    body: Body,
}

impl Answer<'_> {
    /// The next bytes; nothing at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, ListError> {
        loop {
            let frame = timeout(SILENCE, self.body.frame()).await;
            let Some(frame) = frame.map_err(|_| self.ask.stalled())? else { return Ok(None) };
            let frame = frame.map_err(|error| self.ask.unreachable(error))?;
            // Other frames are trailers, which say nothing here.
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
    }

    /// All bytes, but not many more than a limit.
    pub(crate) async fn gather(&mut self, limit: usize) -> Result<Vec<u8>, ListError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            bytes.extend_from_slice(chunk.as_ref());
            if bytes.len() > limit {
                break;
            }
        }
        Ok(bytes)
    }
}

/// How often and when one request is repeated.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    tried: u32,
}

impl Patience {
    /// Waits before the next try, or gives the refusal back if there is none.
    pub(crate) async fn wait(&mut self, refusal: Refusal) -> Result<(), Refusal> {
        self.tried += 1;
        let pause = pause(self.tried, refusal.retry_after, chance());
        if !refusal.error.may_pass() || self.tried >= TRIES || pause > LONGEST_PAUSE {
            return Err(refusal);
        }
        sleep(pause).await;
        Ok(())
    }
}

/// How long to wait after some tries; `chance` spreads those who failed together.
fn pause(tried: u32, retry_after: Option<Duration>, chance: f64) -> Duration {
    let own = FIRST_PAUSE * 2_u32.saturating_pow(tried.saturating_sub(1));
    let own = own.mul_f64(0.5 + chance / 2.0);
    // A server that names a time gets at least that, and not everybody at once.
    retry_after.map_or(own, |asked| asked + own)
}

/// A number from 0 to 1, another one each time.
fn chance() -> f64 {
    let random = RandomState::new().build_hasher().finish() >> 32;
    u32::try_from(random).map_or(0.5, |random| f64::from(random) / f64::from(u32::MAX))
}

/// What a server says instead of a list.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    message: Option<String>,
    metadata: Option<StatusMeta>,
    details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
struct StatusMeta {
    #[serde(rename = "continue")]
    next: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Details {
    causes: Option<Vec<Cause>>,
    retry_after_seconds: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
struct Cause {
    reason: Option<String>,
}

/// Sorts an answer that is no list.
fn refusal(code: u16, body: &[u8], what: &str) -> Refusal {
    let status: Status = serde_json::from_slice(body).unwrap_or_else(|_| Status {
        // Proxies and old handlers answer in plain text.
        message: Some(String::from_utf8_lossy(body).chars().take(200).collect()),
        ..Status::default()
    });
    let Status { message, metadata, details } = status;
    let Details { causes, retry_after_seconds } = details.unwrap_or_default();
    let ahead = causes
        .unwrap_or_default()
        .iter()
        .any(|cause| cause.reason.as_deref() == Some("ResourceVersionTooLarge"));
    let what = what.to_owned();
    let message = message.unwrap_or_default().trim().to_owned();
    let error = match code {
        401 => ListError::Unauthorized { what, message },
        403 => ListError::Forbidden { what, message },
        404 => ListError::NotServed { what },
        410 => ListError::TooOld { what },
        429 => ListError::Throttled { what },
        code => ListError::Server { what, code, message },
    };
    Refusal {
        error,
        retry_after: retry_after_seconds.filter(|seconds| *seconds > 0).map(Duration::from_secs),
        continuation: metadata.and_then(|meta| meta.next).filter(|next| !next.is_empty()),
        ahead,
    }
}

/// The wait that a header asks for; only seconds are used by API servers.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

/// Writes a text as one part of a path, or as one value of a query.
pub(crate) fn encoded(text: &str) -> String {
    use std::fmt::Write as _;

    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else if write!(out, "%{byte:02X}").is_err() {
            // A text in memory takes everything.
            return out;
        }
    }
    out
}
